//! Windows over any axes. Operators of ONNX have windows over at most three axes after the first two, so that axes with
//! windows are moved to the end, and the others are combined into two axes.

use super::call::{Call, Made, Refused};
use super::emit::{Dims, Value};
use super::padding::Axis;

/// The maximum number of axes with windows of operators.
pub(super) const MOST_AXES: usize = 3;

/// An operand whose windows are over the axes after the first two.
pub(super) struct Folded {
    pub(super) value: Value,
    /// The axes with windows.
    pub(super) axes: Vec<Axis>,
    /// The new order of the axes, and the extents in that order; none if nothing was moved.
    pub(super) moved: Option<(Vec<usize>, Dims)>,
}

/// Moves the axes with windows after two other axes, if necessary.
pub(super) fn fold(call: &mut Call, value: &Value, axes: &[Axis]) -> Made<Folded> {
    let rank = call.rank(value)?;
    let in_place = rank >= 3 && rank - 2 <= MOST_AXES && axes[..2].iter().all(|axis| axis.is_trivial());
    if in_place {
        return Ok(Folded { value: value.clone(), axes: axes[2..].to_vec(), moved: None });
    }
    let mut inner: Vec<usize> = (0..rank).filter(|&axis| !axes[axis].is_trivial()).collect();
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
    let extents: Option<Vec<i64>> = dims[rank - inner.len()..].iter().copied().collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let outer: Option<i64> = dims[..rank - inner.len()].iter().copied().product();
    let shape: Vec<i64> = [outer.unwrap_or(-1), 1].into_iter().chain(extents).collect();
    let value = call.out.reshape(&made, &shape);
    let mut axes: Vec<Axis> = inner.iter().map(|&axis| axes[axis]).collect();
    if axes.is_empty() {
        // The operand has rank 0.
        let one = Axis { size: 1, stride: 1, dilation: 1, pads: Some((0, 0)), extent: Some(1) };
        let value = call.out.reshape(&value, &[1, 1, 1]);
        axes.push(one);
        return Ok(Folded { value, axes, moved: Some((order, dims)) });
    }
    Ok(Folded { value, axes, moved: Some((order, dims)) })
}

/// Moves the axes of a result back; `inner` are the new extents of the axes with windows.
pub(super) fn unfold(call: &mut Call, made: Value, moved: &Option<(Vec<usize>, Dims)>, inner: &[i64]) -> Made<Value> {
    let Some((order, dims)) = moved else { return Ok(made) };
    let outer = dims.len().saturating_sub(inner.len());
    let mut shape: Vec<i64> = dims[..outer].iter().map(|extent| extent.unwrap_or(-1)).collect();
    if shape.iter().filter(|extent| **extent < 0).count() > 1 {
        return Err(call.open_extents());
    }
    shape.extend(&inner[inner.len() - (dims.len() - outer)..]);
    let made = call.out.reshape(&made, &shape);
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    Ok(call.out.transpose(&made, &back))
}

/// The number of windows along each axis.
pub(super) fn counts(call: &Call, axes: &[Axis]) -> Made<Vec<i64>> {
    axes.iter().map(|axis| axis.count().ok_or_else(|| call.open_extents())).collect()
}

/// The extents of the result after the second axis, for moving axes back; empty if none were moved.
pub(super) fn inner(call: &Call, of: &Folded) -> Made<Vec<i64>> {
    if of.moved.is_none() { Ok(Vec::new()) } else { counts(call, &of.axes) }
}

/// Splits axes with windows into groups that operators support: sums, means and maxima are computed one group after the
/// other.
pub(super) fn groups(axes: &[Axis]) -> Vec<Vec<Axis>> {
    let trivial = |axis: &Axis| Axis { size: 1, stride: 1, dilation: 1, pads: Some((0, 0)), ..*axis };
    let with: Vec<usize> = (0..axes.len()).filter(|&axis| !axes[axis].is_trivial()).collect();
    if with.len() <= MOST_AXES {
        return vec![axes.to_vec()];
    }
    let chunk = |chunk: &[usize]| {
        axes.iter().enumerate().map(|(i, axis)| if chunk.contains(&i) { *axis } else { trivial(axis) }).collect()
    };
    with.chunks(MOST_AXES).map(chunk).collect()
}

/// Applies a function to the windows of one group after the other.
pub(super) fn by_groups(
    call: &mut Call,
    value: Value,
    axes: &[Axis],
    compute: impl Fn(&mut Call, &mut Folded) -> Made<Value>,
) -> Made<Value> {
    let mut made = value;
    for mut group in groups(axes) {
        for (axis, extent) in group.iter_mut().zip(made.dims.iter().flatten()) {
            axis.extent = *extent;
        }
        let extents: Dims =
            group.iter().map(|axis| if axis.is_trivial() { axis.extent } else { axis.count() }).collect();
        let mut folded = fold(call, &made, &group)?;
        let inner = inner(call, &folded)?;
        let result = compute(call, &mut folded)?;
        made = unfold(call, result, &folded.moved, &inner)?.with(extents);
    }
    Ok(made)
}
