//! Expressions on symbols, and their variables.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::Dim;
use super::polynomial::Polynomial;
#[cfg(feature = "eval")]
use super::polynomial::Term;
#[cfg(feature = "eval")]
use super::quotient::rounded_down;
#[cfg(feature = "eval")]
use crate::graph::operators::integer_quotient;

/// A polynomial that is not a constant, with properties that are computed once. Clones share it.
///
/// The hash decides nearly all comparisons, so that their time does not depend on the size of the polynomial.
#[derive(Clone, Debug)]
pub(crate) struct Expression(Arc<ExpressionNode>);

#[derive(Debug)]
struct ExpressionNode {
    polynomial: Polynomial,
    hash: u64,
    /// The number of variables, including those within variables.
    weight: usize,
    /// The minimum value, if it is known.
    least: Option<i64>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Expression {}

impl PartialOrd for Expression {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Expression {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.hash.cmp(&other.0.hash).then_with(|| self.0.polynomial.cmp(&other.0.polynomial))
    }
}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// A variable of a polynomial.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Variable {
    /// A symbol.
    Symbol(Arc<str>),
    /// The quotient of two numbers.
    Quotient(Rounding, Arc<[Dim; 2]>),
    /// A choice between several numbers, which are sorted.
    Choice(Choice, Arc<[Dim]>),
}

/// The rounding of a quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rounding {
    /// To the next smaller integer. Quotients of numbers that are not negative have this rounding.
    Down,
    /// Towards 0.
    Zero,
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
            Variable::Quotient(_, sides) => &sides[..],
            Variable::Choice(_, items) => items,
        }
    }

    fn weight(&self) -> usize {
        self.parts().iter().map(Dim::weight).sum::<usize>() + 1
    }

    /// Whether it is never negative.
    pub(super) fn is_natural(&self) -> bool {
        let natural = |dim: &Dim| dim.least().is_some_and(|least| least >= 0);
        match self {
            Variable::Symbol(_) | Variable::Choice(Choice::Broadcast, _) => true,
            Variable::Quotient(_, sides) => sides.iter().all(natural),
            Variable::Choice(Choice::Min, items) => items.iter().all(natural),
            Variable::Choice(Choice::Max, items) => items.iter().any(natural),
        }
    }

    /// The value, given the values of symbols.
    #[cfg(feature = "eval")]
    fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Variable::Symbol(name) => symbol(name),
            Variable::Quotient(rounding, sides) => {
                let [a, b] = [sides[0].value(symbol)?, sides[1].value(symbol)?];
                match rounding {
                    Rounding::Down => rounded_down(a, b),
                    Rounding::Zero => integer_quotient(a, b),
                }
            }
            Variable::Choice(choice, items) => {
                let values = items.iter().map(|item| item.value(symbol)).collect::<Option<Vec<i64>>>()?;
                match choice {
                    Choice::Min => values.into_iter().min(),
                    Choice::Max | Choice::Broadcast => values.into_iter().max(),
                }
            }
        }
    }

    /// The number with other numbers in place of symbols.
    fn substituted(&self, symbol: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        match self {
            Variable::Symbol(name) => symbol(name).unwrap_or_else(|| variable(self.clone())),
            Variable::Quotient(rounding, sides) => {
                let [a, b] = [sides[0].substituted(symbol), sides[1].substituted(symbol)];
                match rounding {
                    Rounding::Down => a.over(b),
                    Rounding::Zero => a.divided_by(b),
                }
            }
            Variable::Choice(choice, items) => {
                let mut items = items.iter().map(|item| item.substituted(symbol));
                let first = items.next().unwrap_or(Dim::Unknown);
                items.fold(first, |so_far, item| match choice {
                    Choice::Min => so_far.min(item),
                    Choice::Max => so_far.max(item),
                    Choice::Broadcast => so_far.broadcast(item).unwrap_or(Dim::Unknown),
                })
            }
        }
    }

    fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Variable::Symbol(name) => f(name),
            _ => self.parts().iter().for_each(|part| part.each_symbol(f)),
        }
    }

    /// Whether it is written with operators only. The operator `/` rounds towards 0.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Variable::Symbol(_) => true,
            Variable::Quotient(Rounding::Zero, sides) => sides.iter().all(Dim::is_plain),
            Variable::Quotient(Rounding::Down, sides) => self.is_natural() && sides.iter().all(Dim::is_plain),
            Variable::Choice(..) => false,
        }
    }
}

impl Expression {
    pub(super) fn polynomial(&self) -> &Polynomial {
        &self.0.polynomial
    }

    fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.polynomial().variables()
    }

    pub(super) fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        self.variables().for_each(|variable| variable.each_symbol(f));
    }

    pub(super) fn weight(&self) -> usize {
        self.0.weight
    }

    /// The minimum value, if it is known.
    pub(super) fn least(&self) -> Option<i64> {
        self.0.least
    }

    /// The value, given the values of symbols.
    #[cfg(feature = "eval")]
    pub(super) fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let term = |(product, factor): &Term| {
            product.iter().try_fold(*factor, |value, variable| value.checked_mul(variable.value(symbol)?))
        };
        self.polynomial().terms().iter().try_fold(0i64, |sum, of| sum.checked_add(term(of)?))
    }

    /// The number with other numbers in place of symbols.
    pub(super) fn substituted(&self, symbol: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        self.polynomial().terms().iter().fold(Dim::Int(0), |sum, (product, factor)| {
            let factors = product.iter().map(|variable| variable.substituted(symbol));
            sum.plus(factors.fold(Dim::Int(*factor), Dim::times))
        })
    }

    /// The only symbol, if the expression is linear in it, and its value for which the expression equals `value`.
    #[cfg(feature = "eval")]
    pub(super) fn solved(&self, value: i64) -> Option<(Arc<str>, i64)> {
        let (constant, (product, factor)) = match self.polynomial().terms() {
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

pub(super) fn variable(variable: Variable) -> Dim {
    Dim::from(Polynomial::variable(variable))
}

/// Converts a polynomial; unknown if it is too large.
impl From<Polynomial> for Dim {
    fn from(polynomial: Polynomial) -> Self {
        if let Some(value) = polynomial.as_constant() {
            return Dim::Int(value);
        }
        let weight = polynomial.variables().map(Variable::weight).sum();
        if weight > MAX_WEIGHT {
            return Dim::Unknown;
        }
        let mut hasher = FxHasher::default();
        polynomial.hash(&mut hasher);
        let least = polynomial.difference(&Polynomial::default()).least;
        Dim::Expr(Expression(Arc::new(ExpressionNode { hash: hasher.finish(), weight, least, polynomial })))
    }
}

/// A choice between two numbers. Nested choices with the same rule are merged, and redundant numbers are dropped.
pub(super) fn chosen(choice: Choice, a: &Dim, b: &Dim) -> Dim {
    let (a, b) = (items(choice, a), items(choice, b));
    let (mut needless_a, mut needless_b) = (vec![false; a.len()], vec![false; b.len()]);
    // No number makes another of its own side redundant.
    for (x, needless_x) in a.iter().zip(&mut needless_a) {
        for (y, needless_y) in b.iter().zip(&mut needless_b).filter(|(_, needless)| !**needless) {
            let difference = x.difference(y);
            let (at_least, at_most) =
                (difference.least.is_some_and(|d| d >= 0), difference.most.is_some_and(|d| d <= 0));
            let (x_follows, y_follows) = if choice == Choice::Min { (at_least, at_most) } else { (at_most, at_least) };
            // Of equal numbers, the first one is kept.
            *needless_y = y_follows;
            *needless_x = x_follows && !y_follows;
            if *needless_x {
                break;
            }
        }
    }
    let numbers = a.iter().zip(needless_a).chain(b.iter().zip(needless_b));
    let mut kept: Vec<Dim> = numbers.filter(|(_, needless)| !needless).map(|(number, _)| number.clone()).collect();
    kept.sort_unstable();
    match &kept[..] {
        [only] => only.clone(),
        [] => Dim::Unknown,
        [..] if kept.len() > MAX_ITEMS => Dim::Unknown,
        _ => variable(Variable::Choice(choice, kept.into())),
    }
}

/// The numbers between which a number is a choice by a rule; itself if it is not such a choice.
fn items(choice: Choice, dim: &Dim) -> &[Dim] {
    match dim.as_variable() {
        Some(Variable::Choice(own, inner)) if *own == choice => inner,
        _ => std::slice::from_ref(dim),
    }
}
