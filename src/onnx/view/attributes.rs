//! Attributes of nodes as values of the graph.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{NodePlace, TooLarge, View};
use crate::graph::constant::shortest;
use crate::graph::names::NameId;
use crate::graph::{OriginId, Value};
use crate::onnx::infer::InnerPlace;
use crate::onnx::model::{AttributeProto, AttributeValue, GraphProto as OnnxGraph, NodeProto, TensorProto};
use crate::onnx::types::{AttributeType, ElementType};
use crate::onnx::walk::own_names;

impl<'m> View<'m> {
    pub(super) fn attribute(
        &mut self,
        attribute: &'m AttributeProto,
        node: &'m NodeProto,
        at: (usize, usize),
        origin: OriginId,
    ) -> Result<Value, TooLarge> {
        if let Some(reference) = attribute.reference {
            return Ok(Value::Symbol(format!("@{}", self.model.names.texts.text(reference)).into()));
        }
        let symbols =
            |texts: Vec<String>| Value::Array(texts.into_iter().map(|text| Value::Symbol(text.into())).collect());
        Ok(match &attribute.value {
            AttributeValue::None => {
                let kind = attribute.kind.and_then(AttributeType::numbered);
                match kind.and_then(AttributeValue::implied) {
                    Some(AttributeValue::Int(value)) => Value::Int(value),
                    Some(AttributeValue::Float(value)) => Value::Scalar(shortest(value)),
                    Some(AttributeValue::String(bytes)) => self.string(&bytes)?,
                    _ => Value::Integers(Arc::from([])),
                }
            }
            AttributeValue::Float(value) => Value::Scalar(shortest(*value)),
            AttributeValue::Int(value) => Value::Int(*value),
            AttributeValue::String(bytes) => self.string(bytes)?,
            AttributeValue::Floats(values) => {
                self.charge(values.len() * size_of::<f64>())?;
                Value::Scalars(values.iter().map(|value| shortest(*value)).collect())
            }
            AttributeValue::Ints(values) => {
                self.charge(size_of_val(&values[..]))?;
                Value::Integers(values.as_slice().into())
            }
            AttributeValue::Strings(values) => {
                Value::Array(values.iter().map(|value| self.string(value)).collect::<Result<_, _>>()?)
            }
            AttributeValue::Tensor(tensor) => self.symbol(tensor)?,
            AttributeValue::Tensors(tensors) => {
                Value::Array(tensors.iter().map(|tensor| self.symbol(tensor)).collect::<Result<_, _>>()?)
            }
            AttributeValue::Type(_) => symbols(vec!["type".to_owned()]),
            AttributeValue::Types(types) => symbols(vec!["type".to_owned(); types.len()]),
            AttributeValue::Graph(graph) => self.inner(graph, attribute, node, (at.0, at.1, 0), origin)?,
            AttributeValue::Graphs(graphs) => {
                let results = graphs.iter().enumerate();
                let results = results.map(|(i, graph)| self.inner(graph, attribute, node, (at.0, at.1, i), origin));
                Value::Array(results.collect::<Result<_, _>>()?)
            }
        })
    }

    fn symbol(&mut self, tensor: &TensorProto) -> Result<Value, TooLarge> {
        let text = described(tensor);
        self.charge(size_of::<Value>() + text.len())?;
        Ok(Value::Symbol(text.into()))
    }

    /// Adds the nodes of a graph in an attribute, and returns its results.
    fn inner(
        &mut self,
        graph: &'m OnnxGraph,
        attribute: &AttributeProto,
        node: &NodeProto,
        place: InnerPlace,
        origin: OriginId,
    ) -> Result<Value, TooLarge> {
        let at = self.at(node.at);
        let name = attribute.name.unwrap_or(self.graph.name);
        let row = self.graph.add_graph_place(name, at);
        let group = self.graph.add_origin(origin, row);
        self.types.push(self.types.last().copied().flatten().and_then(|types| types.inner.get(place)));
        let hidden: SmallVec<[_; 4]> =
            own_names(graph).into_iter().map(|name| (name, self.tensors.hide(name))).collect();
        self.body(graph, NodePlace { call: node.origin, group })?;
        let results: Vec<Value> =
            graph.outputs.iter().map(|output| Value::Tensor(self.value(output.name.unwrap_or(NameId::ROOT)))).collect();
        let depth = self.types.len() as u32;
        for (i, input) in graph.inputs.iter().enumerate() {
            if let Some(tensor) = input.name.and_then(|name| self.tensors.get(name)) {
                self.graph.formals.insert(tensor, (depth, i as u32));
            }
        }
        self.types.pop();
        for (name, before) in hidden {
            self.tensors.hide(name);
            if let Some(before) = before {
                self.tensors.show(name, before);
            }
        }
        Ok(Value::Array(results.into()))
    }

    /// A string of an attribute. In JSON, some characters take several bytes.
    fn string(&mut self, bytes: &[u8]) -> Result<Value, TooLarge> {
        const ESCAPED: usize = 5;
        let escaped = bytes.iter().filter(|byte| byte.is_ascii_control() || matches!(byte, b'"' | b'\\')).count();
        self.charge(size_of::<Value>() + bytes.len() + ESCAPED * escaped)?;
        let place = (bytes.as_ptr() as usize, bytes.len());
        let shared = self.strings.entry(place).or_insert_with(|| String::from_utf8_lossy(bytes).into());
        Ok(Value::String(shared.clone()))
    }
}

/// `float[2, 3]`
pub(super) fn described(tensor: &TensorProto) -> String {
    let element = tensor.data_type.and_then(ElementType::numbered).map_or("undefined", |element| element.name);
    format!("{element}{:?}", &tensor.dims[..])
}
