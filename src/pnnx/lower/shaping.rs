//! Operators that move items: reshape, transpose, split, concatenate, repeat.

use super::{Line, integers};
use crate::graph::{TensorId, Value};
use crate::pnnx::expand::Item;
use crate::pnnx::model::Setting;
use crate::pnnx::tokens::Literal;

fn one(line: &mut Line, nnef: &'static str, x: TensorId, attribute: Value) -> Option<Vec<TensorId>> {
    Some(vec![line.add(nnef, vec![Value::Tensor(x), attribute])?])
}

pub(super) fn transpose(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let [a, b] = [line.integer("dim0")?, line.integer("dim1")?].map(|axis| line.axis(axis, rank));
    let mut order: Vec<i64> = (0..rank).collect();
    order.swap(a? as usize, b? as usize);
    one(line, "transpose", x, integers(order))
}

pub(super) fn permute(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let order = line.setting("dims").and_then(|dims| dims.integers())?;
    let order = order.into_iter().map(|axis| line.axis(axis, rank)).collect::<Option<Vec<i64>>>()?;
    one(line, "transpose", x, integers(order))
}

pub(super) fn turn(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x).filter(|rank| *rank <= 2)?;
    one(line, "transpose", x, integers((0..rank).rev()))
}

pub(super) fn reshape(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let shape = line.setting("shape")?.integers()?;
    // An extent of 0 is copied from the operand in NNEF, and means an empty tensor in torch.
    (!shape.contains(&0)).then_some(())?;
    one(line, "reshape", x, integers(shape))
}

pub(super) fn flatten(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x).filter(|rank| *rank > 0)?;
    let first = line.axis(line.integer("start_dim").unwrap_or(0), rank)?;
    let last = line.axis(line.integer("end_dim").unwrap_or(-1), rank)?;
    let extents = line.extents(x)?;
    let (first, last) = (first as usize, last as usize);
    (first <= last).then_some(())?;
    let joined = extents[first..=last].iter().try_fold(1i64, |all, extent| all.checked_mul(*extent))?;
    let shape = extents[..first].iter().copied().chain([joined]).chain(extents[last + 1..].iter().copied());
    one(line, "reshape", x, integers(shape))
}

pub(super) fn squeeze(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let mut axes = line.axes("dim", extents.len() as i64)?;
    axes.retain(|axis| extents[*axis as usize] == 1);
    if axes.is_empty() { Some(vec![x]) } else { one(line, "squeeze", x, integers(axes)) }
}

pub(super) fn unsqueeze(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)? + 1)?;
    one(line, "unsqueeze", x, integers([axis]))
}

/// All operands but the axis as tensors; lists are flattened.
fn tensors(line: &Line) -> Option<Vec<TensorId>> {
    let mut found = Vec::new();
    for operand in line.operands.iter().filter(|operand| operand.name != "dim") {
        match &operand.item {
            Item::Tensor(tensor) => found.push(*tensor),
            Item::List(items) => {
                for item in items.iter() {
                    let Item::Tensor(tensor) = item else { return None };
                    found.push(*tensor);
                }
            }
            Item::Literal(_) | Item::Refused => return None,
        }
        operand.used.set(true);
    }
    Some(found).filter(|found| !found.is_empty())
}

fn joined(line: &mut Line, nnef: &'static str, more: i64) -> Option<Vec<TensorId>> {
    let tensors = tensors(line)?;
    let axis = line.axis(line.integer("dim").unwrap_or(0), line.rank(tensors[0])? + more)?;
    let values = Value::Array(tensors.into_iter().map(Value::Tensor).collect());
    Some(vec![line.add(nnef, vec![values, Value::Int(axis)])?])
}

pub(super) fn cat(line: &mut Line) -> Option<Vec<TensorId>> {
    joined(line, "concat", 0)
}

pub(super) fn stack(line: &mut Line) -> Option<Vec<TensorId>> {
    joined(line, "stack", 1)
}

/// The extents of the parts of `torch.chunk`, `torch.split` or `torch.tensor_split`.
fn parts(line: &Line, extent: i64, count: i64) -> Option<Vec<i64>> {
    let cut = |size: i64| {
        let parts = (0..).map(|i| i * size).take_while(|at| *at < extent).take(count as usize + 1);
        parts.map(|at| size.min(extent - at)).collect::<Vec<i64>>()
    };
    let setting = |key: &str| line.setting(key);
    match line.operator.kind.as_str() {
        "torch.chunk" => {
            let chunks = setting("chunks")?.integer().filter(|chunks| *chunks > 0)?;
            Some(cut((extent + chunks - 1) / chunks))
        }
        "torch.split" => {
            let sizes = setting("split_size_or_sections").or_else(|| setting("split_size"))?;
            match sizes.integer() {
                Some(size) if size > 0 => Some(cut(size)),
                Some(_) => None,
                None => sizes.integers(),
            }
        }
        _ => {
            let places = setting("indices").or_else(|| setting("sections"))?;
            if let Some(sections) = setting("sections").and_then(|sections| sections.integer()).filter(|n| *n > 0) {
                // The first parts are larger by one.
                return Some((0..sections).map(|i| extent / sections + i64::from(i < extent % sections)).collect());
            }
            let ends: Vec<i64> = places.integers()?.into_iter().chain([extent]).collect();
            Some(ends.iter().scan(0, |before, end| Some(end - std::mem::replace(before, *end))).collect())
        }
    }
}

pub(super) fn split(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input").or_else(|| line.tensor("tensor"))?;
    let extents = line.extents(x)?;
    let axis = line.axis(line.integer("dim").unwrap_or(0), extents.len() as i64)?;
    let (extent, count) = (extents[axis as usize], line.operator.outputs.len());
    let parts = parts(line, extent, count as i64)?;
    (parts.len() == count && parts.iter().all(|part| *part > 0) && parts.iter().sum::<i64>() == extent).then_some(())?;
    line.add_array("split", vec![Value::Tensor(x), Value::Int(axis), integers(parts)], count)
}

pub(super) fn unbind(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let axis = line.axis(line.integer("dim").unwrap_or(0), extents.len() as i64)?;
    let count = line.operator.outputs.len();
    (extents[axis as usize] == count as i64).then_some(())?;
    line.add_array("unstack", vec![Value::Tensor(x), Value::Int(axis)], count)
}

pub(super) fn select(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let axis = line.axis(line.integer("dim")?, extents.len() as i64)?;
    let index = line.axis(line.integer("index")?, extents[axis as usize])?;
    let range = [integers([axis]), integers([index]), integers([index + 1])];
    let part = line.add("slice", [vec![Value::Tensor(x)], range.to_vec()].concat())?;
    one(line, "squeeze", part, integers([axis]))
}

/// What pnnx writes in `selects` for an axis along which no single item is selected.
const UNSELECTED: i64 = i32::MAX as i64;

pub(super) fn slice(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let axes = line.setting("dim").or_else(|| line.setting("dims"))?.integers()?;
    let axes = axes.into_iter().map(|axis| line.axis(axis, rank)).collect::<Option<Vec<i64>>>()?;
    let whole = match line.setting("selects") {
        Some(selects) => selects.integers()?.iter().all(|select| *select == UNSELECTED),
        None => true,
    };
    let count = axes.len();
    let (starts, ends) = (places(line, ["start", "starts"], count)?, places(line, ["end", "ends"], count)?);
    let steps: Vec<i64> = places(line, ["step", "steps"], count)?.into_iter().map(|step| step.unwrap_or(1)).collect();
    let along = || axes.iter().map(|axis| extents[*axis as usize]);
    let at = |(place, extent): (i64, i64)| if place < 0 { (place + extent).max(0) } else { place.min(extent) };
    let begin: Vec<i64> = starts.iter().map(|start| start.unwrap_or(0)).zip(along()).map(at).collect();
    let end: Vec<i64> = ends.iter().zip(along()).map(|(end, extent)| at((end.unwrap_or(extent), extent))).collect();
    let nothing = begin.iter().zip(&end).any(|(begin, end)| begin >= end) || steps.iter().any(|step| *step < 1);
    (whole && !nothing).then_some(())?;
    let attributes = [axes, begin, end, steps].map(integers);
    Some(vec![line.add("slice", [vec![Value::Tensor(x)], attributes.to_vec()].concat())?])
}

/// The integers for the axes of a slice, from a parameter for one or for several axes; `None` where the parameter has
/// it, or if there is no parameter.
fn places(line: &Line, [one, several]: [&str; 2], count: usize) -> Option<Vec<Option<i64>>> {
    let place = |setting: &Setting| match setting {
        Setting::Literal(Literal::None) => Some(None),
        other => other.integer().map(Some),
    };
    let places = match line.setting(one).or_else(|| line.setting(several)) {
        None | Some(Setting::Literal(Literal::None)) => vec![None; count],
        Some(Setting::List(items)) => items.iter().map(place).collect::<Option<_>>()?,
        Some(single) => vec![place(&single)?],
    };
    (places.len() == count).then_some(places)
}

pub(super) fn expand(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let to = line.setting("shape").or_else(|| line.setting("sizes"))?.integers()?;
    let more = to.len().checked_sub(extents.len())?;
    let x = line.with_axes(x, (0..more as i64).collect())?;
    let from = std::iter::repeat_n(1, more).chain(extents);
    let repeats = from.zip(to).map(|(from, to)| match (from, to) {
        (_, -1) => Some(1),
        (from, to) if from == to => Some(1),
        (1, to) => Some(to),
        _ => None,
    });
    let repeats = repeats.collect::<Option<Vec<i64>>>()?;
    one(line, "tile", x, integers(repeats))
}

/// Repeats the operand along each axis.
pub(super) fn repeat(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let mut times = ["sizes", "repeats", "dims"].iter().find_map(|key| line.setting(key)?.integers())?;
    let rank = line.rank(x)? as usize;
    if let Some(more) = times.len().checked_sub(rank) {
        let x = line.with_axes(x, (0..more as i64).collect())?;
        return one(line, "tile", x, integers(times));
    }
    times.splice(0..0, std::iter::repeat_n(1, rank - times.len()));
    one(line, "tile", x, integers(times))
}

/// GLU: the first half along an axis, times the sigmoid of the second half.
pub(super) fn gated(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let axis = line.axis(line.integer("dim").unwrap_or(-1), extents.len() as i64)?;
    let half = extents[axis as usize] / 2;
    (extents[axis as usize] == 2 * half && half > 0).then_some(())?;
    let parts = line.add_array("split", vec![Value::Tensor(x), Value::Int(axis), integers([half, half])], 2)?;
    let gate = line.add("sigmoid", vec![Value::Tensor(parts[1])])?;
    Some(vec![line.add("mul", vec![Value::Tensor(parts[0]), Value::Tensor(gate)])?])
}
