//! Operators that move items: reshaping, transposing, joining, dividing, padding.

use super::axes::{axis, marked, place, product};
use super::source::natural;
use crate::extents::{self, ReshapeError, Reshaped};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::infer_call::MAX_ITEMS;

/// The integers of an operand, or of an attribute before the version in which the operand replaced it.
pub(crate) fn listed(call: &InferCall, operand: usize, attribute: &str) -> Option<Vec<i64>> {
    if call.has(operand) { call.integers(operand) } else { call.ints(attribute) }
}

/// The shape that `Reshape` asks for; of what may be -1 nothing is known.
pub(crate) fn asked(call: &InferCall) -> Option<Vec<Option<Dim>>> {
    let target: Vec<Dim> = match call.ints("shape") {
        Some(shape) => shape.into_iter().map(Dim::Int).collect(),
        None => call.items(1)?.to_vec(),
    };
    // An expression may be 0, which copies the extent, but then this is mostly 0 as well.
    let is_clear = |item: &Dim| matches!(item, Dim::Int(_)) || item.is_at_least(0);
    Some(target.into_iter().map(|item| Some(item).filter(is_clear)).collect())
}

/// What `Reshape` makes of the operand: -1 stands for the rest, 0 for the extent of the operand unless `allowzero` is set.
/// None if its shape is not known.
pub(crate) fn rearranged(call: &InferCall, wanted: &[Option<Dim>]) -> Option<Result<Reshaped<Dim>, ReshapeError>> {
    let own: Vec<Option<Dim>> = call.extents(0)?.iter().map(|extent| extent.clone().determined()).collect();
    Some(extents::reshaped(&own, own.len(), wanted, call.int_or("allowzero", 0) == 0, true))
}

/// `Reshape`
pub(crate) fn reshape(call: &mut InferCall) -> Option<()> {
    let Some(wanted) = asked(call) else { return reshape_to_rank(call) };
    let copies = call.int_or("allowzero", 0) == 0;
    let shape = match rearranged(call, &wanted) {
        Some(found) => found.ok()?.extents,
        None => {
            extents::rest(&wanted).ok()?;
            let open = |item: &Dim| matches!(item, Dim::Int(-1)) || copies && *item == Dim::Int(0);
            wanted.into_iter().map(|item| item.filter(|item| !open(item))).collect()
        }
    };
    call.give(0, shape.into_iter().map(Dim::from).collect::<Vec<_>>());
    Some(())
}

/// Only the rank of the result follows from the number of items that the shape has.
fn reshape_to_rank(call: &mut InferCall) -> Option<()> {
    let rank = call.listed_axes(1)?;
    call.give(0, vec![Dim::Unknown; rank]);
    Some(())
}

/// `Flatten`
pub(crate) fn flatten(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    // Behind the last axis is a place too, but negative numbers count from the last axis.
    let at = match call.int_or("axis", 1) {
        number @ 0.. => place(number, extents.len())?,
        number => axis(number, extents.len())?,
    };
    let (lead, rest) = extents.split_at(at);
    let shape = [product(lead), product(rest)];
    call.give(0, shape);
    Some(())
}

/// `Transpose`
pub(crate) fn transpose(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    let rank = extents.len();
    let order = match call.ints("perm") {
        Some(perm) if perm.len() == rank => {
            perm.iter().map(|number| axis(*number, rank)).collect::<Option<Vec<_>>>()?
        }
        Some(_) => return None,
        None => (0..rank).rev().collect(),
    };
    let shape: Vec<Dim> = order.into_iter().map(|at| call.extent(0, at)).collect();
    call.give(0, shape);
    Some(())
}

/// `Squeeze`: without axes, all axes of extent 1.
pub(crate) fn squeeze(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    let shape: Vec<Dim> = if call.has(1) || call.has_attribute("axes") {
        let axes = listed(call, 1, "axes")?;
        // Of no axes onnxruntime removes all extents of 1, other programs none.
        if axes.is_empty() && !extents.iter().all(|extent| extent.is_at_least(2)) {
            return None;
        }
        let marks = marked(&axes, extents.len())?;
        extents.iter().zip(marks).filter(|(_, mark)| !mark).map(|(extent, _)| extent.clone()).collect()
    } else {
        if !extents.iter().all(|extent| matches!(extent, Dim::Int(_)) || extent.is_at_least(2)) {
            return None;
        }
        extents.iter().filter(|extent| **extent != Dim::Int(1)).cloned().collect()
    };
    call.give(0, shape);
    Some(())
}

/// `Unsqueeze`
pub(crate) fn unsqueeze(call: &mut InferCall) -> Option<()> {
    let axes = listed(call, 1, "axes")?;
    let marks = marked(&axes, call.rank(0)?.checked_add(axes.len())?)?;
    if marks.iter().filter(|mark| **mark).count() != axes.len() {
        return None;
    }
    let mut own = call.extents(0)?.iter();
    let shape = marks.iter().map(|mark| if *mark { Some(Dim::Int(1)) } else { own.next().cloned() });
    let shape: Vec<Dim> = shape.collect::<Option<_>>()?;
    call.give(0, shape);
    Some(())
}

/// `Expand`
pub(crate) fn expand(call: &mut InferCall) -> Option<()> {
    let target: Vec<Dim> = match call.items(1) {
        Some(items) => items.iter().map(|item| natural(item.clone())).collect(),
        None => vec![Dim::Unknown; call.listed_axes(1)?],
    };
    let shape = super::axes::broadcast(call.extents(0)?, &target)?;
    call.give(0, shape);
    Some(())
}

/// `Tile`. Before version 6 there is one number of copies and one axis.
pub(crate) fn tile(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    let rank = extents.len();
    let shape: Vec<Dim> = match call.items(1) {
        Some(repeats) if repeats.len() == rank && call.version() >= 6 => {
            extents.iter().zip(repeats.iter()).map(|(extent, times)| extent.clone().times(times.clone())).collect()
        }
        _ => vec![Dim::Unknown; rank],
    };
    call.give(0, shape);
    Some(())
}

/// `Concat`
pub(crate) fn concat(call: &mut InferCall) -> Option<()> {
    let rank = (0..call.operand_count()).find_map(|operand| call.rank(operand))?;
    let default = if call.version() < 4 { 1 } else { 0 };
    let at = axis(call.int_or("axis", default), rank)?;
    let mut shape = vec![Dim::Unknown; rank];
    let mut sum = Dim::Int(0);
    for operand in 0..call.operand_count() {
        let Some(extents) = call.extents(operand) else {
            sum = Dim::Unknown;
            continue;
        };
        if extents.len() != rank {
            return None;
        }
        sum = sum.plus(extents[at].clone());
        for (own, other) in shape.iter_mut().zip(extents) {
            *own = std::mem::replace(own, Dim::Unknown).unify(other.clone()).unwrap_or(Dim::Unknown);
        }
    }
    shape[at] = sum;
    call.give(0, shape);
    Some(())
}

/// The items of `Concat` of tensors of one axis.
pub(crate) fn concat_items(call: &mut InferCall) -> Option<()> {
    let mut items = Vec::new();
    for operand in 0..call.operand_count() {
        match (call.rank(operand)?, call.items(operand), call.extent(operand, 0).known()) {
            (1, Some(own), _) => items.extend(own.iter().cloned()),
            (1, None, Some(length)) if length <= MAX_ITEMS as i64 => {
                items.extend(vec![Dim::Unknown; usize::try_from(length).ok()?]);
            }
            _ => return None,
        }
    }
    call.give_items(0, items);
    Some(())
}

/// The extents of the parts of `Split`.
fn parts(call: &InferCall, extent: &Dim) -> Option<Vec<Dim>> {
    let results = call.result_count();
    if call.has(1) {
        let items = call.items(1)?;
        return Some(items.iter().map(|item| natural(item.clone())).collect());
    }
    if let Some(sizes) = call.ints("split").filter(|sizes| !sizes.is_empty()) {
        return Some(sizes.into_iter().map(Dim::Int).collect());
    }
    let parts = call.int("num_outputs").unwrap_or(i64::try_from(results).ok()?);
    if parts < 1 {
        return None;
    }
    let size = extent.clone().over_up(Dim::Int(parts));
    let last = match extent {
        // Sizes that do not divide the extent are possible from version 18 on: the last part is smaller.
        _ if call.version() < 18 => size.clone(),
        _ => extent.clone().minus(size.clone().times(Dim::Int(parts.checked_sub(1)?))),
    };
    let mut all = vec![size; results];
    if usize::try_from(parts).ok()? == results {
        *all.last_mut()? = last;
    }
    Some(all)
}

/// `Split`
pub(crate) fn split(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let at = axis(call.int_or("axis", 0), shape.len())?;
    let parts = parts(call, &shape[at]);
    for result in 0..call.result_count() {
        shape[at] = parts.as_ref().and_then(|parts| parts.get(result)).cloned().unwrap_or(Dim::Unknown);
        call.give(result, shape.clone());
    }
    Some(())
}

/// The items of the parts of `Split` of a tensor of one axis.
pub(crate) fn split_items(call: &mut InferCall) -> Option<()> {
    let items = call.items(0).filter(|_| call.rank(0) == Some(1))?;
    let mut start = 0usize;
    for result in 0..call.result_count() {
        let length = usize::try_from(call.result_shape(result)?.first()?.known()?).ok()?;
        let end = start.checked_add(length)?;
        call.give_items(result, items.get(start..end)?);
        start = end;
    }
    Some(())
}

/// `Pad`. From version 18 on, only some axes may be padded.
pub(crate) fn pad(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let rank = shape.len();
    let pads: Option<Vec<Dim>> = if call.has(1) {
        call.items(1).map(|items| items.to_vec())
    } else {
        let pads = call.ints("pads").or_else(|| call.ints("paddings"));
        pads.map(|pads| pads.into_iter().map(Dim::Int).collect())
    };
    let axes: Option<Vec<usize>> = if call.has(3) {
        call.integers(3).and_then(|axes| axes.into_iter().map(|number| axis(number, rank)).collect())
    } else {
        Some((0..rank).collect())
    };
    let (Some(pads), Some(axes)) = (pads, axes) else {
        call.give(0, vec![Dim::Unknown; rank]);
        return Some(());
    };
    if pads.len() != axes.len().checked_mul(2)? {
        return None;
    }
    for (i, at) in axes.iter().enumerate() {
        let sum = pads[i].clone().plus(pads[i + axes.len()].clone());
        shape[*at] = natural(shape[*at].clone().plus(sum));
    }
    call.give(0, shape);
    Some(())
}

/// `DepthToSpace`
pub(crate) fn depth_to_space(call: &mut InferCall) -> Option<()> {
    blocks(call, |(channels, extent), block| (channels.over(block.clone()), extent.times(block)))
}

/// `SpaceToDepth`
pub(crate) fn space_to_depth(call: &mut InferCall) -> Option<()> {
    blocks(call, |(channels, extent), block| (channels.times(block.clone()), extent.over(block)))
}

/// Moves items between the channels and each spatial axis, in blocks.
fn blocks(call: &mut InferCall, moved: fn((Dim, Dim), Dim) -> (Dim, Dim)) -> Option<()> {
    let block = Dim::Int(call.int("blocksize").filter(|block| *block > 0)?);
    let mut shape = call.extents(0)?.to_vec();
    let [_, channels, spatial @ ..] = &mut shape[..] else { return None };
    for extent in spatial {
        (*channels, *extent) = moved((channels.clone(), extent.clone()), block.clone());
    }
    call.give(0, shape);
    Some(())
}

/// `CenterCropPad`
pub(crate) fn center_crop_pad(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let rank = shape.len();
    let axes: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes.into_iter().map(|number| axis(number, rank)).collect::<Option<_>>()?,
        None => (0..rank).collect(),
    };
    let sizes = call.items(1);
    for (i, at) in axes.iter().enumerate() {
        let size = sizes.as_ref().and_then(|sizes| sizes.get(i)).cloned().unwrap_or(Dim::Unknown);
        shape[*at] = natural(size);
    }
    call.give(0, shape);
    Some(())
}

/// `Col2Im` builds an image from columns.
pub(crate) fn col2im(call: &mut InferCall) -> Option<()> {
    let axes = [1, 2].into_iter().find_map(|operand| call.listed_axes(operand));
    let axes = axes.or_else(|| call.list_length("strides")).or_else(|| call.list_length("dilations"));
    let axes = axes.or_else(|| Some(call.list_length("pads")? / 2));
    let spatial = match call.items(1) {
        Some(items) => items.iter().map(|item| natural(item.clone())).collect(),
        None => vec![Dim::Unknown; axes?],
    };
    let channels = match call.items(2) {
        Some(block) => call.extent(0, 1).over(product(&block)),
        None => Dim::Unknown,
    };
    let mut shape = vec![call.extent(0, 0), channels];
    shape.extend(spatial);
    call.give(0, shape);
    Some(())
}
