//! Losses.

use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// A loss for each target unless it is reduced to one number; the logarithms of probabilities have the shape of the
/// scores.
pub(crate) fn loss(call: &mut InferCall) -> Option<()> {
    if let Some(scores) = call.shape(0) {
        call.give(1, scores);
    }
    let shape: Vec<Dim> = match call.text("reduction").as_deref() {
        Some("none") => call.extents(1)?.to_vec(),
        _ => Vec::new(),
    };
    call.give(0, shape);
    Some(())
}
