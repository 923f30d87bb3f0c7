//! Evaluates models: every operator by a kernel, control flow and functions by the graphs and nodes that they are.
//!
//! A value is a tensor, a sequence, a map or an optional. Results have the types that the standard gives them: floats are
//! computed in at least 32 bits and rounded once, integers wrap around. The limits are those of all evaluations.

pub(in crate::onnx) mod activation;
mod attributes;
mod body;
mod broadcast;
mod constant;
mod control;
mod element;
mod entry;
mod failure;
mod flex;
mod holdings;
mod interpreter;
pub(in crate::onnx) mod kernels;
mod node_call;
mod own_body;
mod patterns;
mod scope;
mod sparse;
mod stored;

pub(crate) use attributes::NodeAttributes;
pub(crate) use element::{dtype_of, number_of};
pub(crate) use entry::{DeclaredInput, Runner, declared_inputs};
pub(crate) use failure::RunFailure;
pub(crate) use holdings::Holdings;
#[cfg(test)]
pub(crate) use interpreter::Interpreter;
pub(crate) use interpreter::evaluate_node;
pub(in crate::onnx) use node_call::{KernelResult, NodeCall, NodeKernel};
pub(crate) use sparse::constants as sparse_constants;
pub(crate) use stored::{Computing, Stores, element_pieces, numbers_as_raw, tensor_of, tensor_proto};
