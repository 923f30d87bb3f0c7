//! Windows over all axes: box filters, pooling, sampling at indices (4.3.2, 4.3.3, 4.9.3).

use ndarray::ArrayD;

use super::call::{Call, KernelResult};
use super::error::EvalError;
use super::reduce::greater;
use super::window::{Direction, Pair, Windows};
use crate::dictionary::Deviation;
use crate::graph::border::Border;
use crate::graph::windows::is_of_space;
use crate::tensor::Tensor;
use crate::tensor::kernels::sum;

/// An input and the windows over it.
struct Pool {
    input: Vec<f64>,
    shape: Vec<usize>,
    windows: Windows,
    /// The item at a place outside of the input.
    outside: f64,
}

impl Pool {
    fn read(call: &Call, direction: Direction) -> Result<Self, EvalError> {
        let mut size = call.naturals("size")?;
        let input = call.scalars_to("input", size.len())?;
        if call.draft() && size.len() < input.ndim() {
            size.resize(input.ndim(), 1);
        }
        let of_space = !call.draft() && is_of_space(size.len(), input.ndim());
        if of_space {
            size.splice(0..0, [1; 2]);
        }
        if size.len() != input.ndim() || size.contains(&0) {
            let (name, rank) = (call.name(), input.ndim());
            return Err(EvalError::shapes(format!("`size` {size:?} of `{name}` does not fit an input of rank {rank}")));
        }
        let reference = match direction {
            Direction::Up => call.naturals("output_shape")?,
            Direction::Down => Vec::new(),
        };
        if !reference.is_empty() && reference.len() != input.ndim() {
            return Err(EvalError::shapes(format!(
                "`output_shape` {reference:?} does not fit a rank of {}",
                input.ndim()
            )));
        }
        let reference = Some(&reference[..]).filter(|reference| !reference.is_empty());
        if call.deviates(Deviation::SpatialWindows) {
            size.iter_mut().take(2).for_each(|size| *size = 1);
        }
        let mut windows = Windows::read(call, input.shape(), &size, (direction, of_space), reference)?;
        let mut outside = if windows.border() == Border::Ignore { f64::NEG_INFINITY } else { 0.0 };
        if call.deviates(Deviation::IgnoredBorder) {
            windows.ignore_border();
            outside = f64::from(f32::MIN);
        }
        Ok(Pool { shape: input.shape().to_vec(), input: items(&input), windows, outside })
    }

    /// The input item of a pair. Outside it is 0; if the border is ignored, it is the maximum of no items.
    fn item(&self, place: Option<usize>) -> f64 {
        place.map_or(self.outside, |place| self.input[place])
    }

    /// The pair with the greatest input item; the first, if there are several.
    fn best(&self, pairs: &[Pair]) -> Option<Pair> {
        let ignored = self.windows.border() == Border::Ignore;
        let met = pairs.iter().filter(|(_, place)| place.is_some() || !ignored);
        met.copied().reduce(|best, pair| if greater(self.item(pair.1), self.item(best.1)) { pair } else { best })
    }
}

/// The items of an array in row-major order.
fn items<T: Copy>(array: &ArrayD<T>) -> Vec<T> {
    array.iter().copied().collect()
}

/// Computes sums or means over windows.
fn summed(call: &Call, direction: Direction, normalize: bool) -> KernelResult {
    let pool = Pool::read(call, direction)?;
    let all = pool.windows.volume() as f64;
    // With an ignored border, a mean is divided by the number of items within the input; that of no items is not a number.
    // A transposed window always covers only some of its items, so its sum is divided by the volume.
    let ignored = pool.windows.border() == Border::Ignore && direction == Direction::Down;
    let mut output = Vec::new();
    pool.windows.each(call, |_, pairs| {
        let sum = sum(pairs.iter().map(|(_, place)| place.map_or(0.0, |place| pool.input[place])));
        let met = pairs.iter().filter(|(_, place)| place.is_some()).count();
        output.push(match (normalize, ignored) {
            (false, _) => sum,
            (true, false) => sum / all,
            (true, true) => sum / met as f64,
        });
        Ok(())
    })?;
    Ok(vec![Tensor::scalars(&pool.windows.output(), output)?])
}

/// A box filter.
pub(crate) fn box_filter(call: &Call) -> KernelResult {
    summed(call, Direction::Down, call.flag("normalize")?)
}

/// The transpose of a box filter.
pub(crate) fn debox(call: &Call) -> KernelResult {
    let normalize = call.flag("normalize")? && !call.deviates(Deviation::NeverNormalized);
    summed(call, Direction::Up, normalize)
}

/// A box filter that computes means.
pub(crate) fn avg_pool(call: &Call) -> KernelResult {
    summed(call, Direction::Down, true)
}

/// The greatest items within windows, and their indices within the window.
fn greatest(call: &Call) -> Result<(Tensor, Tensor), EvalError> {
    let pool = Pool::read(call, Direction::Down)?;
    let (mut values, mut places) = (Vec::new(), Vec::new());
    let of_plane = call.deviates(Deviation::PlaneIndex);
    let plane = pool.shape.iter().skip(2).product::<usize>().max(1);
    pool.windows.each(call, |_, pairs| {
        // A window that covers no item has no greatest one: its first position stands for it.
        let (k, place) = pool.best(pairs).unwrap_or((0, None));
        places.push(if of_plane { place.unwrap_or(0) % plane } else { k } as i64);
        values.push(pool.item(place));
        Ok(())
    })?;
    let shape = pool.windows.output();
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
    let index = super::call::lengthened(&call.integers("index")?, if call.draft() { wanted.len() } else { 0 });
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
    let index = index(call, &pool, &pool.windows.output())?;
    let mut output = Vec::new();
    pool.windows.each(call, |position, pairs| {
        let wanted = index[position];
        output.push(pairs.iter().find(|(k, _)| *k as i64 == wanted).map_or(0.0, |(_, place)| pool.item(*place)));
        Ok(())
    })?;
    Ok(vec![Tensor::scalars(&pool.windows.output(), output)?])
}

/// Writes at indices within windows; values written to the same item are added.
pub(crate) fn desample(call: &Call) -> KernelResult {
    let pool = Pool::read(call, Direction::Up)?;
    let index = index(call, &pool, &pool.shape)?;
    let mut output = Vec::new();
    pool.windows.each(call, |_, pairs| {
        let from = |(k, place): &Pair| place.filter(|place| index[*place] == *k as i64).map(|place| pool.input[place]);
        output.push(sum(pairs.iter().filter_map(from)));
        Ok(())
    })?;
    Ok(vec![Tensor::scalars(&pool.windows.output(), output)?])
}
