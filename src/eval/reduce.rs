//! Reductions along axes (4.4). Reduced axes are kept, with extent 1.
//!
//! NaN is treated as the greatest and as the least number, so that it propagates.

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels::{MEAN, Reduction, SUM};
use crate::dictionary::Deviation;
use crate::tensor::kernels::Extreme;
use crate::tensor::{DType, Element, Tensor, kernels};

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

/// Reduces numbers, as integers if they are and `whole` is set. What is not defined is refused with a message.
pub(crate) fn reduced(call: &Call, of: &Reduction, whole: bool, undefined: &str) -> KernelResult {
    let rank = rank_asked(call)?;
    let input = call.tensor_to("input", rank)?;
    let axes = axes(call, input.rank())?;
    let undefined = || EvalError::value(undefined);
    if whole && input.dtype() == DType::Int64 {
        let integer = |items: &[i64]| {
            let found = (of.of_integers)(&mut items.iter().copied().map(i128::from));
            found.and_then(|found| i64::try_from(found).ok()).ok_or_else(undefined)
        };
        return Ok(vec![reduce(call, &input, &axes, integer)?]);
    }
    // The extreme of no floats is an infinity, which is not a number of NNEF.
    let float = |items: &[f64]| {
        let found = (of.of_floats)(items);
        if items.is_empty() && found.is_infinite() { Err(undefined()) } else { Ok(found) }
    };
    Ok(vec![reduce(call, &*call.numbers_to("input", rank)?, &axes, float)?])
}

/// The sum, or the mean if `normalize` is set.
pub(crate) fn sum_reduce(call: &Call) -> KernelResult {
    match call.flag("normalize")? {
        true => mean_reduce(call),
        false => reduced(call, &SUM, true, "a sum of integers leaves the range of 64 bits"),
    }
}

/// The mean (4.4).
pub(crate) fn mean_reduce(call: &Call) -> KernelResult {
    let whole = call.deviates(Deviation::WholeMean);
    reduced(call, &MEAN, whole, "the mean of an empty tensor of integers is not defined")
}

pub(super) const NO_ITEMS: &str = "the maximum or minimum of an empty tensor is not defined";

/// The index of the greatest or least item of each group.
pub(crate) fn place(call: &Call, greatest: bool) -> KernelResult {
    fn found<T: Element + PartialOrd>(call: &Call, x: &Tensor, which: Extreme) -> KernelResult {
        let none = || EvalError::value(NO_ITEMS);
        let index = |items: &[T]| which.place(items).map(|at| at as i64).ok_or_else(none);
        Ok(vec![reduce(call, x, &axes(call, x.rank())?, index)?])
    }
    let (rank, which) = (rank_asked(call)?, Extreme { greatest, last: false });
    let input = call.tensor_to("input", rank)?;
    match input.dtype() {
        DType::Int64 => found::<i64>(call, &input, which),
        _ => found::<f64>(call, &*call.numbers_to("input", rank)?, which),
    }
}

/// Whether the items of each group are as a function says.
pub(crate) fn logical(call: &Call, f: fn(&[bool]) -> bool) -> KernelResult {
    let input = call.logicals("input")?;
    let axes = axes(call, input.rank())?;
    Ok(vec![reduce(call, &input, &axes, |items| Ok(f(items)))?])
}

/// Softmax along axes (4.9.1), or its logarithm.
pub(crate) fn softmax_along(call: &Call, x: &Tensor, axes: &[usize], log: bool) -> KernelResult {
    let count = call.budget().room(x.shape())?;
    call.budget().product(count, 4)?;
    if axes.iter().any(|&axis| x.shape()[axis] == 0) {
        return Err(EvalError::value(NO_ITEMS));
    }
    let weights = kernels::softmax(x.items().unwrap_or_default(), x.shape(), axes, log);
    Ok(vec![Tensor::of(x.shape(), weights)?])
}

/// The standard softmax.
pub(crate) fn softmax(call: &Call) -> KernelResult {
    let x = call.numbers_to("x", rank_asked(call)?)?;
    softmax_along(call, &x, &axes(call, x.rank())?, false)
}
