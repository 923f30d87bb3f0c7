//! Checks inputs, outputs and their types.

use super::checker::{Check, Pass};
use super::flow::ValueTypes;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{TypeForm, TypeProto, ValueInfo};
use crate::onnx::types::ElementType;

/// What the type of an input or output of a model lacks, with the code of the rule.
///
/// Programs compute types and shapes of outputs; onnx.checker does not.
fn lack(ty: Option<&TypeProto>) -> Option<(Code, &'static str)> {
    let known = |element: Option<i32>| element.and_then(ElementType::numbered).is_some();
    match ty.map_or(&TypeForm::None, |ty| &ty.form) {
        TypeForm::None => Some((Code::OnnxModel, "type")),
        TypeForm::Tensor(tensor) | TypeForm::SparseTensor(tensor) if !known(tensor.element) => {
            Some((Code::OnnxElement, "known element type"))
        }
        TypeForm::Tensor(tensor) | TypeForm::SparseTensor(tensor) if tensor.shape.is_none() => {
            Some((Code::OnnxModel, "shape"))
        }
        TypeForm::Sequence(None, _) | TypeForm::Optional(None, _) => Some((Code::OnnxModel, "type of its items")),
        TypeForm::Map { key: None, .. } => Some((Code::OnnxModel, "type of its keys")),
        TypeForm::Map { value: None, .. } => Some((Code::OnnxModel, "type of its values")),
        TypeForm::Opaque { name: None, .. } => Some((Code::OnnxModel, "name of its type")),
        _ => None,
    }
}

impl<'m> Check<'m> {
    /// Defines the inputs of a graph. Those of the model have types, others may have those that they are given.
    pub(super) fn inputs(&mut self, inputs: &'m [ValueInfo], given: &ValueTypes, is_main: bool, at: u32) {
        for (i, input) in inputs.iter().enumerate() {
            self.within(("input", Some(i)), |check| {
                let name = input.name.unwrap_or(NameId::ROOT);
                if check.pass == Pass::All {
                    if name == NameId::ROOT {
                        check.report(Code::OnnxModel, at, "an input has no name".to_owned(), None);
                    }
                    check.typed(input, is_main, at, true);
                }
                let ty = check.type_of(input).or_else(|| *given.get(i)?);
                check.define(name, ty, at);
            });
        }
    }

    /// Checks that the outputs of a graph are defined in it. Those of the model have types.
    pub(super) fn outputs(&mut self, outputs: &'m [ValueInfo], is_main: bool, at: u32) {
        for (i, output) in outputs.iter().enumerate() {
            self.within(("output", Some(i)), |check| {
                if check.pass == Pass::All {
                    check.typed(output, is_main, at, false);
                }
                check.output(output.name.unwrap_or(NameId::ROOT), at);
            });
        }
    }

    fn typed(&mut self, value: &ValueInfo, is_main: bool, at: u32, is_input: bool) {
        if let Some((code, what)) = lack(value.ty.as_ref()).filter(|_| is_main) {
            let name = self.names.text(value.name.unwrap_or(NameId::ROOT));
            let role = if is_input { "input" } else { "output" };
            self.report(code, at, format!("the {role} `{name}` of the model has no {what}"), None);
        }
    }

    /// Records the types that a graph declares.
    pub(super) fn declare(&mut self, values: &[ValueInfo]) {
        for value in values {
            if let (Some(name), Some(ty)) = (value.name, self.type_of(value)) {
                self.scopes.declare(name, ty);
            }
        }
    }
}
