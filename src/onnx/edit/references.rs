//! Names of values outside nodes: tensors that tell how another one was quantized, and what training initializes and
//! updates. Passes keep these values, under their names.

use bytes::Bytes;
use rustc_hash::FxHashSet;

use crate::graph::names::NameId;
use crate::onnx::inline::each_graph;
use crate::onnx::model::{Fields, GraphProto, ModelNames, ModelProto};
use crate::onnx::protobuf::fields::{annotation, entry, graph as graph_fields, model as model_fields, node, training};
use crate::onnx::protobuf::payloads;
use crate::room::with_stack;

/// The values of a model that are named outside nodes.
#[derive(Debug, Default)]
pub(super) struct References {
    /// All of them.
    pub(super) named: FxHashSet<NameId>,
    /// Those that training changes: variables, whatever they are at first.
    pub(super) variables: FxHashSet<NameId>,
}

impl References {
    pub(super) fn of(model: &ModelProto) -> Self {
        let mut found = References::default();
        if let Some(graph) = &model.graph {
            found.annotated(&model.names, graph);
        }
        for training in encoded(&model.rest, model_fields::TRAINING) {
            found.training(&model.names, &training);
        }
        found.named.extend(&found.variables);
        found
    }

    /// The tensors that tell how others were quantized, in a graph and in those inside it.
    fn annotated(&mut self, names: &ModelNames, graph: &GraphProto) {
        for annotation in encoded(&graph.rest, graph_fields::QUANTIZATION_ANNOTATION) {
            let parameters = payloads(&annotation, annotation::PARAMETERS);
            let values = parameters.iter().flat_map(|parameter| payloads(parameter, entry::VALUE));
            self.named.extend(values.filter_map(|text| named(names, &text)));
        }
        for attribute in graph.nodes.iter().flat_map(|node| &node.attributes) {
            each_graph(&attribute.value, &mut |inner| with_stack(|| self.annotated(names, inner)));
        }
    }

    /// What training initializes and updates, and what its nodes read.
    fn training(&mut self, names: &ModelNames, message: &Bytes) {
        for bindings in [training::INITIALIZATION_BINDING, training::UPDATE_BINDING] {
            let keys = payloads(message, bindings).into_iter().flat_map(|binding| payloads(&binding, entry::KEY));
            self.variables.extend(keys.filter_map(|text| named(names, &text)));
        }
        for graph in [training::INITIALIZATION, training::ALGORITHM] {
            let nodes = payloads(message, graph).into_iter().flat_map(|graph| payloads(&graph, graph_fields::NODE));
            let operands = nodes.flat_map(|encoded| payloads(&encoded, node::INPUT));
            self.named.extend(operands.filter_map(|text| named(names, &text)));
        }
    }
}

/// The payloads of the fields with a number.
fn encoded(fields: &Fields, number: u32) -> impl Iterator<Item = Bytes> {
    let fields = fields.iter().flat_map(|fields| fields.iter());
    fields.filter(move |field| field.number == number).filter_map(|field| field.bytes.load().ok())
}

/// The value with a name.
fn named(names: &ModelNames, text: &Bytes) -> Option<NameId> {
    names.value_named(std::str::from_utf8(text).ok()?)
}
