//! Convolutions and pooling: operators that move a window over the spatial axes.

use super::source::natural;
use crate::extents::Window;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::operators::AutoPad;

/// The windows of a node over the spatial axes.
struct NodeWindows {
    axes: Vec<Window<Dim>>,
    auto_pad: AutoPad,
    ceil: bool,
}

impl NodeWindows {
    /// The windows of a node over so many spatial axes.
    fn of(call: &InferCall, axes: usize, kernel: Vec<Dim>) -> Option<Self> {
        let list = |name: &str| match call.ints(name) {
            Some(values) if values.len() == axes => Some(values),
            Some(values) if !values.is_empty() => None,
            _ => Some(vec![1; axes]),
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        if strides.iter().chain(&dilations).any(|value| *value < 1) || kernel.len() != axes {
            return None;
        }
        let auto_pad = call.text("auto_pad").map_or(Some(AutoPad::Given), |name| AutoPad::named(&name))?;
        let pads = match call.ints("pads").filter(|pads| !pads.is_empty() && auto_pad == AutoPad::Given) {
            Some(pads) if pads.len() == axes.checked_mul(2)? => pads,
            Some(_) => return None,
            None => vec![0; axes.checked_mul(2)?],
        };
        let window = |(i, size): (usize, Dim)| Window {
            size,
            stride: Dim::Int(strides[i]),
            dilation: Dim::Int(dilations[i]),
            padding: (Dim::Int(pads[i]), Dim::Int(pads[axes + i])),
        };
        let axes = kernel.into_iter().enumerate().map(window).collect();
        Some(NodeWindows { axes, auto_pad, ceil: call.int_or("ceil_mode", 0) != 0 })
    }

    /// The number of places of the window.
    fn places(&self, axis: usize, extent: &Dim) -> Dim {
        let window = &self.axes[axis];
        let places = match self.auto_pad {
            AutoPad::Same(_) => window.strides(extent),
            // Programs do not agree on the extent where the window is larger: one place or none.
            _ if window.room(extent).and_then(|room| room.known()).is_some_and(|room| room < 0) => None,
            _ if self.ceil => window.places_up(extent),
            _ => window.places(extent),
        };
        places.into()
    }

    /// The extent of which a window makes so many places: transposed convolutions.
    fn transposed(&self, axis: usize, extent: &Dim, extra: i64) -> Dim {
        let window = self.axes[axis].clone();
        let (before, after) = window.padding.clone();
        let window = window.padded((before, after.minus(Dim::Int(extra))));
        if let AutoPad::Same(_) = self.auto_pad {
            // Where a stride leaves a gap, the padding would be negative: programs disagree on the extent.
            let gap = Dim::from(window.extent(&Dim::Int(1))).minus(window.stride.clone());
            return if gap.is_at_least(0) { extent.clone().times(window.stride) } else { Dim::Unknown };
        }
        window.extent(extent).into()
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
    match kernel(call, Some(weights)).and_then(|kernel| NodeWindows::of(call, axes, kernel)) {
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
    } else if let Some(window) = kernel(call, Some(1)).and_then(|kernel| NodeWindows::of(call, axes, kernel)) {
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
    let window = NodeWindows::of(call, axes, kernel(call, None)?)?;
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
    let window = NodeWindows::of(call, axes, kernel(call, None)?)?;
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
