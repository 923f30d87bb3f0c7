//! Checks calls of functions, and follows types through them.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::checker::{Check, Pass};
use super::flow::{Needs, ValueTypes};
use super::part::{ModelPart, attributes_of};
use crate::diagnostics::{Code, PlacePart};
use crate::graph::names::NameId;
use crate::onnx::model::{FunctionProto, NodeProto};
use crate::onnx::schema::SchemaLookup;
use crate::onnx::walk::each_node;
use crate::room::with_stack;
use crate::source::names::Name;

/// Domains in which programs have their own operators, not only functions of models, with all domains below them.
const NATIVE: &[&str] = &["", "ai.onnx", "com.microsoft", "com.ms", "org.pytorch"];

impl<'m> Check<'m> {
    /// Checks the call of a function. Returns the types of the results.
    pub(super) fn call(&mut self, index: usize, node: &'m NodeProto) -> ValueTypes {
        let function = self.bodies[index].0;
        if self.pass != Pass::Types {
            self.call_operands(index, function, node);
            self.call_attributes(index, function, node);
        }
        match self.pass {
            Pass::Structure => ValueTypes::new(),
            _ => self.call_types(index, function, node).to_vec(),
        }
    }

    /// Refuses more operands or results than the function has.
    fn call_operands(&mut self, index: usize, function: &FunctionProto, node: &NodeProto) {
        for (what, given, declared, part) in [
            ("inputs", node.inputs.len(), function.inputs.len(), PlacePart::Operand as fn(usize) -> PlacePart),
            ("outputs", node.outputs.len(), function.outputs.len(), PlacePart::Result),
        ] {
            if given > declared {
                let described = self.functions.keys[index].describe(self.names);
                let message = format!("`{described}` has {declared} {what}, this call has {given}");
                self.report_part(Code::OnnxArguments, node.at, Some(part(declared)), message, None);
            }
        }
    }

    /// Checks that a call gives the attributes that the function needs, and reports those that it does not take.
    fn call_attributes(&mut self, index: usize, function: &'m FunctionProto, node: &NodeProto) {
        let (key, body) = (self.functions.keys[index], Rc::clone(&self.bodies[index].1));
        for (i, attribute) in node.attributes.iter().enumerate() {
            let Some(name) = attribute.name else { continue };
            if body.has_attribute(name) {
                continue;
            }
            let text = self.text(Some(name));
            let known = attributes_of(function).map(|known| self.text(Some(known)));
            let near = self.nearest(Code::OnnxUntaken, text, known);
            let message = format!("the function `{}` does not take the attribute `{text}`", key.describe(self.names));
            self.within(("attribute", Some(i)), |check| check.report(Code::OnnxUntaken, node.at, message, near));
        }
        let given: FxHashSet<Name> = node.attributes.iter().filter_map(|attribute| attribute.name).collect();
        for (name, operator) in self.needs(index).iter() {
            if !given.contains(name) {
                let (name, operator) = (self.text(Some(*name)), self.text(*operator));
                let message = format!(
                    "`{}` needs the attribute `{name}` for `{operator}`, and this call does not give it",
                    key.describe(self.names)
                );
                self.report(Code::OnnxAttributeMissing, node.at, message, None);
            }
        }
    }

    /// The attributes without a default for which an operator in the function, or in one that it calls, has none.
    fn needs(&mut self, index: usize) -> Rc<Needs> {
        if let Some(known) = self.flow.needs.get(&index) {
            return known.clone();
        }
        let (function, body) = (self.bodies[index].0, self.bodies[index].1.clone());
        let mut found = Needs::default();
        if !function.attributes.is_empty() {
            let defaults: FxHashSet<Name> = function.defaults.iter().filter_map(|default| default.name).collect();
            let mut visit = |node: &NodeProto| {
                for attribute in &node.attributes {
                    let Some(reference) = attribute.reference else { continue };
                    if defaults.contains(&reference) || !body.has_attribute(reference) {
                        continue;
                    }
                    let operator = with_stack(|| self.needed(node, attribute.name, &body));
                    if let Some(operator) = operator {
                        found.entry(reference).or_insert(operator);
                    }
                }
            };
            each_node(&function.nodes, &mut visit);
        }
        let found = Rc::new(found);
        self.flow.needs.insert(index, found.clone());
        found
    }

    /// The operator that needs an attribute of a node, if there is one: its own, or one that it calls.
    fn needed(&mut self, node: &NodeProto, name: Option<Name>, body: &ModelPart) -> Option<Option<Name>> {
        if let Ok(Some(called)) = self.functions.called(self.names, node) {
            return self.needs(called).get(&name?).copied();
        }
        let version = body.imports.version(self.names, node.domain)?;
        let SchemaLookup::Schema(schema) = self.schemas.find(self.standard(node), self.text(node.op_type), version)
        else {
            return None;
        };
        let text = self.text(name);
        schema.attributes.iter().any(|row| row.required && row.name == text).then_some(node.op_type)
    }

    /// Reports a call of a function that is not in the model, in a domain that has only functions of the model.
    pub(super) fn foreign(&mut self, node: &NodeProto) {
        let domain = self.text(node.domain);
        let is_native = |native: &&str| {
            domain
                .strip_prefix(*native)
                .is_some_and(|rest| rest.is_empty() || (rest.starts_with('.') && !native.is_empty()))
        };
        if self.pass == Pass::Types || !self.domains.contains(domain) || NATIVE.iter().any(is_native) {
            return;
        }
        let name = self.text(node.op_type);
        let known = self.bodies.iter().filter(|(function, _)| self.text(function.domain) == domain);
        let near = self.nearest(Code::OnnxNoFunction, name, known.map(|(function, _)| self.text(function.name)));
        let message = format!("the model has functions of the domain `{domain}`, but no `{name}`");
        self.report(Code::OnnxNoFunction, node.at, message, near);
    }

    /// The types of the results of a call, from those of its operands.
    fn call_types(&mut self, index: usize, function: &'m FunctionProto, node: &NodeProto) -> Rc<ValueTypes> {
        let type_of = |name: &NameId| if *name == NameId::ROOT { None } else { self.scopes.type_of(*name) };
        let mut types: ValueTypes = node.inputs.iter().take(function.inputs.len()).map(type_of).collect();
        types.resize(function.inputs.len(), None);
        let key = (index, types);
        if let Some(known) = self.flow.results.get(&key) {
            return known.clone();
        }
        let results = Rc::new(with_stack(|| self.body_types(index, function, &key.1, node.at)));
        self.flow.results.insert(key, results.clone());
        results
    }

    /// Checks the types in the body of a function with types of its operands. Returns those of its results.
    fn body_types(&mut self, index: usize, function: &'m FunctionProto, operands: &ValueTypes, at: u32) -> ValueTypes {
        let body = self.bodies[index].1.clone();
        let around = (std::mem::replace(&mut self.pass, Pass::Types), std::mem::take(&mut self.path), self.node.take());
        self.path.push(("functions", Some(index)));
        self.flow.calls.push((index, at));
        self.scopes.enter();
        for (input, ty) in function.inputs.iter().zip(operands) {
            self.define(*input, *ty, function.at);
        }
        self.declare(&function.value_info);
        self.nodes(&function.nodes, &body);
        // A value of another type than that of an earlier call has no type of its own.
        let results = function.outputs.iter().map(|output| self.scopes.type_of(*output)).collect();
        self.scopes.leave();
        self.flow.calls.pop();
        (self.pass, self.path, self.node) = around;
        results
    }
}
