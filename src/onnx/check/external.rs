//! Finds external data outside the folder of a model, in all constant tensors of the model.

use std::path::{Component, Path};

use bytes::Bytes;

use super::Step;
use super::data::payloads;
use crate::onnx::model::{Attribute, AttributeValue, Fields, Function, Graph, ModelNames, Node, Tensor};
use crate::onnx::protobuf::Part;
use crate::onnx::protobuf::fields::{attribute, entry, graph, sparse, tensor};

/// A tensor whose data are outside.
pub(super) struct Outside {
    pub(super) path: Vec<Step>,
    pub(super) at: u32,
    pub(super) message: String,
}

/// The tensors of a model, or of a part of one, whose data are outside.
pub(super) fn outside(names: &ModelNames, part: Part) -> Vec<Outside> {
    let mut search = Search { names, path: Vec::new(), found: Vec::new() };
    match part {
        Part::Model(model) => {
            model.graph.iter().for_each(|graph| search.within(("graph", None), |search| search.graph(graph)));
            search.each("functions", &model.functions, Search::function);
        }
        Part::Graph(graph) => search.graph(graph),
        Part::Function(function) => search.function(function),
        Part::Node(node) => search.node(node),
    }
    search.found
}

/// Whether a location is outside the folder of the model. Windows paths are on all systems, since models are moved
/// between systems.
fn leads_out(location: &str) -> bool {
    let within = |component: Component| matches!(component, Component::Normal(_) | Component::CurDir);
    let windows = location.contains('\\') || location.as_bytes().get(1) == Some(&b':');
    windows || !Path::new(location).components().all(within)
}

struct Search<'m> {
    names: &'m ModelNames,
    path: Vec<Step>,
    found: Vec<Outside>,
}

impl Search<'_> {
    fn within(&mut self, step: Step, run: impl FnOnce(&mut Self)) {
        self.path.push(step);
        run(self);
        self.path.pop();
    }

    fn each<T>(&mut self, field: &'static str, items: &[T], run: impl Fn(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            self.within((field, Some(i)), |search| run(search, item));
        }
    }

    fn graph(&mut self, of: &Graph) {
        let start = of.nodes.first().map_or(0, |node| node.at);
        self.each("initializer", &of.initializers, |search, tensor| search.tensor(tensor, start));
        self.sparse("sparse_initializer", &of.rest, graph::SPARSE_INITIALIZER, start);
        self.each("node", &of.nodes, Self::node);
    }

    fn function(&mut self, of: &Function) {
        self.each("attribute_proto", &of.defaults, |search, default| search.attribute(default, of.at));
        self.each("node", &of.nodes, Self::node);
    }

    fn node(&mut self, of: &Node) {
        self.each("attribute", &of.attributes, |search, attribute| search.attribute(attribute, of.at));
    }

    fn attribute(&mut self, of: &Attribute, at: u32) {
        match &of.value {
            AttributeValue::Graph(graph) => self.within(("g", None), |search| search.graph(graph)),
            AttributeValue::Graphs(graphs) => self.each("graphs", graphs, Self::graph),
            AttributeValue::Tensor(tensor) => self.within(("t", None), |search| search.tensor(tensor, at)),
            AttributeValue::Tensors(tensors) => {
                self.each("tensors", tensors, |search, tensor| search.tensor(tensor, at));
            }
            _ => {}
        }
        self.sparse("sparse_tensor", &of.rest, attribute::SPARSE_TENSOR, at);
        self.sparse("sparse_tensors", &of.rest, attribute::SPARSE_TENSORS, at);
    }

    fn tensor(&mut self, of: &Tensor, at: u32) {
        // If a key is repeated, programs differ in which value they take.
        let locations = of.external.iter().filter(|entry| entry.key.as_deref() == Some("location"));
        for location in locations.filter_map(|entry| entry.value.as_deref()) {
            let name = of.name.map_or("", |name| self.names.text(name));
            self.location(name, location, at);
        }
    }

    /// Searches sparse tensors, which are not decoded.
    fn sparse(&mut self, field: &'static str, fields: &Fields, number: u32, at: u32) {
        let fields: Vec<&Bytes> = fields
            .iter()
            .flat_map(|fields| fields.iter())
            .filter(|field| field.number == number)
            .map(|field| &field.bytes)
            .collect();
        self.each(field, &fields, |search, message| {
            let parts = [sparse::VALUES, sparse::INDICES].map(|part| payloads(message, part));
            for part in parts.iter().flatten() {
                let name = payloads(part, tensor::NAME).pop().unwrap_or_default();
                for pair in payloads(part, tensor::EXTERNAL_DATA) {
                    let [key, value] = [entry::KEY, entry::VALUE].map(|field| payloads(&pair, field).pop());
                    if let Some(location) = value.filter(|_| key.is_some_and(|key| key == "location")) {
                        search.location(&String::from_utf8_lossy(&name), &String::from_utf8_lossy(&location), at);
                    }
                }
            }
        });
    }

    fn location(&mut self, name: &str, location: &str, at: u32) {
        if leads_out(location) {
            let message = format!("the data of `{name}` are at `{location}`, outside the folder of the model");
            self.found.push(Outside { path: self.path.clone(), at, message });
        }
    }
}
