//! Suppression of boxes that overlap better ones.

use crate::eval::call::{Call, KernelResult};
use crate::eval::error::EvalError;
use crate::eval::suppression::Suppression;
use crate::tensor::Tensor;

use super::arrange::is_given;
use super::unfit;

/// The number of an argument; none if it is `false`.
fn number(call: &Call, name: &str) -> Result<Option<f64>, EvalError> {
    if !is_given(call, name) {
        return Ok(None);
    }
    let tensor = call.numbers(name)?;
    match tensor.to_scalars()[..] {
        [number] => Ok(Some(number)),
        _ => Err(unfit(call, &[tensor.shape()])),
    }
}

/// The batch, class and number of each selected box; a maximum of 0 stands for all.
pub(in crate::eval) fn non_max_suppression(call: &Call) -> KernelResult {
    let (boxes, scores) = (call.numbers("boxes")?, call.numbers("scores")?);
    let (&[batch, count, 4], &[_, classes, _]) = (boxes.shape(), scores.shape()) else {
        return Err(unfit(call, &[boxes.shape(), scores.shape()]));
    };
    if scores.shape() != [batch, classes, count] {
        return Err(unfit(call, &[boxes.shape(), scores.shape()]));
    }
    let most = number(call, "max_output_boxes_per_class")?.unwrap_or(0.0);
    let form = number(call, "center_point_box")?.unwrap_or(0.0);
    if form != 0.0 && form != 1.0 {
        return Err(EvalError::argument("`center_point_box` has to be 0 or 1"));
    }
    let of = Suppression {
        // Numbers below 0 become 0.
        most: if most == 0.0 { usize::MAX } else { most as usize },
        limit: number(call, "iou_threshold")?.unwrap_or(0.0),
        least: number(call, "score_threshold")?,
        centred: form == 1.0,
    };
    let (boxes, scores) = (boxes.to_scalars(), scores.to_scalars());
    let selected = of.selected(call.budget(), (&boxes, &scores), [batch, classes, count])?;
    Ok(vec![Tensor::integers(&[selected.len() / 3, 3], selected)?])
}
