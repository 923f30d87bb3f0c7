//! Operators that read or write items at given places.

use super::{Misfit, axes_outside, axis_attribute, differ, named, outside, rank, same};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::rules::axes::axis;

/// `Gather`: the axis and the indices are those of items.
pub(crate) fn gather(call: &InferCall) -> Misfit {
    let beyond = || {
        let own = call.extents(0)?;
        let extent = own.get(axis(call.int_or("axis", 0), own.len())?)?.known()?;
        let outside = |index: &i64| *index >= extent || *index < extent.saturating_neg();
        let index = call.items(1)?.iter().filter_map(Dim::known).find(outside)?;
        Some(format!("{} has no item {index}", named(call, 0)))
    };
    rank(call, 0, 1..=usize::MAX).or_else(|| axis_attribute(call, 0, Some(0))).or_else(beyond)
}

/// Two operands do not have one rank.
fn ranks_differ(call: &InferCall, a: usize, b: usize) -> Misfit {
    let differ = call.rank(a)? != call.rank(b)?;
    differ.then(|| format!("{} and {} have different ranks", named(call, a), named(call, b)))
}

/// `GatherElements`
pub(crate) fn gather_elements(call: &InferCall) -> Misfit {
    rank(call, 0, 1..=usize::MAX).or_else(|| axis_attribute(call, 0, Some(0))).or_else(|| ranks_differ(call, 0, 1))
}

/// `Scatter`, `ScatterElements`
pub(crate) fn scatter_elements(call: &InferCall) -> Misfit {
    let updates = || {
        let axes: Vec<[(usize, usize); 2]> = (0..call.rank(1)?).map(|at| [(1, at), (2, at)]).collect();
        axes.iter().find_map(|pair| same(call, pair))
    };
    gather_elements(call).or_else(|| ranks_differ(call, 1, 2)).or_else(updates)
}

/// `GatherND`
pub(crate) fn gather_nd(call: &InferCall) -> Misfit {
    let deep = || {
        let (rank, indices) = (call.rank(0)?, call.rank(1)?);
        let depth = call.extent(1, indices.checked_sub(1)?).known()?;
        let batch = call.int_or("batch_dims", 0);
        let too_deep = depth.checked_add(batch).is_none_or(|depth| i64::try_from(rank).is_ok_and(|rank| depth > rank));
        too_deep.then(|| format!("{} has places of more axes than {}", named(call, 1), named(call, 0)))
    };
    rank(call, 0, 1..=usize::MAX).or_else(|| rank(call, 1, 1..=usize::MAX)).or_else(deep)
}

/// `Slice`
pub(crate) fn slice(call: &InferCall) -> Misfit {
    let given = |operand: usize, name: &str| {
        if call.version() < 10 { call.ints(name) } else { call.integers(operand) }
    };
    let has_axes = if call.version() < 10 { call.has_attribute("axes") } else { call.has(3) };
    let length = |operand: usize, name: &str| match call.version() {
        ..10 => call.ints(name).map(|items| items.len() as i64),
        _ => call.extent(operand, 0).known(),
    };
    let starts = length(1, "starts");
    let lengths = || {
        let others = [(2, "ends"), (3, "axes"), (4, "steps")];
        let (_, name) = others
            .into_iter()
            .find(|(at, name)| length(*at, name).zip(starts).is_some_and(|(own, starts)| own != starts))?;
        Some(format!("`starts` and `{name}` have different lengths"))
    };
    let axes = || axes_outside(&given(3, "axes")?, call.rank(0)?);
    let many = || {
        let too_many = !has_axes && usize::try_from(starts?).ok()? > call.rank(0)?;
        too_many.then(|| format!("there are more starts than axes of {}", named(call, 0)))
    };
    let zero = || call.integers(4)?.contains(&0).then(|| "a step is 0".to_owned());
    let vectors = || (1..5).find_map(|operand| rank(call, operand, 1..=1));
    let vectors = if call.version() < 10 { None } else { vectors() };
    vectors.or_else(lengths).or_else(axes).or_else(many).or_else(zero)
}

/// `TopK`
pub(crate) fn top_k(call: &InferCall) -> Misfit {
    let number = call.int_or("axis", -1);
    let single = || {
        let many = call.version() >= 10 && differ(&call.extent(1, 0), &Dim::Int(1));
        many.then(|| format!("{} is not one number", named(call, 1)))
    };
    let list = || if call.version() < 10 { None } else { rank(call, 1, 1..=1) };
    let few = || {
        let at = axis(number, call.rank(0)?)?;
        let (extent, count) = (call.extent(0, at).known()?, call.int("k").or_else(|| call.item(1).known())?);
        (count > extent || count < 0).then(|| format!("the axis {number} of {} has no {count} items", named(call, 0)))
    };
    outside(number, call.rank(0)?).or_else(list).or_else(single).or_else(few)
}

/// `Unique`
pub(crate) fn unique(call: &InferCall) -> Misfit {
    axis_attribute(call, 0, None)
}

/// `OneHot`
pub(crate) fn one_hot(call: &InferCall) -> Misfit {
    let many = || {
        let many = call.rank(1)? > 1 || call.extent(1, 0).known().is_some_and(|extent| extent > 1);
        many.then(|| format!("{} is not one number", named(call, 1)))
    };
    let pair = || differ(&call.extent(2, 0), &Dim::Int(2)).then(|| format!("{} is not two values", named(call, 2)));
    let low = || call.item(1).known().filter(|depth| *depth < 0).map(|depth| format!("the depth is {depth}"));
    rank(call, 0, 1..=usize::MAX)
        .or_else(many)
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(pair)
        .or_else(low)
        .or_else(|| outside(call.int_or("axis", -1), call.rank(0)? + 1))
}

/// `TensorScatter`
pub(crate) fn tensor_scatter(call: &InferCall) -> Misfit {
    let number = call.int_or("axis", -2);
    let rows = || {
        let rank = call.rank(0)?;
        let at = axis(number, rank)?;
        (0..rank).filter(|axis| *axis != at).find_map(|axis| same(call, &[(0, axis), (1, axis)]))
    };
    ranks_differ(call, 0, 1)
        .or_else(|| outside(number, call.rank(0)?))
        .or_else(rows)
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(|| same(call, &[(0, 0), (2, 0)]))
}

/// `SplitToSequence`
pub(crate) fn split_to_sequence(call: &InferCall) -> Misfit {
    let low = || {
        let least = i64::from(call.rank(1)? == 0);
        let low = call.items(1)?.iter().filter_map(Dim::known).find(|item| *item < least)?;
        Some(format!("a size is {low}"))
    };
    let all = || {
        let at = axis(call.int_or("axis", 0), call.rank(0)?)?;
        let sizes = call.integers(1).filter(|_| call.rank(1) == Some(1))?;
        let sum = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add(*size));
        differ(&Dim::from(sum), &call.extent(0, at))
            .then(|| format!("{} is not divided into {sizes:?}", named(call, 0)))
    };
    axis_attribute(call, 0, Some(0)).or_else(|| rank(call, 1, 0..=1)).or_else(low).or_else(all)
}
