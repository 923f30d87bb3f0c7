//! The nested calls of an operation in diagnostics.

use super::{Graph, Operation};
use crate::diagnostics::{Diagnostic, trace};

/// Adds the nested calls that produced an operation to a diagnostic.
pub(crate) fn with_origin(graph: &Graph, operation: &Operation, mut diagnostic: Diagnostic) -> Diagnostic {
    let mut chain = Vec::new();
    let mut next = operation.origin;
    while let Some(origin) = graph.origin(next) {
        chain.push(origin);
        next = origin.parent;
    }
    trace::attach(&mut diagnostic, chain.len(), |i| (graph.text_of(chain[i].fragment).to_string(), chain[i].at));
    diagnostic
}
