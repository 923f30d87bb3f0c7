//! Sums, means and maxima over windows along any axes, and transposed sums.

use super::convolution::{attributes, cuts, transposed};
use super::fold::{Folded, by_groups, fold, groups, unfold};
use super::lists::{before, from, known_at, known_product, product};
use super::padding::{Axis, Border, border, least, pad, padded_extent, plain_windows, windows};
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{Attributes, ModelValue, NnefElement, open};
use crate::graph::windows::is_of_space;
use crate::onnx::model::AttributeValue;

/// The operand of a pooling operation with its windows.
pub(super) fn read(call: &mut TranslatedCall, name: &str, up: bool) -> Translation<(ModelValue, Vec<Axis>)> {
    let value = call.scalars(name)?;
    let mut size = call.ints("size")?;
    let dims = value.dims.clone().unwrap_or_else(|| open(size.len()));
    let value = ModelValue { dims: Some(dims.clone()), ..value };
    let of_space = is_of_space(size.len(), dims.len());
    if of_space {
        size.splice(0..0, [1; 2]);
    }
    let axes = windows(call, &size, &dims, up, of_space)?;
    Ok((value, axes))
}

/// Pads an operand if the operators do not support its padding: `always` is set, it is negative, or it is not less than
/// the window. Returns whether the operand was padded.
pub(super) fn padded(call: &mut TranslatedCall, of: &mut Folded, border: Border, always: bool) -> Translation<bool> {
    let known: Option<Vec<(i64, i64)>> = of.axes.iter().map(|axis| axis.window.padding).collect();
    let within = |axis: &Axis| {
        axis.window
            .padding
            .is_none_or(|(a, b)| (0..axis.window.size).contains(&a) && (0..axis.window.size).contains(&b))
    };
    if !always && of.axes.iter().all(within) {
        return Ok(false);
    }
    let known = known.ok_or_else(|| call.open_extents())?;
    let pads: Vec<(i64, i64)> = [(0, 0); 2].into_iter().chain(known).collect();
    of.value = pad(call, &of.value, &pads, border)?;
    for axis in &mut of.axes {
        let (before, after) = axis.window.padding.unwrap_or_default();
        (axis.extent, axis.window.padding) =
            (axis.extent.map(|extent| padded_extent(extent, before, after)), Some((0, 0)));
    }
    Ok(true)
}

fn mean(call: &mut TranslatedCall, of: &Folded, whole: bool) -> ModelValue {
    let mut attributes: Attributes = attributes(&of.axes, true);
    if whole && of.axes.iter().any(|axis| axis.window.padding != Some((0, 0))) {
        attributes.push(("count_include_pad", AttributeValue::Int(1)));
    }
    call.node("AveragePool", &[&of.value], attributes)
}

/// Means over windows. If the border is ignored, only items of the operand count.
fn means(call: &mut TranslatedCall, of: &mut Folded, border: Border) -> Translation<ModelValue> {
    let has_pads = of.axes.iter().any(|axis| axis.window.padding != Some((0, 0)));
    let ignored = border == Border::Ignore && has_pads;
    let ones = of.value.known().filter(|_| ignored);
    let axes = of.axes.clone();
    // Operators do not agree on the mean of no items, so it is divided.
    let empty = ignored && axes.iter().any(|axis| axis.has_empty());
    if !padded(call, of, border, border.repeats() || empty)? {
        return Ok(mean(call, of, border != Border::Ignore));
    }
    let made = mean(call, of, true);
    if !ignored {
        return Ok(made);
    }
    // The part of each window that is within the operand.
    let shape = ones.ok_or_else(|| call.open_extents())?;
    let one = call.out.constant("one", NnefElement::Float, &vec![1; shape.len()], &[1.0]);
    let shape: Vec<i64> = [1, 1].into_iter().chain(from(&shape, 2).iter().copied()).collect();
    let shape = call.out.list("shape", &shape);
    let value = call.node("Expand", &[&one, &shape], Vec::new());
    let extents = [Some(1), Some(1)].into_iter().chain(axes.iter().map(|axis| axis.extent));
    let mut within = Folded { value: value.with(extents), axes, moved: None };
    padded(call, &mut within, Border::Constant(0.0), true)?;
    let part = mean(call, &within, true);
    Ok(call.node("Div", &[&made, &part], Vec::new()))
}

pub(super) fn boxed(call: &mut TranslatedCall, normalize: bool) -> Translation<Vec<ModelValue>> {
    let (value, axes) = read(call, "input", false)?;
    let border = border(call, 0.0)?;
    // For a sum, ignored items are equivalent to 0.
    let border = if border == Border::Ignore && !normalize { Border::Constant(0.0) } else { border };
    let made = by_groups(call, value, &axes, |call, folded| means(call, folded, border))?;
    let volume: f64 = axes.iter().map(|axis| axis.window.size as f64).product();
    if normalize || volume == 1.0 {
        return Ok(vec![made]);
    }
    let volume = call.out.number(NnefElement::Float, volume);
    Ok(vec![call.node("Mul", &[&made, &volume], Vec::new())])
}

/// `box`
pub(super) fn box_filter(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let normalize = call.flag("normalize")?;
    boxed(call, normalize)
}

/// `area_downsample`
pub(super) fn area_downsample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let factor = call.ints("factor")?;
    let sizes: Vec<i64> = [1, 1].into_iter().chain(factor).collect();
    let dims = value.dims.clone().unwrap_or_else(|| open(sizes.len()));
    let axes = plain_windows(call, sizes.iter().map(|size| (*size, *size)), &dims, false)?;
    let value = ModelValue { dims: Some(dims), ..value };
    Ok(vec![by_groups(call, value, &axes, |call, folded| means(call, folded, Border::Constant(0.0)))?])
}

/// Means over windows of a size with stride 1 and automatic padding with zeros.
pub(super) fn local_means(call: &mut TranslatedCall, value: ModelValue, size: &[i64]) -> Translation<ModelValue> {
    let dims = value.dims.clone().unwrap_or_else(|| open(size.len()));
    let axes = plain_windows(call, size.iter().map(|size| (*size, 1)), &dims, true)?;
    by_groups(call, ModelValue { dims: Some(dims), ..value }, &axes, |call, folded| {
        means(call, folded, Border::Constant(0.0))
    })
}

/// Whether the border must be added before maxima are computed, since operators ignore it.
pub(super) fn adds_border(axes: &[Axis], border: Border) -> bool {
    border != Border::Ignore && axes.iter().any(|axis| axis.window.padding != Some((0, 0)))
}

/// The border that is added before maxima are computed; an ignored border becomes the least number.
pub(super) fn added(border: Border, element: NnefElement) -> Border {
    if border == Border::Ignore { Border::Constant(least(element)) } else { border }
}

/// `max_pool`
pub(super) fn max_pool(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, axes) = read(call, "input", false)?;
    let border = border(call, 0.0)?;
    let made = by_groups(call, value, &axes, |call, folded| {
        let always = adds_border(&folded.axes, border);
        padded(call, folded, added(border, NnefElement::Float), always)?;
        let attributes = attributes(&folded.axes, true);
        Ok(call.node("MaxPool", &[&folded.value], attributes))
    })?;
    Ok(vec![made])
}

/// The cuts of all axes of a transposed window, in the order of the operand.
pub(super) fn all_cuts(call: &TranslatedCall, axes: &[Axis]) -> Translation<Vec<(i64, i64)>> {
    let reference = call.ints("output_shape")?;
    let of = |(i, axis): (usize, &Axis)| cuts(call, *axis, reference.get(i).copied());
    axes.iter().enumerate().map(of).collect()
}

/// The windows with cuts as their padding.
pub(super) fn with_cuts(axes: &[Axis], cuts: &[(i64, i64)]) -> Vec<Axis> {
    axes.iter().zip(cuts).map(|(axis, cuts)| axis.padded(Some(*cuts))).collect()
}

/// The extents of the result of a transposed window.
pub(super) fn enlarged(call: &TranslatedCall, axes: &[Axis]) -> Translation<Vec<i64>> {
    let of = |axis: &Axis| axis.window.padded(axis.window.padding?).extent(&axis.extent?);
    axes.iter().map(|axis| of(axis).ok_or_else(|| call.open_extents())).collect()
}

/// The most items of a filter of ones.
const MOST_IN_FILTER: i64 = 1 << 20;

/// `debox`: a transposed convolution of each plane separately, with a filter of ones.
pub(super) fn debox(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, axes) = read(call, "input", true)?;
    let (border, normalize) = (border(call, 0.0)?, call.flag("normalize")?);
    let cuts = all_cuts(call, &axes)?;
    let axes = with_cuts(&axes, &cuts);
    let moved_always: Vec<Axis> = axes.clone();
    let mut made = value;
    for mut group in groups(call, &moved_always)? {
        for (axis, extent) in group.iter_mut().zip(made.dims.iter().flat_map(|dims| dims.iter())) {
            axis.extent = *extent;
        }
        let extents = enlarged(call, &group);
        let folded = fold_planes(call, &made, &group)?;
        let inner = enlarged(call, &folded.axes)?;
        let sizes: Vec<i64> = folded.axes.iter().map(|axis| axis.window.size).collect();
        let volume = product(&sizes).filter(|volume| *volume <= MOST_IN_FILTER);
        let volume = volume.ok_or_else(|| Refused::meaning(format!("`debox` has windows of {sizes:?} items")))?;
        call.check_memory()?;
        let dims: Vec<i64> = [1, 1].into_iter().chain(sizes).collect();
        let item = if normalize { 1.0 / volume as f64 } else { 1.0 };
        let filter = call.out.constant("filter", NnefElement::Float, &dims, &vec![item; volume as usize]);
        let cuts: Vec<(i64, i64)> = folded.axes.iter().map(|axis| axis.window.padding.unwrap_or_default()).collect();
        let result = transposed(call, (&folded.value, &filter, None), &folded.axes, (border, 1), &cuts)?;
        made = unfold(call, result, &folded.moved, &inner)?;
        if let Ok(extents) = extents {
            made = made.with(extents.into_iter().map(Some));
        }
    }
    Ok(vec![made])
}

/// Like [`fold`], but the result always has one channel.
fn fold_planes(call: &mut TranslatedCall, value: &ModelValue, axes: &[Axis]) -> Translation<Folded> {
    let folded = fold(call, value, axes)?;
    let Some(dims) = folded.value.dims.clone().filter(|_| folded.moved.is_none()) else { return Ok(folded) };
    if known_at(&dims, 1) == Some(1) {
        return Ok(folded);
    }
    let inner: Option<Vec<i64>> = from(&dims, 2).iter().copied().collect();
    let inner = inner.ok_or_else(|| call.open_extents())?;
    let outer = known_product(before(&dims, 2));
    let shape: Vec<i64> = [outer.unwrap_or(-1), 1].into_iter().chain(inner).collect();
    let value = call.out.reshape(&folded.value, &shape);
    Ok(Folded { value, moved: Some(((0..dims.len()).collect(), dims)), ..folded })
}
