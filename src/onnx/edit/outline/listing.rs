//! The nodes of a graph, by what they have in common but for values.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::graph::names::NameId;
use crate::onnx::edit::pure::schema_of;
use crate::onnx::edit::share::{hash_value, same_attribute};
use crate::onnx::edit::unused::uses_of;
use crate::onnx::functions::Imports;
use crate::onnx::model::{AttributeValue, GraphProto, ModelProto, NodeProto, Values};
use crate::onnx::protobuf::fields::node as fields;
use crate::outline::{ClassId, Leaf, Listing, OperationClass};

/// The nodes of the graph of a model.
pub(super) fn listing(model: &ModelProto, graph: &GraphProto) -> Listing {
    let ends = graph.outputs.iter().chain(&graph.inputs);
    let fixed = ends.filter_map(|value| value.name).map(value).collect();
    let mut listing = Listing::new(model.names.values.len() as u32, fixed);
    let imports = Imports::new(&model.names, &model.opsets);
    let mut classes = Classes { model, imports, known: FxHashMap::default() };
    for node in &graph.nodes {
        let class = classes.class(node, &mut listing);
        listing.push(class, operands(node).into_iter().map(value), named(&node.outputs).map(value));
    }
    listing
}

fn value(name: NameId) -> u32 {
    name.index() as u32
}

/// The values that a node uses, also in its graphs.
fn operands(node: &NodeProto) -> Vec<NameId> {
    if !node.has_graphs() {
        return named(&node.inputs).collect();
    }
    let mut used = FxHashSet::default();
    uses_of(node, &mut used);
    let mut used: Vec<NameId> = used.into_iter().collect();
    used.sort_unstable();
    used
}

/// Values without those that are left out.
pub(super) fn named(values: &Values) -> impl Iterator<Item = NameId> {
    values.iter().copied().filter(|name| *name != NameId::ROOT)
}

/// The field of the documentation of a node.
const DOC_STRING: u32 = 6;

struct Classes<'m> {
    model: &'m ModelProto,
    imports: Imports,
    /// The first node with each hash, and its class. A different node with the same hash is like no other one, so that the
    /// time remains linear.
    known: FxHashMap<u64, (&'m NodeProto, ClassId)>,
}

impl<'m> Classes<'m> {
    fn class(&mut self, node: &'m NodeProto, listing: &mut Listing) -> ClassId {
        let alone = named(&node.outputs).next().is_none() || node.has_graphs() || !is_plain(node);
        let hash = hash(node);
        match self.known.get(&hash) {
            Some((first, class)) if !alone && same(first, node) => *class,
            known => {
                let sinks = schema_of(&self.model.names, &self.imports, node).is_some();
                let leaf = if sinks { Leaf::Sinks } else { Leaf::Stays };
                let class = listing.add_class(OperationClass { bytes: self.bytes(node), leaf });
                if known.is_none() && !alone {
                    self.known.insert(hash, (node, class));
                }
                class
            }
        }
    }

    /// About the bytes that a node takes in a text, without the names of values.
    fn bytes(&self, node: &NodeProto) -> u32 {
        let attributes = node.attributes.iter().map(|attribute| ATTRIBUTE + bytes_of(&attribute.value)).sum::<usize>();
        let (_, operator) = self.model.names.operator(node);
        u32::try_from(NODE + operator.len() + attributes).unwrap_or(u32::MAX)
    }
}

/// The bytes of a node without its names and attributes: indentation, brackets, line break.
const NODE: usize = 10;
/// The bytes of the name of an attribute and its type.
const ATTRIBUTE: usize = 14;
/// The bytes of a number.
const NUMBER: usize = 3;

/// About the bytes that an attribute takes in a text.
fn bytes_of(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::String(text) => text.len(),
        AttributeValue::Ints(items) => NUMBER * items.len(),
        AttributeValue::Floats(items) => NUMBER * items.len(),
        AttributeValue::Tensor(tensor) => {
            let fields = tensor.rest.iter().flat_map(|fields| fields.iter());
            NUMBER * tensor.dims.len() + fields.map(|field| field.bytes.len()).sum::<usize>()
        }
        _ => NUMBER,
    }
}

/// Whether a node has nothing but what a function can have, and what is told of it.
fn is_plain(node: &NodeProto) -> bool {
    let told = |number: u32| number == DOC_STRING || number == fields::METADATA;
    let refers = node.attributes.iter().any(|attribute| attribute.reference.is_some());
    !refers && node.rest.iter().flat_map(|fields| fields.iter()).all(|field| told(field.number))
}

fn hash(node: &NodeProto) -> u64 {
    let mut hasher = FxHasher::default();
    (node.op_type, node.domain, node.overload).hash(&mut hasher);
    for values in [&node.inputs, &node.outputs] {
        values.len().hash(&mut hasher);
        values.iter().for_each(|name| (*name == NameId::ROOT).hash(&mut hasher));
    }
    for attribute in &node.attributes {
        attribute.name.hash(&mut hasher);
        hash_value(&attribute.value, &mut hasher);
    }
    hasher.finish()
}

/// Whether two nodes are equal but for values.
fn same(a: &NodeProto, b: &NodeProto) -> bool {
    let form = |values: &Values| values.iter().map(|name| *name == NameId::ROOT).collect::<Vec<_>>();
    (a.op_type, a.domain, a.overload) == (b.op_type, b.domain, b.overload)
        && form(&a.inputs) == form(&b.inputs)
        && form(&a.outputs) == form(&b.outputs)
        && a.attributes.len() == b.attributes.len()
        && a.attributes.iter().zip(&b.attributes).all(|(a, b)| same_attribute(a, b))
}
