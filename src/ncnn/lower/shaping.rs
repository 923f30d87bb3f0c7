//! Layers that move items, reduce axes, pad and resample.

use std::ops::Range;

use super::{LayerLine, LayerRuleRow};
use crate::extents::from_start;
use crate::graph::{TensorId, Value};
use crate::library::assembly::{Assembly, integers, pairs};
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["Concat"], concat),
    (&["Slice"], slice),
    (&["Reshape"], reshape),
    (&["Flatten"], flatten),
    (&["Permute"], permute),
    (&["Squeeze"], squeeze),
    (&["ExpandDims"], expand),
    (&["Crop"], crop),
    (&["CopyTo"], copied),
    (&["Padding"], pad),
    (&["Tile"], tile),
    (&["Softmax"], softmax),
    (&["Reduction"], reduction),
    (&["PixelShuffle"], |line| shuffled(line, "F.pixel_shuffle", "upscale_factor")),
    (&["Reorg"], |line| shuffled(line, "F.pixel_unshuffle", "stride")),
    (&["ShuffleChannel"], shuffle),
    (&["Interp"], resample),
];

/// What stands for an extent, an end or a number of items that follows from the others.
const OPEN: i64 = -233;

/// A number that counts from the end if it is negative.
fn from_end(number: i64, count: i64) -> Option<i64> {
    let number = from_start(number, count);
    (0..=count).contains(&number).then_some(number)
}

/// An axis of a tensor.
pub(super) fn axis(line: &LayerLine, name: &str, number: i64, rank: usize) -> Lowered<usize> {
    let axis = from_end(number, rank as i64).filter(|axis| *axis < rank as i64);
    axis.map(|axis| axis as usize).ok_or_else(|| line.unsupported(name, &format!("an axis of {rank}")))
}

fn concat(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let operands = line.operands.clone();
    let rank = line.to.extents(*operands.first().ok_or(Refusal::UNFIT)?)?.len();
    let axis = axis(line, "axis", line.integer("axis")?, rank)?;
    // All have an axis for the batch, or none has.
    let batched: Option<Vec<TensorId>> = operands.iter().map(|operand| line.batched.get(operand).copied()).collect();
    match batched {
        Some(batched) => {
            let y = line.to.concatenated(&batched, (axis as i64).saturating_add(1))?;
            Ok(vec![line.unbatch(y)?])
        }
        None => Ok(vec![line.to.concatenated(&operands, axis as i64)?]),
    }
}

fn slice(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let extents = line.to.extents(x)?;
    let axis = axis(line, "axis", line.integer("axis")?, extents.len())?;
    let extent = extents.get(axis).copied().ok_or(Refusal::UNFIT)?;
    let (sizes, ends) = (line.integers("slices")?, line.integers("indices")?);
    let count = line.settings.layer.tops.len();
    let (mut begin, mut parts) = (0i64, Vec::new());
    for at in 0..count {
        let rest = extent.checked_sub(begin).ok_or(Refusal::UNFIT)?;
        let left = i64::try_from(count.saturating_sub(at)).unwrap_or(i64::MAX);
        let end = if ends.is_empty() {
            let size = match *sizes.get(at).ok_or_else(|| line.unsupported("slices", "a number for each result"))? {
                OPEN => rest.checked_div(left).ok_or(Refusal::UNFIT)?,
                size => size,
            };
            begin.checked_add(size).ok_or(Refusal::UNFIT)?
        } else if left == 1 {
            extent
        } else {
            let end = *ends.get(at).ok_or_else(|| line.unsupported("indices", "a number for each result but one"))?;
            from_end(end, extent).ok_or(Refusal::UNFIT)?
        };
        parts.push(line.to.part_of(x, axis as i64, begin..end)?);
        begin = end;
    }
    Ok(parts)
}

fn reshape(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = *line.operands.first().ok_or(Refusal::UNFIT)?;
    let own = line.to.extents(x)?;
    let [before, behind] = ["input_batch_axis", "output_batch_axis"].map(|name| line.integer(name));
    let [before, behind] = [before?, behind?];
    let mut shape = asked(line)?;
    if shape.is_empty() || line.operands.len() > 1 && line.given("shape_expr").is_none() {
        return Err(line.unsupported("w", "extents of the result"));
    }
    let total = line.to.count(&own)?;
    if before == NO_BATCH && behind == NO_BATCH {
        let letters = if shape.len() == 4 { "cdhw" } else { "chw" };
        let skipped = letters.len().checked_sub(shape.len()).ok_or(Refusal::UNFIT)?;
        for (extent, letter) in shape.iter_mut().zip(letters.chars().skip(skipped)) {
            // An extent of the operand by its letter.
            *extent = if *extent == 0 { line.extent(0, letter).unwrap_or(1) } else { *extent };
        }
        return filled(line, x, total, shape);
    }
    // With places of the batch, all axes are counted with it. A blob has a batch of 1.
    let mut whole = own;
    if before != NO_BATCH {
        let at = axis(line, "input_batch_axis", before, whole.len().saturating_add(1))?;
        whole.insert(at, 1);
    }
    for (extent, known) in shape.iter_mut().zip(&whole) {
        *extent = if *extent == 0 { *known } else { *extent };
    }
    let y = filled(line, x, total, shape)?;
    if behind == NO_BATCH {
        return Ok(y);
    }
    let y = *y.first().ok_or(Refusal::UNFIT)?;
    let extents = line.to.extents(y)?;
    let at = axis(line, "output_batch_axis", behind, extents.len())?;
    line.require("output_batch_axis", extents.get(at) == Some(&1) && extents.len() > 1, "an axis of 1")?;
    let rest: Vec<i64> =
        extents.iter().enumerate().filter(|(axis, _)| *axis != at).map(|(_, extent)| *extent).collect();
    Ok(vec![line.to.reshaped(x, &rest)?])
}

/// What stands for an axis of the batch that is not there.
const NO_BATCH: i64 = -OPEN;

/// The extents that a layer asks for, from the outermost one on.
fn asked(line: &LayerLine) -> Lowered<Vec<i64>> {
    let [w, h, c, d] = ["w", "h", "c", "d"].map(|name| line.integer(name));
    let (w, h, c, d) = (w?, h?, c?, d?);
    if let Some(mut computed) = line.computed("shape_expr")? {
        computed.reverse();
        return Ok(computed);
    }
    Ok(match () {
        () if w == OPEN => vec![],
        () if h == OPEN => vec![w],
        () if c == OPEN => vec![h, w],
        () if d == OPEN => vec![c, h, w],
        () => vec![c, d, h, w],
    })
}

/// A reshaped tensor, in which one extent of -1 follows from the others.
fn filled(line: &mut LayerLine, x: TensorId, total: i64, mut shape: Vec<i64>) -> Lowered<Vec<TensorId>> {
    let known: Vec<i64> = shape.iter().copied().filter(|extent| *extent != -1).collect();
    line.require("w", known.iter().all(|extent| *extent > 0), "positive extents, 0 or -1")?;
    line.require("w", known.len().saturating_add(1) >= shape.len(), "at most one extent of -1")?;
    if let Some(open) = shape.iter_mut().find(|extent| **extent == -1) {
        let known = line.to.count(&known)?;
        let fits = total.checked_rem(known) == Some(0);
        *open = total.checked_div(known).filter(|_| fits).ok_or(Refusal::UNFIT)?;
    }
    Ok(vec![line.to.reshaped(x, &shape)?])
}

fn flatten(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let total = line.to.count(&line.to.extents(x)?)?;
    Ok(vec![line.to.reshaped(x, &[total])?])
}

/// The orders of `Permute` by their numbers, from the last axis to the first one.
const ORDERS: [&[&str]; 3] = [
    &["WH", "HW"],
    &["WHC", "HWC", "WCH", "CWH", "HCW", "CHW"],
    &[
        "WHDC", "HWDC", "WDHC", "DWHC", "HDWC", "DHWC", "WHCD", "HWCD", "WCHD", "CWHD", "HCWD", "CHWD", "WDCH", "DWCH",
        "WCDH", "CWDH", "DCWH", "CDWH", "HDCW", "DHCW", "HCDW", "CHDW", "DCHW", "CDHW",
    ],
];

fn permute(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, kind) = (line.only()?, line.integer("order_type")?);
    let rank = line.to.extents(x)?.len();
    if rank == 1 {
        return Ok(vec![x]);
    }
    let orders = rank.checked_sub(2).and_then(|at| ORDERS.get(at)).ok_or(Refusal::UNFIT)?;
    let order = usize::try_from(kind).ok().and_then(|kind| orders.get(kind));
    let order = order.ok_or_else(|| line.unsupported("order_type", &format!("an order of {rank} axes")))?;
    // The first order has the axes as they are.
    let own = orders.first().copied().unwrap_or_default();
    let axis = |letter: char| own.chars().rev().position(|known| known == letter).map(|at| at as i64);
    let order: Vec<i64> = order.chars().rev().filter_map(axis).collect();
    Ok(vec![line.to.transposed(x, &order)?])
}

fn squeeze(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let extents = line.to.extents(x)?;
    let names: &[&str] = if extents.len() == 4 { &["c", "d", "h", "w"] } else { &["c", "h", "w"] };
    let given = line.integers("axes")?;
    let mut axes = Vec::new();
    for number in &given {
        axes.push(axis(line, "axes", *number, extents.len())?);
    }
    let skipped = names.len().saturating_sub(extents.len());
    for (at, name) in names.iter().skip(skipped).enumerate() {
        if line.flag(&format!("squeeze_{name}"))? && given.is_empty() {
            axes.push(at);
        }
    }
    ["c", "d", "h", "w"].iter().for_each(|name| line.note(&format!("squeeze_{name}")));
    let kept = extents.iter().enumerate().filter(|(at, extent)| **extent != 1 || !axes.contains(at));
    let mut shape: Vec<i64> = kept.map(|(_, extent)| *extent).collect();
    // A blob has at least one axis.
    if shape.is_empty() {
        shape.push(1);
    }
    Ok(vec![line.to.reshaped(x, &shape)?])
}

fn expand(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let given = line.integers("axes")?;
    let extents = line.to.extents(x)?;
    let rank = extents.len().saturating_add(given.len());
    let mut axes = Vec::new();
    for number in given {
        axes.push(axis(line, "axes", number, rank)? as i64);
    }
    axes.sort_unstable();
    axes.dedup();
    line.require("axes", extents.len().saturating_add(axes.len()) == rank && rank <= 4, "distinct axes of at most 4")?;
    Ok(vec![line.to.with_axes(x, axes)?])
}

/// The part between starts and ends along axes, or between offsets from both ends.
fn crop(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    // Other operands may only have extents that expressions name.
    let has_names = line.given("starts_expr").is_some() || line.given("ends_expr").is_some();
    let mut x = if has_names { *line.operands.first().ok_or(Refusal::UNFIT)? } else { line.only()? };
    let extents = line.to.extents(x)?;
    let given = |line: &LayerLine, computed: &str, name: &str| match (line.computed(computed)?, line.integers(name)?) {
        (Some(computed), _) => Ok(computed),
        (None, given) => Ok(given),
    };
    let (starts, ends) = (given(line, "starts_expr", "starts")?, given(line, "ends_expr", "ends")?);
    let axes = given(line, "axes_expr", "axes")?;
    let mut ranges = Vec::new();
    if starts.is_empty() || ends.is_empty() {
        ranges = offsets(line, &extents)?;
    } else {
        let axes = if axes.is_empty() { (0..extents.len() as i64).collect() } else { axes };
        for ((number, start), end) in axes.into_iter().zip(&starts).zip(&ends) {
            let axis = axis(line, "axes", number, extents.len())?;
            let extent = extents.get(axis).copied().ok_or(Refusal::UNFIT)?;
            let start = if *start == OPEN { 0 } else { *start };
            let end = if *end == OPEN { extent } else { *end };
            let end = if end > 0 { end.min(extent) } else { end.checked_add(extent).ok_or(Refusal::UNFIT)? };
            ranges.push((axis, from_end(start, extent).ok_or(Refusal::UNFIT)?..end));
        }
        // These have no effect beside starts and ends.
        offsets(line, &extents).ok();
    }
    for (axis, range) in ranges {
        x = line.to.part_of(x, axis as i64, range)?;
    }
    Ok(vec![x])
}

type AxisRange = (usize, Range<i64>);

/// A blob in which a second one replaces a part.
fn copied(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let &[x, part] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    let (extents, sizes) = (line.to.extents(x)?, line.to.extents(part)?);
    let rank = extents.len();
    let (starts, axes) = (line.integers("starts")?, line.integers("axes")?);
    let mut begins = vec![0; rank];
    let names: &[&str] = if rank == 4 { &["c", "d", "h", "w"] } else { &["c", "h", "w"] };
    for (at, name) in begins.iter_mut().zip(names.iter().skip(names.len().saturating_sub(rank))) {
        *at = line.integer(&format!("{name}offset"))?;
    }
    if !starts.is_empty() {
        begins.fill(0);
        let axes = if axes.is_empty() { (0..rank as i64).collect() } else { axes };
        for (number, start) in axes.into_iter().zip(starts) {
            let axis = axis(line, "axes", number, rank)?;
            let extent = extents.get(axis).copied().ok_or(Refusal::UNFIT)?;
            let start = from_end(start, extent).ok_or_else(|| line.unsupported("starts", "places of the blob"))?;
            begins.get_mut(axis).map(|begin| *begin = start).ok_or(Refusal::UNFIT)?;
        }
    }
    if sizes.len() != rank {
        return Err(Refusal::UNFIT);
    }
    let ends = begins.iter().zip(&sizes).map(|(begin, size)| Some(*begin..begin.checked_add(*size)?));
    let ranges = ends.collect::<Option<Vec<_>>>().ok_or(Refusal::UNFIT)?;
    let fits = ranges.iter().zip(&extents).all(|(range, extent)| range.start >= 0 && range.end <= *extent);
    let ranges: Vec<AxisRange> = ranges.into_iter().enumerate().collect();
    if fits { Ok(vec![replaced(line, x, part, &ranges)?]) } else { Err(Refusal::UNFIT) }
}

/// A tensor in which another one replaces the part that has ranges along its first axes, the first one outermost.
fn replaced(line: &mut LayerLine, x: TensorId, part: TensorId, ranges: &[AxisRange]) -> Lowered<TensorId> {
    let Some(((axis, range), inner)) = ranges.split_first() else { return Ok(part) };
    let (extent, axis) = (line.to.extents(x)?.get(*axis).copied().ok_or(Refusal::UNFIT)?, *axis as i64);
    let middle = line.to.part_of(x, axis, range.clone())?;
    let mut all = Vec::with_capacity(3);
    if range.start > 0 {
        all.push(line.to.part_of(x, axis, 0..range.start)?);
    }
    all.push(replaced(line, middle, part, inner)?);
    if range.end < extent {
        all.push(line.to.part_of(x, axis, range.end..extent)?);
    }
    line.to.concatenated(&all, axis)
}

fn offsets(line: &LayerLine, extents: &[i64]) -> Lowered<Vec<AxisRange>> {
    let names: &[&str] = if extents.len() == 4 { &["c", "d", "h", "w"] } else { &["c", "h", "w"] };
    let mut ranges = Vec::new();
    for (at, name) in names.iter().skip(names.len().saturating_sub(extents.len())).enumerate() {
        let extent = extents.get(at).copied().ok_or(Refusal::UNFIT)?;
        let begin = line.integer(&format!("{name}offset"))?;
        let (behind, size) = (line.integer(&format!("{name}offset2"))?, line.integer(&format!("out{name}"))?);
        let most = extent.checked_sub(begin).and_then(|rest| rest.checked_sub(behind)).ok_or(Refusal::UNFIT)?;
        let size = if size == OPEN { most } else { size.min(most) };
        ranges.push((at, begin..begin.checked_add(size).ok_or(Refusal::UNFIT)?));
    }
    Ok(ranges)
}

fn pad(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    line.is("per_channel_pad_data_size", 0)?;
    let rank = line.to.extents(x)?.len();
    let kind = usize::try_from(line.integer("type")?).unwrap_or(usize::MAX);
    let border = ["constant", "replicate", "reflect"].get(kind);
    let border = border.ok_or_else(|| line.unsupported("type", "0, 1 or 2"))?;
    let value = line.scalar("value")?;
    let value = if *border == "constant" { value } else { 0.0 };
    // The channels of three axes are padded, those of four are not.
    let names: &[[&str; 2]] = &[["front", "behind"], ["top", "bottom"], ["left", "right"]];
    let mut padding = if rank == 4 { vec![(0, 0)] } else { Vec::new() };
    let skipped = names.len().saturating_sub(rank);
    for (at, [before, behind]) in names.iter().enumerate() {
        let pair = (line.integer(before)?, line.integer(behind)?);
        line.require(before, pair.0 >= 0 && pair.1 >= 0, "a number that is not negative")?;
        if at >= skipped {
            padding.push(pair);
        }
    }
    if padding.iter().all(|pair| *pair == (0, 0)) {
        return Ok(vec![x]);
    }
    let arguments = [pairs(padding), Value::String((*border).into()), Value::Scalar(value)];
    Ok(vec![line.to.on("pad", x, arguments)?])
}

fn tile(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let extents = line.to.extents(x)?;
    let (number, times) = (line.integer("axis")?, line.integer("tiles")?);
    let mut repeats = line.integers("repeats")?;
    if repeats.is_empty() {
        let axis = axis(line, "axis", number, extents.len())?;
        repeats = (0..extents.len()).map(|at| if at == axis { times } else { 1 }).collect();
    }
    line.require("repeats", repeats.len() <= 4 && repeats.iter().all(|times| *times > 0), "positive numbers")?;
    let rank = extents.len().max(repeats.len());
    let shape = [vec![1; rank.saturating_sub(extents.len())], extents].concat();
    let repeats = [vec![1; rank.saturating_sub(repeats.len())], repeats].concat();
    let x = line.to.reshaped(x, &shape)?;
    Ok(vec![if repeats.iter().all(|times| *times == 1) {
        x
    } else {
        line.to.on("tile", x, [integers(repeats.iter().copied())])?
    }])
}

fn softmax(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, number) = (line.only()?, line.integer("axis")?);
    // Texts without the flag count axes in another way.
    line.require("fixbug0", line.flag("fixbug0")? || number == 0, "1")?;
    let axis = axis(line, "axis", number, line.to.extents(x)?.len())?;
    Ok(vec![line.to.on("softmax", x, [integers([axis as i64])])?])
}

/// How `Reduction` reduces by its number: before it, the operation, and after it.
const REDUCTIONS: &[Option<[&str; 3]>] = &[
    Some(["", "sum_reduce", ""]),
    Some(["abs", "sum_reduce", ""]),
    Some(["sqr", "sum_reduce", ""]),
    Some(["", "mean_reduce", ""]),
    Some(["", "max_reduce", ""]),
    Some(["", "min_reduce", ""]),
    // NNEF has no product.
    None,
    Some(["abs", "sum_reduce", ""]),
    Some(["sqr", "sum_reduce", "sqrt"]),
    Some(["", "sum_reduce", "log"]),
    Some(["exp", "sum_reduce", "log"]),
];

fn reduction(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let mut x = line.only()?;
    let kind =
        usize::try_from(line.integer("operation")?).ok().and_then(|kind| REDUCTIONS.get(kind).copied().flatten());
    let [before, reduces, after] = kind.ok_or_else(|| line.unsupported("operation", "a reduction of NNEF"))?;
    let rank = line.to.extents(x)?.len();
    let (all, given) = (line.flag("reduce_all")?, line.integers("axes")?);
    line.require("fixbug0", line.flag("fixbug0")? || given.is_empty(), "1")?;
    let mut axes = Vec::new();
    for number in &given {
        axes.push(axis(line, "axes", *number, rank)? as i64);
    }
    if all || axes.is_empty() {
        axes = (0..rank as i64).collect();
    }
    axes.sort_unstable();
    axes.dedup();
    for step in [before, reduces, after].into_iter().filter(|step| !step.is_empty()) {
        x = match step == reduces {
            true => line.to.on(reduces, x, [integers(axes.iter().copied())])?,
            false => line.to.on(step, x, [])?,
        };
    }
    let factor = line.scalar("coeff")?;
    if factor != 1.0 {
        x = line.to.on("mul", x, [Value::Scalar(factor)])?;
    }
    if line.flag("keepdims")? {
        return Ok(vec![x]);
    }
    let is_whole = axes.len() == rank;
    Ok(vec![if is_whole { line.to.reshaped(x, &[1])? } else { line.to.without_axes(x, &axes)? }])
}

/// Items between channels and pixels, in the order that torch has.
fn shuffled(line: &mut LayerLine, kind: &str, name: &str) -> Lowered<Vec<TensorId>> {
    line.is("mode", 0)?;
    let factor = line.integer(name)?.to_string();
    let key = if name == "stride" { "downscale_factor" } else { name };
    let x = line.only()?;
    let x = line.batch(x)?;
    let y = torch(&mut line.to, kind, &[("input", x)], &[(key, factor)])?;
    Ok(vec![line.unbatch(y)?])
}

fn shuffle(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, mut groups) = (line.only()?, line.integer("group")?);
    line.require("group", groups > 0, "a positive number")?;
    if line.flag("reverse")? {
        let channels = line.to.extents(x)?.first().copied().ok_or(Refusal::UNFIT)?;
        groups = channels.checked_div(groups).ok_or(Refusal::UNFIT)?;
    }
    let x = line.batch(x)?;
    let y = torch(&mut line.to, "F.channel_shuffle", &[("input", x)], &[("groups", groups.to_string())])?;
    Ok(vec![line.unbatch(y)?])
}

/// Resampling of planes. Linear and cubic functions take places from extents, the nearest item from factors if no
/// extents are given.
fn resample(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    line.is("dynamic_target_size", 0)?;
    let computed = line.computed("size_expr")?;
    let mode = usize::try_from(line.integer("resize_type")?).ok();
    let mode =
        mode.and_then(|mode| [None, Some("nearest"), Some("bilinear"), Some("bicubic")].get(mode).copied().flatten());
    let mode = mode.ok_or_else(|| line.unsupported("resize_type", "1, 2 or 3"))?;
    // Other operands may only have extents that expressions name.
    let x = if computed.is_some() { *line.operands.first().ok_or(Refusal::UNFIT)? } else { line.only()? };
    let &[_, h, w] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    let mut given = [line.integer("output_height")?, line.integer("output_width")?];
    if let Some(computed) = computed {
        let &[w, h] = &computed[..] else { return Err(line.unsupported("size_expr", "a width and a height")) };
        given = [h, w];
    }
    let factors = [line.scalar("height_scale")?, line.scalar("width_scale")?];
    let is_given = given.iter().all(|extent| *extent > 0);
    line.require("output_height", is_given || given == [0, 0], "both extents, or none")?;
    let aligned = line.flag("align_corner")? && mode != "nearest";
    let size = if is_given { given } else { [(h as f64 * factors[0]) as i64, (w as f64 * factors[1]) as i64] };
    let mut parameters = vec![("mode", mode.to_owned())];
    if is_given || mode != "nearest" {
        parameters.push(("size", format!("({},{})", size[0], size[1])));
    } else {
        parameters.push(("scale_factor", format!("({:?},{:?})", factors[0], factors[1])));
    }
    if mode != "nearest" {
        parameters.push(("align_corners", if aligned { "True" } else { "False" }.to_owned()));
    }
    let x = line.batch(x)?;
    let y = torch(&mut line.to, "F.interpolate", &[("input", x)], &parameters)?;
    Ok(vec![line.unbatch(y)?])
}
