//! What both evaluators compute on plain slices of floats of 64 bits: windows, correlations, products of matrices, and
//! sums of products by an equation.
//! Settings are read, and results rounded, by the kernels of a notation.

mod columns;
mod correlation;
mod einsum;
mod matrix;
mod window;

pub(crate) use columns::Columns;
pub(crate) use correlation::Correlation;
pub(crate) use einsum::{SumItem, Summand, sum_of_products};
pub(crate) use matrix::{MatrixItem, exchanged, multiplied, of_items, product};
pub(crate) use window::WindowAxis;
