//! Merges equal nodes and equal constants: of several with the same operands and attributes, the first one stays.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::pure;
use super::references::References;
use crate::graph::names::NameId;
use crate::onnx::elements::raw_data;
use crate::onnx::functions::Imports;
use crate::onnx::model::{
    AttributeProto, AttributeValue, EncodedField, GraphProto, ModelNames, ModelProto, NodeProto, TensorProto, Values,
};
use crate::onnx::protobuf::fields::tensor as tensor_fields;
use crate::onnx::run::numbers_as_raw;
use crate::onnx::schema::Schema;
use crate::onnx::walk::{each_graph_mut, own_names};
use crate::room::with_stack;
use crate::source::names::Name;

/// The most bytes at each end of data that a hash looks at; comparisons look at all.
const HASHED: usize = 64;

/// The most bytes of data that are compared whatever their form is.
const COMPARED: usize = 1 << 20;

/// Merges equal nodes and constants of the graphs and functions of a model. Returns how many were merged.
///
/// Outputs of graphs keep their names, and nodes whose results depend on more than their operands are left alone: random
/// numbers, operators without a schema, control flow.
pub(crate) fn share(model: &mut ModelProto) -> u64 {
    let named = References::of(model).kept();
    let ModelProto { names, graph, functions, opsets, .. } = model;
    let mut sharing = Sharing::new(names, Imports::new(names, opsets));
    sharing.named = named;
    if let Some(graph) = graph {
        sharing.graph(graph);
    }
    let mut merged = sharing.merged;
    for function in functions {
        let mut sharing = Sharing::new(names, Imports::new(names, &function.opsets));
        let fixed = function.inputs.iter().chain(&function.outputs).copied().collect();
        sharing.nodes(&mut function.nodes, &fixed);
        let replaced = &sharing.replaced;
        function.value_info.retain(|value| !value.name.is_some_and(|name| replaced.contains_key(&name)));
        merged += sharing.merged;
    }
    merged
}

/// What makes two nodes or constants equal.
#[derive(Clone, Debug)]
enum Shared {
    Node {
        operator: Option<Name>,
        domain: Option<Name>,
        inputs: Values,
        attributes: Vec<AttributeProto>,
        outputs: Values,
    },
    Constant(TensorProto),
}

impl Shared {
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match self {
            Shared::Node { operator, domain, inputs, attributes, outputs } => {
                (operator, domain, inputs, outputs.len()).hash(&mut hasher);
                for attribute in attributes {
                    attribute.name.hash(&mut hasher);
                    hash_value(&attribute.value, &mut hasher);
                }
            }
            Shared::Constant(tensor) => hash_tensor(tensor, &mut hasher),
        }
        hasher.finish()
    }

    /// Whether the other one has the same results, and this one has names for all that the other one names.
    fn covers(&self, other: &Shared) -> bool {
        match (self, other) {
            (
                Shared::Node { operator, domain, inputs, attributes, outputs },
                Shared::Node { operator: other, domain: of, inputs: from, attributes: with, outputs: to },
            ) => {
                let named = |(own, other): (&NameId, &NameId)| *own != NameId::ROOT || *other == NameId::ROOT;
                (operator, domain, inputs) == (other, of, from)
                    && outputs.len() == to.len()
                    && outputs.iter().zip(to).all(named)
                    && attributes.len() == with.len()
                    && attributes.iter().zip(with).all(|(a, b)| same_attribute(a, b))
            }
            (Shared::Constant(a), Shared::Constant(b)) => same_tensor(a, b),
            _ => false,
        }
    }
}

pub(super) fn hash_value(value: &AttributeValue, hasher: &mut FxHasher) {
    match value {
        AttributeValue::Float(value) => value.to_bits().hash(hasher),
        AttributeValue::Int(value) => value.hash(hasher),
        AttributeValue::Ints(values) => values.hash(hasher),
        AttributeValue::Floats(values) => values.iter().for_each(|value| value.to_bits().hash(hasher)),
        AttributeValue::String(value) => value.hash(hasher),
        AttributeValue::Tensor(tensor) => hash_tensor(tensor, hasher),
        _ => {}
    }
}

fn hash_tensor(tensor: &TensorProto, hasher: &mut FxHasher) {
    (&tensor.dims, tensor.data_type).hash(hasher);
    let ends = |len: usize| [0..len.min(HASHED), len.saturating_sub(HASHED)..len].into_iter();
    let numbers = numbers(tensor);
    let data = fields(tensor).filter(|field| is_data(field) && numbers.is_none());
    for field in fields(tensor).filter(|field| !is_data(field)).chain(data) {
        let bytes = &field.bytes;
        (field.number, bytes.len()).hash(hasher);
        ends(bytes.len()).filter_map(|end| bytes.part(end).ok()).for_each(|end| end.hash(hasher));
    }
    if let Some(numbers) = numbers {
        (tensor_fields::RAW_DATA, numbers.len()).hash(hasher);
        ends(numbers.len()).for_each(|end| numbers[end].hash(hasher));
    }
}

fn fields(of: &TensorProto) -> impl Iterator<Item = &EncodedField> {
    of.rest.iter().flat_map(|fields| fields.iter())
}

/// Whether a field has elements, be they raw data or numbers.
fn is_data(field: &EncodedField) -> bool {
    use tensor_fields as f;
    [f::RAW_DATA, f::FLOAT_DATA, f::INT32_DATA, f::INT64_DATA, f::DOUBLE_DATA, f::UINT64_DATA].contains(&field.number)
}

/// The elements of a tensor that has numbers in fields of their own, as raw data has them, unless they are too many: what
/// is read from a text has numbers, and what is computed has raw data.
fn numbers(of: &TensorProto) -> Option<Vec<u8>> {
    let len: usize = fields(of).filter(|field| is_data(field)).map(|field| field.bytes.len()).sum();
    if len <= COMPARED { numbers_as_raw(of) } else { None }
}

/// Whether two attributes are equal. Zeros of different signs are not, and neither are references to attributes.
pub(super) fn same_attribute(a: &AttributeProto, b: &AttributeProto) -> bool {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    a.name == b.name
        && a.reference == b.reference
        && match (&a.value, &b.value) {
            (AttributeValue::Float(a), AttributeValue::Float(b)) => a.to_bits() == b.to_bits(),
            (AttributeValue::Floats(a), AttributeValue::Floats(b)) => bits(a) == bits(b),
            (AttributeValue::Tensor(a), AttributeValue::Tensor(b)) => same_tensor(a, b),
            (a, b) => a == b,
        }
}

/// Whether two tensors have the same elements. Those of large ones are the same in the same form only.
pub(super) fn same_tensor(a: &TensorProto, b: &TensorProto) -> bool {
    let is_raw = |of, numbers: &[u8]| {
        let raw = raw_data(of).filter(|raw| raw.bytes.len() == numbers.len());
        raw.and_then(|raw| raw.bytes.load().ok()).is_some_and(|raw| raw == numbers)
    };
    let same_data = || match (numbers(a), numbers(b)) {
        (Some(a), Some(b)) => a == b,
        (Some(numbers), None) => is_raw(b, &numbers),
        (None, Some(numbers)) => is_raw(a, &numbers),
        // The same form, and not the same fields.
        (None, None) => false,
    };
    let others = |of| fields(of).filter(|field| !is_data(field));
    a.dims == b.dims
        && a.data_type == b.data_type
        && a.external == b.external
        && (a.rest == b.rest || others(a).eq(others(b)) && same_data())
}

/// What the end of a scope undoes.
enum Undo {
    /// The last entry with a hash.
    Shared(u64),
    /// What replaced a name before.
    Replaced(NameId, Option<NameId>),
}

struct Sharing<'n> {
    names: &'n ModelNames,
    imports: Imports,
    /// The values with a reference outside nodes, which are not merged.
    named: FxHashSet<NameId>,
    /// The visible nodes and constants by their hashes, with the names of their results.
    shared: FxHashMap<u64, Vec<(Shared, Values)>>,
    /// The results of merged nodes, with those that replace them.
    replaced: FxHashMap<NameId, NameId>,
    undo: Vec<Undo>,
    merged: u64,
}

impl<'n> Sharing<'n> {
    fn new(names: &'n ModelNames, imports: Imports) -> Self {
        Sharing {
            names,
            imports,
            named: FxHashSet::default(),
            shared: FxHashMap::default(),
            replaced: FxHashMap::default(),
            undo: Vec::new(),
            merged: 0,
        }
    }

    /// Merges in a graph and the graphs inside it, of which each sees what is around it.
    fn graph(&mut self, graph: &mut GraphProto) {
        let mark = self.undo.len();
        for name in own_names(graph) {
            let before = self.replaced.remove(&name);
            self.undo.push(Undo::Replaced(name, before));
        }
        let ends = graph.inputs.iter().chain(&graph.outputs);
        let mut fixed: FxHashSet<NameId> = ends.filter_map(|value| value.name).collect();
        fixed.extend(&self.named);
        let constants = std::mem::take(&mut graph.initializers);
        graph.initializers = constants.into_iter().filter(|constant| self.keeps_constant(constant, &fixed)).collect();
        self.nodes(&mut graph.nodes, &fixed);
        for output in &mut graph.outputs {
            output.name = output.name.map(|name| self.replacement(name));
        }
        let replaced = &self.replaced;
        graph.value_info.retain(|value| !value.name.is_some_and(|name| replaced.contains_key(&name)));
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Shared(hash) => _ = self.shared.get_mut(&hash).and_then(Vec::pop),
                Undo::Replaced(name, Some(before)) => _ = self.replaced.insert(name, before),
                Undo::Replaced(name, None) => _ = self.replaced.remove(&name),
            }
        }
    }

    fn replacement(&self, name: NameId) -> NameId {
        self.replaced.get(&name).copied().unwrap_or(name)
    }

    fn keeps_constant(&mut self, constant: &TensorProto, fixed: &FxHashSet<NameId>) -> bool {
        let Some(name) = constant.name.filter(|name| !fixed.contains(name)) else { return true };
        let shared = Shared::Constant(TensorProto { name: None, ..constant.clone() });
        self.keeps(shared, Values::from_slice(&[name]))
    }

    /// Merges nodes, of which some results have fixed names.
    fn nodes(&mut self, nodes: &mut Vec<NodeProto>, fixed: &FxHashSet<NameId>) {
        let all = std::mem::take(nodes);
        nodes.reserve(all.len());
        for mut node in all {
            node.inputs.iter_mut().for_each(|input| *input = self.replacement(*input));
            for attribute in &mut node.attributes {
                each_graph_mut(&mut attribute.value, &mut |graph| with_stack(|| self.graph(graph)));
            }
            let is_fixed = node.outputs.iter().any(|output| fixed.contains(output));
            let keeps = match self.key(&node) {
                Some(shared) if is_fixed => {
                    self.record(shared.hash(), shared, node.outputs.clone());
                    true
                }
                Some(shared) => self.keeps(shared, node.outputs.clone()),
                None => true,
            };
            if keeps {
                nodes.push(node);
            }
        }
    }

    /// Whether there is nothing equal yet; else results are replaced by those of the first one.
    fn keeps(&mut self, shared: Shared, results: Values) -> bool {
        let hash = shared.hash();
        let known = self.shared.get(&hash);
        let Some((_, first)) = known.into_iter().flatten().find(|(known, _)| known.covers(&shared)) else {
            self.record(hash, shared, results);
            return true;
        };
        for (result, first) in results.iter().zip(first).filter(|(result, _)| **result != NameId::ROOT) {
            self.undo.push(Undo::Replaced(*result, self.replaced.insert(*result, *first)));
        }
        self.merged += 1;
        false
    }

    fn record(&mut self, hash: u64, shared: Shared, results: Values) {
        self.shared.entry(hash).or_default().push((shared, results));
        self.undo.push(Undo::Shared(hash));
    }

    /// What makes a node equal to another one; none for nodes that are left alone.
    fn key(&self, node: &NodeProto) -> Option<Shared> {
        let (schema, _) = pure::schema_of(self.names, &self.imports, node)?;
        let mut inputs = node.inputs.clone();
        while inputs.last() == Some(&NameId::ROOT) {
            inputs.pop();
        }
        let mut attributes: Vec<AttributeProto> =
            node.attributes.iter().filter(|attribute| !self.is_default(attribute, schema)).cloned().collect();
        attributes.sort_by_key(|attribute| attribute.name);
        let domain = node.domain.filter(|_| !self.names.operator(node).0.is_empty());
        Some(Shared::Node { operator: node.op_type, domain, inputs, attributes, outputs: node.outputs.clone() })
    }

    /// Whether an attribute has its default, or does not matter.
    fn is_default(&self, attribute: &AttributeProto, schema: &Schema) -> bool {
        let name = attribute.name.map_or("", |name| self.names.texts.text(name));
        let row = schema.attributes.iter().find(|row| row.name == name);
        row.is_some_and(|row| attribute.reference.is_none() && row.is_default(&attribute.value))
    }
}
