//! Quotients of numbers that depend on symbols.

use std::sync::Arc;

use super::Dim;
use super::expression::{Rounding, Variable, variable};
use super::polynomial::{Polynomial, gcd};
use crate::graph::operators::integer_quotient;

/// The quotient of two integers, rounded down; none if the divisor is 0 or the quotient does not fit into 64 bits.
pub(super) fn rounded_down(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    let quotient = a.checked_div(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient })
}

impl Dim {
    /// The quotient, rounded down; unknown if the divisor is an integer that is not positive.
    pub(crate) fn over(self, other: Dim) -> Dim {
        match (self, other) {
            (_, Dim::Int(..=0)) => Dim::Unknown,
            (Dim::Int(a), Dim::Int(b)) => rounded_down(a, b).into(),
            (this, Dim::Int(1)) => this,
            (a, b) if a == b && a != Dim::Unknown => Dim::Int(1),
            (a, b) => a.compute(&b, down),
        }
    }

    /// The quotient, rounded up.
    pub(crate) fn over_up(self, other: Dim) -> Dim {
        self.plus(other.clone().minus(Dim::Int(1))).over(other)
    }

    /// The quotient, if there is no remainder for any values of the symbols; otherwise unknown.
    pub(crate) fn exactly_over(self, other: Dim) -> Dim {
        self.compute(&other, |a, b| Some(a.exactly_over(b)?.into()))
    }

    /// The quotient of the operator `/` of the language, which rounds towards 0.
    ///
    /// Where both numbers are known to be not negative, it is the quotient rounded down, which has a simpler form.
    pub(crate) fn divided_by(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Int(a), Dim::Int(b)) => integer_quotient(a, b).into(),
            (this, Dim::Int(1)) => this,
            (_, Dim::Int(0)) => Dim::Unknown,
            (a, b @ Dim::Int(..=-1)) => a.negated().divided_by(b.negated()),
            (a, b) if a.is_at_least(0) && b.is_at_least(0) => a.over(b),
            (a, b) if a.clone().negated().is_at_least(0) && b.is_at_least(0) => a.negated().over(b).negated(),
            (a, b) => a.compute(&b, toward_zero),
        }
    }
}

/// The quotient, rounded down. Multiples of the divisor are moved out of the quotient, and common factors are removed,
/// so that the dividend has no negative coefficients.
fn down(a: &Polynomial, b: &Polynomial) -> Option<Dim> {
    let Some(divisor) = b.as_constant() else {
        return Some(match a.exactly_over(b) {
            Some(exact) => Dim::from(exact),
            None => fraction(Rounding::Down, a.clone(), b.clone()),
        });
    };
    if divisor <= 0 {
        return None;
    }
    let (whole, rest) = a.divided(divisor);
    let common = gcd(rest.content(), divisor);
    let (rest, _) = rest.divided(common);
    let divisor = divisor / common;
    let part = match (rest.as_constant(), within(&rest)) {
        (Some(constant), _) => Dim::from(rounded_down(constant, divisor)),
        // A quotient of a quotient is a single quotient.
        (None, Some((inner, by))) => inner.clone().over(Dim::Int(by.checked_mul(divisor)?)),
        (None, None) if divisor == 1 => Dim::from(rest),
        (None, None) => fraction(Rounding::Down, rest, Polynomial::constant(divisor)),
    };
    Some(Dim::from(whole).plus(part))
}

/// The quotient, rounded towards 0. Common factors are removed.
fn toward_zero(a: &Polynomial, b: &Polynomial) -> Option<Dim> {
    if let Some(exact) = a.exactly_over(b) {
        return Some(exact.into());
    }
    let common = [a, b].into_iter().flat_map(Polynomial::terms).fold(0, |common, (_, factor)| gcd(common, *factor));
    Some(fraction(Rounding::Zero, a.divided(common).0, b.divided(common).0))
}

/// A quotient that cannot be simplified; unknown if a side is too large.
fn fraction(rounding: Rounding, a: Polynomial, b: Polynomial) -> Dim {
    match [a, b].map(Dim::from) {
        [Dim::Unknown, _] | [_, Dim::Unknown] => Dim::Unknown,
        sides => variable(Variable::Quotient(rounding, Arc::new(sides))),
    }
}

/// The operands of a quotient that is rounded down and whose divisor is an integer.
fn within(of: &Polynomial) -> Option<(&Dim, i64)> {
    match of.as_variable()? {
        Variable::Quotient(Rounding::Down, sides) => Some((&sides[0], sides[1].known()?)),
        _ => None,
    }
}
