//! Operators that change the shape of a tensor, and leave its items.

use crate::eval::kernels::Triangle;
use crate::eval::{EvalError, MAX_RANK};
use crate::extents::{self, AxisSection, Before, Bounds, ReshapeError, from_start, inserted, is_order};
use crate::graph::border::Border;
use crate::onnx::run::broadcast::{common, repeated};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::value::TENSOR;
use crate::tensor::{Data, Tensor, strides};

/// The operand itself.
pub(in crate::onnx) fn identity(call: &NodeCall) -> KernelResult {
    Ok(vec![call.value(0)?.clone()])
}

/// The items with another shape.
pub(in crate::onnx) fn reshape(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let wanted = match call.version {
        ..5 => call.ints("shape")?.unwrap_or_default(),
        _ => call.list(1)?,
    };
    let own: Vec<Option<i64>> = x.shape().iter().map(|extent| i64::try_from(*extent).ok()).collect();
    let wanted: Vec<Option<i64>> = wanted.into_iter().map(Some).collect();
    let shape = extents::reshaped(&own, own.len(), &wanted, !call.flag("allowzero", false)?, false);
    let shape = shape.map_err(|error| {
        call.misfit(match error {
            ReshapeError::Rests => "two extents are -1".to_owned(),
            ReshapeError::Negative(extent) => format!("an extent is {extent}"),
            ReshapeError::Copied(_) => "an extent of 0 has no axis to copy".to_owned(),
        })
    })?;
    // What remains of no items is nothing.
    let extent = |extent: Option<i64>| extent.and_then(|extent| usize::try_from(extent).ok()).unwrap_or(0);
    let shape: Vec<usize> = shape.extents.into_iter().map(extent).collect();
    call.room(&shape)?;
    one(x.reshaped(&shape)?)
}

/// All axes before one as the first, those from it on as the second.
pub(in crate::onnx) fn flatten(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = match call.int_or("axis", 1)? {
        axis if axis == x.rank() as i64 => x.rank(),
        axis => call.axis(axis, x.rank())?,
    };
    let shape: [usize; 2] = [x.shape()[..axis].iter().product(), x.shape()[axis..].iter().product()];
    call.room(&shape)?;
    one(x.reshaped(&shape)?)
}

/// The axes of an operator: an operand from version 13 on, an attribute before.
fn axes_of(call: &NodeCall) -> Result<Option<Vec<i64>>, EvalError> {
    if call.version < 13 { call.ints("axes") } else { call.optional_list(1) }
}

/// Without axes of extent 1.
pub(in crate::onnx) fn squeeze(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let gone = match axes_of(call)? {
        Some(axes) => call.axes(&axes, x.rank())?,
        None => (0..x.rank()).filter(|&axis| x.shape()[axis] == 1).collect(),
    };
    if let Some(axis) = gone.iter().find(|axis| x.shape()[**axis] != 1) {
        return Err(call.misfit(format!("axis {axis} has extent {}, not 1", x.shape()[*axis])));
    }
    let shape: Vec<usize> = (0..x.rank()).filter(|axis| !gone.contains(axis)).map(|axis| x.shape()[axis]).collect();
    call.room(&shape)?;
    one(x.reshaped(&shape)?)
}

/// With new axes of extent 1.
pub(in crate::onnx) fn unsqueeze(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axes = axes_of(call)?.ok_or_else(|| call.refused("there are no axes"))?;
    let rank = x.rank() + axes.len();
    let new = call.axes_or_all(Some(axes), rank)?;
    let shape = inserted(x.shape(), new, &1).ok().filter(|_| rank <= MAX_RANK);
    let shape = shape.ok_or_else(|| call.misfit("an axis is given twice, or there are too many axes"))?;
    call.room(&shape)?;
    one(x.reshaped(&shape)?)
}

/// The axes in another order, by default the reverse.
pub(in crate::onnx) fn transpose(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let order = match call.ints("perm")?.filter(|order| !order.is_empty() || x.rank() == 0) {
        Some(order) => order.iter().map(|&axis| call.axis(axis, x.rank())).collect::<Result<Vec<_>, _>>()?,
        None => (0..x.rank()).rev().collect(),
    };
    if !is_order(&order, x.rank()) {
        return Err(call.misfit(format!("{order:?} is not an order of {} axes", x.rank())));
    }
    call.room(x.shape())?;
    one(x.transposed(&order))
}

/// A shape that an operand has: extents that are not negative.
pub(in crate::onnx) fn natural_extents(call: &NodeCall, wanted: &[i64]) -> Result<Vec<usize>, EvalError> {
    let extents: Option<Vec<usize>> = wanted.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let extents = extents.filter(|extents| extents.len() <= MAX_RANK);
    extents.ok_or_else(|| call.misfit("the shape has negative extents, or too many"))
}

/// Broadcast to a shape, and to its own extents.
pub(in crate::onnx) fn expand(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let wanted = natural_extents(call, &call.list(1)?)?;
    let shape = common(&[x.shape(), &wanted])?;
    one(repeated(call, x, &shape)?.into_owned())
}

/// Repeated along each axis.
pub(in crate::onnx) fn tile(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let repeats = match call.version {
        ..6 => {
            let axis = call.axis(call.single(2)?, x.rank())?;
            let mut repeats = vec![1; x.rank()];
            repeats[axis] = call.single(1)?;
            repeats
        }
        _ => call.list(1)?,
    };
    let repeats = natural_extents(call, &repeats)?;
    if repeats.len() != x.rank() {
        return Err(call.misfit(format!("{} repetitions for a rank of {}", repeats.len(), x.rank())));
    }
    let shape = x.shape().iter().zip(&repeats).map(|(extent, times)| extent.saturating_mul(*times));
    call.room(&shape.collect::<Vec<_>>())?;
    one(x.taken(&x.repeated(&repeats), 0.0))
}

/// Tensors one after another along an axis.
pub(in crate::onnx) fn concat(call: &NodeCall) -> KernelResult {
    let parts = call.tensors()?;
    one(joined(call, &parts.iter().map(|part| &***part).collect::<Vec<_>>(), call.int_or("axis", 1)?)?)
}

/// Tensors one after another along an axis.
pub(super) fn joined(call: &NodeCall, parts: &[&Tensor], axis: i64) -> Result<Tensor, EvalError> {
    let first = parts.first().ok_or_else(|| call.refused("there is nothing to join"))?;
    let axis = call.axis(axis, first.rank())?;
    for part in parts {
        call.room(part.shape())?;
    }
    Tensor::joined(parts, axis).ok_or_else(|| {
        let shapes: Vec<_> = parts.iter().take(8).map(|part| part.shape()).collect();
        call.misfit(format!("tensors of the shapes {shapes:?} are not joined along axis {axis}"))
    })
}

/// The lengths of equal parts along an axis; the last ones may be shorter.
fn parts(extent: usize, count: usize) -> Vec<usize> {
    let size = extent.div_ceil(count.max(1));
    (0..count).map(|i| size.min(extent.saturating_sub(i * size))).collect()
}

/// Parts along an axis.
pub(in crate::onnx) fn split(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    let given = if call.version < 13 && call.version > 1 {
        call.ints("split")?
    } else {
        match call.optional_list(1)? {
            None => call.ints("split")?,
            given => given,
        }
    };
    let lengths = match given.filter(|given| !given.is_empty()) {
        Some(given) => extents_of_parts(call, &given)?,
        None => {
            let count = usize::try_from(call.int_or("num_outputs", call.results() as i64)?).unwrap_or(0);
            if count == 0 || count > x.shape()[axis].max(call.results()) {
                return Err(call.misfit(format!("{count} parts of an extent of {}", x.shape()[axis])));
            }
            parts(x.shape()[axis], count)
        }
    };
    Ok(sections(call, x, axis, &lengths)?.into_iter().map(Into::into).collect())
}

pub(super) fn extents_of_parts(call: &NodeCall, given: &[i64]) -> Result<Vec<usize>, EvalError> {
    let lengths: Option<Vec<usize>> = given.iter().map(|&length| usize::try_from(length).ok()).collect();
    lengths.ok_or_else(|| call.misfit("the length of a part is negative"))
}

/// Sections of these lengths along an axis, which they fill.
pub(super) fn sections(call: &NodeCall, x: &Tensor, axis: usize, lengths: &[usize]) -> Result<Vec<Tensor>, EvalError> {
    let total = lengths.iter().try_fold(0usize, |sum, length| sum.checked_add(*length));
    if total != Some(x.shape()[axis]) {
        return Err(call.misfit(format!("parts of the lengths {lengths:?} of an extent of {}", x.shape()[axis])));
    }
    call.room(x.shape())?;
    call.budget.memory(lengths.len().saturating_mul(TENSOR), "the parts of a tensor")?;
    let mut first = 0;
    let section = |&length: &usize| {
        first += length;
        x.section(axis, first - length, length)
    };
    Ok(lengths.iter().map(section).collect())
}

/// Ranges along axes, with steps.
pub(in crate::onnx) fn slice(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let (starts, ends, axes, steps) = match call.version {
        ..10 => {
            let required = |name: &str| call.ints(name)?.ok_or_else(|| call.refused(format!("`{name}` is missing")));
            (required("starts")?, required("ends")?, call.ints("axes")?, None)
        }
        _ => (call.list(1)?, call.list(2)?, call.optional_list(3)?, call.optional_list(4)?),
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(call.misfit("the numbers of starts, ends, axes and steps differ"));
    }
    let mut along = x.places();
    for (i, &axis) in axes.iter().enumerate() {
        let axis = call.axis(axis, x.rank())?;
        along[axis] = range(call, Bounds { start: starts[i], end: ends[i], step: steps[i] }, x.shape()[axis])?;
    }
    call.room(&along.iter().map(Vec::len).collect::<Vec<_>>())?;
    one(x.taken(&along, 0.0))
}

/// The indices from a start on to an end, which are counted from the end of the axis if they are negative.
fn range(call: &NodeCall, bounds: Bounds, extent: usize) -> Result<Vec<Option<usize>>, EvalError> {
    match bounds.step {
        0 => Err(call.refused("a step is 0")),
        // A start before the first item is the first one, unlike in Python.
        _ => Ok(AxisSection::new(bounds, extent as i64, Before::First).places().map(Some).collect()),
    }
}

/// With items before and after along axes: a constant, or items of the tensor.
pub(in crate::onnx) fn pad(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let name = if call.version < 2 { "paddings" } else { "pads" };
    let (pads, fill, axes) = match call.version {
        ..11 => {
            let fill = call.rounded(x.dtype(), &[], [call.float_or("value", 0.0)?])?;
            (call.ints(name)?.unwrap_or_default(), fill, None)
        }
        _ => {
            let fill = match call.optional(2)? {
                Some(fill) if fill.len() == 1 && fill.dtype() == x.dtype() => fill.reshaped(&[])?,
                Some(fill) => {
                    return Err(call.misfit(format!("{} items of type {} to pad with", fill.len(), fill.dtype())));
                }
                None => Tensor::with(&[], Data::zeros(x.dtype(), 1))?,
            };
            (call.list(1)?, fill, call.optional_list(3)?)
        }
    };
    let axes = call.axes_or_all(axes, x.rank())?;
    if pads.len() != 2 * axes.len() {
        return Err(call.misfit(format!("{} paddings for {} axes", pads.len(), axes.len())));
    }
    let mode = call.text_or("mode", "constant")?;
    let mut all: Vec<[i64; 2]> = vec![[0; 2]; x.rank()];
    for (i, &axis) in axes.iter().enumerate() {
        all[axis] = [pads[i], pads[i + axes.len()]];
    }
    let lengths = x.shape().iter().zip(&all).map(|(&extent, [before, after])| {
        usize::try_from((extent as i64).saturating_add(*before).saturating_add(*after))
            .map_err(|_| call.misfit("the paddings cut off more than there is"))
    });
    let shape = lengths.collect::<Result<Vec<_>, _>>()?;
    call.room(&shape)?;
    call.room(&shape)?;
    let mut along: Vec<Vec<Option<usize>>> = Vec::new();
    for ((&extent, [before, after]), &length) in x.shape().iter().zip(&all).zip(&shape) {
        // What is cut off is gone before anything is added.
        let cut = (-*before).max(0);
        let left = (extent as i64).saturating_sub(cut).saturating_sub((-*after).max(0)).max(0);
        let source = |i: usize| {
            let place = padded(&mode, i as i64 - (*before).max(0), left)?;
            Some(place.map(|place| place + cut as usize))
        };
        along.push(
            (0..length)
                .map(source)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| call.refused(format!("the mode `{mode}` of an extent of {extent}")))?,
        );
    }
    // The fill value is beside the items.
    let with_fill = {
        let mut data = x.data().clone();
        data.append(fill.data());
        data
    };
    let outside = x.len();
    one(Tensor::with(&shape, with_fill.pick(x.linear(&along).into_iter().map(|place| place.unwrap_or(outside))))?)
}

/// The index of the item that stands at a place outside of an axis: none within for a constant; no result for modes that
/// are not known, or an axis without items.
fn padded(mode: &str, at: i64, extent: i64) -> Option<Option<usize>> {
    let border = match mode {
        "constant" => Border::Constant(()),
        "edge" => Border::Replicate,
        "reflect" => Border::Reflect,
        "wrap" => return at.checked_rem_euclid(extent).map(|at| Some(at as usize)),
        _ => return None,
    };
    let place = border.place(at, extent as usize);
    (place.is_some() || !border.repeats()).then_some(place)
}

/// The upper or lower triangles of matrices.
pub(in crate::onnx) fn triangle(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let [.., rows, columns] = x.shape() else { return Err(call.misfit("the operand is not a matrix")) };
    let diagonal = call.optional_list(1)?.and_then(|list| list.first().copied()).unwrap_or(0);
    let triangle = Triangle { rows: *rows, columns: *columns, diagonal, upper: call.flag("upper", true)? };
    call.room(x.shape())?;
    let mut data = x.data().clone();
    let outside: Vec<usize> = (0..x.len()).filter(|at| !triangle.has(*at)).collect();
    data.put(&outside, &Data::zeros(x.dtype(), 1), |_| 0);
    one(Tensor::with(x.shape(), data)?)
}

/// Blocks of channels as blocks of pixels.
pub(in crate::onnx) fn depth_to_space(call: &NodeCall) -> KernelResult {
    let (x, block) = (call.tensor(0)?, block(call)?);
    let [batch, channels, rest @ ..] = x.shape() else { return Err(call.misfit("the operand has no channels")) };
    let spatial = rest.len() as u32;
    let blocks = block.checked_pow(spatial).filter(|blocks| channels.is_multiple_of(*blocks));
    let blocks = blocks.ok_or_else(|| call.misfit(format!("{channels} channels in blocks of {block}")))?;
    let depth = channels / blocks;
    let columns_first = call.text_or("mode", "DCR")? == "CRD";
    let sizes = std::iter::repeat_n(block, rest.len());
    let mut split = vec![*batch];
    if columns_first {
        split.push(depth);
        split.extend(sizes);
    } else {
        split.extend(sizes);
        split.push(depth);
    }
    split.extend(rest);
    let (first_block, channel) = if columns_first { (2, 1) } else { (1, 1 + rest.len()) };
    let mut order = vec![0, channel];
    (0..rest.len()).for_each(|i| order.extend([2 + rest.len() + i, first_block + i]));
    let shape: Vec<usize> =
        [*batch, depth].into_iter().chain(rest.iter().map(|extent| extent.saturating_mul(block))).collect();
    call.room(&shape)?;
    one(x.reshaped(&split)?.transposed(&order).reshaped(&shape)?)
}

fn block(call: &NodeCall) -> Result<usize, EvalError> {
    let block = usize::try_from(call.int_or("blocksize", 0)?).ok().filter(|block| *block > 0);
    block.ok_or_else(|| call.refused("`blocksize` is not positive"))
}

/// Blocks of pixels as blocks of channels.
pub(in crate::onnx) fn space_to_depth(call: &NodeCall) -> KernelResult {
    let (x, block) = (call.tensor(0)?, block(call)?);
    let [batch, channels, rest @ ..] = x.shape() else { return Err(call.misfit("the operand has no channels")) };
    if let Some(extent) = rest.iter().find(|extent| !extent.is_multiple_of(block)) {
        return Err(call.misfit(format!("an extent of {extent} in blocks of {block}")));
    }
    let split = [*batch, *channels].into_iter().chain(rest.iter().flat_map(|extent| [extent / block, block]));
    let split: Vec<usize> = split.collect();
    let blocks = rest.iter().fold(1usize, |all, _| all.saturating_mul(block));
    let depth = channels.saturating_mul(blocks);
    let shape: Vec<usize> = [*batch, depth].into_iter().chain(rest.iter().map(|extent| extent / block)).collect();
    call.room(&shape)?;
    // The columns of blocks come before the channels, as in the mode DCR of the reverse, or behind them.
    let mut order: Vec<usize> = [0].into_iter().chain((0..rest.len()).map(|i| 3 + 2 * i)).collect();
    order.insert(if call.text_or("mode", "DCR")? == "CRD" { 1 } else { order.len() }, 1);
    order.extend((0..rest.len()).map(|i| 2 + 2 * i));
    one(x.reshaped(&split)?.transposed(&order).reshaped(&shape)?)
}

/// Sequences of a batch, each reversed up to its length.
pub(in crate::onnx) fn reverse_sequence(call: &NodeCall) -> KernelResult {
    let (x, lengths) = (call.tensor(0)?, call.list(1)?);
    let time = call.axis(call.int_or("time_axis", 0)?, x.rank())?;
    let batch = call.axis(call.int_or("batch_axis", 1)?, x.rank())?;
    if time == batch || lengths.len() != x.shape()[batch] {
        return Err(call.misfit(format!("{} lengths for the shape {:?}", lengths.len(), x.shape())));
    }
    let steps = strides(x.shape());
    let (time_step, batch_step, extent) = (steps[time], steps[batch], x.shape()[time]);
    call.room(x.shape())?;
    let source = |at: usize| {
        let (instant, sequence) = (at / time_step % extent, at / batch_step % x.shape()[batch]);
        let length = usize::try_from(lengths[sequence]).unwrap_or(0).min(extent);
        if instant < length { at - instant * time_step + (length - 1 - instant) * time_step } else { at }
    };
    one(Tensor::with(x.shape(), x.data().pick((0..x.len()).map(source)))?)
}

/// The shape, or a range of its axes.
pub(in crate::onnx) fn shape(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let rank = x.rank() as i64;
    let counted = |at: i64| from_start(at, rank).clamp(0, rank) as usize;
    let (start, end) = (counted(call.int_or("start", 0)?), counted(call.int_or("end", i64::MAX)?));
    let extents: Vec<i64> = x.shape().get(start..end).unwrap_or_default().iter().map(|extent| *extent as i64).collect();
    one(Tensor::integers(&[extents.len()], extents)?)
}

/// The number of items.
pub(in crate::onnx) fn size(call: &NodeCall) -> KernelResult {
    one(Tensor::integers(&[], vec![call.tensor(0)?.len() as i64])?)
}
