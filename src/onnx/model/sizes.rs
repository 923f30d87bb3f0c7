//! The sizes of copies of the parts of a model, in memory and in a file. In memory, payloads of fields, strings and
//! elements of tensors are shared by copies.

use smallvec::SmallVec;

use crate::graph::names::NameId;
use crate::source::names::{Name, Names};

use super::{
    AttributeProto, AttributeValue, Fields, GraphProto, NodeProto, ShapeProto, StringEntry, TensorProto, TensorType,
    TypeForm, TypeProto, ValueInfo,
};

impl NodeProto {
    /// The size of a copy in bytes, see [`Self::heap_bytes`].
    pub(crate) fn bytes(&self) -> usize {
        size_of::<NodeProto>() + self.heap_bytes()
    }

    /// The size of a copy in bytes excluding its place in a list of nodes. The nodes of graphs in its attributes are
    /// counted separately.
    pub(crate) fn heap_bytes(&self) -> usize {
        let values = spilled(&self.inputs) + spilled(&self.outputs);
        values + sum(&self.attributes, AttributeProto::heap_bytes) + fields(&self.rest)
    }
}

impl AttributeProto {
    fn heap_bytes(&self) -> usize {
        use AttributeValue as V;
        let value = match &self.value {
            V::None | V::Float(_) | V::Int(_) | V::String(_) => 0,
            V::Tensor(tensor) => sum(std::slice::from_ref(&**tensor), TensorProto::heap_bytes),
            V::Graph(graph) => sum(std::slice::from_ref(&**graph), GraphProto::heap_bytes),
            V::Type(ty) => sum(std::slice::from_ref(&**ty), TypeProto::heap_bytes),
            V::Floats(values) => size_of_val(&values[..]),
            V::Ints(values) => size_of_val(&values[..]),
            V::Strings(values) => size_of_val(&values[..]),
            V::Tensors(tensors) => sum(tensors, TensorProto::heap_bytes),
            V::Graphs(graphs) => sum(graphs, GraphProto::heap_bytes),
            V::Types(types) => sum(types, TypeProto::heap_bytes),
        };
        value + fields(&self.rest)
    }
}

impl GraphProto {
    /// The size of a copy in bytes on the heap, without the nodes.
    fn heap_bytes(&self) -> usize {
        let values = [&self.inputs, &self.outputs, &self.value_info];
        let values = values.iter().map(|values| sum(values, ValueInfo::heap_bytes)).sum::<usize>();
        values + sum(&self.initializers, TensorProto::heap_bytes) + fields(&self.rest)
    }
}

impl TensorProto {
    /// The bytes of its elements and of what else it has on the heap.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.heap_bytes().saturating_add(payloads(&self.rest) as usize)
    }

    fn heap_bytes(&self) -> usize {
        spilled(&self.dims) + sum(&self.external, StringEntry::heap_bytes) + fields(&self.rest)
    }
}

impl StringEntry {
    fn heap_bytes(&self) -> usize {
        let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        text(&self.key) + text(&self.value) + fields(&self.rest)
    }
}

impl ValueInfo {
    /// The size of a copy in bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ty.as_ref().map_or(0, TypeProto::heap_bytes) + fields(&self.rest)
    }
}

impl TypeProto {
    fn heap_bytes(&self) -> usize {
        let part = |ty: &Option<Box<TypeProto>>| ty.as_ref().map_or(0, |ty| size_of::<TypeProto>() + ty.heap_bytes());
        let form = match &self.form {
            TypeForm::None => 0,
            TypeForm::Tensor(ty) | TypeForm::SparseTensor(ty) => ty.heap_bytes(),
            TypeForm::Sequence(ty, rest) | TypeForm::Optional(ty, rest) => part(ty) + fields(rest),
            TypeForm::Map { value, rest, .. } => part(value) + fields(rest),
            TypeForm::Opaque { rest, .. } => fields(rest),
        };
        form + fields(&self.rest)
    }
}

impl TensorType {
    fn heap_bytes(&self) -> usize {
        let shape = |shape: &ShapeProto| sum(&shape.dims, |dim| fields(&dim.rest)) + fields(&shape.rest);
        self.shape.as_ref().map_or(0, shape) + fields(&self.rest)
    }
}

/// The sizes of parts in a protobuf file, up to some bytes for each field. Names are counted with their lengths in a table.
#[derive(Clone, Copy)]
pub(crate) struct PartSizes<'m> {
    pub(crate) texts: &'m Names,
    /// The lengths of the names of values.
    pub(crate) lengths: &'m [u32],
}

/// The bytes of a field excluding its payload.
const FIELD: u64 = 2;

impl PartSizes<'_> {
    fn text(&self, name: Option<Name>) -> u64 {
        name.map_or(0, |name| FIELD + self.texts.text(name).len() as u64)
    }

    fn value(&self, name: NameId) -> u64 {
        FIELD + self.lengths.get(name.index()).map_or(0, |len| u64::from(*len))
    }

    fn values(&self, names: &[NameId]) -> u64 {
        names.iter().map(|name| self.value(*name)).sum()
    }

    /// The size of a node. The nodes of graphs in its attributes are counted separately.
    pub(crate) fn node(&self, of: &NodeProto) -> u64 {
        let values = self.values(&of.inputs) + self.values(&of.outputs) + of.name.map_or(0, |name| self.value(name));
        let texts = self.text(of.op_type) + self.text(of.domain) + self.text(of.overload);
        let attributes = of.attributes.iter().map(|attribute| self.attribute(attribute)).sum::<u64>();
        2 * FIELD + values + texts + attributes + payloads(&of.rest)
    }

    fn attribute(&self, of: &AttributeProto) -> u64 {
        use AttributeValue as V;
        let value = match &of.value {
            V::None | V::Float(_) | V::Int(_) => FIELD + 4,
            V::String(bytes) => FIELD + bytes.len() as u64,
            V::Tensor(tensor) => self.tensor(tensor),
            V::Graph(graph) => self.graph(graph),
            V::Type(ty) => written_type(ty),
            V::Floats(values) => 5 * values.len() as u64,
            V::Ints(values) => values.iter().map(|value| 2 + u64::from((*value as u64 | 1).ilog2() / 7)).sum(),
            V::Strings(values) => values.iter().map(|bytes| FIELD + bytes.len() as u64).sum(),
            V::Tensors(tensors) => tensors.iter().map(|tensor| self.tensor(tensor)).sum(),
            V::Graphs(graphs) => graphs.iter().map(|graph| self.graph(graph)).sum(),
            V::Types(types) => types.iter().map(written_type).sum(),
        };
        2 * FIELD + self.text(of.name) + self.text(of.reference) + value + payloads(&of.rest)
    }

    fn graph(&self, of: &GraphProto) -> u64 {
        let values = [&of.inputs, &of.outputs, &of.value_info].into_iter().flatten();
        let tensors = of.initializers.iter().map(|tensor| self.tensor(tensor)).sum::<u64>();
        let values = values.map(|value| self.value_info(value)).sum::<u64>();
        FIELD + self.text(of.name) + tensors + values + payloads(&of.rest)
    }

    fn tensor(&self, of: &TensorProto) -> u64 {
        let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| FIELD + text.len() as u64);
        let entry = |entry: &StringEntry| FIELD + text(&entry.key) + text(&entry.value) + payloads(&entry.rest);
        let external = of.external.iter().map(entry).sum::<u64>();
        2 * FIELD
            + 2 * of.dims.len() as u64
            + of.name.map_or(0, |name| self.value(name))
            + external
            + payloads(&of.rest)
    }

    /// The size of a value with its type.
    pub(crate) fn value_info(&self, of: &ValueInfo) -> u64 {
        let name = of.name.map_or(0, |name| self.value(name));
        FIELD + name + of.ty.as_ref().map_or(0, written_type) + payloads(&of.rest)
    }
}

/// The size of a type in a file, estimated by its size in memory, with the payloads of its fields.
fn written_type(of: &TypeProto) -> u64 {
    let part = |ty: &Option<Box<TypeProto>>| ty.as_ref().map_or(0, |ty| written_type(ty));
    let tensor = |ty: &TensorType| {
        let dim = |dim: &super::Dim| 3 * FIELD + payloads(&dim.rest);
        let shape = ty.shape.iter().map(|shape| payloads(&shape.rest) + shape.dims.iter().map(dim).sum::<u64>());
        2 * FIELD + shape.sum::<u64>() + payloads(&ty.rest)
    };
    let form = match &of.form {
        TypeForm::None => 0,
        TypeForm::Tensor(ty) | TypeForm::SparseTensor(ty) => tensor(ty),
        TypeForm::Sequence(ty, rest) | TypeForm::Optional(ty, rest) => part(ty) + payloads(rest),
        TypeForm::Map { value, rest, .. } => part(value) + payloads(rest),
        TypeForm::Opaque { rest, .. } => payloads(rest),
    };
    FIELD + form + payloads(&of.rest)
}

/// The size of fields in a file.
fn payloads(fields: &Fields) -> u64 {
    fields.iter().flat_map(|fields| fields.iter()).map(|field| FIELD + field.bytes.len() as u64).sum()
}

/// The size of a copy of a list, with the bytes of its items on the heap.
fn sum<T>(items: &[T], heap_bytes: impl Fn(&T) -> usize) -> usize {
    size_of_val(items) + items.iter().map(heap_bytes).sum::<usize>()
}

/// The size of a copy of fields; their payloads are shared.
fn fields(fields: &Fields) -> usize {
    fields.as_ref().map_or(0, |fields| size_of_val(&fields[..]))
}

/// The size of a copy of a short list on the heap.
fn spilled<A: smallvec::Array>(items: &SmallVec<A>) -> usize {
    if items.spilled() { size_of_val(&items[..]) } else { 0 }
}
