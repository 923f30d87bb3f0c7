//! Concatenating and splitting tensors along an axis (4.5.3).

use std::sync::Arc;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::joined::{concatenated, stacked};
use crate::tensor::Tensor;

/// The operands, after checking that the limits allow a result with all their items, and as many for each of so many
/// copies.
fn operands(call: &Call, copies: usize) -> Result<Vec<Arc<Tensor>>, EvalError> {
    let parts = call.tensors("values")?;
    let count = parts.iter().map(|part| part.len()).fold(0usize, usize::saturating_add);
    let converted = parts.windows(2).any(|pair| pair[0].dtype() != pair[1].dtype());
    for _ in 0..1 + copies + usize::from(converted) {
        call.budget().room(&[count])?;
    }
    Ok(parts)
}

/// Concatenation along an existing axis.
pub(crate) fn concat(call: &Call) -> KernelResult {
    let mut parts = operands(call, usize::from(call.draft()))?;
    let wanted = parts.iter().map(|part| part.rank()).max().unwrap_or(0);
    if call.draft() {
        let asked = usize::try_from(call.int("axis")?).map_or(0, |axis| axis.saturating_add(1)).min(super::MAX_RANK);
        let rank = wanted.max(asked);
        parts = parts.iter().map(|part| Arc::new(part.lengthened(rank))).collect();
    }
    let axis = call.axis("axis", parts.first().map_or(0, |part| part.rank()))?;
    Ok(vec![concatenated(&parts, axis)?])
}

/// Stacking along a new axis.
pub(crate) fn stack(call: &Call) -> KernelResult {
    let parts = operands(call, 1)?;
    let axis = call.axis("axis", parts.first().map_or(0, |part| part.rank()) + 1)?;
    Ok(vec![stacked(&parts, axis)?])
}

/// Splits a tensor into sections with extents in proportion to `ratios`.
pub(crate) fn split(call: &Call) -> KernelResult {
    let ratios = call.naturals("ratios")?;
    let asked = usize::try_from(call.int("axis")?).map_or(0, |axis| axis.saturating_add(1));
    let value = call.tensor_to("value", asked)?;
    let axis = call.axis("axis", value.rank())?;
    let extent = value.shape()[axis];
    let total = ratios.iter().try_fold(0usize, |total, ratio| total.checked_add(*ratio)).filter(|&total| total > 0);
    let Some(total) = total.filter(|total| extent % total == 0 && !ratios.contains(&0)) else {
        return Err(EvalError::shapes(format!("an extent of {extent} cannot be split as {ratios:?}")));
    };
    call.budget().room(value.shape())?;
    let mut first = 0;
    let mut part = |ratio: usize| {
        let count = extent / total * ratio;
        first += count;
        value.section(axis, first - count, count)
    };
    Ok(ratios.iter().map(|ratio| part(*ratio)).collect())
}

/// Splits a tensor into its slices along an axis, without that axis.
pub(crate) fn unstack(call: &Call) -> KernelResult {
    let value = call.tensor("value")?;
    let axis = call.axis("axis", value.rank())?;
    call.budget().room(value.shape())?;
    Ok((0..value.shape()[axis]).filter_map(|i| value.element(axis, i)).collect())
}
