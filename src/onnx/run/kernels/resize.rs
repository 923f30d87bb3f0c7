//! Resampling along axes: each item of the result has some items of the operand, with weights.

use super::reals::{Reals, around, saturated, sizes};
use crate::dictionary::{CUBIC_SLOPE, cubic};
use crate::eval::EvalError;
use crate::eval::kernels::{COORDINATES, Coordinates, ROUNDINGS, ResampledAxis, Rounding};
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, one};
use crate::tensor::Tensor;

/// How items are selected.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ResizeMode {
    Nearest(Rounding),
    Linear,
    /// The coefficient of the curve.
    Cubic(f64),
}

type ResizedAxis = ResampledAxis<f64>;

fn named<T: Copy>(call: &NodeCall, table: &[(&str, T)], name: &str, default: &str) -> Result<T, EvalError> {
    let text = call.text_or(name, default)?;
    let found = table.iter().find(|row| row.0 == text).map(|row| row.1);
    found.ok_or_else(|| call.refused(format!("`{name}` is '{text}'")))
}

/// The resampling along an axis of the operand.
fn resized(input: usize, output: usize, scale: f64, region: [f64; 2]) -> ResizedAxis {
    ResampledAxis { input, output, scale, region, is_single: scale * input as f64 == 1.0 }
}

/// Whether nothing changes along an axis.
fn is_same(axis: &ResizedAxis) -> bool {
    axis.input == axis.output && (axis.scale - 1.0).abs() < 1e-9 && axis.region == [0.0, 1.0]
}

/// What a node resamples, and how.
struct Resampling {
    mode: ResizeMode,
    coordinates: Coordinates,
    antialias: bool,
    exclude: bool,
    extrapolation: f64,
    axes: Vec<ResizedAxis>,
}

/// The weight of an item at a distance.
fn weight(mode: ResizeMode, distance: f64) -> f64 {
    match mode {
        ResizeMode::Cubic(a) => cubic(distance, a),
        _ => (1.0 - distance.abs()).max(0.0),
    }
}

impl Resampling {
    /// Whether a place is outside, where the result is the extrapolation value.
    fn is_outside(&self, place: f64, axis: &ResizedAxis) -> bool {
        self.coordinates == Coordinates::Crop && (place < 0.0 || place > axis.input as f64 - 1.0)
    }

    /// The items along an axis for a place, with their weights.
    fn taps(&self, place: f64, axis: &ResizedAxis) -> Vec<(usize, f64)> {
        let reach = if matches!(self.mode, ResizeMode::Cubic(_)) { 2.0 } else { 1.0 };
        let scale = if self.antialias { axis.scale.min(1.0) } else { 1.0 };
        let below = place.floor();
        let first = (-reach / scale).floor() as i64 + 1;
        let last = axis.input as i64 - 1;
        let tap = |i: i64| {
            let at = (below as i64).saturating_add(i);
            let weight = weight(self.mode, scale * (i as f64 - (place - below)));
            let outside = self.exclude && (at < 0 || at > last);
            (at.clamp(0, last) as usize, if outside { 0.0 } else { weight })
        };
        let taps: Vec<(usize, f64)> = (first..=1 - first).map(tap).collect();
        let all: f64 = taps.iter().map(|tap| tap.1).sum();
        let normal = self.antialias || self.exclude;
        let factor = if normal && all != 0.0 { 1.0 / all } else { 1.0 };
        taps.into_iter().map(|(at, weight)| (at, weight * factor)).filter(|tap| tap.1 != 0.0).collect()
    }

    /// Selects the nearest items.
    fn nearest(&self, call: &NodeCall, x: &Tensor, rounding: Rounding) -> KernelResult {
        let mut along = x.places();
        for (axis, places) in self.axes.iter().zip(&mut along).filter(|(axis, _)| !is_same(axis)) {
            call.budget.room(&[axis.output])?;
            let place = |i: usize| {
                let place = axis.place(self.coordinates, i);
                let nearest = rounding.round(place, axis.scale).clamp(0.0, axis.input as f64 - 1.0);
                (!self.is_outside(place, axis)).then_some(nearest as usize)
            };
            *places = (0..axis.output).map(place).collect();
        }
        one(x.taken(&along, self.extrapolation))
    }

    /// Interpolates along one axis after another.
    fn interpolated(&self, call: &NodeCall, x: &Tensor) -> KernelResult {
        let x = Reals::new(call, x)?;
        let (mut items, mut shape) = (x.items.to_vec(), x.shape.to_vec());
        for (i, axis) in self.axes.iter().enumerate().filter(|(_, axis)| !is_same(axis)) {
            let (outer, _, inner) = around(&shape, i);
            shape[i] = axis.output;
            let mut result = vec![0.0; call.budget.room(&shape)?];
            // The items of a place are fewer than this, also if their distance counts for less.
            call.budget.room(&[axis.input.saturating_mul(4)])?;
            for position in 0..axis.output {
                let place = axis.place(self.coordinates, position);
                let taps = self.taps(place, axis);
                call.budget.product(outer * inner, taps.len())?;
                for block in 0..outer {
                    let to = &mut result[(block * axis.output + position) * inner..][..inner];
                    if self.is_outside(place, axis) {
                        to.fill(self.extrapolation);
                        continue;
                    }
                    for &(at, weight) in &taps {
                        let from = &items[(block * axis.input + at) * inner..][..inner];
                        to.iter_mut().zip(from).for_each(|(to, x)| *to += x * weight);
                    }
                }
            }
            items = result;
        }
        one(call.rounded(x.dtype, &shape, items.into_iter().map(|item| saturated(x.dtype, item)))?)
    }
}

/// The extents that a scale gives.
fn scaled(call: &NodeCall, extent: usize, scale: f64) -> Result<usize, EvalError> {
    let length = (extent as f64 * scale).floor();
    match scale > 0.0 && length < (1u64 << 40) as f64 {
        true => Ok(length as usize),
        false => Err(call.refused(format!("a scale is {scale}"))),
    }
}

/// The scales of axes as items.
fn scales(call: &NodeCall, of: &Tensor, axes: &[usize]) -> Result<Vec<f64>, EvalError> {
    let scales = floats(of)?.to_vec();
    match scales.len() == axes.len() {
        true => Ok(scales),
        false => Err(call.misfit(format!("{} scales for {} axes", scales.len(), axes.len()))),
    }
}

/// The extents and scales for stated extents.
fn stated(call: &NodeCall, x: &[usize], axes: &[usize], sizes: &[usize]) -> Result<Vec<(usize, f64)>, EvalError> {
    if sizes.len() != axes.len() {
        return Err(call.misfit(format!("{} sizes for {} axes", sizes.len(), axes.len())));
    }
    let scales = axes.iter().zip(sizes).map(|(&axis, &size)| size as f64 / x[axis] as f64);
    let scale = match &*call.text_or("keep_aspect_ratio_policy", "stretch")? {
        "stretch" => return Ok(sizes.iter().copied().zip(scales).collect()),
        "not_larger" => scales.fold(f64::INFINITY, f64::min),
        "not_smaller" => scales.fold(0.0, f64::max),
        other => return Err(call.refused(format!("`keep_aspect_ratio_policy` is '{other}'"))),
    };
    if !scale.is_finite() {
        return Err(call.misfit(format!("an operand of shape {x:?} cannot be scaled to {sizes:?}")));
    }
    axes.iter().map(|&axis| Ok((scaled(call, 1, (scale * x[axis] as f64 + 0.5).floor())?, scale))).collect()
}

/// The axes with their extents and scales.
fn axes(call: &NodeCall, x: &Tensor, crop: bool) -> Result<Vec<ResizedAxis>, EvalError> {
    let (shape, rank) = (x.shape(), x.rank());
    let chosen = call.axes_or_all(call.ints("axes")?, rank)?;
    let at = if call.version < 11 { 1 } else { 2 };
    let lists = call.optional(3)?.filter(|sizes| !sizes.is_empty());
    let found: Vec<(usize, f64)> = match (lists, call.optional(at)?) {
        (Some(_), _) => stated(call, shape, &chosen, &sizes(call, &call.list(3)?)?)?,
        (None, Some(found)) => {
            let each = |(&axis, scale): (&usize, f64)| Ok((scaled(call, shape[axis], scale)?, scale));
            chosen.iter().zip(scales(call, found, &chosen)?).map(each).collect::<Result<_, EvalError>>()?
        }
        (None, None) => return Err(call.refused("there are neither scales nor sizes")),
    };
    let region = match call.optional(1)?.filter(|_| crop) {
        Some(region) => floats(region)?.to_vec(),
        None => [vec![0.0; chosen.len()], vec![1.0; chosen.len()]].concat(),
    };
    if region.len() != 2 * chosen.len() {
        return Err(call.misfit(format!("a region of {} items for {} axes", region.len(), chosen.len())));
    }
    let mut axes: Vec<ResizedAxis> = shape.iter().map(|&extent| resized(extent, extent, 1.0, [0.0, 1.0])).collect();
    for (i, (&axis, (output, scale))) in chosen.iter().zip(found).enumerate() {
        axes[axis] = resized(shape[axis], output, scale, [region[i], region[chosen.len() + i]]);
        if shape[axis] == 0 && output != 0 {
            return Err(call.misfit("there are no items to resample"));
        }
    }
    Ok(axes)
}

/// `Resize`.
pub(in crate::onnx) fn resize(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let first = call.version < 11;
    let default = if first { "asymmetric" } else { "half_pixel" };
    let coordinates = named(call, COORDINATES, "coordinate_transformation_mode", default)?;
    let mode = match &*call.text_or("mode", "nearest")? {
        "nearest" if first => ResizeMode::Nearest(Rounding::Simple),
        "nearest" => ResizeMode::Nearest(named(call, ROUNDINGS, "nearest_mode", "round_prefer_floor")?),
        "linear" | "bilinear" => ResizeMode::Linear,
        "cubic" => ResizeMode::Cubic(call.float_or("cubic_coeff_a", CUBIC_SLOPE as f32)?),
        other => return Err(call.refused(format!("`mode` is '{other}'"))),
    };
    let axes = axes(call, x, coordinates == Coordinates::Crop)?;
    call.budget.room(&axes.iter().map(|axis| axis.output).collect::<Vec<_>>())?;
    run(call, x, mode, coordinates, axes)
}

fn run(
    call: &NodeCall,
    x: &Tensor,
    mode: ResizeMode,
    coordinates: Coordinates,
    axes: Vec<ResizedAxis>,
) -> KernelResult {
    let resampling = Resampling {
        mode,
        coordinates,
        antialias: call.flag("antialias", false)?,
        exclude: call.flag("exclude_outside", false)?,
        extrapolation: call.float_or("extrapolation_value", 0.0)?,
        axes,
    };
    match mode {
        ResizeMode::Nearest(rounding) => resampling.nearest(call, x, rounding),
        _ => resampling.interpolated(call, x),
    }
}

/// `Upsample`.
pub(in crate::onnx) fn upsample(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let all: Vec<usize> = (0..x.rank()).collect();
    let scales = match (call.version, call.float_list("scales")?) {
        (..9, Some(scales)) => scales.into_iter().map(f64::from).collect(),
        (..9, None) => {
            let (height, width) = (call.float_or("height_scale", 1.0)?, call.float_or("width_scale", 1.0)?);
            vec![1.0, 1.0, height, width]
        }
        _ => scales(call, call.tensor(1)?, &all)?,
    };
    if scales.len() != x.rank() {
        return Err(call.misfit(format!("{} scales for {} axes", scales.len(), x.rank())));
    }
    let axis = |(&input, scale): (&usize, f64)| Ok(resized(input, scaled(call, input, scale)?, scale, [0.0, 1.0]));
    let axes = x.shape().iter().zip(scales).map(axis).collect::<Result<Vec<_>, EvalError>>()?;
    call.budget.room(&axes.iter().map(|axis| axis.output).collect::<Vec<_>>())?;
    let mode = match &*call.text_or("mode", "nearest")? {
        "nearest" => ResizeMode::Nearest(Rounding::Simple),
        "linear" | "bilinear" => ResizeMode::Linear,
        other => return Err(call.refused(format!("`mode` is '{other}'"))),
    };
    run(call, x, mode, Coordinates::Asymmetric, axes)
}
