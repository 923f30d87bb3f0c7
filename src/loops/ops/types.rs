//! The type rules of operations.

use super::{Attributes, OpResult, TypedCall};
use crate::extents::{self, Align, Before, Bounds};
use crate::loops::network::StaticType;
use crate::tensor::DType;

fn typed(dtype: DType, dims: Vec<Option<usize>>) -> OpResult<StaticType> {
    Ok(StaticType { dtype, dims })
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

pub(crate) fn same(call: &TypedCall) -> OpResult<StaticType> {
    Ok(call.inputs[0].clone())
}

/// The element types that an operand may have: a predicate and the word for messages.
pub(super) type Elements = (fn(DType) -> bool, &'static str);

pub(super) const ANY: Elements = (|_| true, "any type");
pub(super) const FLOATS: Elements = (DType::is_float, "floats");
pub(super) const NUMBERS: Elements = (|dtype| dtype != DType::Bool, "numbers");
pub(super) const LOGICALS: Elements = (|dtype| dtype == DType::Bool, "logicals");

/// Fails unless an operand has one of these element types.
pub(super) fn check_elements(x: &StaticType, (fits, name): Elements) -> Result<(), String> {
    check(fits(x.dtype), || format!("the operand is {x}, not of {name}"))
}

/// The extents that both types are broadcast to, with the last axes aligned.
pub(crate) fn broadcast(a: &StaticType, b: &StaticType) -> Result<Vec<Option<usize>>, String> {
    let misfit = |_| format!("operands of {a} and {b} cannot be broadcast to one shape");
    extents::broadcast(&a.dims, &b.dims, Align::Last).map_err(misfit)
}

/// Two operands and a result of the same element type.
pub(crate) fn alike(call: &TypedCall) -> OpResult<StaticType> {
    let (a, b) = (&call.inputs[0], &call.inputs[1]);
    check(a.dtype == b.dtype, || format!("operands of {a} and {b} have different elements"))?;
    typed(a.dtype, broadcast(a, b)?)
}

pub(crate) fn comparison(call: &TypedCall) -> OpResult<StaticType> {
    Ok(StaticType { dtype: DType::Bool, ..alike(call)? })
}

pub(crate) fn select(call: &TypedCall) -> OpResult<StaticType> {
    let (condition, a, b) = (&call.inputs[0], &call.inputs[1], &call.inputs[2]);
    check(a.dtype == b.dtype, || format!("branches of {a} and {b} have different elements"))?;
    let branches = StaticType { dtype: a.dtype, dims: broadcast(a, b)? };
    typed(a.dtype, broadcast(condition, &branches)?)
}

/// An axis as an index; a negative axis counts from the end.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Result<usize, String> {
    extents::axis(axis, rank).ok_or_else(|| format!("axis {axis} is out of range for {rank} axes"))
}

fn distinct_axes(axes: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    let found = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<Vec<_>, _>>()?;
    extents::distinct(found).ok_or_else(|| "an axis is given twice".to_owned())
}

/// The axes of a reduction in ascending order; all by default.
pub(crate) fn reduced_axes(call_axes: Option<Vec<i64>>, rank: usize) -> Result<Vec<usize>, String> {
    distinct_axes(&call_axes.unwrap_or_else(|| (0..rank as i64).collect()), rank)
}

pub(crate) fn reduce(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let axes = reduced_axes(call.attributes.any_axes(), x.dims.len())?;
    reduced(call, &axes, x.dtype)
}

/// The type of a reduction along ascending axes.
fn reduced(call: &TypedCall, axes: &[usize], dtype: DType) -> OpResult<StaticType> {
    let mut dims = call.inputs[0].dims.clone();
    for &axis in axes.iter().rev() {
        if call.attributes.keep_dims {
            dims[axis] = Some(1);
        } else {
            dims.remove(axis);
        }
    }
    typed(dtype, dims)
}

/// The type of the index of the least or greatest element along one axis, by default axis 0.
pub(crate) fn arg(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let axes = call.attributes.any_axes().unwrap_or_else(|| vec![0]);
    check(axes.len() == 1, || "it takes one axis".to_owned())?;
    let axis = axis_of(axes[0], x.dims.len())?;
    check(x.dims[axis] != Some(0), || format!("axis {axis} of {x} has no elements"))?;
    reduced(call, &[axis], DType::Int64)
}

pub(crate) fn softmax(call: &TypedCall) -> OpResult<StaticType> {
    let axes = call.attributes.any_axes().unwrap_or_else(|| vec![-1]);
    distinct_axes(&axes, call.inputs[0].dims.len())?;
    check_elements(&call.inputs[0], FLOATS)?;
    same(call)
}

/// The extents of an operand of a matrix product, where a vector gets a new axis, and whether it is a vector.
fn matrix(of: &StaticType, swapped: bool, further: usize) -> (Vec<Option<usize>>, bool) {
    let mut dims = of.dims.clone();
    let rank = dims.len();
    if rank == 1 {
        dims.insert(further, Some(1));
    } else if swapped {
        dims.swap(rank - 1, rank - 2);
    }
    (dims, rank == 1)
}

pub(crate) fn matmul(call: &TypedCall) -> OpResult<StaticType> {
    let (a, b) = (&call.inputs[0], &call.inputs[1]);
    check(a.dtype == b.dtype, || format!("operands of {a} and {b} have different elements"))?;
    let misfit = || format!("{a} and {b} cannot be multiplied");
    check(!a.dims.is_empty() && !b.dims.is_empty(), misfit)?;
    let (mut left, row) = matrix(a, call.attributes.transpose_a, 0);
    let (mut right, column) = matrix(b, call.attributes.transpose_b, 1);
    let (inner_a, inner_b) = (left.pop().flatten(), right.remove(right.len() - 2));
    check(inner_a.is_none() || inner_b.is_none() || inner_a == inner_b, misfit)?;
    let (rows, columns) = (left.pop().flatten(), right.pop().flatten());
    let batch = |dims| StaticType { dtype: a.dtype, dims };
    let mut dims = broadcast(&batch(left), &batch(right)).map_err(|_| misfit())?;
    dims.extend((!row).then_some(rows));
    dims.extend((!column).then_some(columns));
    typed(a.dtype, dims)
}

pub(crate) fn gather(call: &TypedCall) -> OpResult<StaticType> {
    let (x, indices) = (&call.inputs[0], &call.inputs[1]);
    let axis = axis_of(call.attributes.axis.unwrap_or(0), x.dims.len())?;
    check(indices.dtype.is_integer(), || format!("the indices are {indices}, not of integers"))?;
    typed(x.dtype, extents::replaced(&x.dims, axis, &indices.dims))
}

pub(crate) fn reshape(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let wanted = call.attributes.shape.as_ref().ok_or("the attribute `shape` is missing")?;
    let extent = |(i, &extent): (usize, &i64)| match extent {
        0 => x.dims.get(i).copied().ok_or_else(|| "a 0 has no extent to copy".to_owned()),
        extent => Ok(usize::try_from(extent).ok()),
    };
    let mut dims = wanted.iter().enumerate().map(extent).collect::<Result<Vec<_>, _>>()?;
    check(wanted.iter().all(|&extent| extent >= -1), || "an extent is negative".to_owned())?;
    let open = wanted.iter().position(|&extent| extent == -1);
    check(wanted.iter().filter(|&&extent| extent == -1).count() < 2, || "two extents are -1".to_owned())?;
    let Some(items) = product(&x.dims) else { return typed(x.dtype, dims) };
    if let Some(open) = open {
        let mut others = dims.clone();
        others.remove(open);
        let others = product(&others).filter(|&others| others > 0);
        let rest = others.filter(|others| items.is_multiple_of(*others)).map(|others| items / others);
        dims[open] = Some(rest.ok_or_else(|| format!("the elements of {x} do not fill the shape"))?);
    }
    check(product(&dims) == Some(items), || format!("the elements of {x} do not fill the shape"))?;
    typed(x.dtype, dims)
}

fn product(dims: &[Option<usize>]) -> Option<usize> {
    dims.iter().try_fold(1usize, |product, extent| product.checked_mul((*extent)?))
}

/// The axis order of a transposition; reversed by default.
pub(crate) fn order(call_axes: Option<&Vec<i64>>, rank: usize) -> Result<Vec<usize>, String> {
    let Some(axes) = call_axes else { return Ok((0..rank).rev().collect()) };
    check(distinct_axes(axes, rank)?.len() == rank, || format!("{axes:?} is not an order of {rank} axes"))?;
    axes.iter().map(|&axis| axis_of(axis, rank)).collect()
}

pub(crate) fn transpose(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let order = order(call.attributes.axes.as_ref(), x.dims.len())?;
    typed(x.dtype, order.iter().map(|&axis| x.dims[axis]).collect())
}

pub(crate) fn squeeze(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let mut dims = x.dims.clone();
    let axes = match call.attributes.any_axes() {
        Some(axes) => distinct_axes(&axes, dims.len())?,
        None => (0..dims.len()).filter(|&axis| dims[axis] == Some(1)).collect(),
    };
    for &axis in axes.iter().rev() {
        let extent = dims.remove(axis);
        check(extent.is_none_or(|extent| extent == 1), || format!("axis {axis} of {x} has another extent than 1"))?;
    }
    typed(x.dtype, dims)
}

pub(crate) fn unsqueeze(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let axes = call.attributes.any_axes().ok_or("the attribute `axes` is missing")?;
    let axes = distinct_axes(&axes, x.dims.len().saturating_add(axes.len()))?;
    let dims = extents::inserted(&x.dims, axes, &Some(1)).map_err(|_| "an axis is given twice")?;
    typed(x.dtype, dims)
}

/// The section of an axis that a slice takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The axis.
    pub(crate) axis: usize,
    /// Where it begins.
    pub(crate) begin: i64,
    /// Where it ends, exclusive.
    pub(crate) end: i64,
    /// Its step, not 0.
    pub(crate) stride: i64,
    /// The number of elements, if the extent is known.
    pub(crate) length: Option<usize>,
}

/// The sections that a slice takes. Begin and end are clamped to the axis, as in Python.
pub(crate) fn sections(attributes: &Attributes, dims: &[Option<usize>]) -> Result<Vec<Section>, String> {
    let begin = attributes.begin.as_ref().ok_or("the attribute `begin` is missing")?;
    let axes = attributes.any_axes().unwrap_or_else(|| (0..begin.len() as i64).collect());
    let Attributes { end, size, stride, .. } = attributes;
    let given = [Some(begin), end.as_ref(), size.as_ref(), stride.as_ref()];
    let fits = given.iter().flatten().all(|given| given.len() == axes.len());
    check(fits, || "the attributes of the slice have different lengths".to_owned())?;
    check(end.is_some() != size.is_some(), || "a slice has either `end` or `size`".to_owned())?;
    let mut found: Vec<Section> = Vec::new();
    for (i, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, dims.len())?;
        check(found.iter().all(|section| section.axis != axis), || "an axis is given twice".to_owned())?;
        let stride = stride.as_ref().map_or(1, |strides| strides[i]);
        check(stride != 0, || "the stride of a slice is 0".to_owned())?;
        let (end, size) = (end.as_ref().map(|end| end[i]), size.as_ref().map(|size| size[i]));
        found.push(section(axis, dims[axis], begin[i], stride, end, size)?);
    }
    Ok(found)
}

fn section(
    axis: usize,
    extent: Option<usize>,
    begin: i64,
    stride: i64,
    end: Option<i64>,
    size: Option<i64>,
) -> Result<Section, String> {
    let Some(extent) = extent.map(|extent| extent as i64) else {
        return Ok(Section { axis, begin, end: 0, stride, length: None });
    };
    let bounds = Bounds { start: begin, end: end.unwrap_or(extent), step: stride };
    let taken = extents::AxisSection::new(bounds, extent, Before::Outside);
    let begin = taken.first;
    if let Some(size) = size {
        let last = size.checked_sub(1).and_then(|more| more.checked_mul(stride)).and_then(|way| way.checked_add(begin));
        let fits = size == 0 || last.is_some_and(|last| (0..extent).contains(&last));
        if size < 0 || !fits || (size > 0 && !(0..extent).contains(&begin)) {
            return Err(format!("a slice of {size} elements from {begin} leaves an axis of {extent}"));
        }
        return Ok(Section { axis, begin, end: begin + size * stride, stride, length: Some(size as usize) });
    }
    Ok(Section { axis, begin, end: taken.end(), stride, length: usize::try_from(taken.count()).ok() })
}

pub(crate) fn slice(call: &TypedCall) -> OpResult<StaticType> {
    let x = &call.inputs[0];
    let mut dims = x.dims.clone();
    for section in sections(call.attributes, &x.dims)? {
        dims[section.axis] = section.length;
    }
    typed(x.dtype, dims)
}

pub(crate) fn concat(call: &TypedCall) -> OpResult<StaticType> {
    let first = &call.inputs[0];
    let axis = axis_of(call.attributes.axis.unwrap_or(0), first.dims.len())?;
    let mut dims = first.dims.clone();
    for other in &call.inputs[1..] {
        let misfit = || format!("{first} and {other} cannot be joined along axis {axis}");
        let mut rest = (first.clone(), other.clone());
        check(other.dims.len() > axis, misfit)?;
        (rest.0.dims[axis], rest.1.dims[axis]) = (None, None);
        check(rest.0.admits(&rest.1), misfit)?;
        dims[axis] = dims[axis].zip(other.dims[axis]).and_then(|(a, b)| a.checked_add(b));
    }
    typed(first.dtype, dims)
}

pub(crate) fn stack(call: &TypedCall) -> OpResult<StaticType> {
    let first = &call.inputs[0];
    let axis = axis_of(call.attributes.axis.unwrap_or(0), first.dims.len() + 1)?;
    for other in &call.inputs[1..] {
        check(first.admits(other), || format!("{first} and {other} cannot be stacked"))?;
    }
    let mut dims = first.dims.clone();
    dims.insert(axis, Some(call.inputs.len()));
    typed(first.dtype, dims)
}

pub(crate) fn cast(call: &TypedCall) -> OpResult<StaticType> {
    let to = call.attributes.to.ok_or("the attribute `to` is missing")?;
    typed(to, call.inputs[0].dims.clone())
}
