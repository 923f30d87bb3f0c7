//! What is found about values, compared with what a model declares of them.

use super::call::InferCall;
use super::declared::{declared, of_constant};
use super::engine::Inference;
use super::facts::{TensorExtents, ValueType};
use super::graphs::KnownResults;
use super::shown::shown;
use crate::diagnostics::Code;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, NodeProto, TensorProto, TypeProto};
use crate::onnx::types::ElementType;

/// The operators of whose results other programs know nothing unless all extents follow; all reductions are such.
const ALL_OR_NOTHING: &[&str] = &["CenterCropPad", "Pad", "Split"];

/// The operators of whose results other programs know nothing unless all extents of the first operand are numbers.
const OF_NUMBERS: &[&str] = &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"];

/// The operators of whose results other programs know the rank unless all extents follow.
const RANKS: &[&str] = &["Slice"];

/// The operators of whose results other programs know no shape.
const NEVER: &[&str] = &["GroupNormalization", "StringNormalizer"];

/// Forgets shapes of results that programs do not tell when they infer shapes.
pub(super) fn forget(call: &mut InferCall, operator: &str) {
    let all_or_nothing = ALL_OR_NOTHING.contains(&operator) || operator.starts_with("Reduce");
    let is_open = |shape: &TensorExtents| shape.contains(&Dim::Unknown);
    let is_symbolic = || call.extents(0).is_none_or(|extents| extents.iter().any(|extent| extent.known().is_none()));
    let hides = NEVER.contains(&operator) || OF_NUMBERS.contains(&operator) && is_symbolic();
    for result in &mut call.results {
        if hides || all_or_nothing && result.shape().is_some_and(is_open) {
            forget_shape(result);
        } else if RANKS.contains(&operator) && result.shape().is_some_and(is_open) {
            let extents = result.shape().map(|shape| vec![Dim::Unknown; shape.len()].into());
            *result = ValueType::tensor(result.element(), extents);
        }
    }
}

/// Forgets the shape and the items of a tensor.
pub(super) fn forget_shape(ty: &mut ValueType) {
    if let ValueType::Tensor(facts) = ty {
        (facts.shape, facts.items) = (None, None);
    }
}

/// Why a value cannot have both descriptions, with the code of the rule; `what` is the source of the first one.
fn disagreement(found: &ValueType, declared: &ValueType, what: &str) -> Option<(Code, String)> {
    match (found, declared) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            if let Some((own, other)) = a.element.zip(b.element).filter(|(a, b)| a != b) {
                return Some((Code::OnnxType, elements((own, other), what)));
            }
            let (own, other) = a.shape.as_ref().zip(b.shape.as_ref())?;
            let differ = |(a, b): (&Dim, &Dim)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
            let differs = own.len() != other.len() || own.iter().zip(other.iter()).any(differ);
            let message = || format!("is declared as {}, {what} {}", shown(other), shown(own));
            differs.then(|| (Code::OnnxDeclared, message()))
        }
        (ValueType::Sequence(a), ValueType::Sequence(b)) | (ValueType::Optional(a), ValueType::Optional(b)) => {
            disagreement(a, b, what)
        }
        (ValueType::Unknown | ValueType::Other, _) | (_, ValueType::Unknown | ValueType::Other) => None,
        _ => Some((Code::OnnxType, format!("is declared as {}, {what} {}", form(declared), form(found)))),
    }
}

fn elements((found, declared): (Element, Element), what: &str) -> String {
    format!("is declared as `{}`, {what} `{}`", tensor(declared), tensor(found))
}

/// The type of a tensor as schemas write it.
fn tensor(element: Element) -> String {
    let name = ElementType::numbered(element as i32).map_or(element.text(), |element| element.name);
    format!("tensor({name})")
}

fn form(ty: &ValueType) -> &'static str {
    match ty {
        ValueType::Tensor(_) => "a tensor",
        ValueType::Sequence(_) => "a sequence",
        ValueType::Optional(_) => "an optional value",
        ValueType::Unknown | ValueType::Other => "another value",
    }
}

impl<'m> Inference<'m> {
    fn disagrees(&mut self, name: NameId, at: u32, (found, declared): (&ValueType, &ValueType), what: &str) {
        if let Some((code, told)) = disagreement(found, declared, what) {
            let message = format!("`{}` {told}", self.model.names.spelled(name));
            self.contradictions.add_about(code, Some(name), at, message);
        }
    }

    /// Compares a result of a node with its declaration.
    pub(super) fn compare(&mut self, found: &ValueType, (name, of): (NameId, &KnownResults<'m>), at: u32) {
        if self.wanted.compares()
            && let Some(ty) = of.declared.get(&name)
        {
            let ty = declared(&self.model.names, ty);
            self.disagrees(name, at, (found, &ty), "the operator produces");
        }
    }

    /// Compares the constants of a graph with what `value_info` declares of them.
    pub(super) fn compare_constants(&mut self, graph: &'m GraphProto, of: &KnownResults<'m>) {
        if !self.wanted.compares() || of.declared.is_empty() {
            return;
        }
        for constant in &graph.initializers {
            let name = constant.name.unwrap_or(NameId::ROOT);
            if let Some(ty) = of.declared.get(&name) {
                self.compare_constant(constant, name, ty, graph);
            }
        }
    }

    /// Compares a constant with its declared type.
    pub(super) fn compare_constant(
        &mut self,
        constant: &'m TensorProto,
        name: NameId,
        ty: &'m TypeProto,
        graph: &'m GraphProto,
    ) {
        if self.wanted.compares() {
            let at = graph.nodes.first().map_or(0, |node| node.at);
            let ty = declared(&self.model.names, ty);
            self.disagrees(name, at, (&of_constant(constant), &ty), "its constant is");
        }
    }

    /// Compares the element type of an operand with that of the input of a graph that gets it.
    pub(super) fn compare_input(&mut self, found: &ValueType, ty: &ValueType, name: NameId, graph: &'m GraphProto) {
        let elements = |ty: &ValueType| ty.element().map(|element| ValueType::tensor(Some(element), None));
        if let (true, Some(found), Some(ty)) = (self.wanted.compares(), elements(found), elements(ty)) {
            let at = graph.nodes.first().map_or(0, |node| node.at);
            self.disagrees(name, at, (&found, &ty), "the operand is");
        }
    }

    /// Compares the operands of a body with the shapes that it declares of its inputs.
    pub(super) fn compare_inputs(&mut self, given: &[ValueType], graph: &'m GraphProto, at: u32) {
        for (found, input) in given.iter().zip(&graph.inputs) {
            if let (true, Some(ty)) = (self.wanted.compares(), &input.ty) {
                let ty = declared(&self.model.names, ty);
                self.disagrees(input.name.unwrap_or(NameId::ROOT), at, (found, &ty), "the operand is");
            }
        }
    }

    /// Compares the results of two branches of a node, of which either may run.
    pub(super) fn compare_branches(&mut self, node: &'m NodeProto, then: &[ValueType], other: &[ValueType]) {
        if !self.wanted.compares() {
            return;
        }
        for (i, (a, b)) in then.iter().zip(other).enumerate() {
            let elements = a.element().zip(b.element());
            if let Some((then, other)) = elements.filter(|(then, other)| then != other) {
                let name = self.model.names.spelled(node.outputs.get(i).copied().unwrap_or(NameId::ROOT));
                let message =
                    format!("`{name}` is `{}` in one branch, and `{}` in the other", tensor(then), tensor(other));
                self.contradictions.add(Code::OnnxType, node.at, message);
            }
        }
    }
}
