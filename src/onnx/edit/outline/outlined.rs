//! The model with functions.

use super::{functions, listing};
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
