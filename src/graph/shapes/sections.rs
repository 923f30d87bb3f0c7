//! Concatenation and splitting of tensors (H7, H8, H10).

use super::outcome::{Inferred, RuleResult, ShapeError, UNKNOWN, known, refuse, same};
use super::shape::{Extent, Extents, Shape, unify};
use super::shape_call::{Call, MAX_RANK, Role, shown};
use crate::diagnostics::Code;
use crate::graph::dims::Dim;

/// The smallest rank of a shape that has the axis of the operation.
fn rank_with_axis(call: &Call) -> usize {
    let axis = call.int(Role::Axis).and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
    axis.saturating_add(1).min(MAX_RANK)
}

/// The highest rank of several shapes; in the draft, at least one that has the axis of the operation.
fn rank_of(call: &Call, shapes: &[Option<&[Extent]>]) -> usize {
    let longest = shapes.iter().flatten().map(|extents| extents.len()).max().unwrap_or(0);
    if call.endless() { longest.max(rank_with_axis(call)).min(MAX_RANK) } else { longest }
}

/// Unifies shapes except for one axis, and sums up the extents along that axis.
fn merge(
    call: &Call,
    shapes: &[Option<&[Extent]>],
    axis: Option<usize>,
    code: Code,
) -> Result<Option<(Extents, Extent)>, ShapeError> {
    let rank = rank_of(call, shapes);
    let mut merged: Option<Extents> = None;
    let mut sum = Dim::Int(0);
    for (i, shape) in shapes.iter().enumerate() {
        let Some(shape) = *shape else {
            sum = Dim::Unknown;
            continue;
        };
        let mut extents = call.extended(shape, rank);
        if let Some(extent) = axis.and_then(|axis| extents.get_mut(axis)) {
            let along = std::mem::replace(extent, Extent::UNKNOWN);
            sum = sum.plus(along.dim());
        }
        merged = match merged {
            Some(so_far) => unify(&so_far, &extents),
            None => Some(extents),
        };
        if merged.is_none() {
            return disagreement(call, shapes, i, code);
        }
    }
    Ok(merged.map(|merged| (merged, sum.into())))
}

/// Refuses shapes of which the `i`th does not agree with those before. Of many, the first ones and that one are listed.
fn disagreement<T>(call: &Call, shapes: &[Option<&[Extent]>], i: usize, code: Code) -> Result<T, ShapeError> {
    const MOST: usize = 8;
    let show = |shape: &Option<&[Extent]>| shape.map_or("?".to_string(), |shape| format!("{shape:?}"));
    let mut all: Vec<String> = shapes.iter().take(MOST).map(show).collect();
    if i >= MOST {
        all.extend(["…".to_string(), show(&shapes[i])]);
    }
    let (all, name) = (all.join(", "), call.name());
    refuse(code, format!("the shapes given to `{name}` do not agree: {all}"))
}

/// An operation on operands of unknown rank: its axis must not be negative.
fn axis_alone(call: &Call, code: Code) -> RuleResult {
    call.axis(None, code)?;
    UNKNOWN
}

fn no_tensors(call: &Call, code: Code) -> RuleResult {
    refuse(code, format!("`{}` needs at least one tensor", call.name()))
}

/// Concatenates tensors along an axis.
pub(crate) fn concat(call: &Call) -> RuleResult {
    const CODE: Code = Code::ConcatShapes;
    let Some(shapes) = call.list(0) else { return UNKNOWN };
    if shapes.is_empty() {
        return no_tensors(call, CODE);
    }
    if shapes.iter().all(Option::is_none) {
        return axis_alone(call, CODE);
    }
    let rank = rank_of(call, &shapes);
    let Some(axis) = call.axis(rank, CODE)? else { return call.any_axes(rank) };
    same(merge(call, &shapes, Some(axis), CODE)?.map(|(mut extents, sum)| {
        extents[axis] = sum;
        extents
    }))
}

/// Stacks tensors along a new axis.
pub(crate) fn stack(call: &Call) -> RuleResult {
    const CODE: Code = Code::AxisInsertion;
    let Some(shapes) = call.list(0) else { return UNKNOWN };
    if shapes.is_empty() {
        return no_tensors(call, CODE);
    }
    let Some((mut extents, _)) = merge(call, &shapes, None, CODE)? else { return axis_alone(call, CODE) };
    let rank = extents.len() + 1;
    let Some(axis) = call.axis(rank, CODE)? else { return call.any_axes(rank) };
    extents.insert(axis.min(extents.len()), Extent::new(shapes.len() as i64));
    known(extents)
}

/// The items along an axis, which is removed.
pub(crate) fn unstack(call: &Call) -> RuleResult {
    const CODE: Code = Code::AxisInsertion;
    let Some(mut extents) = call.extents_to(0, 0) else { return axis_alone(call, CODE) };
    let rank = extents.len();
    let Some(axis) = call.axis(rank, CODE)? else { return call.any_axes(rank.saturating_sub(1)) };
    if axis >= rank {
        return UNKNOWN;
    }
    let (extent, count) = (extents.remove(axis), call.outputs());
    if extent.known().is_some_and(|extent| extent != count as i64) {
        return refuse(CODE, format!("axis {axis} has extent {extent:?}, the left side has {count} names"));
    }
    known(extents)
}

/// Splits a tensor along an axis, in proportion to ratios.
pub(crate) fn split(call: &Call) -> RuleResult {
    const CODE: Code = Code::SplitRatios;
    let ratios = call.positive(Role::Ratios, CODE)?;
    let (given, names) = (ratios.as_deref().unwrap_or(&[]), call.outputs());
    if ratios.is_some() && given.len() != names {
        let parts = given.len();
        return refuse(CODE, format!("`ratios` makes {parts} parts, the left side has {names} names"));
    }
    let Some(extents) = call.extents_to(0, rank_with_axis(call)) else { return axis_alone(call, CODE) };
    let Some(axis) = call.axis(extents.len(), CODE)? else { return call.any_axes(extents.len()) };
    let sum = given.iter().try_fold(0i64, |sum, ratio| sum.checked_add((*ratio)?)).filter(|&sum| sum > 0);
    let unit = match (extents[axis].known(), sum) {
        (Some(extent), Some(sum)) if extent % sum != 0 => {
            let ratios = format!("the sum {sum} of ratios {}", shown(given));
            return refuse(CODE, format!("{ratios} does not divide extent {extent} of axis {axis}"));
        }
        (Some(extent), Some(sum)) => Dim::Int(extent / sum),
        (None, Some(sum)) => extents[axis].dim().exactly_over(Dim::Int(sum)),
        _ => Dim::Unknown,
    };
    let part = |i: usize| {
        let mut part = extents.clone();
        let ratio = given.get(i).copied().flatten();
        part[axis] = Extent::from(unit.clone().times(Dim::from(ratio)));
        Some(Shape::new(&part))
    };
    Ok(Inferred::Each((0..names).map(part).collect()))
}
