//! Operators that change the shape or the order of items.

use crate::extents::from_start;
use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::emit::{integers, pairs, text};
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome, counts, empty};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::{axes_of, each_axis, for_axes, product};
use crate::tensor::Tensor;

/// The extents of the operand, or of a range of its axes.
pub(in crate::onnx::to_nnef) fn shape(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let rank = extents.len() as i64;
    let bound = |at: i64| from_start(at, rank).clamp(0, rank) as usize;
    let (start, end) = (bound(line.int("start", 0)?), bound(line.int("end", rank)?));
    let items = extents.get(start..end.max(start)).unwrap_or_default().to_vec();
    let tensor = Tensor::integers(&[items.len()], items).map_err(|_| NodeRefusal::UNFIT)?;
    Ok(vec![NnefOutcome::Known(tensor.into())])
}

/// The number of items of the operand.
pub(in crate::onnx::to_nnef) fn size(line: &mut NodeLine) -> NodeResults {
    let count = product(&line.shape(0)?)?;
    let tensor = Tensor::integers(&[], vec![count]).map_err(|_| NodeRefusal::UNFIT)?;
    Ok(vec![NnefOutcome::Known(tensor.into())])
}

/// The extents that a list asks for: -1 is what is left, and 0 the extent of the operand at this place.
fn asked(own: &[i64], wanted: &[i64], keeps_zeros: bool) -> Lowered<Vec<i64>> {
    let kept = |(i, extent): (usize, &i64)| match extent {
        0 if !keeps_zeros => own.get(i).copied().ok_or(NodeRefusal::UNFIT),
        extent => Ok(*extent),
    };
    let mut extents = wanted.iter().enumerate().map(kept).collect::<Lowered<Vec<i64>>>()?;
    if let Some(open) = extents.iter().position(|extent| *extent == -1) {
        let others: Vec<i64> = extents.iter().copied().filter(|extent| *extent != -1).collect();
        extents[open] = product(own)?.checked_div(product(&others)?).ok_or(NodeRefusal::UNFIT)?;
    }
    Ok(extents)
}

pub(in crate::onnx::to_nnef) fn reshape(line: &mut NodeLine) -> NodeResults {
    let wanted = match line.ints("shape")? {
        Some(wanted) if line.version < 5 => wanted,
        _ => line.list(1)?.ok_or(NodeRefusal::because("it has no shape"))?,
    };
    let extents = asked(&line.shape(0)?, &wanted, line.flag("allowzero", false)?)?;
    let x = line.flat(0)?;
    one(line.emit.reshaped(x, &extents)?)
}

pub(in crate::onnx::to_nnef) fn flatten(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let rank = extents.len() as i64;
    let axis = line.int("axis", 1)?;
    let at = usize::try_from(from_start(axis, rank)).map_err(|_| NodeRefusal::UNFIT)?;
    let (outer, inner) = extents.split_at_checked(at).ok_or(NodeRefusal::UNFIT)?;
    let extents = [product(outer)?, product(inner)?];
    let x = line.flat(0)?;
    one(line.emit.reshaped(x, &extents)?)
}

pub(in crate::onnx::to_nnef) fn squeeze(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let ones = || extents.iter().enumerate().filter(|(_, extent)| **extent == 1).map(|(axis, _)| axis).collect();
    let axes = line.axes(1, extents.len())?.unwrap_or_else(ones);
    let x = line.flat(0)?;
    one(line.emit.squeeze(x, &axes)?)
}

pub(in crate::onnx::to_nnef) fn unsqueeze(line: &mut NodeLine) -> NodeResults {
    let given = line.ints_or("axes", 1)?.ok_or(NodeRefusal::because("it has no axes"))?;
    let axes = axes_of(&given, line.rank(0)?.saturating_add(given.len()))?;
    let x = line.flat(0)?;
    one(line.emit.with_axes(x, axes.into_iter().map(|axis| axis as i64))?)
}

pub(in crate::onnx::to_nnef) fn transpose(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?;
    let axes = match line.ints("perm")? {
        Some(axes) => each_axis(&axes, rank)?,
        None => (0..rank).rev().collect(),
    };
    let x = line.flat(0)?;
    one(line.emit.transpose(x, &axes)?)
}

pub(in crate::onnx::to_nnef) fn concat(line: &mut NodeLine) -> NodeResults {
    let axis = line.axis(1, line.rank(0)?)?;
    let mut parts = Vec::new();
    for i in 0..line.count() {
        if line.shape(i)?.get(axis) != Some(&0) {
            parts.push(line.flat(i)?);
        }
    }
    match &parts[..] {
        [] => Ok(vec![NnefOutcome::Operand(0)]),
        parts => one(line.emit.concatenated(parts, axis as i64)?),
    }
}

/// The extents of the parts of a split.
fn parts(line: &NodeLine, extent: i64) -> Lowered<Vec<i64>> {
    if let Some(given) = line.ints_or("split", 1)? {
        return Ok(given);
    }
    let outputs = line.attributes.node.outputs.len() as i64;
    let count = line.int("num_outputs", outputs)?;
    if count < 1 || count > outputs {
        return Err(NodeRefusal::from(format!("it has {outputs} results, and `num_outputs` is {count}")));
    }
    let each = extent.checked_add(count - 1).and_then(|all| all.checked_div(count)).ok_or(NodeRefusal::UNFIT)?;
    Ok((0..count).map(|i| (extent - i.saturating_mul(each)).clamp(0, each)).collect())
}

pub(in crate::onnx::to_nnef) fn split(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let axis = line.axis(0, extents.len())?;
    let sizes = parts(line, extents[axis])?;
    if sizes.iter().any(|size| *size < 0)
        || sizes.iter().try_fold(0i64, |all, size| all.checked_add(*size)) != Some(extents[axis])
    {
        return Err(NodeRefusal::UNFIT);
    }
    let x = line.flat(0)?;
    // `split` of NNEF has ratios, which are the extents.
    if sizes.len() > 1 && !sizes.contains(&0) {
        let arguments = [Value::Tensor(x.id), Value::Int(axis as i64), integers(sizes.iter().copied())];
        let parts = line.emit.add_array("split", arguments, x.dtype, sizes.len())?;
        return Ok(parts.into_iter().map(NnefOutcome::FlatTensor).collect());
    }
    let mut results = Vec::new();
    let mut begin = 0;
    for size in sizes {
        results.push(match size {
            0 => {
                let mut shape = extents.clone();
                shape[axis] = 0;
                empty(&shape, x.dtype)?
            }
            size => line.emit.part_of(x, axis as i64, begin..begin + size)?.into(),
        });
        begin += size;
    }
    Ok(results)
}

/// The operand repeated to a shape that both are broadcast to.
pub(in crate::onnx::to_nnef) fn expand(line: &mut NodeLine) -> NodeResults {
    let wanted = line.list(1)?.ok_or(NodeRefusal::because("it has no shape"))?;
    let own = line.shape(0)?;
    let rank = own.len().max(wanted.len());
    let x = if own.is_empty() && rank > 0 {
        let x = line.flat(0)?;
        line.emit.reshaped(x, &for_axes(rank, 1))?
    } else {
        line.raised(0, rank)?
    };
    let longer = |list: &[i64]| [for_axes(rank - list.len(), 1), list.to_vec()].concat();
    let repeats = longer(&own).into_iter().zip(longer(&wanted)).map(|(own, wanted)| match own {
        1 => Ok(wanted),
        own if own == wanted || wanted == 1 => Ok(1),
        _ => Err(NodeRefusal::UNFIT),
    });
    let repeats = repeats.collect::<Lowered<Vec<i64>>>()?;
    tiled(line, x, &repeats)
}

pub(in crate::onnx::to_nnef) fn tile(line: &mut NodeLine) -> NodeResults {
    let repeats = line.list(1)?.ok_or(NodeRefusal::because("it has no repeats"))?;
    let x = line.flat(0)?;
    tiled(line, x, &repeats)
}

/// A tensor repeated along its axes, maybe not once.
fn tiled(line: &mut NodeLine, x: FlatTensor, repeats: &[i64]) -> NodeResults {
    if repeats.contains(&0) {
        let extents = line.emit.extents(x)?;
        let extents: Lowered<Vec<i64>> =
            extents.iter().zip(repeats).map(|(own, repeat)| product(&[*own, *repeat])).collect();
        return one(empty(&extents?, x.dtype)?);
    }
    one(line.emit.tile(x, repeats)?)
}

/// The batch, channels and spatial extents of an operand with two spatial axes.
fn picture(line: &NodeLine) -> Lowered<[i64; 4]> {
    <[i64; 4]>::try_from(line.shape(0)?).map_err(|_| NodeRefusal::RANK)
}

pub(in crate::onnx::to_nnef) fn depth_to_space(line: &mut NodeLine) -> NodeResults {
    let ([n, c, h, w], size) = (picture(line)?, line.int("blocksize", 0)?);
    let depth = c.checked_div(product(&[size, size])?).ok_or(NodeRefusal::UNFIT)?;
    let (extents, axes) = match line.text("mode", "DCR")?.as_str() {
        "CRD" => ([n, depth, size, size, h, w], [0, 1, 4, 2, 5, 3]),
        "DCR" => ([n, size, size, depth, h, w], [0, 3, 4, 1, 5, 2]),
        _ => return Err(NodeRefusal::because("its mode is not known")),
    };
    let x = line.flat(0)?;
    one(line.emit.shuffled(x, &extents, &axes, &[n, depth, product(&[h, size])?, product(&[w, size])?])?)
}

pub(in crate::onnx::to_nnef) fn space_to_depth(line: &mut NodeLine) -> NodeResults {
    let ([n, c, h, w], size) = (picture(line)?, line.int("blocksize", 0)?);
    let blocks = |extent: i64| extent.checked_div(size).ok_or(NodeRefusal::UNFIT);
    let (rows, columns) = (blocks(h)?, blocks(w)?);
    let x = line.flat(0)?;
    let axes = match line.text("mode", "DCR")?.as_str() {
        "CRD" => [0, 1, 3, 5, 2, 4],
        "DCR" => [0, 3, 5, 1, 2, 4],
        _ => return Err(NodeRefusal::because("its mode is not known")),
    };
    let extents = [n, product(&[c, size, size])?, rows, columns];
    one(line.emit.shuffled(x, &[n, c, rows, size, columns, size], &axes, &extents)?)
}

/// Items that are added before and after each axis; negative numbers remove items.
fn padding(line: &NodeLine, rank: usize) -> Lowered<Vec<(i64, i64)>> {
    let given = match line.version < 11 {
        true => line.ints("pads")?,
        false => line.list(1)?,
    };
    let given = given.ok_or(NodeRefusal::because("it has no padding"))?;
    let axes = match line.list(3)? {
        Some(axes) => each_axis(&axes, rank)?,
        None => (0..rank).collect(),
    };
    if given.len() != 2 * axes.len() {
        return Err(NodeRefusal::UNFIT);
    }
    let mut all = for_axes(rank, (0, 0));
    let (before, after) = given.split_at(axes.len());
    for ((axis, before), after) in axes.into_iter().zip(before).zip(after) {
        all[axis] = (*before, *after);
    }
    Ok(all)
}

pub(in crate::onnx::to_nnef) fn pad(line: &mut NodeLine) -> NodeResults {
    let mut x = line.flat(0)?;
    let mut all = padding(line, line.rank(0)?)?;
    for (axis, (before, after)) in all.iter_mut().enumerate() {
        let extent = line.emit.extents(x)?[axis];
        let (begin, end) = ((-*before).max(0), extent - (-*after).max(0));
        if (*before < 0 || *after < 0) && begin >= end {
            return Err(NodeRefusal::because("it removes all items of an axis; tensors of NNEF have items"));
        }
        x = line.emit.part_of(x, axis as i64, begin..end)?;
        (*before, *after) = ((*before).max(0), (*after).max(0));
    }
    if all.iter().all(|pair| *pair == (0, 0)) {
        return if x == line.flat(0)? { Ok(vec![NnefOutcome::Operand(0)]) } else { one(x) };
    }
    let replicate = if line.emit.has_registries() { "replicated" } else { "replicate" };
    let border = match line.text("mode", "constant")?.as_str() {
        "constant" => "constant",
        "reflect" => "reflect",
        "edge" => replicate,
        "wrap" => return one(wrapped(line, x, &all)?),
        _ => return Err(NodeRefusal::because("its mode is not known")),
    };
    let value = match line.version < 11 {
        true => Some(line.float("value", 0.0)?),
        false if line.has(2) => line.single(2).map(|value| value.data().float(0)),
        false => Some(0.0),
    };
    let mut arguments = vec![pairs(all.iter().copied()), text(border)];
    match value.filter(|value| value.is_finite()) {
        _ if border != "constant" => {}
        Some(0.0) => {}
        Some(value) => arguments.push(Value::Scalar(value)),
        None => {
            let x = line.emit.on("pad", x, arguments)?;
            return one(filled(line, x, &all)?);
        }
    }
    one(line.emit.on("pad", x, arguments)?)
}

/// Replaces what was added around the operand by a value that is not known or not finite.
fn filled(line: &mut NodeLine, x: FlatTensor, padding: &[(i64, i64)]) -> Lowered<FlatTensor> {
    let extents = line.emit.extents(x)?;
    let shape = counts(&extents)?;
    let mut inner = line.emit.filled(&shape, true)?;
    let mut step = inner.len();
    for (extent, (before, after)) in extents.iter().zip(padding) {
        step /= (*extent as usize).max(1);
        let kept = *before..extent - after;
        let at = |i: usize| (i / step.max(1)) as i64 % extent;
        inner.iter_mut().enumerate().for_each(|(i, inner)| *inner &= kept.contains(&at(i)));
    }
    let mask = line.emit.own_constant(Tensor::logicals(&shape, inner).map_err(|_| NodeRefusal::UNFIT)?)?;
    let value = line.flat(2)?;
    let value = line.emit.reshaped(value, &[])?;
    line.emit.formula("select(@0,@1,@2)", &[mask, x, value])
}

/// Repeats the operand around itself.
fn wrapped(line: &mut NodeLine, mut x: FlatTensor, padding: &[(i64, i64)]) -> Lowered<FlatTensor> {
    for (axis, (before, after)) in padding.iter().enumerate() {
        let extent = line.emit.extents(x)?[axis];
        if *before > extent || *after > extent {
            return Err(NodeRefusal::because("it repeats an axis more than once on a side"));
        }
        let mut parts = Vec::new();
        if *before > 0 {
            parts.push(line.emit.part_of(x, axis as i64, extent - before..extent)?);
        }
        parts.push(x);
        if *after > 0 {
            parts.push(line.emit.part_of(x, axis as i64, 0..*after)?);
        }
        x = line.emit.concatenated(&parts, axis as i64)?;
    }
    Ok(x)
}
