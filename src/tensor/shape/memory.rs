//! The arrangement of the elements of an array in memory.

use super::digits::Digits;
use super::indexer::{each, long, separate};
use super::{ArrayShape, limited, product};
use crate::tensor::TensorError;

/// The maximum number of steps of a walk through memory: its places times the physical dimensions.
const MAX_STEPS: u64 = 1 << 24;

/// The arrangement of an array in memory.
///
/// The dimensions are permuted to the order of the layout, padded, and rearranged by each tile in turn. The results are
/// the physical dimensions: the place of an element is its row-major number in them.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The sizes of the dimensions, by their number.
    pub(super) sizes: Vec<u64>,
    /// The dimensions, the major one first.
    pub(super) order: Vec<usize>,
    /// The padded sizes of the dimensions, the major one first.
    padded: Vec<u64>,
    tilings: Vec<Tiling>,
    /// The physical dimensions, the major one first.
    physical: Vec<u64>,
    /// The number of allocated elements.
    places: u64,
}

/// A tile applied to dimensions: the last dimensions are replaced by the numbers of tiles along them, followed by the
/// sizes of the tile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tiling {
    /// The number of dimensions of size 1 that are prepended if the tile has more dimensions.
    pub(crate) prepended: usize,
    /// The number of dimensions that the tile does not cover.
    pub(crate) kept: usize,
    /// The sizes of the covered dimensions; those of a group are combined into one dimension.
    pub(crate) groups: Vec<Vec<u64>>,
    /// The size of the tile along each group.
    pub(crate) tile: Vec<u64>,
}

impl Tiling {
    fn new(sizes: &[u64], tile: &[Option<u64>]) -> Tiling {
        let prepended = tile.len().saturating_sub(sizes.len());
        let kept = sizes.len() + prepended - tile.len();
        let ones = std::iter::repeat_n(1, prepended);
        let covered = ones.chain(sizes[sizes.len() - (tile.len() - prepended)..].iter().copied());
        let (mut groups, mut open) = (Vec::new(), Vec::new());
        for (size, along) in covered.zip(tile) {
            open.push(size);
            if along.is_some() {
                groups.push(std::mem::take(&mut open));
            }
        }
        Tiling { prepended, kept, groups, tile: tile.iter().flatten().copied().collect() }
    }

    /// The combined size of each group.
    pub(crate) fn combined(&self) -> Result<Vec<u64>, TensorError> {
        self.groups.iter().map(|group| product(group)).collect()
    }

    /// The numbers of tiles along the groups.
    pub(crate) fn counts(&self) -> Result<Vec<u64>, TensorError> {
        Ok(self.combined()?.iter().zip(&self.tile).map(|(size, tile)| size.div_ceil(*tile)).collect())
    }

    /// Converts an index of the dimensions to one of the tiled dimensions.
    fn forward(&self, index: &mut Vec<u64>) {
        index.splice(0..0, std::iter::repeat_n(0, self.prepended));
        let covered = index.split_off(self.kept);
        let (mut inner, mut rest) = (Vec::with_capacity(self.tile.len()), covered.as_slice());
        for (group, tile) in self.groups.iter().zip(&self.tile) {
            let (own, others) = rest.split_at(group.len());
            let combined = number(own, group);
            index.push(combined / tile);
            inner.push(combined % tile);
            rest = others;
        }
        index.append(&mut inner);
    }

    /// The inverse of `forward`; none for padding.
    fn backward(&self, index: &mut Vec<u64>) -> Option<()> {
        let inner = index.split_off(index.len() - self.tile.len());
        let counts = index.split_off(index.len() - self.tile.len());
        for (i, group) in self.groups.iter().enumerate() {
            let combined = counts[i] * self.tile[i] + inner[i];
            index.extend(digits(combined, group)?);
        }
        index.drain(..self.prepended);
        Some(())
    }
}

/// The row-major number of an index.
fn number(index: &[u64], sizes: &[u64]) -> u64 {
    index.iter().zip(sizes).fold(0, |all, (i, size)| all * size + i)
}

/// The index with a row-major number; none if the number is too large.
fn digits(mut number: u64, sizes: &[u64]) -> Option<Vec<u64>> {
    let mut index = vec![0; sizes.len()];
    for (digit, size) in index.iter_mut().zip(sizes).rev() {
        *digit = number.checked_rem(*size)?;
        number /= size;
    }
    (number == 0).then_some(index)
}

impl Memory {
    fn new(shape: &ArrayShape) -> Result<Memory, TensorError> {
        let sizes = shape.sizes()?;
        let order = shape.layout.major_to_minor();
        let padding = shape.layout.padding.as_ref().map_or(&sizes, |(padded, _)| padded);
        let padded: Vec<u64> = order.iter().map(|&dimension| padding[dimension]).collect();
        let mut physical = padded.clone();
        let mut tilings = Vec::with_capacity(shape.layout.tiles.len());
        for tile in &shape.layout.tiles {
            let tiling = Tiling::new(&physical, tile);
            physical.splice(0..0, std::iter::repeat_n(1, tiling.prepended));
            physical.truncate(tiling.kept);
            physical.extend(tiling.counts()?);
            physical.extend(&tiling.tile);
            tilings.push(tiling);
        }
        product(&sizes)?;
        let places = u128::from(product(&physical)?).next_multiple_of(u128::from(shape.layout.tail_alignment.max(1)));
        Ok(Memory { sizes, order, padded, tilings, physical, places: limited(places)? })
    }

    /// Whether another array of the same sizes is arranged by the same order, padding and tiles.
    pub(super) fn is_arranged_like(&self, other: &Memory) -> bool {
        (&self.order, &self.padded, &self.tilings, self.places)
            == (&other.order, &other.padded, &other.tilings, other.places)
    }

    /// The physical dimensions, the major one first.
    pub(crate) fn physical(&self) -> &[u64] {
        &self.physical
    }

    /// The sizes with padding, the major dimension first.
    pub(crate) fn padded(&self) -> &[u64] {
        &self.padded
    }

    /// The applied tiles.
    pub(crate) fn tilings(&self) -> &[Tiling] {
        &self.tilings
    }

    /// The stride of each dimension in elements; none if there are tiles. Strides of empty arrays are not
    /// meaningful.
    pub(super) fn strides(&self) -> Option<Vec<u64>> {
        let mut strides = vec![0; self.sizes.len()];
        let mut stride = 1u64;
        for (&dimension, &padded) in self.order.iter().zip(&self.padded).rev() {
            strides[dimension] = stride;
            stride = stride.saturating_mul(padded);
        }
        self.tilings.is_empty().then_some(strides)
    }

    /// The number of allocated elements.
    pub(crate) fn places(&self) -> u64 {
        self.places
    }

    /// The place of an element; its index must be in range.
    pub(super) fn place(&self, index: &[u64]) -> u64 {
        let mut index: Vec<u64> = self.order.iter().map(|&dimension| index[dimension]).collect();
        self.tilings.iter().for_each(|tiling| tiling.forward(&mut index));
        number(&index, &self.physical)
    }

    /// The index of the element at a place; none for padding.
    pub(super) fn index(&self, place: u64) -> Option<Vec<u64>> {
        let mut index = digits(place, &self.physical)?;
        self.tilings.iter().rev().try_for_each(|tiling| tiling.backward(&mut index))?;
        let mut by_number = vec![0; index.len()];
        for (&dimension, i) in self.order.iter().zip(index) {
            by_number[dimension] = Some(i).filter(|i| *i < self.sizes[dimension])?;
        }
        Some(by_number)
    }

    /// Checks that the memory is small enough to visit every place.
    ///
    /// # Errors
    ///
    /// The memory is too large.
    pub(super) fn walkable(&self) -> Result<(), TensorError> {
        let (places, dimensions) = (self.places, self.physical.len() as u64);
        match places.checked_mul(dimensions + 1) {
            Some(steps) if steps <= MAX_STEPS => Ok(()),
            _ => {
                let message = format!("{places} places in {dimensions} physical dimensions are too many to list");
                Err(TensorError::new(message))
            }
        }
    }

    /// The row-major number of the element at each place; none for padding.
    ///
    /// # Errors
    ///
    /// The memory is too large.
    pub(crate) fn walk(&self) -> Result<Vec<Option<u64>>, TensorError> {
        self.walkable()?;
        let mut walk = vec![None; self.places as usize];
        let mut element = 0;
        self.each_place(|place| {
            walk[place as usize] = Some(element);
            element += 1;
        });
        Ok(walk)
    }

    /// The division of a memory in a drawing: the places of a line, at most `fitting`, and those of a row of the
    /// innermost physical dimension. A line has as many inner dimensions as fit, but never the outermost one; a
    /// row that is too long is divided anywhere.
    pub(crate) fn lines(&self, fitting: usize) -> (usize, usize) {
        let sizes: Vec<usize> = self.physical.iter().map(|size| *size as usize).skip_while(|size| *size == 1).collect();
        let row = sizes.last().copied().unwrap_or(1).max(1);
        let mut line = row;
        for size in sizes.iter().skip(1).rev().skip(1) {
            match line.saturating_mul(*size) {
                longer if longer <= fitting => line = longer.max(1),
                _ => break,
            }
        }
        (line.min(fitting).max(1), row)
    }

    /// Calls a function with the place of each element, in row-major order.
    pub(super) fn each_place(&self, mut f: impl FnMut(u64)) {
        if self.sizes.contains(&0) {
            return;
        }
        if let Some(digits) = Digits::new(self, None).filter(Digits::is_plain) {
            return each(&digits.by_element(), 0, &mut f);
        }
        if let Some(steps) = separate(self) {
            return each(&long(steps), 0, &mut f);
        }
        let mut index = vec![0; self.sizes.len()];
        loop {
            f(self.place(&index));
            if !advance(&mut index, &self.sizes) {
                return;
            }
        }
    }
}

/// Advances an index; the last dimension varies fastest. Returns false, without a change, at the last index.
fn advance(index: &mut [u64], sizes: &[u64]) -> bool {
    let Some(at) = (0..index.len()).rev().find(|&i| index[i] + 1 < sizes[i]) else { return false };
    index[at] += 1;
    index[at + 1..].fill(0);
    true
}

impl ArrayShape {
    /// The arrangement in memory.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub(crate) fn memory(&self) -> Result<Memory, TensorError> {
        Memory::new(self)
    }

    /// Checks that an index is in range.
    ///
    /// # Errors
    ///
    /// The index has another number of dimensions, or is out of range.
    pub fn check_index(&self, index: &[u64]) -> Result<(), TensorError> {
        let sizes = self.sizes()?;
        if index.len() != sizes.len() {
            let message = format!("the index {index:?} has {} numbers for {} dimensions", index.len(), sizes.len());
            return Err(TensorError::new(message));
        }
        match index.iter().zip(&sizes).position(|(i, size)| i >= size) {
            None => Ok(()),
            Some(at) => {
                let (i, size) = (index[at], sizes[at]);
                Err(TensorError::new(format!("the index {index:?} is outside dimension {at}: {i} is not below {size}")))
            }
        }
    }

    /// The place of an element in memory, counted in elements.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[8,8]{1,0:T(2,4)(2,1,1,1)}".parse()?;
    /// let array = shape.array().unwrap();
    /// assert_eq!(array.linear_index(&[6, 5])?, 51);
    /// assert_eq!(array.multi_index(51)?, Some(vec![6, 5]));
    /// assert!(array.linear_index(&[8, 0]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The index is out of range, or a dimension has no bound.
    pub fn linear_index(&self, index: &[u64]) -> Result<u64, TensorError> {
        self.check_index(index)?;
        Ok(self.memory()?.place(index))
    }

    /// The index of the element at a place in memory; none for padding.
    ///
    /// # Errors
    ///
    /// The memory has no such place, or a dimension has no bound.
    pub fn multi_index(&self, place: u64) -> Result<Option<Vec<u64>>, TensorError> {
        let memory = self.memory()?;
        if place >= memory.places {
            return Err(TensorError::new(format!(
                "the memory has {} places, place {place} is not one of them",
                memory.places
            )));
        }
        Ok(memory.index(place))
    }

    /// Advances an index in row-major order, regardless of the layout. Returns false, without a change, at the last
    /// element.
    ///
    /// # Errors
    ///
    /// The index is out of range.
    pub fn bump_index(&self, index: &mut [u64]) -> Result<bool, TensorError> {
        self.check_index(index)?;
        Ok(advance(index, &self.sizes()?))
    }

    /// Calls a function with the place of each element in memory, in row-major order of the elements. For dense
    /// layouts, places are incremented instead of computed one by one.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[2,3]{0,1}".parse()?;
    /// let mut places = Vec::new();
    /// shape.array().unwrap().each_place(|place| places.push(place))?;
    /// assert_eq!(places, [0, 2, 4, 1, 3, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn each_place(&self, f: impl FnMut(u64)) -> Result<(), TensorError> {
        self.memory()?.each_place(f);
        Ok(())
    }

    /// The row-major number of the element at each place of the memory; none for padding.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or there are too many places.
    pub fn memory_walk(&self) -> Result<Vec<Option<u64>>, TensorError> {
        self.memory()?.walk()
    }
}
