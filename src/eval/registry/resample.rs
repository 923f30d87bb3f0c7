//! Resampling, along each axis separately or at the points of a grid. Positions are computed in single precision,
//! which can determine the nearest item.

use ndarray::{ArrayD, Axis, Dimension, IxDyn, indices};

use crate::dictionary::{CUBIC_SLOPE, cubic};
use crate::eval::array::scalars;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::{COORDINATES, Coordinates, ROUNDINGS, ResampledAxis, Rounding};

use super::arrange::is_given;
use super::{like, number_or, one, unfit};

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
    input: &'a ArrayD<f64>,
    padding: &'a str,
    aligned: bool,
}

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

    /// The item at an index.
    fn item(&self, [batch, channel]: [usize; 2], places: &[i64], sizes: &[usize]) -> f64 {
        let mut at = vec![batch, channel];
        for (place, size) in places.iter().zip(sizes) {
            let last = *size as i64 - 1;
            at.push(match self.padding {
                "border" => (*place).clamp(0, last) as usize,
                "reflection" => {
                    let (low, high) = self.bounds(*size);
                    (reflected(*place as f32, low, high) as i64).clamp(0, last) as usize
                }
                _ if (0..=last).contains(place) => *place as usize,
                _ => return 0.0,
            });
        }
        self.input[IxDyn(&at)]
    }

    /// The weighted sum of the items around a position; `taps` has indices and weights along each axis.
    fn weighted(&self, of: [usize; 2], taps: &[Vec<(i64, f32)>], sizes: &[usize]) -> f64 {
        let counts: Vec<usize> = taps.iter().map(Vec::len).collect();
        let term = |at: &[usize]| {
            let chosen: Vec<(i64, f32)> = taps.iter().zip(at).map(|(taps, at)| taps[*at]).collect();
            let weight: f32 = chosen.iter().map(|(_, weight)| weight).product();
            let places: Vec<i64> = chosen.iter().map(|(place, _)| *place).collect();
            f64::from(weight) * self.item(of, &places, sizes)
        };
        indices(IxDyn(&counts)).into_iter().map(|at| term(at.slice())).sum()
    }

    fn sample(&self, mode: &str, of: [usize; 2], mut places: Vec<f32>, sizes: &[usize]) -> Option<f64> {
        match mode {
            "nearest" => {
                places.iter_mut().for_each(|place| *place = place.round_ties_even());
                self.padded(&mut places, sizes);
                let places: Vec<i64> = places.iter().map(|place| *place as i64).collect();
                Some(self.item(of, &places, sizes))
            }
            "bilinear" | "bicubic" => {
                self.padded(&mut places, sizes);
                let taps = |place: &f32| {
                    let (cell, ratio) = (place.floor() as i64, place - place.floor());
                    match mode {
                        "bilinear" => vec![(cell, 1.0 - ratio), (cell + 1, ratio)],
                        _ => {
                            (-1..3).map(|i| (cell + i, cubic((i as f32 - ratio).into(), CUBIC_SLOPE) as f32)).collect()
                        }
                    }
                };
                Some(self.weighted(of, &places.iter().map(taps).collect::<Vec<_>>(), sizes))
            }
            _ => None,
        }
    }
}

pub(in crate::eval) fn grid_sample(call: &Call) -> KernelResult {
    let (tensor, places) = (call.numbers("input")?, call.scalars("grid")?);
    let input = scalars(&tensor);
    let wrong = || unfit(call, &[input.shape(), places.shape()]);
    let spatial = input.ndim().checked_sub(2).filter(|spatial| *spatial > 0).ok_or_else(wrong)?;
    let fits = places.ndim() == input.ndim() && places.shape().last() == Some(&spatial);
    if !fits || places.shape()[0] != input.shape()[0] || input.shape()[2..].contains(&0) {
        return Err(wrong());
    }
    let mode = call.string("mode")?;
    let (padding, aligned) = (call.string("padding_mode")?, call.flag("align_corners")?);
    let grid = Grid { input: &input, padding, aligned };
    let outer = [&input.shape()[..2], &places.shape()[1..=spatial]].concat();
    let count = call.budget().room(&outer)?;
    call.budget().product(count, 1 << (2 * spatial.min(8)))?;
    let sizes = &input.shape()[2..];
    let mut output = ArrayD::zeros(IxDyn(&outer));
    for (at, item) in output.indexed_iter_mut() {
        let from = [&[at[0]], &at.slice()[2..]].concat();
        // Coordinates are in the reverse order of the axes.
        let place = |axis: usize| {
            let coordinate = places[IxDyn(&[&from[..], &[spatial - 1 - axis]].concat())];
            grid.place(coordinate, sizes[axis])
        };
        let found = grid.sample(mode, [at[0], at[1]], (0..spatial).map(place).collect(), sizes);
        *item = found.ok_or_else(|| EvalError::argument(format!("unknown mode '{mode}'")))?;
    }
    one(output)
}
