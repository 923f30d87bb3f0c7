//! What is found about values, compared with what a model declares of them.

use super::declared::{declared, of_constant};
use super::engine::{InferGoal, Inference};
use super::facts::{TensorExtents, ValueType};
use super::graphs::KnownResults;
use super::infer_call::{InferCall, Known};
use super::shown::shown;
use crate::diagnostics::Code;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, NodeProto, TensorProto, TypeProto};
use crate::onnx::types::ElementType;

/// The operators of whose results other programs know nothing unless all extents follow; all reductions are such.
const ALL_OR_NOTHING: &[&str] =
    &["BlackmanWindow", "CenterCropPad", "HammingWindow", "HannWindow", "Pad", "STFT", "Split"];

/// The operators of whose results other programs know nothing unless all extents of the first operand are numbers.
const OF_NUMBERS: &[&str] = &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"];

/// The operators of whose results other programs know the rank unless all extents follow.
const RANKS: &[&str] = &["Slice"];

/// The operators of whose results other programs know the rank alone.
const RANK_ALONE: &[&str] = &["StringNormalizer"];

/// The operators of whose results other programs know no shape.
const NEVER: &[&str] = &["GroupNormalization"];

/// The operators of whose results other programs know no shape if an operand is given, which is the shape.
const SHAPE_GIVEN: &[(&str, usize)] = &[("MaxUnpool", 2)];

/// The version from which on other programs know the rank of the result of `Reshape` by the length of the shape.
const RANK_OF_RESHAPE: i64 = 14;

/// Whether other programs know nothing of the result of a `Reshape`.
fn is_open_reshape(call: &InferCall) -> bool {
    let is_known = || call.has_attribute("shape") || call.integers(1).is_some();
    call.version() < RANK_OF_RESHAPE && !is_known()
}

/// Forgets shapes of results that programs do not tell when they infer shapes.
pub(super) fn forget(call: &mut InferCall, operator: &str) {
    let all_or_nothing = ALL_OR_NOTHING.contains(&operator) || operator.starts_with("Reduce");
    let is_open = |shape: &TensorExtents| shape.contains(&Dim::Unknown);
    let is_symbolic = || call.extents(0).is_none_or(|extents| extents.iter().any(|extent| extent.known().is_none()));
    // The axes of a reduction are not known, only their number.
    let is_open_reduction = operator.starts_with("Reduce") && call.has(1) && call.integers(1).is_none();
    let hides = NEVER.contains(&operator)
        || is_open_reduction
        || OF_NUMBERS.contains(&operator) && is_symbolic()
        || operator == "Reshape" && is_open_reshape(call)
        || SHAPE_GIVEN.iter().any(|(name, operand)| *name == operator && call.has(*operand));
    if operator == "Unique" {
        // Of places and counts, other programs know the rank.
        call.results.iter_mut().skip(1).for_each(forget_extents);
    }
    for result in &mut call.results {
        if hides || all_or_nothing && result.shape().is_some_and(is_open) {
            forget_shape(result);
        } else if RANK_ALONE.contains(&operator) || RANKS.contains(&operator) && result.shape().is_some_and(is_open) {
            forget_extents(result);
        }
    }
}

/// Keeps the rank of a tensor alone.
fn forget_extents(ty: &mut ValueType) {
    let extents = ty.shape().map(|shape| vec![Dim::Unknown; shape.len()].into());
    *ty = ValueType::tensor(ty.element(), extents);
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
                return Some((Code::OnnxType, elements(own, other, what)));
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

fn elements(found: Element, declared: Element, what: &str) -> String {
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

/// A value whose declaration is wrong, with the location where this is told.
pub(crate) type Mistaken = (u32, NameId);

/// What is wrong with a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    Type,
    Shape,
}

impl Mistake {
    /// What is left of a type: what follows from a mistake is not told as another one.
    pub(super) fn leaves(self, ty: &ValueType) -> ValueType {
        match self {
            Mistake::Type => ValueType::Unknown,
            Mistake::Shape => ValueType::tensor(ty.element(), None),
        }
    }
}

impl<'m> Inference<'m> {
    /// Compares two descriptions of a value. Returns what is wrong with the declared one, if that is a mistake without a
    /// doubt.
    fn disagrees(
        &mut self,
        name: NameId,
        at: u32,
        found: &ValueType,
        declared: &ValueType,
        what: &str,
    ) -> Option<Mistake> {
        let (code, told) = disagreement(found, declared, what)?;
        let message = format!("`{}` {told}", self.model.names.spelled(name));
        self.contradictions.add_about(code, Some(name), at, message);
        let is_certain = self.wanted == InferGoal::Told || self.mistaken.contains(&(at, name));
        is_certain.then_some(if code == Code::OnnxType { Mistake::Type } else { Mistake::Shape })
    }

    /// Compares a result of a node with its declaration.
    pub(super) fn compare(
        &mut self,
        found: &ValueType,
        name: NameId,
        of: &KnownResults<'m>,
        at: u32,
    ) -> Option<Mistake> {
        let ty = of.declared(name).filter(|_| self.wanted.compares())?;
        let ty = declared(&self.model.names, ty);
        self.disagrees(name, at, found, &ty, "the operator produces")
    }

    /// Compares the constants of a graph with what `value_info` declares of them.
    pub(super) fn compare_constants(&mut self, graph: &'m GraphProto, of: &KnownResults<'m>) {
        if !self.wanted.compares() || of.declares_nothing() {
            return;
        }
        for constant in &graph.initializers {
            let name = constant.name.unwrap_or(NameId::ROOT);
            if let Some(ty) = of.declared(name)
                && let Some(mistake) = self.compare_constant(constant, name, ty, graph)
            {
                self.scope.define(name, Known::new(mistake.leaves(&of_constant(constant)), None));
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
    ) -> Option<Mistake> {
        if !self.wanted.compares() {
            return None;
        }
        let at = graph.nodes.first().map_or(0, |node| node.at);
        let ty = declared(&self.model.names, ty);
        self.disagrees(name, at, &of_constant(constant), &ty, "its constant is")
    }

    /// Compares the element type of an operand with that of the input of a graph that gets it.
    pub(super) fn compare_input(
        &mut self,
        found: &ValueType,
        ty: &ValueType,
        name: NameId,
        graph: &'m GraphProto,
    ) -> Option<Mistake> {
        let elements = |ty: &ValueType| ty.element().map(|element| ValueType::tensor(Some(element), None));
        let (true, found, ty) = (self.wanted.compares(), elements(found)?, elements(ty)?) else { return None };
        let at = graph.nodes.first().map_or(0, |node| node.at);
        self.disagrees(name, at, &found, &ty, "the operand is")
    }

    /// Compares the operands of a body with the shapes that it declares of its inputs.
    pub(super) fn compare_inputs(&mut self, given: &[ValueType], graph: &'m GraphProto, at: u32) {
        for (found, input) in given.iter().zip(&graph.inputs) {
            if let (true, Some(ty)) = (self.wanted.compares(), &input.ty) {
                let ty = declared(&self.model.names, ty);
                let _ = self.disagrees(input.name.unwrap_or(NameId::ROOT), at, found, &ty, "the operand is");
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
