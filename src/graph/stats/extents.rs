//! Extents of tensors as numbers or expressions on symbols.

use super::amount::Amount;
use crate::graph::dims::Dim;
use crate::graph::{Extent, Graph, TensorId};

/// An extent as an expression of symbols that have values of their own.
pub(super) fn dim(extent: &Extent) -> Dim {
    extent.dim().spelled_out()
}

/// The extents of a tensor, if each is a number or an expression.
pub(super) fn shape(graph: &Graph, tensor: TensorId) -> Option<Vec<Dim>> {
    let extents = graph.shape(tensor)?.extents().iter();
    extents.map(|extent| if extent.is_unknown() { None } else { Some(dim(extent)) }).collect()
}

/// The number of items of a tensor; none if an extent is neither a number nor an expression.
fn items(graph: &Graph, tensor: TensorId) -> Option<Amount> {
    let extents = graph.shape(tensor)?.extents();
    let known = extents
        .iter()
        .try_fold(1u64, |all, extent| Some(all.saturating_mul(u64::try_from(extent.known()?).unwrap_or(0))));
    known.map(Amount::from).or_else(|| Some(Amount::product(&shape(graph, tensor)?)))
}

/// [`items`], as an amount of which nothing is known if there is none.
pub(super) fn items_or_unknown(graph: &Graph, tensor: TensorId) -> Amount {
    items(graph, tensor).unwrap_or_else(Amount::unknown)
}
