//! Repeated structure of the graph of a model as functions.
//!
//! `listing` tells [`crate::outline`] which nodes are equal but for values, and `functions` makes functions and calls of
//! what it finds. Other nodes are not changed; nodes in functions lose what is told of one occurrence only: documentation
//! and metadata.

mod functions;
mod listing;
mod outlined;

pub(in crate::onnx) use outlined::outline;
