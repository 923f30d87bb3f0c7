//! Operators that depend on the order of items: sorting, the largest items, places of extremes.
//!
//! The rank of an item is the number of those before it; a result takes the items of its ranks.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.argmax"], By(|line| place(line, "argmax_reduce"))),
    (&["torch.argmin"], By(|line| place(line, "argmin_reduce"))),
    (&["torch.topk"], By(topk)),
    (&["torch.sort"], By(sort)),
    (&["torch.argsort"], By(argsort)),
    (&["torch.msort"], By(msort)),
    (&["torch.kthvalue"], By(kth_value)),
    (&["torch.median"], By(median)),
    (&["torch.quantile"], By(quantile)),
];

/// The place of the largest or smallest item along an axis; without one, among all items.
pub(super) fn place(line: &mut Line, nnef: &'static str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let kept = line.flag("keepdim")?;
    if line.optional::<i64>("dim")?.is_some() {
        let axis = line.axis("dim", rank, None)?;
        let y = line.add(nnef, vec![Value::Tensor(x), integers([axis])])?;
        return if kept { Ok(vec![y]) } else { Ok(vec![line.without_axes(y, &[axis])?]) };
    }
    let flat = line.reshaped(x, &[product(&extents)?])?;
    let y = line.add(nnef, vec![Value::Tensor(flat), integers([0])])?;
    let y = match kept {
        true => line.reshaped(y, &vec![1; extents.len()])?,
        false => line.without_axes(y, &[0])?,
    };
    Ok(vec![y])
}

/// Which items of an order are wanted.
struct Ranks {
    axis: i64,
    largest_first: bool,
    first: i64,
    count: i64,
}

/// The largest number of pairs of items that are compared.
const MOST_PAIRS: i64 = 1 << 26;

/// The items of some ranks, and their places. Equal items are in their order, and NaN is larger than any number.
fn ranked(line: &mut Line, x: TensorId, ranks: &Ranks) -> Lowered<[TensorId; 2]> {
    let extents = line.extents(x)?;
    let (axis, inner) = (ranks.axis, ranks.axis.saturating_add(1));
    let more = (extents.len() as i64).saturating_add(1);
    let count = extent_of(&extents, axis)?;
    if product(&[product(&extents)?, count])? > MOST_PAIRS || count < 1 {
        return Err(Refusal::Because(format!("more than {MOST_PAIRS} pairs of items would be compared").into()));
    }
    let own = line.with_axes(x, [inner])?;
    let other = line.with_axes(x, [axis])?;
    let of = line.primitive(x)?;
    let (greater, equal) = match of {
        Primitive::Scalar => ("or(gt(@0,@1),and(ne(@0,@0),eq(@1,@1)))", "or(eq(@0,@1),and(ne(@0,@0),ne(@1,@1)))"),
        _ => ("gt(@0,@1)", "eq(@0,@1)"),
    };
    let pair = if ranks.largest_first { [other, own] } else { [own, other] };
    let before = line.formula_of(greater, &pair)?;
    let equal = line.formula_of(equal, &[other, own])?;
    let places = line.counting((more, axis), count)?;
    let others = line.counting((more, inner), count)?;
    let earlier = line.add("lt", vec![Value::Tensor(others), Value::Tensor(places)])?;
    let before = line.formula_of("or(@0,and(@1,@2))", &[before, equal, earlier])?;
    let before = line.cast(before, Primitive::Integer)?;
    let rank = line.add("sum_reduce", vec![Value::Tensor(before), integers([inner])])?;
    let wanted = line.spaced(more, inner, ranks.first, 1, ranks.count)?;
    let picked = line.add("eq", vec![Value::Tensor(rank), Value::Tensor(wanted)])?;
    let mut results = [own, places];
    for (result, of) in results.iter_mut().zip([of, Primitive::Integer]) {
        let zero = ExpandedItem::Literal(Literal::Int(0));
        let chosen = line.select_as(of, picked, [ExpandedItem::Tensor(*result), zero])?;
        let chosen = line.add("sum_reduce", vec![Value::Tensor(chosen), integers([axis])])?;
        *result = line.without_axes(chosen, &[axis])?;
    }
    Ok(results)
}

fn topk(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(Some(-1))?;
    let count = line.at_least("k", 1, None)?;
    line.require("k", count <= extent, &format!("an integer up to {extent}"))?;
    let largest_first = line.setting_or("largest", true)?;
    // Without it, any order would do.
    line.setting_or("sorted", true)?;
    ranked(line, x, &Ranks { axis, largest_first, first: 0, count }).map(Vec::from)
}

/// All items in their order, and their places.
fn sorted(line: &mut Line) -> Lowered<[TensorId; 2]> {
    let (x, axis, count) = line.along_axis(Some(-1))?;
    let largest_first = line.flag("descending")?;
    line.flag("stable")?;
    ranked(line, x, &Ranks { axis, largest_first, first: 0, count })
}

fn sort(line: &mut Line) -> Lowered<Vec<TensorId>> {
    sorted(line).map(Vec::from)
}

fn argsort(line: &mut Line) -> Lowered<Vec<TensorId>> {
    sorted(line).map(|[_, places]| vec![places])
}

/// Sorts along the first axis.
fn msort(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let count = extent_of(&line.extents(x)?, 0)?;
    ranked(line, x, &Ranks { axis: 0, largest_first: false, first: 0, count }).map(|[values, _]| vec![values])
}

/// The item of one rank and its place; the axis is removed unless it is kept.
fn one_rank(line: &mut Line, x: TensorId, axis: i64, first: i64) -> Lowered<Vec<TensorId>> {
    let found = ranked(line, x, &Ranks { axis, largest_first: false, first, count: 1 })?;
    if line.flag("keepdim")? {
        return Ok(found.into());
    }
    found.into_iter().map(|result| line.without_axes(result, &[axis])).collect()
}

fn kth_value(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(Some(-1))?;
    let k = line.at_least("k", 1, None)?;
    line.require("k", k <= extent, &format!("an integer up to {extent}"))?;
    one_rank(line, x, axis, k.saturating_sub(1))
}

/// A place in the order of items, between two of them.
fn quantile(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let q: f64 = line.required("q")?;
    line.require("q", (0.0..=1.0).contains(&q), "a number from 0 to 1")?;
    line.choice("interpolation", &[("linear", ())], Some(()))?;
    if line.optional::<i64>("dim")?.is_none() {
        line.off("keepdim")?;
        let count = product(&line.extents(x)?)?;
        x = line.reshaped(x, &[count])?;
    }
    let extents = line.extents(x)?;
    let axis = line.axis("dim", extents.len() as i64, Some(0))?;
    let last = extent_of(&extents, axis)?.saturating_sub(1);
    let place = q * last as f64;
    let first = place.floor() as i64;
    let mut item = |place: i64| one_rank(line, x, axis, place)?.first().copied().ok_or(Refusal::UNFIT);
    let (low, high) = (item(first)?, item(first.saturating_add(1).min(last))?);
    let part = place - place.floor();
    Ok(vec![line.formula_of(&format!("add(@0,mul(sub(@1,@0),{part:?}))"), &[low, high])?])
}

/// The lower one of the items in the middle; with an axis, and its place. NaN, which would be the result, is not known
/// to be absent.
fn median(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let middle = |extent: i64| extent.saturating_sub(1).max(0) / 2;
    if line.optional::<i64>("dim")?.is_none() {
        let count = product(&extents)?;
        let flat = line.reshaped(x, &[count])?;
        let found = one_rank(line, flat, 0, middle(count))?;
        return Ok(found.into_iter().take(1).collect());
    }
    let axis = line.axis("dim", extents.len() as i64, None)?;
    one_rank(line, x, axis, middle(extent_of(&extents, axis)?))
}
