//! Integers that may depend on symbols, and arithmetic with them.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::expression::{self, Choice, Expression, Variable};
use super::polynomial::{Bounds, Polynomial};
use super::{read, text};
use crate::extents::Size;

/// An integer that may depend on symbols, or may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Dim {
    /// An integer.
    Int(i64),
    /// An expression on symbols.
    Expr(Expression),
    /// Unknown.
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

    /// Parses an expression: integers, symbols, `+ - * /`, parentheses, and the functions that [`Dim::text`] writes.
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

    pub(super) fn polynomial(&self) -> Option<Cow<'_, Polynomial>> {
        match self {
            Dim::Int(value) => Some(Cow::Owned(Polynomial::constant(*value))),
            Dim::Expr(expression) => Some(Cow::Borrowed(expression.polynomial())),
            Dim::Unknown => None,
        }
    }

    /// The variable, if the expression is a single variable.
    pub(super) fn as_variable(&self) -> Option<&Variable> {
        match self {
            Dim::Expr(expression) => expression.polynomial().as_variable(),
            _ => None,
        }
    }

    /// The number of variables, including those within variables.
    pub(super) fn weight(&self) -> usize {
        match self {
            Dim::Expr(expression) => expression.weight(),
            _ => 0,
        }
    }

    /// An upper bound of its memory in bytes, including parts that it shares with others.
    #[cfg(feature = "onnx")]
    pub(crate) fn bytes(&self) -> usize {
        const VARIABLE: usize = 192;
        size_of::<Dim>() + VARIABLE * self.weight()
    }

    /// Applies an operation on polynomials; unknown if an operand or the result is not a polynomial.
    pub(super) fn compute(&self, other: &Dim, f: impl FnOnce(&Polynomial, &Polynomial) -> Option<Dim>) -> Dim {
        let computed = || f(&*self.polynomial()?, &*other.polynomial()?);
        computed().unwrap_or(Dim::Unknown)
    }

    /// `self + other`
    pub(crate) fn plus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_add(b).into(),
            (Dim::Int(0), other) => other,
            (this, Dim::Int(0)) => this,
            (this, other) => this.compute(&other, |a, b| Some(a.plus(b)?.into())),
        }
    }

    /// `self - other`
    pub(crate) fn minus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_sub(b).into(),
            (this, Dim::Int(0)) => this,
            (this, other) => this.compute(&other, |a, b| Some(a.minus(b)?.into())),
        }
    }

    /// `-self`
    pub(crate) fn negated(self) -> Dim {
        Dim::Int(0).minus(self)
    }

    /// `self * other`
    pub(crate) fn times(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_mul(b).into(),
            (Dim::Int(1), other) => other,
            (this, Dim::Int(1)) => this,
            (this, other) => this.compute(&other, |a, b| Some(a.times(b)?.into())),
        }
    }

    /// The bounds of `self - other`, as far as they are known.
    pub(super) fn difference(&self, other: &Dim) -> Bounds {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => {
                let difference = a.checked_sub(*b);
                Bounds { least: difference, most: difference }
            }
            _ => match (self.polynomial(), other.polynomial()) {
                (Some(a), Some(b)) => a.difference(&b),
                _ => Bounds::default(),
            },
        }
    }

    /// Compares two numbers; none if the result depends on the symbols or is unknown.
    pub(crate) fn compare(&self, other: &Dim) -> Option<Ordering> {
        match self.difference(other) {
            Bounds { least: Some(1..), .. } => Some(Ordering::Greater),
            Bounds { most: Some(..=-1), .. } => Some(Ordering::Less),
            Bounds { least: Some(0), most: Some(0) } => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// The minimum value, if it is known.
    pub(super) fn least(&self) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(*value),
            Dim::Expr(expression) => expression.least(),
            Dim::Unknown => None,
        }
    }

    /// Whether a number is at least `least` for all values of the symbols.
    pub(crate) fn is_at_least(&self, least: i64) -> bool {
        self.least().is_some_and(|own| own >= least)
    }

    /// The minimum of two numbers.
    pub(crate) fn min(self, other: Dim) -> Dim {
        self.choose(other, Choice::Min)
    }

    /// The maximum of two numbers.
    pub(crate) fn max(self, other: Dim) -> Dim {
        self.choose(other, Choice::Max)
    }

    /// The minimum or maximum of two numbers.
    pub(super) fn choose(self, other: Dim, choice: Choice) -> Dim {
        match (&self, &other) {
            (Dim::Unknown, _) | (_, Dim::Unknown) => Dim::Unknown,
            _ => expression::chosen(choice, &self, &other),
        }
    }

    /// The extent that two extents are broadcast to; none if they are incompatible. If one is an integer above
    /// 1, that is the result, since the other must be equal to it or 1.
    pub(crate) fn broadcast(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Dim::Int(1), other) | (other, Dim::Int(1)) => Some(other),
            (Dim::Int(_), Dim::Int(_)) => None,
            // Neither can be 1.
            (a, b) if a.is_at_least(2) && b.is_at_least(2) && a.compare(&b).is_some_and(Ordering::is_ne) => None,
            (Dim::Int(extent), _) | (_, Dim::Int(extent)) => Some(Dim::Int(extent)),
            (Dim::Unknown, _) | (_, Dim::Unknown) => Some(Dim::Unknown),
            (a, b) => Some(expression::chosen(Choice::Broadcast, &a, &b)),
        }
    }

    /// The more specific one of two descriptions of the same number; none if they contradict each other.
    /// Integers are the most specific.
    pub(crate) fn unify(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Dim::Unknown, other) | (other, Dim::Unknown) => Some(other),
            (a, b) if a.difference(&b).known().is_some() => None,
            (Dim::Int(value), _) | (_, Dim::Int(value)) => Some(Dim::Int(value)),
            (a, _) => Some(a),
        }
    }

    /// The value, given the values of symbols; none if the value of a symbol is missing.
    #[cfg(feature = "eval")]
    pub(crate) fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(*value),
            Dim::Expr(expression) => expression.value(symbol),
            Dim::Unknown => None,
        }
    }

    /// The number with other numbers in place of symbols; symbols without one stay.
    pub(crate) fn substituted(&self, symbol: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        match self {
            Dim::Expr(expression) => expression.substituted(symbol),
            other => other.clone(),
        }
    }

    /// The number with expressions in place of symbols that are named by one, as models of ONNX name extents: `2*M+1`.
    pub(crate) fn spelled_out(&self) -> Dim {
        let mut is_named = false;
        self.each_symbol(&mut |symbol| is_named |= !text::is_word(symbol));
        let named = |symbol: &str| Some(Dim::of_text(symbol)).filter(|dim| *dim != Dim::Unknown);
        if is_named { self.substituted(&named) } else { self.clone() }
    }

    /// Solves `self = value` for the only symbol: `2*S+1 = 7` results in `S` and 3.
    #[cfg(feature = "eval")]
    pub(crate) fn solved(&self, value: i64) -> Option<(std::sync::Arc<str>, i64)> {
        match self {
            Dim::Expr(expression) => expression.solved(value),
            _ => None,
        }
    }

    /// Calls a function with each symbol in the expression.
    pub(crate) fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        if let Dim::Expr(expression) = self {
            expression.each_symbol(f);
        }
    }

    /// The text of the expression; `?` if it is unknown. [`Dim::of_text`] reads it.
    pub(crate) fn text(&self) -> String {
        match self {
            Dim::Int(value) => value.to_string(),
            Dim::Expr(expression) => text::expression(expression),
            Dim::Unknown => "?".to_owned(),
        }
    }

    /// Whether the text is an expression of NNEF, with operators only.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Dim::Int(_) => true,
            Dim::Expr(expression) => expression.is_plain(),
            Dim::Unknown => false,
        }
    }
}

impl Size for Dim {
    const ONE: Self = Dim::Int(1);

    fn broadcast(&self, other: &Self) -> Option<Self> {
        self.clone().broadcast(other.clone())
    }

    fn unify(&self, other: &Self) -> Option<Self> {
        self.clone().unify(other.clone())
    }
}
