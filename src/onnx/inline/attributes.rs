//! Copies of attributes, with the graphs in them.

use super::Found;
use super::copy::{Call, Expand, Expansion, Target};
use super::functions::{each_graph, each_node};
use super::opsets::Imports;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{Attribute, AttributeValue, Graph, Node, ValueInfo};
use crate::onnx::types::AttributeType;
use crate::source::names::Name;

impl Expansion<'_> {
    /// A copy of an attribute, in which references and calls are replaced; none where the value is absent.
    pub(super) fn attribute(
        &mut self,
        attribute: &Attribute,
        node: &Node,
        call: Call,
        imports: &mut Imports,
    ) -> Expand<Option<Attribute>> {
        if let Some(reference) = attribute.reference {
            return self.referred(attribute, reference, node, call);
        }
        let value = match &attribute.value {
            AttributeValue::Graph(graph) => AttributeValue::Graph(Box::new(self.subgraph(graph, call, imports)?)),
            AttributeValue::Graphs(graphs) => {
                let copies = graphs.iter().map(|graph| self.subgraph(graph, call, imports));
                AttributeValue::Graphs(copies.collect::<Expand<_>>()?)
            }
            other => other.clone(),
        };
        let rest = attribute.rest.clone();
        Ok(Some(Attribute { name: attribute.name, kind: attribute.kind, value, reference: None, rest }))
    }

    /// The value that a reference stands for: that of the call, else the default of the function.
    fn referred(
        &mut self,
        attribute: &Attribute,
        reference: Name,
        node: &Node,
        call: Call,
    ) -> Expand<Option<Attribute>> {
        let mut values = call.attributes.iter().chain(&call.function.defaults);
        let Some(value) = values.find(|value| value.name == Some(reference)) else { return Ok(None) };
        let kind = |attribute: &Attribute| attribute.kind.filter(|kind| *kind != 0).and_then(AttributeType::numbered);
        if let (Some(wanted), Some(given)) = (kind(attribute), kind(value).or_else(|| value.value.kind()))
            && wanted != given
        {
            let name = self.names.texts.text(reference);
            let message = format!(
                "the attribute `{name}` of this call is of type `{}`, the function takes `{}`",
                given.name(),
                wanted.name()
            );
            return Err(Box::new(Found::new(Code::OnnxReference, node.at, message)));
        }
        // A graph that is passed on is copied with each reference.
        let (mut nodes, mut bytes) = (0, 0);
        each_graph(&value.value, &mut |graph| {
            each_node(&graph.nodes, &mut |node| (nodes, bytes) = (nodes + 1, bytes + node.bytes()));
        });
        self.charge(nodes, bytes, node.at)?;
        Ok(Some(Attribute { name: attribute.name, ..value.clone() }))
    }

    /// A copy of a graph in an attribute, whose own names are fresh.
    fn subgraph(&mut self, graph: &Graph, call: Call, imports: &mut Imports) -> Expand<Graph> {
        let mut scope = self.open_scope();
        let inputs = graph.inputs.iter().filter_map(|input| input.name);
        let initializers = graph.initializers.iter().filter_map(|tensor| tensor.name);
        let results = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied());
        let mut own: Vec<NameId> = inputs.chain(initializers).chain(results).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        own.retain(|name| *name != NameId::ROOT && seen.insert(*name));
        for name in own {
            let value = self.fresh(call, name);
            self.bind(&mut scope, name, value);
        }
        let rename = |expansion: &Self, values: &[ValueInfo]| -> Vec<ValueInfo> {
            let renamed =
                |value: &ValueInfo| ValueInfo { name: value.name.map(|name| expansion.bound(name)), ..value.clone() };
            values.iter().map(renamed).collect()
        };
        let mut target = Target { nodes: Vec::new(), value_info: rename(self, &graph.value_info) };
        for node in &graph.nodes {
            self.copy(node, call, &mut target, imports)?;
        }
        let mut initializers = graph.initializers.clone();
        for tensor in &mut initializers {
            tensor.name = tensor.name.map(|name| self.bound(name));
        }
        let copy = Graph {
            name: graph.name,
            initializers,
            inputs: rename(self, &graph.inputs),
            outputs: rename(self, &graph.outputs),
            nodes: target.nodes,
            value_info: target.value_info,
            rest: graph.rest.clone(),
        };
        self.leave(scope);
        Ok(copy)
    }
}
