//! Inference of calls: in the body of the function, with the operands and the attributes of the call.

use std::rc::Rc;

use super::contradictions::sources;
use super::engine::{InferFrame, Inference, ResultTypes};
use super::graphs::KnownResults;
use super::infer_call::Bindings;
use super::seen::{GivenCall, GivenOperand};
use super::tables::{GraphTypes, InnerTable};
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::model::{AttributeProto, FunctionProto, NodeProto};

impl<'m> Inference<'m> {
    /// The results of a call; unknown if the limits are reached.
    pub(super) fn function_call(&mut self, node: &'m NodeProto, function: usize) -> ResultTypes {
        let model = self.model;
        let Some(body) = model.functions.get(function) else { return ResultTypes::new() };
        if !self.budget.has_visits(model) || !self.budget.has_depth() {
            self.bodies.iter_mut().for_each(|bodies| bodies.skip(function));
            return ResultTypes::new();
        }
        let call = self.given(node, function, body);
        let key = self.seen.key(&call);
        if let Some(results) = key.and_then(|key| self.seen.get(key, &call)) {
            let results = results.iter().take(node.outputs.len()).cloned().collect();
            self.bodies.iter_mut().for_each(|bodies| bodies.add_same(node));
            return results;
        }
        let before = (self.symbols.mark(), self.budget.refused);
        let contradictions = self.contradictions.mark();
        self.contradictions.enter(function, node.at);
        let results = self.in_body(node, body, &call);
        self.contradictions.leave(contradictions, |deciding| {
            let operands = sources(&body.nodes, &body.inputs, deciding).into_iter();
            operands.filter_map(|at| node.inputs.get(at).copied()).collect()
        });
        // New symbols differ from call to call.
        if let Some(key) = key
            && before == (self.symbols.mark(), self.budget.refused)
            && !self.contradictions.has_since(contradictions)
        {
            self.seen.add(key, call, &results);
        }
        results.into_iter().take(node.outputs.len()).collect()
    }

    /// What a call gives its function.
    fn given(&self, node: &'m NodeProto, function: usize, body: &'m FunctionProto) -> GivenCall<'m> {
        let operand = |i: usize| match node.inputs.get(i).copied().unwrap_or(NameId::ROOT) {
            NameId::ROOT => GivenOperand::Omitted,
            operand if self.frame.absent.contains(&operand) => GivenOperand::Omitted,
            operand => {
                self.scope.get(operand).map_or(GivenOperand::Unknown, |known| GivenOperand::Known(known.clone()))
            }
        };
        let operands = (0..body.inputs.len()).map(operand).collect();
        GivenCall { function, operands, bindings: self.bindings(node, body) }
    }

    /// The types of all results of a function in a call.
    fn in_body(&mut self, node: &'m NodeProto, body: &'m FunctionProto, call: &GivenCall<'m>) -> ResultTypes {
        let pairs = || body.inputs.iter().zip(&call.operands);
        let absent = pairs().filter(|(_, operand)| matches!(operand, GivenOperand::Omitted)).map(|(formal, _)| *formal);
        let imports = self.imports_of(call.function, body);
        let frame = InferFrame { imports, bindings: call.bindings.clone(), absent: absent.collect() };
        let outer = std::mem::replace(&mut self.frame, frame);
        let start = self.scope.open_function();
        for (formal, operand) in pairs() {
            if let GivenOperand::Known(known) = operand {
                self.scope.define(*formal, known.clone());
            }
        }
        self.budget.depth -= 1;
        let mut inner = InnerTable::default();
        self.nodes(&body.nodes, &KnownResults::default(), &mut inner);
        self.budget.depth += 1;
        let results = body.outputs.iter().map(|output| self.scope.type_of(*output)).collect();
        match &mut self.bodies {
            Some(bodies) => {
                let values = self.scope.close_function(start);
                bodies.add(call.function, node, GraphTypes { values, inner, contradicts: false });
            }
            None => self.scope.leave_function(start),
        }
        self.frame = outer;
        results
    }

    /// The operator sets of a function.
    fn imports_of(&mut self, function: usize, body: &FunctionProto) -> Rc<Imports> {
        let new = || Rc::new(Imports::new(&self.model.names, &body.opsets));
        self.imports.get_mut(function).map_or_else(new, |imports| Rc::clone(imports.get_or_insert_with(new)))
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
