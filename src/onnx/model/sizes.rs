//! The sizes of copies of the parts of a model. Payloads of fields, strings and elements of tensors are shared by copies.

use smallvec::SmallVec;

use super::{
    Attribute, AttributeValue, Entry, Fields, Graph, Node, Shape, Tensor, TensorType, Type, TypeForm, ValueInfo,
};

impl Node {
    /// The size of a copy in bytes, see [`Self::heap_bytes`].
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Node>() + self.heap_bytes()
    }

    /// The size of a copy in bytes besides its place in a list of nodes. The nodes of graphs in its attributes are
    /// counted separately.
    pub(crate) fn heap_bytes(&self) -> usize {
        let values = spilled(&self.inputs) + spilled(&self.outputs);
        values + sum(&self.attributes, Attribute::heap_bytes) + fields(&self.rest)
    }
}

impl Attribute {
    fn heap_bytes(&self) -> usize {
        use AttributeValue as V;
        let value = match &self.value {
            V::None | V::Float(_) | V::Int(_) | V::String(_) => 0,
            V::Tensor(tensor) => sum(std::slice::from_ref(&**tensor), Tensor::heap_bytes),
            V::Graph(graph) => sum(std::slice::from_ref(&**graph), Graph::heap_bytes),
            V::Type(ty) => sum(std::slice::from_ref(&**ty), Type::heap_bytes),
            V::Floats(values) => size_of_val(&values[..]),
            V::Ints(values) => size_of_val(&values[..]),
            V::Strings(values) => size_of_val(&values[..]),
            V::Tensors(tensors) => sum(tensors, Tensor::heap_bytes),
            V::Graphs(graphs) => sum(graphs, Graph::heap_bytes),
            V::Types(types) => sum(types, Type::heap_bytes),
        };
        value + fields(&self.rest)
    }
}

impl Graph {
    /// The size of a copy in bytes on the heap, without the nodes.
    fn heap_bytes(&self) -> usize {
        let values = [&self.inputs, &self.outputs, &self.value_info];
        let values = values.iter().map(|values| sum(values, ValueInfo::heap_bytes)).sum::<usize>();
        values + sum(&self.initializers, Tensor::heap_bytes) + fields(&self.rest)
    }
}

impl Tensor {
    fn heap_bytes(&self) -> usize {
        spilled(&self.dims) + sum(&self.external, Entry::heap_bytes) + fields(&self.rest)
    }
}

impl Entry {
    fn heap_bytes(&self) -> usize {
        let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        text(&self.key) + text(&self.value) + fields(&self.rest)
    }
}

impl ValueInfo {
    /// The size of a copy in bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ty.as_ref().map_or(0, Type::heap_bytes) + fields(&self.rest)
    }
}

impl Type {
    fn heap_bytes(&self) -> usize {
        let part = |ty: &Option<Box<Type>>| ty.as_ref().map_or(0, |ty| size_of::<Type>() + ty.heap_bytes());
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
        let shape = |shape: &Shape| sum(&shape.dims, |dim| fields(&dim.rest)) + fields(&shape.rest);
        self.shape.as_ref().map_or(0, shape) + fields(&self.rest)
    }
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
