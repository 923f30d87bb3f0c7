//! Operators with windows.

use std::borrow::Cow;

use super::resample::{CIRCULAR, circular};
use super::{Line, Lowered, Refusal, integers, pools, product};
use crate::extents::{End, Window};
use crate::graph::{TensorId, Value};
use crate::library::assembly::{Assembly, of_pools, of_windows, pairs};

/// The refusal of numbers that have more than 63 bits.
pub(super) const LARGE: Refusal = Refusal::Because(Cow::Borrowed("the settings of its window are too large"));

/// The number of windows over an axis; none if there is none.
pub(super) fn places(window: &Window, extent: i64) -> Option<i64> {
    window.places(&extent).filter(|places| *places > 0)
}

/// Windows of a size, and of a stride unless that is a setting.
pub(super) fn windows(line: &Line, size: &[i64], stride: Option<Vec<i64>>) -> Lowered<Vec<Window>> {
    let count = size.len();
    let dilation = line.per_axis("dilation", count, 1, Some(1))?;
    let stride = stride.map_or_else(|| line.per_axis("stride", count, 1, Some(1)), Ok)?;
    let is_word = line.is_word("padding");
    let same_extent = is_word && line.choice("padding", &[("same", true), ("valid", false)], None)?;
    let padding = if is_word { vec![0; count] } else { line.per_axis("padding", count, 0, Some(0))? };
    let settings = size.iter().zip(stride).zip(dilation).zip(padding);
    let windows = settings.map(|(((size, stride), dilation), padding)| {
        let plain = Window { size: *size, stride, dilation, padding: (padding, padding) };
        // The result has the same extent, whatever that is.
        let same = || Window { stride: 1, ..plain }.automatic(End::After, 1, 0).ok_or(LARGE);
        Ok(if same_extent { plain.padded(same()?.padding) } else { plain })
    });
    windows.collect()
}

/// The bias of a convolution, with an axis for the batch; 0 if there is no bias.
fn bias(line: &mut Line) -> Lowered<Value> {
    match line.weights("bias")? {
        Some(bias) => line.with_axes(bias, [0]).map(Value::Tensor),
        None => Ok(Value::Scalar(0.0)),
    }
}

/// The windows of a convolution, and the number of groups. The channels, and the size of windows, are those of the
/// weight: `inner` per group along its second axis, and `outer` along its first one.
pub(super) fn filter(line: &Line, weight: TensorId, inner: &str, outer: &str) -> Lowered<(Vec<Window>, i64)> {
    let extents = line.extents(weight)?;
    let [first, second, size @ ..] = &extents[..] else { return Err(Refusal::UNFIT) };
    // In NNEF, 0 groups are one for each channel.
    let groups = line.at_least("groups", 1, Some(1))?;
    line.agrees(outer, &[Some(*first)])?;
    line.agrees(inner, &[second.checked_mul(groups)])?;
    line.agrees("kernel_size", &size.iter().copied().map(Some).collect::<Vec<_>>())?;
    Ok((windows(line, size, None)?, groups))
}

pub(super) fn conv(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.data("weight")?);
    if line.rank(x)? != line.rank(weight)? {
        return Err(Refusal::UNFIT);
    }
    let (mut windows, groups) = filter(line, weight, "in_channels", "out_channels")?;
    let borders = [("zeros", "constant"), ("reflect", "reflect"), ("replicate", "replicate"), (CIRCULAR, CIRCULAR)];
    let mut border = line.choice("padding_mode", &borders, Some("constant"))?;
    let mut x = x;
    if border == CIRCULAR {
        let padding: Vec<(i64, i64)> =
            [(0, 0); 2].into_iter().chain(windows.iter().map(|window| window.padding)).collect();
        x = circular(line, x, &padding)?;
        windows.iter_mut().for_each(|window| window.padding = (0, 0));
        border = "constant";
    }
    let bias = bias(line)?;
    let arguments = [Value::Tensor(weight), bias].into_iter().chain(of_windows(border, &windows));
    Ok(vec![line.on("conv", x, arguments.chain([Value::Int(groups)]))?])
}

pub(super) fn deconv(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.data("weight")?);
    let (extents, input) = (line.extents(weight)?, line.extents(x)?);
    let ([batch, _, inner @ ..], [_, channels, ..]) = (&input[..], &extents[..]) else { return Err(Refusal::UNFIT) };
    if input.len() != extents.len() {
        return Err(Refusal::UNFIT);
    }
    let (mut windows, groups) = filter(line, weight, "out_channels", "in_channels")?;
    line.choice("padding_mode", &[("zeros", ())], Some(()))?;
    let more = line.per_axis("output_padding", windows.len(), 0, Some(0))?;
    let mut output = vec![*batch, channels.checked_mul(groups).ok_or(LARGE)?];
    for ((window, extent), more) in windows.iter_mut().zip(inner).zip(more) {
        window.padding.1 = window.padding.1.checked_sub(more).ok_or(LARGE)?;
        output.push(window.extent(extent).ok_or(LARGE)?);
    }
    let bias = bias(line)?;
    let arguments = [Value::Tensor(weight), bias].into_iter().chain(of_windows("constant", &windows));
    Ok(vec![line.on("deconv", x, arguments.chain([integers(output), Value::Int(groups)]))?])
}

/// A convolution with windows of one item, with the bias of the operator.
pub(super) fn plain_conv(line: &mut Line, x: TensorId, weight: TensorId, groups: i64) -> Lowered<TensorId> {
    let bias = bias(line)?;
    let arguments =
        [Value::Tensor(weight), bias].into_iter().chain(of_windows("constant", &[Window::side_by_side(1); 2]));
    line.on("conv", x, arguments.chain([Value::Int(groups)]))
}

/// The number of spatial axes of an operator: its kind ends in `1d`, `2d` or `3d`.
pub(super) fn spatial(line: &Line) -> Lowered<usize> {
    let digit = line.kind.strip_suffix('d').and_then(|kind| kind.chars().next_back()?.to_digit(10));
    digit.map(|digit| digit as usize).ok_or(Refusal::UNFIT)
}

/// Windows of pooling over the last axes.
pub(super) struct Pooling {
    pub(super) x: TensorId,
    /// The windows with the padding that is set.
    pub(super) windows: Vec<Window>,
    /// The same, with what the last incomplete windows of `ceil_mode` need.
    pub(super) widened: Vec<Window>,
}

impl Pooling {
    /// The number of items of a window.
    pub(super) fn volume(&self) -> Lowered<i64> {
        product(&self.windows.iter().map(|window| window.size).collect::<Vec<i64>>())
    }
}

/// The windows of an operator.
pub(super) fn pooling(line: &Line) -> Lowered<Pooling> {
    let x = line.tensor("input")?;
    let spatial = spatial(line)?;
    let extents = line.extents(x)?;
    let outer = extents.len().checked_sub(spatial).ok_or(Refusal::UNFIT)?;
    let size = line.per_axis("kernel_size", spatial, 1, None)?;
    // Without a stride, or with `()`, it is the size.
    let stride = match line.optional::<Vec<i64>>("stride") {
        Ok(None) => size.clone(),
        Ok(Some(stride)) if stride.is_empty() => size.clone(),
        _ => line.per_axis("stride", spatial, 1, None)?,
    };
    let windows = windows(line, &size, Some(stride))?;
    let mut widened = windows.clone();
    if line.flag("ceil_mode")? {
        for (window, extent) in widened.iter_mut().zip(extents.iter().skip(outer)) {
            *window = window.rounded_up(*extent).ok_or(LARGE)?;
        }
    }
    Ok(Pooling { x, windows, widened })
}

/// The arguments of a pooling operation with windows along the last axes, after its operands.
pub(super) fn arguments(line: &Line, x: TensorId, border: &str, windows: &[Window]) -> Lowered<[Value; 5]> {
    let outer = (line.rank(x)? as usize).checked_sub(windows.len()).ok_or(Refusal::UNFIT)?;
    Ok(of_pools(outer, border, windows))
}

/// Adds a pooling operation with windows along the last axes.
pub(crate) fn pooled(
    line: &mut Line,
    nnef: &'static str,
    x: TensorId,
    border: &str,
    windows: &[Window],
) -> Lowered<TensorId> {
    let arguments = arguments(line, x, border, windows)?;
    line.on(nnef, x, arguments)
}

/// Maxima, and their places in the plane if these are asked for.
pub(super) fn max_pool(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = pooling(line)?;
    if line.flag("return_indices")? {
        return pools::with_places(line, of.x, &of.widened, |place| place);
    }
    pooled(line, "max_pool", of.x, "ignore", &of.widened).map(|y| vec![y])
}

/// Means, which may include the padding, but not what `ceil_mode` adds to it; or sums, divided by a number.
pub(super) fn avg_pool(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let of = pooling(line)?;
    let counts = line.setting_or("count_include_pad", true)?;
    if let Some(divisor) = line.optional::<i64>("divisor_override")? {
        line.require("divisor_override", divisor != 0, "an integer other than 0")?;
        let sums = pooled(line, "box", of.x, "constant", &of.widened)?;
        return Ok(vec![line.add("div", vec![Value::Tensor(sums), Value::Scalar(divisor as f64)])?]);
    }
    if !counts {
        return pooled(line, "avg_pool", of.x, "ignore", &of.widened).map(|y| vec![y]);
    }
    let excess = |(plain, wide): (&Window, &Window)| wide.padding.1.checked_sub(plain.padding.1);
    let excess = of.windows.iter().zip(&of.widened).map(excess).collect::<Option<Vec<i64>>>().ok_or(LARGE)?;
    if excess.iter().all(|more| *more <= 0) {
        return pooled(line, "avg_pool", of.x, "constant", &of.widened).map(|y| vec![y]);
    }
    let padded = padded(line, of.x, &of.windows)?;
    let bare: Vec<Window> =
        of.windows.iter().zip(excess).map(|(window, more)| Window { padding: (0, more), ..*window }).collect();
    pooled(line, "avg_pool", padded, "ignore", &bare).map(|y| vec![y])
}

/// The operand with zeros around it, as the padding of windows has it.
pub(super) fn padded(line: &mut Line, x: TensorId, windows: &[Window]) -> Lowered<TensorId> {
    if windows.iter().all(|window| window.padding == (0, 0)) {
        return Ok(x);
    }
    let outer = (line.rank(x)? as usize).checked_sub(windows.len()).ok_or(Refusal::UNFIT)?;
    let padding = std::iter::repeat_n((0, 0), outer).chain(windows.iter().map(|window| window.padding));
    let border = [Value::String("constant".into()), Value::Scalar(0.0)];
    line.add("pad", [vec![Value::Tensor(x), pairs(padding)], border.to_vec()].concat())
}
