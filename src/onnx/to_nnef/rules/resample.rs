//! Resampling. It is linear along each axis, so that the operator applied to an identity matrix gives the weights of
//! each result: a selection of items where each has one weight, and else a product of matrices.

use std::sync::Arc;

use super::quantization::rounded;
use super::selection::taken;
use crate::eval::{Method, taps};
use crate::graph::Value;
use crate::graph::border::Border;
use crate::library::assembly::Assembly;
use crate::onnx::model::{AttributeValue, NodeProto};
use crate::onnx::to_nnef::emit::{integers, text};
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::{each_axis, for_axes};
use crate::tensor::{DType, Data, Tensor};

/// How an axis is resampled: by a factor, or to an extent.
#[derive(Clone, Copy)]
enum Target {
    Factor(f32),
    Extent(i64),
}

/// The targets of all axes; none for those that stay.
fn targets(line: &NodeLine, rank: usize) -> Lowered<Vec<Option<Target>>> {
    let axes = match line.ints("axes")? {
        Some(axes) => each_axis(&axes, rank)?,
        None => (0..rank).collect(),
    };
    let given = |i: usize| line.constant(i).is_none_or(|items| items.len() > 0) && line.has(i);
    let factors = |numbers: Vec<f64>| numbers.into_iter().map(|number| Target::Factor(number as f32)).collect();
    let list: Vec<Target> = if let Some(scales) = line.attributes.read::<Vec<f32>>("scales")? {
        scales.into_iter().map(Target::Factor).collect()
    } else if line.version < 11 {
        factors(line.numbers(1)?.ok_or(NodeRefusal::UNFIT)?)
    } else if given(2) {
        factors(line.numbers(2)?.ok_or(NodeRefusal::UNFIT)?)
    } else {
        line.list(3)?.ok_or(NodeRefusal::UNFIT)?.into_iter().map(Target::Extent).collect()
    };
    if list.len() != axes.len() {
        return Err(NodeRefusal::UNFIT);
    }
    let mut all = for_axes(rank, None);
    axes.into_iter().zip(list).for_each(|(axis, target)| all[axis] = Some(target));
    Ok(all)
}

/// The node with the attributes that apply to one axis of a matrix.
fn node_of_axis(line: &NodeLine, factor: Option<f32>) -> NodeProto {
    let text =
        |name: Option<crate::source::names::Name>| name.map_or("", |name| line.attributes.names.texts.text(name));
    let mut node = line.attributes.node.clone();
    node.attributes.retain(|attribute| text(attribute.name) != "axes");
    if let Some(factor) = factor {
        let scales = node.attributes.iter_mut().filter(|attribute| text(attribute.name) == "scales");
        scales.for_each(|scales| scales.value = AttributeValue::Floats(vec![factor, 1.0]));
    }
    node
}

/// The weights of the items of an axis in each item of the result, as a matrix.
fn weights(line: &NodeLine, of: DType, extent: i64, target: Target) -> Lowered<Tensor> {
    let count = usize::try_from(extent).map_err(|_| NodeRefusal::UNFIT)?;
    let mut items = line.emit.filled(&[count, count], 0.0)?;
    items.iter_mut().step_by(count.saturating_add(1)).for_each(|item| *item = 1.0);
    let of = if of == DType::Float64 { of } else { DType::Float32 };
    let items = Data::from_floats(of, items.into_iter());
    let identity = Tensor::new(&[count, count], items).ok_or(NodeRefusal::UNFIT)?;
    let (scales, sizes, factor) = match target {
        Target::Factor(factor) => (Tensor::new(&[2], Data::Float32(vec![factor, 1.0])), None, Some(factor)),
        Target::Extent(size) => (None, Tensor::integers(&[2], vec![size, extent]).ok(), None),
    };
    let (scales, sizes) = (scales.map(Arc::new), sizes.map(Arc::new));
    let operands = match (line.version < 11, line.attributes.read::<Vec<f32>>("scales")?.is_some()) {
        (_, true) => vec![Some(Arc::new(identity))],
        (true, false) => vec![Some(Arc::new(identity)), scales],
        (false, false) => vec![Some(Arc::new(identity)), None, scales, sizes],
    };
    let results = line.computed(&node_of_axis(line, factor), &operands)?;
    results.into_iter().next().map(Arc::unwrap_or_clone).ok_or(NodeRefusal::UNFIT)
}

/// The item that each result is equal to, if that is so.
fn single(weights: &Tensor) -> Option<Vec<i64>> {
    let &[rows, columns] = weights.shape() else { return None };
    let item = |row: usize| {
        let mut found = (0..columns).filter(|column| weights.data().float(row * columns + column) != 0.0);
        let only = found.next().filter(|column| weights.data().float(row * columns + column) == 1.0)?;
        found.next().is_none().then_some(only as i64)
    };
    (0..rows).map(item).collect()
}

pub(in crate::onnx::to_nnef) fn resize(line: &mut NodeLine) -> NodeResults {
    if line.text("coordinate_transformation_mode", "")? == "tf_crop_and_resize" {
        return Err(NodeRefusal::because("it crops the operand"));
    }
    if line.text("keep_aspect_ratio_policy", "stretch")? != "stretch" {
        return Err(NodeRefusal::because("it keeps the ratio of the extents"));
    }
    let rank = line.rank(0)?;
    let targets = targets(line, rank)?;
    let mut x = line.flat(0)?;
    let before = x;
    let mut matrices: Vec<Option<Tensor>> = for_axes(rank, None);
    for (axis, target) in targets.into_iter().enumerate() {
        let extent = line.emit.extents(x)?[axis];
        let same = match target {
            None | Some(Target::Factor(1.0)) => true,
            Some(Target::Extent(size)) => size == extent,
            Some(Target::Factor(_)) => false,
        };
        if let Some(target) = target.filter(|_| !same) {
            matrices[axis] = Some(weights(line, x.dtype, extent, target)?);
        }
    }
    if let Some(resampled) = at_once(line, x, &matrices)? {
        return one(resampled);
    }
    for (axis, weights) in matrices.into_iter().enumerate() {
        if let Some(weights) = weights {
            if x.dtype.is_integer() && single(&weights).is_none() {
                x = line.emit.cast(x, DType::Float32)?;
            }
            x = along(line, x, axis, &weights)?;
        }
    }
    match () {
        () if x == before => Ok(vec![NnefOutcome::Operand(0)]),
        () if x.dtype == before.dtype => one(x),
        () => rounded(line, x, None, before.dtype),
    }
}

/// Resamples along an axis.
fn along(line: &mut NodeLine, x: FlatTensor, axis: usize, weights: &Tensor) -> Lowered<FlatTensor> {
    let &[rows, columns] = weights.shape() else { return Err(NodeRefusal::UNFIT) };
    if let Some(items) = single(weights) {
        return taken(line, x, axis, &[rows], items);
    }
    let leading = std::iter::repeat_n(1, line.emit.rank(x)?.saturating_sub(2));
    let shape: Vec<usize> = leading.chain([rows, columns]).collect();
    let matrix = line.emit.own_constant(weights.reshaped(&shape).map_err(|_| NodeRefusal::UNFIT)?)?;
    line.emit.weighted(x, axis as i64, matrix)
}

/// The factor, if each item is repeated equally often.
fn repeated(items: &[i64], columns: usize) -> Option<i64> {
    let factor = items.len().checked_div(columns).filter(|factor| factor * columns == items.len() && *factor > 1)?;
    let follows = items.iter().enumerate().all(|(i, item)| (i / factor) as i64 == *item);
    follows.then_some(factor as i64)
}

/// The step, if each result is the first one of as many items.
fn strided(items: &[i64], columns: usize) -> Option<i64> {
    let step = columns.checked_div(items.len()).filter(|step| step * items.len() == columns && *step > 1)? as i64;
    (0..).zip(items).all(|(i, item)| *item == i * step).then_some(step)
}

/// Whether weights are those of an interpolation by a whole factor, within the rounding of a float.
fn interpolates(weights: &Tensor, method: Method) -> Option<i64> {
    let &[rows, columns] = weights.shape() else { return None };
    let factor = rows.checked_div(columns).filter(|factor| factor * columns == rows && *factor > 1)?;
    let row = |row: usize| {
        let taps = taps(method.position(row, rows, columns as f64), columns, Border::Replicate);
        let wanted = |column| taps.iter().filter(|tap| tap.0 == Some(column)).map(|tap| tap.1).sum::<f64>();
        (0..columns).all(|column| (weights.data().float(row * columns + column) - wanted(column)).abs() < 1e-6)
    };
    (0..rows).all(row).then_some(factor as i64)
}

/// Resamples along all axes by one operation of the standard, if there is one.
fn at_once(line: &mut NodeLine, x: FlatTensor, matrices: &[Option<Tensor>]) -> Lowered<Option<FlatTensor>> {
    let spatial = matrices.get(2..).unwrap_or_default();
    let outer = matrices.iter().take(2).any(Option::is_some);
    if x.dtype.is_integer() || line.emit.has_registries() || outer || spatial.iter().all(Option::is_none) {
        return Ok(None);
    }
    // The factors of all axes, if each is of a kind.
    let factors = |of: &dyn Fn(&Tensor) -> Option<i64>| -> Option<Value> {
        let factor = |matrix: &Option<Tensor>| matrix.as_ref().map_or(Some(1), of);
        Some(integers(spatial.iter().map(factor).collect::<Option<Vec<i64>>>()?))
    };
    let selected =
        |matrix: &Tensor, of: fn(&[i64], usize) -> Option<i64>| of(&single(matrix)?, *matrix.shape().get(1)?);
    for (operation, of) in [("nearest_upsample", repeated as fn(&[i64], usize) -> _), ("nearest_downsample", strided)] {
        if let Some(factors) = factors(&|matrix| selected(matrix, of)) {
            return line.emit.on(operation, x, [factors]).map(Some);
        }
    }
    for (name, method) in
        [("symmetric", Method::Symmetric), ("asymmetric", Method::Asymmetric), ("aligned", Method::Aligned)]
    {
        if let Some(factors) = factors(&|matrix| interpolates(matrix, method)) {
            let arguments = [factors, text(name), text("replicate")];
            return line.emit.on("multilinear_upsample", x, arguments).map(Some);
        }
    }
    Ok(None)
}
