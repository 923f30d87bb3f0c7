//! The flat graph: operations on tensors, each after those whose results it uses.

mod arguments;
pub(crate) mod border;
mod building;
pub(crate) mod dims;
#[cfg(feature = "tensor")]
mod layouts;
pub(crate) mod names;
mod operation;
pub(crate) mod operators;
pub(crate) mod origin;
mod packed;
pub(crate) mod predication;
mod primitive;
pub(crate) mod prune;
pub(crate) mod scan;
mod shape_table;
pub(crate) mod shapes;
pub(crate) mod standard;
pub(crate) mod stats;
#[cfg(test)]
mod tests;
pub(crate) mod value;
mod verify;
mod walk;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::room::position_id;
use crate::source::Location;
use crate::source::names::{Name, Names};
pub(crate) use building::Common;
#[cfg(feature = "tensor")]
use layouts::Layouts;
use names::{NameId, Speller, TensorNames};
pub use operation::Operation;
pub(crate) use packed::{Kept, SignatureId};
use packed::{Packed, Signatures};
pub use primitive::Dialect;
pub use primitive::Primitive;
pub(crate) use shape_table::ShapeId;
use shape_table::ShapeTable;
pub use shapes::Extent;
pub(crate) use shapes::Items;
pub use shapes::Shape;
pub use value::Value;

/// Identifies a tensor of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) u32);

position_id! {
    /// Identifies an operation of a [`Graph`].
    OperationId
}

/// Identifies a kind of operation of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KindId(pub(crate) u32);

/// Identifies the innermost of the nested calls that an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OriginId(pub(crate) u32);

impl OriginId {
    /// No call: the operation is written in the body of the graph.
    pub(crate) const NONE: OriginId = OriginId(u32::MAX);
}

impl Default for OriginId {
    fn default() -> Self {
        Self::NONE
    }
}

macro_rules! indexed {
    ($($id:ident),*) => {
        $(impl $id {
            /// The position in its table.
            #[inline]
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}
indexed!(TensorId, KindId, OriginId);

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// Its name.
    pub(crate) name: NameId,
    /// The type of its elements, where known.
    pub(crate) dtype: Option<Primitive>,
    /// Whether its items are known while expanding; see [`Graph::values`].
    pub(crate) known: bool,
    /// Whether it is a constant that the document writes as an array, without an operation.
    pub(crate) literal: bool,
    /// Its shape, where the rank is known; see [`Graph::shape`].
    pub(crate) shape: Option<ShapeId>,
    /// The operation whose result it is; none for an input of a kept fragment.
    pub(crate) producer: Option<OperationId>,
}

const _: () = assert!(size_of::<Tensor>() == 16);

/// A kind of operations: their name, parameters and results.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// The name of the operation.
    pub(crate) name: Name,
    /// Its parameters; those of an operation that is not declared are not known.
    pub(crate) params: Vec<KindParam>,
    /// The names of its results.
    pub(crate) results: Vec<Name>,
    /// Whether it is declared: by the standard library, the document or another library.
    pub(crate) declared: bool,
    /// Whether it belongs to the standard library.
    pub(crate) standard: bool,
    /// Whether its declaration is generic, so that calls have a type argument.
    pub(crate) generic: bool,
}

/// A parameter of a kind of operation.
#[derive(Clone, Debug)]
pub(crate) struct KindParam {
    /// Its name.
    pub(crate) name: Name,
    /// Whether it takes tensors.
    pub(crate) tensor: bool,
    /// Its default.
    pub(crate) default: Option<Value>,
}

/// The parameter that an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A parameter of the kind.
    Param(u32),
    /// An argument by position of an operation that is not declared.
    Positional,
    /// An argument by name of an operation that is not declared.
    Named(Name),
}

/// An argument of a new operation; parameters without an argument have their default.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// The parameter.
    pub(crate) key: Key,
    /// The value.
    pub(crate) value: Value,
}

/// The value of an argument. Tensors, which are most arguments, are not stored as [`Value`]s.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operand<'g> {
    /// A tensor.
    Tensor(TensorId),
    /// An array of at least one tensor.
    Tensors(&'g [TensorId]),
    /// Anything else.
    Value(&'g Value),
}

impl<'g> Operand<'g> {
    /// The value, unless it is a tensor or an array of tensors.
    pub fn value(self) -> Option<&'g Value> {
        match self {
            Operand::Tensor(_) | Operand::Tensors(_) => None,
            Operand::Value(value) => Some(value),
        }
    }

    /// The value, whether it is a tensor or not.
    pub fn to_value(self) -> Value {
        match self {
            Operand::Tensor(tensor) => Value::Tensor(tensor),
            Operand::Tensors(tensors) => Value::Array(tensors.iter().copied().map(Value::Tensor).collect()),
            Operand::Value(value) => value.clone(),
        }
    }

    /// Calls a function with every tensor that occurs in the value.
    pub(crate) fn each_tensor(self, f: &mut impl FnMut(TensorId)) {
        match self {
            Operand::Tensor(tensor) => f(tensor),
            Operand::Tensors(tensors) => tensors.iter().copied().for_each(f),
            Operand::Value(value) => value.each_tensor(f),
        }
    }
}

impl<'g> From<&'g Value> for Operand<'g> {
    fn from(value: &'g Value) -> Self {
        match value {
            Value::Tensor(tensor) => Operand::Tensor(*tensor),
            value => Operand::Value(value),
        }
    }
}

/// A result of an operation: one tensor, or an array of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'g> {
    /// One tensor.
    Tensor(&'g TensorId),
    /// An array of tensors.
    Array(&'g [TensorId]),
}

impl<'g> Output<'g> {
    /// The tensors of the result.
    pub fn tensors(self) -> &'g [TensorId] {
        match self {
            Output::Tensor(tensor) => std::slice::from_ref(tensor),
            Output::Array(tensors) => tensors,
        }
    }
}

/// One of the nested calls of fragments that an operation comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The call around this one.
    pub(crate) parent: OriginId,
    /// The fragment that was called.
    pub(crate) fragment: Name,
    /// The place of the call.
    pub(crate) at: Location,
}

/// A fragment that stays in the output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KeptFragment {
    /// The text of its declaration, unchanged.
    Verbatim(String),
    /// Flattened: the text of its declaration up to the body, and the body as a graph.
    Flat(String, Box<Graph>),
}

/// What the readers of a graph's document expect beyond the specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Conventions {
    /// Whether elements follow operands, as readers of registries have it: sums of integers are integers.
    pub(crate) follows: bool,
    /// Whether constants that the document writes as arrays stay such: its readers have no operation for them.
    pub(crate) keeps_literals: bool,
}

/// A flat graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) symbols: Arc<Names>,
    /// The dialect whose operations it is made of.
    pub(crate) dialect: Dialect,
    /// Its name.
    pub(crate) name: Name,
    /// Its inputs.
    pub(crate) inputs: Vec<TensorId>,
    /// Its outputs.
    pub(crate) outputs: Vec<TensorId>,
    /// Its tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// Its operations, each after those it depends on.
    pub(crate) operations: Vec<Operation>,
    packed: Packed,
    signatures: Signatures,
    shapes: ShapeTable,
    /// How tensors lie in memory.
    #[cfg(feature = "tensor")]
    layouts: Layouts,
    /// The items of small tensors of numbers that are known while expanding. Pruning forgets them.
    pub(crate) values: FxHashMap<TensorId, Arc<Items>>,
    pub(crate) conventions: Conventions,
    /// The kinds of operations that occur.
    pub(crate) kinds: Vec<Kind>,
    /// The calls that operations come from: the call around each, and its place in `call_places`.
    origins: Vec<(OriginId, u32)>,
    /// The called fragments and the places of the calls. A place in a fragment is shared by all calls
    /// that are made while the fragment is expanded again and again.
    call_places: Vec<(Name, Location)>,
    pub(crate) names: TensorNames,
    /// The comments at the head of the document, line by line; empty lines among them.
    pub(crate) comments: Vec<String>,
    /// The text between `extension` and `;` of each directive that the output keeps.
    pub(crate) extensions: Vec<String>,
    /// The fragments that the output keeps.
    pub(crate) fragments: Vec<KeptFragment>,
}

impl Graph {
    pub(crate) fn new(name: Name, symbols: Arc<Names>) -> Self {
        Graph {
            symbols,
            dialect: Dialect::default(),
            name,
            inputs: Vec::new(),
            outputs: Vec::new(),
            tensors: Vec::new(),
            operations: Vec::new(),
            packed: Packed::default(),
            signatures: Signatures::default(),
            shapes: ShapeTable::default(),
            #[cfg(feature = "tensor")]
            layouts: Layouts::default(),
            values: FxHashMap::default(),
            conventions: Conventions::default(),
            kinds: Vec::new(),
            origins: Vec::new(),
            call_places: Vec::new(),
            names: TensorNames::default(),
            comments: Vec::new(),
            extensions: Vec::new(),
            fragments: Vec::new(),
        }
    }

    /// How many calls are known.
    pub(crate) fn origin_count(&self) -> usize {
        self.origins.len()
    }

    /// A call that operations come from; none for [`OriginId::NONE`].
    pub(crate) fn origin(&self, id: OriginId) -> Option<Origin> {
        let (parent, place) = *self.origins.get(id.index())?;
        let (fragment, at) = self.call_places[place as usize];
        Some(Origin { parent, fragment, at })
    }

    /// The table of names, for adding names.
    pub(crate) fn symbols_mut(&mut self) -> &mut Names {
        Arc::make_mut(&mut self.symbols)
    }

    /// Takes all operations and their kinds out, as a graph that has nothing else: the tensors stay.
    pub(crate) fn take_operations(&mut self) -> Graph {
        let mut taken = Graph::new(self.name, Arc::clone(&self.symbols));
        std::mem::swap(&mut taken.operations, &mut self.operations);
        std::mem::swap(&mut taken.kinds, &mut self.kinds);
        std::mem::swap(&mut taken.packed, &mut self.packed);
        std::mem::swap(&mut taken.signatures, &mut self.signatures);
        taken
    }

    /// Keeps the operations marked in `needed`, and the tensors that have a new number in `renumber`.
    fn retain(&mut self, needed: &[bool], renumber: &[Option<TensorId>]) {
        self.values.clear();
        let new = |tensor: TensorId| renumber[tensor.index()].unwrap_or(tensor);
        #[cfg(feature = "tensor")]
        self.layouts.renumber(renumber);
        let old = std::mem::take(&mut self.operations);
        let before = std::mem::take(&mut self.packed);
        let mut tensors = std::mem::take(&mut self.tensors).into_iter();
        let kept = renumber.iter().filter_map(|kept| tensors.next().filter(|_| kept.is_some()));
        self.tensors = kept.map(|tensor| Tensor { producer: None, known: false, ..tensor }).collect();
        for (operation, _) in old.into_iter().zip(needed).filter(|(_, needed)| **needed) {
            let (_, operands, results) = self.signatures.counts(operation.signature());
            let results = before.results(&operation.result, results);
            self.packed.copy(&before, operation.operands..operation.operands + operands, results, new);
            let source = (operation.at, operation.origin);
            self.finish_operation(operation.signature(), operation.type_argument(), source);
        }
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(|tensor| *tensor = new(*tensor));
    }

    /// Makes the names of all tensors distinct.
    pub(crate) fn finish_names(&mut self) {
        self.names.unmark();
        for tensor in &self.tensors {
            self.names.mark_used(tensor.name);
        }
        self.names.resolve(&self.symbols);
    }

    /// The results of an operation.
    pub fn outputs_of<'g>(&'g self, operation: &'g Operation) -> impl ExactSizeIterator<Item = Output<'g>> + Clone {
        self.packed.outputs(self.results_of(operation))
    }

    /// The results of an operation in packed form.
    #[inline]
    fn results_of<'g>(&'g self, operation: &'g Operation) -> &'g [TensorId] {
        let (_, _, count) = self.signatures.counts(operation.signature());
        self.packed.results(&operation.result, count)
    }

    /// Calls a function with each tensor among the results of an operation.
    #[inline]
    fn each_result(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        self.packed.each_result(self.results_of(operation), &mut f);
    }

    /// Calls a function with each tensor among the arguments of an operation.
    #[inline]
    fn each_operand_tensor(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        let (_, count, _) = self.signatures.counts(operation.signature());
        self.packed.each_operand_tensor(operation.operands..operation.operands + count, &mut f);
    }

    /// All tensors among the results of an operation.
    pub fn tensors_of<'g>(&'g self, operation: &'g Operation) -> impl Iterator<Item = TensorId> + Clone {
        self.outputs_of(operation).flat_map(Output::tensors).copied()
    }

    /// The shape of a tensor, where its rank is known.
    pub fn shape(&self, tensor: TensorId) -> Option<&Shape> {
        self.shapes.get(self.tensors[tensor.index()].shape?)
    }

    /// Identifies the kind of an operation.
    #[inline]
    pub(crate) fn kind_id(&self, operation: &Operation) -> KindId {
        self.signatures.counts(operation.signature()).0
    }

    /// The kind of an operation.
    pub(crate) fn kind(&self, operation: &Operation) -> &Kind {
        &self.kinds[self.kind_id(operation).index()]
    }

    /// The name of an operation's kind.
    pub fn operation_name(&self, operation: &Operation) -> &str {
        self.symbols.text(self.kind(operation).name)
    }

    /// Writes names of tensors into a text.
    pub(crate) fn speller(&self) -> Speller<'_> {
        Speller::new(&self.names, &self.symbols)
    }

    /// The name of a tensor.
    pub fn tensor_name(&self, tensor: TensorId) -> String {
        let mut text = String::new();
        self.names.write(&self.symbols, self.tensors[tensor.index()].name, &mut text);
        text
    }

    /// The text of a name.
    pub(crate) fn text_of(&self, name: Name) -> &str {
        self.symbols.text(name)
    }
}
