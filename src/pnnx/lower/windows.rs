//! Operators with windows.

use std::borrow::Cow;

use super::{Line, Lowered, Refusal, integers};
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};
use crate::pnnx::lower::settings::SettingKind;

/// Pairs of integers as an attribute.
pub(super) fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// The refusal of numbers that have more than 63 bits.
const LARGE: Refusal = Refusal::Because(Cow::Borrowed("the settings of its window are too large"));

/// A window along one axis.
#[derive(Clone, Copy)]
struct Window {
    size: i64,
    stride: i64,
    dilation: i64,
    padding: (i64, i64),
}

impl Window {
    /// The number of items from its first to its last one, less 1; none if it has more than 63 bits, as below.
    fn span(&self) -> Option<i64> {
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
        // The last place at which a whole window fits, if it is not negative.
        let last = end.checked_add(after)?.checked_sub(self.span()?)?.checked_sub(1)?;
        let rest = last.checked_rem_euclid(self.stride)?;
        let more = self.stride.checked_sub(rest)?;
        // A window that begins after the items, in the padding, is not included.
        if last >= 0 && rest != 0 && last.checked_add(more).is_some_and(|begin| begin < end) {
            self.padding.1 = after.checked_add(more)?;
        }
        Some(())
    }

    /// The extent of the result of a transposed operation with `output_padding`, which reduces the padding at the end.
    fn spread(&mut self, extent: i64, output_padding: i64) -> Option<i64> {
        self.padding.1 = self.padding.1.checked_sub(output_padding)?;
        let begin = extent.checked_sub(1)?.checked_mul(self.stride)?.checked_sub(self.padding.0)?;
        begin.checked_add(self.span()?)?.checked_add(1)?.checked_sub(self.padding.1)
    }
}

/// Windows of a size, and of a stride unless that is a setting.
fn windows(line: &Line, size: &[i64], stride: Option<Vec<i64>>) -> Lowered<Vec<Window>> {
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
fn filter(line: &Line, weight: TensorId, inner: &str, outer: &str) -> Lowered<(Vec<Window>, i64)> {
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
    let (windows, groups) = filter(line, weight, "in_channels", "out_channels")?;
    let borders = [("zeros", "constant"), ("reflect", "reflect"), ("replicate", "replicate")];
    let border = line.choice("padding_mode", &borders, Some("constant"))?;
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

/// The number of spatial axes of an operator: its kind ends in `1d`, `2d` or `3d`.
pub(super) fn spatial(line: &Line) -> Lowered<usize> {
    let digit = line.operator.kind.strip_suffix('d').and_then(|kind| kind.chars().next_back()?.to_digit(10));
    digit.map(|digit| digit as usize).ok_or(Refusal::UNFIT)
}

/// Pooling over the last axes.
fn pool(line: &mut Line, nnef: &'static str, border: &str) -> Lowered<Vec<TensorId>> {
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
    line.off("return_indices")?;
    let mut windows = windows(line, &size, Some(stride))?;
    let up = line.flag("ceil_mode")?;
    if up {
        // The padding added by `ceil_mode` must not be included in a mean.
        let apart = border == "ignore" || windows.iter().all(|window| window.padding == (0, 0));
        line.require("ceil_mode", apart, "`False` with padding that counts")?;
        for (window, extent) in windows.iter_mut().zip(extents.iter().skip(outer)) {
            window.round_up(*extent).ok_or(LARGE)?;
        }
    }
    pooled(line, nnef, x, if up { "ignore" } else { border }, &windows).map(|y| vec![y])
}

/// Adds a pooling operation with windows along the last axes.
fn pooled(line: &mut Line, nnef: &'static str, x: TensorId, border: &str, windows: &[Window]) -> Lowered<TensorId> {
    let outer = (line.rank(x)? as usize).checked_sub(windows.len()).ok_or(Refusal::UNFIT)?;
    let with_outer = |of: fn(&Window) -> i64| integers(std::iter::repeat_n(1, outer).chain(windows.iter().map(of)));
    let padding = std::iter::repeat_n((0, 0), outer).chain(windows.iter().map(|window| window.padding));
    let arguments = vec![
        Value::Tensor(x),
        with_outer(|window| window.size),
        Value::String(border.into()),
        pairs(padding),
        with_outer(|window| window.stride),
        with_outer(|window| window.dilation),
    ];
    line.add(nnef, arguments)
}

pub(super) fn max_pool(line: &mut Line) -> Lowered<Vec<TensorId>> {
    pool(line, "max_pool", "ignore")
}

pub(super) fn avg_pool(line: &mut Line) -> Lowered<Vec<TensorId>> {
    // The padding may be included in the mean. NNEF has no counterpart for another divisor.
    let own = line.optional::<i64>("divisor_override")?.is_some();
    line.require("divisor_override", !own, "`None`")?;
    let counts = line.setting_or("count_include_pad", true)?;
    pool(line, "avg_pool", if counts { "constant" } else { "ignore" })
}

/// Adaptive pooling: of all items, or by equal windows if the extents are multiples of the extents of the result.
/// Windows of different sizes have no counterpart in NNEF.
pub(super) fn adaptive(line: &mut Line, [all, pool]: [&'static str; 2]) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (extents, spatial) = (line.extents(x)?, spatial(line)?);
    let outer = extents.len().checked_sub(spatial).ok_or(Refusal::UNFIT)?;
    let inner = || extents.iter().skip(outer).copied();
    line.off("return_indices")?;
    let key = "output_size";
    let items = match (line.is_list(key), &line.required::<Vec<Option<i64>>>(key)?[..]) {
        (false, [one]) => vec![*one; spatial],
        (_, several) => several.to_vec(),
    };
    line.require(key, items.len() == spatial, <Vec<Option<i64>>>::EXPECTED)?;
    // An extent of `None`, for which pnnx also writes 0 if there are several axes, is not changed.
    let unchanged = |item: &Option<i64>| item.is_none_or(|item| item == 0 && spatial > 1);
    let wanted = items.iter().zip(inner()).map(|(item, from)| item.filter(|_| !unchanged(item)).unwrap_or(from));
    let wanted: Vec<i64> = wanted.collect();
    if wanted.iter().all(|extent| *extent == 1) {
        let axes = outer as i64..extents.len() as i64;
        return Ok(vec![line.add(all, vec![Value::Tensor(x), integers(axes)])?]);
    }
    let window = |(from, to): (i64, i64)| {
        let size = exact_quotient(from, to).filter(|_| to > 0)?;
        Some(Window { size, stride: size, dilation: 1, padding: (0, 0) })
    };
    let windows = inner().zip(wanted).map(window).collect::<Option<Vec<Window>>>();
    let windows = windows.ok_or_else(|| line.refuse(key, "a list of divisors of the extents"))?;
    pooled(line, pool, x, "constant", &windows).map(|y| vec![y])
}
