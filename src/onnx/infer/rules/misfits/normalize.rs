//! Normalizations, quantization, losses.

use super::{Misfit, axis_attribute, named, rank, ranks, same, scalar};
use crate::onnx::infer::InferCall;

/// `BatchNormalization`: vectors over the channels.
pub(crate) fn batch(call: &InferCall) -> Misfit {
    let trains = call.version() >= 14 && call.int_or("training_mode", 0) != 0;
    let results = || {
        let wanted = if trains { 3 } else { 1 };
        let count = call.result_count();
        let differs = call.version() >= 14 && count != wanted && !(trains && count < wanted);
        differs.then(|| format!("there are {count} results, not {wanted}"))
    };
    let channels = || match call.rank(0) {
        Some(0 | 1) => None,
        _ => same(call, &[(0, 1), (1, 0), (2, 0), (3, 0), (4, 0)]),
    };
    ranks(call, &[1, 2, 3, 4], 1).or_else(channels).or_else(results)
}

/// `InstanceNormalization`
pub(crate) fn instance(call: &InferCall) -> Misfit {
    ranks(call, &[1, 2], 1).or_else(|| same(call, &[(0, 1), (1, 0), (2, 0)]))
}

/// `LayerNormalization`, `RMSNormalization`, `LpNormalization`
pub(crate) fn over_axes(call: &InferCall) -> Misfit {
    axis_attribute(call, 0, Some(-1))
}

/// `Dropout`
pub(crate) fn dropout(call: &InferCall) -> Misfit {
    scalar(call, 1).or_else(|| scalar(call, 2))
}

/// `NegativeLogLikelihoodLoss`: a weight for each class.
pub(crate) fn likelihood(call: &InferCall) -> Misfit {
    loss(call).or_else(|| same(call, &[(0, 1), (2, 0)]))
}

/// `SoftmaxCrossEntropyLoss`: the targets have all axes but the classes.
pub(crate) fn loss(call: &InferCall) -> Misfit {
    let fewer = || {
        let (scores, targets) = (call.rank(0)?, call.rank(1)?);
        (scores != targets + 1).then(|| format!("{} does not have the targets {}", named(call, 0), named(call, 1)))
    };
    let places = || (1..call.rank(1)?).find_map(|at| same(call, &[(0, at + 1), (1, at)]));
    rank(call, 0, 2..=usize::MAX)
        .or_else(fewer)
        .or_else(|| same(call, &[(0, 0), (1, 0)]))
        .or_else(places)
        .or_else(|| rank(call, 2, 1..=1))
}
