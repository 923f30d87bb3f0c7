//! What both evaluators compute on plain slices: windows, correlations, products of matrices, sums of products by an
//! equation, reductions, Fourier transforms, places of resampling, and those that
//! indices select.
//! Settings are read, and results rounded, by the kernels of a notation.

mod columns;
mod correlation;
mod einsum;
mod fourier;
mod matrix;
mod places;
mod reduction;
mod resample;
mod response;
mod window;
mod windows;

pub(crate) use columns::Columns;
pub(crate) use correlation::Correlation;
pub(crate) use einsum::{SumItem, Summand, sum_of_products};
pub(crate) use fourier::{Complex, Fourier, SignalFrames, Signals};
pub(crate) use matrix::{MatrixItem, exchanged, multiplied, of_items, product};
pub(crate) use places::{Indices, Misplaced, Triangle, first_along, indices_of};
pub(crate) use reduction::{MAX, MEAN, MIN, Reduction, SUM, WholeNumbers, total};
pub(crate) use resample::{COORDINATES, Coordinates, ROUNDINGS, ResampledAxis, Rounding, SampledPlanes, Tap};
pub(crate) use response::LocalResponse;
pub(crate) use window::SlidingWindow;
pub(crate) use windows::{Direction, PlaneWindow, Windows, advance, pooled};
