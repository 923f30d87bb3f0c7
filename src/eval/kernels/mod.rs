//! What both evaluators compute on plain slices: windows, correlations, products of matrices, sums of products by an
//! equation, and the places that indices select.
//! Settings are read, and results rounded, by the kernels of a notation.

mod columns;
mod correlation;
mod einsum;
mod matrix;
mod places;
mod response;
mod window;
mod windows;

pub(crate) use columns::Columns;
pub(crate) use correlation::Correlation;
pub(crate) use einsum::{SumItem, Summand, sum_of_products};
pub(crate) use matrix::{MatrixItem, exchanged, multiplied, of_items, product};
pub(crate) use places::{Indices, Misplaced, Triangle, first_along, indices_of};
pub(crate) use response::LocalResponse;
pub(crate) use window::SlidingWindow;
pub(crate) use windows::{Direction, PlaneWindow, Windows, advance, greater, pooled};
