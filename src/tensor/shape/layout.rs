//! Layouts: the arrangement of an array in memory.

use super::{ElementType, Ignoring};
use crate::tensor::TensorError;

/// The layout of an [`ArrayShape`](super::ArrayShape) in memory.
///
/// The dimensions have an order from minor, which changes fastest in memory, to major. Each may be padded to a larger
/// size; then tiles are applied one after the other, each to the result of the previous one.
///
/// ```
/// use nnef_flatten::tensor::{ArrayShape, ElementType, Layout};
///
/// let layout = Layout::new(&[1, 0])?.with_tile(&[Some(2), Some(2)])?;
/// let f32 = ElementType::from_name("f32").unwrap();
/// let shape = ArrayShape::new(f32, &[3, 5]).with_layout(layout)?;
/// assert_eq!(shape.to_string(), "f32[3,5]{1,0:T(2,2)}");
/// assert_eq!(shape.linear_index(&[2, 3])?, 17);
/// # Ok::<(), nnef_flatten::tensor::TensorError>(())
/// ```
///
/// A layout can also be parsed from the text in braces of a shape: `"{1,0:T(2,2)}".parse()`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The dimensions, the minor one first.
    pub(super) minor_to_major: Vec<usize>,
    /// The padded size of each dimension, by its number, and the padding value.
    pub(super) padding: Option<(Vec<u64>, PaddingValue)>,
    /// The tiles; none means `*`: the dimension is combined with the next more minor one.
    pub(super) tiles: Vec<Vec<Option<u64>>>,
    /// The number of allocated elements is a multiple of this; 0 and 1 have no effect.
    pub(super) tail_alignment: u64,
    /// The types of indices and pointers of sparse arrays: kept, but not used.
    pub(super) index_type: Option<ElementType>,
    pub(super) pointer_type: Option<ElementType>,
    /// The number of bits of a packed element; 0 for whole bytes.
    pub(super) element_bits: u64,
    /// The number of the memory space; 0 is the default.
    pub(super) memory_space: u64,
    /// The indices at which dimensions are split between memories: used only by `largest_part` and comparisons.
    pub(super) splits: Vec<(u64, Vec<u64>)>,
    /// The number of bytes before the array for its dynamic sizes; not included in its size.
    pub(super) metadata_prefix: u64,
}

/// The value of the padding of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaddingValue {
    /// Zeros.
    #[default]
    Zero,
    /// Ones.
    One,
    /// The lowest finite value of the element type.
    Lowest,
    /// The highest finite value of the element type.
    Highest,
    /// Any value.
    Unknown,
}

/// The kinds of padding with their names.
const VALUES: &[(PaddingValue, &str)] = &[
    (PaddingValue::Zero, "zero"),
    (PaddingValue::One, "one"),
    (PaddingValue::Lowest, "lowest"),
    (PaddingValue::Highest, "highest"),
    (PaddingValue::Unknown, "unknown"),
];

impl PaddingValue {
    /// All kinds.
    pub(crate) fn all() -> impl Iterator<Item = PaddingValue> {
        VALUES.iter().map(|(value, _)| *value)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        VALUES.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
    }

    /// The value in arrays of a type; 0 for any value. None for the lowest and highest value of complex numbers.
    pub fn value(self, element: ElementType) -> Option<f64> {
        match self {
            PaddingValue::Zero | PaddingValue::Unknown => Some(0.0),
            PaddingValue::One => Some(1.0),
            PaddingValue::Lowest => element.range().map(|(lowest, _)| lowest),
            PaddingValue::Highest => element.range().map(|(_, highest)| highest),
        }
    }
}

impl Layout {
    /// A layout without padding and tiles.
    ///
    /// # Errors
    ///
    /// The dimensions are not a permutation.
    pub fn new(minor_to_major: &[usize]) -> Result<Layout, TensorError> {
        permutation(minor_to_major, minor_to_major.len())?;
        Ok(Layout { minor_to_major: minor_to_major.to_vec(), ..Layout::default() })
    }

    /// The default: the last dimension is minor, so that a matrix is stored by rows.
    pub fn row_major(rank: usize) -> Layout {
        Layout { minor_to_major: (0..rank).rev().collect(), ..Layout::default() }
    }

    /// The first dimension is minor, so that a matrix is stored by columns.
    pub fn column_major(rank: usize) -> Layout {
        Layout { minor_to_major: (0..rank).collect(), ..Layout::default() }
    }

    /// Adds a tile, from major to minor; none means `*`: the dimension is combined with the next more minor one.
    ///
    /// # Errors
    ///
    /// The tile is empty, has a size of 0, or ends in `*`.
    pub fn with_tile(mut self, tile: &[Option<u64>]) -> Result<Layout, TensorError> {
        tile_is_usable(tile).map_err(TensorError::new)?;
        self.tiles.push(tile.to_vec());
        Ok(self)
    }

    /// Pads each dimension, by its number, to a size.
    #[must_use]
    pub fn with_padding(self, sizes: &[u64], value: PaddingValue) -> Layout {
        Layout { padding: Some((sizes.to_vec(), value)), ..self }
    }

    /// Packs elements into a number of bits; 0 means the whole bytes of the element type.
    #[must_use]
    pub fn with_element_bits(self, element_bits: u64) -> Layout {
        Layout { element_bits, ..self }
    }

    /// Rounds the number of allocated elements up to a multiple of a number.
    #[must_use]
    pub fn with_tail_alignment(self, elements: u64) -> Layout {
        Layout { tail_alignment: if elements == 1 { 0 } else { elements }, ..self }
    }

    /// Places the array in another memory space.
    #[must_use]
    pub fn with_memory_space(self, memory_space: u64) -> Layout {
        Layout { memory_space, ..self }
    }

    /// The dimensions, the minor one first.
    pub fn minor_to_major(&self) -> &[usize] {
        &self.minor_to_major
    }

    /// The dimensions, the major one first.
    pub fn major_to_minor(&self) -> Vec<usize> {
        self.minor_to_major.iter().rev().copied().collect()
    }

    /// The dimension at a position of the order, where position 0 is the most minor one.
    pub fn minor(&self, position: usize) -> Option<usize> {
        self.minor_to_major.get(position).copied()
    }

    /// The dimension at a position of the order, where position 0 is the most major one.
    pub fn major(&self, position: usize) -> Option<usize> {
        self.minor_to_major.iter().rev().nth(position).copied()
    }

    /// The layout with defaults for ignored properties.
    pub(super) fn without(&self, ignoring: &[Ignoring]) -> Layout {
        let mut layout = self.clone();
        for what in ignoring {
            match what {
                Ignoring::MemorySpace => layout.memory_space = 0,
                Ignoring::ElementBits => layout.element_bits = 0,
                Ignoring::TailAlignment => layout.tail_alignment = 0,
                Ignoring::Splits => layout.splits.clear(),
                Ignoring::Tiles => {
                    let (minor_to_major, memory_space) = (layout.minor_to_major, layout.memory_space);
                    layout = Layout { minor_to_major, memory_space, ..Layout::default() };
                }
                _ => {}
            }
        }
        layout
    }

    /// The tiles, in the order of application; none means `*`.
    pub fn tiles(&self) -> &[Vec<Option<u64>>] {
        &self.tiles
    }

    /// The padded size of each dimension, and the padding value.
    pub fn padding(&self) -> Option<(&[u64], PaddingValue)> {
        self.padding.as_ref().map(|(sizes, value)| (sizes.as_slice(), *value))
    }

    /// The memory space of the array; 0 is the default.
    pub fn memory_space(&self) -> u64 {
        self.memory_space
    }

    /// Whether the layout is only an order of dimensions, without padding, tiles and tail alignment.
    pub fn is_plain(&self) -> bool {
        self.padding.is_none() && self.tiles.is_empty() && self.tail_alignment <= 1
    }

    /// The layout with a dimension moved to the most major position.
    #[must_use]
    pub fn with_major(mut self, dimension: usize) -> Layout {
        self.minor_to_major.retain(|&other| other != dimension);
        self.minor_to_major.push(dimension);
        self
    }

    /// Whether dimensions are consecutive in the order of the layout.
    pub fn is_consecutive(&self, dimensions: &[usize]) -> bool {
        let place = |dimension: &usize| self.minor_to_major.iter().position(|other| other == dimension);
        let Some(mut places) = dimensions.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
        places.sort_unstable();
        places.windows(2).all(|pair| pair[0] + 1 == pair[1])
    }
}

/// Checks a tile.
pub(super) fn tile_is_usable(tile: &[Option<u64>]) -> Result<(), &'static str> {
    match tile.last() {
        None => Err("a tile has at least one size"),
        Some(None) => Err("`*` combines a dimension with the next more minor one, but there is none"),
        _ if tile.contains(&Some(0)) => Err("a size of a tile is 0"),
        _ => Ok(()),
    }
}

/// Checks that numbers are a permutation of the dimensions.
pub(crate) fn permutation(order: &[usize], rank: usize) -> Result<(), TensorError> {
    let mut seen = vec![false; rank];
    let fresh = |&dimension: &usize| dimension < rank && !std::mem::replace(&mut seen[dimension], true);
    if order.len() == rank && order.iter().all(fresh) {
        return Ok(());
    }
    let wanted = match rank {
        0 => "no dimensions".to_owned(),
        1 => "dimension 0".to_owned(),
        _ => format!("dimensions 0 to {}", rank - 1),
    };
    Err(TensorError::new(format!("{order:?} is not a permutation of {wanted}")))
}
