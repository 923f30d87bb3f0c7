//! Operators with windows.

use super::{Line, Lowered, Refusal, integers};
use crate::graph::{TensorId, Value};
use crate::pnnx::lower::settings::Kind;

/// Pairs of integers as an attribute.
pub(super) fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// An integer that fits into 64 bits. Sums of a few products of settings and extents fit into 128 bits.
fn fitting(value: i128) -> Lowered<i64> {
    i64::try_from(value).map_err(|_| Refusal::Because("the settings of its window are too large".into()))
}

/// The size, stride, dilation and padding of a window along each axis.
struct Window {
    size: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    padding: Vec<(i64, i64)>,
}

impl Window {
    /// The number of items from the first to the last one of a window.
    fn reach(&self, axis: usize) -> i128 {
        i128::from(self.dilation[axis]) * (i128::from(self.size[axis]) - 1) + 1
    }

    /// Increases the padding at the end, so that a last incomplete window that begins within the items is included.
    fn round_up(&mut self, extents: &[i64]) -> Lowered<()> {
        for (i, extent) in extents.iter().enumerate() {
            let [extent, before, after, stride] =
                [*extent, self.padding[i].0, self.padding[i].1, self.stride[i]].map(i128::from);
            let room = extent + before + after - self.reach(i);
            let rest = room.rem_euclid(stride);
            let begins = room - rest + stride;
            // A window that begins after the items, in the padding, is not included.
            if room >= 0 && rest != 0 && begins < extent + before {
                self.padding[i].1 = fitting(after + stride - rest)?;
            }
        }
        Ok(())
    }
}

/// A window of a size, and of a stride unless that is a setting.
fn window(line: &Line, size: Vec<i64>, stride: Option<Vec<i64>>) -> Lowered<Window> {
    let count = size.len();
    let dilation = line.per_axis("dilation", count, 1, Some(1))?;
    let stride = stride.map_or_else(|| line.per_axis("stride", count, 1, Some(1)), Ok)?;
    let mut window = Window { size, stride, dilation, padding: vec![(0, 0); count] };
    let is_word = line.is_word("padding");
    if is_word && line.choice("padding", &[("same", true), ("valid", false)], None)? {
        for axis in 0..count {
            let all = window.reach(axis) - 1;
            window.padding[axis] = (fitting(all / 2)?, fitting(all - all / 2)?);
        }
    } else if !is_word {
        let padding = line.per_axis("padding", count, 0, Some(0))?;
        window.padding = padding.into_iter().map(|padding| (padding, padding)).collect();
    }
    Ok(window)
}

/// The bias of a convolution, with an axis for the batch; 0 if there is no bias.
fn bias(line: &mut Line) -> Lowered<Value> {
    match line.weights("bias")? {
        Some(bias) => line.with_axes(bias, vec![0]).map(Value::Tensor),
        None => Ok(Value::Scalar(0.0)),
    }
}

/// The window of a convolution, and the number of groups. The channels, and the size of the window, are those of the
/// weight: `inner` per group along its second axis, and `outer` along its first one.
fn filter(line: &Line, weight: TensorId, inner: &str, outer: &str) -> Lowered<(Window, i64)> {
    let extents = line.extents(weight)?;
    let [first, second, size @ ..] = &extents[..] else { return Err(Refusal::UNFIT) };
    // In NNEF, 0 groups are one for each channel.
    let groups = line.at_least("groups", 1, Some(1))?;
    line.agrees(outer, &[Some(*first)])?;
    line.agrees(inner, &[second.checked_mul(groups)])?;
    line.agrees("kernel_size", &size.iter().copied().map(Some).collect::<Vec<_>>())?;
    Ok((window(line, size.to_vec(), None)?, groups))
}

pub(super) fn conv(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.data("weight")?);
    if line.rank(x)? != line.rank(weight)? {
        return Err(Refusal::UNFIT);
    }
    let (window, groups) = filter(line, weight, "in_channels", "out_channels")?;
    let borders = [("zeros", "constant"), ("reflect", "reflect"), ("replicate", "replicate")];
    let border = line.choice("padding_mode", &borders, Some("constant"))?;
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String(border.into()),
        pairs(window.padding),
        integers(window.stride),
        integers(window.dilation),
        Value::Int(groups),
    ];
    Ok(vec![line.add("conv", arguments)?])
}

pub(super) fn deconv(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.data("weight")?);
    let (extents, input) = (line.extents(weight)?, line.extents(x)?);
    if input.len() != extents.len() {
        return Err(Refusal::UNFIT);
    }
    let (window, groups) = filter(line, weight, "out_channels", "in_channels")?;
    line.choice("padding_mode", &[("zeros", ())], Some(()))?;
    let more = line.per_axis("output_padding", window.size.len(), 0, Some(0))?;
    let mut output = vec![input[0], fitting(i128::from(extents[1]) * i128::from(groups))?];
    for (i, extent) in input[2..].iter().enumerate() {
        let [extent, stride, before, after, more] =
            [*extent, window.stride[i], window.padding[i].0, window.padding[i].1, more[i]].map(i128::from);
        output.push(fitting((extent - 1) * stride - before - after + window.reach(i) + more)?);
    }
    // `output_padding` reduces the padding at the end.
    let padding = window.padding.iter().zip(&more).map(|(&(before, after), more)| (before, after - more));
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String("constant".into()),
        pairs(padding),
        integers(window.stride),
        integers(window.dilation),
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
    let mut window = window(line, size, Some(stride))?;
    let up = line.flag("ceil_mode")?;
    if up {
        // The padding added by `ceil_mode` must not be included in a mean.
        let apart = border == "ignore" || window.padding.iter().all(|padding| *padding == (0, 0));
        line.require("ceil_mode", apart, "`False` with padding that counts")?;
        window.round_up(&extents[outer..])?;
    }
    pooled(line, nnef, x, if up { "ignore" } else { border }, window).map(|y| vec![y])
}

/// Adds a pooling operation with a window over the last axes.
fn pooled(line: &mut Line, nnef: &'static str, x: TensorId, border: &str, window: Window) -> Lowered<TensorId> {
    let outer = (line.rank(x)? as usize).checked_sub(window.size.len()).ok_or(Refusal::UNFIT)?;
    let with_outer = |of: Vec<i64>| integers(std::iter::repeat_n(1, outer).chain(of));
    let padding = std::iter::repeat_n((0, 0), outer).chain(window.padding);
    let arguments = vec![
        Value::Tensor(x),
        with_outer(window.size),
        Value::String(border.into()),
        pairs(padding),
        with_outer(window.stride),
        with_outer(window.dilation),
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
pub(super) fn adaptive(line: &mut Line, [all, windows]: [&'static str; 2]) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (extents, spatial) = (line.extents(x)?, spatial(line)?);
    let outer = extents.len().checked_sub(spatial).ok_or(Refusal::UNFIT)?;
    let inner = &extents[outer..];
    line.off("return_indices")?;
    let key = "output_size";
    let items = match (line.is_list(key), &line.required::<Vec<Option<i64>>>(key)?[..]) {
        (false, [one]) => vec![*one; spatial],
        (_, several) => several.to_vec(),
    };
    line.require(key, items.len() == spatial, <Vec<Option<i64>>>::EXPECTED)?;
    // An extent of `None`, for which pnnx also writes 0 if there are several axes, is not changed.
    let unchanged = |item: &Option<i64>| item.is_none_or(|item| item == 0 && spatial > 1);
    let wanted = items.iter().zip(inner).map(|(item, from)| item.filter(|_| !unchanged(item)).unwrap_or(*from));
    let wanted: Vec<i64> = wanted.collect();
    if wanted.iter().all(|extent| *extent == 1) {
        let axes = outer as i64..extents.len() as i64;
        return Ok(vec![line.add(all, vec![Value::Tensor(x), integers(axes)])?]);
    }
    let fits = wanted.iter().zip(inner).all(|(to, from)| *to > 0 && from % to == 0);
    line.require(key, fits, "a list of divisors of the extents")?;
    let size: Vec<i64> = inner.iter().zip(&wanted).map(|(from, to)| from / to).collect();
    let (stride, count) = (size.clone(), spatial);
    let window = Window { size, stride, dilation: vec![1; count], padding: vec![(0, 0); count] };
    pooled(line, windows, x, "constant", window).map(|y| vec![y])
}
