//! Constants.

use super::layout::natural_extents;
use crate::onnx::constant::{CONSTANT_FORMS, ConstantForm};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::{Data, Tensor};

/// A constant in any of its attributes.
pub(in crate::onnx) fn constant(call: &NodeCall) -> KernelResult {
    if let Some(tensor) = call.tensor_attribute("value")? {
        return one(tensor);
    }
    let given = |form: &'static ConstantForm| Some((form, call.attributes.find(form.attribute)?));
    if let Some((form, given)) = CONSTANT_FORMS.iter().find_map(given) {
        let other = || call.refused(format!("the value of `{}` has another form", form.attribute));
        let items = form.items(&given.value).ok_or_else(other)?;
        return one(call.made(&form.shape(items.len()), items)?);
    }
    match call.sparse_attribute("sparse_value")? {
        Some(tensor) => one(tensor),
        None => Err(call.refused("the constant has no value")),
    }
}

/// A value repeated to a shape.
pub(in crate::onnx) fn constant_of_shape(call: &NodeCall) -> KernelResult {
    let shape = natural_extents(call, &call.list(0)?)?;
    let count = call.room(&shape)?;
    let value = match call.tensor_attribute("value")? {
        Some(value) if value.len() == 1 => value,
        Some(value) => return Err(call.misfit(format!("the value has {} items", value.len()))),
        None => Tensor::with(&[], Data::Float32(vec![0.0]))?,
    };
    one(Tensor::with(&shape, value.data().pick(std::iter::repeat_n(0, count)))?)
}

/// 1 on a diagonal, 0 elsewhere.
pub(in crate::onnx) fn eye_like(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let [_, columns] = *x.shape() else { return Err(call.misfit("the operand is not a matrix")) };
    let diagonal = call.int_or("k", 0)?;
    let dtype = call.dtype_attribute("dtype")?.unwrap_or(x.dtype());
    let is_on = |at: usize| (at % columns) as i64 - (at / columns) as i64 == diagonal;
    one(call.rounded(dtype, x.shape(), (0..x.len()).map(|at| f64::from(u8::from(is_on(at)))))?)
}

/// Numbers from a start on, up to a limit.
pub(in crate::onnx) fn range(call: &NodeCall) -> KernelResult {
    let [start, limit, delta] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    if [start, limit, delta].iter().any(|tensor| tensor.len() != 1 || tensor.dtype() != start.dtype()) {
        return Err(call.misfit("start, limit and step are not single numbers of the same type"));
    }
    if start.dtype().is_integer() {
        let [start, limit, delta] = [start, limit, delta].map(|tensor| tensor.data().wide(0));
        if delta == 0 {
            return Err(call.refused("the step is 0"));
        }
        let span = limit - start;
        let count = (span / delta + i128::from(span % delta != 0 && (span < 0) == (delta < 0))).max(0);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        call.room(&[count])?;
        return one(call.wrapped(call.tensor(0)?.dtype(), &[count], (0..count as i128).map(|i| start + i * delta))?);
    }
    let [first, limit, delta] = [start, limit, delta].map(|tensor| tensor.data().float(0));
    let count = ((limit - first) / delta).ceil().max(0.0);
    if !count.is_finite() {
        return Err(call.refused("the range has no end"));
    }
    let count = count as usize;
    call.room(&[count])?;
    one(call.rounded(start.dtype(), &[count], (0..count).map(|i| first + i as f64 * delta))?)
}
