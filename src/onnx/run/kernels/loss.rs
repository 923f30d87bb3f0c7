//! Losses: the negative logarithms of the probabilities of classes.

use super::reals::{Reals, around};
use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::Tensor;
use crate::tensor::kernels::{softmax, sum};

/// The loss for logarithms of probabilities along axis 1.
fn loss(call: &NodeCall, x: &Reals, logarithms: &[f64]) -> Result<Tensor, EvalError> {
    let (batch, classes, space) = around(x.shape, 1);
    let target = call.tensor(1)?;
    let wanted: Vec<usize> = x.shape.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, &extent)| extent).collect();
    if target.shape() != wanted {
        return Err(call.misfit(format!("targets of shape {:?} instead of {wanted:?}", target.shape())));
    }
    let weights = Reals::optional_shaped(call, 2, &[classes])?;
    let ignored = call.int("ignore_index")?;
    let (mut losses, mut all) = (Vec::with_capacity(call.budget.room(&wanted)?), 0.0);
    for (place, class) in call.list(1)?.into_iter().enumerate() {
        if Some(class) == ignored {
            losses.push(0.0);
            continue;
        }
        let class = usize::try_from(class).ok().filter(|&class| class < classes);
        let class = class.ok_or_else(|| call.refused("a target is not a class"))?;
        let weight = weights.as_ref().map_or(1.0, |weights| weights.items[class]);
        losses.push(weight * -logarithms[(place / space * classes + class) * space + place % space]);
        all += weight;
    }
    debug_assert_eq!(losses.len(), batch * space);
    let sum = sum(losses.iter().copied());
    match &*call.text_or("reduction", "mean")? {
        "none" => call.rounded(x.dtype, &wanted, losses),
        "sum" => call.rounded(x.dtype, &[], [sum]),
        "mean" => call.rounded(x.dtype, &[], [sum / all]),
        other => Err(call.refused(format!("`reduction` is '{other}'"))),
    }
}

fn operand<'c>(call: &'c NodeCall) -> Result<Reals<'c>, EvalError> {
    let x = Reals::of(call, 0)?;
    match x.shape.len() {
        ..2 => Err(call.misfit(format!("the operand of shape {:?} has no classes", x.shape))),
        _ => Ok(x),
    }
}

/// `NegativeLogLikelihoodLoss`.
pub(in crate::onnx) fn negative_log_likelihood(call: &NodeCall) -> KernelResult {
    let x = operand(call)?;
    one(loss(call, &x, &x.items)?)
}

/// `SoftmaxCrossEntropyLoss`, with the logarithms of the probabilities.
pub(in crate::onnx) fn softmax_cross_entropy(call: &NodeCall) -> KernelResult {
    let x = operand(call)?;
    call.budget.room(x.shape)?;
    let logarithms = softmax(&x.items, x.shape, &[1], true);
    let loss = loss(call, &x, &logarithms)?;
    if call.results() < 2 {
        return one(loss);
    }
    Ok(vec![loss.into(), call.rounded(x.dtype, x.shape, logarithms)?.into()])
}
