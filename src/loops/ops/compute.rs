//! The computation of results of operations that are not kernels alone.

use super::types::{axis_of, order, reduced_axes, sections};
use super::{Attributes, OpResult};
use crate::dictionary::Arith;
use crate::extents::Align;
use crate::tensor::kernels::{self, Matrices, Repeat};
use crate::tensor::{DType, Data, Dims, Tensor};

/// Operands whose types were checked, and the type of the result.
pub(super) struct Operands<'a> {
    pub(crate) inputs: &'a [&'a Tensor],
    pub(crate) attributes: &'a Attributes,
    pub(crate) dtype: DType,
    pub(crate) shape: &'a Dims,
}

impl Operands<'_> {
    /// The shape that operands are broadcast to, with the last axes aligned.
    pub(crate) fn to(&self) -> Repeat<'_> {
        Repeat { shape: self.shape, align: Align::Last }
    }

    fn input(&self) -> Result<&Tensor, String> {
        self.inputs.first().copied().ok_or_else(|| "an operand is missing".to_owned())
    }

    fn axes(&self) -> Result<Vec<usize>, String> {
        reduced_axes(self.attributes.any_axes(), self.input()?.rank())
    }
}

/// The data of a result. Types were checked before, so the error is never reported.
fn typed(data: Option<Data>) -> OpResult<Data> {
    data.ok_or_else(|| "the operands are of other types than the operation takes".to_owned())
}

/// The elements of the operand; the shape may differ.
pub(super) fn identity(call: &Operands) -> OpResult<Data> {
    Ok(call.input()?.data().clone())
}

/// Applies a function of floats to each element; the element type is kept.
fn by_floats(call: &Operands, f: impl Fn(f64) -> f64) -> OpResult<Data> {
    let x = call.input()?;
    Ok(Data::from_floats(x.dtype(), (0..x.len()).map(|i| f(x.data().float(i)))))
}

pub(super) fn leaky_relu(call: &Operands) -> OpResult<Data> {
    let alpha = call.attributes.alpha.unwrap_or(0.01);
    by_floats(call, |x| if x < 0.0 { alpha * x } else { x })
}

pub(super) fn clamp(call: &Operands) -> OpResult<Data> {
    let (low, high) = (call.attributes.low, call.attributes.high);
    // If the bounds contradict each other, the lower one takes precedence: `max(low, min(high, x))`.
    let at_most = |x: f64| high.filter(|&high| x > high).unwrap_or(x);
    by_floats(call, |x| low.filter(|&low| at_most(x) < low).unwrap_or(at_most(x)))
}

pub(super) fn cast(call: &Operands) -> OpResult<Data> {
    let x = call.input()?.data();
    Ok(match (x.dtype().is_float(), call.dtype) {
        // Integers are not converted by way of floats, which cannot represent them all.
        (false, DType::Int64) => Data::Int64((0..x.len()).map(|i| x.integer(i)).collect()),
        (false, DType::Int32) => Data::Int32((0..x.len()).map(|i| x.integer(i) as i32).collect()),
        (_, dtype) => Data::from_floats(dtype, (0..x.len()).map(|i| x.float(i))),
    })
}

pub(super) fn select(call: &Operands) -> OpResult<Data> {
    let [condition, yes, no] = call.inputs else { return typed(None) };
    typed(call.to().select(condition, yes, no))
}

pub(super) fn matmul(call: &Operands) -> OpResult<Data> {
    let [a, b] = call.inputs else { return typed(None) };
    // A left vector is a row, a right vector a column.
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let mut batch = call.shape.clone();
    let columns = if column { 1 } else { batch.pop().unwrap_or(1) };
    let rows = if row { 1 } else { batch.pop().unwrap_or(1) };
    let batch = Repeat { shape: &batch, align: Align::Last };
    let (a, b) = (if row { &a.unsqueezed(0) } else { *a }, if column { &b.unsqueezed(1) } else { *b });
    let swapped = (call.attributes.transpose_a && !row, call.attributes.transpose_b && !column);
    let inner = a.shape()[a.rank() - if swapped.0 { 2 } else { 1 }];
    let left = Matrices::new(a.shape(), swapped.0, batch);
    let right = Matrices::new(b.shape(), swapped.1, batch);
    typed(kernels::product((a, left), (b, right), [rows, inner, columns]))
}

pub(super) fn reduce(call: &Operands, op: Arith) -> OpResult<Data> {
    typed(kernels::fold(call.input()?, &call.axes()?, op))
}

pub(super) fn mean(call: &Operands) -> OpResult<Data> {
    let x = call.input()?;
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    let means: Vec<f64> = kernels::grouped(&x.to_scalars(), x.shape(), &call.axes()?, mean);
    Ok(Data::from_floats(x.dtype(), means.into_iter()))
}

pub(super) fn logical(call: &Operands, any: bool) -> OpResult<Data> {
    let x = call.input()?;
    // `any`: some items are true; otherwise: no item is false.
    let one = |group: &[bool]| group.contains(&any) == any;
    let axes = call.axes()?;
    typed(x.items().map(|items| Data::Bool(kernels::grouped(items, x.shape(), &axes, one))))
}

/// The index of the least or greatest element along one axis, by default axis 0.
pub(super) fn extreme(call: &Operands, greatest: bool) -> OpResult<Data> {
    let x = call.input()?;
    let axis = call.attributes.any_axes().and_then(|axes| axes.first().copied()).unwrap_or(0);
    typed(kernels::extreme(x, &[axis_of(axis, x.rank())?], greatest))
}

pub(super) fn softmax(call: &Operands) -> OpResult<Data> {
    let x = call.input()?;
    let axes = reduced_axes(Some(call.attributes.any_axes().unwrap_or_else(|| vec![-1])), x.rank())?;
    let weights = kernels::softmax(&x.to_scalars(), x.shape(), &axes, false);
    Ok(Data::from_floats(x.dtype(), weights.into_iter()))
}

pub(super) fn slice(call: &Operands) -> OpResult<Data> {
    let x = call.input()?;
    let dims: Vec<Option<usize>> = x.shape().iter().copied().map(Some).collect();
    let mut along = x.places();
    for section in sections(call.attributes, &dims)? {
        let index = |i: usize| usize::try_from(section.begin + i as i64 * section.stride).ok();
        along[section.axis] = (0..section.length.unwrap_or(0)).map(index).collect();
    }
    Ok(x.taken(&along, 0.0).into_data())
}

pub(super) fn gather(call: &Operands) -> OpResult<Data> {
    let [x, indices] = call.inputs else { return typed(None) };
    let axis = axis_of(call.attributes.axis.unwrap_or(0), x.rank())?;
    let found = x.gathered(indices, axis, true).map(Tensor::into_data);
    found.map_err(|index| format!("index {index} is outside an axis of {}", x.shape()[axis]))
}

pub(super) fn transpose(call: &Operands) -> OpResult<Data> {
    let x = call.input()?;
    Ok(x.transposed(&order(call.attributes.axes.as_ref(), x.rank())?).into_data())
}

/// Concatenates tensors along an axis, or stacks them along a new axis.
pub(super) fn join(call: &Operands) -> OpResult<Data> {
    let axis = axis_of(call.attributes.axis.unwrap_or(0), call.shape.len())?;
    let stack = call.shape.len() > call.input()?.rank();
    let wide: Vec<Tensor> = call.inputs.iter().filter(|_| stack).map(|input| input.unsqueezed(axis)).collect();
    let wide: Vec<&Tensor> = if stack { wide.iter().collect() } else { call.inputs.to_vec() };
    let joined = Tensor::joined(&wide, axis).map(Tensor::into_data);
    joined.ok_or_else(|| "the operands do not fit together".to_owned())
}
