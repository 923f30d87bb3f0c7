//! Resampling, along each axis separately or at the points of a grid. Positions are computed in single precision,
//! which can determine the nearest item.

use ndarray::{ArrayD, Axis, IxDyn};

use crate::dictionary::{CUBIC_SLOPE, cubic};
use crate::eval::array::scalars;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::{COORDINATES, Coordinates, ROUNDINGS, ResampledAxis, Rounding, SampledPlanes, Tap};
use crate::tensor::Tensor;

use super::arrange::is_given;
use super::{like, number_or, unfit};

/// How items between places are computed.
#[derive(Clone, Copy)]
enum Method {
    Nearest(Rounding),
    Linear,
    /// The slope of the curve.
    Cubic(f64),
}

impl Method {
    /// The offsets and weights of the items that a position is interpolated from. Offsets are relative to the
    /// preceding item, from which the distance of the position is in `(0, 1]`.
    fn taps(self, place: f32, scale: f32) -> (i64, Vec<(i64, f32)>) {
        let cell = place.ceil() - 1.0;
        let ratio = place - cell;
        let taps = match self {
            Method::Nearest(rounding) => return (rounding.round(place.into(), scale.into()) as i64, vec![(0, 1.0)]),
            Method::Linear => vec![(0, 1.0 - ratio), (1, ratio)],
            Method::Cubic(a) => (-1..3).map(|i| (i, cubic((i as f32 - ratio).into(), a) as f32)).collect(),
        };
        (cell as i64, taps)
    }

    /// Resamples the input along an axis.
    fn along(self, input: &ArrayD<f64>, axis: usize, coordinates: Coordinates, of: ResampledAxis<f32>) -> ArrayD<f64> {
        let mut shape = input.shape().to_vec();
        shape[axis] = of.output;
        let mut output = ArrayD::zeros(IxDyn(&shape));
        for (i, mut slice) in output.axis_iter_mut(Axis(axis)).enumerate() {
            let (cell, taps) = self.taps(of.place(coordinates, i), of.scale);
            for (offset, weight) in taps {
                let from = cell.saturating_add(offset).clamp(0, of.input as i64 - 1) as usize;
                slice.scaled_add(f64::from(weight), &input.index_axis(Axis(axis), from));
            }
        }
        output
    }
}

/// The value with a name that is an attribute.
fn named<T: Copy>(call: &Call, name: &str, table: &[(&str, T)]) -> Result<T, EvalError> {
    let text = call.string(name)?;
    let found = table.iter().find(|row| row.0 == text).map(|row| row.1);
    found.ok_or_else(|| EvalError::argument(format!("`{}` has no such method", call.name())))
}

pub(in crate::eval) fn resize(call: &Call) -> KernelResult {
    let tensor = call.numbers("input")?;
    let mut output = scalars(&tensor);
    for flag in ["exclude_outside", "antialias"] {
        if call.value(flag).is_some() && call.flag(flag)? {
            return Err(EvalError::argument(format!("`{flag}` of `{}` is not computed", call.name())));
        }
    }
    // tract has all of them but `tf_crop_and_resize`.
    let coordinates = named(call, "coord_transformer", COORDINATES.split_last().map_or(&[], |(_, known)| known))?;
    let slope = number_or(call, "cubic_coeff_a", CUBIC_SLOPE)?;
    let method = match call.string("interpolator")? {
        "nearest" => Method::Nearest(named(call, "nearest_mode", ROUNDINGS)?),
        _ => named(call, "interpolator", &[("linear", Method::Linear), ("cubic", Method::Cubic(slope))])?,
    };
    let given = if is_given(call, "sizes") { "sizes" } else { "scales" };
    let numbers = call.numbers(given)?.to_scalars();
    if let Some(number) = numbers.iter().find(|number| number.is_nan() || **number < 0.0) {
        return Err(EvalError::value(format!("`{given}` of `{}` has the item {number}", call.name())));
    }
    if numbers.len() != output.ndim() {
        return Err(EvalError::shapes(format!(
            "`{given}` has {} items, the input rank {}",
            numbers.len(),
            output.ndim()
        )));
    }
    for (axis, number) in numbers.into_iter().enumerate() {
        let extent = output.shape()[axis];
        let (scale, count) = match given {
            "sizes" => (number as f32 / extent as f32, number as usize),
            _ if number.fract() == 0.0 => (number as f32, extent * number as usize),
            _ => (number as f32, (extent as f32 * number as f32) as usize),
        };
        if scale == 1.0 && count == extent {
            continue;
        }
        if extent == 0 {
            return Err(unfit(call, &[output.shape()]));
        }
        let mut shape = output.shape().to_vec();
        shape[axis] = count;
        call.budget().room(&shape)?;
        let of = ResampledAxis { input: extent, output: count, scale, region: [0.0, 1.0], is_single: count == 1 };
        output = method.along(&output, axis, coordinates, of);
    }
    Ok(vec![like(output, tensor.dtype())?])
}

/// Reflects a position at bounds until it lies between them.
fn reflected(x: f32, low: f32, high: f32) -> f32 {
    let range = high - low;
    if range == 0.0 {
        return low;
    }
    let beyond = if x < low {
        low - x
    } else if x > high {
        x - high
    } else {
        return x;
    };
    let (turns, rest) = ((beyond / range) as i32, beyond - (beyond / range).trunc() * range);
    match (x < low, turns % 2 == 0) {
        (true, true) | (false, false) => low + rest,
        (true, false) | (false, true) => high - rest,
    }
}

/// Sampling at the points of a grid.
struct Grid<'a> {
    mode: GridMode,
    padding: &'a str,
    aligned: bool,
}

/// How items between points are computed.
#[derive(Clone, Copy, PartialEq)]
enum GridMode {
    Nearest,
    Linear,
    Cubic,
}

const MODES: &[(&str, GridMode)] =
    &[("nearest", GridMode::Nearest), ("bilinear", GridMode::Linear), ("bicubic", GridMode::Cubic)];

impl Grid<'_> {
    fn bounds(&self, size: usize) -> (f32, f32) {
        if self.aligned { (0.0, size as f32 - 1.0) } else { (-0.5, size as f32 - 0.5) }
    }

    /// The position along an axis for a coordinate from -1 to 1.
    fn place(&self, coordinate: f64, size: usize) -> f32 {
        let (coordinate, size) = (coordinate as f32, size as f32);
        if self.aligned { (coordinate + 1.0) / 2.0 * (size - 1.0) } else { ((coordinate + 1.0) * size - 1.0) / 2.0 }
    }

    /// If a position is out of bounds along any axis, moves it into the bounds.
    fn padded(&self, places: &mut [f32], sizes: &[usize]) {
        let out = places.iter().zip(sizes).any(|(place, size)| {
            let (low, high) = self.bounds(*size);
            *place < low || *place > high
        });
        for (place, size) in places.iter_mut().zip(sizes).filter(|_| out) {
            let (low, high) = self.bounds(*size);
            *place = match self.padding {
                "border" => place.clamp(0.0, (high + low).max(0.0)),
                "reflection" => reflected(*place, low, high),
                _ => *place,
            };
        }
    }

    /// The item at a place along an axis.
    fn item(&self, place: i64, size: usize) -> Option<usize> {
        let last = size as i64 - 1;
        let (low, high) = self.bounds(size);
        match self.padding {
            "border" => Some(place.clamp(0, last) as usize),
            "reflection" => Some((reflected(place as f32, low, high) as i64).clamp(0, last) as usize),
            _ => (0..=last).contains(&place).then_some(place as usize),
        }
    }

    /// The items along all axes for a point.
    fn taps(&self, mut places: Vec<f32>, sizes: &[usize], taps: &mut [Vec<Tap<f32>>]) {
        if self.mode == GridMode::Nearest {
            places.iter_mut().for_each(|place| *place = place.round_ties_even());
        }
        self.padded(&mut places, sizes);
        for ((place, size), taps) in places.iter().zip(sizes).zip(taps) {
            let (cell, ratio) = (place.floor() as i64, place - place.floor());
            taps.clear();
            // What is not a number stays so outside, too.
            let mut tap = |shift: i64, weight: f32| {
                let item = self.item(cell.saturating_add(shift), *size);
                taps.push((if weight.is_nan() { Some(0) } else { item }, weight));
            };
            match self.mode {
                GridMode::Nearest => tap(0, 1.0),
                GridMode::Linear => [(0, 1.0 - ratio), (1, ratio)].into_iter().for_each(|(at, weight)| tap(at, weight)),
                GridMode::Cubic => {
                    (-1..3).for_each(|i| tap(i, cubic((i as f32 - ratio).into(), CUBIC_SLOPE) as f32));
                }
            }
        }
    }
}

pub(in crate::eval) fn grid_sample(call: &Call) -> KernelResult {
    let (input, points) = (call.numbers("input")?, call.numbers("grid")?);
    let wrong = || unfit(call, &[input.shape(), points.shape()]);
    let (&[batch, channels, ref sizes @ ..], &[batches, ref space @ .., axes]) = (input.shape(), points.shape()) else {
        return Err(wrong());
    };
    let rank = sizes.len();
    if batches != batch || axes != rank || space.len() != rank || sizes.contains(&0) || !(1..=8).contains(&rank) {
        return Err(wrong());
    }
    let mode = named(call, "mode", MODES)?;
    let grid = Grid { mode, padding: call.string("padding_mode")?, aligned: call.flag("align_corners")? };
    let shape = [&[batch, channels], space].concat();
    let count = call.budget().room(&shape)?;
    call.budget().product(count, 1 << (2 * rank))?;
    let coordinates: &[f64] = points.items().unwrap_or_default();
    let planes = SampledPlanes { items: input.items().unwrap_or_default(), batch, channels, extents: sizes };
    let items = planes.sampled(space.iter().product(), |at, taps| {
        // Coordinates are in the reverse order of the axes.
        let own = coordinates[at * rank..][..rank].iter().rev();
        grid.taps(own.zip(sizes).map(|(coordinate, size)| grid.place(*coordinate, *size)).collect(), sizes, taps);
    });
    Ok(vec![Tensor::scalars(&shape, items)?])
}
