//! Inference of calls: in the body of the function, with the operands and the attributes of the call.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::Bindings;
use super::engine::{InferFrame, Inference, ResultTypes};
use super::graphs::DeclaredTypes;
use super::tables::GraphTypes;
use crate::graph::names::NameId;
use crate::onnx::inline::Imports;
use crate::onnx::model::{AttributeProto, FunctionProto, NodeProto};

impl<'m> Inference<'m> {
    /// The results of a call; unknown if the limits are reached.
    pub(super) fn function_call(&mut self, node: &'m NodeProto, function: usize) -> ResultTypes {
        let model = self.model;
        let Some(body) = model.functions.get(function) else { return ResultTypes::new() };
        if self.budget.visits == 0 || self.budget.depth == 0 {
            self.bodies.iter_mut().for_each(|bodies| bodies.skip(function));
            return ResultTypes::new();
        }
        let mut absent = FxHashSet::default();
        let mut operands = Vec::with_capacity(body.inputs.len());
        for (i, formal) in body.inputs.iter().enumerate() {
            let operand = node.inputs.get(i).copied().unwrap_or(NameId::ROOT);
            if operand == NameId::ROOT || self.frame.absent.contains(&operand) {
                absent.insert(*formal);
            } else if let Some(known) = self.scope.get(operand) {
                operands.push((*formal, known.clone()));
            }
        }
        let imports = Imports::new(&model.names, &body.opsets);
        let frame = InferFrame { imports, bindings: self.bindings(node, body), absent };
        let outer = std::mem::replace(&mut self.frame, frame);
        let start = self.scope.open_function();
        for (formal, known) in operands {
            self.scope.define(formal, known);
        }
        self.budget.depth -= 1;
        let mut inner = FxHashMap::default();
        self.nodes(&body.nodes, &DeclaredTypes::default(), &mut inner);
        self.budget.depth += 1;
        let results = body.outputs.iter().take(node.outputs.len()).map(|output| self.scope.type_of(*output)).collect();
        let values = self.scope.close_function(start);
        if let Some(bodies) = &mut self.bodies {
            bodies.add(function, node, GraphTypes { values, inner });
        }
        self.frame = outer;
        results
    }

    /// The attributes of a function in a call: those of the call, and the defaults of the others.
    fn bindings(&self, node: &'m NodeProto, body: &'m FunctionProto) -> Bindings<'m> {
        let mut bindings: Bindings =
            body.defaults.iter().filter_map(|default| Some((default.name?, default))).collect();
        for attribute in &node.attributes {
            let value: Option<&'m AttributeProto> = match attribute.reference {
                Some(outer) => self.frame.bindings.get(&outer).copied(),
                None => Some(attribute),
            };
            bindings.extend(attribute.name.zip(value));
        }
        bindings
    }
}
