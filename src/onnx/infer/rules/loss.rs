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
        Some("none") => {
            let rank = call.rank(1).or_else(|| call.rank(0)?.checked_sub(1))?;
            // The scores have one axis more, the classes.
            (0..rank).map(|at| call.shared(&[(1, at), (0, if at == 0 { 0 } else { at + 1 })])).collect()
        }
        _ => Vec::new(),
    };
    call.give(0, shape);
    Some(())
}
