//! Windows over all axes: box filters, pooling, sampling at indices (4.3.2, 4.3.3, 4.9.3).

use std::sync::Arc;

use ndarray::ArrayD;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels::{Direction, PlaneWindow, Windows, pooled};
use super::window::windows;
use crate::dictionary::Deviation;
use crate::graph::border::Border;
use crate::graph::windows::is_of_space;
use crate::tensor::Tensor;
use crate::tensor::kernels::sum;

/// An input and the windows over it. Axes in front whose windows are their items are planes.
struct Pool {
    input: Arc<Tensor>,
    /// The extents of the axes of planes.
    outer: Vec<usize>,
    windows: Windows,
    /// The item at a place outside of the input.
    outside: f64,
}

impl Pool {
    fn read(call: &Call, direction: Direction) -> Result<Self, EvalError> {
        let mut size = call.naturals("size")?;
        let input = call.numbers_to("input", size.len())?;
        let rank = input.shape().len();
        if call.draft() && size.len() < rank {
            size.resize(rank, 1);
        }
        let of_space = !call.draft() && is_of_space(size.len(), rank);
        if of_space {
            size.splice(0..0, [1; 2]);
        }
        if size.len() != rank || size.contains(&0) {
            let name = call.name();
            return Err(EvalError::shapes(format!("`size` {size:?} of `{name}` does not fit an input of rank {rank}")));
        }
        let reference = match direction {
            Direction::Up => call.naturals("output_shape")?,
            Direction::Down => Vec::new(),
        };
        if !reference.is_empty() && reference.len() != rank {
            return Err(EvalError::shapes(format!("`output_shape` {reference:?} does not fit a rank of {rank}")));
        }
        let reference = Some(&reference[..]).filter(|reference| !reference.is_empty());
        if call.deviates(Deviation::SpatialWindows) {
            size.iter_mut().take(2).for_each(|size| *size = 1);
        }
        let mut windows = windows(call, input.shape(), &size, direction, of_space, reference)?;
        let mut outside = if windows.border == Border::Ignore { f64::NEG_INFINITY } else { 0.0 };
        if call.deviates(Deviation::IgnoredBorder) {
            windows.border = Border::Ignore;
            outside = f64::from(f32::MIN);
        }
        let planes = windows.axes.iter().take_while(|axis| axis.is_trivial()).count();
        let outer = windows.axes.drain(..planes).map(|axis| axis.input).collect();
        Ok(Pool { input, outer, windows, outside })
    }

    /// The items of the input.
    fn items(&self) -> &[f64] {
        self.input.items().unwrap_or_default()
    }

    /// The shape of the output.
    fn output(&self) -> Vec<usize> {
        [&self.outer[..], &self.windows.output()].concat()
    }

    /// Computes each item of the output.
    fn each<T: Clone>(&self, call: &Call, empty: T, f: impl Fn(&PlaneWindow) -> T) -> Result<Vec<T>, EvalError> {
        pooled(call.budget(), &self.windows, self.items(), self.outer.iter().product(), empty, f)
    }

    /// Computes each item of the output, which has scalars.
    fn scalars(&self, call: &Call, f: impl Fn(&PlaneWindow) -> f64) -> KernelResult {
        Ok(vec![Tensor::scalars(&self.output(), self.each(call, 0.0, f)?)?])
    }

    /// The input item at a place of a plane. Outside it is 0; if the border is ignored, it is the maximum of no items.
    fn item(&self, window: &PlaneWindow, place: Option<usize>) -> f64 {
        place.map_or(self.outside, |place| self.items()[window.start + place])
    }
}

/// The items of an array in row-major order.
fn items<T: Copy>(array: &ArrayD<T>) -> Vec<T> {
    array.iter().copied().collect()
}

/// Computes sums or means over windows.
pub(crate) fn summed(call: &Call, direction: Direction, normalize: bool) -> KernelResult {
    let pool = Pool::read(call, direction)?;
    let all = pool.windows.volume() as f64;
    // With an ignored border, a mean is divided by the number of items within the input; that of no items is not a number.
    // A transposed window always covers only some of its items, so its sum is divided by the volume.
    let ignored = pool.windows.border == Border::Ignore && direction == Direction::Down;
    pool.scalars(call, |window| {
        let met = if normalize && ignored { window.count() } else { window.pairs.len() };
        let sum = window.sum(met);
        match (normalize, ignored) {
            (false, _) => sum,
            (true, false) => sum / all,
            (true, true) => sum / met as f64,
        }
    })
}

/// The transpose of a box filter.
pub(crate) fn debox(call: &Call) -> KernelResult {
    let normalize = call.flag("normalize")? && !call.deviates(Deviation::NeverNormalized);
    summed(call, Direction::Up, normalize)
}

/// The greatest items within windows, and their indices within the window.
fn greatest(call: &Call) -> Result<(Tensor, Tensor), EvalError> {
    let pool = Pool::read(call, Direction::Down)?;
    let of_plane = call.deviates(Deviation::PlaneIndex);
    let plane = pool.input.shape().iter().skip(2).product::<usize>().max(1);
    let outside = (pool.windows.border != Border::Ignore).then_some(pool.outside);
    let found = pool.each(call, (0.0, 0), |window| {
        // A window that covers no item has no greatest one: its first position stands for it.
        let (k, place) = window.greatest(outside).unwrap_or((0, None));
        let index = if of_plane { place.map_or(0, |place| (window.start + place) % plane) } else { k };
        (pool.item(window, place), index as i64)
    })?;
    let (shape, (values, places)) = (pool.output(), found.into_iter().unzip());
    Ok((Tensor::scalars(&shape, values)?, Tensor::integers(&shape, places)?))
}

/// The indices of the greatest items within windows.
pub(crate) fn argmax_pool(call: &Call) -> KernelResult {
    Ok(vec![greatest(call)?.1])
}

/// The greatest items within windows.
pub(crate) fn max_pool(call: &Call) -> KernelResult {
    Ok(vec![greatest(call)?.0])
}

/// The greatest items within windows, and their indices.
pub(crate) fn max_pool_with_index(call: &Call) -> KernelResult {
    let (values, places) = greatest(call)?;
    Ok(vec![values, places])
}

fn index(call: &Call, pool: &Pool, wanted: &[usize]) -> Result<Vec<i64>, EvalError> {
    let index = super::eval_call::lengthened(&call.integers("index")?, if call.draft() { wanted.len() } else { 0 });
    let (name, volume) = (call.name(), pool.windows.volume());
    if index.shape() != wanted {
        let given = index.shape();
        return Err(EvalError::shapes(format!("`index` of `{name}` has shape {given:?}, it must have {wanted:?}")));
    }
    match index.iter().find(|&&item| usize::try_from(item).map_or(true, |item| item >= volume)) {
        None => Ok(items(&index)),
        Some(item) => Err(EvalError::value(format!("`index` of `{name}` is {item}, the window has {volume} items"))),
    }
}

/// Reads at indices within windows.
pub(crate) fn sample(call: &Call) -> KernelResult {
    let pool = Pool::read(call, Direction::Down)?;
    let index = index(call, &pool, &pool.output())?;
    pool.scalars(call, |window| {
        let wanted = index[window.item];
        let pair = window.pairs.iter().find(|(k, _)| *k as i64 == wanted);
        pair.map_or(0.0, |(_, place)| pool.item(window, *place))
    })
}

/// Writes at indices within windows; values written to the same item are added.
pub(crate) fn desample(call: &Call) -> KernelResult {
    let pool = Pool::read(call, Direction::Up)?;
    let index = index(call, &pool, pool.input.shape())?;
    pool.scalars(call, |window| {
        let places = window.pairs.iter().filter_map(|(k, place)| Some((*k as i64, window.start + (*place)?)));
        sum(places.filter(|(k, place)| index[*place] == *k).map(|(_, place)| pool.items()[place]))
    })
}
