//! Items at places that are operands: grids, regions of interest, and the middle of a tensor.

use super::quantize::rounded;
use super::reals::{Reals, naturals, planes, sizes};
use crate::dictionary::{CUBIC_SLOPE, cubic};
use crate::eval::kernels::{SampledPlanes, Tap};
use crate::eval::{EvalError, advance};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::kernels::sum;

/// What is outside of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// How items between places are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleMode {
    Nearest,
    Linear,
    Cubic,
}

/// The interpolation of a node.
struct Sampling {
    mode: SampleMode,
    outside: Outside,
    aligned: bool,
}

/// A number mirrored at two edges until it is between them.
fn reflected(x: f64, least: f64, greatest: f64) -> f64 {
    let range = greatest - least;
    if range <= 0.0 || !x.is_finite() {
        return least;
    }
    let shift = (x - least).rem_euclid(2.0 * range);
    least + if shift > range { 2.0 * range - shift } else { shift }
}

impl Sampling {
    fn read(call: &NodeCall) -> Result<Self, EvalError> {
        let mode = match &*call.text_or("mode", "linear")? {
            "nearest" => SampleMode::Nearest,
            "linear" | "bilinear" => SampleMode::Linear,
            "cubic" | "bicubic" => SampleMode::Cubic,
            other => return Err(call.refused(format!("`mode` is '{other}'"))),
        };
        let outside = match &*call.text_or("padding_mode", "zeros")? {
            "zeros" => Outside::Zeros,
            "border" => Outside::Border,
            "reflection" => Outside::Reflection,
            other => return Err(call.refused(format!("`padding_mode` is '{other}'"))),
        };
        Ok(Sampling { mode, outside, aligned: call.flag("align_corners", false)? })
    }

    fn edges(&self, extent: usize) -> (f64, f64) {
        let last = extent as f64 - 1.0;
        if self.aligned { (0.0, last) } else { (-0.5, last + 0.5) }
    }

    /// The item at a whole place; none where there is zero.
    fn item(&self, place: f64, extent: usize) -> Option<usize> {
        let last = extent as f64 - 1.0;
        match self.outside {
            _ if (0.0..=last).contains(&place) => Some(place as usize),
            Outside::Zeros => None,
            Outside::Border => Some(place.clamp(0.0, last) as usize),
            Outside::Reflection => {
                let (least, greatest) = self.edges(extent);
                Some((reflected(place, least, greatest).max(0.0) as usize).min(extent - 1))
            }
        }
    }

    /// The items along an axis for a coordinate from -1 to 1, with their weights.
    fn taps(&self, coordinate: f64, extent: usize, taps: &mut Vec<Tap<f64>>) {
        let length = extent as f64;
        let place = match self.aligned {
            true => (coordinate + 1.0) / 2.0 * (length - 1.0),
            false => ((coordinate + 1.0) * length - 1.0) / 2.0,
        };
        let place = f64::from(place as f32);
        let place = if self.mode == SampleMode::Nearest { place.round_ties_even() } else { place };
        let (least, greatest) = self.edges(extent);
        let place = match self.outside {
            _ if (least..=greatest).contains(&place) => place,
            Outside::Zeros => place,
            Outside::Border => place.clamp(0.0, length - 1.0),
            Outside::Reflection => reflected(place, least, greatest),
        };
        let below = place.floor();
        let part = place - below;
        taps.clear();
        let mut tap = |shift: f64, weight: f64| taps.push((self.item(below + shift, extent), weight));
        match self.mode {
            SampleMode::Nearest => tap(part.round(), 1.0),
            SampleMode::Linear => {
                tap(0.0, 1.0 - part);
                tap(1.0, part);
            }
            SampleMode::Cubic => (-1..3).for_each(|i| tap(f64::from(i), cubic(f64::from(i) - part, CUBIC_SLOPE))),
        }
    }
}

/// `GridSample`.
pub(in crate::onnx) fn grid_sample(call: &NodeCall) -> KernelResult {
    let (x, grid, sampling) = (Reals::of(call, 0)?, Reals::of(call, 1)?, Sampling::read(call)?);
    let (batch, channels, extents) = planes(call, x.shape)?;
    let rank = extents.len();
    let misfit = || call.misfit(format!("a grid of shape {:?} for an operand of shape {:?}", grid.shape, x.shape));
    let [batches, space @ .., axes] = grid.shape else { return Err(misfit()) };
    if *batches != batch || *axes != rank || space.len() != rank || rank == 0 || rank > 8 {
        return Err(misfit());
    }
    let shape: Vec<usize> = [batch, channels].into_iter().chain(space.iter().copied()).collect();
    let count = call.budget.room(&shape)?;
    if count > 0 && extents.contains(&0) {
        return Err(misfit());
    }
    call.budget.product(count, 1 << (2 * rank))?;
    let planes = SampledPlanes { items: &x.items, batch, channels, extents };
    // The grid has the coordinate of the last axis first.
    let result = planes.sampled(space.iter().product(), |at, taps| {
        let coordinates = grid.items[at * rank..][..rank].iter().rev();
        let axes = taps.iter_mut().zip(coordinates).zip(extents);
        axes.for_each(|((taps, coordinate), extent)| sampling.taps(*coordinate, *extent, taps));
    });
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `AffineGrid`.
pub(in crate::onnx) fn affine_grid(call: &NodeCall) -> KernelResult {
    let (theta, size) = (Reals::of(call, 0)?.ranked(call, 3)?, sizes(call, &call.list(1)?)?);
    let (batch, _, space) = planes(call, &size)?;
    let (rank, aligned) = (space.len(), call.flag("align_corners", false)?);
    if theta.shape != [batch, rank, rank + 1] {
        return Err(call.misfit(format!("transforms of shape {:?} for a size of {size:?}", theta.shape)));
    }
    let shape: Vec<usize> = std::iter::once(batch).chain(space.iter().copied()).chain([rank]).collect();
    let count = call.budget.room(&shape)?;
    call.budget.product(count, rank + 1)?;
    // Steps are rounded as in the body of the operator: whether a coordinate is 0 counts for what is not finite.
    let round = |x: f64| rounded(theta.dtype, x);
    let coordinate = |i: usize, extent: usize| {
        let step = round(2.0 / (extent - usize::from(aligned)) as f64);
        let start = if aligned { -1.0 } else { round(round(step * 0.5) - 1.0) };
        if aligned && extent == 1 { -1.0 } else { round(round(i as f64 * step) + start) }
    };
    let mut result = Vec::with_capacity(count);
    for transform in theta.items.chunks_exact((rank * (rank + 1)).max(1)) {
        let mut index = vec![0; rank];
        for _ in 0..space.iter().product::<usize>() {
            // The coordinate of the last axis is the first one.
            let at: Vec<f64> = index.iter().zip(space).rev().map(|(&i, &extent)| coordinate(i, extent)).collect();
            for row in transform.chunks_exact(rank + 1) {
                result.push(sum(row.iter().zip(&at).map(|(a, b)| a * b)) + row[rank]);
            }
            advance(&mut index, space);
        }
    }
    one(call.rounded(theta.dtype, &shape, result)?)
}

/// A positive extent of an attribute.
fn extent(call: &NodeCall, name: &str) -> Result<usize, EvalError> {
    let found = usize::try_from(call.int_or(name, 1)?).ok().filter(|&extent| extent > 0);
    found.ok_or_else(|| call.refused(format!("`{name}` is not positive")))
}

/// A region along one axis, divided into cells with a number of samples each.
struct Cells {
    start: f64,
    size: f64,
    samples: usize,
}

impl Cells {
    fn new(start: f64, end: f64, cells: usize, ratio: i64, half_pixel: bool) -> Self {
        let length = if half_pixel { end - start } else { (end - start).max(1.0) };
        let samples = if ratio > 0 { ratio as usize } else { (length / cells as f64).ceil() as usize };
        Cells { start, size: length / cells as f64, samples }
    }

    /// The items that a sample of a cell lies between; none outside.
    fn taps(&self, cell: usize, sample: usize, extent: usize) -> Option<[(usize, f64); 2]> {
        let last = extent.checked_sub(1)?;
        let part = (sample as f64 + 0.5) * self.size / self.samples as f64;
        let place = self.start + cell as f64 * self.size + part;
        if !(-1.0..=extent as f64).contains(&place) {
            return None;
        }
        let place = place.max(0.0);
        let below = place as usize;
        match below >= last {
            true => Some([(last, 1.0), (last, 0.0)]),
            false => Some([(below, 1.0 - (place - below as f64)), (below + 1, place - below as f64)]),
        }
    }
}

/// How the samples of a cell become its item.
struct Pooling {
    greatest: bool,
    cell: [usize; 2],
}

impl Pooling {
    /// Pools a cell in each of the channels.
    fn pool(&self, channels: &[f64], [height, width]: [usize; 2], cells: &[Cells; 2], mut put: impl FnMut(usize, f64)) {
        let mut corners = Vec::new();
        for i in 0..cells[0].samples {
            for j in 0..cells[1].samples {
                let rows = cells[0].taps(self.cell[0], i, height);
                let columns = cells[1].taps(self.cell[1], j, width);
                let none = [(0, 0.0); 4];
                corners.push(rows.zip(columns).map_or(none, |([a, b], [c, d])| {
                    [(a, c), (a, d), (b, c), (b, d)].map(|(row, column)| (row.0 * width + column.0, row.1 * column.1))
                }));
            }
        }
        let count = corners.len().max(1) as f64;
        for (channel, plane) in channels.chunks_exact(height * width).enumerate() {
            let products = corners.iter().flatten().map(|&(place, weight)| plane[place] * weight);
            let pooled = if self.greatest {
                products.reduce(f64::max).unwrap_or(0.0)
            } else {
                products.fold(0.0, |a, b| a + b) / count
            };
            put(channel, pooled);
        }
    }
}

/// `RoiAlign`.
pub(in crate::onnx) fn roi_align(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?.ranked(call, 4)?;
    let (batches, [height, width], channels) = (call.list(2)?, [x.shape[2], x.shape[3]], x.shape[1]);
    let regions = Reals::shaped(call, 1, &[batches.len(), 4])?;
    let (rows, columns) = (extent(call, "output_height")?, extent(call, "output_width")?);
    let default = if call.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let half_pixel = call.text_or("coordinate_transformation_mode", default)? == "half_pixel";
    let greatest = call.text_or("mode", "avg")? == "max";
    let (scale, ratio) = (call.float_or("spatial_scale", 1.0)?, call.int_or("sampling_ratio", 0)?);
    let shape = [batches.len(), channels, rows, columns];
    let mut result = vec![0.0; call.budget.room(&shape)?];
    let size = channels * height * width;
    for (region, batch) in batches.iter().enumerate() {
        let batch = usize::try_from(*batch).ok().filter(|&batch| batch < x.shape[0] && height * width > 0);
        let batch = batch.ok_or_else(|| call.refused("a batch index is outside of the operand"))?;
        let corner = |i: usize| regions.items[region * 4 + i] * scale - if half_pixel { 0.5 } else { 0.0 };
        let cells = [
            Cells::new(corner(1), corner(3), rows, ratio, half_pixel),
            Cells::new(corner(0), corner(2), columns, ratio, half_pixel),
        ];
        let samples = call.budget.room(&[cells[0].samples, cells[1].samples])?;
        call.budget.product(samples.saturating_mul(rows * columns), 4 * channels + 1)?;
        for at in 0..rows * columns {
            let pooling = Pooling { greatest, cell: [at / columns, at % columns] };
            pooling.pool(&x.items[batch * size..][..size], [height, width], &cells, |channel, item| {
                result[(region * channels + channel) * rows * columns + at] = item;
            });
        }
    }
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `MaxRoiPool`.
pub(in crate::onnx) fn max_roi_pool(call: &NodeCall) -> KernelResult {
    let (x, regions) = (Reals::of(call, 0)?.ranked(call, 4)?, Reals::of(call, 1)?.ranked(call, 2)?);
    let pooled = naturals(call, "pooled_shape")?.filter(|pooled| pooled.len() == 2 && !pooled.contains(&0));
    let pooled = pooled.ok_or_else(|| call.refused("`pooled_shape` is not two positive extents"))?;
    let scale = call.float_or("spatial_scale", 1.0)?;
    let (channels, extents) = (x.shape[1], [x.shape[2], x.shape[3]]);
    if regions.shape[1] != 5 {
        return Err(call.misfit("a region is not a batch and two corners"));
    }
    let shape = [regions.shape[0], channels, pooled[0], pooled[1]];
    let mut result = Vec::with_capacity(call.budget.room(&shape)?);
    let plane = extents[0] * extents[1];
    for region in regions.items.chunks_exact(5) {
        let batch = Some(region[0]).filter(|&batch| batch >= 0.0 && batch < x.shape[0] as f64);
        let batch = batch.ok_or_else(|| call.refused("a region has no batch of the operand"))? as usize;
        let cell = |axis: usize, i: usize| {
            // Columns are first in a region.
            let (from, to) = ((region[2 - axis] * scale).round(), (region[4 - axis] * scale).round());
            let size = (to - from + 1.0).max(1.0) / pooled[axis] as f64;
            let clamped = |place: f64| (place + from).clamp(0.0, extents[axis] as f64) as usize;
            clamped((i as f64 * size).floor())..clamped(((i + 1) as f64 * size).ceil())
        };
        for channel in 0..channels {
            let items = &x.items[(batch * channels + channel) * plane..][..plane];
            for at in 0..pooled[0] * pooled[1] {
                let (rows, columns) = (cell(0, at / pooled[1]), cell(1, at % pooled[1]));
                call.budget.product(rows.len(), columns.len())?;
                let inside = rows.flat_map(|row| items[row * extents[1]..][..extents[1]][columns.clone()].iter());
                result.push(inside.copied().reduce(f64::max).unwrap_or(0.0));
            }
        }
    }
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `CenterCropPad`: the middle of the operand, or zeros around it.
pub(in crate::onnx) fn center_crop_pad(call: &NodeCall) -> KernelResult {
    let (x, size) = (call.tensor(0)?, sizes(call, &call.list(1)?)?);
    let axes = call.axes_or_all(call.ints("axes")?, x.rank())?;
    if axes.len() != size.len() {
        return Err(call.misfit(format!("{} extents for {} axes", size.len(), axes.len())));
    }
    let mut along = x.places();
    let mut shape = x.shape().to_vec();
    for (&axis, &wanted) in axes.iter().zip(&size) {
        let extent = x.shape()[axis];
        shape[axis] = wanted;
        call.budget.room(&[wanted])?;
        let (cut, added) = (extent.saturating_sub(wanted) / 2, wanted.saturating_sub(extent) / 2);
        let place = |i: usize| (i + cut).checked_sub(added).filter(|&place| place < extent);
        along[axis] = (0..wanted).map(place).collect();
    }
    call.budget.room(&shape)?;
    one(x.taken(&along, 0.0))
}
