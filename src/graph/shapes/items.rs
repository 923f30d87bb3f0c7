//! The items of a small tensor that are known while expanding.

use crate::graph::dims::Dim;

/// The maximum number of items of a tensor that are computed.
pub(super) const MAX_ITEMS: usize = 256;

/// An item that is known while expanding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// An integer or a logical; or a scalar that is an integer for all values of the symbols.
    Dim(Dim),
    /// A scalar that is not an integer.
    Scalar(f64),
}

impl Item {
    /// The item as an integer.
    pub(crate) fn dim(&self) -> Dim {
        match self {
            Item::Dim(dim) => dim.clone(),
            Item::Scalar(_) => Dim::Unknown,
        }
    }

    pub(super) fn of_scalar(value: f64) -> Item {
        if value.fract() == 0.0 && value.abs() < 9e15 { Item::Dim(Dim::Int(value as i64)) } else { Item::Scalar(value) }
    }

    /// The item as a scalar.
    pub(crate) fn scalar(&self) -> Option<f64> {
        match self {
            Item::Dim(dim) => dim.known().map(|value| value as f64),
            Item::Scalar(value) => Some(*value),
        }
    }
}

/// The items of a tensor, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Items {
    /// The items.
    pub(crate) items: Vec<Item>,
    /// Whether they are scalars, so that quotients are not rounded.
    pub(crate) scalars: bool,
    /// The start and step of a range whose number of items is unknown. Then `items` is empty.
    pub(super) progression: Option<(Dim, i64)>,
}

impl Items {
    /// Whether `items` contains all items.
    pub(crate) fn is_whole(&self) -> bool {
        self.progression.is_none()
    }

    pub(super) fn new(items: Vec<Item>, scalars: bool) -> Option<Items> {
        (items.len() <= MAX_ITEMS).then_some(Items { items, scalars, progression: None })
    }

    pub(super) fn dims(dims: impl IntoIterator<Item = Dim>) -> Option<Items> {
        Items::new(dims.into_iter().map(Item::Dim).collect(), false)
    }
}
