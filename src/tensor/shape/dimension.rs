//! The sizes of dimensions.

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// A static size.
    Static(u64),
    /// A dynamic size with an upper bound.
    Bounded(u64),
    /// A dynamic size without a bound.
    Unbounded,
}

impl Dimension {
    /// The size or its bound, if it has one.
    pub fn size(self) -> Option<u64> {
        match self {
            Dimension::Static(size) | Dimension::Bounded(size) => Some(size),
            Dimension::Unbounded => None,
        }
    }

    /// Whether the size is known only when the program runs.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Dimension::Static(_))
    }
}
