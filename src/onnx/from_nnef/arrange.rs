//! Operations that arrange items, and reductions whose axes must be moved first.

use super::formula::common_rank;
use super::lists;
use super::translated_call::{Bound, Refused, TranslatedCall, Translation, checked_axis};
use super::value::{ModelValue, NnefElement, ints};
use crate::onnx::model::AttributeValue;

pub(super) fn axis(axis: usize) -> (&'static str, AttributeValue) {
    ("axis", AttributeValue::Int(axis as i64))
}

/// `reshape`: ONNX has no `axis_start` and `axis_count`, so the other extents are added to the shape.
pub(super) fn reshape(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let (start, count) = (call.int("axis_start")?, call.int("axis_count")?);
    let Ok(wanted) = call.ints("shape") else { return reshape_to(call, &value, (start, count)) };
    if start == 0 && (count == -1 || value.rank() == usize::try_from(count).ok()) {
        return Ok(vec![call.out.reshape(&value, &wanted)]);
    }
    let rank = call.rank(&value)?;
    let wrong = || Refused::meaning("`reshape` has axes that its operand does not have");
    let start = usize::try_from(start).ok().filter(|start| *start <= rank).ok_or_else(wrong)?;
    let end = match count {
        -1 => rank,
        count => {
            let end = usize::try_from(count).ok().and_then(|count| start.checked_add(count));
            end.filter(|end| *end <= rank).ok_or_else(wrong)?
        }
    };
    let dims = value.dims.clone().unwrap_or_default();
    let mut shape = vec![0; start];
    shape.extend(&wanted);
    let rest: Vec<i64> = lists::from(&dims, end).iter().map(|extent| extent.unwrap_or(-1)).collect();
    if rest.iter().chain(&wanted).filter(|extent| **extent < 0).count() > 1 {
        return Err(call.open_extents());
    }
    shape.extend(rest);
    Ok(vec![call.out.reshape(&value, &shape)])
}

/// `reshape` to extents that tensors compute.
fn reshape_to(call: &mut TranslatedCall, value: &ModelValue, axes: (i64, i64)) -> Translation<Vec<ModelValue>> {
    let wanted = call.integer_list("shape")?;
    let whole = axes.1 == -1 || value.rank().is_some_and(|rank| i64::try_from(rank) == Ok(axes.1));
    if axes.0 == 0 && whole {
        return Ok(vec![call.node("Reshape", &[value, &wanted], Vec::new())]);
    }
    let rank = call.rank(value)?;
    let start = usize::try_from(axes.0).ok().filter(|start| *start <= rank);
    let end = start.and_then(|start| match axes.1 {
        -1 => Some(rank),
        count => usize::try_from(count).ok()?.checked_add(start).filter(|end| *end <= rank),
    });
    let (Some(start), Some(end)) = (start, end) else {
        return Err(Refused::meaning("`reshape` has axes that its operand does not have"));
    };
    // Extents of 0 are copied.
    let before = call.out.list("extents", &vec![0; start]);
    let after = call.extents_from(value, end);
    let shape = call.joined(vec![before, wanted, after]);
    Ok(vec![call.node("Reshape", &[value, &shape], Vec::new())])
}

/// `tile`
pub(super) fn tile(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, repeats) = (call.value("input")?, call.integer_list("repeats")?);
    Ok(vec![call.node("Tile", &[&value, &repeats], Vec::new())])
}

/// `transpose`: axes that are not listed stay at the end.
pub(super) fn transpose(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let given = call.ints("axes")?;
    let rank = value.rank().unwrap_or(given.len()).max(given.len());
    let mut order = call.checked_axes(&given, Some(rank))?;
    order.extend(given.len() as i64..rank as i64);
    let order = call.checked_axes(&order, Some(rank))?;
    Ok(vec![call.node("Transpose", &[&value], vec![("perm", ints(order))])])
}

/// `squeeze`
pub(super) fn squeeze(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let axes = call.axes("axes", value.rank())?;
    if axes.is_empty() {
        return Ok(vec![value]);
    }
    let axes = call.out.list("axes", &axes);
    Ok(vec![call.node("Squeeze", &[&value, &axes], Vec::new())])
}

/// `unsqueeze`
pub(super) fn unsqueeze(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let given = call.ints("axes")?;
    if given.is_empty() {
        return Ok(vec![value]);
    }
    let mut axes = call.checked_axes(&given, value.rank().map(|rank| rank.saturating_add(given.len())))?;
    axes.sort_unstable();
    Ok(vec![call.out.unsqueeze(&value, &axes)])
}

/// Converts tensors to a common element type: those of several types become scalars.
pub(super) fn unified(call: &mut TranslatedCall, values: Vec<ModelValue>) -> Vec<ModelValue> {
    if values.windows(2).all(|pair| matches!(pair, [one, other] if one.element == other.element)) {
        return values;
    }
    values.iter().map(|value| call.out.cast(value, NnefElement::Float)).collect()
}

/// `concat`
pub(super) fn concat(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let values = call.list("values")?;
    let values = unified(call, values);
    let place = checked_axis(call, call.int("axis")?, values.first().and_then(ModelValue::rank))?;
    Ok(vec![call.node("Concat", &values.iter().collect::<Vec<_>>(), vec![axis(place)])])
}

/// `stack`: a new axis for each tensor, then concatenation.
pub(super) fn stack(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let values = call.list("values")?;
    let values = unified(call, values);
    let rank = values.first().and_then(ModelValue::rank).map(|rank| rank.saturating_add(1));
    let place = checked_axis(call, call.int("axis")?, rank)?;
    let values: Vec<ModelValue> = values.iter().map(|value| call.out.unsqueeze(value, &[place as i64])).collect();
    Ok(vec![call.node("Concat", &values.iter().collect::<Vec<_>>(), vec![axis(place)])])
}

/// Splits a value into parts of these sizes along an axis.
fn parts(call: &mut TranslatedCall, value: &ModelValue, place: usize, sizes: &[i64]) -> Vec<ModelValue> {
    if sizes.len() == 1 {
        // `Split` into one part is an identity, and its shape rule requires two parts.
        return vec![call.node("Identity", &[value], Vec::new())];
    }
    let list = call.out.list("split", sizes);
    call.out.nodes("Split", &[value, &list], vec![axis(place)], sizes.len())
}

/// `split`: proportions become sizes.
pub(super) fn split(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("value")?;
    let ratios = call.ints("ratios")?;
    let place = checked_axis(call, call.int("axis")?, value.rank())?;
    if ratios.is_empty() || ratios.iter().any(|ratio| *ratio < 1) {
        return Err(Refused::meaning("`split` needs `ratios` above 0"));
    }
    let Some(extent) = value.dims.as_ref().and_then(|dims| lists::known_at(dims, place)) else {
        if ratios.len() < 2 || ratios.iter().any(|ratio| Some(ratio) != ratios.first()) {
            return Err(call.open_extents());
        }
        let count = ("num_outputs", AttributeValue::Int(ratios.len() as i64));
        return Ok(call.out.nodes("Split", &[&value], vec![axis(place), count], ratios.len()));
    };
    let sizes = sizes(&ratios, extent);
    let sizes = sizes.ok_or_else(|| Refused::meaning(format!("an extent of {extent} cannot be split as {ratios:?}")));
    Ok(parts(call, &value, place, &sizes?))
}

/// The sizes of parts of an extent with these proportions; none if the extent is not a multiple of their sum.
fn sizes(ratios: &[i64], extent: i64) -> Option<Vec<i64>> {
    let total = ratios.iter().try_fold(0_i64, |total, ratio| total.checked_add(*ratio))?;
    let part = extent.checked_div(total).filter(|part| part.checked_mul(total) == Some(extent))?;
    ratios.iter().map(|ratio| part.checked_mul(*ratio)).collect()
}

/// `unstack`: parts of extent 1 without that axis.
pub(super) fn unstack(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("value")?;
    let place = checked_axis(call, call.int("axis")?, value.rank())?;
    let count = call.results().len();
    let parts = parts(call, &value, place, &vec![1; count]);
    let axes = call.out.list("axes", &[place as i64]);
    Ok(parts.iter().map(|part| call.node("Squeeze", &[part, &axes], Vec::new())).collect())
}

/// `slice`: an end of 0 means the end of the axis.
pub(super) fn slice(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let axes = call.ints("axes")?;
    let (Ok(begin), Ok(mut end)) = (call.ints("begin"), call.ints("end")) else { return slice_to(call, &value, &axes) };
    let mut stride = call.ints("stride")?;
    if stride.is_empty() {
        stride = vec![1; axes.len()];
    }
    if [begin.len(), end.len(), stride.len()] != [axes.len(); 3] {
        return Err(Refused::meaning("`axes`, `begin`, `end` and `stride` of `slice` differ in length"));
    }
    if stride.contains(&0) {
        return Err(Refused::meaning("`slice` has a `stride` of 0"));
    }
    call.checked_axes(&axes, value.rank())?;
    for (end, stride) in end.iter_mut().zip(&stride) {
        if *end == 0 && *stride > 0 {
            *end = i64::MAX;
        }
    }
    let steps = stride.iter().any(|stride| *stride != 1);
    let lists = [("starts", begin), ("ends", end), ("axes", axes), ("steps", stride)];
    let lists: Vec<ModelValue> =
        lists.iter().take(if steps { 4 } else { 3 }).map(|(name, items)| call.out.list(name, items)).collect();
    let inputs: Vec<&ModelValue> = std::iter::once(&value).chain(&lists).collect();
    Ok(vec![call.node("Slice", &inputs, Vec::new())])
}

/// `slice` between indices that tensors compute.
fn slice_to(call: &mut TranslatedCall, value: &ModelValue, axes: &[i64]) -> Translation<Vec<ModelValue>> {
    call.checked_axes(axes, value.rank())?;
    let stride = call.ints("stride")?;
    if stride.iter().any(|stride| *stride < 1) {
        return Err(call.unknown("end"));
    }
    let begin = call.integer_list("begin")?;
    let end = match call.ints("end") {
        Ok(end) => {
            let whole = |end: &i64| if *end == 0 { i64::MAX } else { *end };
            call.out.list("ends", &end.iter().map(whole).collect::<Vec<_>>())
        }
        Err(_) => {
            let end = call.integer_list("end")?;
            let (zero, most) = (call.out.integer(0), call.out.integer(i64::MAX));
            let whole = call.node("Equal", &[&end, &zero], Vec::new());
            call.node("Where", &[&whole, &most, &end], Vec::new())
        }
    };
    let places = call.out.list("axes", axes);
    let mut inputs = vec![value.clone(), begin, end, places];
    if stride.iter().any(|stride| *stride != 1) {
        inputs.push(call.out.list("steps", &stride));
    }
    Ok(vec![call.node("Slice", &inputs.iter().collect::<Vec<_>>(), Vec::new())])
}

/// `gather`
pub(super) fn gather(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, indices) = (call.value("input")?, call.value("indices")?);
    let place = checked_axis(call, call.int("axis")?, value.rank())?;
    let indices = call.out.cast(&indices, NnefElement::Int);
    Ok(vec![call.node("Gather", &[&value, &indices], vec![axis(place)])])
}

/// `cast`
pub(super) fn cast(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let to = call.operation.dtype().and_then(NnefElement::of);
    let to = to.ok_or_else(|| Refused::unknown("the type that `cast` gives is not known"))?;
    Ok(vec![call.out.cast(&value, to)])
}

/// `copy_n`
pub(super) fn copy_n(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("x")?;
    let count = call.results().len();
    Ok(vec![value; count])
}

/// `add_n`: the result consists of scalars and has at least one axis.
pub(super) fn add_n(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let values = call.list("x")?;
    let values: Vec<ModelValue> = values.iter().map(|value| call.out.cast(value, NnefElement::Float)).collect();
    let rank = common_rank(call, &[Bound::Many(values.clone())])?;
    let values: Vec<ModelValue> = match rank {
        Some(rank) => values.iter().map(|value| call.out.lengthen(value, rank)).collect(),
        None => values,
    };
    let scalar = values.iter().all(|value| value.rank() == Some(0));
    let zero = call.out.constant("zero", NnefElement::Float, &[1], &[0.0]);
    let inputs: Vec<&ModelValue> = values.iter().chain(scalar.then_some(&zero)).collect();
    Ok(vec![call.node("Sum", &inputs, Vec::new())])
}

/// The index of the least or greatest item in the row-major order of the reduced axes, which are combined into one axis
/// at the end.
pub(super) fn extreme(call: &mut TranslatedCall, op: &str, last_place: bool) -> Translation<Vec<ModelValue>> {
    let chosen = || last_place.then_some(("select_last_index", AttributeValue::Int(1)));
    let mut value = call.value("input")?;
    if value.element == NnefElement::Bool {
        value = call.out.cast(&value, NnefElement::Float);
    }
    let given = call.ints("axes")?;
    let last = ("axis", AttributeValue::Int(-1));
    if let [axis] = given[..] {
        checked_axis(call, axis, value.rank())?;
        let axis = ("axis", AttributeValue::Int(axis));
        return Ok(vec![call.node(op, &[&value], [axis].into_iter().chain(chosen()).collect())]);
    }
    let rank = call.rank(&value)?;
    let mut axes = given.iter().map(|axis| checked_axis(call, *axis, Some(rank))).collect::<Translation<Vec<_>>>()?;
    axes.sort_unstable();
    axes.dedup();
    let others = (0..rank).filter(|axis| axes.binary_search(axis).is_err());
    let order: Vec<usize> = others.chain(axes.iter().copied()).collect();
    let moved = call.out.transpose(&value, &order);
    let shape: Vec<i64> = vec![0; rank.saturating_sub(axes.len())].into_iter().chain([-1]).collect();
    let flat = match axes.is_empty() {
        true => call.out.unsqueeze(&moved, &[rank as i64]),
        false => call.out.reshape(&moved, &shape),
    };
    let attributes = [last, ("keepdims", AttributeValue::Int(0))].into_iter().chain(chosen()).collect();
    let made = call.node(op, &[&flat], attributes);
    if axes.is_empty() {
        return Ok(vec![made]);
    }
    let axes: Vec<i64> = axes.iter().map(|axis| *axis as i64).collect();
    Ok(vec![call.out.unsqueeze(&made, &axes)])
}
