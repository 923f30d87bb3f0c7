//! The operations of a graph, by what they have in common but for tensors.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::graph::standard::UPDATE;
use crate::graph::{Graph, Operand, Operation, Output, Primitive, TensorId, Value};
use crate::outline::{ClassId, Leaf, Listing, OperationClass};

/// The operations of a graph. `apart` are tensors that the graph itself has to have, besides its outputs.
pub(super) fn listing(graph: &Graph, apart: &[TensorId]) -> Listing {
    let fixed = graph.outputs.iter().chain(apart).map(|tensor| tensor.0).collect();
    let mut listing = Listing::new(graph.tensors.len() as u32, fixed);
    let mut classes = Classes { graph, known: FxHashMap::default() };
    for operation in &graph.operations {
        let class = classes.class(operation, &mut listing);
        let mut operands = Vec::new();
        graph.each_operand_tensor(operation, |tensor| operands.push(tensor.0));
        listing.push(class, operands, graph.tensors_of(operation).map(|tensor| tensor.0));
    }
    listing
}

/// The class of each operation: those of one class are equal but for tensors, whose types are the same.
#[cfg(feature = "pictures")]
pub(crate) fn operation_classes(graph: &Graph) -> Vec<ClassId> {
    let mut listing = Listing::new(0, Vec::new());
    let mut classes = Classes { graph, known: FxHashMap::default() };
    graph.operations.iter().map(|operation| classes.class(operation, &mut listing)).collect()
}

struct Classes<'g> {
    graph: &'g Graph,
    /// The first operation with each hash, and its class. A different operation with the same hash is like no other one,
    /// so that the time remains linear.
    known: FxHashMap<u64, (&'g Operation, ClassId)>,
}

impl<'g> Classes<'g> {
    fn class(&mut self, operation: &'g Operation, listing: &mut Listing) -> ClassId {
        let graph = self.graph;
        let nothing = graph.tensors_of(operation).next().is_none();
        let alone = nothing || graph.text_of(graph.kind(operation).name) == UPDATE;
        let hash = self.hash(operation);
        match self.known.get(&hash) {
            Some((first, class)) if !alone && self.same(first, operation) => *class,
            known => {
                let sinks = graph.is_function(graph.kind(operation));
                let leaf = if sinks { Leaf::Sinks } else { Leaf::Stays };
                let class = listing.add_class(OperationClass { bytes: self.bytes(operation), leaf });
                if known.is_none() && !alone {
                    self.known.insert(hash, (operation, class));
                }
                class
            }
        }
    }

    fn hash(&self, operation: &Operation) -> u64 {
        let graph = self.graph;
        let mut hasher = FxHasher::default();
        (operation.signature(), operation.type_argument()).hash(&mut hasher);
        for operand in graph.operands_of(operation) {
            match operand {
                Operand::Tensor(_) => 0.hash(&mut hasher),
                Operand::Tensors(tensors) => tensors.len().hash(&mut hasher),
                Operand::Value(value) => value.hash_with(&mut hasher, &|_| TensorId(0)),
            }
        }
        graph.outputs_of(operation).for_each(|output| output.tensors().len().hash(&mut hasher));
        self.types(operation).for_each(|of| of.hash(&mut hasher));
        hasher.finish()
    }

    /// Whether two operations are equal but for tensors, and these have the same types.
    fn same(&self, a: &Operation, b: &Operation) -> bool {
        let graph = self.graph;
        let operands = || graph.operands_of(a).zip(graph.operands_of(b));
        let form = |output: Output| (matches!(output, Output::Tensor(_)), output.tensors().len());
        a.signature() == b.signature()
            && a.type_argument() == b.type_argument()
            && operands().all(|pair| match pair {
                (Operand::Tensor(_), Operand::Tensor(_)) => true,
                (Operand::Tensors(a), Operand::Tensors(b)) => a.len() == b.len(),
                (Operand::Value(a), Operand::Value(b)) => a.is_same(b, &|_, _| true),
                _ => false,
            })
            && graph.outputs_of(a).map(form).eq(graph.outputs_of(b).map(form))
            && self.types(a).eq(self.types(b))
    }

    /// The types of the tensors of an operation, and whether they are written as literals.
    fn types(&self, operation: &Operation) -> impl Iterator<Item = (Option<Primitive>, bool)> {
        let mut tensors: SmallVec<[TensorId; 8]> = SmallVec::new();
        self.graph.each_operand_tensor(operation, |tensor| tensors.push(tensor));
        self.graph.each_result(operation, |tensor| tensors.push(tensor));
        let tables = &self.graph.tensors;
        tensors.into_iter().map(|tensor| (tables[tensor.index()].dtype, tables[tensor.index()].literal))
    }

    /// About the bytes that an operation takes in a text, without the names of tensors.
    fn bytes(&self, operation: &Operation) -> u32 {
        let graph = self.graph;
        let values = graph.operands_of(operation).filter_map(Operand::value).map(bytes_of).sum::<usize>();
        let names = graph.kind(operation).params.len().min(graph.keys(operation).len()) * KEY;
        u32::try_from(STATEMENT + graph.operation_name(operation).len() + names + values).unwrap_or(u32::MAX)
    }
}

/// The bytes of a statement without its names and values: indentation, brackets, line break.
const STATEMENT: usize = 12;
/// The bytes of the name of a parameter.
const KEY: usize = 4;
/// The bytes of a number.
const NUMBER: usize = 4;

/// About the bytes that a value takes in a text.
fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Symbol(text) => text.len() + 2,
        Value::Integers(items) => NUMBER * items.len(),
        Value::Scalars(items) => NUMBER * items.len(),
        Value::Array(items) | Value::Tuple(items) => items.iter().map(bytes_of).sum(),
        Value::Int(_) | Value::Scalar(_) | Value::Logical(_) | Value::Tensor(_) => NUMBER,
    }
}
