//! Expressions on symbols, and their variables.

use std::sync::Arc;

use super::Dim;
#[cfg(feature = "eval")]
use super::polynomial::Term;
use super::polynomial::{Polynomial, gcd};

/// A polynomial that is not a constant. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Expression(pub(super) Arc<Polynomial>);

/// A variable of a polynomial.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Variable {
    /// A symbol.
    Symbol(Arc<str>),
    /// The quotient of two numbers, rounded down.
    Quotient(Arc<[Dim; 2]>),
    /// A choice between several numbers, which are sorted.
    Choice(Choice, Arc<[Dim]>),
}

/// The rule by which one of several numbers is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Choice {
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The extent that the numbers are broadcast to.
    Broadcast,
}

/// The maximum number of variables of an expression, including those within variables. Time and stack depth are
/// proportional to it.
const MAX_WEIGHT: usize = 256;
/// The maximum length of a symbol in bytes.
const MAX_SYMBOL: usize = 256;
/// The maximum number of items of a choice.
const MAX_ITEMS: usize = 16;

impl Variable {
    /// The numbers in it.
    fn parts(&self) -> &[Dim] {
        match self {
            Variable::Symbol(_) => &[],
            Variable::Quotient(sides) => &sides[..],
            Variable::Choice(_, items) => items,
        }
    }

    fn weight(&self) -> usize {
        self.parts().iter().map(Dim::weight).sum::<usize>() + 1
    }

    /// Whether it is never negative.
    fn is_natural(&self) -> bool {
        let natural = |dim: &Dim| dim.least().is_some_and(|least| least >= 0);
        match self {
            Variable::Symbol(_) | Variable::Choice(Choice::Broadcast, _) => true,
            Variable::Quotient(sides) => sides.iter().all(natural),
            Variable::Choice(Choice::Min, items) => items.iter().all(natural),
            Variable::Choice(Choice::Max, items) => items.iter().any(natural),
        }
    }

    /// The value, given the values of symbols.
    #[cfg(feature = "eval")]
    fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Variable::Symbol(name) => symbol(name),
            Variable::Quotient(sides) => sides[0].value(symbol)?.checked_div_euclid(sides[1].value(symbol)?),
            Variable::Choice(choice, items) => {
                let values = items.iter().map(|item| item.value(symbol)).collect::<Option<Vec<i64>>>()?;
                match choice {
                    Choice::Min => values.into_iter().min(),
                    Choice::Max | Choice::Broadcast => values.into_iter().max(),
                }
            }
        }
    }

    fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Variable::Symbol(name) => f(name),
            _ => self.parts().iter().for_each(|part| part.each_symbol(f)),
        }
    }

    /// Whether it is written with operators only.
    fn is_plain(&self) -> bool {
        match self {
            Variable::Symbol(_) => true,
            Variable::Quotient(sides) => sides.iter().all(Dim::is_plain),
            Variable::Choice(..) => false,
        }
    }
}

impl Expression {
    fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.0.terms().iter().flat_map(|(product, _)| product)
    }

    pub(super) fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        self.variables().for_each(|variable| variable.each_symbol(f));
    }

    pub(super) fn weight(&self) -> usize {
        self.variables().map(Variable::weight).sum()
    }

    /// The minimum value, if it is known.
    pub(super) fn least(&self) -> Option<i64> {
        self.0.least(Variable::is_natural)
    }

    /// The value, given the values of symbols.
    #[cfg(feature = "eval")]
    pub(super) fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let term = |(product, factor): &Term| {
            product.iter().try_fold(*factor, |value, variable| value.checked_mul(variable.value(symbol)?))
        };
        self.0.terms().iter().try_fold(0i64, |sum, of| sum.checked_add(term(of)?))
    }

    /// The only symbol, if the expression is linear in it, and its value for which the expression equals `value`.
    #[cfg(feature = "eval")]
    pub(super) fn solved(&self, value: i64) -> Option<(Arc<str>, i64)> {
        let (constant, (product, factor)) = match self.0.terms() {
            [term] => (0, term),
            [(none, constant), term] if none.is_empty() => (*constant, term),
            _ => return None,
        };
        let [Variable::Symbol(name)] = &product[..] else { return None };
        let rest = value.checked_sub(constant)?;
        (rest.checked_rem(*factor)? == 0).then(|| (Arc::clone(name), rest / factor))
    }

    /// Whether it is written with operators only, which mean the same in NNEF.
    pub(super) fn is_plain(&self) -> bool {
        self.variables().all(Variable::is_plain)
    }
}

/// A symbol; unknown if its name is too long.
pub(super) fn symbol(name: &str) -> Dim {
    match name.len() {
        ..=MAX_SYMBOL => variable(Variable::Symbol(name.into())),
        _ => Dim::Unknown,
    }
}

fn variable(variable: Variable) -> Dim {
    Dim::from(Polynomial::variable(variable))
}

/// Converts a polynomial; unknown if it is too large.
impl From<Polynomial> for Dim {
    fn from(polynomial: Polynomial) -> Self {
        if let Some(value) = polynomial.as_constant() {
            return Dim::Int(value);
        }
        let expression = Expression(Arc::new(polynomial));
        if expression.weight() > MAX_WEIGHT { Dim::Unknown } else { Dim::Expr(expression) }
    }
}

/// The quotient of two polynomials, rounded down. Multiples of the divisor are moved out of the quotient, and
/// common factors are removed.
pub(super) fn quotient(a: Polynomial, b: Polynomial) -> Option<Dim> {
    let Some(divisor) = b.as_constant() else {
        return Some(match a.exactly_over(&b) {
            Some(exact) => Dim::from(exact),
            None => fraction(Dim::from(a), Dim::from(b)),
        });
    };
    if divisor <= 0 {
        return None;
    }
    let (whole, rest) = a.divided(divisor);
    let common = gcd(rest.content(), divisor);
    let (rest, _) = rest.divided(common);
    let divisor = divisor / common;
    let part = match (rest.as_constant(), quotient_within(&rest)) {
        (Some(constant), _) => Polynomial::constant(constant.div_euclid(divisor)),
        // A quotient of a quotient is a single quotient.
        (None, Some((inner, by))) => {
            quotient(inner.polynomial()?, Polynomial::constant(by.checked_mul(divisor)?))?.polynomial()?
        }
        (None, None) if divisor == 1 => rest,
        (None, None) => fraction(Dim::from(rest), Dim::Int(divisor)).polynomial()?,
    };
    Some(Dim::from(whole.plus(&part)?))
}

fn fraction(a: Dim, b: Dim) -> Dim {
    match (&a, &b) {
        (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
        _ => variable(Variable::Quotient(Arc::new([a, b]))),
    }
}

/// The operands of a quotient whose divisor is an integer.
fn quotient_within(of: &Polynomial) -> Option<(&Dim, i64)> {
    match of.as_variable()? {
        Variable::Quotient(sides) => Some((&sides[0], sides[1].known()?)),
        _ => None,
    }
}

/// A choice between two numbers. Nested choices with the same rule are merged, and redundant numbers are dropped.
pub(super) fn chosen(choice: Choice, a: Dim, b: Dim) -> Dim {
    let mut items: Vec<Dim> = Vec::new();
    for dim in [a, b] {
        match dim.as_variable() {
            Some(Variable::Choice(own, inner)) if *own == choice => items.extend(inner.iter().cloned()),
            _ => items.push(dim),
        }
    }
    items.sort_unstable();
    items.dedup();
    let at_most = |a: &Dim, b: &Dim| b.clone().minus(a.clone()).is_at_least(0);
    let needless = |(i, item): (usize, &Dim)| {
        let others = items.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, other)| other).any(|other| match choice {
            Choice::Min => at_most(other, item),
            Choice::Max | Choice::Broadcast => at_most(item, other),
        })
    };
    let kept: Vec<Dim> =
        items.iter().enumerate().filter(|item| !needless(*item)).map(|(_, item)| item.clone()).collect();
    match &kept[..] {
        [only] => only.clone(),
        [] => Dim::Unknown,
        [..] if kept.len() > MAX_ITEMS => Dim::Unknown,
        _ => variable(Variable::Choice(choice, kept.into())),
    }
}
