//! Operators with windows.

use super::{Line, integers};
use crate::graph::{TensorId, Value};
use crate::pnnx::model::Setting;

/// A parameter with a number for each axis, or one number for all axes.
pub(super) fn per_axis(line: &Line, key: &str, count: usize, default: i64) -> Option<Vec<i64>> {
    match line.setting(key) {
        None => Some(vec![default; count]),
        Some(setting) => match setting.integers()?.as_slice() {
            [] => Some(vec![default; count]),
            [one] => Some(vec![*one; count]),
            several if several.len() == count => Some(several.to_vec()),
            _ => None,
        },
    }
}

/// Pairs of integers as an attribute.
pub(super) fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// The size, stride, dilation and padding of a window along each axis.
struct Window {
    size: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    padding: Vec<(i64, i64)>,
}

impl Window {
    /// Increases the padding at the end, so that a last incomplete window that begins within the items is included.
    fn round_up(&mut self, extents: &[i64]) {
        for (i, extent) in extents.iter().enumerate() {
            let (before, after) = self.padding[i];
            let reach = self.dilation[i] * (self.size[i] - 1) + 1;
            let room = extent + before + after - reach;
            let rest = room.rem_euclid(self.stride[i].max(1));
            let begins = room - rest + self.stride[i];
            // A window that begins after the items, in the padding, is not included.
            if room >= 0 && rest != 0 && begins < extent + before {
                self.padding[i].1 += self.stride[i] - rest;
            }
        }
    }
}

fn window(line: &Line, size: Vec<i64>, stride: Option<Vec<i64>>) -> Option<Window> {
    let count = size.len();
    let dilation = per_axis(line, "dilation", count, 1)?;
    let padding = match line.word("padding").as_deref() {
        Some("same") => size
            .iter()
            .zip(&dilation)
            .map(|(size, dilation)| dilation * (size - 1))
            .map(|all| (all / 2, all - all / 2))
            .collect(),
        Some("valid") => vec![(0, 0); count],
        Some(_) => return None,
        None => per_axis(line, "padding", count, 0)?.into_iter().map(|padding| (padding, padding)).collect(),
    };
    let stride = match stride {
        Some(stride) => stride,
        None => per_axis(line, "stride", count, 1)?,
    };
    Some(Window { size, stride, dilation, padding })
}

/// The bias of a convolution, with an axis for the batch; 0 if there is no bias.
fn bias(line: &mut Line) -> Option<Value> {
    match line.weights("bias") {
        Some(bias) => line.with_axes(bias, vec![0]).map(Value::Tensor),
        None => Some(Value::Scalar(0.0)),
    }
}

/// The border mode of a convolution.
fn border(line: &Line) -> Option<Value> {
    Some(Value::String(
        match line.word("padding_mode").as_deref() {
            None | Some("zeros") => "constant",
            Some("reflect") => "reflect",
            Some("replicate") => "replicate",
            Some(_) => return None,
        }
        .into(),
    ))
}

pub(super) fn conv(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.weights("weight")?);
    let extents = line.extents(weight)?;
    (line.rank(x)? as usize == extents.len()).then_some(())?;
    let window = window(line, extents.get(2..)?.to_vec(), None)?;
    let (border, groups) = (border(line)?, line.integer("groups").unwrap_or(1));
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        border,
        pairs(window.padding),
        integers(window.stride),
        integers(window.dilation),
        Value::Int(groups),
    ];
    Some(vec![line.add("conv", arguments)?])
}

pub(super) fn deconv(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.weights("weight")?);
    let (extents, input) = (line.extents(weight)?, line.extents(x)?);
    (input.len() == extents.len()).then_some(())?;
    let window = window(line, extents.get(2..)?.to_vec(), None)?;
    let more = per_axis(line, "output_padding", window.size.len(), 0)?;
    let groups = line.integer("groups").unwrap_or(1);
    let spatial = input.get(2..)?.iter().enumerate().map(|(i, extent)| {
        let (before, after) = window.padding[i];
        let reach = window.dilation[i] * (window.size[i] - 1) + 1;
        (extent - 1) * window.stride[i] - before - after + reach + more[i]
    });
    let output = [input[0], extents[1] * groups].into_iter().chain(spatial).collect::<Vec<i64>>();
    // `output_padding` reduces the padding at the end.
    let padding = window.padding.iter().zip(&more).map(|(&(before, after), more)| (before, after - more));
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String("constant".into()),
        pairs(padding),
        integers(window.stride.clone()),
        integers(window.dilation.clone()),
        integers(output),
        Value::Int(groups),
    ];
    Some(vec![line.add("deconv", arguments)?])
}

/// The number of spatial axes of an operator: its kind ends in `1d`, `2d` or `3d`.
fn spatial(line: &Line) -> Option<usize> {
    line.operator.kind.strip_suffix('d')?.chars().next_back()?.to_digit(10).map(|digit| digit as usize)
}

/// Pooling over the last axes.
fn pool(line: &mut Line, nnef: &'static str, border: &str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let spatial = spatial(line)?;
    let extents = line.extents(x)?;
    let outer = extents.len().checked_sub(spatial)?;
    let size = per_axis(line, "kernel_size", spatial, 1)?;
    let stride = match line.setting("stride").and_then(|stride| stride.integers()) {
        Some(stride) if !stride.is_empty() => per_axis(line, "stride", spatial, 1)?,
        _ => size.clone(),
    };
    if line.flag("return_indices") {
        return None;
    }
    let mut window = window(line, size, Some(stride))?;
    if line.flag("ceil_mode") {
        // The padding added by `ceil_mode` must not be included in a mean.
        (border == "ignore" || window.padding.iter().all(|padding| *padding == (0, 0))).then_some(())?;
        window.round_up(extents.get(outer..)?);
    }
    let border = if line.flag("ceil_mode") { "ignore" } else { border };
    pooled(line, nnef, x, border, window).map(|y| vec![y])
}

/// Adds a pooling operation with a window over the last axes.
fn pooled(line: &mut Line, nnef: &'static str, x: TensorId, border: &str, window: Window) -> Option<TensorId> {
    let outer = (line.rank(x)? as usize).checked_sub(window.size.len())?;
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

pub(super) fn max_pool(line: &mut Line) -> Option<Vec<TensorId>> {
    pool(line, "max_pool", "ignore")
}

pub(super) fn avg_pool(line: &mut Line) -> Option<Vec<TensorId>> {
    // The padding may be included in the mean. NNEF has no counterpart for another divisor.
    let own = line.setting("divisor_override").is_some_and(|divisor| divisor.integer().is_some());
    let counts = line.setting("count_include_pad").is_none() || line.flag("count_include_pad");
    if own { None } else { pool(line, "avg_pool", if counts { "constant" } else { "ignore" }) }
}

/// Adaptive pooling: of all items, or by equal windows if the extents are multiples of the extents of the result.
/// Windows of different sizes have no counterpart in NNEF.
pub(super) fn adaptive(line: &mut Line, [all, windows]: [&'static str; 2]) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (extents, spatial) = (line.extents(x)?, spatial(line)?);
    let outer = extents.len().checked_sub(spatial)?;
    let inner = &extents[outer..];
    if line.flag("return_indices") {
        return None;
    }
    let items = match line.setting("output_size")? {
        Setting::List(items) => items,
        one => vec![one; spatial],
    };
    // An extent of `None` is not changed.
    let wanted: Vec<i64> = items.iter().zip(inner).map(|(item, extent)| item.integer().unwrap_or(*extent)).collect();
    if wanted.iter().all(|extent| *extent == 1) {
        let axes = outer as i64..extents.len() as i64;
        return Some(vec![line.add(all, vec![Value::Tensor(x), integers(axes)])?]);
    }
    let fits = wanted.len() == spatial && wanted.iter().zip(inner).all(|(to, from)| *to > 0 && from % to == 0);
    fits.then_some(())?;
    let size: Vec<i64> = inner.iter().zip(&wanted).map(|(from, to)| from / to).collect();
    let (stride, count) = (size.clone(), spatial);
    let window = Window { size, stride, dilation: vec![1; count], padding: vec![(0, 0); count] };
    pooled(line, windows, x, "constant", window).map(|y| vec![y])
}
