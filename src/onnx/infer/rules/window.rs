//! Convolutions and pooling: operators that move a window over the spatial axes.

use super::source::natural;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The attributes of a window.
struct Window {
    kernel: Vec<Dim>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// The padding before and after each axis.
    pads: Vec<(i64, i64)>,
    auto_pad: AutoPad,
    ceil: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AutoPad {
    /// The padding is given.
    None,
    /// As much as the result needs to have the extent divided by the stride.
    Same,
    /// No padding.
    Valid,
}

impl Window {
    /// The window of a node over so many spatial axes.
    fn of(call: &InferCall, axes: usize, kernel: Vec<Dim>) -> Option<Window> {
        let list = |name: &str| match call.ints(name) {
            Some(values) if values.len() == axes => Some(values),
            Some(values) if !values.is_empty() => None,
            _ => Some(vec![1; axes]),
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        if strides.iter().chain(&dilations).any(|value| *value < 1) || kernel.len() != axes {
            return None;
        }
        let auto_pad = match call.text("auto_pad").as_deref() {
            None | Some("NOTSET" | "") => AutoPad::None,
            Some("VALID") => AutoPad::Valid,
            Some(_) => AutoPad::Same,
        };
        let pads = match call.ints("pads").filter(|pads| !pads.is_empty() && auto_pad == AutoPad::None) {
            Some(pads) if pads.len() == axes.checked_mul(2)? => {
                let (before, after) = pads.split_at(axes);
                before.iter().copied().zip(after.iter().copied()).collect()
            }
            Some(_) => return None,
            None => vec![(0, 0); axes],
        };
        Some(Window { kernel, strides, dilations, pads, auto_pad, ceil: call.int_or("ceil_mode", 0) != 0 })
    }

    /// The extent that the window covers.
    fn covered(&self, axis: usize) -> Dim {
        let gaps = self.kernel[axis].clone().minus(Dim::Int(1));
        gaps.times(Dim::Int(self.dilations[axis])).plus(Dim::Int(1))
    }

    /// The number of places of the window.
    fn places(&self, axis: usize, extent: &Dim) -> Dim {
        let stride = Dim::Int(self.strides[axis]);
        if self.auto_pad == AutoPad::Same {
            return extent.clone().over_up(stride);
        }
        let (before, after) = self.pads[axis];
        let padded = extent.clone().plus(Dim::Int(before)).plus(Dim::Int(after));
        let span = padded.minus(self.covered(axis));
        // Programs do not agree on the extent where the window is larger: one place or none.
        if span.known().is_some_and(|span| span < 0) {
            return Dim::Unknown;
        }
        let whole = span.clone().over(stride.clone()).plus(Dim::Int(1));
        if !self.ceil {
            return whole;
        }
        let places = span.over_up(stride.clone()).plus(Dim::Int(1));
        // The last window starts before the padding at the end. It always does if it cannot reach further.
        let reach = after.checked_add(self.strides[axis]);
        if reach.is_some_and(|reach| self.covered(axis).is_at_least(reach)) {
            return places;
        }
        let starts = extent.clone().plus(Dim::Int(before)).over_up(stride);
        let places = places.min(starts);
        // That holds for a window beside those that fit. These may lie in the padding alone, if there is so much.
        let fits = after.checked_add(1).is_some_and(|least| self.covered(axis).is_at_least(least));
        if fits { places } else { places.max(whole) }
    }

    /// The extent of which a window makes so many places: transposed convolutions.
    fn transposed(&self, axis: usize, extent: &Dim, extra: i64) -> Dim {
        let stride = Dim::Int(self.strides[axis]);
        if self.auto_pad == AutoPad::Same {
            // Where a stride leaves a gap, the padding would be negative: programs disagree on the extent.
            let padding = self.covered(axis).plus(Dim::Int(extra)).minus(stride.clone());
            return if padding.is_at_least(0) { extent.clone().times(stride) } else { Dim::Unknown };
        }
        let (before, after) = self.pads[axis];
        let starts = extent.clone().minus(Dim::Int(1)).times(stride);
        starts.plus(self.covered(axis)).plus(Dim::Int(extra)).minus(Dim::Int(before)).minus(Dim::Int(after))
    }
}

/// The extents of the kernel: an attribute, or the last extents of the weights.
fn kernel(call: &InferCall, weights: Option<usize>) -> Option<Vec<Dim>> {
    if let Some(kernel) = call.ints("kernel_shape").filter(|kernel| !kernel.is_empty()) {
        return Some(kernel.into_iter().map(Dim::Int).collect());
    }
    call.extents(weights?)?.get(2..).map(<[Dim]>::to_vec)
}

/// The shape with these channels and the number of places of the window.
fn convolved(call: &InferCall, weights: usize) -> Option<Vec<Dim>> {
    let rank = call.rank(0).or_else(|| call.rank(weights))?;
    let mut shape = vec![call.extent(0, 0), call.extent(weights, 0)];
    let axes = rank.checked_sub(2)?;
    match kernel(call, Some(weights)).and_then(|kernel| Window::of(call, axes, kernel)) {
        Some(window) => shape.extend((0..axes).map(|axis| window.places(axis, &call.extent(0, axis + 2)))),
        None => shape.resize(rank, Dim::Unknown),
    }
    Some(shape)
}

/// `Conv`, `ConvInteger`, `DeformConv`
pub(crate) fn conv(call: &mut InferCall) -> Option<()> {
    let shape = convolved(call, 1)?;
    call.give(0, shape);
    Some(())
}

/// `QLinearConv`
pub(crate) fn quantized_conv(call: &mut InferCall) -> Option<()> {
    let shape = convolved(call, 3)?;
    call.give(0, shape);
    Some(())
}

/// `ConvTranspose`
pub(crate) fn conv_transpose(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0)?;
    let axes = rank.checked_sub(2)?;
    let channels = call.extent(1, 1).times(Dim::Int(call.int_or("group", 1)));
    let mut shape = vec![call.extent(0, 0), channels];
    if let Some(given) = call.ints("output_shape").filter(|given| !given.is_empty()) {
        // Some models give the batch and the channels as well.
        let spatial = given.get(given.len().checked_sub(axes)?..)?;
        shape.extend(spatial.iter().map(|extent| Dim::Int(*extent)));
    } else if let Some(window) = kernel(call, Some(1)).and_then(|kernel| Window::of(call, axes, kernel)) {
        let extra = call.ints("output_padding").unwrap_or_default();
        let extent =
            |axis: usize| window.transposed(axis, &call.extent(0, axis + 2), extra.get(axis).copied().unwrap_or(0));
        shape.extend((0..axes).map(extent));
    } else {
        shape.resize(rank, Dim::Unknown);
    }
    call.give(0, shape);
    Some(())
}

/// `MaxPool`, `AveragePool`, `LpPool`
pub(crate) fn pool(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0)?;
    let axes = rank.checked_sub(2)?;
    let window = Window::of(call, axes, kernel(call, None)?)?;
    let mut shape = vec![call.extent(0, 0), call.extent(0, 1)];
    shape.extend((0..axes).map(|axis| window.places(axis, &call.extent(0, axis + 2))));
    call.give(1, shape.clone());
    call.give(0, shape);
    Some(())
}

/// `MaxUnpool`
pub(crate) fn unpool(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0)?;
    let axes = rank.checked_sub(2)?;
    if call.has(2) {
        let shape = match call.items(2) {
            Some(items) => items.iter().map(|item| natural(item.clone())).collect(),
            None => vec![Dim::Unknown; rank],
        };
        call.give(0, shape);
        return Some(());
    }
    let window = Window::of(call, axes, kernel(call, None)?)?;
    let mut shape = vec![call.extent(0, 0), call.extent(0, 1)];
    shape.extend((0..axes).map(|axis| window.transposed(axis, &call.extent(0, axis + 2), 0)));
    call.give(0, shape);
    Some(())
}

/// `CausalConvWithState`: the state has one item less than the kernel.
pub(crate) fn causal_conv(call: &mut InferCall) -> Option<()> {
    super::elementwise::same(call);
    let state = [call.extent(0, 0), call.extent(0, 1), call.extent(1, 2).minus(Dim::Int(1))];
    call.give(1, state);
    Some(())
}

/// `MaxRoiPool`: a pooled image for each region.
pub(crate) fn max_roi_pool(call: &mut InferCall) -> Option<()> {
    let pooled = call.ints("pooled_shape")?;
    let mut shape = vec![call.extent(1, 0), call.extent(0, 1)];
    shape.extend(pooled.into_iter().map(Dim::Int));
    call.give(0, shape);
    Some(())
}

/// `RoiAlign`
pub(crate) fn roi_align(call: &mut InferCall) -> Option<()> {
    let regions = call.shared(&[(1, 0), (2, 0)]);
    let size = |name: &str| Dim::Int(call.int_or(name, 1));
    let shape = [regions, call.extent(0, 1), size("output_height"), size("output_width")];
    call.give(0, shape);
    Some(())
}
