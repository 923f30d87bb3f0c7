//! Reshape, transpose, squeeze, unsqueeze (4.5.1, 4.5.2).

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use crate::extents::{self, inserted, is_order};
use crate::tensor::{Tensor, kernels};

fn reshaped(call: &Call, input: &Tensor, shape: &[usize]) -> KernelResult {
    call.budget().room(input.shape())?;
    Ok(vec![input.reshaped(shape)?])
}

/// The input with another shape, in which 0 copies an extent of the input and -1 is computed from the others.
pub(crate) fn reshape(call: &Call) -> KernelResult {
    let wanted = call.ints("shape")?;
    let input = call.tensor_to("input", wanted.len())?;
    let given = input.shape();
    let wrong = || {
        let name = call.name();
        EvalError::shapes(format!("`{name}` cannot arrange the items of shape {given:?} as {wanted:?}"))
    };
    // The draft has no `axis_start` and `axis_count`.
    let start = if call.value("axis_start").is_some() { call.int("axis_start")? } else { 0 };
    let count = if call.value("axis_count").is_some() { call.int("axis_count")? } else { -1 };
    let start = usize::try_from(start).ok().filter(|&start| start <= given.len()).ok_or_else(wrong)?;
    let end = match count {
        -1 => given.len(),
        count => usize::try_from(count).ok().and_then(|count| start.checked_add(count)).ok_or_else(wrong)?,
    };
    if end > given.len() {
        return Err(wrong());
    }
    let own: Vec<Option<i64>> = given[start..].iter().map(|extent| i64::try_from(*extent).ok()).collect();
    let wanted: Vec<Option<i64>> = wanted.iter().copied().map(Some).collect();
    let found = extents::reshaped(&own, end - start, &wanted, true, false).ok().filter(|found| found.fits);
    let extent = |extent: Option<i64>| extent.and_then(|extent| usize::try_from(extent).ok());
    let middle = found.and_then(|found| found.extents.into_iter().map(extent).collect::<Option<Vec<usize>>>());
    let shape = [&given[..start], &middle.ok_or_else(wrong)?, &given[end..]].concat();
    reshaped(call, &input, &shape)
}

/// Removes axes of extent 1.
pub(crate) fn squeeze(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let rank = input.rank();
    let axes = call.ints("axes")?.into_iter().map(|axis| call.check_axis(axis, rank)).collect::<Result<Vec<_>, _>>()?;
    if let Some(axis) = axes.iter().find(|&&axis| input.shape()[axis] != 1) {
        let extent = input.shape()[*axis];
        return Err(EvalError::shapes(format!("axis {axis} cannot be dropped: its extent is {extent}")));
    }
    let kept = input.shape().iter().zip(kernels::among(&axes, rank)).filter(|(_, dropped)| !dropped);
    let shape: Vec<usize> = kept.map(|(extent, _)| *extent).collect();
    reshaped(call, &input, &shape)
}

/// Adds axes of extent 1, at the given positions of the result.
pub(crate) fn unsqueeze(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let axes = call.ints("axes")?;
    let rank = input.rank().saturating_add(axes.len());
    if rank > super::MAX_RANK {
        return Err(EvalError::shapes(format!("a rank of {rank} is too high")));
    }
    let axes = axes.into_iter().map(|axis| call.check_axis(axis, rank)).collect::<Result<Vec<_>, _>>()?;
    let shape = inserted(input.shape(), axes, &1);
    let twice = |axis| EvalError::shapes(format!("axis {axis} of `{}` is given twice", call.name()));
    let shape = shape.map_err(twice)?;
    reshaped(call, &input, &shape)
}

/// Permutes the axes; those that are not listed stay at the end.
pub(crate) fn transpose(call: &Call) -> KernelResult {
    let name = if call.value("perm").is_some() { "perm" } else { "axes" };
    let mut order = call.naturals(name)?;
    let input = call.tensor_to("input", order.len())?;
    order.extend(order.len()..input.rank());
    if !is_order(&order, input.rank()) {
        let rank = input.rank();
        return Err(EvalError::shapes(format!("{order:?} is not an order of {rank} axes")));
    }
    call.budget().room(input.shape())?;
    Ok(vec![input.transposed(&order)])
}
