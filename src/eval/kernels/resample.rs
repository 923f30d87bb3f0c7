//! Places of resampling: where the items of a result lie among those of the operand.

use std::ops::{Add, Div, Mul, Sub};

use crate::tensor::kernels::sum;

/// The float in which places are computed: it can decide which item is nearest.
pub(crate) trait PlaceFloat:
    Copy + PartialEq + Into<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The nearest number.
    fn of(number: f64) -> Self;
}

impl PlaceFloat for f32 {
    fn of(number: f64) -> Self {
        number as f32
    }
}

impl PlaceFloat for f64 {
    fn of(number: f64) -> Self {
        number
    }
}

/// How places of the result correspond to those of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coordinates {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    NearestHalfPixel,
    AlignCorners,
    Asymmetric,
    Crop,
}

pub(crate) const COORDINATES: &[(&str, Coordinates)] = &[
    ("half_pixel", Coordinates::HalfPixel),
    ("half_pixel_symmetric", Coordinates::HalfPixelSymmetric),
    ("pytorch_half_pixel", Coordinates::PytorchHalfPixel),
    ("tf_half_pixel_for_nn", Coordinates::NearestHalfPixel),
    ("align_corners", Coordinates::AlignCorners),
    ("asymmetric", Coordinates::Asymmetric),
    ("tf_crop_and_resize", Coordinates::Crop),
];

/// How a place between items is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
    /// That of the first versions of ONNX: up where the result is smaller than the operand, else down.
    Simple,
}

pub(crate) const ROUNDINGS: &[(&str, Rounding)] = &[
    ("round_prefer_floor", Rounding::PreferFloor),
    ("round_prefer_ceil", Rounding::PreferCeil),
    ("floor", Rounding::Floor),
    ("ceil", Rounding::Ceil),
];

impl Rounding {
    pub(crate) fn round(self, place: f64, scale: f64) -> f64 {
        match self {
            Rounding::PreferFloor => (place - 0.5).ceil(),
            Rounding::PreferCeil => (place + 0.5).floor(),
            Rounding::Ceil => place.ceil(),
            Rounding::Simple if scale < 1.0 => place.ceil(),
            Rounding::Floor | Rounding::Simple => place.floor(),
        }
    }
}

/// The resampling along an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResampledAxis<P> {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) scale: P,
    /// The part of the operand, as fractions.
    pub(crate) region: [P; 2],
    /// Whether the result is the one item in the middle of the operand, for the convention of PyTorch.
    pub(crate) is_single: bool,
}

impl<P: PlaceFloat> ResampledAxis<P> {
    /// The place in the operand of an item of the result.
    pub(crate) fn place(&self, coordinates: Coordinates, i: usize) -> P {
        let [zero, half, one, two] = [0.0, 0.5, 1.0, 2.0].map(P::of);
        let [i, input, output] = [i, self.input, self.output].map(|number| P::of(number as f64));
        let (length, last) = (self.scale * input, input - one);
        let half_pixel = (i + half) / self.scale - half;
        match coordinates {
            Coordinates::HalfPixel => half_pixel,
            Coordinates::HalfPixelSymmetric => input / two * (one - output / length) + (i + half) / self.scale - half,
            Coordinates::PytorchHalfPixel => {
                if self.is_single {
                    zero - half
                } else {
                    half_pixel
                }
            }
            Coordinates::NearestHalfPixel => (i + half) / self.scale,
            Coordinates::AlignCorners if length == one => zero,
            Coordinates::AlignCorners => i * last / (length - one),
            Coordinates::Asymmetric => i / self.scale,
            Coordinates::Crop => {
                let [start, end] = self.region;
                let shift = match length == one {
                    true => (end - start) * last / two,
                    false => i * (end - start) * last / (length - one),
                };
                start * last + shift
            }
        }
    }
}

/// An item along an axis, none outside of it, and its weight.
pub(crate) type Tap<P> = (Option<usize>, P);

/// All products of taps along axes: places in a plane with weights.
fn joined<P: PlaceFloat>(taps: &[Vec<Tap<P>>], extents: &[usize]) -> Vec<(usize, P)> {
    let mut all = vec![(0, P::of(1.0))];
    for (taps, extent) in taps.iter().zip(extents) {
        let next = |&(place, weight): &(usize, P)| {
            taps.iter().filter_map(move |(at, part)| Some((place * extent + (*at)?, weight * *part)))
        };
        all = all.iter().flat_map(next).collect();
    }
    all
}

/// Planes of items, of which those of each batch are sampled at the same places.
pub(crate) struct SampledPlanes<'p> {
    pub(crate) items: &'p [f64],
    pub(crate) batch: usize,
    pub(crate) channels: usize,
    pub(crate) extents: &'p [usize],
}

impl SampledPlanes<'_> {
    /// The sums of weighted items at some positions of each batch; a function gives the taps along all axes.
    pub(crate) fn sampled<P: PlaceFloat>(
        &self,
        positions: usize,
        along: impl Fn(usize, &mut [Vec<Tap<P>>]),
    ) -> Vec<f64> {
        let plane: usize = self.extents.iter().product();
        let mut result = vec![0.0; self.batch * self.channels * positions];
        let mut taps = vec![Vec::new(); self.extents.len()];
        for at in 0..if result.is_empty() { 0 } else { self.batch * positions } {
            along(at, &mut taps);
            let all = joined(&taps, self.extents);
            // Items outside are zeros of the sum, after which it is not -0.
            let outside = all.len() < taps.iter().map(Vec::len).product();
            let (batch, position) = (at / positions, at % positions);
            for channel in (0..self.channels).map(|channel| batch * self.channels + channel) {
                let from = &self.items[channel * plane..][..plane];
                let items = sum(all.iter().map(|&(place, weight)| from[place] * weight.into()));
                result[channel * positions + position] = if outside { items + 0.0 } else { items };
            }
        }
        result
    }
}
