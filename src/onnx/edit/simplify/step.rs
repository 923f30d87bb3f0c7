//! A node as rules see it: its operands and attributes, and what is known of them.

use smallvec::SmallVec;

use super::scope::{NamedSource, SimplifyScope};
use super::uniform::Uniform;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::infer::infer_call::integers;
use crate::onnx::model::{AttributeItem, AttributeProto, ModelNames, NodeProto, TensorProto, Values};
use crate::onnx::run::tensor_proto;
use crate::onnx::types::AttributeType;
use crate::tensor::{Data, Tensor};

/// The most items of a constant with extents or axes.
const MAX_LISTED: i64 = 1024;

/// The extents of a tensor.
pub(in crate::onnx::edit) type StepExtents = SmallVec<[Dim; 6]>;

/// A node that may be simplified.
pub(in crate::onnx::edit) struct SimplifyStep<'s, 'm> {
    pub(in crate::onnx::edit) names: &'s ModelNames,
    pub(in crate::onnx::edit) scope: &'s SimplifyScope<'m>,
    pub(in crate::onnx::edit) node: &'s NodeProto,
    /// The version of the standard operator set.
    pub(in crate::onnx::edit) version: i64,
    /// How often nodes and outputs use each value, by the number of its name.
    pub(in crate::onnx::edit) uses: &'s [u32],
    /// The position of the first node of the innermost open graph.
    pub(in crate::onnx::edit) start: usize,
}

/// Whether two shapes are the same for all inputs.
pub(in crate::onnx::edit) fn is_same(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b && *a != Dim::Unknown)
}

impl<'s> SimplifyStep<'s, '_> {
    /// An operand that is given.
    pub(super) fn operand(&self, at: usize) -> Option<NameId> {
        given(self.node, at)
    }

    /// The first result.
    pub(super) fn result(&self) -> Option<NameId> {
        self.node.outputs.first().copied().filter(|name| *name != NameId::ROOT)
    }

    /// How often a value is used.
    pub(super) fn uses_of(&self, name: NameId) -> u32 {
        self.uses.get(name.index()).copied().unwrap_or(u32::MAX)
    }

    /// Whether none but the first result is used.
    pub(super) fn has_one_result(&self) -> bool {
        self.node.outputs.iter().skip(1).all(|name| *name == NameId::ROOT || self.uses_of(*name) == 0)
    }

    /// The name of the operator of a node of the standard.
    pub(super) fn operator(&self, node: &NodeProto) -> &'s str {
        let (domain, operator) = self.names.operator(node);
        if domain.is_empty() { operator } else { "" }
    }

    /// The node of a standard operator that an operand comes from.
    pub(super) fn maker(&self, name: NameId, operator: &str) -> Option<&'s NodeProto> {
        self.scope.producer(name).filter(|node| self.operator(node) == operator)
    }

    /// The node of the same graph that a value comes from.
    pub(super) fn own(&self, name: NameId) -> Option<&'s NodeProto> {
        match self.scope.source(name) {
            NamedSource::Node(at) if at as usize >= self.start => self.scope.producer(name),
            _ => None,
        }
    }

    /// The element type of a value.
    pub(in crate::onnx::edit) fn element(&self, name: NameId) -> Option<Element> {
        match self.scope.constant(name) {
            Some(constant) => Element::numbered(constant.data_type?.into()),
            None => self.scope.facts(name)?.element,
        }
    }

    /// The extents of a value.
    pub(in crate::onnx::edit) fn shape(&self, name: NameId) -> Option<StepExtents> {
        match self.scope.constant(name) {
            Some(constant) => Some(constant.dims.iter().map(|extent| Dim::Int(*extent)).collect()),
            None => Some(self.scope.facts(name)?.shape.as_ref()?.iter().cloned().collect()),
        }
    }

    /// The rank of a value.
    pub(in crate::onnx::edit) fn rank(&self, name: NameId) -> Option<usize> {
        match self.scope.constant(name) {
            Some(constant) => Some(constant.dims.len()),
            None => Some(self.scope.facts(name)?.shape.as_ref()?.len()),
        }
    }

    /// Whether two values have the same shape for all inputs.
    pub(in crate::onnx::edit) fn same_shape(&self, a: NameId, b: NameId) -> bool {
        self.shape(a).zip(self.shape(b)).is_some_and(|(a, b)| is_same(&a, &b))
    }

    /// The items of a value of integers; each may be unknown.
    pub(super) fn items(&self, name: NameId) -> Option<StepExtents> {
        match self.scope.constant(name) {
            Some(constant) if constant.dims.iter().any(|extent| *extent > MAX_LISTED) => None,
            Some(constant) => Some(integers(constant)?.into_iter().map(Dim::Int).collect()),
            None => Some(self.scope.facts(name)?.items.as_ref()?.iter().cloned().collect()),
        }
    }

    /// The items of a value of integers, if all are known.
    pub(in crate::onnx::edit) fn integers(&self, name: NameId) -> Option<Vec<i64>> {
        self.items(name)?.iter().map(Dim::known).collect()
    }

    /// What all items of a constant are.
    pub(super) fn uniform(&self, at: usize) -> Option<Uniform> {
        self.scope.items(self.operand(at)?).uniform
    }

    /// An attribute of a node; none if it is missing or refers to one of a function.
    pub(super) fn attribute<'n>(&self, node: &'n NodeProto, name: &str) -> Option<&'n AttributeProto> {
        node.attribute(self.names, name)?.plain()
    }

    /// An attribute as a type has it, or its default if it is missing; none if it is not known.
    pub(super) fn read<T: AttributeItem>(&self, node: &NodeProto, name: &str, default: T) -> Option<T> {
        node.attribute(self.names, name).map_or(Some(default), |attribute| attribute.plain()?.read())
    }

    /// An integer attribute, or its default if it is missing; none if it is not known.
    pub(super) fn int(&self, node: &NodeProto, name: &str, default: i64) -> Option<i64> {
        self.read(node, name, default)
    }

    /// An attribute with integers.
    pub(super) fn ints(&self, node: &NodeProto, name: &str) -> Option<Vec<i64>> {
        self.attribute(node, name)?.read()
    }

    /// The axes of a node that are an operand from a version on, and an attribute before; none if they are not given, or
    /// not known.
    pub(super) fn axes(&self, node: &NodeProto, since: i64) -> Option<Vec<i64>> {
        match self.version >= since {
            true => self.integers(given(node, 1)?),
            false => self.ints(node, "axes"),
        }
    }

    /// The node with other operands.
    pub(super) fn with_inputs(&self, inputs: &[NameId]) -> NodeProto {
        NodeProto { inputs: Values::from_slice(inputs), ..self.node.clone() }
    }
}

/// An operand of a node that is given.
pub(in crate::onnx::edit) fn given(node: &NodeProto, at: usize) -> Option<NameId> {
    node.inputs.get(at).copied().filter(|name| *name != NameId::ROOT)
}

/// A constant with a list of integers.
pub(super) fn constant_of(items: &[i64]) -> Option<TensorProto> {
    Some(tensor_proto(&Tensor::new(&[items.len()], Data::Int64(items.to_vec()))?, None))
}

/// The kind of attributes with lists of integers.
pub(super) const INTS: Option<i32> = Some(AttributeType::Ints as i32);
