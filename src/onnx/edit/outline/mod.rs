//! Repeated structure of the graph of a model as functions.
//!
//! `listing` tells [`crate::outline`] which nodes are equal but for values, and `functions` makes functions and calls of
//! what it finds. Other nodes are not changed; nodes in functions lose what is told of one occurrence only: documentation
//! and metadata.

mod functions;
mod listing;

use crate::onnx::model::ModelProto;

/// Makes functions of the repeated structure of the graph of a model, and calls of them. Inputs, outputs and constants of
/// the graph stay. Returns the number of functions.
pub(in crate::onnx) fn outline(model: &mut ModelProto) -> usize {
    let Some(graph) = &model.graph else { return 0 };
    match crate::outline::find(&listing::listing(model, graph)) {
        Some(plan) => {
            functions::apply(model, &plan);
            plan.bodies.len()
        }
        None => 0,
    }
}
