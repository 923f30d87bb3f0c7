//! Tensors with external data.

use super::place::{DataLocation, Wrong};

/// A step of a path: a field, and an index if it is repeated.
pub(in crate::onnx) type PathStep = (&'static str, Option<usize>);

/// A tensor with external data.
pub(in crate::onnx) struct Stored {
    pub(super) path: Vec<PathStep>,
    pub(super) at: u32,
    pub(super) place: Result<DataLocation, Wrong>,
}

/// The locations of tensors, each once.
pub(in crate::onnx) fn locations(stored: &[Stored]) -> Vec<&str> {
    let mut seen = rustc_hash::FxHashSet::default();
    let places = stored.iter().filter_map(|stored| stored.place.as_ref().ok());
    places.map(|place| place.location.as_str()).filter(|location| seen.insert(*location)).collect()
}
