//! Checks functions, each by itself.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::checker::{Check, Pass};
use super::flow::ValueTypes;
use super::part::ModelPart;
use crate::diagnostics::Code;
use crate::onnx::model::{FunctionProto, NodeProto};

/// The first version of the format with functions that name their domain.
const WITH_FUNCTIONS: i64 = 8;

impl<'m> Check<'m> {
    /// Checks a function of the model by its index.
    pub(super) fn function(&mut self, index: usize) {
        let (function, body) = (self.bodies[index].0, Rc::clone(&self.bodies[index].1));
        if self.pass == Pass::All {
            self.declaration(function);
            self.defaults(function, &body);
        }
        self.scopes.enter();
        for (i, input) in function.inputs.iter().enumerate() {
            self.within(("input", Some(i)), |check| check.define(*input, None, function.at));
        }
        if self.pass != Pass::Structure {
            self.declare(&function.value_info);
        }
        self.nodes(&function.nodes, &body);
        for (i, output) in function.outputs.iter().enumerate() {
            self.within(("output", Some(i)), |check| check.output(*output, function.at));
        }
        self.scopes.leave();
        if self.pass == Pass::All {
            for (i, node) in function.nodes.iter().enumerate() {
                self.within(("node", Some(i)), |check| check.agrees(node, &body));
            }
        }
    }

    /// Checks the names of a function, of its results and of its attributes, and its imports.
    fn declaration(&mut self, function: &'m FunctionProto) {
        let at = function.at;
        if self.text(function.name).is_empty() {
            self.report(Code::OnnxModel, at, "a function has no name".to_owned(), None);
        }
        let name = self.text(function.name);
        if function.domain.is_none() && self.ir_version >= WITH_FUNCTIONS {
            self.report(Code::OnnxModel, at, format!("the function `{name}` has no domain"), None);
        }
        if function.opsets.is_empty() {
            let message = format!("the function `{name}` imports no operator set");
            self.report(Code::OnnxModel, at, message, None);
        }
        self.versions(&function.opsets, at);
        let mut outputs = FxHashSet::default();
        for (i, output) in function.outputs.iter().enumerate() {
            if !outputs.insert(*output) {
                let message = format!("the function `{name}` has the output `{}` twice", self.names.text(*output));
                self.within(("output", Some(i)), |check| check.report(Code::OnnxTwice, at, message, None));
            }
        }
        let mut attributes = FxHashSet::default();
        for attribute in &function.attributes {
            if !attributes.insert(*attribute) {
                let message =
                    format!("the function `{name}` has the attribute `{}` twice", self.text(Some(*attribute)));
                self.report(Code::OnnxTwice, at, message, None);
            }
        }
    }

    /// Checks the default values of a function's attributes.
    fn defaults(&mut self, function: &'m FunctionProto, body: &ModelPart<'m>) {
        for (i, default) in function.defaults.iter().enumerate() {
            self.within(("attribute_proto", Some(i)), |check| {
                check.attribute(default, function.at);
                check.attribute_value(default, body, &ValueTypes::new(), function.at);
            });
        }
    }

    /// Refuses an operator of a function that the model imports in another version, if they differ: after an expansion
    /// it would be the other operator.
    fn agrees(&mut self, node: &NodeProto, body: &ModelPart) {
        let (Some(own), Some(of_model)) =
            (body.imports.version(self.names, node.domain), self.imports.version(self.names, node.domain))
        else {
            return;
        };
        if own == of_model || self.functions.called(self.names, node).is_ok_and(|called| called.is_some()) {
            return;
        }
        let (domain, operator) = (self.standard(node), self.text(node.op_type));
        let since = |version| self.schemas.since(domain, operator, version);
        if since(own) != since(of_model) {
            let message = format!(
                "the function imports version {own} of the operator set of `{operator}`, the model version {of_model}, \
                 and `{operator}` differs between them"
            );
            self.report(Code::OnnxOpset, node.at, message, None);
        }
    }
}
