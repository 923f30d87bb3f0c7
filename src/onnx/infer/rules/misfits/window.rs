//! Operators that move a window.

use super::{Misfit, differ, listed_items, named, not_positive, rank, ranks, same};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// A list that has an item for each spatial axis, `each` times, none of them below `least`.
fn list(call: &InferCall, name: &str, count: usize, least: i64) -> Misfit {
    let low = || call.ints(name)?.into_iter().find(|value| *value < least);
    listed_items(call, name, &[count]).or_else(|| Some(format!("`{name}` has the item {}", low()?)))
}

/// The lists of a window over the axes of an operand from the third one on.
fn lists(call: &InferCall, operand: usize) -> Misfit {
    lists_from(call, operand, 0)
}

/// [`lists`] with the least padding.
fn lists_from(call: &InferCall, operand: usize, least: i64) -> Misfit {
    let spatial = call.rank(operand)?.checked_sub(2)?;
    let positive = ["kernel_shape", "strides", "dilations"];
    let padding = || list(call, "pads", spatial * 2, least);
    positive.into_iter().find_map(|name| list(call, name, spatial, 1)).or_else(padding)
}

/// The window of a convolution of an operand with weights.
fn convolved(call: &InferCall, weights: usize) -> Misfit {
    let ranks = |call: &InferCall| {
        let differs = call.rank(0).zip(call.rank(weights)).is_some_and(|(a, b)| a != b);
        differs.then(|| format!("{} and {} have different ranks", named(call, 0), named(call, weights)))
    };
    // Programs look at the padding only where they know the shapes.
    let is_known = |operand| call.extents(operand).is_some_and(|extents| extents.iter().all(|e| e.known().is_some()));
    let least = if is_known(0) && is_known(weights) { 0 } else { i64::MIN };
    let lists = || lists_from(call, 0, least);
    rank(call, 0, 3..=usize::MAX).or_else(|| ranks(call)).or_else(lists).or_else(|| kernel(call, weights))
}

/// `kernel_shape` is that of the weights.
fn kernel(call: &InferCall, weights: usize) -> Misfit {
    let kernel = call.ints("kernel_shape").filter(|kernel| !kernel.is_empty())?;
    let extents = call.extents(weights)?.get(2..)?;
    let fits = kernel.iter().zip(extents).all(|(size, extent)| !differ(&Dim::Int(*size), extent));
    (!fits).then(|| format!("`kernel_shape` is {kernel:?}, the weights are {}", named(call, weights)))
}

/// One weight for each channel of a group.
fn channels(call: &InferCall, weights: usize) -> Misfit {
    let group = call.int_or("group", 1);
    let wanted = call.extent(weights, 1).times(Dim::Int(group));
    let parts = |extent: Dim| extent.known().is_some_and(|extent| extent.checked_rem(group) != Some(0));
    if differ(&call.extent(0, 1), &wanted) {
        return Some(format!(
            "{} does not have the channels of the weights {} (`group` is {group})",
            named(call, 0),
            named(call, weights)
        ));
    }
    parts(call.extent(weights, 0))
        .then(|| format!("the outputs of the weights {} are not divided into {group} groups", named(call, weights)))
}

/// A bias has an item for each output channel.
fn bias(call: &InferCall, bias: usize, outputs: (usize, usize)) -> Misfit {
    rank(call, bias, 1..=1).or_else(|| same(call, &[(bias, 0), outputs]))
}

/// `Conv`
pub(crate) fn conv(call: &InferCall) -> Misfit {
    not_positive(call, "group")
        .or_else(|| convolved(call, 1))
        .or_else(|| channels(call, 1))
        .or_else(|| bias(call, 2, (1, 0)))
}

/// `ConvInteger`
pub(crate) fn conv_integer(call: &InferCall) -> Misfit {
    not_positive(call, "group").or_else(|| convolved(call, 1)).or_else(|| channels(call, 1))
}

/// `DeformConv`
pub(crate) fn deform_conv(call: &InferCall) -> Misfit {
    not_positive(call, "group").or_else(|| convolved(call, 1))
}

/// `QLinearConv`
pub(crate) fn quantized_conv(call: &InferCall) -> Misfit {
    not_positive(call, "group")
        .or_else(|| convolved(call, 3))
        .or_else(|| channels(call, 3))
        .or_else(|| bias(call, 8, (3, 0)))
}

/// `ConvTranspose`
pub(crate) fn conv_transpose(call: &InferCall) -> Misfit {
    let group = call.int_or("group", 1);
    let divided = |call: &InferCall| {
        let channels = call.extent(0, 1).known()?;
        (channels.checked_rem(group) != Some(0))
            .then(|| format!("{} is not divided into {group} groups", named(call, 0)))
    };
    let spatial = call.rank(0).and_then(|rank| rank.checked_sub(2));
    let extra = || list(call, "output_padding", spatial?, 0);
    // Some models give the batch and the channels as well.
    let extents = || listed_items(call, "output_shape", &[spatial?, spatial? + 2]);
    not_positive(call, "group")
        .or_else(|| convolved(call, 1))
        .or_else(|| divided(call))
        .or_else(|| same(call, &[(0, 1), (1, 0)]))
        .or_else(extra)
        .or_else(extents)
        .or_else(|| rank(call, 2, 1..=1))
}

/// `MaxPool`, `AveragePool`, `LpPool`
pub(crate) fn pool(call: &InferCall) -> Misfit {
    rank(call, 0, 3..=usize::MAX).or_else(|| lists(call, 0))
}

/// `MaxUnpool`
pub(crate) fn unpool(call: &InferCall) -> Misfit {
    let wanted = call.rank(0);
    let given = || {
        let (rank, length) = (wanted?, call.extent(2, 0).known()?);
        (usize::try_from(length) != Ok(rank)).then(|| format!("{} does not fit {}", named(call, 2), named(call, 0)))
    };
    rank(call, 0, 2..=usize::MAX)
        .or_else(|| rank(call, 1, 2..=usize::MAX))
        .or_else(|| lists(call, 0))
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(given)
}

/// `GlobalAveragePool` and others.
pub(crate) fn global(call: &InferCall) -> Misfit {
    rank(call, 0, 2..=usize::MAX)
}

/// `MaxRoiPool`
pub(crate) fn max_roi_pool(call: &InferCall) -> Misfit {
    let size = || {
        let spatial = call.rank(0)?.checked_sub(2)?;
        list(call, "pooled_shape", spatial, 1)
    };
    rank(call, 0, 4..=4).or_else(|| rank(call, 1, 2..=2)).or_else(size)
}

/// `RoiAlign`
pub(crate) fn roi_align(call: &InferCall) -> Misfit {
    let columns = || differ(&call.extent(1, 1), &Dim::Int(4)).then(|| format!("{} has no 4 columns", named(call, 1)));
    let sizes = || ["output_height", "output_width"].into_iter().find_map(|name| not_positive(call, name));
    rank(call, 0, 4..=4)
        .or_else(|| rank(call, 1, 2..=2))
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(columns)
        .or_else(|| same(call, &[(1, 0), (2, 0)]))
        .or_else(sizes)
}

/// `NonMaxSuppression`
pub(crate) fn non_max_suppression(call: &InferCall) -> Misfit {
    ranks(call, &[0, 1], 3).or_else(|| same(call, &[(0, 0), (1, 0)])).or_else(|| same(call, &[(0, 1), (1, 2)]))
}

/// `CausalConvWithState`
pub(crate) fn causal_conv(call: &InferCall) -> Misfit {
    let state = || {
        let differs = differ(&call.extent(3, 2), &call.extent(1, 2).minus(Dim::Int(1)));
        differs.then(|| format!("{} is not one item shorter than {}", named(call, 3), named(call, 1)))
    };
    ranks(call, &[0, 1, 3], 3)
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(|| same(call, &[(0, 1), (1, 0), (2, 0), (3, 1)]))
        .or_else(|| same(call, &[(0, 0), (3, 0)]))
        .or_else(state)
        .or_else(|| {
            differ(&call.extent(1, 1), &Dim::Int(1)).then(|| format!("{} is not one row a channel", named(call, 1)))
        })
}
