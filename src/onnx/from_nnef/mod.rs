//! Translates flat NNEF graphs to ONNX models.
//!
//! A table of rules ([`rules`]) has the translation of each operation: a formula of operators, or a function if a
//! formula is not sufficient. Data of variables become constant tensors without being copied.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod arrange;
mod body;
mod computed;
mod convert;
mod convolution;
mod emit;
mod fold;
mod formula;
mod limits;
mod lists;
mod normalize;
mod operation;
mod padding;
mod places;
mod pool;
mod quantization;
mod refusals;
mod registry;
mod resample;
mod rules;
mod sources;
#[cfg(test)]
mod tests;
mod translated_call;
mod value;
mod versions;
mod walk;

pub(crate) use convert::convert;
pub(crate) use rules::names;
pub(crate) use sources::{BlockWeight, Items, TranslatedData, Weight, Weights};
pub(crate) use value::NnefElement;
