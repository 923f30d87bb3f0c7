//! Indices within windows: those of maxima, and reading and writing at indices.

use super::convolution::attributes;
use super::fold::{Folded, counts, fold, unfold};
use super::lists::{known_at, product};
use super::padding::{Axis, Border, border, pad};
use super::pool::{added, adds_border, all_cuts, enlarged, padded, read, with_cuts};
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{ModelValue, NnefElement};
use crate::onnx::model::AttributeValue;

/// The row-major strides of extents.
fn strides(extents: &[i64]) -> Vec<i64> {
    let mut found: Vec<i64> = extents
        .iter()
        .rev()
        .scan(1_i64, |all, extent| {
            let stride = *all;
            *all = all.saturating_mul(*extent);
            Some(stride)
        })
        .collect();
    found.reverse();
    found
}

/// Numbers along an axis, as a constant tensor that is broadcast along the other axes.
fn along(
    call: &mut TranslatedCall,
    axis: usize,
    axes: usize,
    items: impl Iterator<Item = i64>,
) -> Translation<ModelValue> {
    let items: Vec<f64> = items.map(|item| item as f64).collect();
    let extent = |other: usize| if other == axis { items.len() as i64 } else { 1 };
    let dims: Vec<i64> = [1, 1].into_iter().chain((0..axes).map(extent)).collect();
    let made = call.out.constant("places", NnefElement::Int, &dims, &items);
    call.check_memory()?;
    Ok(made)
}

/// The most windows along an axis whose places are listed.
const MOST_LISTED: i64 = 1 << 20;

/// The number of items in planes of these extents, if their places can be numbered.
fn plane(call: &TranslatedCall, extents: &[i64], counts: &[i64]) -> Translation<i64> {
    let listed = counts.iter().chain(extents).all(|count| (1..=MOST_LISTED).contains(count));
    let plane = product(extents).filter(|_| listed && product(counts).is_some());
    plane.ok_or_else(|| Refused::meaning(format!("`{}` has no indices, or too many", call.name())))
}

fn number(call: &mut TranslatedCall, op: &str, value: &ModelValue, with: i64) -> ModelValue {
    if with == 1 && matches!(op, "Mul" | "Div") {
        return value.clone();
    }
    let with = call.out.number(NnefElement::Int, with as f64);
    call.node(op, &[value, &with], Vec::new())
}

fn sum(call: &mut TranslatedCall, total: Option<ModelValue>, more: ModelValue) -> ModelValue {
    match total {
        None => more,
        Some(total) => call.node("Add", &[&total, &more], Vec::new()),
    }
}

/// The maxima of windows, and their row-major indices within the windows.
fn greatest(call: &mut TranslatedCall) -> Translation<(ModelValue, ModelValue)> {
    let (value, axes) = read(call, "input", false)?;
    let border = border(call, 0.0)?;
    if border == Border::Ignore && axes.iter().any(|axis| axis.has_empty()) {
        return Err(Refused::meaning(format!("`{}` has a window that covers no item, without an index", call.name())));
    }
    let mut folded = fold(call, &value, &axes)?;
    let always = adds_border(&folded.axes, border);
    padded(call, &mut folded, added(border, NnefElement::Float), always)?;
    let counts = counts(call, &folded.axes)?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let attributes = attributes(&folded.axes, true);
    let mut made = call.out.nodes("MaxPool", &[&folded.value], attributes, 2);
    let (flat, best) = (ModelValue { element: NnefElement::Int, ..made.remove(1) }, made.remove(0));
    // The operator returns indices in the whole operand.
    let plane = plane(call, &extents, &counts)?;
    let modulus = call.out.integer(plane);
    let place = call.node("Mod", &[&flat, &modulus], Vec::new());
    let sizes: Vec<i64> = folded.axes.iter().map(|axis| axis.window.size).collect();
    let (steps, windows) = (strides(&extents), strides(&sizes));
    let numbers = extents.iter().zip(&counts).zip(steps.iter().zip(&windows));
    let mut total = None;
    for ((i, axis), ((extent, windows_here), (step, window))) in folded.axes.iter().enumerate().zip(numbers) {
        let mut at = number(call, "Div", &place, *step);
        if i > 0 {
            let modulus = call.out.integer(*extent);
            at = call.node("Mod", &[&at, &modulus], Vec::new());
        }
        let before = axis.window.padding.unwrap_or_default().0;
        let (stride, count) = (axis.window.stride, folded.axes.len());
        let first = (0..*windows_here).map(|at| at.saturating_mul(stride).saturating_sub(before));
        let first = along(call, i, count, first)?;
        let within = call.node("Sub", &[&at, &first], Vec::new());
        let within = number(call, "Div", &within, axis.window.dilation);
        let within = number(call, "Mul", &within, *window);
        total = Some(sum(call, total, within));
    }
    let index = total.ok_or_else(|| Refused::meaning("a window without axes"))?;
    Ok((unfold(call, best, &folded.moved, &counts)?, unfold(call, index, &folded.moved, &counts)?))
}

/// `max_pool_with_index`
pub(super) fn max_pool_with_index(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (best, index) = greatest(call)?;
    Ok(vec![best, index])
}

/// `argmax_pool`
pub(super) fn argmax_pool(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    Ok(vec![greatest(call)?.1])
}

/// Converts indices within windows to indices in an operand or a result.
fn places(
    call: &mut TranslatedCall,
    index: &ModelValue,
    axes: &[Axis],
    extents: &[i64],
    counts: &[i64],
) -> Translation<ModelValue> {
    let sizes: Vec<i64> = axes.iter().map(|axis| axis.window.size).collect();
    let (steps, windows) = (strides(extents), strides(&sizes));
    let mut total = None;
    for ((i, axis), (count, (step, window))) in
        axes.iter().enumerate().zip(counts.iter().zip(steps.iter().zip(&windows)))
    {
        let mut within = number(call, "Div", index, *window);
        if i > 0 {
            let modulus = call.out.integer(axis.window.size);
            within = call.node("Mod", &[&within, &modulus], Vec::new());
        }
        let within = number(call, "Mul", &within, axis.window.dilation.saturating_mul(*step));
        let first = (0..*count).map(|at| at.saturating_mul(axis.window.stride).saturating_mul(*step));
        let first = along(call, i, axes.len(), first)?;
        let within = call.node("Add", &[&within, &first], Vec::new());
        total = Some(sum(call, total, within));
    }
    total.ok_or_else(|| Refused::meaning("a window without axes"))
}

/// The argument `index` of `sample` and `desample`, folded like the operand.
fn folded_index(call: &mut TranslatedCall, folded: &Folded, counts: &[i64]) -> Translation<ModelValue> {
    let index = call.value("index")?;
    let Some((order, _)) = &folded.moved else { return Ok(index) };
    let moved = if order.is_empty() { index } else { call.out.transpose(&index, order) };
    let shape: Vec<i64> = [-1, 1].into_iter().chain(counts.iter().copied()).collect();
    Ok(call.out.reshape(&moved, &shape))
}

/// The first two extents of a folded operand, for `Reshape`.
fn outer(folded: &Folded) -> [i64; 2] {
    match (&folded.moved, &folded.value.dims) {
        (None, _) => [0, 0],
        (Some(_), Some(dims)) => [known_at(dims, 0).unwrap_or(-1), 1],
        (Some(_), None) => [-1, 1],
    }
}

/// `sample`
pub(super) fn sample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, axes) = read(call, "input", false)?;
    let border = border(call, 0.0)?;
    let mut folded = fold(call, &value, &axes)?;
    let counts = counts(call, &folded.axes)?;
    padded(call, &mut folded, added(border, NnefElement::Float), true)?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let (all, windows) = (plane(call, &extents, &counts)?, plane(call, &counts, &extents)?);
    let index = folded_index(call, &folded, &counts)?;
    let places = places(call, &index, &folded.axes.clone(), &extents, &counts)?;
    let [first, second] = outer(&folded);
    let plane = call.out.reshape(&folded.value, &[first, second, all]);
    let places = call.out.reshape(&places, &[first, second, windows]);
    let made = call.node("GatherElements", &[&plane, &places], vec![("axis", AttributeValue::Int(2))]);
    let shape: Vec<i64> = [first, second].into_iter().chain(counts.iter().copied()).collect();
    let made = call.out.reshape(&made, &shape);
    Ok(vec![unfold(call, made, &folded.moved, &counts)?])
}

/// `desample`: items that are written to the same index are added.
pub(super) fn desample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, axes) = read(call, "input", true)?;
    if border(call, 0.0)?.repeats() {
        return Err(Refused::meaning("`desample` with a border that repeats items"));
    }
    let cuts = all_cuts(call, &axes)?;
    let folded = fold(call, &value, &with_cuts(&axes, &cuts))?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let index = folded_index(call, &folded, &extents)?;
    let whole: Vec<i64> = folded.axes.iter().zip(&extents).map(|(axis, extent)| axis.enlarged(*extent)).collect();
    let (count, all) = (plane(call, &extents, &whole)?, plane(call, &whole, &extents)?);
    let places = places(call, &index, &folded.axes.clone(), &whole, &extents)?;
    let dims = folded.value.dims.clone().unwrap_or_default();
    let second = if folded.moved.is_some() { Some(1) } else { known_at(&dims, 1) };
    let (Some(first), Some(second)) = (known_at(&dims, 0), second) else { return Err(call.open_extents()) };
    let items = call.out.reshape(&folded.value, &[first, second, count]);
    let places = call.out.reshape(&places, &[first, second, count]);
    let zero = call.out.constant("zero", NnefElement::Float, &[1, 1, 1], &[0.0]);
    let shape = call.out.list("shape", &[first, second, all]);
    let zeros = call.node("Expand", &[&zero, &shape], Vec::new());
    let reduction = ("reduction", super::value::text("add"));
    let attributes = vec![("axis", AttributeValue::Int(2)), reduction];
    let made = call.node("ScatterElements", &[&zeros, &places, &items], attributes);
    let shape: Vec<i64> = [first, second].into_iter().chain(whole.iter().copied()).collect();
    let made = call.out.reshape(&made, &shape);
    let pads: Vec<(i64, i64)> = folded.axes.iter().map(|axis| axis.window.padding.unwrap_or_default()).collect();
    let pads: Vec<(i64, i64)> = [(0, 0); 2]
        .into_iter()
        .chain(pads.into_iter().map(|(a, b)| (a.saturating_neg(), b.saturating_neg())))
        .collect();
    let made = pad(call, &made, &pads, Border::Constant(0.0))?;
    let inner = enlarged(call, &folded.axes)?;
    Ok(vec![unfold(call, made, &folded.moved, &inner)?])
}
