//! Shapes with extents that may be unknown.

use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use smallvec::SmallVec;

use crate::extents::Size;
use crate::graph::dims::Dim;

/// The extents of a shape.
pub(crate) type Extents = SmallVec<[Extent; 4]>;

/// The extent of a tensor along an axis: an integer, an expression on dimension symbols, or unknown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Extent(Dim);

impl Extent {
    /// Not known while expanding.
    pub(crate) const UNKNOWN: Extent = Extent(Dim::Unknown);
    /// The extent 1.
    pub(crate) const ONE: Extent = Extent(Dim::Int(1));

    /// An extent; unknown if the number is negative.
    pub(crate) fn new(extent: i64) -> Self {
        Extent::from(Dim::Int(extent))
    }

    /// The extent, if it is a known integer.
    pub fn known(&self) -> Option<i64> {
        self.0.known()
    }

    /// The extent as an expression.
    pub(crate) fn dim(&self) -> Dim {
        self.0.clone()
    }

    /// Whether it is unknown: neither an integer nor an expression.
    pub fn is_unknown(&self) -> bool {
        self.0 == Dim::Unknown
    }

    /// The more specific one of two descriptions of the same extent; none if they contradict each other.
    pub(crate) fn unify(&self, other: &Extent) -> Option<Extent> {
        match (self.known(), other.known()) {
            (Some(a), Some(b)) => (a == b).then(|| Extent::new(a)),
            _ => self.dim().unify(other.dim()).map(Extent::from),
        }
    }

    /// The extent that both are broadcast to; none if they are incompatible.
    pub(crate) fn broadcast(&self, other: &Extent) -> Option<Extent> {
        match (self.known(), other.known()) {
            (Some(1), _) => Some(other.clone()),
            (_, Some(1)) => Some(self.clone()),
            (Some(a), Some(b)) => (a == b).then(|| Extent::new(a)),
            _ => self.dim().broadcast(other.dim()).map(Extent::from),
        }
    }

    /// Applies a function to a known extent; unknown if the extent is, or if the function returns none.
    pub(crate) fn map(&self, f: impl FnOnce(i64) -> Option<i64>) -> Extent {
        self.known().and_then(f).map_or(Extent::UNKNOWN, Extent::new)
    }
}

impl Size for Extent {
    const ONE: Self = Extent::ONE;

    fn broadcast(&self, other: &Self) -> Option<Self> {
        self.broadcast(other)
    }

    fn unify(&self, other: &Self) -> Option<Self> {
        self.unify(other)
    }
}

impl From<Dim> for Extent {
    fn from(dim: Dim) -> Self {
        match dim {
            Dim::Int(..=-1) => Extent::UNKNOWN,
            dim => Extent(dim),
        }
    }
}

/// The number, the expression, or `?`.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.known() {
            Some(extent) => write!(f, "{extent}"),
            None => f.write_str(&self.0.text()),
        }
    }
}

impl From<i64> for Extent {
    fn from(extent: i64) -> Self {
        Extent::new(extent)
    }
}

/// An integer, or an expression on dimension symbols: `2*S+1`.
impl FromStr for Extent {
    type Err = InvalidExtent;

    fn from_str(text: &str) -> Result<Self, InvalidExtent> {
        match Dim::of_text(text) {
            Dim::Unknown | Dim::Int(..=-1) => Err(InvalidExtent),
            dim => Ok(Extent::from(dim)),
        }
    }
}

/// The error of a text that is not an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidExtent;

impl fmt::Display for InvalidExtent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an extent is an integer that is not negative, or an expression on symbols such as 2*S+1")
    }
}

impl Error for InvalidExtent {}

impl From<Option<i64>> for Extent {
    fn from(extent: Option<i64>) -> Self {
        extent.map_or(Extent::UNKNOWN, Extent::new)
    }
}

impl fmt::Debug for Extent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Unifies two lists of extents; none if they contradict each other.
pub(crate) fn unify(a: &[Extent], b: &[Extent]) -> Option<Extents> {
    let unified = a.iter().zip(b).map(|(a, b)| a.unify(b)).collect();
    if a.len() == b.len() { unified } else { None }
}

/// The extents of a tensor of known rank. Up to four extents need no heap allocation.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Shape(Extents);

/// A fast hash for known extents, as nearly all are: each shape of a graph is looked up in a table.
impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for extent in &self.0 {
            match extent.known() {
                Some(extent) => state.write_i64(extent),
                None => extent.hash(state),
            }
        }
    }
}

impl Shape {
    /// A shape of these extents.
    pub(crate) fn new(extents: &[Extent]) -> Self {
        Shape(extents.iter().cloned().collect())
    }

    /// A shape of integers and expressions.
    #[cfg(feature = "onnx")]
    pub(crate) fn of_dims(extents: &[Dim]) -> Self {
        Shape(extents.iter().cloned().map(Extent::from).collect())
    }

    /// A shape of known extents.
    pub(crate) fn of(extents: &[i64]) -> Self {
        Shape(extents.iter().map(|&extent| Extent::new(extent)).collect())
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extents.
    pub fn extents(&self) -> &[Extent] {
        &self.0
    }

    /// The extents, if all of them are known.
    pub fn known(&self) -> Option<Vec<i64>> {
        self.0.iter().map(|extent| extent.known()).collect()
    }
}

impl From<Extents> for Shape {
    fn from(extents: Extents) -> Self {
        Shape(extents)
    }
}

/// The extents in brackets, such as `[2, S]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self.extents())
    }
}

#[cfg(test)]
mod tests;
