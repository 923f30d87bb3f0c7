//! Quantized tensors: each is rounded to the values that its codes represent, as `eval/quantized` does it.
//!
//! Codes that integers of ONNX hold become `QuantizeLinear` and `DequantizeLinear`, data of variables the codes with
//! `DequantizeLinear`. `QuantizeLinear` rounds halves to even numbers, NNEF up: items are moved to multiples of the
//! scale before.

mod algorithm;
mod codes;
mod parameter;
mod rounding;
mod stored;
#[cfg(test)]
mod tests;

pub(super) use rounding::rounded;
pub(super) use stored::{blocks, stored};
