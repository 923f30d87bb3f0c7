//! Convolutions and pooling.

use crate::extents::Window;
use crate::graph::Value;
use crate::library::assembly::{Assembly, of_pools, of_windows};
use crate::onnx::operators::AutoPad;
use crate::onnx::to_nnef::emit::{integers, pairs, text};
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::FlatTensor;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::{for_axes, product};
use crate::tensor::DType;

/// The refusal of numbers that have more than 63 bits.
const LARGE: NodeRefusal = NodeRefusal::because("the settings of its window are too large");

/// The windows of a node over axes with these extents.
fn windows(line: &NodeLine, sizes: &[i64], extents: &[i64]) -> Lowered<Vec<Window>> {
    windows_padded(line, sizes, extents, 0)
}

/// Windows whose automatic padding has a least total: those of pools with gaps between them are in the middle.
fn windows_padded(line: &NodeLine, sizes: &[i64], extents: &[i64], least: i64) -> Lowered<Vec<Window>> {
    let count = sizes.len();
    let per_axis = |name: &str, default: i64, length: usize| match line.ints(name)? {
        Some(list) if list.len() == length => Ok(list),
        Some(list) if list.is_empty() => Ok(for_axes(length, default)),
        Some(_) => Err(NodeRefusal::from(format!("its attribute `{name}` has another number of axes"))),
        None => Ok(for_axes(length, default)),
    };
    let (strides, dilations) = (per_axis("strides", 1, count)?, per_axis("dilations", 1, count)?);
    let pads = per_axis("pads", 0, 2 * count)?;
    let auto_pad = auto_pad(line)?;
    let window = |i: usize| {
        let window =
            Window { size: sizes[i], stride: strides[i], dilation: dilations[i], padding: (pads[i], pads[count + i]) };
        if window.stride < 1 || window.dilation < 1 || window.size < 1 {
            return Err(NodeRefusal::UNFIT);
        }
        match auto_pad {
            AutoPad::Given => Ok(window),
            AutoPad::Valid => Ok(window.padded((0, 0))),
            AutoPad::Same(larger) => window.automatic(larger, extents[i], least).ok_or(LARGE),
        }
    };
    (0..count).map(window).collect()
}

fn auto_pad(line: &NodeLine) -> Lowered<AutoPad> {
    let unknown = NodeRefusal::because("its attribute `auto_pad` is not known");
    AutoPad::named(&line.text("auto_pad", "NOTSET")?).ok_or(unknown)
}

/// The spatial extents of the operand, which follow batch and channels.
fn spatial(extents: &[i64]) -> Lowered<&[i64]> {
    extents.get(2..).filter(|spatial| !spatial.is_empty()).ok_or(NodeRefusal::RANK)
}

/// The bias of a convolution, with an axis for the batch; 0 if there is none.
fn bias(line: &mut NodeLine) -> Lowered<Value> {
    if line.has(2) { line.per_channel(2).map(|bias| Value::Tensor(bias.id)) } else { Ok(Value::Scalar(0.0)) }
}

pub(in crate::onnx::to_nnef) fn conv(line: &mut NodeLine) -> NodeResults {
    let (x, weight, bias) = (line.flat(0)?, line.flat(1)?, bias(line)?);
    one(convolved(line, x, weight, 0, 1, bias)?)
}

/// A convolution of tensors that stand for two operands.
pub(super) fn convolved(
    line: &mut NodeLine,
    x: FlatTensor,
    weight: FlatTensor,
    input: usize,
    filter: usize,
    bias: Value,
) -> Lowered<FlatTensor> {
    let (extents, filter) = (line.shape(input)?, line.shape(filter)?);
    if filter.len() != extents.len() {
        return Err(NodeRefusal::RANK);
    }
    let windows = windows(line, spatial(&filter)?, spatial(&extents)?)?;
    // 0 groups of NNEF are one for each channel.
    let groups = line.int("group", 1)?.max(1);
    line.emit.on("conv", x, filtered(weight, bias, &windows).chain([Value::Int(groups)]))
}

/// The arguments that a convolution and a transposed one have first.
fn filtered(weight: FlatTensor, bias: Value, windows: &[Window]) -> impl Iterator<Item = Value> {
    [Value::Tensor(weight.id), bias].into_iter().chain(of_windows("constant", windows))
}

/// The paddings and extents of a transposed convolution.
fn transposed(line: &NodeLine, windows: &mut [Window], extents: &[i64]) -> Lowered<Vec<i64>> {
    let count = windows.len();
    let more = line.ints("output_padding")?.unwrap_or_else(|| for_axes(count, 0));
    let stated = line.ints("output_shape")?.filter(|shape| !shape.is_empty());
    let auto_pad = auto_pad(line)?;
    if more.len() != count {
        return Err(NodeRefusal::UNFIT);
    }
    let mut output = Vec::with_capacity(count);
    for (i, window) in windows.iter_mut().enumerate() {
        let wanted = match &stated {
            Some(shape) => Some(*shape.get(shape.len().saturating_sub(count) + i).ok_or(NodeRefusal::UNFIT)?),
            None if matches!(auto_pad, AutoPad::Same(_)) => Some(product(&[extents[i], window.stride])?),
            None => None,
        };
        if let Some(wanted) = wanted {
            let full = window.padded((0, 0)).extent(&extents[i]).and_then(|extent| extent.checked_add(more[i]));
            let all = full.and_then(|full| full.checked_sub(wanted)).ok_or(LARGE)?;
            // What the result has more is at its end.
            window.padding = if all < 0 { (0, all) } else { auto_pad.larger().halves(all) };
        }
        window.padding.1 = window.padding.1.checked_sub(more[i]).ok_or(LARGE)?;
        output.push(window.extent(&extents[i]).ok_or(LARGE)?);
    }
    Ok(output)
}

pub(in crate::onnx::to_nnef) fn conv_transpose(line: &mut NodeLine) -> NodeResults {
    let (extents, filter) = (line.shape(0)?, line.shape(1)?);
    if filter.len() != extents.len() {
        return Err(NodeRefusal::RANK);
    }
    // The padding of `SAME` follows from the extents of the result.
    let mut windows = windows(line, spatial(&filter)?, spatial(&extents)?)?;
    let output = transposed(line, &mut windows, spatial(&extents)?)?;
    let groups = line.int("group", 1)?.max(1);
    let (x, mut weight, bias) = (line.flat(0)?, line.flat(1)?, bias(line)?);
    let channels = product(&[filter[1], groups])?;
    let shape = match line.emit.has_registries() {
        true => {
            weight = outputs_first(line, weight, &filter, groups)?;
            output
        }
        false => [&[extents[0], channels], &output[..]].concat(),
    };
    let arguments = filtered(weight, bias, &windows).chain([integers(shape), Value::Int(groups)]);
    one(line.emit.on("deconv", x, arguments)?)
}

/// A filter with the axes (output channels, input channels per group, …), which tract takes.
fn outputs_first(line: &mut NodeLine, weight: FlatTensor, filter: &[i64], groups: i64) -> Lowered<FlatTensor> {
    let [inputs, outputs, rest @ ..] = filter else { return Err(NodeRefusal::RANK) };
    let each = inputs.checked_div(groups).ok_or(NodeRefusal::UNFIT)?;
    let grouped = line.emit.reshaped(weight, &[&[groups, each, *outputs], rest].concat())?;
    let axes: Vec<usize> = [0, 2, 1].into_iter().chain(3..rest.len() + 3).collect();
    let turned = line.emit.transpose(grouped, &axes)?;
    line.emit.reshaped(turned, &[&[product(&[groups, *outputs])?, each], rest].concat())
}

/// Adds a pooling operation with windows along the spatial axes.
fn pooled(
    line: &mut NodeLine,
    nnef: &'static str,
    x: FlatTensor,
    border: &str,
    windows: &[Window],
) -> Lowered<FlatTensor> {
    line.emit.on(nnef, x, of_pools(2, border, windows))
}

/// The windows of a pooling operator, and those with what the last ones of `ceil_mode` need beyond the padding.
fn pooling(line: &NodeLine) -> Lowered<(Vec<Window>, Vec<Window>)> {
    let extents = line.shape(0)?;
    let sizes = line.ints("kernel_shape")?.ok_or(NodeRefusal::because("it has no window"))?;
    let extents = spatial(&extents)?;
    if sizes.len() != extents.len() {
        return Err(NodeRefusal::RANK);
    }
    let windows = windows_padded(line, &sizes, extents, i64::MIN)?;
    if !line.flag("ceil_mode", false)? {
        return Ok((windows.clone(), windows));
    }
    let up = |(window, extent): (&Window, &i64)| window.rounded_up(*extent).ok_or(LARGE);
    let widened = windows.iter().zip(extents).map(up).collect::<Lowered<_>>()?;
    Ok((windows, widened))
}

pub(in crate::onnx::to_nnef) fn max_pool(line: &mut NodeLine) -> NodeResults {
    line.only(1)?;
    let (_, windows) = pooling(line)?;
    let (x, of) = (line.flat(0)?, line.dtype(0)?);
    // The greatest integer of a window is a scalar in NNEF, and -∞ if there is none.
    let Some((least, _)) = of.range() else { return one(pooled(line, "max_pool", x, "ignore", &windows)?) };
    let scalars = line.emit.cast(x, DType::Float32)?;
    let greatest = pooled(line, "max_pool", scalars, "ignore", &windows)?;
    let limited = line.emit.formula("max_number(@0,@1)", &[greatest.into(), FormulaTerm::of(least as f64)])?;
    one(line.emit.cast(limited, of)?)
}

pub(in crate::onnx::to_nnef) fn average_pool(line: &mut NodeLine) -> NodeResults {
    let (windows, mut widened) = pooling(line)?;
    let mut x = line.flat(0)?;
    if line.flag("count_include_pad", false)? {
        // The padding counts, but not the items beyond it.
        if windows.iter().zip(&widened).all(|(window, wide)| wide.padding.1 <= window.padding.1) {
            return one(pooled(line, "avg_pool", x, "constant", &widened)?);
        }
        let padding = [(0, 0), (0, 0)].into_iter().chain(windows.iter().map(|window| window.padding));
        x = line.emit.on("pad", x, [pairs(padding), text("constant")])?;
        for (wide, window) in widened.iter_mut().zip(&windows) {
            wide.padding = (0, wide.padding.1.saturating_sub(window.padding.1));
        }
    }
    one(pooled(line, "avg_pool", x, "ignore", &widened)?)
}

/// The norm of each window.
pub(in crate::onnx::to_nnef) fn lp_pool(line: &mut NodeLine) -> NodeResults {
    let (_, windows) = pooling(line)?;
    let order = line.int("p", 2)? as f64;
    let x = line.flat(0)?;
    let powers = line.emit.formula("pow(abs(@0),@1)", &[x.into(), FormulaTerm::of(order)])?;
    let sums = pooled(line, "box", powers, "constant", &windows)?;
    one(line.emit.formula("pow(@0,@1)", &[sums.into(), FormulaTerm::of(1.0 / order)])?)
}
