//! What parameters that are not tensors take where a tensor with known items is given.

use crate::graph::Primitive;

/// What a parameter takes: numbers of a type in arrays of a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantedNumbers {
    /// The type of the numbers; none if the tensor determines it.
    pub(crate) of: Option<Primitive>,
    /// How deep the arrays are nested.
    pub(crate) depth: u8,
}
