//! Integers that depend on dimension symbols: exact expressions, in a form in which equal ones are
//! equal.
//!
//! An expression is a polynomial with integer coefficients. Its variables are symbols, quotients that
//! are rounded down, least and greatest values, and what two extents are broadcast to. Symbols stand
//! for extents, so they are not negative.
//!
//! Expressions are shared, never changed, and small: what needs more than some hundred variables is
//! unknown.

mod expression;
mod polynomial;
mod read;
#[cfg(test)]
mod tests;
mod text;

use std::cmp::Ordering;

use expression::{Choice, Variable};
use polynomial::Polynomial;

pub(crate) use expression::Expression;

/// An integer that may depend on symbols, or may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Dim {
    /// An integer.
    Int(i64),
    /// An expression on symbols.
    Expr(Expression),
    /// Nothing is known.
    Unknown,
}

impl From<Option<i64>> for Dim {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Dim::Unknown, Dim::Int)
    }
}

impl Dim {
    /// A symbol.
    pub(crate) fn symbol(name: &str) -> Dim {
        expression::symbol(name)
    }

    /// What a text means: integers, symbols, `+ - * /`, parentheses, and the functions that
    /// [`Dim::text`] writes.
    pub(crate) fn of_text(text: &str) -> Dim {
        read::read(text)
    }

    /// The integer, if it is one.
    pub(crate) fn known(&self) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn polynomial(&self) -> Option<Polynomial> {
        match self {
            Dim::Int(value) => Some(Polynomial::constant(*value)),
            Dim::Expr(expression) => Some((*expression.0).clone()),
            Dim::Unknown => None,
        }
    }

    /// The variable, if the number is one.
    fn as_variable(&self) -> Option<&Variable> {
        match self {
            Dim::Expr(expression) => expression.0.as_variable(),
            _ => None,
        }
    }

    /// How many variables there are, counted with those in variables.
    fn weight(&self) -> usize {
        match self {
            Dim::Expr(expression) => expression.weight(),
            _ => 0,
        }
    }

    /// Computes with polynomials; unknown where one is, or where the result is none.
    fn compute(&self, other: &Dim, f: impl FnOnce(Polynomial, Polynomial) -> Option<Dim>) -> Dim {
        let computed = || f(self.polynomial()?, other.polynomial()?);
        computed().unwrap_or(Dim::Unknown)
    }

    /// `self + other`
    pub(crate) fn plus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_add(b).into(),
            (Dim::Int(0), other) => other,
            (this, Dim::Int(0)) => this,
            (this, other) => this.compute(&other, |a, b| Some(a.plus(&b)?.into())),
        }
    }

    /// `self - other`
    pub(crate) fn minus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_sub(b).into(),
            (this, Dim::Int(0)) => this,
            (this, other) => this.plus(other.times(Dim::Int(-1))),
        }
    }

    /// `self * other`
    pub(crate) fn times(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_mul(b).into(),
            (Dim::Int(1), other) => other,
            (this, Dim::Int(1)) => this,
            (this, other) => this.compute(&other, |a, b| Some(a.times(&b)?.into())),
        }
    }

    /// The quotient, rounded down; unknown for a divisor that may not be positive.
    pub(crate) fn over(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) if b > 0 => Dim::Int(a.div_euclid(b)),
            (this, Dim::Int(1)) => this,
            (_, Dim::Int(..=0)) => Dim::Unknown,
            (a, b) if a == b && a != Dim::Unknown => Dim::Int(1),
            (a, b) => a.compute(&b, expression::quotient),
        }
    }

    /// The quotient, rounded up.
    pub(crate) fn over_up(self, other: Dim) -> Dim {
        self.plus(other.clone().minus(Dim::Int(1))).over(other)
    }

    /// The quotient where there is no remainder for any value of the symbols.
    pub(crate) fn exactly_over(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => Dim::from((b != 0 && a % b == 0).then(|| a / b)),
            (a, b) => a.compute(&b, |a, b| Some(a.exactly_over(&b)?.into())),
        }
    }

    /// How two numbers compare, where that is the same for all values of the symbols.
    pub(crate) fn compare(self, other: Dim) -> Option<Ordering> {
        match self.minus(other) {
            Dim::Int(difference) => Some(difference.cmp(&0)),
            difference if difference.is_at_least(1) => Some(Ordering::Greater),
            difference if Dim::Int(0).minus(difference.clone()).is_at_least(1) => Some(Ordering::Less),
            _ => None,
        }
    }

    /// The least value, where that is known.
    fn least(&self) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(*value),
            Dim::Expr(expression) => expression.least(),
            Dim::Unknown => None,
        }
    }

    /// Whether a number is at least this for all values of the symbols.
    pub(crate) fn is_at_least(&self, least: i64) -> bool {
        self.least().is_some_and(|own| own >= least)
    }

    /// The lesser of two numbers.
    pub(crate) fn min(self, other: Dim) -> Dim {
        self.choose(other, Choice::Min)
    }

    /// The greater of two numbers.
    pub(crate) fn max(self, other: Dim) -> Dim {
        self.choose(other, Choice::Max)
    }

    /// The lesser or greater of two numbers.
    fn choose(self, other: Dim, choice: Choice) -> Dim {
        if self == Dim::Unknown || other == Dim::Unknown {
            return Dim::Unknown;
        }
        let at_most = |a: &Dim, b: &Dim| b.clone().minus(a.clone()).is_at_least(0);
        let is_first_lesser = match (at_most(&self, &other), at_most(&other, &self)) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => return expression::chosen(choice, self, other),
        };
        if is_first_lesser == (choice == Choice::Min) { self } else { other }
    }

    /// The extent that two extents are repeated to; none where they contradict each other. A number
    /// above 1 is that extent, whatever the other is: it is the same, or 1.
    pub(crate) fn broadcast(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Dim::Int(1), other) | (other, Dim::Int(1)) => Some(other),
            (Dim::Int(_), Dim::Int(_)) => None,
            (Dim::Int(extent), _) | (_, Dim::Int(extent)) => Some(Dim::Int(extent)),
            (Dim::Unknown, _) | (_, Dim::Unknown) => Some(Dim::Unknown),
            (a, b) => Some(expression::chosen(Choice::Broadcast, a, b)),
        }
    }

    /// The number that is both; none where the two contradict each other. An integer says most.
    pub(crate) fn unify(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Dim::Unknown, other) | (other, Dim::Unknown) => Some(other),
            (a, b) if matches!(a.clone().minus(b.clone()), Dim::Int(_)) => None,
            (Dim::Int(value), _) | (_, Dim::Int(value)) => Some(Dim::Int(value)),
            (a, _) => Some(a),
        }
    }

    /// The value where symbols have these values; none where one that occurs has none.
    #[cfg(feature = "eval")]
    pub(crate) fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(*value),
            Dim::Expr(expression) => expression.value(symbol),
            Dim::Unknown => None,
        }
    }

    /// The only symbol that occurs, with the value for which the number is `value`: where that is `2*S+1`, half
    /// of what is left of 1.
    #[cfg(feature = "eval")]
    pub(crate) fn solved(&self, value: i64) -> Option<(std::sync::Arc<str>, i64)> {
        match self {
            Dim::Expr(expression) => expression.solved(value),
            _ => None,
        }
    }

    /// Calls a function with each symbol that occurs.
    pub(crate) fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        if let Dim::Expr(expression) = self {
            expression.each_symbol(f);
        }
    }

    /// The text, as shapes show it; `?` where nothing is known. It is read back by [`Dim::of_text`].
    pub(crate) fn text(&self) -> String {
        match self {
            Dim::Int(value) => value.to_string(),
            Dim::Expr(expression) => text::expression(expression),
            Dim::Unknown => "?".to_owned(),
        }
    }

    /// Whether the text means the same in a document: it has operators only.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Dim::Int(_) => true,
            Dim::Expr(expression) => expression.is_plain(),
            Dim::Unknown => false,
        }
    }
}
