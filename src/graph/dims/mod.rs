//! Integers that depend on dimension symbols: exact expressions, in a form in which equal ones are
//! equal.
//!
//! An expression is a polynomial with integer coefficients. Its variables are symbols, quotients that
//! are rounded down, least and greatest values, and what two extents are broadcast to. Symbols stand
//! for extents, so they are not negative.
//!
//! Expressions are kept once for the whole process and never dropped, so that an extent is a number
//! ([`Dim`] is copied, and compared, like an integer). There is room for a limited number: what is
//! beyond is unknown.

mod polynomial;
mod read;
mod table;
#[cfg(test)]
mod tests;
mod text;

use std::cmp::Ordering;
use std::sync::Arc;

use polynomial::Polynomial;
pub(crate) use table::ExprId;
use table::{Atom, Table};

/// An integer that may depend on symbols, or may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dim {
    /// An integer.
    Int(i64),
    /// An expression on symbols.
    Expr(ExprId),
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
        Table::with(|table| table.atom(Atom::Symbol(name.into())))
    }

    /// What a text means: integers, symbols, `+ - * /`, parentheses, and the functions that
    /// [`Dim::text`] writes.
    pub(crate) fn of_text(text: &str) -> Dim {
        read::read(text)
    }

    /// The integer, if it is one.
    pub(crate) fn known(self) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(value),
            _ => None,
        }
    }

    fn polynomial(self, table: &Table) -> Option<Polynomial> {
        match self {
            Dim::Int(value) => Some(Polynomial::constant(value)),
            Dim::Expr(id) => Some(table.expr(id).clone()),
            Dim::Unknown => None,
        }
    }

    /// Computes with polynomials; unknown where one is, or where the result is none.
    fn compute(self, other: Dim, f: impl FnOnce(&mut Table, Polynomial, Polynomial) -> Option<Dim>) -> Dim {
        if self == Dim::Unknown || other == Dim::Unknown {
            return Dim::Unknown;
        }
        Table::with(|table| {
            let (a, b) = (self.polynomial(table)?, other.polynomial(table)?);
            f(table, a, b)
        })
        .unwrap_or(Dim::Unknown)
    }

    /// `self + other`
    pub(crate) fn plus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_add(b).into(),
            (Dim::Int(0), other) => other,
            (this, Dim::Int(0)) => this,
            _ => self.compute(other, |table, a, b| Some(table.intern(a.plus(&b)?))),
        }
    }

    /// `self - other`
    pub(crate) fn minus(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_sub(b).into(),
            (this, Dim::Int(0)) => this,
            _ => self.plus(other.times(Dim::Int(-1))),
        }
    }

    /// `self * other`
    pub(crate) fn times(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => a.checked_mul(b).into(),
            (Dim::Int(1), other) => other,
            (this, Dim::Int(1)) => this,
            _ => self.compute(other, |table, a, b| Some(table.intern(a.times(&b)?))),
        }
    }

    /// The quotient, rounded down; unknown for a divisor that may not be positive.
    pub(crate) fn over(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) if b > 0 => Dim::Int(a.div_euclid(b)),
            (this, Dim::Int(1)) => this,
            (_, Dim::Int(..=0)) => Dim::Unknown,
            (a, b) if a == b && a != Dim::Unknown => Dim::Int(1),
            _ => self.compute(other, |table, a, b| table.quotient(a, b)),
        }
    }

    /// The quotient, rounded up.
    pub(crate) fn over_up(self, other: Dim) -> Dim {
        self.plus(other.minus(Dim::Int(1))).over(other)
    }

    /// The quotient where there is no remainder for any value of the symbols.
    pub(crate) fn exactly_over(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => Dim::from((b != 0 && a % b == 0).then(|| a / b)),
            _ => self.compute(other, |table, a, b| Some(table.intern(a.exactly_over(&b)?))),
        }
    }

    /// How two numbers compare, where that is the same for all values of the symbols.
    pub(crate) fn compare(self, other: Dim) -> Option<Ordering> {
        let difference = self.minus(other);
        match difference {
            Dim::Int(difference) => Some(difference.cmp(&0)),
            difference if difference.is_at_least(1) => Some(Ordering::Greater),
            difference if difference.times(Dim::Int(-1)).is_at_least(1) => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Whether a number is at least this for all values of the symbols.
    pub(crate) fn is_at_least(self, least: i64) -> bool {
        match self {
            Dim::Int(value) => value >= least,
            Dim::Expr(_) => Table::with(|table| table.least(self).is_some_and(|own| own >= least)),
            Dim::Unknown => false,
        }
    }

    /// The lesser of two numbers.
    pub(crate) fn min(self, other: Dim) -> Dim {
        self.choose(other, Atom::Min, |a, b| b.minus(a))
    }

    /// The greater of two numbers.
    pub(crate) fn max(self, other: Dim) -> Dim {
        self.choose(other, Atom::Max, |a, b| a.minus(b))
    }

    /// One of two numbers: the first one where `difference` is not negative.
    fn choose(self, other: Dim, atom: fn(Vec<Dim>) -> Atom, difference: impl Fn(Dim, Dim) -> Dim) -> Dim {
        if self == Dim::Unknown || other == Dim::Unknown {
            return Dim::Unknown;
        }
        if self == other || difference(self, other).is_at_least(0) {
            return self;
        }
        if difference(other, self).is_at_least(0) {
            return other;
        }
        Table::with(|table| table.gathered(atom, self, other))
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
            _ => Some(Table::with(|table| table.gathered(Atom::Broadcast, self, other))),
        }
    }

    /// The number that is both; none where the two contradict each other. An integer says most.
    pub(crate) fn unify(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Dim::Unknown, other) | (other, Dim::Unknown) => Some(other),
            (a, b) if matches!(a.minus(b), Dim::Int(_)) => None,
            (Dim::Int(value), _) | (_, Dim::Int(value)) => Some(Dim::Int(value)),
            (a, _) => Some(a),
        }
    }

    /// The value where symbols have these values; none where one that occurs has none.
    pub(crate) fn value(self, symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Dim::Int(value) => Some(value),
            Dim::Expr(_) => Table::with(|table| table.value(self, symbol)),
            Dim::Unknown => None,
        }
    }

    /// The only symbol that occurs, with the value for which the number is `value`: where that is `2*S+1`, half
    /// of what is left of 1.
    pub(crate) fn solved(self, value: i64) -> Option<(Arc<str>, i64)> {
        match self {
            Dim::Expr(id) => Table::with(|table| table.solved(id, value)),
            _ => None,
        }
    }

    /// The text, as shapes show it; `?` where nothing is known.
    pub(crate) fn text(self) -> String {
        match self {
            Dim::Int(value) => value.to_string(),
            Dim::Expr(id) => Table::with(|table| text::expression(table, id)),
            Dim::Unknown => "?".to_owned(),
        }
    }

    /// Whether the text means the same in a document: it has operators only.
    pub(crate) fn is_plain(self) -> bool {
        match self {
            Dim::Int(_) => true,
            Dim::Expr(id) => Table::with(|table| table.is_plain(id)),
            Dim::Unknown => false,
        }
    }
}
