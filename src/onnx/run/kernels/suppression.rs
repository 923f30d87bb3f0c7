//! Suppression of boxes that overlap better ones.

use super::reals::Reals;
use crate::eval::Suppression;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::Data;

/// `NonMaxSuppression`: the batch, class and number of each selected box.
pub(in crate::onnx) fn non_max_suppression(call: &NodeCall) -> KernelResult {
    let (boxes, scores) = (Reals::of(call, 0)?.ranked(call, 3)?, Reals::of(call, 1)?.ranked(call, 3)?);
    let [batch, count] = [boxes.shape[0], boxes.shape[1]];
    let classes = scores.shape[1];
    if boxes.shape[2] != 4 || scores.shape != [batch, classes, count] {
        return Err(call.misfit(format!("boxes of shape {:?} with scores of shape {:?}", boxes.shape, scores.shape)));
    }
    let of = Suppression {
        most: call.optional_single(2)?.and_then(|most| usize::try_from(most).ok()).unwrap_or(0),
        limit: call.single_float(3)?.unwrap_or(0.0),
        least: call.single_float(4)?,
        centred: call.flag("center_point_box", false)?,
    };
    let selected = of.selected(call.budget, &boxes.items, &scores.items, [batch, classes, count])?;
    one(call.made(&[selected.len() / 3, 3], Data::Int64(selected))?)
}
