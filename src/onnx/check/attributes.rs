//! Checks attributes: those of any node, and those of operators by the table.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::bodies::BodyResults;
use super::checker::{Check, Pass};
use super::flow::ValueTypes;
use super::part::{ModelPart, attributes_of};
use crate::diagnostics::{Code, PlacePart, suggest};
use crate::onnx::model::{AttributeProto, AttributeValue, GraphProto, NodeProto, TensorProto};
use crate::onnx::protobuf::fields::attribute as fields;
use crate::onnx::schema::Schema;
use crate::onnx::types::AttributeType;
use crate::source::names::Name;

/// The first version of the format in which attributes state their types.
const WITH_TYPES: i64 = 2;

/// The most attributes that are compared with each other instead of being looked up.
const FEW: usize = 8;

/// The types of the fields that are kept for each value, with their numbers.
const KEPT: &[(u32, AttributeType)] = &[
    (fields::FLOAT, AttributeType::Float),
    (fields::INT, AttributeType::Int),
    (fields::STRING, AttributeType::String),
    (fields::TENSOR, AttributeType::Tensor),
    (fields::GRAPH, AttributeType::Graph),
    (fields::FLOATS, AttributeType::Floats),
    (fields::INTS, AttributeType::Ints),
    (fields::STRINGS, AttributeType::Strings),
    (fields::TENSORS, AttributeType::Tensors),
    (fields::GRAPHS, AttributeType::Graphs),
    (fields::TYPE_PROTO, AttributeType::Type),
    (fields::TYPE_PROTOS, AttributeType::Types),
    (fields::SPARSE_TENSOR, AttributeType::SparseTensor),
    (fields::SPARSE_TENSORS, AttributeType::SparseTensors),
];

/// The types of the values of an attribute; a right one has at most one. Empty lists are not values.
fn given(attribute: &AttributeProto) -> SmallVec<[AttributeType; 2]> {
    let mut found = SmallVec::new();
    let is_empty = match &attribute.value {
        AttributeValue::Floats(items) => items.is_empty(),
        AttributeValue::Ints(items) => items.is_empty(),
        _ => false,
    };
    found.extend(attribute.value.kind().filter(|_| !is_empty));
    for field in attribute.rest.iter().flat_map(|fields| fields.iter()) {
        let kept = KEPT.iter().find(|row| row.0 == field.number);
        found.extend(kept.map(|row| row.1).filter(|kind| !found.contains(kind)));
    }
    found
}

/// The name of the type that an attribute states.
fn stated(attribute: &AttributeProto) -> &'static str {
    attribute.kind.and_then(AttributeType::numbered).map_or("undefined", AttributeType::name)
}

impl<'m> Check<'m> {
    /// Checks the attributes of any node: names, references, and contents. Returns the types of the results of graphs.
    pub(super) fn attributes(&mut self, node: &'m NodeProto, body: &ModelPart<'m>) -> BodyResults {
        let mut graphs = BodyResults::new();
        let mut seen = FxHashSet::default();
        for (i, attribute) in node.attributes.iter().enumerate() {
            let is_twice = match node.attributes.len() {
                0..=FEW => node.attributes[..i].iter().any(|before| before.name == attribute.name),
                _ => !seen.insert(attribute.name),
            };
            if self.pass != Pass::All && !is_twice && !attribute.value.has_graphs() {
                continue;
            }
            self.path.push(("attribute", Some(i)));
            if is_twice {
                let message = format!("the attribute `{}` is given twice", self.text(attribute.name));
                self.report(Code::OnnxTwice, node.at, message, None);
            }
            if self.pass == Pass::All {
                self.attribute(attribute, node.at);
                if let Some(reference) = attribute.reference {
                    self.reference(reference, node.at, i, body);
                }
            }
            let given = self.given_to(node, attribute, body);
            if let Some(types) = self.attribute_value(attribute, body, &given, node.at) {
                graphs.push((attribute.name, types));
            }
            self.path.pop();
        }
        graphs
    }

    /// Checks the graphs and tensors in an attribute; a graph with the types that its inputs are given. Returns the types of
    /// the results of a graph.
    pub(super) fn attribute_value(
        &mut self,
        attribute: &'m AttributeProto,
        body: &ModelPart<'m>,
        given: &ValueTypes,
        at: u32,
    ) -> Option<ValueTypes> {
        match &attribute.value {
            AttributeValue::Graph(graph) => {
                return Some(self.within(("g", None), |check| check.graph(graph, given, body)));
            }
            AttributeValue::Graphs(graphs) => self.each_graph(graphs, body),
            AttributeValue::Tensor(tensor) => self.within(("t", None), |check| check.constant(tensor, at)),
            AttributeValue::Tensors(tensors) => self.each_tensor(tensors, at),
            _ => {}
        }
        if self.pass == Pass::All {
            self.sparse_fields(("sparse_tensor", None), &attribute.rest, fields::SPARSE_TENSOR, at);
            self.sparse_fields(("sparse_tensors", Some(0)), &attribute.rest, fields::SPARSE_TENSORS, at);
        }
        None
    }

    fn each_graph(&mut self, graphs: &'m [GraphProto], body: &ModelPart<'m>) {
        for (i, graph) in graphs.iter().enumerate() {
            self.within(("graphs", Some(i)), |check| check.graph(graph, &ValueTypes::new(), body));
        }
    }

    fn each_tensor(&mut self, tensors: &'m [TensorProto], at: u32) {
        for (i, tensor) in tensors.iter().enumerate() {
            self.within(("tensors", Some(i)), |check| check.constant(tensor, at));
        }
    }

    /// Checks that name, type and value of an attribute are there and go together.
    pub(super) fn attribute(&mut self, attribute: &AttributeProto, at: u32) {
        let name = self.text(attribute.name);
        if name.is_empty() {
            self.report(Code::OnnxModel, at, "an attribute has no name".to_owned(), None);
        }
        let given = given(attribute);
        let refers = attribute.reference.is_some() && self.path.len() > IN_BODY;
        let is_untyped = attribute.kind.is_none() && self.ir_version >= WITH_TYPES;
        if is_untyped && given.is_empty() && attribute.reference.is_some() {
            let message = format!("the reference of the attribute `{name}` has no type");
            return self.report(Code::OnnxModel, at, message, None);
        }
        let message = match given[..] {
            _ if is_untyped => format!("the attribute `{name}` has no type"),
            [] => return,
            [_] if refers => format!("the attribute `{name}` has both a value and a reference"),
            [kind] if attribute.kind.is_none_or(|stated| stated == kind as i32) => return,
            [kind] => {
                format!("the attribute `{name}` has the type `{}` and a value of `{}`", stated(attribute), kind.name())
            }
            _ => format!("the attribute `{name}` has several values"),
        };
        self.report(Code::OnnxAttribute, at, message, None);
    }

    /// Checks that the function has the attribute to which an attribute refers: that with an index, of a node at a place.
    fn reference(&mut self, reference: Name, at: u32, i: usize, body: &ModelPart) {
        if body.has_attribute(reference) {
            return;
        }
        let name = self.text(Some(reference));
        let (message, help) = match body.function {
            None => (format!("`@{name}` is used outside a function"), None),
            Some(function) => {
                let known = attributes_of(function).map(|known| self.text(Some(known)));
                let near = self.nearest(Code::OnnxNoReference, name, known);
                (format!("the function `{}` has no attribute `{name}`", self.text(function.name)), near)
            }
        };
        self.report_part(Code::OnnxNoReference, at, Some(PlacePart::Reference(i)), message, help);
    }

    /// Warns of attributes of a model that is expanded which no version of the operator has.
    pub(super) fn unknown_attributes(&mut self, node: &NodeProto, schema: &Schema, body: &ModelPart) {
        let (domain, operator) = (self.standard(node), self.text(node.op_type));
        for (i, attribute) in node.attributes.iter().enumerate() {
            let name = self.text(attribute.name);
            let mut known = schema.attributes.iter().map(|row| row.name);
            // Names with two underscores are those of programs.
            if known.any(|known| known == name) || name.starts_with("__") || name.is_empty() {
                continue;
            }
            if self.diagnostics.is_frequent(Code::OnnxUntaken) || self.is_later(node, body) {
                continue;
            }
            if !self.schemas.has_attribute(domain, operator, name) {
                let meant = suggest::misspelt(name, schema.attributes.iter().map(|row| row.name));
                let message = format!("`{operator}` has no attribute `{name}`");
                let help = meant.map(|meant| format!("did you mean `{meant}`?"));
                self.within(("attribute", Some(i)), |check| check.report(Code::OnnxUntaken, node.at, message, help));
            }
        }
    }

    /// Checks attributes against the schema of the operator.
    pub(super) fn schema_attributes(&mut self, node: &NodeProto, schema: &Schema) {
        if self.pass != Pass::All {
            return;
        }
        let operator = self.text(node.op_type);
        for (i, attribute) in node.attributes.iter().enumerate() {
            let name = self.text(attribute.name);
            let Some(row) = schema.attributes.iter().find(|row| row.name == name) else {
                // Names with two underscores are those of programs.
                if !name.starts_with("__") {
                    let near = self.nearest(Code::OnnxNoAttribute, name, schema.attributes.iter().map(|row| row.name));
                    let message = format!("`{operator}` has no attribute `{name}`");
                    let part = Some(PlacePart::Attribute(i));
                    self.report_part(Code::OnnxNoAttribute, node.at, part, message, near);
                }
                continue;
            };
            self.within(("attribute", Some(i)), |check| check.fits(attribute, row.kind, operator, node.at));
        }
        for row in schema.attributes.iter().filter(|row| row.required) {
            if !node.attributes.iter().any(|attribute| self.text(attribute.name) == row.name) {
                let message = format!("`{operator}` needs the attribute `{}`", row.name);
                self.report(Code::OnnxAttributeMissing, node.at, message, None);
            }
        }
    }

    /// Checks the type of an attribute that an operator has, and that there is a value if it is a message.
    fn fits(&mut self, attribute: &AttributeProto, wanted: AttributeType, operator: &str, at: u32) {
        let name = self.text(attribute.name);
        let values = given(attribute);
        if attribute.kind != Some(wanted as i32) {
            // What is wrong by itself is reported already.
            let is_told = attribute.kind.is_none() && self.ir_version >= WITH_TYPES;
            if !is_told
                && values.first().is_none_or(|kind| attribute.kind.is_none() || attribute.kind == Some(*kind as i32))
            {
                let message = format!(
                    "the attribute `{name}` of `{operator}` is `{}`, not `{}`",
                    wanted.name(),
                    stated(attribute)
                );
                self.report(Code::OnnxAttributeType, at, message, None);
            }
            return;
        }
        let is_message = matches!(
            wanted,
            AttributeType::Tensor | AttributeType::Graph | AttributeType::SparseTensor | AttributeType::Type
        );
        let refers = attribute.reference.is_some_and(|reference| !self.text(Some(reference)).is_empty());
        if is_message && values.is_empty() && !refers {
            let message = format!("the attribute `{name}` of `{operator}` has no value");
            self.report(Code::OnnxAttribute, at, message, None);
        }
    }
}

/// The length of the path to an attribute of a node that is in no inner graph.
const IN_BODY: usize = 3;
