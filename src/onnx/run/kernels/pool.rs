//! Pooling: each position has the greatest item of its window, or a mean of all.

use super::reals::{Reals, naturals, planes, saturated, sizes};
use super::windows::{WindowSettings, of_pool};
use crate::eval::EvalError;
use crate::eval::kernels::{LocalResponse, PlaneWindow, Windows, pooled};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::kernels::sum;
use crate::tensor::{Data, Tensor};

/// An input with the windows over it.
struct PoolCall<'c> {
    x: Reals<'c>,
    windows: Windows,
    shape: Vec<usize>,
}

impl<'c> PoolCall<'c> {
    fn read(call: &'c NodeCall) -> Result<Self, EvalError> {
        let x = Reals::of(call, 0)?;
        let (batch, channels, space) = planes(call, x.shape)?;
        let size = naturals(call, "kernel_shape")?.ok_or_else(|| call.refused("there is no `kernel_shape`"))?;
        let windows = of_pool(call, space, &size)?;
        let shape = [batch, channels].into_iter().chain(windows.output()).collect();
        Ok(PoolCall { x, windows, shape })
    }

    /// Computes each item of the result.
    fn each<T: Clone>(&self, call: &NodeCall, empty: T, f: impl Fn(&PlaneWindow) -> T) -> Result<Vec<T>, EvalError> {
        pooled(call.budget, &self.windows, &self.x.items, self.shape[0] * self.shape[1], empty, f)
    }

    /// The result, which has the type of the input.
    fn result(&self, call: &NodeCall, f: impl Fn(&PlaneWindow) -> f64) -> KernelResult {
        one(call.rounded(self.x.dtype, &self.shape, self.each(call, 0.0, f)?)?)
    }
}

/// The index of a place in an order in which the first axis varies fastest.
fn by_columns(windows: &Windows, place: usize) -> usize {
    let mut rest = place;
    let mut along: Vec<usize> = Vec::new();
    for axis in windows.axes.iter().rev() {
        along.push(rest % axis.input);
        rest /= axis.input;
    }
    windows.axes.iter().rev().zip(along).fold(0, |at, (axis, i)| at * axis.input + i)
}

/// `MaxPool`, with the indices of the items that it selects.
pub(in crate::onnx) fn max_pool(call: &NodeCall) -> KernelResult {
    let pool = PoolCall::read(call)?;
    let columns = call.flag("storage_order", false)?;
    let none = (saturated(pool.x.dtype, f64::NEG_INFINITY), -1);
    let found = pool.each(call, none, |window| match window.greatest(None) {
        Some((_, Some(place))) => {
            let item = pool.x.items[window.start + place];
            let place = if columns { by_columns(&pool.windows, place) } else { place };
            (item, (window.start + place) as i64)
        }
        _ => none,
    })?;
    let (items, indices): (Vec<f64>, Vec<i64>) = found.into_iter().unzip();
    let greatest = call.rounded(pool.x.dtype, &pool.shape, items)?;
    if call.results() < 2 {
        return one(greatest);
    }
    Ok(vec![greatest.into(), call.made(&pool.shape, Data::Int64(indices))?.into()])
}

/// `AveragePool`.
pub(in crate::onnx) fn average_pool(call: &NodeCall) -> KernelResult {
    let pool = PoolCall::read(call)?;
    let with_padding = call.flag("count_include_pad", false)?;
    pool.result(call, |window| {
        let padded = || pool.windows.axes.iter().zip(window.index).map(|(axis, &at)| axis.padded(at)).product();
        let count = if with_padding { padded() } else { window.count() };
        window.sum(count) / count as f64
    })
}

/// The exponent of a norm, which the first version has as a float.
fn exponent(call: &NodeCall) -> Result<f64, EvalError> {
    Ok(if call.version < 2 { call.float_or("p", 2.0)? } else { call.int_or("p", 2)? as f64 })
}

/// The norm of items.
fn norm(items: impl Iterator<Item = f64>, p: f64) -> f64 {
    sum(items.map(|item| item.abs().powf(p))).powf(1.0 / p)
}

/// `LpPool`.
pub(in crate::onnx) fn lp_pool(call: &NodeCall) -> KernelResult {
    let (pool, p) = (PoolCall::read(call)?, exponent(call)?);
    pool.result(call, |window| norm(window.items(), p))
}

/// Reduces each plane to one item.
fn global(call: &NodeCall, f: impl Fn(&[f64]) -> f64) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (batch, channels, space) = planes(call, x.shape)?;
    let shape: Vec<usize> = [batch, channels].into_iter().chain(space.iter().map(|_| 1)).collect();
    let plane: usize = space.iter().product();
    let count = call.budget.room(&shape)?;
    let result: Vec<f64> = (0..count).map(|i| f(&x.items[i * plane..(i + 1) * plane])).collect();
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `GlobalAveragePool`.
pub(in crate::onnx) fn global_average_pool(call: &NodeCall) -> KernelResult {
    global(call, |plane| sum(plane.iter().copied()) / plane.len() as f64)
}

/// `GlobalMaxPool`.
pub(in crate::onnx) fn global_max_pool(call: &NodeCall) -> KernelResult {
    global(call, |plane| {
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        plane.iter().copied().fold(f64::NEG_INFINITY, larger)
    })
}

/// `GlobalLpPool`.
pub(in crate::onnx) fn global_lp_pool(call: &NodeCall) -> KernelResult {
    let p = exponent(call)?;
    global(call, |plane| norm(plane.iter().copied(), p))
}

/// `MaxUnpool`: writes items to indices of the inferred shape, which is extended to the stated one.
pub(in crate::onnx) fn max_unpool(call: &NodeCall) -> KernelResult {
    let (x, indices) = (call.tensor(0)?, call.list(1)?);
    let (batch, channels, space) = planes(call, x.shape())?;
    let size = naturals(call, "kernel_shape")?.ok_or_else(|| call.refused("there is no `kernel_shape`"))?;
    let settings = WindowSettings::read(call, space.len())?;
    let misfit = || call.misfit(format!("a window {size:?} does not fit the operand of shape {:?}", x.shape()));
    if size.len() != space.len() || indices.len() != x.len() {
        return Err(misfit());
    }
    let extent = |i: usize| {
        let window = settings.window(i, size[i])?;
        usize::try_from(window.extent(&i64::try_from(space[i]).ok()?)?).ok()
    };
    let extents = (0..size.len()).map(|i| extent(i).ok_or_else(misfit)).collect::<Result<Vec<_>, _>>()?;
    let inferred: Vec<usize> = [batch, channels].into_iter().chain(extents).collect();
    let count = call.budget.room(&inferred)?;
    let place = |&index: &i64| usize::try_from(index).ok().filter(|&index| index < count);
    let places: Option<Vec<usize>> = indices.iter().map(place).collect();
    let places = places.ok_or_else(|| call.refused("an index is outside of the result"))?;
    let mut data = Data::zeros(x.dtype(), count);
    data.put(&places, x.data(), |i| i);
    let result = Tensor::with(&inferred, data)?;
    let Some(stated) = call.optional_list(2)? else { return one(result) };
    let stated = sizes(call, &stated)?;
    if stated.len() != inferred.len() {
        return Err(misfit());
    }
    call.budget.room(&stated)?;
    let along = |(to, from): (&usize, &usize)| (0..*to).map(|i| (i < *from).then_some(i)).collect();
    one(result.taken(&stated.iter().zip(&inferred).map(along).collect::<Vec<_>>(), 0.0))
}

/// `LRN`: divides by a power of the squares of neighbouring channels.
pub(in crate::onnx) fn local_response(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (_, channels, space) = planes(call, x.shape)?;
    let (alpha, beta, bias) =
        (call.float_or("alpha", 1e-4)?, call.float_or("beta", 0.75)?, call.float_or("bias", 1.0)?);
    let size = usize::try_from(call.int_or("size", 1)?).ok().filter(|&size| size > 0);
    let size = size.ok_or_else(|| call.refused("`size` is not positive"))?;
    call.budget.product(x.items.len(), size.min(channels))?;
    let response = LocalResponse { size, alpha, beta, bias };
    one(call.rounded(x.dtype, x.shape, response.result(&x.items, channels, space.iter().product()))?)
}
