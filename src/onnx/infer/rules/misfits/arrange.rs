//! Operators that move items.

use super::{Misfit, axes_outside, axis_attribute, differ, listed_items, named, not_positive, outside, rank};
use crate::extents::{ReshapeError, rest};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::rules::arrange::{asked, listed, rearranged};
use crate::onnx::infer::rules::axes::{self, axis};

/// A negative item where extents are listed.
pub(super) fn negative(call: &InferCall, operand: usize, least: i64) -> Misfit {
    let items = call.items(operand)?;
    let low = items.iter().filter_map(Dim::known).find(|item| *item < least)?;
    Some(format!("`{}` has the item {low}", call.operand_name(operand)))
}

/// The operand does not have so many items.
pub(super) fn length(call: &InferCall, operand: usize, wanted: usize) -> Misfit {
    // Programs take a single number for a list of one.
    rank(call, operand, if wanted == 1 { 0..=1 } else { 1..=1 }).or_else(|| {
        let length = if call.rank(operand)? == 0 { 1 } else { call.extent(operand, 0).known()? };
        (i64::try_from(wanted) != Ok(length)).then(|| format!("{} has not {wanted} items", named(call, operand)))
    })
}

/// `Expand`: the shape is an operand.
pub(crate) fn expand(call: &InferCall) -> Misfit {
    let both = || {
        let (extents, items) = (call.extents(0)?, call.items(1)?);
        let fits = axes::broadcast(extents, &items).is_some();
        (!fits).then(|| format!("{} cannot be expanded to {}", named(call, 0), crate::onnx::infer::shown(&items)))
    };
    // Programs take a single number for a list of one.
    rank(call, 1, 0..=1).or_else(|| negative(call, 1, 0)).or_else(both)
}

/// `Reshape`: the number of items stays.
pub(crate) fn reshape(call: &InferCall) -> Misfit {
    rank(call, 1, 1..=1).or_else(|| reshaped(call))
}

fn reshaped(call: &InferCall) -> Misfit {
    let wanted = asked(call)?;
    let found = match rearranged(call, &wanted) {
        Some(found) => found.map(|found| found.fits),
        None => rest(&wanted).map(|_| true),
    };
    match found {
        Ok(true) => None,
        Ok(false) => {
            let wanted: Vec<Dim> = wanted.into_iter().map(Dim::from).collect();
            Some(format!("{} cannot have the shape {}", named(call, 0), crate::onnx::infer::shown(&wanted)))
        }
        Err(ReshapeError::Rests) => Some("more than one extent is -1".to_owned()),
        Err(ReshapeError::Negative(low)) => Some(format!("an extent is {low}")),
        Err(ReshapeError::Copied(_)) => Some(format!("an extent that {} does not have is 0", named(call, 0))),
    }
}

/// `Squeeze`: an axis that is removed has one item.
pub(crate) fn squeeze(call: &InferCall) -> Misfit {
    let (own, listed) = (call.extents(0)?, listed(call, 1, "axes")?);
    let longer = |number: &i64| {
        let extent = own.get(axis(*number, own.len())?)?.known()?;
        (extent != 1).then(|| format!("the axis {number} of {} is not 1", named(call, 0)))
    };
    // An axis that is given twice is removed once.
    listed.iter().find_map(|number| outside(*number, own.len()).or_else(|| longer(number)))
}

/// `Unsqueeze`
pub(crate) fn unsqueeze(call: &InferCall) -> Misfit {
    let (own, listed) = (call.rank(0)?, listed(call, 1, "axes")?);
    axes_outside(&listed, own + listed.len())
}

/// `Transpose`
pub(crate) fn transpose(call: &InferCall) -> Misfit {
    let (rank, perm) = (call.rank(0)?, call.ints("perm")?);
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    let fits = perm.len() == rank && sorted.iter().zip(0..).all(|(at, wanted)| *at == wanted);
    (!fits).then(|| format!("`perm` is {perm:?}, which does not order the axes of {}", named(call, 0)))
}

/// `Concat`: all extents but that of the axis are the same.
pub(crate) fn concat(call: &InferCall) -> Misfit {
    // onnxruntime joins operands without items to any.
    let has_items = |i: &usize| call.extents(*i).is_some_and(|extents| axes::product(extents) != Dim::Int(0));
    let mut known = (0..call.operand_count()).filter(has_items);
    let first = known.next()?;
    let default = if call.version() < 4 { Some(1) } else { None };
    let rank = call.rank(first)?;
    let number = call.int("axis").or(default)?;
    let at = axis(number, rank);
    let fits = |other: &usize| {
        let (a, b) = (call.extents(first).unwrap_or_default(), call.extents(*other).unwrap_or_default());
        a.len() == b.len() && a.iter().zip(b).enumerate().all(|(i, (a, b))| Some(i) == at || !differ(a, b))
    };
    outside(number, rank).or_else(|| {
        let other = known.find(|other| !fits(other))?;
        Some(format!("{} and {} cannot be joined along the axis {number}", named(call, first), named(call, other)))
    })
}

/// `Split`
pub(crate) fn split(call: &InferCall) -> Misfit {
    let number = call.int_or("axis", 0);
    let extent = call.rank(0).and_then(|rank| Some(call.extent(0, axis(number, rank)?))).unwrap_or(Dim::Unknown);
    let results = call.result_count();
    let misfit = || {
        let sizes = if call.has(1) { call.integers(1) } else { call.ints("split").filter(|sizes| !sizes.is_empty()) };
        let Some(sizes) = sizes else { return if call.has(1) { None } else { evenly(call, &extent) } };
        if sizes.len() != results {
            return Some(format!("there are {} sizes and {results} results", sizes.len()));
        }
        let sum = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add(*size));
        let fits = !differ(&Dim::from(sum), &extent);
        (!fits).then(|| format!("the sizes {sizes:?} are not those of the axis {number} of {}", named(call, 0)))
    };
    axis_attribute(call, 0, Some(0))
        .or_else(|| not_positive(call, "num_outputs"))
        .or_else(|| negative(call, 1, 0))
        .or_else(misfit)
}

/// A division into parts of one size: before version 18 there is no smaller last part.
fn evenly(call: &InferCall, extent: &Dim) -> Misfit {
    let results = i64::try_from(call.result_count()).ok()?;
    let parts = call.int("num_outputs").unwrap_or(results);
    if parts != results {
        return Some(format!("`num_outputs` is {parts}, the node has {results} results"));
    }
    let uneven = call.version() < 18 && extent.known()?.checked_rem(parts) != Some(0);
    uneven.then(|| format!("{} cannot be divided into {parts} equal parts", named(call, 0)))
}

/// `Tile`. Before version 6 there is one number of copies and one axis.
pub(crate) fn tile(call: &InferCall) -> Misfit {
    if call.version() < 6 {
        return None;
    }
    rank(call, 1, 1..=1).or_else(|| length(call, 1, call.rank(0)?)).or_else(|| negative(call, 1, 0))
}

/// `Pad`
pub(crate) fn pad(call: &InferCall) -> Misfit {
    let rank_of_data = call.rank(0);
    let axes = if call.has(3) { call.integers(3).map(|axes| axes.len()) } else { rank_of_data };
    let bad_axes = || axes_outside(&call.integers(3)?, rank_of_data?);
    let attribute = || {
        let pads = call.ints("pads").or_else(|| call.ints("paddings"))?;
        (pads.len() != rank_of_data? * 2).then(|| format!("`pads` has {} items for {}", pads.len(), named(call, 0)))
    };
    let cropped = || {
        let (extents, pads) = (call.extents(0)?, call.integers(1).or_else(|| call.ints("pads"))?);
        let axes = if call.has(3) { call.integers(3)? } else { (0..).take(extents.len()).collect() };
        let left = axes.iter().enumerate().find_map(|(i, number)| {
            let extent = extents.get(axis(*number, extents.len())?)?.known()?;
            let (before, after) = (pads.get(i)?, pads.get(i + axes.len())?);
            let sum = extent.checked_add(*before)?.checked_add(*after)?;
            (sum < 0).then_some(number)
        })?;
        Some(format!("more is removed from the axis {left} of {} than it has", named(call, 0)))
    };
    rank(call, 1, 1..=1)
        .or_else(bad_axes)
        .or_else(|| length(call, 1, axes? * 2))
        .or_else(|| if call.has(1) { None } else { attribute() })
        .or_else(cropped)
}

/// `Flatten`
pub(crate) fn flatten(call: &InferCall) -> Misfit {
    let (number, rank) = (call.int_or("axis", 1), i64::try_from(call.rank(0)?).ok()?);
    let least = if call.version() < 11 { 0 } else { -rank };
    (number < least || number > rank).then(|| format!("there is no axis {number} of {}", named(call, 0)))
}

/// `DepthToSpace`
pub(crate) fn depth_to_space(call: &InferCall) -> Misfit {
    let square = || call.int("blocksize")?.checked_mul(call.int("blocksize")?);
    not_positive(call, "blocksize").or_else(|| rank(call, 0, 4..=4)).or_else(|| divided(call, 1, square()?))
}

/// `SpaceToDepth`
pub(crate) fn space_to_depth(call: &InferCall) -> Misfit {
    let block = call.int("blocksize");
    not_positive(call, "blocksize")
        .or_else(|| rank(call, 0, 4..=4))
        .or_else(|| (2..call.rank(0)?).find_map(|at| divided(call, at, block?)))
}

/// An extent is no multiple.
fn divided(call: &InferCall, at: usize, by: i64) -> Misfit {
    let rest = call.extent(0, at).known()?.checked_rem(by);
    (rest != Some(0)).then(|| format!("the axis {at} of {} is not divided by {by}", named(call, 0)))
}

/// `CenterCropPad`
pub(crate) fn center_crop_pad(call: &InferCall) -> Misfit {
    let axes = call.ints("axes");
    let count = || axes.as_ref().map(Vec::len).or(call.rank(0));
    axes.as_ref()
        .zip(call.rank(0))
        .and_then(|(axes, rank)| axes_outside(axes, rank))
        // Programs repeat a single extent.
        .or_else(|| if call.extent(1, 0) == Dim::Int(1) { None } else { length(call, 1, count()?) })
}

/// `Resize`, `Upsample`
pub(crate) fn resize(call: &InferCall) -> Misfit {
    let rank_of_data = call.rank(0);
    let axes = call.ints("axes");
    let count = axes.as_ref().map(Vec::len).or(rank_of_data);
    let (scales, sizes) = if call.version() < 11 { (1, None) } else { (2, Some(3)) };
    // An operand without items stands for one that is left out. Programs count the items, in any rank.
    let fits = |operand: usize| {
        let (wanted, items) = (i64::try_from(count?).ok()?, axes::product(call.extents(operand)?).known()?);
        (items != 0 && items != wanted).then(|| format!("{} has not {wanted} items", named(call, operand)))
    };
    sizes
        .and_then(|sizes| one_of_two(call, scales, sizes))
        .or_else(|| axes_outside(axes.as_ref()?, rank_of_data?))
        .or_else(|| fits(scales))
        .or_else(|| fits(sizes?))
        .or_else(|| call.floats(scales)?.iter().find(|scale| **scale <= 0.0).map(|low| format!("a scale is {low}")))
        .or_else(|| {
            let has_items = axes::product(call.extents(0)?).known().is_some_and(|items| items > 0);
            if has_items { negative(call, sizes?, 1) } else { None }
        })
}

/// Both of two operands are given, or none.
fn one_of_two(call: &InferCall, a: usize, b: usize) -> Misfit {
    let is_given = |operand: usize| call.has(operand) && differ(&call.extent(operand, 0), &Dim::Int(0));
    let is_left_out = |operand: usize| !call.has(operand) || call.extent(operand, 0) == Dim::Int(0);
    let both = (is_given(a) && is_given(b)).then_some("both scales and sizes are given");
    let none = || (is_left_out(a) && is_left_out(b)).then_some("neither scales nor sizes are given");
    both.or_else(none).map(str::to_owned)
}

/// `GridSample`
pub(crate) fn grid_sample(call: &InferCall) -> Misfit {
    let differs = || {
        let differs = call.rank(0)? != call.rank(1)?;
        differs.then(|| format!("{} and {} have different ranks", named(call, 0), named(call, 1)))
    };
    let coordinates = || {
        let rank = call.rank(1)?;
        let wanted = Dim::from(i64::try_from(rank - 2).ok());
        differ(&call.extent(1, rank - 1), &wanted)
            .then(|| format!("{} has no coordinates for {rank} axes", named(call, 1)))
    };
    rank(call, 0, 3..=usize::MAX)
        .or_else(|| rank(call, 1, 3..=usize::MAX))
        .or_else(differs)
        .or_else(coordinates)
        .or_else(|| super::same(call, &[(0, 0), (1, 0)]))
}

/// `AffineGrid`
pub(crate) fn affine_grid(call: &InferCall) -> Misfit {
    let count = || {
        let length = call.extent(1, 0).known()?;
        (length != 4 && length != 5).then(|| format!("{} has not 4 or 5 items", named(call, 1)))
    };
    rank(call, 0, 3..=3).or_else(|| rank(call, 1, 1..=1)).or_else(count).or_else(|| negative(call, 1, 0))
}

/// `ReverseSequence`
pub(crate) fn reverse_sequence(call: &InferCall) -> Misfit {
    let batch = usize::try_from(call.int_or("batch_axis", 1)).ok();
    rank(call, 0, 2..=usize::MAX).or_else(|| rank(call, 1, 1..=1)).or_else(|| super::same(call, &[(0, batch?), (1, 0)]))
}

/// `Compress`: programs take the items of a condition of any rank.
pub(crate) fn compress(call: &InferCall) -> Misfit {
    axis_attribute(call, 0, None)
}

/// `Col2Im`
pub(crate) fn col2im(call: &InferCall) -> Misfit {
    let positive = || negative(call, 2, 1);
    let lists = || {
        let axes = [1, 2].into_iter().find_map(|operand| usize::try_from(call.extent(operand, 0).known()?).ok())?;
        let list = |name| listed_items(call, name, &[axes]);
        list("strides").or_else(|| list("dilations")).or_else(|| listed_items(call, "pads", &[axes.checked_mul(2)?]))
    };
    rank(call, 0, 3..=3)
        .or_else(|| rank(call, 1, 1..=1))
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(|| super::same(call, &[(1, 0), (2, 0)]))
        .or_else(lists)
        .or_else(positive)
}
