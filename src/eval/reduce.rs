//! Reductions along axes (4.4). Reduced axes stay, with extent 1.
//!
//! What is no number counts as the greatest and as the least one, so that it is not lost.

use ndarray::{ArrayBase, ArrayD, Data, IxDyn};

use super::array::{pack, view};
use super::call::{Call, Outcome};
use super::fault::Fault;
use crate::tensor::volume;

/// The axes of a reduction, which exist and differ, sorted.
fn axes(call: &Call, rank: usize) -> Result<Vec<usize>, Fault> {
    let mut axes =
        call.ints("axes")?.into_iter().map(|axis| call.check_axis(axis, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    let count = axes.len();
    axes.dedup();
    if axes.len() != count {
        return Err(Fault::shapes(format!("`{}` is given an axis twice", call.name())));
    }
    Ok(axes)
}

/// The rank that the axes of an operation ask for, which counts in the draft.
fn rank_asked(call: &Call) -> Result<usize, Fault> {
    let last = call.ints("axes")?.into_iter().max().unwrap_or(-1);
    Ok(usize::try_from(last.saturating_add(1)).unwrap_or(0))
}

/// Reduces an array along axes: each group of items, in row-major order, to one.
pub(crate) fn reduce<T: Copy, U, S: Data<Elem = T>>(
    call: &Call,
    array: &ArrayBase<S, IxDyn>,
    axes: &[usize],
    f: impl Fn(&[T]) -> Result<U, Fault>,
) -> Result<ArrayD<U>, Fault> {
    call.budget().work(array.len() as u64)?;
    let kept: Vec<usize> = (0..array.ndim()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let grouped = array.view().permuted_axes(IxDyn(&order));
    let group = axes.iter().map(|&axis| array.shape()[axis]).product::<usize>();
    let shape: Vec<usize> =
        array.shape().iter().enumerate().map(|(i, &extent)| if axes.contains(&i) { 1 } else { extent }).collect();
    let count = call.budget().room(&shape)?;
    let items: Vec<T> = grouped.iter().copied().collect();
    let reduced: Vec<U> = match group {
        // Groups without items: what the function gives for none.
        0 => (0..count).map(|_| f(&[])).collect::<Result<_, _>>()?,
        group => items.chunks_exact(group).map(f).collect::<Result<_, _>>()?,
    };
    Ok(super::array::array(&shape, reduced)?)
}

/// The sum, or the mean.
pub(crate) fn sum_reduce(call: &Call) -> Outcome {
    summed(call, call.flag("normalize")?)
}

/// The mean (4.4).
pub(crate) fn mean_reduce(call: &Call) -> Outcome {
    summed(call, true)
}

fn summed(call: &Call, normalize: bool) -> Outcome {
    let input = call.tensor_to("input", rank_asked(call)?)?;
    let axes = axes(call, input.rank())?;
    if let (Some(input), false) = (view::<i64>(&input), normalize) {
        let total = |items: &[i64]| {
            let total = items.iter().try_fold(0i64, |total, item| total.checked_add(*item));
            total.ok_or_else(|| Fault::value("a sum of integers leaves the range of 64 bits"))
        };
        return Ok(vec![pack(reduce(call, &input, &axes, total)?)?]);
    }
    let input = call.scalars_to("input", rank_asked(call)?)?;
    let divisor = if normalize { volume_along(input.shape(), &axes) } else { 1.0 };
    let reduced = reduce(call, &input, &axes, |items| Ok(items.iter().sum::<f64>() / divisor))?;
    Ok(vec![pack(reduced)?])
}

/// The number of items along some axes.
fn volume_along(shape: &[usize], axes: &[usize]) -> f64 {
    volume(&axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>()).unwrap_or(0) as f64
}

/// The place of the best item: the first one that no other is better than.
fn best<T: Copy>(items: &[T], better: impl Fn(T, T) -> bool) -> Result<usize, Fault> {
    if items.is_empty() {
        return Err(Fault::value("there is no greatest or least of no items"));
    }
    Ok((1..items.len()).fold(0, |best, i| if better(items[i], items[best]) { i } else { best }))
}

/// Whether a number is greater; what is no number is greater than any.
pub(crate) fn greater(a: f64, b: f64) -> bool {
    a > b || (a.is_nan() && !b.is_nan())
}

fn less(a: f64, b: f64) -> bool {
    a < b || (a.is_nan() && !b.is_nan())
}

/// The best item of each group, or its place.
fn extreme(call: &Call, scalar: fn(f64, f64) -> bool, integer: fn(i64, i64) -> bool, place: bool) -> Outcome {
    let input = call.tensor_to("input", rank_asked(call)?)?;
    let axes = axes(call, input.rank())?;
    let reduced = match (view::<i64>(&input), place) {
        (Some(input), true) => pack(reduce(call, &input, &axes, |items| Ok(best(items, integer)? as i64))?),
        (Some(input), false) => pack(reduce(call, &input, &axes, |items| Ok(items[best(items, integer)?]))?),
        (None, place) => {
            let input = call.scalars_to("input", rank_asked(call)?)?;
            match place {
                true => pack(reduce(call, &input, &axes, |items| Ok(best(items, scalar)? as i64))?),
                false => pack(reduce(call, &input, &axes, |items| Ok(items[best(items, scalar)?]))?),
            }
        }
    };
    Ok(vec![reduced?])
}

/// The greatest item.
pub(crate) fn max_reduce(call: &Call) -> Outcome {
    extreme(call, greater, |a, b| a > b, false)
}

/// The least item.
pub(crate) fn min_reduce(call: &Call) -> Outcome {
    extreme(call, less, |a, b| a < b, false)
}

/// The place of the greatest item in the row-major order of the reduced axes.
pub(crate) fn argmax_reduce(call: &Call) -> Outcome {
    extreme(call, greater, |a, b| a > b, true)
}

/// The place of the least item in the row-major order of the reduced axes.
pub(crate) fn argmin_reduce(call: &Call) -> Outcome {
    extreme(call, less, |a, b| a < b, true)
}

fn logical(call: &Call, f: fn(&[bool]) -> bool) -> Outcome {
    let input = call.logicals("input")?;
    let axes = axes(call, input.ndim())?;
    Ok(vec![pack(reduce(call, &input, &axes, |items| Ok(f(items)))?)?])
}

/// Whether any item is true.
pub(crate) fn any_reduce(call: &Call) -> Outcome {
    logical(call, |items| items.contains(&true))
}

/// Whether all items are true.
pub(crate) fn all_reduce(call: &Call) -> Outcome {
    logical(call, |items| !items.contains(&false))
}

/// Exponentials along axes that sum up to 1 (4.9.1), or their logarithms.
pub(crate) fn softmax_along(call: &Call, x: &ArrayD<f64>, axes: &[usize], log: bool) -> Result<ArrayD<f64>, Fault> {
    let name = call.name();
    let peak = reduce(call, x, axes, |items| Ok(items[best(items, greater)?]))?;
    let shifted = super::broadcast::map2(name, call.budget(), x, &peak, |x, peak| x - peak)?;
    let total = reduce(call, &shifted.mapv(f64::exp), axes, |items| Ok(items.iter().sum::<f64>()))?;
    let weigh = |x: &f64, total: &f64| if log { x - total.ln() } else { x.exp() / total };
    super::broadcast::map2(name, call.budget(), &shifted, &total, weigh)
}

/// The standard softmax.
pub(crate) fn softmax(call: &Call) -> Outcome {
    let x = call.scalars_to("x", rank_asked(call)?)?;
    let axes = axes(call, x.ndim())?;
    Ok(vec![pack(softmax_along(call, &x, &axes, false)?)?])
}
