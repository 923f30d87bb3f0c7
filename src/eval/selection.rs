//! Selection and repetition of items: slice, pad, tile, gather (4.5.4 to 4.5.7).
//!
//! All of these operations copy items of the input, so they share a function that takes the indices to copy along
//! each axis.

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::window;
use crate::dictionary::Deviation;
use crate::extents::{Bounds, nnef_section, replaced};
use crate::graph::{Primitive, Value};
use crate::tensor::{DType, Tensor};

/// The items at these indices of each axis; `None` is filled with `fill`.
fn taken(call: &Call, input: &Tensor, places: &[Vec<Option<usize>>], fill: f64) -> Result<Tensor, EvalError> {
    let shape: Vec<usize> = places.iter().map(Vec::len).collect();
    let count = call.budget().room(&shape)?;
    call.budget().product(count, shape.len())?;
    Ok(input.taken(places, fill))
}

/// The indices of a range; `None` if its end is before its begin.
fn range(begin: i64, end: i64, stride: i64, extent: usize) -> Option<Vec<Option<usize>>> {
    let section = nnef_section(Bounds { start: begin, end, step: stride }, i64::try_from(extent).ok()?);
    (section.way >= 0).then(|| section.places().map(Some).collect())
}

/// The places of a range of [`Deviation::CutFirst`].
fn cut_first(begin: i64, end: i64, stride: i64, extent: usize) -> Option<Vec<Option<usize>>> {
    if (begin, end) == (0, 0) {
        return Some(Vec::new());
    }
    let mut places = range(begin, end, 1, extent)?;
    if stride < 0 {
        places.reverse();
    }
    let step = usize::try_from(stride.unsigned_abs()).unwrap_or(usize::MAX);
    Some(places.into_iter().step_by(step).collect())
}

/// A section along some axes.
pub(crate) fn slice(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let (axes, begin, end) = (call.ints("axes")?, call.ints("begin")?, call.ints("end")?);
    let stride = call.ints("stride")?;
    let name = call.name();
    if begin.len() != axes.len() || end.len() != axes.len() || (!stride.is_empty() && stride.len() != axes.len()) {
        return Err(EvalError::shapes(format!("`axes`, `begin`, `end` and `stride` of `{name}` differ in length")));
    }
    let mut places = input.places();
    for (i, axis) in axes.iter().enumerate() {
        let axis = call.check_axis(*axis, input.rank())?;
        let stride = stride.get(i).copied().unwrap_or(1);
        let extent = input.shape()[axis];
        let found = match (stride, call.deviates(Deviation::CutFirst)) {
            (0, _) => None,
            (_, false) => range(begin[i], end[i], stride, extent),
            (_, true) => cut_first(begin[i], end[i], stride, extent),
        };
        places[axis] = found.ok_or_else(|| {
            let (begin, end) = (begin[i], end[i]);
            EvalError::shapes(format!(
                "axis {axis} of extent {extent} has nothing from {begin} to {end} in steps of {stride}"
            ))
        })?;
    }
    Ok(vec![taken(call, &input, &places, 0.0)?])
}

/// Adds items around the input; negative padding removes items.
pub(crate) fn pad(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let padding = call.pairs("padding")?;
    let (border, fill) = (window::border(call)?, call.number("value")?);
    if padding.len() != input.rank() {
        let (count, rank) = (padding.len(), input.rank());
        return Err(EvalError::shapes(format!("`padding` has {count} items, the input has rank {rank}")));
    }
    let extents: Option<Vec<usize>> = padding
        .iter()
        .zip(input.shape())
        .map(|((before, after), &extent)| {
            let extent = i64::try_from(extent).ok()?.checked_add(*before)?.checked_add(*after)?;
            usize::try_from(extent).ok()
        })
        .collect();
    let extents = extents.ok_or_else(|| EvalError::shapes(format!("the padding {padding:?} leaves no items")))?;
    // Checked first, since the list of indices takes as much memory.
    call.budget().room(&extents)?;
    let places: Vec<Vec<Option<usize>>> = extents
        .iter()
        .zip(&padding)
        .zip(input.shape())
        .map(|((&extent, (before, _)), &inner)| {
            (0..extent).map(|i| border.place((i as i64).saturating_sub(*before), inner)).collect()
        })
        .collect();
    Ok(vec![taken(call, &input, &places, fill)?])
}

/// Repeats the input along each axis.
pub(crate) fn tile(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let repeats = call.naturals("repeats")?;
    let extents: Option<Vec<usize>> =
        repeats.iter().zip(input.shape()).map(|(repeats, extent)| repeats.checked_mul(*extent)).collect();
    let Some(extents) = extents.filter(|_| repeats.len() == input.rank() && !repeats.contains(&0)) else {
        let shape = input.shape();
        return Err(EvalError::shapes(format!("`repeats` {repeats:?} does not fit shape {shape:?}")));
    };
    call.budget().room(&extents)?;
    Ok(vec![taken(call, &input, &input.repeated(&repeats), 0.0)?])
}

/// Like `gather`, but negative indices count from the end: an operation of registries.
pub(crate) fn gather_wrapped(call: &Call) -> KernelResult {
    let gathered = gathered(call, true)?;
    match call.value("datum_type") {
        // Weights in blocks are read as scalars.
        Some(Value::String(name)) if Primitive::of_datum_type(&name) == Some(Primitive::Scalar) => {
            gathered.iter().map(|tensor| call.converted(tensor, DType::Float64)).collect()
        }
        _ => Ok(gathered),
    }
}

/// Items at indices along an axis, which is replaced by the axes of the indices; negative ones may count from the end.
pub(crate) fn gathered(call: &Call, negative: bool) -> KernelResult {
    let (input, indices) = (call.tensor("input")?, call.tensor("indices")?);
    let axis = call.axis("axis", input.rank())?;
    let extent = input.shape()[axis];
    let indices = match negative {
        // Operations of registries truncate scalars.
        true => call.converted(&indices, DType::Int64)?,
        false => Tensor::clone(&indices).into_type(DType::Int64).map_err(|error| EvalError::value(error.0))?,
    };
    let shape = replaced(input.shape(), axis, indices.shape());
    let count = call.budget().room(&shape)?;
    call.budget().product(count, shape.len())?;
    let found = input.gathered(&indices, axis, negative);
    let outside = |index| EvalError::value(format!("index {index} is not within an extent of {extent}"));
    Ok(vec![found.map_err(outside)?])
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_those_of_the_text() {
        let places = |begin, end, stride| {
            range(begin, end, stride, 5).map(|places| places.into_iter().flatten().collect::<Vec<usize>>())
        };
        assert_eq!(places(1, 3, 1), Some(vec![1, 2]));
        assert_eq!(places(-3, 0, 1), Some(vec![2, 3, 4]));
        assert_eq!(places(0, 100, 2), Some(vec![0, 2, 4]));
        assert_eq!(places(-1, -100, -2), Some(vec![4, 2, 0]));
        assert_eq!(places(3, 0, -1), Some(vec![3, 2, 1]));
        assert_eq!(places(2, 2, 1), Some(vec![]));
        assert_eq!(places(3, 2, 1), None);
        assert_eq!(places(0, 5, i64::MAX), Some(vec![0]));
        assert_eq!(places(i64::MIN, i64::MAX, 3), Some(vec![0, 3]));
    }
}
