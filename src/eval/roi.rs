//! Regions of interest (4.6).
//!
//! A row of `rois` has the first corner of a region, then the second, both in the order of the axes. The second
//! corner is exclusive. Items outside of the input are 0, as in pooling with the default border.

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels::advance;
use super::resize::{Method, Taps, interpolate, taps};
use crate::graph::border::Border;
use crate::tensor::{Tensor, volume};

/// The regions of an operation, and its input.
struct Regions {
    items: Vec<f64>,
    channels: usize,
    extents: Vec<usize>,
    /// Both corners of each region.
    corners: Vec<(Vec<f64>, Vec<f64>)>,
    batches: Vec<usize>,
    /// The spatial extents of the result.
    size: Vec<usize>,
}

impl Regions {
    fn read(call: &Call, size: Vec<usize>) -> Result<Self, EvalError> {
        let name = call.name();
        let (input, rois, batch) = (call.scalars("input")?, call.scalars("rois")?, call.integers("batch_index")?);
        let spatial = size.len();
        let count = rois.shape().first().copied().unwrap_or(0);
        if input.ndim() != spatial + 2
            || input.ndim() > super::MAX_RANK
            || rois.shape() != [count, 2 * spatial]
            || batch.len() != count
            || size.contains(&0)
        {
            let (input, rois, batch) = (input.shape(), rois.shape(), batch.shape());
            let message =
                format!("`{name}` of shape {input:?} with `rois` {rois:?}, `batch_index` {batch:?} and size {size:?}");
            return Err(EvalError::shapes(message));
        }
        let rois: Vec<f64> = rois.iter().copied().collect();
        if let Some(corner) = rois.iter().find(|corner| corner.is_nan() || corner.abs() > 1e12) {
            return Err(EvalError::value(format!("a region of `{name}` has the coordinate {corner}")));
        }
        let corner = |row: &[f64]| (row[..spatial].to_vec(), row[spatial..].to_vec());
        let within = |item: &i64| {
            let found = usize::try_from(*item).ok().filter(|&item| item < input.shape()[0]);
            found.ok_or_else(|| {
                EvalError::value(format!("`batch_index` {item} of `{name}` is not a batch of the input"))
            })
        };
        Ok(Regions {
            channels: input.shape()[1],
            extents: input.shape()[2..].to_vec(),
            corners: rois.chunks_exact((2 * spatial).max(1)).map(corner).collect(),
            batches: batch.iter().map(within).collect::<Result<_, _>>()?,
            items: input.iter().copied().collect(),
            size,
        })
    }

    fn shape(&self) -> Vec<usize> {
        [self.batches.len(), self.channels].into_iter().chain(self.size.iter().copied()).collect()
    }

    /// The items of a channel, in the batch of a region.
    fn plane(&self, region: usize, channel: usize) -> &[f64] {
        let plane: usize = self.extents.iter().product();
        let first = (self.batches[region] * self.channels + channel) * plane;
        &self.items[first..first + plane]
    }

    /// Computes each item of the result by a function of region, channel and spatial index.
    fn each(&self, call: &Call, mut f: impl FnMut(usize, usize, &[usize]) -> Result<f64, EvalError>) -> KernelResult {
        let shape = self.shape();
        let count = call.budget().room(&shape)?;
        let mut output = Vec::with_capacity(count);
        let mut index = vec![0; shape.len()];
        for _ in 0..count {
            output.push(f(index[0], index[1], &index[2..])?);
            advance(&mut index, &shape);
        }
        Ok(vec![Tensor::scalars(&shape, output)?])
    }
}

/// Divides regions into cells and pools each of them.
pub(crate) fn pool(call: &Call, fold: fn(&[f64]) -> f64) -> KernelResult {
    let regions = Regions::read(call, call.naturals("output_size")?)?;
    regions.each(call, |region, channel, index| {
        let (from, to) = &regions.corners[region];
        // The cell along an axis: start and length.
        let cell = |axis: usize| {
            let (first, last) = ((from[axis] + 0.5).floor(), (to[axis] + 0.5).floor());
            let (extent, cells) = ((last - first).max(0.0), regions.size[axis] as f64);
            let start = first + index[axis] as f64 * (extent / cells).floor();
            (start as i64, (extent / cells).ceil() as usize)
        };
        let cells: Vec<(i64, usize)> = (0..index.len()).map(cell).collect();
        let lengths: Vec<usize> = cells.iter().map(|(_, length)| *length).collect();
        let count = volume(&lengths).unwrap_or(usize::MAX);
        call.budget().room(&lengths)?;
        let plane = regions.plane(region, channel);
        let mut at = vec![0; lengths.len()];
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let mut place = Some(0);
            for (axis, extent) in regions.extents.iter().enumerate() {
                let i = Border::Constant(()).place(cells[axis].0 + at[axis] as i64, *extent);
                place = place.zip(i).map(|(place, i)| place * extent + i);
            }
            items.push(place.map_or(0.0, |place| plane[place]));
            advance(&mut at, &lengths);
        }
        Ok(if items.is_empty() { 0.0 } else { fold(&items) })
    })
}

/// The interpolated item of a region at an index of the result, which has shape `size`.
fn sampled(regions: &Regions, method: Method, region: usize, channel: usize, index: &[usize], size: &[usize]) -> f64 {
    let (from, to) = &regions.corners[region];
    let along = |axis: usize| {
        let position = from[axis] + method.position(index[axis], size[axis], to[axis] - from[axis]);
        taps(position, regions.extents[axis], Border::Replicate)
    };
    let taps: Vec<Taps> = (0..index.len()).map(along).collect();
    interpolate(regions.plane(region, channel), &regions.extents, &taps)
}

/// Resamples regions to a common size by interpolation.
pub(crate) fn roi_resample(call: &Call) -> KernelResult {
    let method = Method::read(call)?;
    let regions = Regions::read(call, call.naturals("output_size")?)?;
    regions.each(call, |region, channel, index| {
        call.budget().work(1 << index.len().min(40))?;
        Ok(sampled(&regions, method, region, channel, index, &regions.size))
    })
}

/// Resamples to a finer size, then pools. The printed body pools with a window of the spatial axes only, which
/// matches no input; the intended window has extent 1 along batch and channels.
pub(crate) fn align(call: &Call, fold: fn(&[f64]) -> f64) -> KernelResult {
    let (size, rate) = (call.naturals("output_size")?, call.naturals("sampling_rate")?);
    let method = Method::named(call.string("resize_method")?)?;
    let fine: Option<Vec<usize>> = size.iter().zip(&rate).map(|(size, rate)| size.checked_mul(*rate)).collect();
    let (Some(fine), true) = (fine, rate.len() == size.len() && !rate.contains(&0)) else {
        return Err(EvalError::shapes(format!("`sampling_rate` {rate:?} does not fit `output_size` {size:?}")));
    };
    let regions = Regions::read(call, size)?;
    regions.each(call, |region, channel, index| {
        let count = call.budget().room(&rate)?;
        call.budget().product(count, 1 << index.len().min(40))?;
        let mut at = vec![0; rate.len()];
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let place: Vec<usize> = index.iter().zip(&rate).zip(&at).map(|((i, rate), at)| i * rate + at).collect();
            items.push(sampled(&regions, method, region, channel, &place, &fine));
            advance(&mut at, &rate);
        }
        Ok(fold(&items))
    })
}
