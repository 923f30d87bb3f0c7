//! The search for tensors with external data in a model or in a part of one.

use bytes::Bytes;

use super::place::{self, Wrong};
use super::stored::{PathStep, Stored};
use crate::diagnostics::Code;
use crate::onnx::contents::FieldBytes;
use crate::onnx::model::{
    AttributeProto, AttributeValue, EncodedField, Fields, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto,
    TensorProto, Wire,
};
use crate::onnx::protobuf::fields::{attribute, graph, model, sparse, training};
use crate::onnx::protobuf::reader::merged;
use crate::onnx::protobuf::{self, EncodedPart};

/// The tensors with external data in a model or in a part of one: in graphs, attributes and functions, in training
/// information and in sparse tensors, which are not decoded otherwise.
pub(in crate::onnx) fn stored(names: &ModelNames, part: EncodedPart) -> Vec<Stored> {
    let mut search = Search { names, path: Vec::new(), found: Vec::new() };
    match part {
        EncodedPart::Model(model) => search.model(model),
        EncodedPart::Graph(graph) => search.graph(graph),
        EncodedPart::Function(function) => search.function(function),
        EncodedPart::Node(node) => search.node(node),
    }
    search.found
}

struct Search<'m> {
    names: &'m ModelNames,
    path: Vec<PathStep>,
    found: Vec<Stored>,
}

impl Search<'_> {
    fn within(&mut self, step: PathStep, run: impl FnOnce(&mut Self)) {
        self.path.push(step);
        run(self);
        self.path.pop();
    }

    fn each<T>(&mut self, field: &'static str, items: &[T], run: impl Fn(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            self.within((field, Some(i)), |search| run(search, item));
        }
    }

    /// Searches a part that has names of its own.
    fn apart(&mut self, names: &ModelNames, run: impl FnOnce(&mut Search)) {
        let (path, found) = (std::mem::take(&mut self.path), std::mem::take(&mut self.found));
        let mut search = Search { names, path, found };
        run(&mut search);
        (self.path, self.found) = (search.path, search.found);
    }

    fn wrong(&mut self, at: u32, code: Code, message: String) {
        self.found.push(Stored { path: self.path.clone(), at, place: Err(Wrong { code, message }) });
    }

    pub(super) fn model(&mut self, of: &ModelProto) {
        of.graph.iter().for_each(|graph| self.within(("graph", None), |search| search.graph(graph)));
        self.each("functions", &of.functions, Search::function);
        self.each("training_info", &encoded(&of.rest, model::TRAINING), |search, info| {
            // The document reports that its file cannot be read, here and below.
            let Ok(info) = &info.load() else { return };
            for (field, number) in [("initialization", training::INITIALIZATION), ("algorithm", training::ALGORITHM)] {
                let Some(bytes) = merged(info, number) else { continue };
                search.within((field, None), |search| match protobuf::decode_graph(&bytes) {
                    Ok((graph, names)) => search.apart(&names, |search| search.graph(&graph)),
                    Err(error) => search.wrong(0, Code::OnnxProtobuf, error.message),
                });
            }
        });
    }

    fn graph(&mut self, of: &GraphProto) {
        let start = of.nodes.first().map_or(0, |node| node.at);
        self.each("initializer", &of.initializers, |search, tensor| search.tensor(tensor, start));
        self.each("sparse_initializer", &encoded(&of.rest, graph::SPARSE_INITIALIZER), |search, bytes| {
            bytes.load().iter().for_each(|bytes| search.sparse(bytes, start));
        });
        self.each("node", &of.nodes, Self::node);
    }

    fn function(&mut self, of: &FunctionProto) {
        self.each("attribute_proto", &of.defaults, |search, default| search.attribute(default, of.at));
        self.each("node", &of.nodes, Self::node);
    }

    pub(super) fn node(&mut self, of: &NodeProto) {
        self.each("attribute", &of.attributes, |search, attribute| search.attribute(attribute, of.at));
    }

    pub(super) fn attribute(&mut self, of: &AttributeProto, at: u32) {
        match &of.value {
            AttributeValue::Graph(graph) => self.within(("g", None), |search| search.graph(graph)),
            AttributeValue::Graphs(graphs) => self.each("graphs", graphs, Self::graph),
            AttributeValue::Tensor(tensor) => self.within(("t", None), |search| search.tensor(tensor, at)),
            AttributeValue::Tensors(tensors) => {
                self.each("tensors", tensors, |search, tensor| search.tensor(tensor, at));
            }
            _ => {}
        }
        let single = encoded(&of.rest, attribute::SPARSE_TENSOR);
        if !single.is_empty() {
            let parts: Vec<Bytes> = single.iter().filter_map(|part| part.load().ok()).collect();
            self.within(("sparse_tensor", None), |search| search.sparse(&Bytes::from(parts.concat()), at));
        }
        self.each("sparse_tensors", &encoded(&of.rest, attribute::SPARSE_TENSORS), |search, bytes| {
            bytes.load().iter().for_each(|bytes| search.sparse(bytes, at));
        });
    }

    fn tensor(&mut self, of: &TensorProto, at: u32) {
        let name = of.name.map_or("", |name| self.names.text(name));
        if let Some(place) = place::of(of, name) {
            self.found.push(Stored { path: self.path.clone(), at, place });
        }
    }

    fn sparse(&mut self, of: &Bytes, at: u32) {
        for number in [sparse::VALUES, sparse::INDICES] {
            let Some(bytes) = merged(of, number) else { continue };
            match protobuf::decode_tensor(&bytes) {
                Ok((tensor, names)) => self.apart(&names, |search| search.tensor(&tensor, at)),
                Err(error) => self.wrong(at, Code::OnnxProtobuf, error.message),
            }
        }
    }
}

/// The encoded messages of a field.
fn encoded(fields: &Fields, number: u32) -> Vec<FieldBytes> {
    let fields = fields.iter().flat_map(|fields| fields.iter());
    let wanted = |field: &&EncodedField| field.number == number && field.wire == Wire::Bytes;
    fields.filter(wanted).map(|field| field.bytes.clone()).collect()
}
