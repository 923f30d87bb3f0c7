//! Resampling by linear interpolation (4.3.4): up-sampling by whole factors.

use ndarray::ArrayD;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels::advance;
use super::window;
use crate::graph::border::Border;
use crate::tensor::Tensor;

/// An interpolation method: the correspondence between positions of the output and of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// The centres of the first items coincide.
    Asymmetric,
    /// The outer edges of the first and of the last items coincide.
    Symmetric,
    /// The centres of the first and of the last items coincide.
    Aligned,
}

impl Method {
    /// The method of an operation.
    pub(crate) fn read(call: &Call) -> Result<Self, EvalError> {
        Self::named(call.string("method")?)
    }

    /// The method with a name.
    pub(crate) fn named(name: &str) -> Result<Self, EvalError> {
        Ok(match name {
            "asymmetric" => Method::Asymmetric,
            "symmetric" => Method::Symmetric,
            "aligned" => Method::Aligned,
            other => return Err(EvalError::argument(format!("unknown interpolation method '{other}'"))),
        })
    }

    /// The position among `extent` input items that the `i`th of `count` output items corresponds to.
    /// It may lie between two items.
    pub(crate) fn position(self, i: usize, count: usize, extent: f64) -> f64 {
        let (i, count) = (i as f64, count as f64);
        match self {
            Method::Asymmetric => i * extent / count,
            Method::Symmetric => (i + 0.5) * extent / count - 0.5,
            Method::Aligned if count <= 1.0 => 0.0,
            Method::Aligned => i * (extent - 1.0) / (count - 1.0),
        }
    }
}

/// Indices along an axis with their weights, whose sum is 1. Items of a constant border have no index and the value
/// 0.
pub(crate) type Taps = [(Option<usize>, f64); 2];

/// The items that a position lies between.
pub(crate) fn taps(position: f64, extent: usize, border: Border) -> Taps {
    let below = position.floor();
    let weight = position - below;
    let place = |at: f64| border.place(at as i64, extent);
    [(place(below), 1.0 - weight), (place(below + 1.0), weight)]
}

/// The interpolated item of a plane: the product of the weights along all axes.
pub(crate) fn interpolate(plane: &[f64], extents: &[usize], taps: &[Taps]) -> f64 {
    let mut sum = 0.0;
    // There are two items along each axis: each bit of `corner` selects one of them.
    for corner in 0..1usize << taps.len() {
        let (mut weight, mut place) = (1.0, Some(0));
        for (axis, (taps, extent)) in taps.iter().zip(extents).enumerate() {
            let (tap, part) = taps[corner >> axis & 1];
            weight *= part;
            place = place.zip(tap).map(|(place, tap)| place * extent + tap);
        }
        // An item of weight 0 is skipped, since it might be infinite.
        if weight != 0.0 {
            sum += place.map_or(0.0, |place| plane[place]) * weight;
        }
    }
    sum
}

/// Up-sampling by whole factors along the spatial axes.
pub(crate) fn multilinear_upsample(call: &Call) -> KernelResult {
    let factor = call.naturals("factor")?;
    let input = call.scalars_to("input", factor.len() + 2)?;
    let name = call.name();
    if factor.len() + 2 != input.ndim() || input.ndim() > super::MAX_RANK || factor.contains(&0) {
        let rank = input.ndim();
        return Err(EvalError::shapes(format!("`factor` {factor:?} of `{name}` does not fit an input of rank {rank}")));
    }
    let (method, border) = (Method::read(call)?, window::border(call)?);
    let extents = &input.shape()[2..];
    let space: Option<Vec<usize>> =
        extents.iter().zip(&factor).map(|(extent, factor)| extent.checked_mul(*factor)).collect();
    let space = space.ok_or_else(|| EvalError::shapes(format!("`{name}` makes extents that are too large")))?;
    let shape: Vec<usize> = input.shape()[..2].iter().chain(&space).copied().collect();
    let along =
        |axis: usize, i: usize| taps(method.position(i, space[axis], extents[axis] as f64), extents[axis], border);
    let at = |index: &[usize]| index.iter().enumerate().map(|(axis, &i)| along(axis, i)).collect();
    Ok(vec![Tensor::scalars(&shape, resample(call, &input, &shape, at)?)?])
}

/// Interpolates every plane of an input; `at` computes the taps for an index of an output plane.
fn resample(
    call: &Call,
    input: &ArrayD<f64>,
    shape: &[usize],
    at: impl Fn(&[usize]) -> Vec<Taps>,
) -> Result<Vec<f64>, EvalError> {
    let count = call.budget().room(shape)?;
    call.budget().product(count, 1 << (shape.len() - 2).min(40))?;
    let extents = &input.shape()[2..];
    let (plane, space): (usize, usize) = (extents.iter().product(), shape[2..].iter().product());
    let items: Vec<f64> = input.iter().copied().collect();
    let planes = shape[0] * shape[1];
    let mut output = vec![0.0; count];
    let mut index = vec![0; extents.len()];
    for position in 0..space {
        let taps = at(&index);
        for i in 0..planes {
            output[i * space + position] = interpolate(&items[i * plane..(i + 1) * plane], extents, &taps);
        }
        advance(&mut index, &shape[2..]);
    }
    Ok(output)
}
