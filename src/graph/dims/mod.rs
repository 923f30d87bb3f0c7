//! Integers that depend on dimension symbols: exact expressions in a canonical form.
//!
//! An expression is a polynomial with integer coefficients. Its variables are symbols, quotients that are rounded down
//! or towards 0, minima and maxima, and extents that result from broadcasting two extents. Symbols stand for extents,
//! so they are not negative.
//!
//! Expressions are shared, immutable and small: an expression of more than a few hundred variables becomes unknown.

mod computed;
mod dim;
mod expression;
mod polynomial;
mod quotient;
mod read;
#[cfg(test)]
mod tests;
mod text;

#[cfg(feature = "onnx")]
pub(crate) use computed::computed;
pub(crate) use dim::Dim;
pub(crate) use text::UNNAMED;
