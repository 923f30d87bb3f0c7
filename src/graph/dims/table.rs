//! The expressions and their variables, each kept once.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::Dim;
use super::polynomial::{Polynomial, Product, gcd};

/// An expression that is no integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExprId(pub(crate) u32);

/// A variable of a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AtomId(u32);

/// What a variable stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    /// A symbol.
    Symbol(Arc<str>),
    /// The quotient of two numbers, rounded down.
    Quotient(Dim, Dim),
    /// The least of several numbers, sorted.
    Min(Vec<Dim>),
    /// The greatest of several numbers, sorted.
    Max(Vec<Dim>),
    /// What several extents are broadcast to, sorted.
    Broadcast(Vec<Dim>),
}

impl Atom {
    /// The numbers of a least or greatest value, or of a broadcast.
    fn items(&self) -> &[Dim] {
        match self {
            Atom::Min(items) | Atom::Max(items) | Atom::Broadcast(items) => items,
            Atom::Symbol(_) | Atom::Quotient(..) => &[],
        }
    }
}

/// The most expressions, and variables, that are kept.
const MAX_EXPRESSIONS: usize = 1 << 20;
/// The most characters of a symbol.
const MAX_SYMBOL: usize = 256;
/// The most items of a least or greatest value.
const MAX_ITEMS: usize = 16;
/// How deep quotients and least values may be nested.
const MAX_NESTING: u32 = 32;

/// All expressions, with how deep each is nested.
#[derive(Debug, Default)]
pub(super) struct Table {
    exprs: IndexSet<Polynomial, FxBuildHasher>,
    depths: Vec<u32>,
    atoms: IndexSet<Atom, FxBuildHasher>,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

impl Table {
    /// Works with the table of the process.
    pub(super) fn with<T>(f: impl FnOnce(&mut Table) -> T) -> T {
        f(TABLE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Table::default))
    }

    pub(super) fn expr(&self, id: ExprId) -> &Polynomial {
        // There is no other way to an id than to add its expression.
        &self.exprs[id.0 as usize]
    }

    pub(super) fn atom_of(&self, id: AtomId) -> Option<&Atom> {
        self.atoms.get_index(id.0 as usize)
    }

    fn depth(&self, dim: Dim) -> u32 {
        match dim {
            Dim::Expr(id) => self.depths.get(id.0 as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The least value of a number, where that is known.
    pub(super) fn least(&self, dim: Dim) -> Option<i64> {
        match dim {
            Dim::Int(value) => Some(value),
            Dim::Expr(id) => self.expr(id).least(|atom| self.is_natural(atom)),
            Dim::Unknown => None,
        }
    }

    /// The value of a number where symbols have these values.
    pub(super) fn value(&self, dim: Dim, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let id = match dim {
            Dim::Int(value) => return Some(value),
            Dim::Unknown => return None,
            Dim::Expr(id) => id,
        };
        let all = |items: &[Dim]| items.iter().map(|item| self.value(*item, symbol)).collect::<Option<Vec<i64>>>();
        let variable = |atom: &AtomId| match self.atom_of(*atom)? {
            Atom::Symbol(name) => symbol(name),
            Atom::Quotient(a, b) => self.value(*a, symbol)?.checked_div_euclid(self.value(*b, symbol)?),
            Atom::Min(items) => all(items)?.into_iter().min(),
            Atom::Max(items) | Atom::Broadcast(items) => all(items)?.into_iter().max(),
        };
        let term = |(product, value): &(Product, i64)| {
            product.iter().try_fold(*value, |value, atom| value.checked_mul(variable(atom)?))
        };
        self.expr(id).0.iter().try_fold(0i64, |sum, of| sum.checked_add(term(of)?))
    }

    /// The symbol of an expression with no other variables, and its value where that of the expression is known.
    pub(super) fn solved(&self, id: ExprId, value: i64) -> Option<(Arc<str>, i64)> {
        let (constant, (product, factor)) = match &self.expr(id).0[..] {
            [term] => (0, term),
            [(none, constant), term] if none.is_empty() => (*constant, term),
            _ => return None,
        };
        let [atom] = product[..] else { return None };
        let Atom::Symbol(name) = self.atom_of(atom)? else { return None };
        let rest = value.checked_sub(constant)?;
        (rest.checked_rem(*factor)? == 0).then(|| (Arc::clone(name), rest / factor))
    }

    /// Whether a variable is never negative.
    fn is_natural(&self, atom: AtomId) -> bool {
        let natural = |dim: &Dim| self.least(*dim).is_some_and(|least| least >= 0);
        match self.atom_of(atom) {
            Some(Atom::Symbol(_) | Atom::Broadcast(_)) => true,
            Some(Atom::Quotient(a, b)) => natural(a) && natural(b),
            Some(Atom::Min(items)) => items.iter().all(natural),
            Some(Atom::Max(items)) => items.iter().any(natural),
            None => false,
        }
    }

    /// A polynomial as a number.
    pub(super) fn intern(&mut self, polynomial: Polynomial) -> Dim {
        if let Some(value) = polynomial.as_constant() {
            return Dim::Int(value);
        }
        if let Some(known) = self.exprs.get_index_of(&polynomial) {
            return Dim::Expr(ExprId(known as u32));
        }
        if self.exprs.len() >= MAX_EXPRESSIONS {
            return Dim::Unknown;
        }
        let inner = |atom: &AtomId| match self.atom_of(*atom) {
            None | Some(Atom::Symbol(_)) => 0,
            Some(Atom::Quotient(a, b)) => self.depth(*a).max(self.depth(*b)) + 1,
            Some(other) => other.items().iter().map(|item| self.depth(*item)).max().unwrap_or(0) + 1,
        };
        let depth = polynomial.0.iter().flat_map(|(product, _)| product).map(inner).max().unwrap_or(0);
        if depth > MAX_NESTING {
            return Dim::Unknown;
        }
        self.depths.push(depth);
        Dim::Expr(ExprId(self.exprs.insert_full(polynomial).0 as u32))
    }

    /// A variable as a number.
    pub(super) fn atom(&mut self, atom: Atom) -> Dim {
        let too_long = matches!(&atom, Atom::Symbol(name) if name.len() > MAX_SYMBOL);
        if too_long || atom.items().len() > MAX_ITEMS || self.atoms.len() >= MAX_EXPRESSIONS {
            return Dim::Unknown;
        }
        let id = AtomId(self.atoms.insert_full(atom).0 as u32);
        self.intern(Polynomial::variable(id))
    }

    /// The quotient of two polynomials, rounded down. What the divisor divides is taken out, and common
    /// factors are.
    pub(super) fn quotient(&mut self, a: Polynomial, b: Polynomial) -> Option<Dim> {
        let Some(divisor) = b.as_constant() else {
            if let Some(exact) = a.exactly_over(&b) {
                return Some(self.intern(exact));
            }
            let (a, b) = (self.intern(a), self.intern(b));
            return Some(self.atom(Atom::Quotient(a, b)));
        };
        if divisor <= 0 {
            return None;
        }
        let (whole, rest) = a.divided(divisor);
        let common = gcd(rest.content(), divisor);
        let (rest, _) = rest.divided(common);
        let divisor = divisor / common;
        let part = match (rest.as_constant(), self.quotient_within(&rest)) {
            (Some(constant), _) => Polynomial::constant(constant.div_euclid(divisor)),
            // A quotient of a quotient is one.
            (None, Some((inner, by))) => {
                let by = by.checked_mul(divisor)?;
                let polynomial = inner.polynomial(self)?;
                self.quotient(polynomial, Polynomial::constant(by))?.polynomial(self)?
            }
            (None, None) if divisor == 1 => rest,
            (None, None) => {
                let rest = self.intern(rest);
                self.atom(Atom::Quotient(rest, Dim::Int(divisor))).polynomial(self)?
            }
        };
        Some(self.intern(whole.plus(&part)?))
    }

    /// The parts of a quotient by an integer.
    fn quotient_within(&self, of: &Polynomial) -> Option<(Dim, i64)> {
        match self.atom_of(of.as_variable()?)? {
            Atom::Quotient(inner, Dim::Int(by)) => Some((*inner, *by)),
            _ => None,
        }
    }

    /// A least or greatest value, or a broadcast, of two numbers: of all their items.
    pub(super) fn gathered(&mut self, make: fn(Vec<Dim>) -> Atom, a: Dim, b: Dim) -> Dim {
        let mut items: Vec<Dim> = Vec::new();
        let kind = std::mem::discriminant(&make(Vec::new()));
        for dim in [a, b] {
            let atom = match dim {
                Dim::Expr(id) => self.expr(id).as_variable().and_then(|atom| self.atom_of(atom)),
                _ => None,
            };
            match atom {
                Some(atom) if std::mem::discriminant(atom) == kind => items.extend(atom.items()),
                _ => items.push(dim),
            }
        }
        items.sort_unstable_by_key(|item| match item {
            Dim::Int(value) => (0, *value),
            Dim::Expr(id) => (1, i64::from(id.0)),
            Dim::Unknown => (2, 0),
        });
        items.dedup();
        let kept = items.iter().enumerate().filter(|(i, item)| {
            !items.iter().enumerate().any(|(j, other)| {
                let before = match make(Vec::new()) {
                    Atom::Min(_) => self.at_most(*other, **item),
                    _ => self.at_most(**item, *other),
                };
                *i != j && before
            })
        });
        let items: Vec<Dim> = kept.map(|(_, item)| *item).collect();
        match items[..] {
            [only] => only,
            _ => self.atom(make(items)),
        }
    }

    /// Whether a number is at most another one, for all values of the symbols.
    fn at_most(&self, a: Dim, b: Dim) -> bool {
        let difference = || {
            let negated = a.polynomial(self)?.times(&Polynomial::constant(-1))?;
            b.polynomial(self)?.plus(&negated)?.least(|atom| self.is_natural(atom))
        };
        difference().is_some_and(|least| least >= 0)
    }

    /// Whether an expression has operators only, with their meaning in documents.
    pub(super) fn is_plain(&self, id: ExprId) -> bool {
        let atoms = self.expr(id).0.iter().flat_map(|(product, _)| product);
        atoms.into_iter().all(|atom| match self.atom_of(*atom) {
            Some(Atom::Symbol(_)) => true,
            Some(Atom::Quotient(a, b)) => [a, b].into_iter().all(|part| match part {
                Dim::Expr(id) => self.is_plain(*id),
                _ => true,
            }),
            _ => false,
        })
    }
}
