//! Computes the places of many elements; everything that does not depend on the index is computed once.

use super::ArrayShape;
use super::memory::Memory;
use crate::tensor::TensorError;

/// The maximum number of table entries of an array.
const MAX_TABLES: u64 = 1 << 20;

/// The distances in places of the indices along a dimension from index 0.
#[derive(Clone, Debug)]
pub(super) enum Steps {
    /// All steps are equal: the number of indices, and the places of a step.
    Even(u64, u64),
    /// The distance of each index.
    Uneven(Vec<u64>),
}

impl Steps {
    #[inline]
    fn distance(&self, index: u64) -> Option<u64> {
        match self {
            Steps::Even(count, distance) => (index < *count).then(|| index * distance),
            Steps::Uneven(distances) => distances.get(usize::try_from(index).ok()?).copied(),
        }
    }
}

/// The steps of each dimension, if the place of an element is the sum of the distances of its indices. None if tiles
/// combine dimensions, or tables would be too large.
pub(super) fn separate(memory: &Memory) -> Option<Vec<Steps>> {
    if let Some(strides) = memory.strides() {
        return Some(memory.sizes.iter().zip(strides).map(|(&size, stride)| Steps::Even(size, stride)).collect());
    }
    let alone = memory.tilings().iter().all(|tiling| tiling.groups.iter().all(|group| group.len() == 1));
    let entries = memory.sizes.iter().try_fold(0u64, |all, size| all.checked_add(*size))?;
    if !alone || entries > MAX_TABLES || memory.sizes.contains(&0) {
        return None;
    }
    let mut index = vec![0; memory.sizes.len()];
    let mut table = |dimension: usize| {
        if memory.sizes[dimension] == 1 {
            return Steps::Even(1, 0);
        }
        let mut place = |i| {
            index[dimension] = i;
            memory.place(&index)
        };
        let distances = (0..memory.sizes[dimension]).map(&mut place).collect();
        index[dimension] = 0;
        Steps::Uneven(distances)
    };
    Some((0..memory.sizes.len()).map(&mut table).collect())
}

/// The steps along dimensions of more than one index. The others have the distance 0 alone.
pub(super) fn long(steps: Vec<Steps>) -> Vec<Steps> {
    steps.into_iter().filter(|steps| !matches!(steps, Steps::Even(1, _))).collect()
}

/// Calls a function with all sums of distances; the last dimension varies fastest. The recursion is as deep as there are
/// steps, so dimensions of size 1, of which there may be very many, must have been left out by [`long`].
pub(super) fn each(steps: &[Steps], from: u64, f: &mut impl FnMut(u64)) {
    match steps {
        [] => f(from),
        [Steps::Even(count, distance)] => (0..*count).for_each(|i| f(from + i * distance)),
        [Steps::Uneven(distances)] => distances.iter().for_each(|distance| f(from + distance)),
        [Steps::Even(count, distance), inner @ ..] => (0..*count).for_each(|i| each(inner, from + i * distance, f)),
        [Steps::Uneven(distances), inner @ ..] => distances.iter().for_each(|distance| each(inner, from + distance, f)),
    }
}

impl ArrayShape {
    /// A function from the index of an element to its place in memory, counted in elements, or none if the index
    /// is out of range. It is optimized for many calls: a call allocates nothing unless tiles combine dimensions.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[3,5]{1,0:T(2,2)}".parse()?;
    /// let place = shape.array().unwrap().indexer()?;
    /// assert_eq!(place(&[2, 3]), Some(17));
    /// assert_eq!(place(&[3, 0]), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn indexer(&self) -> Result<impl Fn(&[u64]) -> Option<u64> + use<>, TensorError> {
        let memory = self.memory()?;
        let separate = separate(&memory);
        Ok(move |index: &[u64]| {
            if index.len() != memory.sizes.len() {
                return None;
            }
            let Some(steps) = &separate else {
                let within = index.iter().zip(&memory.sizes).all(|(i, size)| i < size);
                return within.then(|| memory.place(index));
            };
            let mut place = 0;
            for (steps, &i) in steps.iter().zip(index) {
                place += steps.distance(i)?;
            }
            Some(place)
        })
    }
}
