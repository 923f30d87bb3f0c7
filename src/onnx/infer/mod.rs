//! Inference: types, shapes and small integer values of the values of a model, from what the model declares and from
//! the rules of the operators.
//!
//! TensorExtents are exact expressions on the symbols that the model declares. An extent that does not follow from others gets
//! a symbol of its own. What the rules do not know, or what contradicts the
//! rules, is unknown; a check reports contradictions.

mod bodies;
mod budget;
mod compare;
mod contradictions;
mod control;
pub(crate) mod declared;
mod engine;
pub(crate) mod facts;
mod functions;
mod graphs;
pub(crate) mod infer_call;
pub(crate) mod merge;
mod operator;
mod own_body;
pub(crate) mod rules;
mod scope;
mod seen;
mod shown;
mod symbols;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use compare::Mistaken;
pub(crate) use contradictions::{Contradiction, sources};
pub(crate) use engine::{InferGoal, infer, infer_checked, infer_functions, infer_told};
pub(crate) use facts::{TensorExtents, TensorFacts, ValueType};
pub(crate) use infer_call::InferCall;
pub(crate) use shown::shown;
pub(crate) use tables::{GraphTypes, InnerPlace, ModelTypes, each_typed_graph};
