//! Shape inference during an expansion: the shapes of an operation are inferred as it is added to the graph, so
//! that `shape_of` can be evaluated and errors contain the open calls.

use rustc_hash::FxHashSet;

use crate::diagnostics::{Diagnostic, Diagnostics, Policy};
use crate::graph::shapes::{self, Plan, ShapeError};
use crate::graph::{Graph, KindId, OperationId, TensorId};

/// The state of shape inference during an expansion.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// Whether each shape is implicitly extended by axes of extent 1.
    implicit_axes: bool,
    policy: Policy,
    /// The plans of the kinds seen so far.
    plans: Vec<Option<Plan>>,
    /// Tensors whose shape is unknown because of an error that was already reported.
    pub(super) broken: FxHashSet<TensorId>,
    found: Diagnostics,
}

impl Shapes {
    pub(super) fn new(implicit_axes: bool, policy: Policy) -> Self {
        Shapes {
            implicit_axes,
            policy,
            plans: Vec::new(),
            broken: FxHashSet::default(),
            found: Diagnostics::of(policy),
        }
    }

    /// Takes the diagnostics that were found so far.
    pub(crate) fn take(&mut self) -> Diagnostics {
        std::mem::replace(&mut self.found, Diagnostics::of(self.policy))
    }

    /// Whether results of a kind of operation have the shape of the arguments if all of these have one shape.
    pub(super) fn is_by_item(&mut self, graph: &Graph, kind: KindId) -> bool {
        while self.plans.len() <= kind.index() {
            let next = KindId(self.plans.len() as u32);
            self.plans.push(Plan::new(graph, next, self.implicit_axes));
        }
        self.plans[kind.index()].as_ref().is_some_and(Plan::is_by_item)
    }

    /// Whether the element type of results follows the arguments. The plan of the kind must exist, see
    /// [`Shapes::is_by_item`].
    pub(super) fn follows(&self, kind: KindId) -> bool {
        self.plans[kind.index()].as_ref().is_some_and(Plan::follows)
    }

    /// Infers the shapes of the results of a new operation. The plan of its kind must exist, see
    /// [`Shapes::is_by_item`].
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

    /// Adds an error or a warning.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.report(diagnostic);
    }
}
