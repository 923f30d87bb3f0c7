//! Reductions along axes (4.4). Reduced axes are kept, with extent 1.
//!
//! NaN is treated as the greatest and as the least number, so that it propagates.

use super::call::{Call, KernelResult};
use super::error::EvalError;
use super::kernels::greater;
use crate::dictionary::Deviation;
use crate::tensor::{DType, Element, Tensor, kernels, volume};

/// The axes of a reduction, sorted and checked: none is negative or given twice. Axes beyond the last one have the
/// extent 1, so nothing is reduced along them.
fn axes(call: &Call, rank: usize) -> Result<Vec<usize>, EvalError> {
    let all = rank_asked(call)?.max(rank);
    let mut axes =
        call.ints("axes")?.into_iter().map(|axis| call.check_axis(axis, all)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    let count = axes.len();
    axes.dedup();
    if axes.len() != count {
        return Err(EvalError::shapes(format!("an axis of `{}` is given twice", call.name())));
    }
    axes.retain(|axis| *axis < rank);
    Ok(axes)
}

/// The least rank that contains all axes of the operation; shapes of the draft are extended to it.
fn rank_asked(call: &Call) -> Result<usize, EvalError> {
    let last = call.ints("axes")?.into_iter().max().unwrap_or(-1);
    Ok(usize::try_from(last.saturating_add(1)).unwrap_or(0))
}

/// Reduces a tensor along axes: each group of items, in row-major order, to one item.
pub(crate) fn reduce<T: Element, R: Element>(
    call: &Call,
    x: &Tensor,
    axes: &[usize],
    f: impl Fn(&[T]) -> Result<R, EvalError>,
) -> Result<Tensor, EvalError> {
    call.budget().work(x.len() as u64)?;
    let reduced = kernels::among(axes, x.rank());
    let shape: Vec<usize> =
        x.shape().iter().zip(reduced).map(|(&all, reduced)| if reduced { 1 } else { all }).collect();
    call.budget().room(&shape)?;
    let items: Result<Vec<R>, EvalError> = kernels::grouped(x.items().unwrap_or_default(), x.shape(), axes, f);
    Ok(Tensor::of(&shape, items?)?)
}

/// The sum, or the mean if `normalize` is set.
pub(crate) fn sum_reduce(call: &Call) -> KernelResult {
    summed(call, call.flag("normalize")?)
}

/// The mean (4.4).
pub(crate) fn mean_reduce(call: &Call) -> KernelResult {
    summed(call, true)
}

fn summed(call: &Call, normalize: bool) -> KernelResult {
    let input = call.tensor_to("input", rank_asked(call)?)?;
    let axes = axes(call, input.rank())?;
    if input.dtype() == DType::Int64 && !normalize {
        let total = |items: &[i64]| {
            let total = items.iter().try_fold(0i64, |total, item| total.checked_add(*item));
            total.ok_or_else(|| EvalError::value("a sum of integers leaves the range of 64 bits"))
        };
        return Ok(vec![reduce(call, &input, &axes, total)?]);
    }
    if input.dtype() == DType::Int64 && call.deviates(Deviation::WholeMean) {
        let mean = |items: &[i64]| {
            let total: i128 = items.iter().map(|item| i128::from(*item)).sum();
            let mean = total.checked_div(items.len() as i128).and_then(|mean| i64::try_from(mean).ok());
            mean.ok_or_else(|| EvalError::value("the mean of an empty tensor of integers is not defined"))
        };
        return Ok(vec![reduce(call, &input, &axes, mean)?]);
    }
    let input = call.numbers_to("input", rank_asked(call)?)?;
    let divisor = if normalize { volume_along(input.shape(), &axes) } else { 1.0 };
    Ok(vec![reduce(call, &input, &axes, |items: &[f64]| Ok(kernels::sum(items.iter().copied()) / divisor))?])
}

/// The number of items along some axes.
fn volume_along(shape: &[usize], axes: &[usize]) -> f64 {
    volume(&axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>()).unwrap_or(0) as f64
}

fn less(a: f64, b: f64) -> bool {
    a < b || (a.is_nan() && !b.is_nan())
}

/// The least or greatest item of each group, or its index.
fn extreme(call: &Call, scalar: fn(f64, f64) -> bool, integer: fn(i64, i64) -> bool, place: bool) -> KernelResult {
    fn picked<T: Element>(call: &Call, x: &Tensor, better: fn(T, T) -> bool, place: bool) -> KernelResult {
        let none = || EvalError::value("the maximum or minimum of an empty tensor is not defined");
        let best = |items: &[T]| kernels::best(items, better).ok_or_else(none);
        let axes = axes(call, x.rank())?;
        Ok(vec![match place {
            true => reduce(call, x, &axes, |items| Ok(best(items)? as i64))?,
            false => reduce(call, x, &axes, |items| Ok(items[best(items)?]))?,
        }])
    }
    let rank = rank_asked(call)?;
    let input = call.tensor_to("input", rank)?;
    match input.dtype() {
        DType::Int64 => picked(call, &input, integer, place),
        _ => picked(call, &*call.numbers_to("input", rank)?, scalar, place),
    }
}

/// The greatest item.
pub(crate) fn max_reduce(call: &Call) -> KernelResult {
    extreme(call, greater, |a, b| a > b, false)
}

/// The least item.
pub(crate) fn min_reduce(call: &Call) -> KernelResult {
    extreme(call, less, |a, b| a < b, false)
}

/// The index of the greatest item in the row-major order of the reduced axes.
pub(crate) fn argmax_reduce(call: &Call) -> KernelResult {
    extreme(call, greater, |a, b| a > b, true)
}

/// The index of the least item in the row-major order of the reduced axes.
pub(crate) fn argmin_reduce(call: &Call) -> KernelResult {
    extreme(call, less, |a, b| a < b, true)
}

fn logical(call: &Call, f: fn(&[bool]) -> bool) -> KernelResult {
    let input = call.logicals("input")?;
    let axes = axes(call, input.rank())?;
    Ok(vec![reduce(call, &input, &axes, |items| Ok(f(items)))?])
}

/// Whether any item is true.
pub(crate) fn any_reduce(call: &Call) -> KernelResult {
    logical(call, |items| items.contains(&true))
}

/// Whether all items are true.
pub(crate) fn all_reduce(call: &Call) -> KernelResult {
    logical(call, |items| !items.contains(&false))
}

/// Softmax along axes (4.9.1), or its logarithm.
pub(crate) fn softmax_along(call: &Call, x: &Tensor, axes: &[usize], log: bool) -> KernelResult {
    let count = call.budget().room(x.shape())?;
    call.budget().product(count, 4)?;
    if axes.iter().any(|&axis| x.shape()[axis] == 0) {
        return Err(EvalError::value("the maximum or minimum of an empty tensor is not defined"));
    }
    let weights = kernels::softmax(x.items().unwrap_or_default(), x.shape(), axes, log);
    Ok(vec![Tensor::of(x.shape(), weights)?])
}

/// The standard softmax.
pub(crate) fn softmax(call: &Call) -> KernelResult {
    let x = call.numbers_to("x", rank_asked(call)?)?;
    softmax_along(call, &x, &axes(call, x.rank())?, false)
}
