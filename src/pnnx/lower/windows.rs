//! Operators with windows.

use std::borrow::Cow;

use super::resample::{CIRCULAR, circular};
use super::{Line, Lowered, Refusal, integers, pools, product};
use crate::graph::{TensorId, Value};

/// Pairs of integers as an attribute.
pub(crate) fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// The refusal of numbers that have more than 63 bits.
pub(super) const LARGE: Refusal = Refusal::Because(Cow::Borrowed("the settings of its window are too large"));

/// A window along one axis.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) size: i64,
    pub(crate) stride: i64,
    pub(crate) dilation: i64,
    pub(crate) padding: (i64, i64),
}

impl Window {
    /// The number of items from its first to its last one, less 1; none if it has more than 63 bits, as below.
    pub(crate) fn span(&self) -> Option<i64> {
        self.size.checked_sub(1)?.checked_mul(self.dilation)
    }

    /// The padding for a result of the same extent.
    fn same(&self) -> Option<(i64, i64)> {
        let all = self.span()?;
        Some((all / 2, all.checked_sub(all / 2)?))
    }

    /// Increases the padding at the end, so that a last incomplete window that begins within the items is included.
    fn round_up(&mut self, extent: i64) -> Option<()> {
        let (before, after) = self.padding;
        let end = extent.checked_add(before)?;
        // The last place at which a whole window fits, if it is not negative. If none fits, one may still begin at 0.
        let last = end.checked_add(after)?.checked_sub(self.span()?)?.checked_sub(1)?;
        let rest = last.checked_rem_euclid(self.stride)?;
        let more = self.stride.checked_sub(rest)?;
        // A window that begins after the items, in the padding, is not included.
        if rest != 0 && last.checked_add(more).is_some_and(|begin| (0..end).contains(&begin)) {
            self.padding.1 = after.checked_add(more)?;
        }
        Some(())
    }

    /// The number of windows over an axis.
    pub(super) fn count(&self, extent: i64) -> Option<i64> {
        let all = extent.checked_add(self.padding.0)?.checked_add(self.padding.1)?;
        let last = all.checked_sub(self.span()?)?.checked_sub(1)?;
        if last < 0 { None } else { last.checked_div(self.stride)?.checked_add(1) }
    }

    /// The extent of the result of a transposed operation with `output_padding`, which reduces the padding at the end.
    fn spread(&mut self, extent: i64, output_padding: i64) -> Option<i64> {
        self.padding.1 = self.padding.1.checked_sub(output_padding)?;
        let begin = extent.checked_sub(1)?.checked_mul(self.stride)?.checked_sub(self.padding.0)?;
        begin.checked_add(self.span()?)?.checked_add(1)?.checked_sub(self.padding.1)
    }
}

/// Windows of a size, and of a stride unless that is a setting.
pub(super) fn windows(line: &Line, size: &[i64], stride: Option<Vec<i64>>) -> Lowered<Vec<Window>> {
    let count = size.len();
    let dilation = line.per_axis("dilation", count, 1, Some(1))?;
    let stride = stride.map_or_else(|| line.per_axis("stride", count, 1, Some(1)), Ok)?;
    let is_word = line.is_word("padding");
    let same = is_word && line.choice("padding", &[("same", true), ("valid", false)], None)?;
    let padding = if is_word { vec![0; count] } else { line.per_axis("padding", count, 0, Some(0))? };
    let settings = size.iter().zip(stride).zip(dilation).zip(padding);
    let windows = settings.map(|(((size, stride), dilation), padding)| {
        let plain = Window { size: *size, stride, dilation, padding: (padding, padding) };
        let padding = if same { plain.same().ok_or(LARGE)? } else { plain.padding };
        Ok(Window { padding, ..plain })
    });
    windows.collect()
}

/// The bias of a convolution, with an axis for the batch; 0 if there is no bias.
fn bias(line: &mut Line) -> Lowered<Value> {
    match line.weights("bias")? {
        Some(bias) => line.with_axes(bias, vec![0]).map(Value::Tensor),
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
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String(border.into()),
        pairs(windows.iter().map(|window| window.padding)),
        integers(windows.iter().map(|window| window.stride)),
        integers(windows.iter().map(|window| window.dilation)),
        Value::Int(groups),
    ];
    Ok(vec![line.add("conv", arguments)?])
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
        output.push(window.spread(*extent, more).ok_or(LARGE)?);
    }
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String("constant".into()),
        pairs(windows.iter().map(|window| window.padding)),
        integers(windows.iter().map(|window| window.stride)),
        integers(windows.iter().map(|window| window.dilation)),
        integers(output),
        Value::Int(groups),
    ];
    Ok(vec![line.add("deconv", arguments)?])
}

/// A convolution with windows of one item, with the bias of the operator.
pub(super) fn plain_conv(line: &mut Line, x: TensorId, weight: TensorId, groups: i64) -> Lowered<TensorId> {
    let bias = bias(line)?;
    let window = [pairs([(0, 0); 2]), integers([1; 2]), integers([1; 2]), Value::Int(groups)];
    let border = Value::String("constant".into());
    line.add("conv", [vec![Value::Tensor(x), Value::Tensor(weight), bias, border], window.to_vec()].concat())
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
            window.round_up(*extent).ok_or(LARGE)?;
        }
    }
    Ok(Pooling { x, windows, widened })
}

/// The arguments of a pooling operation with windows along the last axes, after its operands.
pub(super) fn arguments(line: &Line, x: TensorId, border: &str, windows: &[Window]) -> Lowered<Vec<Value>> {
    let outer = (line.rank(x)? as usize).checked_sub(windows.len()).ok_or(Refusal::UNFIT)?;
    let with_outer = |of: fn(&Window) -> i64| integers(std::iter::repeat_n(1, outer).chain(windows.iter().map(of)));
    let padding = std::iter::repeat_n((0, 0), outer).chain(windows.iter().map(|window| window.padding));
    Ok(vec![
        with_outer(|window| window.size),
        Value::String(border.into()),
        pairs(padding),
        with_outer(|window| window.stride),
        with_outer(|window| window.dilation),
    ])
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
    line.add(nnef, [vec![Value::Tensor(x)], arguments].concat())
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
    if excess.iter().all(|more| *more == 0) {
        return pooled(line, "avg_pool", of.x, "constant", &of.windows).map(|y| vec![y]);
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
