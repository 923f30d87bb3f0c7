//! Operators that move items: reshape, transpose, split, concatenate, repeat.

use super::settings::SettingKind;
use super::{Line, Lowered, Refusal, extent_of, integers, product};
use crate::extents::{AxisSection, Before, Bounds, from_start};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

fn one(line: &mut Line, nnef: &'static str, x: TensorId, attribute: Value) -> Lowered<Vec<TensorId>> {
    Ok(vec![line.add(nnef, vec![Value::Tensor(x), attribute])?])
}

pub(super) fn transpose(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let (a, b) = (line.axis("dim0", rank, None)?, line.axis("dim1", rank, None)?);
    let mut order: Vec<i64> = (0..rank).collect();
    order.swap(a as usize, b as usize);
    one(line, "transpose", x, integers(order))
}

pub(super) fn permute(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let order = line.axes("dims", rank)?.filter(|order| order.len() as i64 == rank);
    let order = order.ok_or_else(|| line.refuse("dims", format!("a list of all {rank} axes")))?;
    one(line, "transpose", x, integers(order))
}

pub(super) fn turn(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = Some(line.rank(x)?).filter(|rank| *rank <= 2).ok_or(Refusal::UNFIT)?;
    one(line, "transpose", x, integers((0..rank).rev()))
}

pub(super) fn reshape(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let shape: Vec<i64> = line.required("shape")?;
    // An extent of 0 is copied from the operand in NNEF, and means an empty tensor in torch.
    line.require("shape", !shape.contains(&0), "a list of integers without 0")?;
    one(line, "reshape", x, integers(shape)).map_err(|_| line.refuse("shape", "a shape of as many items"))
}

pub(super) fn flatten(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let mut extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let first = line.axis("start_dim", rank, Some(0))? as usize;
    let last = line.axis("end_dim", rank, Some(-1))? as usize;
    line.require("end_dim", first <= last, "an axis that is not before `start_dim`")?;
    let joined = product(extents.get(first..=last).ok_or(Refusal::UNFIT)?)?;
    extents.splice(first..=last, [joined]);
    one(line, "reshape", x, integers(extents))
}

pub(super) fn squeeze(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let given = line.axes("dim", rank)?;
    // In torch, an empty list stands for no axis, in pnnx for all of them.
    line.require("dim", given.as_ref().is_none_or(|axes| !axes.is_empty()), "`None` or a list that is not empty")?;
    let mut axes = given.unwrap_or_else(|| (0..rank).collect());
    axes.retain(|axis| extent_of(&extents, *axis) == Ok(1));
    if axes.is_empty() { Ok(vec![x]) } else { one(line, "squeeze", x, integers(axes)) }
}

pub(super) fn unsqueeze(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?.saturating_add(1), None)?;
    one(line, "unsqueeze", x, integers([axis]))
}

/// All operands but the axis as tensors; lists are flattened.
pub(super) fn tensors(line: &Line) -> Lowered<Vec<TensorId>> {
    let none = |name: &str| Refusal::Because(format!("its operand `{name}` does not consist of tensors").into());
    let mut found = Vec::new();
    // Operands by position may be settings, too.
    let is_setting = |item: &ExpandedItem| matches!(item, ExpandedItem::Text(_) | ExpandedItem::Literal(Literal::None));
    for operand in line.operands.iter().filter(|operand| operand.name != "dim" && !is_setting(&operand.item)) {
        let items = match &operand.item {
            ExpandedItem::List(items) => &items[..],
            item => std::slice::from_ref(item),
        };
        for item in items {
            let ExpandedItem::Tensor(tensor) = item else { return Err(none(&operand.name)) };
            found.push(*tensor);
        }
        operand.used.set(true);
    }
    if found.is_empty() { Err(none("tensors")) } else { Ok(found) }
}

fn joined(line: &mut Line, nnef: &'static str, more: i64) -> Lowered<Vec<TensorId>> {
    let tensors = tensors(line)?;
    let rank = line.rank(*tensors.first().ok_or(Refusal::UNFIT)?)?;
    let axis = line.axis("dim", rank.saturating_add(more), Some(0))?;
    let values = Value::Array(tensors.into_iter().map(Value::Tensor).collect());
    Ok(vec![line.add(nnef, vec![values, Value::Int(axis)])?])
}

pub(super) fn cat(line: &mut Line) -> Lowered<Vec<TensorId>> {
    joined(line, "concat", 0)
}

pub(super) fn stack(line: &mut Line) -> Lowered<Vec<TensorId>> {
    joined(line, "stack", 1)
}

/// Joins tensors along an axis that those of lower rank get first: as columns, rows or planes.
pub(super) fn beside(line: &mut Line, axis: i64) -> Lowered<Vec<TensorId>> {
    let mut parts = tensors(line)?;
    for part in &mut parts {
        let extents = line.extents(*part)?;
        let shape = match (&extents[..], axis) {
            ([count], 0) => vec![1, *count],
            ([count], 2) => vec![1, *count, 1],
            ([rows, columns], 2) => vec![*rows, *columns, 1],
            ([], _) => return Err(Refusal::UNFIT),
            _ => continue,
        };
        *part = line.reshaped(*part, &shape)?;
    }
    let rank = line.rank(*parts.first().ok_or(Refusal::UNFIT)?)?;
    line.concatenated(&parts, axis.min(rank.saturating_sub(1))).map(|y| vec![y])
}

/// The extents of the parts of `torch.chunk`, `torch.split` or `torch.tensor_split`, with the setting they follow
/// from. No more parts than one beyond `count` are computed, nor more than lists may have.
fn parts(line: &Line, extent: i64, count: Option<usize>) -> Lowered<(&'static str, Vec<i64>)> {
    let cut = |size: i64| {
        let starts = (0..).map(|i| size.saturating_mul(i)).take_while(|at| *at < extent);
        let starts = starts.take(count.unwrap_or(line.options.max_length).saturating_add(1));
        starts.map(|at| size.min(extent.saturating_sub(at))).collect::<Vec<i64>>()
    };
    match line.kind.as_str() {
        "torch.chunk" | "torch.unsafe_chunk" => {
            let chunks = line.at_least("chunks", 1, None)?;
            Ok(("chunks", cut(extent.unsigned_abs().div_ceil(chunks.unsigned_abs()) as i64)))
        }
        "torch.split" | "torch.unsafe_split" => {
            let key = line.key_of(&["split_size_or_sections", "split_size"]);
            let parts = if line.is_list(key) { line.required(key)? } else { cut(line.at_least(key, 1, None)?) };
            Ok((key, parts))
        }
        _ if line.key_of(&["indices", "sections"]) == "sections" => {
            let sections = line.at_least("sections", 1, None)?;
            let most = count.unwrap_or(line.options.max_length) as i64;
            line.require("sections", count.map_or(sections <= most, |_| sections == most), &format!("`{most}`"))?;
            // The first parts are larger by one.
            let (each, rest) = (extent.div_euclid(sections), extent.rem_euclid(sections));
            let parts = (0..sections).map(|i| each.saturating_add(i64::from(i < rest)));
            Ok(("sections", parts.collect()))
        }
        _ => {
            let is_list = line.is_list("indices");
            line.require("indices", is_list, <Vec<i64>>::EXPECTED)?;
            let places: Vec<i64> = line.required("indices")?;
            // A negative place counts from the end.
            let ends = places.into_iter().map(|place| from_start(place, extent)).chain([extent]);
            let ends: Vec<i64> = ends.collect();
            // Differences of places outside the axis are not extents, so it does not matter that they saturate.
            let parts = ends.iter().scan(0i64, |before, end| Some(end.saturating_sub(std::mem::replace(before, *end))));
            Ok(("indices", parts.collect()))
        }
    }
}

impl Line<'_> {
    /// The number of results; none if one result may be the tuple of all.
    fn several(&self) -> Option<usize> {
        Some(self.operator.outputs.len()).filter(|count| *count != 1)
    }
}

pub(super) fn split(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "tensor"]))?;
    let extents = line.extents(x)?;
    let axis = line.axis("dim", extents.len() as i64, Some(0))?;
    let extent = extent_of(&extents, axis)?;
    let count = line.several();
    let (key, parts) = parts(line, extent, count)?;
    let count = count.unwrap_or(parts.len());
    let sum = parts.iter().try_fold(0i64, |sum, part| sum.checked_add(*part));
    let fits = parts.len() == count && parts.iter().all(|part| *part > 0) && sum == Some(extent);
    line.require(key, fits, &format!("a division of {extent} items into {count} parts"))?;
    line.add_array("split", vec![Value::Tensor(x), Value::Int(axis), integers(parts)], count)
}

pub(super) fn unbind(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(Some(0))?;
    let count = line.several().unwrap_or(line.items(extent, Some)?.len());
    line.require("dim", extent == count as i64, &format!("an axis of {count} items"))?;
    line.add_array("unstack", vec![Value::Tensor(x), Value::Int(axis)], count)
}

pub(super) fn select(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(None)?;
    let index = line.axis("index", extent, None)?;
    let range = [integers([axis]), integers([index]), integers([index.saturating_add(1)])];
    let part = line.add("slice", [vec![Value::Tensor(x)], range.to_vec()].concat())?;
    one(line, "squeeze", part, integers([axis]))
}

/// What pnnx writes in `selects` for an axis along which no single item is selected.
const UNSELECTED: i64 = i32::MAX as i64;

/// The items that an operator takes along an axis.
pub(super) struct AxisRange {
    pub(super) axis: i64,
    section: AxisSection,
    /// Whether it is a single item, so that a result lacks the axis.
    pub(super) is_item: bool,
}

impl AxisRange {
    /// The number of items.
    pub(super) fn count(&self) -> i64 {
        self.section.count()
    }

    /// The places of the items.
    pub(super) fn places(&self) -> Vec<i64> {
        self.section.places().map(|place| place as i64).collect()
    }

    /// The number of an item by its place; none if it is not taken.
    pub(super) fn place_of(&self, place: i64) -> Option<i64> {
        let AxisSection { first, step, way } = self.section;
        let from = place.checked_sub(first).filter(|from| (0..way).contains(from))?;
        from.checked_rem(step).filter(|rest| *rest == 0).and_then(|_| from.checked_div(step))
    }
}

/// What the settings of slices say: `dim`, `start`, `end`, `step` and `select`, or the same for several axes.
pub(super) fn ranges(line: &Line, extents: &[i64], default: Option<i64>) -> Lowered<Vec<AxisRange>> {
    let key = line.key_of(&["dim", "dims"]);
    let axes = line.axes(key, extents.len() as i64)?.filter(|axes| !axes.is_empty());
    let axes = axes.or_else(|| default.map(|axis| vec![axis]));
    let axes = axes.ok_or_else(|| line.refuse(key, <Vec<i64>>::EXPECTED))?;
    let count = axes.len();
    let [starts, ends] = [["start", "starts"], ["end", "ends"]].map(|keys| places(line, keys, count));
    let (step_keys, select_keys) = (["step", "steps"], ["select", "selects"]);
    let (steps, selects) = (places(line, step_keys, count)?, places(line, select_keys, count)?);
    let settings = axes.iter().zip(starts?).zip(ends?).zip(steps).zip(selects);
    let range = |((((axis, start), end), step), select): ((((&i64, _), _), _), _)| {
        let (axis, extent) = (*axis, extent_of(extents, *axis)?);
        if let Some(select) = Option::<i64>::filter(select, |select| *select != UNSELECTED) {
            let expected = || line.refuse(line.key_of(&select_keys), format!("an item of {extent}"));
            let begin = super::settings::index(select, extent).ok_or_else(expected)?;
            return Ok(AxisRange { axis, section: AxisSection { first: begin, step: 1, way: 1 }, is_item: true });
        }
        let step = Option::<i64>::unwrap_or(step, 1);
        line.require(line.key_of(&step_keys), step > 0, "a positive integer for each axis")?;
        let (start, end) = (Option::unwrap_or(start, 0), Option::unwrap_or(end, extent));
        let section = AxisSection::new(Bounds { start, end, step }, extent, Before::Outside);
        Ok(AxisRange { axis, section, is_item: false })
    };
    settings.map(range).collect()
}

pub(super) fn slice(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let ranges = ranges(line, &line.extents(x)?, None)?;
    if ranges.iter().any(|range| range.count() == 0) {
        return Err(Refusal::Because("NNEF has no slice without items".into()));
    }
    let of = |field: fn(&AxisRange) -> i64| integers(ranges.iter().map(field));
    let (first, end) = (of(|range| range.section.first), of(|range| range.section.end()));
    let attributes = [of(|range| range.axis), first, end, of(|range| range.section.step)];
    let part = line.add("slice", [vec![Value::Tensor(x)], attributes.to_vec()].concat())?;
    let items: Vec<i64> = ranges.iter().filter(|range| range.is_item).map(|range| range.axis).collect();
    if items.is_empty() { Ok(vec![part]) } else { one(line, "squeeze", part, integers(items)) }
}

/// The integers for the axes of a slice, from a setting for one or for several axes; `None` where the setting has it,
/// or if there is no setting.
fn places(line: &Line, keys: [&str; 2], count: usize) -> Lowered<Vec<Option<i64>>> {
    let key = line.key_of(&keys);
    let places = line.optional::<Vec<Option<i64>>>(key)?.unwrap_or_else(|| vec![None; count]);
    line.require(key, places.len() == count, &format!("an integer or `None` for each of {count} axes"))?;
    Ok(places)
}

/// Repeats the operand along each axis.
pub(super) fn repeat(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let key = line.key_of(&["sizes", "repeats", "dims"]);
    let mut times: Vec<i64> = line.required(key)?;
    line.require(key, times.iter().all(|times| *times > 0), "a list of positive integers")?;
    let rank = line.rank(x)? as usize;
    if let Some(more) = times.len().checked_sub(rank) {
        let x = line.with_axes(x, 0..more as i64)?;
        return one(line, "tile", x, integers(times));
    }
    // Only `torch.tile` accepts fewer numbers than axes; they are for the last ones.
    line.require(key, line.kind == "torch.tile", &format!("a list of at least {rank} integers"))?;
    times.splice(0..0, std::iter::repeat_n(1, rank.saturating_sub(times.len())));
    one(line, "tile", x, integers(times))
}

/// GLU: the first half along an axis, times the sigmoid of the second half.
pub(super) fn gated(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(Some(-1))?;
    let half = extent / 2;
    line.require("dim", half > 0 && extent % 2 == 0, "an axis of an even number of items")?;
    let parts = line.add_array("split", vec![Value::Tensor(x), Value::Int(axis), integers([half, half])], 2)?;
    let [value, gate] = parts[..] else { return Err(Refusal::UNFIT) };
    let gate = line.add("sigmoid", vec![Value::Tensor(gate)])?;
    Ok(vec![line.add("mul", vec![Value::Tensor(value), Value::Tensor(gate)])?])
}
