//! Places of resampling: where the items of a result lie among those of the operand.

use std::ops::{Add, Div, Mul, Sub};

/// The float in which places are computed: it can decide which item is nearest.
pub(crate) trait PlaceFloat:
    Copy + PartialEq + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
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
