//! Parts of tensors put together and taken apart (H7, H8, H10).

use super::call::{Call, Extents, MAX_RANK, Role, Shown};
use super::shape::{Extent, Shape};
use super::window::check_positive;
use super::{Inferred, Outcome, ShapeError, known, of_rank};
use crate::diagnostics::Code;

/// Rank of the longest of several shapes, and of the axis in the draft.
fn rank_of(call: &Call, shapes: &[Option<&[Extent]>]) -> usize {
    let longest = shapes.iter().flatten().map(|extents| extents.len()).max().unwrap_or(0);
    let axis = call.int(Role::Axis).known().and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
    if call.endless() { longest.max(axis.saturating_add(1)).min(MAX_RANK) } else { longest }
}

/// What several shapes have in common, an axis apart, and the sum along that.
fn merge(
    call: &Call,
    shapes: &[Option<&[Extent]>],
    axis: Option<usize>,
    code: Code,
) -> Result<Option<(Extents, Extent)>, ShapeError> {
    let rank = if call.endless() { rank_of(call, shapes) } else { 0 };
    let mut merged: Option<Extents> = None;
    let mut sum = Extent::new(0);
    let add = |sum: Extent, extent: Extent| extent.map(|extent| sum.known()?.checked_add(extent));
    // The shape met last, and its extent along the axis: mostly many are one and the same.
    let mut last: Option<(&[Extent], Option<Extent>)> = None;
    for shape in shapes {
        let Some(shape) = *shape else {
            sum = Extent::UNKNOWN;
            continue;
        };
        if let Some((_, extent)) = last.filter(|(last, _)| std::ptr::eq(*last, shape)) {
            sum = extent.map_or(sum, |extent| add(sum, extent));
            continue;
        }
        // What the draft leaves out is 1.
        let len = shape.len().max(rank);
        let extent = |i: usize| shape.get(i).copied().unwrap_or(Extent::ONE);
        let along = axis.filter(|&axis| axis < len).map(extent);
        sum = along.map_or(sum, |extent| add(sum, extent));
        last = Some((shape, along));
        let other = |i: usize| if axis == Some(i) { Extent::UNKNOWN } else { extent(i) };
        let agree = match &mut merged {
            None => {
                merged = Some((0..len).map(other).collect());
                true
            }
            Some(so_far) => so_far.len() == len && so_far.iter_mut().zip((0..len).map(other)).all(unify),
        };
        if !agree {
            let all: Vec<String> =
                shapes.iter().take(8).map(|shape| shape.map_or("?".into(), |s| format!("{s:?}"))).collect();
            let (all, name) = (all.join(", "), call.name());
            return Err(ShapeError::new(code, format!("the shapes given to `{name}` do not agree: {all}")));
        }
    }
    Ok(merged.map(|merged| (merged, sum)))
}

/// Makes an extent the one that is both; false where the two contradict each other.
fn unify((extent, other): (&mut Extent, Extent)) -> bool {
    extent.unify(other).map(|both| *extent = both).is_some()
}

/// The result along an axis that is not known: in the draft it may be one that the inputs leave out.
fn of_any_axis(call: &Call, rank: usize) -> Outcome {
    of_rank((!call.endless()).then_some(rank))
}

fn no_tensors(call: &Call, code: Code) -> ShapeError {
    ShapeError::new(code, format!("`{}` needs at least one tensor", call.name()))
}

/// Tensors behind each other along an axis.
pub(crate) fn concat(call: &Call) -> Outcome {
    let Some(shapes) = call.list(0) else { return Ok(Inferred::UNKNOWN) };
    if shapes.is_empty() {
        return Err(no_tensors(call, Code::ConcatShapes));
    }
    let is_known = shapes.iter().flatten().count() > 0;
    if !is_known {
        return Ok(Inferred::UNKNOWN);
    }
    let rank = rank_of(call, &shapes);
    let Some(axis) = call.axis(rank, Code::ConcatShapes)? else { return of_any_axis(call, rank) };
    let merged = merge(call, &shapes, Some(axis), Code::ConcatShapes)?;
    Ok(Inferred::Same(merged.map(|(mut extents, sum)| {
        extents[axis] = sum;
        Shape::new(&extents)
    })))
}

/// Tensors behind each other along a new axis.
pub(crate) fn stack(call: &Call) -> Outcome {
    let Some(shapes) = call.list(0) else { return Ok(Inferred::UNKNOWN) };
    if shapes.is_empty() {
        return Err(no_tensors(call, Code::AxisInsertion));
    }
    let Some((mut extents, _)) = merge(call, &shapes, None, Code::AxisInsertion)? else { return Ok(Inferred::UNKNOWN) };
    let rank = extents.len() + 1;
    let Some(axis) = call.axis(rank, Code::AxisInsertion)? else { return of_any_axis(call, rank) };
    extents.insert(axis.min(extents.len()), Extent::new(shapes.len() as i64));
    known(&extents)
}

/// The items along an axis, without the axis.
pub(crate) fn unstack(call: &Call) -> Outcome {
    let Some(mut extents) = call.extents_to(0, 0) else { return Ok(Inferred::UNKNOWN) };
    let rank = extents.len();
    let Some(axis) = call.axis(rank, Code::AxisInsertion)? else { return of_any_axis(call, rank.saturating_sub(1)) };
    if axis >= rank {
        return Ok(Inferred::UNKNOWN);
    }
    let (extent, count) = (extents.remove(axis), call.outputs());
    if extent.known().is_some_and(|extent| extent != count as i64) {
        let message = format!("axis {axis} has extent {extent:?}, the left side has {count} names");
        return Err(ShapeError::new(Code::AxisInsertion, message));
    }
    known(&extents)
}

/// Parts along an axis, in proportion to ratios.
pub(crate) fn split(call: &Call) -> Outcome {
    const CODE: Code = Code::SplitRatios;
    let ratios = call.ints(Role::Ratios);
    let given = ratios.as_deref().unwrap_or(&[]);
    check_positive("ratios", given, CODE)?;
    if ratios.is_some() && given.len() != call.outputs() {
        let (parts, names) = (given.len(), call.outputs());
        let message = format!("`ratios` makes {parts} parts, the left side has {names} names");
        return Err(ShapeError::new(CODE, message));
    }
    let axis = call.int(Role::Axis).known().and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
    let Some(extents) = call.extents_to(0, axis.saturating_add(1).min(MAX_RANK)) else { return Ok(Inferred::UNKNOWN) };
    let Some(axis) = call.axis(extents.len(), CODE)? else { return of_any_axis(call, extents.len()) };
    let sum = given.iter().try_fold(0i64, |sum, ratio| sum.checked_add((*ratio)?)).filter(|&sum| sum > 0);
    let unit = match (extents[axis].known(), sum) {
        (Some(extent), Some(sum)) if extent % sum != 0 => {
            let message =
                format!("the sum {sum} of ratios {} does not divide extent {extent} of axis {axis}", Shown(given));
            return Err(ShapeError::new(CODE, message));
        }
        (Some(extent), Some(sum)) => Some(extent / sum),
        _ => None,
    };
    let part = |i: usize| {
        let mut part = extents.clone();
        let ratio = given.get(i).copied().flatten();
        part[axis] = unit.zip(ratio).and_then(|(unit, ratio)| unit.checked_mul(ratio)).into();
        Some(Shape::new(&part))
    };
    Ok(Inferred::Each((0..call.outputs()).map(part).collect()))
}
