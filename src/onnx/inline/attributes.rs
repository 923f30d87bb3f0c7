//! Copies attributes and the graphs in them.

use super::annotations;
use super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{
    AttributeProto, AttributeValue, Extent, GraphProto, NodeProto, TensorType, TypeForm, TypeProto, ValueInfo,
};
use crate::onnx::protobuf::MAX_DEPTH;
use crate::onnx::types::AttributeType;
use crate::onnx::walk::{each_graph, each_node, own_names};
use crate::source::names::Name;

/// The deepest nesting of graphs in attributes: a graph is three messages within the one around it, and the extents of
/// its types are five messages within it.
const MAX_LEVELS: u32 = (MAX_DEPTH - 1 - 5) / 3;

impl Expansion<'_> {
    /// A copy of an attribute, in which references and calls are replaced; none if a reference has no value.
    pub(super) fn attribute(
        &mut self,
        attribute: &AttributeProto,
        node: &NodeProto,
        call: &InlinedCall,
        imports: &mut Imports,
    ) -> Expand<Option<AttributeProto>> {
        if let Some(reference) = attribute.reference {
            return self.referred(attribute, reference, node, call, imports);
        }
        let value = self.attribute_value(&attribute.value, node, call, imports)?;
        let rest = attribute.rest.clone();
        Ok(Some(AttributeProto { name: attribute.name, kind: attribute.kind, value, reference: None, rest }))
    }

    /// A copy of a value of a function's attribute, in which references and calls are replaced.
    fn attribute_value(
        &mut self,
        value: &AttributeValue,
        node: &NodeProto,
        call: &InlinedCall,
        imports: &mut Imports,
    ) -> Expand<AttributeValue> {
        let copy = match value {
            AttributeValue::Graph(graph) => {
                self.check_level(1, node)?;
                AttributeValue::Graph(Box::new(self.subgraph(graph, node, call, imports)?))
            }
            AttributeValue::Graphs(graphs) => {
                self.check_level(1, node)?;
                let copies = graphs.iter().map(|graph| self.subgraph(graph, node, call, imports));
                AttributeValue::Graphs(copies.collect::<Expand<_>>()?)
            }
            other => other.clone(),
        };
        Ok(copy)
    }

    /// Refuses graphs, with this number of levels, that would be nested too deep at the current place.
    fn check_level(&self, levels: u32, node: &NodeProto) -> Expand<()> {
        if self.level.saturating_add(levels) > MAX_LEVELS {
            let message = format!("graphs would be nested deeper than {MAX_LEVELS}, the limit of protobuf files");
            return Err(Box::new(NodeFinding::new(Code::TooDeep, node.at, message)));
        }
        Ok(())
    }

    /// The value of a reference: that of the call, else the default of the function.
    fn referred(
        &mut self,
        attribute: &AttributeProto,
        reference: Name,
        node: &NodeProto,
        call: &InlinedCall,
        imports: &mut Imports,
    ) -> Expand<Option<AttributeProto>> {
        let Some(attributes) = call.attributes else { return Ok(Some(attribute.clone())) };
        let first = attributes.partition_point(|value| value.name < Some(reference));
        let given = attributes.get(first).filter(|value| value.name == Some(reference));
        let default = || call.callee.default_of(call.function, reference);
        let Some(value) = given.or_else(default) else { return Ok(None) };
        let kind =
            |attribute: &AttributeProto| attribute.kind.filter(|kind| *kind != 0).and_then(AttributeType::numbered);
        if let (Some(wanted), Some(given)) = (kind(attribute), kind(value).or_else(|| value.value.kind()))
            && wanted != given
        {
            let name = self.names.texts.text(reference);
            let message = format!(
                "the attribute `{name}` of this call is of type `{}`, the function takes `{}`",
                given.name(),
                wanted.name()
            );
            return Err(Box::new(NodeFinding::new(Code::OnnxReference, node.at, message)));
        }
        let passed_on = value.reference.filter(|_| given.is_some());
        if let (Some(outer), Some(default)) = (passed_on, call.callee.default_of(call.function, reference)) {
            // The function around this copy is kept, and its call may omit the attribute.
            let outer = self.with_default(outer, default, node)?;
            return Ok(Some(AttributeProto { name: attribute.name, reference: Some(outer), ..value.clone() }));
        }
        let is_placed = self.follows_control && value.reference.is_none() && value.value.has_graphs();
        if given.is_none() || is_placed {
            // Names and calls in a default are those of the function. So are those in a graph that the call gives: values
            // of the function hide values around the call, as for a graph that is written in the function.
            self.check_level(levels(&value.value), node)?;
            let scope = if given.is_some() { self.bindings.open_given() } else { self.bindings.open_scope() };
            let copy = self.attribute_value(&value.value, node, call, imports)?;
            self.bindings.leave(scope);
            let (kind, rest) = (value.kind, value.rest.clone());
            return Ok(Some(AttributeProto { name: attribute.name, kind, value: copy, reference: None, rest }));
        }
        // A graph that is passed to another function is copied for each reference.
        let (mut nodes, mut bytes) = (0, 0);
        each_graph(&value.value, &mut |graph| {
            each_node(&graph.nodes, &mut |node| (nodes, bytes) = (nodes + 1, bytes + node.bytes()));
        });
        self.check_level(levels(&value.value), node)?;
        self.charge(nodes, bytes, node.at)?;
        if nodes > 0 {
            let mut sum = Ok(());
            each_graph(&value.value, &mut |graph| {
                sum = sum.clone().and_then(|()| self.charge_nodes(&graph.nodes, node.at))
            });
            sum?;
        }
        Ok(Some(AttributeProto { name: attribute.name, ..value.clone() }))
    }

    /// A copy of a graph in an attribute, with fresh names for the values that it defines.
    fn subgraph(
        &mut self,
        graph: &GraphProto,
        node: &NodeProto,
        call: &InlinedCall,
        imports: &mut Imports,
    ) -> Expand<GraphProto> {
        self.charge(0, annotations::own_bytes(&graph.rest), node.at)?;
        // onnxruntime needs the ranks of what a scan collects.
        let keeps_rank = node.op_type.is_some_and(|operator| self.names.texts.text(operator) == "Scan");
        let scope = self.bindings.open_scope();
        let own = own_names(graph);
        let mark = self.known.open();
        self.level += 1;
        let within = self.flow.enter(graph);
        for name in own {
            let value = self.fresh(call, name);
            self.bindings.bind_result(name, value);
            self.known.hide(value);
        }
        // Its inputs and constants are there before its nodes.
        let inputs = graph.inputs.iter().map(|input| input.name);
        inputs.chain(graph.initializers.iter().map(|tensor| tensor.name)).flatten().for_each(|name| {
            self.bindings.define(&[name]);
        });
        let rename = |expansion: &Self, values: &[ValueInfo]| -> Vec<ValueInfo> {
            let renamed = |value: &ValueInfo| {
                let name = value.name.map(|name| expansion.bindings.bound(name));
                if call.typed { ValueInfo { name, ..value.clone() } } else { without_shape(name, value, keeps_rank) }
            };
            values.iter().map(renamed).collect()
        };
        let mut initializers = graph.initializers.clone();
        for tensor in &mut initializers {
            tensor.name = tensor.name.map(|name| self.bindings.bound(name));
        }
        let inputs = rename(self, &graph.inputs);
        let value_info = if call.typed { rename(self, &graph.value_info) } else { Vec::new() };
        value_info.iter().for_each(|value| self.declared.add(value));
        let mut target = CopyTarget { nodes: Vec::with_capacity(graph.nodes.len()), value_info };
        if self.has_control {
            self.known.note_declared(&inputs, &initializers, &target.value_info);
            self.known.note_facts(&graph.facts, |name| self.bindings.bound(name));
        }
        for node in &graph.nodes {
            self.copy(node, call, &mut target, imports)?;
        }
        let copy = GraphProto {
            name: graph.name,
            initializers,
            inputs,
            outputs: rename(self, &graph.outputs),
            nodes: target.nodes,
            value_info: target.value_info,
            rest: annotations::renamed(self.names, &graph.rest, |name| self.bindings.bound(name)),
            cannot_run: graph.cannot_run,
            // They are found out again for what was copied.
            facts: Vec::new(),
            noted: Vec::new(),
            keeps_shapes: false,
        };
        self.flow.within_contradiction = within;
        self.bindings.leave(scope);
        self.known.undo(mark);
        self.level -= 1;
        Ok(copy)
    }
}

/// A copy of a value without a shape, or with the rank alone, unless it is a single item. The types of elements stay: inputs
/// of a loop's body need them.
fn without_shape(name: Option<NameId>, value: &ValueInfo, keeps_rank: bool) -> ValueInfo {
    let ty = match &value.ty {
        Some(TypeProto { form: TypeForm::Tensor(tensor), rest }) => {
            let shape = tensor.shape.as_ref().filter(|shape| keeps_rank || shape.dims.is_empty()).cloned();
            let shape = shape.map(|mut shape| {
                shape.dims.iter_mut().for_each(|dim| dim.extent = Extent::Unknown);
                shape
            });
            let tensor = TensorType { shape, element: tensor.element, rest: tensor.rest.clone() };
            Some(TypeProto { form: TypeForm::Tensor(tensor), rest: rest.clone() })
        }
        other => other.clone(),
    };
    ValueInfo { name, ty, rest: value.rest.clone() }
}

/// The number of levels of nested graphs in a value.
fn levels(value: &AttributeValue) -> u32 {
    let mut found = 0;
    each_graph(value, &mut |graph| {
        let inner = graph.nodes.iter().flat_map(|node| &node.attributes).map(|attribute| levels(&attribute.value));
        found = found.max(1 + inner.max().unwrap_or(0));
    });
    found
}
