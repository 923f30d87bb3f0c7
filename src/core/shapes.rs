//! Shapes while expanding: each operation's are inferred as it is added to the graph, so that
//! `shape_of` can be answered and errors know the calls they are in.

use rustc_hash::FxHashSet;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::graph::shapes::{self, Plan, ShapeError};
use crate::graph::{Graph, KindId, OperationId, TensorId};

/// What shape inference keeps during an expansion.
#[derive(Debug)]
pub(crate) struct Shapes {
    draft: bool,
    strict: bool,
    /// The plans of the kinds seen so far.
    plans: Vec<Option<Plan>>,
    /// Tensors whose shape is unknown because of an error that is reported already.
    pub(super) broken: FxHashSet<TensorId>,
    found: Diagnostics,
}

impl Shapes {
    pub(super) fn new(draft: bool, strict: bool) -> Self {
        Shapes { draft, strict, plans: Vec::new(), broken: FxHashSet::default(), found: Diagnostics::new(strict) }
    }

    /// What was found so far.
    pub(crate) fn take(&mut self) -> Diagnostics {
        std::mem::replace(&mut self.found, Diagnostics::new(self.strict))
    }

    /// Whether the shape that all arguments have is that of the result of operations of a kind.
    pub(super) fn is_by_item(&mut self, graph: &Graph, kind: KindId) -> bool {
        while self.plans.len() <= kind.index() {
            let next = KindId(self.plans.len() as u32);
            self.plans.push(Plan::new(graph, next, self.draft));
        }
        self.plans[kind.index()].as_ref().is_some_and(Plan::is_by_item)
    }

    /// Whether the elements of operations of a kind that was asked for follow the operands.
    pub(super) fn follows(&self, kind: KindId) -> bool {
        self.plans[kind.index()].as_ref().is_some_and(Plan::follows)
    }

    /// Gives the results of a new operation, of a kind that was asked for, their shapes.
    pub(super) fn infer(&mut self, graph: &mut Graph, id: OperationId) -> Result<(), ShapeError> {
        let kind = graph.kind_id(&graph.operations[id.index()]);
        let Some(plan) = &self.plans[kind.index()] else { return Ok(()) };
        let inferred = shapes::infer(graph, id, plan);
        let error = match inferred {
            Ok(inferred) => {
                graph.set_shapes(id, inferred);
                None
            }
            Err(error) => Some(error),
        };
        shapes::infer_more(graph, id, plan);
        error.map_or(Ok(()), Err)
    }

    /// Notes an error or a warning.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.report(diagnostic);
    }
}
