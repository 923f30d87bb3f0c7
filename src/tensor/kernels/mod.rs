//! Kernels of operations on elements of any type; shared by the evaluators of all notations.
//!
//! The dictionary has the element-wise kernels, which are applied here to tensors; reductions and matrix products are
//! functions. Results have the types of their operands, and integers wrap around. The reference evaluator of flat graphs
//! refuses integers beyond 64 bits, so it uses [`Arith::exact`](crate::dictionary::Arith::exact).

// The modules below use its macro.
#[macro_use]
mod same_type;

mod compute;
#[cfg(test)]
mod edges;
mod matmul;
mod number;
mod reduce;
mod repeat;

#[cfg(test)]
pub(crate) use edges::EDGES;
pub(crate) use matmul::{Matrices, product};
pub(crate) use number::Number;
pub(crate) use reduce::{
    Extreme, among, best, each_group, extreme, fold, grouped, peak, soften, soften_logarithms, softmax, sum,
};
pub(crate) use repeat::Repeat;
