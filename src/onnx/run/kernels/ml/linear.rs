//! Linear models.

use super::features::list;
use super::scores::{Labels, Transform, best};
use crate::eval::EvalError;
use crate::eval::kernels::{exchanged, multiplied};
use crate::onnx::run::kernels::reals::Reals;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// The rows of features of an operand, and their number of items.
pub(super) fn rows<'c>(call: &'c NodeCall) -> Result<(Reals<'c>, usize, usize), EvalError> {
    let x = Reals::of(call, 0)?;
    match *x.shape {
        [features] => Ok((x, 1, features)),
        [rows, features] => Ok((x, rows, features)),
        _ => Err(call.misfit(format!("features of shape {:?}", x.shape))),
    }
}

/// The floats of an attribute; none if it is not given.
pub(super) fn numbers(call: &NodeCall, name: &str) -> Result<Vec<f64>, EvalError> {
    Ok(list(call, name)?.unwrap_or_default())
}

/// The scores of targets for each row, and the numbers of rows and targets.
fn scores(call: &NodeCall, targets: Option<usize>) -> Result<(Vec<f64>, usize, usize), EvalError> {
    let ((x, rows, features), coefficients) = (rows(call)?, numbers(call, "coefficients")?);
    let intercepts = numbers(call, "intercepts")?;
    let targets = targets.unwrap_or_else(|| coefficients.len() / features.max(1));
    let fits = targets.checked_mul(features) == Some(coefficients.len());
    if !fits || targets == 0 || !intercepts.is_empty() && intercepts.len() != targets {
        let (weights, biases) = (coefficients.len(), intercepts.len());
        return Err(call.misfit(format!("{weights} coefficients and {biases} intercepts for {features} features")));
    }
    let turned = exchanged(&coefficients, [1, targets, features, 1]);
    let mut scores = multiplied(call.budget, &x.items, &turned, [rows, features, targets])?;
    if !intercepts.is_empty() {
        scores.iter_mut().enumerate().for_each(|(i, score)| *score += intercepts[i % targets]);
    }
    Ok((scores, rows, targets))
}

/// `LinearRegressor`.
pub(in crate::onnx) fn linear_regressor(call: &NodeCall) -> KernelResult {
    let targets = usize::try_from(call.int_or("targets", 1)?).map_err(|_| call.refused("`targets` is negative"))?;
    let ((mut scores, rows, targets), transform) = (scores(call, Some(targets))?, Transform::named(call)?);
    scores.chunks_exact_mut(targets).for_each(|scores| transform.apply(scores));
    one(call.rounded(DType::Float32, &[rows, targets], scores)?)
}

/// `LinearClassifier`.
pub(in crate::onnx) fn linear_classifier(call: &NodeCall) -> KernelResult {
    let ((scores, rows, targets), transform) = (scores(call, None)?, Transform::named(call)?);
    let labels = Labels::read(call, "classlabels_ints", "classlabels_strings")?;
    let (mut all, mut classes) = (Vec::new(), Vec::new());
    for scores in scores.chunks_exact(targets) {
        let mut scores = match *scores {
            [score] if labels.len() == 2 => vec![-score, score],
            _ => scores.to_vec(),
        };
        transform.apply(&mut scores);
        let threshold = if transform == Transform::None { 0.0 } else { 0.5 };
        classes.push(if let [score] = scores[..] { usize::from(score >= threshold) } else { best(&scores) });
        all.extend(scores);
    }
    let width = all.len().checked_div(rows).unwrap_or(targets);
    Ok(vec![labels.tensor(call, &classes)?.into(), call.rounded(DType::Float32, &[rows, width], all)?.into()])
}
