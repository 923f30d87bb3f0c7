//! Names of values outside nodes: tensors that tell how another one was quantized, and what training initializes and
//! updates, and what options keep. Passes keep these values, under their names.

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::names::NameId;
use crate::onnx::model::{Fields, GraphProto, ModelProto};
use crate::onnx::protobuf::fields::{annotation, entry, graph as graph_fields, model as model_fields, node, training};
use crate::onnx::protobuf::payloads;
use crate::onnx::walk::each_graph;
use crate::room::with_stack;

/// The values of a model that are named outside nodes.
#[derive(Debug, Default)]
pub(super) struct References {
    /// All of them.
    pub(super) named: FxHashSet<NameId>,
    /// Those that training changes: variables, whatever they are at first.
    pub(super) variables: FxHashSet<NameId>,
    /// The tensors of which is told how they were quantized.
    pub(super) annotated: FxHashSet<NameId>,
}

impl References {
    pub(super) fn of(model: &ModelProto) -> Self {
        let mut texts = Texts::default();
        if let Some(graph) = &model.graph {
            texts.annotated(graph);
        }
        for training in encoded(&model.rest, model_fields::TRAINING) {
            texts.training(&training);
        }
        texts.found.extend(model.kept.iter().map(|name| (Bytes::copy_from_slice(name.as_bytes()), Referred::Used)));
        let (names, mut found) = (&model.names, References::default());
        let mut copies: FxHashMap<&str, Vec<Referred>> = FxHashMap::default();
        for (text, referred) in &texts.found {
            let Ok(text) = std::str::from_utf8(text) else { continue };
            match names.value_named(text) {
                Some(name) => found.add(name, *referred),
                None => copies.entry(text).or_default().push(*referred),
            }
        }
        // The names of copies are spelled only if one of them is wanted.
        let mut spelled = String::new();
        for name in names.all_values().filter(|_| !copies.is_empty()) {
            spelled.clear();
            names.values.write(&names.texts, name, &mut spelled);
            copies.get(&spelled[..]).into_iter().flatten().for_each(|referred| found.add(name, *referred));
        }
        found
    }

    /// The values that stay under their names.
    pub(super) fn kept(self) -> FxHashSet<NameId> {
        let References { mut named, annotated, .. } = self;
        named.extend(annotated);
        named
    }

    fn add(&mut self, name: NameId, referred: Referred) {
        if referred == Referred::Annotated {
            self.annotated.insert(name);
            return;
        }
        self.named.insert(name);
        if referred == Referred::Variable {
            self.variables.insert(name);
        }
    }
}

/// What is told of a value outside nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Referred {
    /// It is used there.
    Used,
    /// Training changes it.
    Variable,
    /// How it was quantized.
    Annotated,
}

/// The names of values outside nodes, and what is told of them.
#[derive(Default)]
struct Texts {
    found: Vec<(Bytes, Referred)>,
}

impl Texts {
    /// The tensors that tell how others were quantized, in a graph and in those inside it.
    fn annotated(&mut self, graph: &GraphProto) {
        for annotation in encoded(&graph.rest, graph_fields::QUANTIZATION_ANNOTATION) {
            let parameters = payloads(&annotation, annotation::PARAMETERS);
            let values = parameters.iter().flat_map(|parameter| payloads(parameter, entry::VALUE));
            self.found.extend(values.map(|text| (text, Referred::Used)));
            let tensors = payloads(&annotation, annotation::TENSOR).into_iter();
            self.found.extend(tensors.map(|text| (text, Referred::Annotated)));
        }
        for attribute in graph.nodes.iter().flat_map(|node| &node.attributes) {
            each_graph(&attribute.value, &mut |inner| with_stack(|| self.annotated(inner)));
        }
    }

    /// What training initializes and updates, and what its nodes read.
    fn training(&mut self, message: &Bytes) {
        for bindings in [training::INITIALIZATION_BINDING, training::UPDATE_BINDING] {
            let keys = payloads(message, bindings).into_iter().flat_map(|binding| payloads(&binding, entry::KEY));
            self.found.extend(keys.map(|text| (text, Referred::Variable)));
        }
        for graph in [training::INITIALIZATION, training::ALGORITHM] {
            let nodes = payloads(message, graph).into_iter().flat_map(|graph| payloads(&graph, graph_fields::NODE));
            let operands = nodes.flat_map(|encoded| payloads(&encoded, node::INPUT));
            self.found.extend(operands.map(|text| (text, Referred::Used)));
        }
    }
}

/// The payloads of the fields with a number.
fn encoded(fields: &Fields, number: u32) -> impl Iterator<Item = Bytes> {
    let fields = fields.iter().flat_map(|fields| fields.iter());
    fields.filter(move |field| field.number == number).filter_map(|field| field.bytes.load().ok())
}
