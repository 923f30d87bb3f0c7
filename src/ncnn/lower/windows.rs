//! Layers with windows: convolutions and pooling.

use super::quantized::LayerScales;
use super::{LayerLine, LayerRuleRow};
use crate::extents::{End, Window};
use crate::graph::{TensorId, Value};
use crate::library::assembly::{Assembly, integers, of_windows, pairs};
use crate::pnnx::lower::windows::pooled;
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["Convolution", "Convolution1D", "Convolution3D"], |line| convolution(line, false)),
    (&["ConvolutionDepthWise", "ConvolutionDepthWise1D", "ConvolutionDepthWise3D"], |line| convolution(line, true)),
    (&["Deconvolution", "Deconvolution1D", "Deconvolution3D"], |line| deconvolution(line, false)),
    (&["DeconvolutionDepthWise", "DeconvolutionDepthWise1D", "DeconvolutionDepthWise3D"], |line| {
        deconvolution(line, true)
    }),
    (&["Pooling", "Pooling1D", "Pooling3D"], pooling),
    (&["Unfold"], unfold),
    (&["Fold"], fold),
];

/// Paddings that follow from the size: the larger half behind or before the items.
const SAME_UPPER: i64 = -233;
const SAME_LOWER: i64 = -234;

/// The kernel and how it is applied along an axis, by the names of parameters. Axes are ordered as in blobs.
struct AxisNames {
    kernel: &'static str,
    dilation: &'static str,
    stride: &'static str,
    padding: [&'static str; 2],
    /// What is added to the end of a transposed convolution, and its extent.
    output: [&'static str; 2],
    /// The extent of adaptive pooling.
    adaptive: &'static str,
}

const DEPTH: AxisNames = AxisNames {
    kernel: "kernel_d",
    dilation: "dilation_d",
    stride: "stride_d",
    padding: ["pad_front", "pad_behind"],
    output: ["output_pad_behind", "output_d"],
    adaptive: "out_d",
};
const HEIGHT: AxisNames = AxisNames {
    kernel: "kernel_h",
    dilation: "dilation_h",
    stride: "stride_h",
    padding: ["pad_top", "pad_bottom"],
    output: ["output_pad_bottom", "output_h"],
    adaptive: "out_h",
};
const WIDTH: AxisNames = AxisNames {
    kernel: "kernel_w",
    dilation: "dilation_w",
    stride: "stride_w",
    padding: ["pad_left", "pad_right"],
    output: ["output_pad_right", "output_w"],
    adaptive: "out_w",
};

/// The axes of a kind: it ends in `1D` or `3D`, or has two.
fn axes(line: &LayerLine) -> &'static [AxisNames] {
    const ALL: &[AxisNames] = &[DEPTH, HEIGHT, WIDTH];
    let kind = line.settings.layer.kind.as_str();
    let skipped = if kind.ends_with("1D") { 2 } else { usize::from(!kind.ends_with("3D")) };
    ALL.get(skipped..).unwrap_or_default()
}

/// The extents of the operand: channels, and those of the axes.
fn operand(line: &LayerLine, axes: &[AxisNames]) -> Lowered<(TensorId, Vec<i64>)> {
    let x = line.only()?;
    let extents = line.to.extents(x)?;
    match extents.len() == axes.len().saturating_add(1) && !extents.contains(&0) {
        true => Ok((x, extents)),
        false => Err(Refusal::UNFIT),
    }
}

/// Windows without padding.
fn windows(line: &LayerLine, axes: &[AxisNames], dilates: bool) -> Lowered<Vec<Window>> {
    let window = |axis: &AxisNames| {
        let (size, stride) = (line.integer(axis.kernel)?, line.integer(axis.stride)?);
        let dilation = if dilates { line.integer(axis.dilation)? } else { 1 };
        line.require(axis.kernel, size > 0, "a positive number")?;
        line.require(axis.stride, stride > 0, "a positive number")?;
        line.require(if dilates { axis.dilation } else { axis.stride }, dilation > 0, "a positive number")?;
        Ok(Window { size, stride, dilation, padding: (0, 0) })
    };
    axes.iter().map(window).collect()
}

/// Weights for the channels, with an axis for the batch.
fn bias(line: &mut LayerLine) -> Lowered<Value> {
    line.note("bias_term");
    match line.weight_if("bias_data") {
        Some(bias) => line.to.with_axes(bias, [0]).map(Value::Tensor),
        None => Ok(Value::Scalar(0.0)),
    }
}

/// What a layer with weights must not have, and what its weights say already.
fn plain(line: &LayerLine) -> Lowered<()> {
    ["num_output", "weight_data_size"].iter().for_each(|name| line.note(name));
    match line.settings.row.named("dynamic_weight") {
        Some(_) => line.is("dynamic_weight", 0),
        None => Ok(()),
    }
}

/// Settings of torch for windows of planes, by name, and the padding before and behind each axis.
type PlaneWindows = (Vec<(&'static str, String)>, Vec<(i64, i64)>);

/// The settings of torch for windows of planes, and the padding that is given.
fn columns(line: &LayerLine) -> Lowered<PlaneWindows> {
    let axes = [HEIGHT, WIDTH];
    let pair = |names: [&str; 2]| Ok(format!("({},{})", line.integer(names[0])?, line.integer(names[1])?));
    let settings = vec![
        ("kernel_size", pair([HEIGHT.kernel, WIDTH.kernel])?),
        ("dilation", pair([HEIGHT.dilation, WIDTH.dilation])?),
        ("stride", pair([HEIGHT.stride, WIDTH.stride])?),
    ];
    let mut padding = Vec::new();
    for AxisNames { padding: [before, behind], .. } in axes {
        let pair = (line.integer(before)?, line.integer(behind)?);
        line.require(before, pair.0 >= 0 && pair.1 >= 0, "a number that is not negative")?;
        padding.push(pair);
    }
    Ok((settings, padding))
}

/// Windows as columns.
fn unfold(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (mut x, (settings, padding)) = (line.only()?, columns(line)?);
    let value = line.scalar("pad_value")?;
    if line.to.rank(x)? != 3 {
        return Err(Refusal::UNFIT);
    }
    if padding.iter().any(|pair| *pair != (0, 0)) {
        let padding = pairs([(0, 0)].into_iter().chain(padding));
        x = line.to.on("pad", x, [padding, Value::String("constant".into()), Value::Scalar(value)])?;
    }
    Ok(vec![torch(&mut line.to, "F.unfold", &[("input", x)], &settings)?])
}

/// The sums of columns at the places of their windows.
fn fold(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, (mut settings, padding)) = (line.only()?, columns(line)?);
    let &[rows, columns] = &padding[..] else { return Err(Refusal::UNFIT) };
    for ((before, behind), name) in [(rows, "pad_bottom"), (columns, "pad_right")] {
        line.require(name, before == behind, "the padding on the other side")?;
    }
    settings.push(("padding", format!("({},{})", rows.0, columns.0)));
    settings.push(("output_size", format!("({},{})", line.integer("output_h")?, line.integer("output_w")?)));
    Ok(vec![torch(&mut line.to, "F.fold", &[("input", x)], &settings)?])
}

fn convolution(line: &mut LayerLine, grouped: bool) -> Lowered<Vec<TensorId>> {
    plain(line)?;
    let axes = axes(line);
    let (x, extents) = operand(line, axes)?;
    let mut windows = windows(line, axes, true)?;
    line.require("pad_value", line.scalar("pad_value")? == 0.0, "0")?;
    let mut given = Vec::new();
    for axis in axes {
        let [before, behind] = axis.padding;
        given.push((line.integer(before)?, line.integer(behind)?));
    }
    let all = |value: i64| given.iter().all(|padding| *padding == (value, value));
    for ((window, padding), extent) in windows.iter_mut().zip(&given).zip(extents.iter().skip(1)) {
        *window = match () {
            () if all(SAME_UPPER) => window.automatic(End::After, *extent, 0).ok_or(Refusal::UNFIT)?,
            () if all(SAME_LOWER) => window.automatic(End::Before, *extent, 0).ok_or(Refusal::UNFIT)?,
            () => window.padded(*padding),
        };
        line.require("pad_left", window.padding.0.min(window.padding.1) >= 0, "a number that is not negative")?;
    }
    let groups = if grouped { line.integer("group")? } else { 1 };
    line.require("group", groups > 0, "a positive number")?;
    let weight = line.weight("weight_data")?;
    let inner = line.to.extents(weight)?.get(1).and_then(|inner| inner.checked_mul(groups));
    if inner != extents.first().copied() {
        return Err(Refusal::UNFIT);
    }
    let plain = x;
    let (mut x, mut bias) = (line.batch(x)?, bias(line)?);
    let mut weight = weight;
    let scales = LayerScales::read(line)?;
    if let Some(scales) = &scales {
        (x, weight) = (scales.operand(line, x, plain)?, scales.weight(line, weight)?);
        bias = Value::Scalar(0.0);
    }
    let arguments = [Value::Tensor(weight), bias].into_iter().chain(of_windows("constant", &windows));
    let mut y = line.to.on("conv", x, arguments.chain([Value::Int(groups)]))?;
    if let Some(scales) = &scales {
        y = scales.number(line, y, 1, line.weight_if("bias_data"))?;
    }
    y = line.activated(y)?;
    if let Some(scales) = &scales {
        y = scales.result(line, y)?;
    }
    let result = line.unbatch(y)?;
    if let Some(scales) = &scales {
        scales.note(line, result);
    }
    Ok(vec![result])
}

/// A list as a parameter of torch.
fn list(items: impl IntoIterator<Item = i64>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("({})", items.join(","))
}

fn deconvolution(line: &mut LayerLine, grouped: bool) -> Lowered<Vec<TensorId>> {
    plain(line)?;
    let axes = axes(line);
    let (x, extents) = operand(line, axes)?;
    let windows = windows(line, axes, true)?;
    let (mut padding, mut more) = (Vec::new(), Vec::new());
    for axis in axes {
        let [before, behind] = axis.padding;
        let both = (line.integer(before)?, line.integer(behind)?);
        line.require(before, both.0 == both.1 && both.0 >= 0, "the same number at both ends")?;
        padding.push(both.0);
        let [pad, extent] = axis.output;
        more.push(line.integer(pad)?);
        line.is(extent, 0)?;
    }
    // Weights have the channels of the result first, in torch those of the operand are.
    let weight = line.weight("weight_data")?;
    let shape = line.to.extents(weight)?;
    let at = usize::from(grouped);
    let mut order: Vec<i64> = (0..shape.len() as i64).collect();
    order.swap(at, at.saturating_add(1));
    let mut weight = line.to.transposed(weight, &order)?;
    let groups = if grouped { line.integer("group")? } else { 1 };
    if grouped && let [groups, outer, inner, size @ ..] = &shape[..] {
        let channels = groups.checked_mul(*inner).ok_or(Refusal::UNFIT)?;
        weight = line.to.reshaped(weight, &[&[channels, *outer], size].concat())?;
    }
    if line.to.extents(weight)?.first() != extents.first() {
        return Err(Refusal::UNFIT);
    }
    let x = line.batch(x)?;
    line.note("bias_term");
    let mut operands = vec![("input", x), ("weight", weight)];
    operands.extend(line.weight_if("bias_data").map(|bias| ("bias", bias)));
    let parameters = [
        ("stride", list(windows.iter().map(|window| window.stride))),
        ("padding", list(padding)),
        ("dilation", list(windows.iter().map(|window| window.dilation))),
        ("output_padding", list(more)),
        ("groups", groups.to_string()),
    ];
    let y = torch(&mut line.to, &format!("F.conv_transpose{}d", axes.len()), &operands, &parameters)?;
    let y = line.activated(y)?;
    Ok(vec![line.unbatch(y)?])
}

fn pooling(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let axes = axes(line);
    let (x, extents) = operand(line, axes)?;
    let kind = line.integer("pooling_type")?;
    line.require("pooling_type", [0, 1].contains(&kind), "0 or 1")?;
    let is_mean = kind == 1;
    if line.flag("global_pooling")? {
        ignore(line, axes);
        let spatial: Vec<i64> = (1..extents.len() as i64).collect();
        let y =
            line.to.on(if is_mean { "mean_reduce" } else { "max_reduce" }, x, [integers(spatial.iter().copied())])?;
        return Ok(vec![line.to.without_axes(y, &spatial)?]);
    }
    if line.flag("adaptive_pooling")? {
        return adaptive(line, axes, x, &extents, is_mean);
    }
    axes.iter().for_each(|axis| line.note(axis.adaptive));
    let mut windows = windows(line, axes, false)?;
    let mode = line.integer("pad_mode")?;
    line.require("pad_mode", (0..=3).contains(&mode), "0 to 3")?;
    let counts = line.flag("avgpool_count_include_pad")?;
    for ((window, axis), extent) in windows.iter_mut().zip(axes).zip(extents.iter().skip(1)) {
        let [before, behind] = axis.padding;
        let given = window.padded((line.integer(before)?, line.integer(behind)?));
        *window =
            padded(given, mode, *extent).ok_or_else(|| line.unsupported(before, "windows that all have items"))?;
    }
    // Around items that are padded by the rule, zeros are items of means.
    let border = if is_mean && (counts || mode > 1) { "constant" } else { "ignore" };
    let x = line.batch(x)?;
    let y = pooled(&mut line.to, if is_mean { "avg_pool" } else { "max_pool" }, x, border, &windows)?;
    Ok(vec![line.unbatch(y)?])
}

/// A window with its padding: what is given, and in mode 0 what the last incomplete window needs; in modes 2 and 3 what
/// gives as many windows as there are strides. None if a window would have no items.
fn padded(window: Window, mode: i64, extent: i64) -> Option<Window> {
    let (before, behind) = window.padding;
    if mode > 1 {
        // What is given has no effect on windows, but on means.
        let larger = if mode == 2 { End::After } else { End::Before };
        return Some(window).filter(|window| window.padding == (0, 0))?.automatic(larger, extent, 0);
    }
    let room = window.room(&extent).filter(|room| *room >= 0)?;
    // In mode 0 the layer rounds up wherever the last window begins.
    let (within, strides) = match mode {
        1 => (window, room.checked_div(window.stride)?),
        _ => (window.rounded_up(extent)?, window.strides(&room)?),
    };
    let reaches = strides.checked_mul(window.stride)? < extent.checked_add(before)?;
    (before >= 0 && behind >= 0 && before < window.size && reaches).then_some(within)
}

/// Notes the parameters of windows, which have no effect.
fn ignore(line: &LayerLine, axes: &[AxisNames]) {
    for axis in axes {
        let names = [axis.kernel, axis.stride, axis.adaptive].into_iter().chain(axis.padding);
        names.for_each(|name| line.note(name));
    }
    ["adaptive_pooling", "pad_mode", "avgpool_count_include_pad"].iter().for_each(|name| line.note(name));
}

/// Pooling to given extents.
fn adaptive(
    line: &mut LayerLine,
    axes: &[AxisNames],
    x: TensorId,
    extents: &[i64],
    is_mean: bool,
) -> Lowered<Vec<TensorId>> {
    ignore(line, axes);
    let size = |(axis, extent): (&AxisNames, &i64)| match line.integer(axis.adaptive)? {
        SAME_UPPER => Ok(*extent),
        size => Ok(size),
    };
    let sizes = axes.iter().zip(extents.iter().skip(1)).map(size).collect::<Lowered<Vec<i64>>>()?;
    let kind = format!("F.adaptive_{}_pool{}d", if is_mean { "avg" } else { "max" }, axes.len());
    let x = line.batch(x)?;
    let y = torch(&mut line.to, &kind, &[("input", x)], &[("output_size", list(sizes))])?;
    Ok(vec![line.unbatch(y)?])
}
