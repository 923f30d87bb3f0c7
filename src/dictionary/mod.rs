//! The dictionary of meanings: what each operation is, once for all notations.
//!
//! An operation is identified by its meaning, not by its name: `round` of NNEF rounds halves up, that of torch, ONNX
//! and TensorRT to even numbers, so these are two rows. A row says how notations spell the meaning, what it computes, and
//! which rules apply to it. Inference, evaluation, folding, translation, pictures and statistics look operations up here.
//! A spelling claims that both sides compute the same; `tests.rs` evaluates the claims on edge values.

/// Defines a static item for each row, and the list of them.
macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)*) => {
        $($(#[$doc])* pub(crate) static $name: Row = $row;)*

        /// All rows of this family.
        pub(super) static ROWS: &[&Row] = &[$(&$name),*];
    };
}

pub(crate) mod differences;
pub(crate) mod elementwise;
pub(crate) mod formula;
pub(crate) mod functions;
mod index;
mod kernel;
pub(crate) mod layouts;
pub(crate) mod matrices;
pub(crate) mod reductions;
pub(crate) mod regions;
mod row;
pub(crate) mod sources;
#[cfg(test)]
mod tests;
pub(crate) mod vendors;
pub(crate) mod windows;

pub(crate) use functions::{CUBIC_SLOPE, cubic, erf, sigmoid};
pub(crate) use index::{Vocabulary, all, category, find, is_of_converter};
pub(crate) use kernel::{Arith, Float, Kernel, Order};
pub(crate) use row::{
    Allowed, Category, Deviation, ElementRule, InNnef, ItemRule, NearOperation, Operands, Products, Row, ShapeRule,
    SignRule, ToOnnx,
};
