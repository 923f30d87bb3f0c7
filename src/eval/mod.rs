//! The reference evaluator: computes the outputs of a flat graph.
//!
//! A table has the kernel of each operation: a function of a [`Call`], which contains operands and attributes.
//! Kernels follow the formulas of the specification; speed is secondary. Compounds without a kernel are evaluated by
//! their definitions. `docs/evaluation.md` has the decisions where the specification is silent.
//!
//! ```
//! use nnef_flatten::eval::Evaluator;
//! use nnef_flatten::tensor::Tensor;
//! use nnef_flatten::{Options, expand, parse};
//! use std::collections::BTreeMap;
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = softmax(x, axes = [0]); }";
//! let parsed = parse("example", text.to_string(), &Options::default());
//! let graph = expand(&parsed.document, &Options::default()).expect("a valid document").graph;
//! let x = Tensor::scalars(&[2], vec![0.5, 0.5])?;
//! let outputs = Evaluator::default().run(&graph, &[("x".to_string(), x)], &BTreeMap::new())?.outputs;
//! assert_eq!(*outputs[0].1, Tensor::scalars(&[2], vec![0.5, 0.5])?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrange;
mod array;
mod bind;
mod boundary;
mod broadcast;
mod budget;
mod conv;
mod definition;
mod elementwise;
mod error;
mod eval_call;
mod evaluator;
mod fold;
mod joined;
mod kernel_table;
pub(crate) mod kernels;
mod matmul;
mod pool;
mod quantized;
mod random;
mod reduce;
mod registry;
mod resize;
mod roi;
mod run;
mod scan;
mod sections;
mod selection;
mod sources;
mod stored;
mod suppression;
#[cfg(test)]
mod tests;
mod variables;
mod vendor;
mod verify;
mod window;

pub(crate) use boundary::Boundary;
pub(crate) use budget::Budget;
pub use budget::Limits;
pub use error::EvalError;
pub use eval_call::Call;
pub(crate) use eval_call::Kernel;
pub use evaluator::{Evaluation, Evaluator};
pub(crate) use kernels::advance;
pub use quantized::Quantizations;
pub(crate) use random::{LETTERS, Random};
pub(crate) use resize::{Method, Taps, interpolate, taps};
pub(crate) use suppression::Suppression;
pub use variables::Variables;
pub use verify::Difference;
pub(crate) use verify::{compare, tolerance};

pub(crate) use crate::tensor::MAX_RANK;
