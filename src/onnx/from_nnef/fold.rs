//! Windows over any axes. Operators of ONNX have windows over at most three axes after the first two, so that axes with
//! windows are moved to the end, and the others are combined into two axes.

use super::lists::{before, from, known_product};
use super::padding::Axis;
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{KnownExtents, ModelValue};

/// The maximum number of axes with windows of operators.
pub(super) const MOST_AXES: usize = 3;

/// An operand whose windows are over the axes after the first two.
pub(super) struct Folded {
    pub(super) value: ModelValue,
    /// The axes with windows.
    pub(super) axes: Vec<Axis>,
    /// The new order of the axes, and the extents in that order; none if nothing was moved.
    pub(super) moved: Option<(Vec<usize>, KnownExtents)>,
}

/// Moves the axes with windows after two other axes, if necessary.
pub(super) fn fold(call: &mut TranslatedCall, value: &ModelValue, axes: &[Axis]) -> Translation<Folded> {
    let rank = call.rank(value)?;
    let few = (1..=MOST_AXES).contains(&rank.saturating_sub(2));
    if few && before(axes, 2).iter().all(|axis| axis.is_trivial()) {
        return Ok(Folded { value: value.clone(), axes: from(axes, 2).to_vec(), moved: None });
    }
    let windows = axes.iter().enumerate().filter(|(_, axis)| !axis.is_trivial());
    let mut inner: Vec<usize> = windows.map(|(at, _)| at).collect();
    if inner.len() > MOST_AXES {
        let message = format!("`{}` has windows over {} axes, ONNX over {MOST_AXES}", call.name(), inner.len());
        return Err(Refused::meaning(message));
    }
    if inner.is_empty() {
        inner.extend(rank.checked_sub(1));
    }
    let order: Vec<usize> = (0..rank).filter(|axis| !inner.contains(axis)).chain(inner.iter().copied()).collect();
    let made = call.out.transpose(value, &order);
    let dims = made.dims.clone().unwrap_or_default();
    let outer = rank.saturating_sub(inner.len());
    let extents: Option<Vec<i64>> = from(&dims, outer).iter().copied().collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let outer = known_product(before(&dims, outer));
    let shape: Vec<i64> = [outer.unwrap_or(-1), 1].into_iter().chain(extents).collect();
    let value = call.out.reshape(&made, &shape);
    let mut axes: Vec<Axis> = inner.iter().filter_map(|&axis| axes.get(axis).copied()).collect();
    if axes.is_empty() {
        // The operand has rank 0.
        let one = Axis::trivial(Some(1));
        let value = call.out.reshape(&value, &[1, 1, 1]);
        axes.push(one);
        return Ok(Folded { value, axes, moved: Some((order, dims)) });
    }
    Ok(Folded { value, axes, moved: Some((order, dims)) })
}

/// Moves the axes of a result back; `inner` are the new extents of the axes with windows.
pub(super) fn unfold(
    call: &mut TranslatedCall,
    made: ModelValue,
    moved: &Option<(Vec<usize>, KnownExtents)>,
    inner: &[i64],
) -> Translation<ModelValue> {
    let Some((order, dims)) = moved else { return Ok(made) };
    let outer = dims.len().saturating_sub(inner.len());
    let mut shape: Vec<i64> = before(dims, outer).iter().map(|extent| extent.unwrap_or(-1)).collect();
    if shape.iter().filter(|extent| **extent < 0).count() > 1 {
        return Err(call.open_extents());
    }
    // An operand of rank 0 has one axis with a window, which its shape does not have.
    shape.extend(from(inner, inner.len().saturating_sub(dims.len().saturating_sub(outer))));
    let made = call.out.reshape(&made, &shape);
    let mut back: Vec<(usize, usize)> = order.iter().copied().zip(0..).collect();
    back.sort_unstable();
    let back: Vec<usize> = back.into_iter().map(|(_, to)| to).collect();
    Ok(call.out.transpose(&made, &back))
}

/// The number of windows along each axis.
pub(super) fn counts(call: &TranslatedCall, axes: &[Axis]) -> Translation<Vec<i64>> {
    axes.iter().map(|axis| axis.count().ok_or_else(|| call.open_extents())).collect()
}

/// The extents of the result after the second axis, for moving axes back; empty if none were moved.
pub(super) fn inner(call: &TranslatedCall, of: &Folded) -> Translation<Vec<i64>> {
    if of.moved.is_none() { Ok(Vec::new()) } else { counts(call, &of.axes) }
}

/// The most axes of all groups of windows of an operation.
const MOST_IN_GROUPS: usize = 1 << 18;

/// Splits axes with windows into groups that operators support: sums, means and maxima are computed one group after the
/// other.
pub(super) fn groups(call: &TranslatedCall, axes: &[Axis]) -> Translation<Vec<Vec<Axis>>> {
    let trivial = |axis: &Axis| Axis::trivial(axis.extent);
    let windows = axes.iter().enumerate().filter(|(_, axis)| !axis.is_trivial());
    let with: Vec<usize> = windows.map(|(at, _)| at).collect();
    if with.len() <= MOST_AXES {
        return Ok(vec![axes.to_vec()]);
    }
    if with.len().saturating_mul(axes.len()) > MOST_IN_GROUPS {
        let (count, rank) = (with.len(), axes.len());
        return Err(Refused::meaning(format!("`{}` has windows over {count} of {rank} axes", call.name())));
    }
    let chunk = |chunk: &[usize]| {
        axes.iter().enumerate().map(|(i, axis)| if chunk.contains(&i) { *axis } else { trivial(axis) }).collect()
    };
    Ok(with.chunks(MOST_AXES).map(chunk).collect())
}

/// Applies a function to the windows of one group after the other.
pub(super) fn by_groups(
    call: &mut TranslatedCall,
    value: ModelValue,
    axes: &[Axis],
    compute: impl Fn(&mut TranslatedCall, &mut Folded) -> Translation<ModelValue>,
) -> Translation<ModelValue> {
    let mut made = value;
    for mut group in groups(call, axes)? {
        for (axis, extent) in group.iter_mut().zip(made.dims.iter().flat_map(|dims| dims.iter())) {
            axis.extent = *extent;
        }
        let extents: KnownExtents =
            group.iter().map(|axis| if axis.is_trivial() { axis.extent } else { axis.count() }).collect();
        let mut folded = fold(call, &made, &group)?;
        let inner = inner(call, &folded)?;
        let result = compute(call, &mut folded)?;
        made = unfold(call, result, &folded.moved, &inner)?.shaped(extents);
    }
    Ok(made)
}
