//! Axes: counted from the end, as operands, and of softmax.

use super::step::{OpsetStep, Stepped, ints_value};
use crate::extents;
use crate::graph::Element;
use crate::onnx::model::{AttributeValue, Dim as ModelDim, Extent, ShapeProto, TypeForm, ValueInfo};
use crate::onnx::run::dtype_of;
use crate::tensor::Data;

/// An axis that is counted from the first one.
pub(super) fn from_front(axis: i64, rank: i64) -> Stepped<i64> {
    let place = usize::try_from(rank).ok().and_then(|rank| extents::axis(axis, rank));
    place.map(|place| place as i64).ok_or_else(|| format!("there is no axis {axis} of {rank}"))
}

/// Counts the axis in an attribute from the first one, of an operand with more axes than it has.
fn count_axis(step: &mut OpsetStep, more: i64) -> Stepped {
    let axis = step.int("axis", 0)?;
    if axis < 0 {
        let front = from_front(axis, step.rank(0)? + more)?;
        step.put("axis", AttributeValue::Int(front));
    }
    Ok(())
}

/// `axis`
pub(super) fn axis_from_front(step: &mut OpsetStep) -> Stepped {
    count_axis(step, 0)
}

/// `axis` of `OneHot`, which is that of the result; -1 is the default.
pub(super) fn one_hot(step: &mut OpsetStep) -> Stepped {
    if step.integers(0).is_ok_and(|indices| indices.iter().any(|index| *index < 0)) {
        return Err("an index is negative".to_owned());
    }
    if step.int("axis", -1)? == -1 { Ok(()) } else { count_axis(step, 1) }
}

/// `axes`
pub(super) fn axes_from_front(step: &mut OpsetStep) -> Stepped {
    let Some(axes) = step.ints("axes")?.filter(|axes| axes.iter().any(|axis| *axis < 0)) else { return Ok(()) };
    let added = if step.operator() == "Unsqueeze" { axes.len() as i64 } else { 0 };
    let rank = step.rank(0)?.saturating_add(added);
    let front: Vec<i64> = axes.into_iter().map(|axis| from_front(axis, rank)).collect::<Stepped<_>>()?;
    step.put("axes", ints_value(front));
    Ok(())
}

/// The axes of `Slice`
pub(super) fn slice_axes(step: &mut OpsetStep) -> Stepped {
    let Some(axes) = step.optional_integers(3)?.filter(|axes| axes.iter().any(|axis| *axis < 0)) else { return Ok(()) };
    let (rank, element) = (step.rank(0)?, step.element(3)?);
    let front: Vec<i64> = axes.into_iter().map(|axis| from_front(axis, rank)).collect::<Stepped<_>>()?;
    let new = whole(step, &[front.len()], element, front)?;
    step.give(3, new);
    Ok(())
}

/// A constant of integers.
fn whole(
    step: &mut OpsetStep,
    shape: &[usize],
    element: Element,
    items: Vec<i64>,
) -> Stepped<crate::graph::names::NameId> {
    let dtype = dtype_of(element as i32).ok_or("there are no constants of the element type")?;
    step.constant(shape, Data::from_wide(dtype, items.into_iter().map(i128::from)))
}

/// The axis of `Gather`, and its indices: they are not known before the model runs unless they are constants.
pub(super) fn gather(step: &mut OpsetStep) -> Stepped {
    axis_from_front(step)?;
    let Ok(indices) = step.integers(1) else { return Ok(()) };
    if indices.iter().all(|index| *index >= 0) {
        return Ok(());
    }
    let axis = usize::try_from(step.int("axis", 0)?).map_err(|error| error.to_string())?;
    let extent = step.shape(0)?.get(axis).and_then(|extent| extent.known());
    let extent = extent.ok_or("an index is negative, and the extent of the axis is not known")?;
    let front = indices.into_iter().map(|index| from_front(index, extent)).collect::<Stepped<Vec<i64>>>()?;
    let dims: Option<Vec<usize>> = step.shape(1)?.iter().map(|extent| usize::try_from(extent.known()?).ok()).collect();
    let dims = dims.ok_or("the shape of the indices is not known")?;
    let element = step.element(1)?;
    let new = whole(step, &dims, element, front)?;
    step.give(1, new);
    Ok(())
}

/// The axes of `Scan` may be counted from the end.
pub(super) fn scan_axes(step: &mut OpsetStep) -> Stepped {
    for name in ["scan_input_axes", "scan_output_axes"] {
        if step.ints(name)?.is_some_and(|axes| axes.iter().any(|axis| *axis < 0)) {
            return Err(format!("an item of `{name}` is negative"));
        }
    }
    Ok(())
}

/// The branches of `If` had results of one shape.
pub(super) fn branches(step: &mut OpsetStep) -> Stepped {
    let graph = |name: &str| match step.value(name) {
        Ok(Some(AttributeValue::Graph(graph))) => Some(graph),
        _ => None,
    };
    let Some((first, second)) = graph("then_branch").zip(graph("else_branch")) else { return Ok(()) };
    let mut results = first.outputs.iter().zip(&second.outputs);
    match results.any(|(a, b)| shape_of(a).zip(shape_of(b)).is_some_and(|(a, b)| differ(a, b))) {
        true => Err("its branches have results of different shapes".to_owned()),
        false => Ok(()),
    }
}

fn shape_of(value: &ValueInfo) -> Option<&ShapeProto> {
    match &value.ty.as_ref()?.form {
        TypeForm::Tensor(tensor) => tensor.shape.as_ref(),
        _ => None,
    }
}

/// Whether two shapes are known to be others.
fn differ(a: &ShapeProto, b: &ShapeProto) -> bool {
    let are_others = |(a, b): (&ModelDim, &ModelDim)| match (a.extent, b.extent) {
        (Extent::Value(a), Extent::Value(b)) => a != b,
        _ => false,
    };
    a.dims.len() != b.dims.len() || a.dims.iter().zip(&b.dims).any(are_others)
}

/// Makes an attribute with integers an operand.
pub(super) fn to_operand(step: &mut OpsetStep, name: &str, at: usize) -> Stepped {
    if let Some(items) = step.ints(name)? {
        step.take(name)?;
        let list = step.list(&items)?;
        step.give(at, list);
    }
    Ok(())
}

/// Makes an operand with integers an attribute.
pub(super) fn to_attribute(step: &mut OpsetStep, name: &str, at: usize) -> Stepped {
    if let Some(items) = step.optional_integers(at)? {
        step.omit(at);
        step.put(name, ints_value(items));
    }
    Ok(())
}

/// The axes as an operand, and back
pub(super) fn axes_to_operand(step: &mut OpsetStep) -> Stepped {
    to_operand(step, "axes", 1)
}

pub(super) fn axes_to_attribute(step: &mut OpsetStep) -> Stepped {
    to_attribute(step, "axes", 1)
}

/// The axes of a reduction; none or an empty list means all of them.
pub(super) fn reduced_to_operand(step: &mut OpsetStep) -> Stepped {
    if step.ints("axes")?.is_some_and(|axes| axes.is_empty()) {
        step.take("axes")?;
    }
    axes_to_operand(step)
}

/// The reductions that change nothing along no axes.
const KEEPING: &[&str] = &["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"];

pub(super) fn reduced_to_attribute(step: &mut OpsetStep) -> Stepped {
    let keeps_all = step.take_int("noop_with_empty_axes", 0)? != 0;
    if step.optional_integers(1)?.is_some_and(|axes| !axes.is_empty()) {
        return axes_to_attribute(step);
    }
    step.omit(1);
    if keeps_all {
        if !KEEPING.contains(&step.operator()) {
            return Err("it computes items without reducing them, as `noop_with_empty_axes` says".to_owned());
        }
        step.rename("Identity");
        step.node.attributes.clear();
    }
    Ok(())
}

/// Softmax along one axis, of what was softmax along all axes from one on
pub(super) fn softmax_up(step: &mut OpsetStep) -> Stepped {
    let axis = step.take_int("axis", 1)?;
    let operand = step.required(0)?;
    let is_last = step.rank(0).is_ok_and(|rank| if axis < 0 { axis == -1 } else { axis == rank - 1 });
    step.put("axis", AttributeValue::Int(-1));
    if !is_last && axis != -1 {
        let shape = step.add("Shape", &[operand], Vec::new());
        let flat = step.add("Flatten", &[operand], vec![("axis", AttributeValue::Int(axis))]);
        step.give(0, flat);
        step.then(0, "Reshape", &[shape], Vec::new());
    }
    Ok(())
}

/// Softmax along the last axis, which one axis becomes
pub(super) fn softmax_down(step: &mut OpsetStep) -> Stepped {
    let axis = step.take_int("axis", -1)?;
    if axis == -1 && step.rank(0).is_err() {
        step.put("axis", AttributeValue::Int(-1));
        return Ok(());
    }
    let rank = step.rank(0)?;
    let (front, last) = (from_front(axis, rank)?, rank - 1);
    step.put("axis", AttributeValue::Int(last));
    if front != last {
        let mut order: Vec<i64> = (0..rank).collect();
        order.swap(front as usize, last as usize);
        let perm = || vec![("perm", ints_value(order.iter().copied()))];
        let operand = step.required(0)?;
        let moved = step.add("Transpose", &[operand], perm());
        step.give(0, moved);
        step.then(0, "Transpose", &[], perm());
    }
    Ok(())
}

/// The axis of `DFT` as an operand, and back
pub(super) fn dft_up(step: &mut OpsetStep) -> Stepped {
    let axis = step.take_int("axis", 1)?;
    let operand = step.constant(&[], Data::Int64(vec![axis]))?;
    step.give(2, operand);
    Ok(())
}

pub(super) fn dft_down(step: &mut OpsetStep) -> Stepped {
    let axis = match step.optional_integers(2)? {
        Some(axis) => *axis.first().ok_or("there is no axis")?,
        None => -2,
    };
    let front = if axis < 0 { from_front(axis, step.rank(0)?)? } else { axis };
    step.omit(2);
    step.put("axis", AttributeValue::Int(front));
    Ok(())
}

/// Sets the attribute that had no default in the table before, but one in the text.
pub(super) fn concat_axis(step: &mut OpsetStep) -> Stepped {
    if !step.has("axis") {
        step.put("axis", AttributeValue::Int(1));
    }
    Ok(())
}
