//! How messages write what is known.

use crate::graph::dims::Dim;

/// A shape as messages write it.
pub(crate) fn shown(extents: &[Dim]) -> String {
    let extent = |extent: &Dim| if *extent == Dim::Unknown { "?".to_owned() } else { extent.text() };
    format!("[{}]", extents.iter().map(extent).collect::<Vec<_>>().join(", "))
}
