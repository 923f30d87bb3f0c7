//! Function bodies of standard operators: ONNX defines some of its operators as functions of simpler ones.
//!
//! So are the operators of onnxruntime. [`TABLE`] has a row for each operator and each version in which its body changes.
//! A body is a text of the folder `bodies`, in which a builder selects lines and fills in what depends on a call: element
//! types, ranks, attributes and omitted operands. The result is a function in the text notation of ONNX, which calls are
//! replaced by as by functions of a model.

mod apart;
mod body_table;
mod builders;
mod facts;
mod lower;
mod microsoft;
mod needs;
mod plan;
mod selection;
mod standard_call;
mod template;
#[cfg(test)]
mod tests;
mod visible;

pub(crate) use apart::{apart, called, is_its_body};
pub(crate) use body_table::{names_body, with_bodies};
pub(crate) use facts::OperandTypes;
pub(crate) use lower::{lower, recurrent, unroll};
