//! Extents of tensors as numbers.

use crate::graph::{Graph, TensorId};

/// The extents of a tensor, if all are known.
pub(super) fn shape(graph: &Graph, tensor: TensorId) -> Option<Vec<i64>> {
    graph.shape(tensor)?.known()
}

/// The number of items of a tensor with these extents.
pub(super) fn product(extents: &[i64]) -> u64 {
    extents.iter().fold(1, |all, extent| times(all, *extent))
}

fn times(items: u64, extent: i64) -> u64 {
    items.saturating_mul(u64::try_from(extent).unwrap_or(0))
}

/// The number of items of a tensor, if all extents are known.
pub(super) fn items(graph: &Graph, tensor: TensorId) -> Option<u64> {
    let extents = graph.shape(tensor)?.extents();
    extents.iter().try_fold(1, |all, extent| Some(times(all, extent.known()?)))
}
