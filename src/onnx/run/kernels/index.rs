//! Operators that read or write items at indices.

use super::reals::room_around;
use crate::dictionary::{Arith, Float};
use crate::eval::EvalError;
use crate::eval::kernels::{Indices, Misplaced, indices_of};
use crate::extents::replaced;
use crate::onnx::run::node_call::{KernelResult, NodeCall, integers, logicals, one};
use crate::tensor::{DType, Data, Tensor, strides};

/// Slices at indices along an axis.
pub(in crate::onnx) fn gather(call: &NodeCall) -> KernelResult {
    let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    integers(indices)?;
    call.room(&replaced(x.shape(), axis, indices.shape()))?;
    let outside = |index| EvalError::value(format!("`Gather`: index {index} of an extent of {}", x.shape()[axis]));
    one(x.gathered(indices, axis, true).map_err(outside)?)
}

/// What indices select, or why they select nothing.
fn placed<T>(call: &NodeCall, x: &Tensor, indices: &Tensor, found: Result<T, Misplaced>) -> Result<T, EvalError> {
    found.map_err(|misplaced| match misplaced {
        Misplaced::Shape => call.misfit(format!("indices of shape {:?} for {:?}", indices.shape(), x.shape())),
        Misplaced::Outside { index, extent } => {
            EvalError::value(format!("`{}`: index {index} of an extent of {extent}", call.name()))
        }
    })
}

/// The places that indices of an operand's shape select: each replaces the index along an axis.
fn along(call: &NodeCall, x: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, EvalError> {
    let items = integers(indices)?;
    call.room(indices.shape())?;
    let of = Indices { items: &items, shape: indices.shape() };
    placed(call, x, indices, of.elements(x.shape(), axis, indices.shape()))
}

/// Items at indices along an axis.
pub(in crate::onnx) fn gather_elements(call: &NodeCall) -> KernelResult {
    let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    let places = along(call, x, indices, axis)?;
    one(call.made(indices.shape(), x.data().pick(places.into_iter()))?)
}

/// How written items are combined with those that are there.
fn combination(call: &NodeCall) -> Result<Option<Arith>, EvalError> {
    Ok(match call.text_or("reduction", "none")?.as_str() {
        "none" => None,
        "add" => Some(Arith::Add),
        "mul" => Some(Arith::Mul),
        "max" => Some(Arith::Max),
        "min" => Some(Arith::Min),
        other => return Err(call.refused(format!("`reduction` is `{other}`"))),
    })
}

/// Writes items at places, in their order.
fn written(call: &NodeCall, x: &Tensor, places: &[usize], updates: &Tensor) -> Result<Tensor, EvalError> {
    if updates.dtype() != x.dtype() {
        return Err(call.refused(format!("items of type {} are written to {}", updates.dtype(), x.dtype())));
    }
    call.room(x.shape())?;
    let mut data = x.data().clone();
    let from = updates.data();
    match combination(call)? {
        None => data.put(places, from, |i| i),
        Some(op) if x.dtype() == DType::Bool => {
            let mut items: Vec<bool> = logicals(x)?.to_vec();
            for (&at, &item) in places.iter().zip(logicals(updates)?) {
                items[at] = if matches!(op, Arith::Add | Arith::Max) { items[at] || item } else { items[at] && item };
            }
            data = Data::Bool(items);
        }
        Some(op) if x.dtype().is_integer() => {
            let mut items: Vec<i128> = super::elementwise::wide(x).collect();
            for (i, &at) in places.iter().enumerate() {
                let item = from.wide(i);
                items[at] = match op {
                    Arith::Mul => items[at].wrapping_mul(item),
                    Arith::Max => items[at].max(item),
                    Arith::Min => items[at].min(item),
                    _ => items[at].wrapping_add(item),
                };
            }
            data = Data::from_wide(x.dtype(), items.into_iter());
        }
        Some(op) if x.dtype().is_float() => {
            let mut items = x.to_scalars();
            for (i, &at) in places.iter().enumerate() {
                items[at] = f64::calculate(op, items[at], from.float(i));
            }
            data = Data::from_floats(x.dtype(), items.into_iter());
        }
        Some(_) => return Err(call.refused(format!("items of type {} are not combined", x.dtype()))),
    }
    Ok(Tensor::with(x.shape(), data)?)
}

/// Writes items at indices along an axis.
pub(in crate::onnx) fn scatter_elements(call: &NodeCall) -> KernelResult {
    let (x, indices, updates) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    if indices.shape() != updates.shape() {
        return Err(call.misfit(format!("{:?} indices for {:?} items", indices.shape(), updates.shape())));
    }
    let places = along(call, x, indices, axis)?;
    one(written(call, x, &places, updates)?)
}

/// The shape of the slices that lists of indices select, and the places of their items; each list is along the axes from
/// the first one on.
fn slices(call: &NodeCall, x: &Tensor, indices: &Tensor, batch: usize) -> Result<(Vec<usize>, Vec<usize>), EvalError> {
    let items = integers(indices)?;
    let of = Indices { items: &items, shape: indices.shape() };
    let shape = placed(call, x, indices, of.slices_shape(x.shape(), batch))?;
    call.room(&shape)?;
    Ok((shape, placed(call, x, indices, of.slices(x.shape(), batch))?))
}

/// Slices at lists of indices.
pub(in crate::onnx) fn gather_nd(call: &NodeCall) -> KernelResult {
    let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
    let batch = usize::try_from(call.int_or("batch_dims", 0)?).unwrap_or(usize::MAX);
    let fits = batch < indices.rank() && batch <= x.rank() && indices.shape()[..batch] == x.shape()[..batch];
    if !fits {
        return Err(call.misfit(format!("{batch} axes of batches of {:?} and {:?}", x.shape(), indices.shape())));
    }
    let (shape, places) = slices(call, x, indices, batch)?;
    one(Tensor::with(&shape, x.data().pick(places.into_iter()))?)
}

/// Writes slices at lists of indices.
pub(in crate::onnx) fn scatter_nd(call: &NodeCall) -> KernelResult {
    let (x, indices, updates) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let (shape, places) = slices(call, x, indices, 0)?;
    if shape != updates.shape() {
        return Err(call.misfit(format!("items of shape {:?} are written to {shape:?}", updates.shape())));
    }
    one(written(call, x, &places, updates)?)
}

/// Writes new items to a cache along an axis, from an index of each batch on.
pub(in crate::onnx) fn tensor_scatter(call: &NodeCall) -> KernelResult {
    let (cache, update) = (call.tensor(0)?, call.tensor(1)?);
    let axis = call.axis(call.int_or("axis", -2)?, cache.rank())?;
    let same = |other: usize| other == axis || cache.shape()[other] == update.shape()[other];
    if axis == 0 || update.rank() != cache.rank() || !(0..cache.rank()).all(same) {
        return Err(call.misfit(format!("{:?} is written to {:?}", update.shape(), cache.shape())));
    }
    let circular = match call.text_or("mode", "linear")?.as_str() {
        "linear" => false,
        "circular" => true,
        other => return Err(call.refused(format!("`mode` is `{other}`"))),
    };
    let (length, most) = (update.shape()[axis], cache.shape()[axis]);
    room_around(call, cache.shape())?;
    let starts = call.optional_list(2)?.unwrap_or_else(|| vec![0; cache.shape()[0]]);
    if starts.len() != cache.shape()[0] {
        return Err(call.misfit(format!("{} indices for {} batches", starts.len(), cache.shape()[0])));
    }
    let (from, to) = (strides(update.shape()), strides(cache.shape()));
    let target = |at: usize| {
        let batch = at / from[0];
        let instant = starts[batch].saturating_add((at / from[axis] % length) as i64);
        let instant = if circular { instant.rem_euclid(most.max(1) as i64) } else { instant };
        let others = (0..cache.rank()).filter(|other| *other != axis);
        let base: usize = others.map(|other| at / from[other] % update.shape()[other] * to[other]).sum();
        let outside = || EvalError::value(format!("`TensorScatter`: index {instant} of an extent of {most}"));
        let instant = usize::try_from(instant).ok().filter(|&instant| instant < most).ok_or_else(outside)?;
        Ok(base + instant * to[axis])
    };
    call.room(cache.shape())?;
    let places = (0..update.len()).map(target).collect::<Result<Vec<_>, EvalError>>()?;
    if update.dtype() != cache.dtype() {
        return Err(call.refused("cache and update have different types"));
    }
    let mut data = cache.data().clone();
    data.put(&places, update.data(), |i| i);
    one(Tensor::with(cache.shape(), data)?)
}

/// One value at an index of a new axis, another one elsewhere.
pub(in crate::onnx) fn one_hot(call: &NodeCall) -> KernelResult {
    let (indices, values) = (call.tensor(0)?, call.tensor(2)?);
    let depth = match call.tensor(1)?.to_scalars()[..] {
        [depth] if depth >= 0.0 => depth as usize,
        _ => return Err(call.misfit("the depth is not a single number")),
    };
    if values.len() != 2 {
        return Err(call.misfit(format!("{} values, not two", values.len())));
    }
    let axis = call.axis(call.int_or("axis", -1)?, indices.rank() + 1)?;
    let mut shape = indices.shape().to_vec();
    shape.insert(axis, depth);
    let count = call.room(&shape)?;
    let inner: usize = indices.shape()[axis..].iter().product();
    let items: Vec<f64> = indices.to_scalars();
    let is_hot = |at: usize| {
        let (outer, level, column) = (at / inner / depth, at / inner % depth, at % inner);
        let wanted = items[outer * inner + column].trunc();
        let wanted = if wanted < 0.0 { wanted + depth as f64 } else { wanted };
        wanted == level as f64
    };
    one(Tensor::with(&shape, values.data().pick((0..count).map(|at| usize::from(is_hot(at)))))?)
}

/// The indices of the items that are not 0, one list for each axis.
pub(in crate::onnx) fn non_zero(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let is_there = |at: &usize| match x.data() {
        Data::Text(items) => !items[*at].is_empty(),
        data => data.float(*at) != 0.0,
    };
    let found: Vec<usize> = (0..x.len()).filter(is_there).collect();
    // A scalar has one index along no axis.
    let shape = [x.rank(), found.len()];
    call.room(&shape)?;
    one(Tensor::integers(&shape, indices_of(&found, x.shape()))?)
}

/// Slices whose condition is true.
pub(in crate::onnx) fn compress(call: &NodeCall) -> KernelResult {
    let (x, chosen) = (call.tensor(0)?, logicals(call.tensor(1)?)?);
    let (x, axis) = match call.int("axis")? {
        Some(axis) => (Tensor::clone(x), call.axis(axis, x.rank())?),
        None => (x.reshaped(&[x.len()])?, 0),
    };
    let extent = x.shape()[axis];
    let mut along = x.places();
    along[axis] = (0..extent).filter(|at| chosen.get(*at) == Some(&true)).map(Some).collect();
    call.room(&along.iter().map(Vec::len).collect::<Vec<_>>())?;
    one(x.taken(&along, 0.0))
}
