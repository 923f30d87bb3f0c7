//! Shapes while expanding: each operation's are inferred as it is added to the graph, so that
//! `shape_of` can be answered and errors know the calls they are in.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::budget::{Failure, Outcome};
use super::list::List;
use super::machine::Machine;
use super::symbolic::Symbolic;
use super::value::Value;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::shapes::{self, DEFECTIVE, Extent, Inferred, Plan, ShapeError};
use crate::graph::{Graph, KindId, OperationId, TensorId};

/// The fewest extents that `shape_of` gives in the draft.
const DRAFT_RANK: usize = 2;

/// What shape inference keeps during an expansion.
#[derive(Debug)]
pub(crate) struct Shapes {
    draft: bool,
    strict: bool,
    /// The plans of the kinds seen so far.
    plans: Vec<Option<Plan>>,
    /// Tensors whose shape is unknown because of an error that is reported already.
    broken: FxHashSet<TensorId>,
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

    /// Whether the shape that all arguments have is that of the result of operations of a kind that
    /// has a plan.
    pub(super) fn is_by_item(&self, kind: KindId) -> bool {
        self.plans.get(kind.index()).is_some_and(|plan| plan.as_ref().is_some_and(Plan::is_by_item))
    }

    /// Gives the results of a new operation of such a kind their shapes.
    pub(super) fn infer(&mut self, graph: &mut Graph, id: OperationId) -> Result<(), ShapeError> {
        let kind = graph.kind_id(&graph.operations[id.index()]);
        if self.is_by_item(kind) && graph.share_shape(id) {
            return Ok(());
        }
        self.infer_by_rule(graph, id)
    }

    /// The same by the rule of its kind.
    fn infer_by_rule(&mut self, graph: &mut Graph, id: OperationId) -> Result<(), ShapeError> {
        let kind = graph.kind_id(&graph.operations[id.index()]);
        let Some(plan) = &self.plans[kind.index()] else { return Ok(()) };
        graph.set_shapes(id, shapes::infer(graph, id, plan)?);
        Ok(())
    }

    /// Notes a warning.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.report(diagnostic);
    }
}

impl Machine {
    /// Makes the plans of the kinds up to this one.
    fn make_plans(&mut self, kind: KindId) {
        while self.shapes.plans.len() <= kind.index() {
            let next = KindId(self.shapes.plans.len() as u32);
            self.shapes.plans.push(Plan::new(&self.graph, next, self.shapes.draft));
        }
    }

    /// Whether the shape that all arguments have is that of the result of operations of a kind.
    pub(super) fn is_by_item(&mut self, kind: KindId) -> bool {
        self.make_plans(kind);
        self.shapes.is_by_item(kind)
    }

    /// Gives the results of a new operation their shapes.
    pub(super) fn infer_shapes(&mut self, id: OperationId) {
        let kind = self.graph.kind_id(&self.graph.operations[id.index()]);
        self.make_plans(kind);
        if let Err(error) = self.shapes.infer(&mut self.graph, id) {
            self.report_shape(id, error);
        }
    }

    /// The same by the rule of its kind, for which there is a plan.
    pub(super) fn infer_by_rule(&mut self, id: OperationId) {
        if let Err(error) = self.shapes.infer_by_rule(&mut self.graph, id) {
            self.report_shape(id, error);
        }
    }

    /// Reports an error, unless it follows from an earlier one or from a defect of a standard text.
    fn report_shape(&mut self, id: OperationId, error: ShapeError) {
        let mut broken = false;
        if !self.shapes.broken.is_empty() {
            let operation = &self.graph.operations[id.index()];
            for (_, value) in self.graph.arguments(operation) {
                value.each_tensor(&mut |tensor| broken |= self.shapes.broken.contains(&tensor));
            }
        }
        if !broken && !self.in_defective(error.code) {
            let at = self.graph.operations[id.index()].at;
            let diagnostic = self.diagnose_at(at, Failure::new(error.code, error.message));
            self.shapes.found.report(diagnostic);
        }
        if error.results != Inferred::UNKNOWN {
            self.graph.set_shapes(id, error.results);
            return;
        }
        let operation = &self.graph.operations[id.index()];
        self.shapes.broken.extend(self.graph.tensors_of(operation));
    }

    /// Whether the running call is within a standard fragment that breaks this rule by itself.
    fn in_defective(&self, code: Code) -> bool {
        let fragments = self.frames.iter().rev().map_while(|frame| frame.unit);
        let mut standard = fragments.map(|id| self.units.get(id)).take_while(|info| info.standard);
        standard.any(|info| DEFECTIVE.contains(&(self.units.text(info.name), code)))
    }

    /// The value of `shape_of`.
    pub(super) fn shape_of(&mut self, value: &Value) -> Outcome<Value> {
        let meter = Some(&self.budget.meter);
        let least = if self.shapes.draft { DRAFT_RANK } else { 0 };
        let Value::Tensor(tensor) = value else {
            // What is no tensor has the shape of a single number.
            return Ok(Value::Array(List::from_ints(vec![1; least], meter)));
        };
        let Some(shape) = self.graph.shape(*tensor) else {
            let message = "`shape_of` needs a tensor whose shape is known while expanding";
            return Err(Failure::new(Code::NotCompileTime, message).help(HELP));
        };
        if let Some(mut extents) = shape.known() {
            extents.resize(extents.len().max(least), 1);
            return Ok(Value::Array(List::from_ints(extents, meter)));
        }
        // An extent that is not known is no matter as long as nothing depends on it.
        let extent = |extent: &Extent| match extent.known() {
            Some(extent) => Value::Int(extent),
            None => Value::Symbol(Arc::new(Symbolic::unknown())),
        };
        let mut extents: Vec<Value> = shape.extents().iter().map(extent).collect();
        extents.resize(extents.len().max(least), Value::Int(1));
        Ok(Value::Array(List::from_values(extents, meter)))
    }
}

const HELP: &str = "give the shapes of the inputs with --input-shape";

/// The failure of an attribute that depends on an extent that is not known.
pub(super) fn unknown_extent() -> Failure {
    let message = "this depends on an extent that is not known while expanding";
    Failure::new(Code::NotCompileTime, message).help(HELP)
}
