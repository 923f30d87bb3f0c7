//! Operations that arrange elements anew.

use super::Attributes;
use super::types::{axis_of, order};
use crate::loops::network::Type;
use crate::tensor::{Data, Tensor};

type Outcome = Result<Data, String>;

/// The part of an axis that a slice takes.
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
    /// How many elements it has, where the extent is known.
    pub(crate) length: Option<usize>,
}

/// The parts that a slice takes: ends are moved into the axis, as Python does.
pub(crate) fn sections(attributes: &Attributes, dims: &[Option<usize>]) -> Result<Vec<Section>, String> {
    let begin = attributes.begin.as_ref().ok_or("the attribute `begin` is missing")?;
    let axes = attributes.any_axes().unwrap_or_else(|| (0..begin.len() as i64).collect());
    let given = |values: &Option<Vec<i64>>| values.as_ref().is_none_or(|values| values.len() == axes.len());
    let complete = attributes.end.is_some() != attributes.size.is_some();
    if begin.len() != axes.len() || !given(&attributes.end) || !given(&attributes.size) || !given(&attributes.stride) {
        return Err("the attributes of the slice have different lengths".to_owned());
    }
    if !complete {
        return Err("a slice has either `end` or `size`".to_owned());
    }
    let mut found: Vec<Section> = Vec::new();
    for (i, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, dims.len())?;
        if found.iter().any(|section| section.axis == axis) {
            return Err("an axis is given twice".to_owned());
        }
        let stride = attributes.stride.as_ref().map_or(1, |strides| strides[i]);
        if stride == 0 {
            return Err("the stride of a slice is 0".to_owned());
        }
        let end = attributes.end.as_ref().map(|end| end[i]);
        let size = attributes.size.as_ref().map(|size| size[i]);
        found.push(section(axis, dims[axis], begin[i], end, size, stride)?);
    }
    Ok(found)
}

fn section(
    axis: usize,
    extent: Option<usize>,
    begin: i64,
    end: Option<i64>,
    size: Option<i64>,
    stride: i64,
) -> Result<Section, String> {
    let Some(extent) = extent.map(|extent| extent as i64) else {
        return Ok(Section { axis, begin, end: 0, stride, length: None });
    };
    let (low, high) = if stride > 0 { (0, extent) } else { (-1, extent - 1) };
    let inside = |at: i64| if at < 0 { at.saturating_add(extent) } else { at }.clamp(low, high);
    let begin = inside(begin);
    if let Some(size) = size {
        let last = size.checked_sub(1).and_then(|more| more.checked_mul(stride)).and_then(|way| way.checked_add(begin));
        let fits = size == 0 || last.is_some_and(|last| (0..extent).contains(&last));
        if size < 0 || !fits || (size > 0 && !(0..extent).contains(&begin)) {
            return Err(format!("a slice of {size} elements from {begin} leaves an axis of {extent}"));
        }
        return Ok(Section { axis, begin, end: begin + size * stride, stride, length: Some(size as usize) });
    }
    let end = inside(end.unwrap_or(extent));
    let way = if stride > 0 { end - begin } else { begin - end };
    let length = way.max(0).unsigned_abs().div_ceil(stride.unsigned_abs()) as usize;
    Ok(Section { axis, begin, end, stride, length: Some(length) })
}

pub(crate) fn slice(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let [x] = inputs else { return Err("it takes one operand".to_owned()) };
    let dims: Vec<Option<usize>> = x.shape().iter().map(|&extent| Some(extent)).collect();
    let mut along = x.places();
    for section in sections(attributes, &dims)? {
        let index = |i: usize| usize::try_from(section.begin + i as i64 * section.stride).ok();
        along[section.axis] = (0..section.length.unwrap_or(0)).map(index).collect();
    }
    Ok(x.taken(&along, 0.0).into_data())
}

/// A negative index counts from the end.
pub(crate) fn gather(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let [x, indices] = inputs else { return Err("it takes two operands".to_owned()) };
    let axis = axis_of(attributes.axis.unwrap_or(0), x.shape().len())?;
    let extent = x.shape()[axis];
    let index = |i: usize| {
        let wanted = indices.data().integer(i);
        let counted = if wanted < 0 { wanted.checked_add(extent as i64) } else { Some(wanted) };
        let found = counted.and_then(|i| usize::try_from(i).ok()).filter(|&i| i < extent);
        found.map(Some).ok_or_else(|| format!("index {wanted} is outside an axis of {extent}"))
    };
    let mut along = x.places();
    along[axis] = (0..indices.data().len()).map(index).collect::<Result<_, _>>()?;
    Ok(x.taken(&along, 0.0).into_data())
}

pub(crate) fn transpose(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let [x] = inputs else { return Err("it takes one operand".to_owned()) };
    Ok(x.transposed(&order(attributes.axes.as_ref(), x.rank())?).into_data())
}

pub(crate) fn concat(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let Some(first) = inputs.first() else { return Err("it takes at least one operand".to_owned()) };
    join(inputs, axis_of(attributes.axis.unwrap_or(0), first.rank())?)
}

pub(crate) fn stack(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let Some(first) = inputs.first() else { return Err("it takes at least one operand".to_owned()) };
    let axis = axis_of(attributes.axis.unwrap_or(0), first.rank() + 1)?;
    let wide: Vec<Tensor> = inputs.iter().map(|input| input.unsqueezed(axis)).collect();
    join(&wide.iter().collect::<Vec<_>>(), axis)
}

fn join(inputs: &[&Tensor], axis: usize) -> Outcome {
    let joined = Tensor::joined(inputs, axis).map(Tensor::into_data);
    joined.ok_or_else(|| "the operands do not fit together".to_owned())
}
