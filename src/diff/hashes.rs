//! Hashes of operations: of what they are computed from, and of what is computed from them.
//!
//! Operations with equal hashes `forward` compute the same from the inputs, those with equal hashes `below` are used in
//! the same way up to the outputs. Their keys are random, so that no graph is made to collide.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use rustc_hash::FxHashMap;

use super::difference::Compared;
use super::ends::EndPairs;
use crate::Graph;
use crate::graph::names::Spellings;
use crate::graph::{Key, Operand, Operation, OperationId, Output, TensorId, Value};
use crate::threads::both;

/// Lists of more items are hashed once: many operations may share them.
const LONG: usize = 16;

/// The hashes of a graph.
pub(super) struct GraphHashes<'g> {
    pub(super) graph: &'g Graph,
    /// Of each operation: its name.
    pub(super) kind: Vec<u64>,
    /// Of each operation: all that is not a tensor.
    pub(super) label: Vec<u64>,
    /// Of each operation: its operands.
    pub(super) above: Vec<u64>,
    /// Of each operation: itself, its data and its operands.
    pub(super) forward: Vec<u64>,
    /// Of each operation: the operations that use its results, and in what place.
    pub(super) below: Vec<u64>,
    /// Of each operation: the name of its first result, and of its kind.
    pub(super) hint: Vec<u64>,
    /// Of each tensor: how it is computed.
    pub(super) value: Vec<u64>,
    /// Of each tensor: its position among the results of its operation.
    pub(super) place: Vec<u32>,
    hashing: Hashing,
}

/// A hasher of words with secret keys, by multiplication: most of what is hashed are a few words.
struct FoldedHasher {
    state: u64,
    factor: u64,
}

impl Hasher for FoldedHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(self.factor);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.factor.rotate_left(32) | 1);
        product as u64 ^ (product >> 64) as u64
    }
}

/// An argument that is a tensor: its parameter with its position there, and the tensor.
pub(super) type OperandPlace = (u64, TensorId);

/// What hashes of both graphs have in common.
#[derive(Clone)]
struct Hashing {
    keys: [u64; 2],
    /// The hashes of long lists, by the place where they are stored.
    long: FxHashMap<(usize, usize), u64>,
}

impl Hashing {
    fn hasher(&self) -> FoldedHasher {
        FoldedHasher { state: self.keys[0], factor: self.keys[1] }
    }

    fn of(&self, parts: impl Hash) -> u64 {
        let mut hasher = self.hasher();
        parts.hash(&mut hasher);
        hasher.finish()
    }

    /// Where the items of a value are stored, and how many they are.
    fn place(value: &Value) -> (usize, usize) {
        match value {
            Value::Integers(items) => (items.as_ptr() as usize, items.len()),
            Value::Scalars(items) => (items.as_ptr() as usize, items.len()),
            Value::Array(items) | Value::Tuple(items) => (items.as_ptr() as usize, items.len()),
            Value::String(text) | Value::Symbol(text) => (text.as_ptr() as usize, text.len()),
            _ => (0, 0),
        }
    }

    fn value(&mut self, value: &Value) -> u64 {
        let place = Self::place(value);
        if place.1 > LONG
            && let Some(known) = self.long.get(&place)
        {
            return *known;
        }
        let mut hasher = self.hasher();
        value.hash_with(&mut hasher, &|_| TensorId(0));
        let hash = hasher.finish();
        if place.1 > LONG {
            self.long.insert(place, hash);
        }
        hash
    }
}

/// The hashes of both graphs, with the same keys.
pub(super) fn of_both<'g>(sides: &[Compared<'g>; 2]) -> [GraphHashes<'g>; 2] {
    let graphs = [sides[0].graph, sides[1].graph];
    let inputs = EndPairs::inputs(graphs).numbers();
    let outputs = EndPairs::outputs(graphs).numbers();
    let random = RandomState::new();
    let keys = [random.hash_one(0), random.hash_one(1) | 1];
    let hashing = Hashing { keys, long: FxHashMap::default() };
    let of = |side: usize| {
        let mut hashes = GraphHashes::new(graphs[side], hashing.clone());
        hashes.go_down(&inputs[side], &sides[side].digests);
        hashes.go_up(&outputs[side]);
        hashes
    };
    // Without a second thread, one after the other.
    both(|| of(0), || of(1)).map_or_else(|_| [of(0), of(1)], |(a, b)| [a, b])
}

impl<'g> GraphHashes<'g> {
    fn new(graph: &'g Graph, hashing: Hashing) -> Self {
        let (operations, tensors) = (graph.operations.len(), graph.tensors.len());
        let kinds: Vec<u64> = graph.kinds.iter().map(|kind| hashing.of(graph.text_of(kind.name))).collect();
        let kind = graph.operations.iter().map(|operation| kinds[graph.kind_id(operation).index()]).collect();
        GraphHashes {
            graph,
            kind,
            label: Vec::with_capacity(operations),
            above: Vec::with_capacity(operations),
            forward: Vec::with_capacity(operations),
            below: vec![0; operations],
            hint: Vec::with_capacity(operations),
            value: vec![0; tensors],
            place: vec![0; tensors],
            hashing,
        }
    }

    /// The hash of a long value, which may be shared by many operations.
    pub(super) fn known(&self, value: &Value) -> Option<u64> {
        self.hashing.long.get(&Hashing::place(value)).copied()
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.label.len()
    }

    /// The position of the operation that produces a tensor.
    pub(super) fn producer(&self, tensor: TensorId) -> Option<usize> {
        self.graph.tensors[tensor.index()].producer.map(OperationId::index)
    }

    /// The hashes of what operations are computed from.
    fn go_down(&mut self, inputs: &[usize], digests: &FxHashMap<OperationId, super::DataDigest>) {
        let graph = self.graph;
        let mut is_input = vec![false; graph.operations.len()];
        for (i, tensor) in graph.tensors.iter().enumerate().filter(|(_, tensor)| tensor.producer.is_none()) {
            let id = TensorId(i as u32);
            self.value[i] = match graph.formals.get(&id) {
                Some(place) => self.hashing.of(("formal", place)),
                None => {
                    let mut name = String::new();
                    graph.names.write(&graph.symbols, tensor.name, &mut name);
                    self.hashing.of(("free", name))
                }
            };
        }
        for (input, number) in graph.inputs.iter().zip(inputs) {
            self.value[input.index()] = self.hashing.of(("input", number));
            if let Some(producer) = self.producer(*input) {
                is_input[producer] = true;
            }
        }
        let params: Vec<Vec<u64>> = graph
            .kinds
            .iter()
            .map(|kind| kind.params.iter().map(|param| self.hashing.of(graph.text_of(param.name))).collect())
            .collect();
        let mut spellings = Spellings::new(&graph.names, &graph.symbols);
        for (i, operation) in graph.operations.iter().enumerate() {
            let (label, above) = self.arguments(operation, &params);
            let label = self.hashing.of((self.kind[i], operation.dtype(), label, self.results(operation)));
            let mut first = graph.tensors_of(operation);
            let named = first.next();
            let forward = match named.filter(|_| is_input[i]) {
                Some(input) => self.hashing.of((self.kind[i], self.value[input.index()])),
                None => self.hashing.of((label, above, digests.get(&OperationId::at(i)))),
            };
            let name = named.map_or("", |first| spellings.spell(graph.name_of(first)));
            self.hint.push(self.hashing.of((self.kind[i], name)));
            for (place, tensor) in graph.tensors_of(operation).enumerate() {
                self.place[tensor.index()] = place as u32;
                if !is_input[i] {
                    self.value[tensor.index()] = self.hashing.of((forward, place));
                }
            }
            self.label.push(label);
            self.above.push(above);
            self.forward.push(forward);
        }
    }

    /// The hashes of all arguments without their tensors, and with nothing but their tensors. The order of arguments
    /// with names does not count.
    fn arguments(&mut self, operation: &Operation, params: &[Vec<u64>]) -> (u64, u64) {
        let graph = self.graph;
        let params = &params[graph.kind_id(operation).index()];
        let (mut label, mut above) = (0u64, 0u64);
        each_argument(graph, operation, |parameter, operand| {
            let parameter = match parameter {
                ArgumentName::Declared(index) => params.get(index).copied().unwrap_or_default(),
                other => self.hashing.of(other.undeclared()),
            };
            let own = match operand {
                Operand::Tensor(tensor) => {
                    above = above.wrapping_add(self.hashing.of((parameter, self.value[tensor.index()])));
                    return label = label.wrapping_add(parameter);
                }
                Operand::Tensors(tensors) => self.hashing.of((parameter, tensors.len())),
                Operand::Value(value) => {
                    let value = self.hashing.value(value);
                    self.hashing.of((parameter, value, "value"))
                }
            };
            label = label.wrapping_add(own);
            let mut position = 0u32;
            operand.each_tensor(&mut |tensor| {
                above = above.wrapping_add(self.hashing.of((parameter, position, self.value[tensor.index()])));
                position += 1;
            });
        });
        (label, above)
    }

    /// The hash of the structure of results: how many, and which are arrays.
    fn results(&self, operation: &Operation) -> u64 {
        let length = |output: Output| match output {
            Output::Tensor(_) => 0,
            Output::Array(tensors) => tensors.len() as u64 + 1,
        };
        let outputs = self.graph.outputs_of(operation);
        match outputs.len() {
            1 => outputs.map(length).sum(),
            _ => self.hashing.of(outputs.map(length).collect::<Vec<u64>>()),
        }
    }

    /// The hashes of what is computed from operations.
    fn go_up(&mut self, outputs: &[usize]) {
        let graph = self.graph;
        let mut used = vec![0u64; graph.tensors.len()];
        for (output, number) in graph.outputs.iter().zip(outputs) {
            used[output.index()] = used[output.index()].wrapping_add(self.hashing.of(("output", number)));
        }
        let mut slots = Vec::new();
        for (i, operation) in graph.operations.iter().enumerate().rev() {
            let mut below = 0u64;
            for (place, tensor) in graph.tensors_of(operation).enumerate() {
                below = below.wrapping_add(self.hashing.of((place, used[tensor.index()])));
            }
            self.below[i] = below;
            let own = self.hashing.of((self.label[i], below));
            self.slots(operation, &mut slots);
            for (slot, tensor) in &slots {
                used[tensor.index()] = used[tensor.index()].wrapping_add(self.hashing.of((slot, own)));
            }
        }
    }

    /// Whether an operation has tensors among its arguments.
    pub(super) fn has_operands(&self, operation: usize) -> bool {
        let mut found = false;
        each_argument(self.graph, &self.graph.operations[operation], |_, operand| {
            operand.each_tensor(&mut |_| found = true)
        });
        found
    }

    /// The tensors among the arguments of an operation, in their order.
    pub(super) fn slots(&self, operation: &Operation, slots: &mut Vec<OperandPlace>) {
        slots.clear();
        each_argument(self.graph, operation, |parameter, operand| {
            let parameter = match parameter {
                ArgumentName::Declared(index) => index as u64,
                other => self.hashing.of(other.undeclared()),
            };
            let mut position = 0u64;
            operand.each_tensor(&mut |tensor| {
                slots.push((parameter.wrapping_add(position << 32), tensor));
                position += 1;
            });
        });
    }
}

/// The parameter of an argument.
#[derive(Clone, Copy)]
enum ArgumentName<'g> {
    /// The position among those of the declaration.
    Declared(usize),
    Named(&'g str),
    Positional(usize),
}

impl<'g> ArgumentName<'g> {
    /// The name or the position of a parameter that is not declared.
    fn undeclared(self) -> (&'g str, usize) {
        match self {
            ArgumentName::Named(name) => (name, usize::MAX),
            ArgumentName::Declared(index) | ArgumentName::Positional(index) => ("", index),
        }
    }
}

/// Calls a function with all arguments of an operation, defaults of parameters included.
fn each_argument<'g>(graph: &'g Graph, operation: &Operation, mut f: impl FnMut(ArgumentName<'g>, Operand<'g>)) {
    let kind = graph.kind(operation);
    if kind.declared {
        for index in 0..kind.params.len() {
            if let Some(operand) = graph.argument_of(operation, index as u32) {
                f(ArgumentName::Declared(index), operand);
            }
        }
        return;
    }
    let mut positions = 0..;
    for (key, operand) in graph.arguments(operation) {
        let parameter = match key {
            Key::Named(name) => ArgumentName::Named(graph.text_of(name)),
            Key::Param(index) => ArgumentName::Declared(index as usize),
            Key::Positional => ArgumentName::Positional(positions.next().unwrap_or_default()),
        };
        f(parameter, operand);
    }
}
