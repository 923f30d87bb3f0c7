//! The axis order of a transposition.

use crate::Graph;
use crate::graph::Operation;

/// The axis order of a `transpose`: axes that it does not list stay at the end. None for other operations.
pub(super) fn permuted_axes(graph: &Graph, operation: &Operation, rank: usize) -> Option<Vec<usize>> {
    if graph.operation_name(operation) != "transpose" {
        return None;
    }
    let named = graph.attribute(operation, "axes")?.as_integers()?.iter().map(|axis| *axis as usize);
    let count = named.len();
    Some(named.chain(count..rank).collect())
}
