//! Shape inference during an expansion: reports errors with the open calls, and evaluates `shape_of`.

use std::sync::Arc;

use super::budget::{Failure, Outcome};
use super::list::List;
use super::machine::Machine;
use super::symbolic::Symbolic;
use super::value::{GIVE_SHAPES, Value};
use crate::diagnostics::Code;
use crate::graph::OperationId;
use crate::graph::shapes::{DEFECTIVE, Extent, Inferred, ShapeError};

impl Machine {
    /// Infers the shapes of the results of a new operation, and reports an error.
    pub(super) fn infer_shapes(&mut self, id: OperationId) {
        if let Err(error) = self.shapes.infer(&mut self.graph, id) {
            self.report_shape(id, error);
        }
    }

    /// Reports an error, unless it is a consequence of an earlier one or of a defect of the standard library.
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
            let mut failure = Failure::new(error.code, error.message);
            failure.label = self.graph.operand_shapes(&self.graph.operations[id.index()]);
            let diagnostic = self.diagnose_at(at, *failure);
            self.shapes.report(diagnostic);
        }
        if error.results != Inferred::UNKNOWN {
            self.graph.set_shapes(id, error.results);
            return;
        }
        let operation = &self.graph.operations[id.index()];
        self.shapes.broken.extend(self.graph.tensors_of(operation));
    }

    /// Whether the innermost open calls include a standard fragment that is known to break this rule ([`DEFECTIVE`]).
    fn in_defective(&self, code: Code) -> bool {
        let fragments = self.frames.iter().rev().map_while(|frame| frame.unit);
        let mut standard = fragments.map(|id| self.units.get(id)).take_while(|info| info.standard);
        standard.any(|info| DEFECTIVE.contains(&(self.units.text(info.name), code)))
    }

    /// The value of `shape_of`.
    pub(super) fn shape_of(&mut self, value: &Value) -> Outcome<Value> {
        let meter = Some(&self.budget.meter);
        let least = self.settings.least_rank;
        let Value::Tensor(tensor) = value else {
            // Values that are not tensors have the shape of a single number.
            return Ok(Value::Array(List::from_ints(vec![1; least], meter)));
        };
        let Some(shape) = self.graph.shape(*tensor) else {
            let message = "`shape_of` needs a tensor whose shape is known while expanding";
            return Err(Failure::new(Code::NotCompileTime, message).help(GIVE_SHAPES));
        };
        if let Some(mut extents) = shape.known() {
            extents.resize(extents.len().max(least), 1);
            return Ok(Value::Array(List::from_ints(extents, meter)));
        }
        // An unknown extent is not an error as long as nothing depends on it.
        let extent = |extent: &Extent| match extent.known() {
            Some(extent) => Value::Int(extent),
            None => Value::Symbol(Arc::new(Symbolic::extent(extent.clone()))),
        };
        let mut extents: Vec<Value> = shape.extents().iter().map(extent).collect();
        extents.resize(extents.len().max(least), Value::Int(1));
        Ok(Value::Array(List::from_values(extents, meter)))
    }
}
