//! Layouts as graphs: the memory of an array, made by primitive operations.

mod bitcasts;
mod primitives;

use crate::Graph;
use crate::graph::Operation;

pub(crate) use bitcasts::Removed;

/// The order of the axes that a transpose makes: those that it does not name stay at the end. None of
/// other operations.
fn permuted_axes(graph: &Graph, operation: &Operation, rank: usize) -> Option<Vec<usize>> {
    if graph.operation_name(operation) != "transpose" {
        return None;
    }
    let named = graph.attribute(operation, "axes")?.as_integers()?.iter().map(|axis| *axis as usize);
    let count = named.len();
    Some(named.chain(count..rank).collect())
}
