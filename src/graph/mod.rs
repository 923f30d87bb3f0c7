//! The flat graph: operations on tensors in topological order.

mod arguments;
pub(crate) mod border;
mod building;
#[cfg(feature = "tensor")]
pub(crate) mod constant;
pub(crate) mod deviations;
pub(crate) mod dims;
#[cfg(feature = "eval")]
mod known;
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
mod rewrite;
pub(crate) mod scan;
mod shape_table;
pub(crate) mod shapes;
mod share;
mod sign;
pub(crate) mod standard;
pub(crate) mod stats;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod value;
mod verify;
mod walk;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::room::{position_id, table_id};
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

table_id! {
    /// Identifies a tensor of a [`Graph`].
    pub TensorId;
    /// Identifies a kind of operation of a [`Graph`].
    pub(crate) KindId;
    /// Identifies the innermost of the nested calls that produced an operation.
    pub(crate) OriginId;
}

position_id! {
    /// Identifies an operation of a [`Graph`].
    OperationId
}

impl OriginId {
    /// No call: the operation is written in the body of the graph.
    pub(crate) const NONE: OriginId = OriginId(u32::MAX);
}

impl Default for OriginId {
    fn default() -> Self {
        Self::NONE
    }
}

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// Its name.
    pub(crate) name: NameId,
    /// The element type, if known.
    pub(crate) dtype: Option<Primitive>,
    /// Whether its items are known while expanding, as [`Graph::values`].
    pub(crate) known: bool,
    /// Whether the document writes it as a literal array, not as an operation `constant`.
    pub(crate) literal: bool,
    /// Its shape, if the rank is known; see [`Graph::shape`].
    pub(crate) shape: Option<ShapeId>,
    /// The operation that produces it; none for an input of a kept fragment.
    pub(crate) producer: Option<OperationId>,
}

const _: () = assert!(size_of::<Tensor>() == 16);

/// A kind of operation: name, parameters and results.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// The name of the operation.
    pub(crate) name: Name,
    /// Its parameters; empty if the operation is not declared.
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

/// The parameter of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A parameter of the kind.
    Param(u32),
    /// An argument by position, of an operation that is not declared.
    Positional,
    /// An argument by name, of an operation that is not declared.
    Named(Name),
}

/// An argument of a new operation. Parameters without an argument have their default value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// The parameter.
    pub(crate) key: Key,
    /// The value.
    pub(crate) value: Value,
}

/// The value of an argument. Tensors are not stored as [`Value`]s, since most arguments are tensors.
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

    /// The value, also of tensors.
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

/// One of the nested calls of fragments that produced an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The enclosing call.
    pub(crate) parent: OriginId,
    /// The fragment that was called.
    pub(crate) fragment: Name,
    /// The place of the call.
    pub(crate) at: Location,
}

/// A fragment that the output declares because it is not expanded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KeptFragment {
    /// The text of its declaration, which is not expanded.
    Verbatim(String),
    /// Flattened: the text of the declaration up to its body, and the body as a graph.
    Flat(String, Box<Graph>),
}

/// Conventions of tools that read the document of a graph, beyond the specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Conventions {
    /// Whether the element types of results follow the operands, as in tract: a sum of integers is an integer.
    pub(crate) follows: bool,
    /// Whether standard operations have the deviations of documents with registries.
    pub(crate) deviates: bool,
    /// Whether literal arrays stay literals in the output, for tools that do not have the operation `constant`.
    pub(crate) keeps_literals: bool,
}

/// A flat graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) symbols: Arc<Names>,
    /// The dialect of its operations.
    pub(crate) dialect: Dialect,
    /// Its name.
    pub(crate) name: Name,
    /// Its inputs.
    pub(crate) inputs: Vec<TensorId>,
    /// Its outputs.
    pub(crate) outputs: Vec<TensorId>,
    /// Its tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// Its operations, each after those that it depends on.
    pub(crate) operations: Vec<Operation>,
    packed: Packed,
    signatures: Signatures,
    shapes: ShapeTable,
    /// The memory layouts of tensors.
    #[cfg(feature = "tensor")]
    layouts: Layouts,
    /// The items of small numeric tensors that are known while expanding. Pruning removes them.
    pub(crate) values: FxHashMap<TensorId, Arc<Items>>,
    pub(crate) conventions: Conventions,
    /// The kinds of operations that occur.
    pub(crate) kinds: Vec<Kind>,
    /// The calls that produced operations: the enclosing call of each, and an index into `call_places`.
    origins: Vec<(OriginId, u32)>,
    /// The called fragment and the location of each call in the source. Repeated expansions of the same call
    /// share an entry.
    call_places: Vec<(Name, Location)>,
    pub(crate) names: TensorNames,
    /// The lines of the comment at the start of the document.
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

    /// The number of calls.
    pub(crate) fn origin_count(&self) -> usize {
        self.origins.len()
    }

    /// A call that produced operations; none for [`OriginId::NONE`].
    pub(crate) fn origin(&self, id: OriginId) -> Option<Origin> {
        let (parent, place) = *self.origins.get(id.index())?;
        let (fragment, at) = self.call_places[place as usize];
        Some(Origin { parent, fragment, at })
    }

    /// Mutable access to the table of names.
    pub(crate) fn symbols_mut(&mut self) -> &mut Names {
        Arc::make_mut(&mut self.symbols)
    }

    /// Moves all operations and their kinds to a new graph. The tensors stay here.
    pub(crate) fn take_operations(&mut self) -> Graph {
        let mut taken = Graph::new(self.name, Arc::clone(&self.symbols));
        std::mem::swap(&mut taken.operations, &mut self.operations);
        std::mem::swap(&mut taken.kinds, &mut self.kinds);
        std::mem::swap(&mut taken.packed, &mut self.packed);
        std::mem::swap(&mut taken.signatures, &mut self.signatures);
        taken
    }

    /// Keeps only the operations marked in `needed`, and the tensors that `renumber` gives a new number.
    fn retain(&mut self, needed: &[bool], renumber: &[Option<TensorId>]) {
        let values = std::mem::take(&mut self.values);
        let new = |tensor: TensorId| renumber[tensor.index()].unwrap_or(tensor);
        #[cfg(feature = "tensor")]
        self.layouts.renumber(renumber);
        let values = values.into_iter().filter_map(|(tensor, items)| Some((renumber[tensor.index()]?, items)));
        self.values = values.collect();
        let old = std::mem::take(&mut self.operations);
        let before = std::mem::take(&mut self.packed);
        let mut tensors = std::mem::take(&mut self.tensors).into_iter();
        let kept = renumber.iter().filter_map(|kept| tensors.next().filter(|_| kept.is_some()));
        self.tensors = kept.map(|tensor| Tensor { producer: None, ..tensor }).collect();
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
        let reserved = self.reserved_words();
        self.names.resolve(&self.symbols, &reserved);
    }

    /// The words that generated names must not be: built-in functions, which are the keywords that look like a path,
    /// operations without a declaration, and what values refer to.
    fn reserved_words(&self) -> FxHashSet<String> {
        let mut words: FxHashSet<String> = operators::BUILTINS.iter().map(|row| row.text.to_owned()).collect();
        words.extend(self.kinds.iter().filter(|kind| !kind.declared).map(|kind| self.text_of(kind.name).to_owned()));
        self.each_word(|word| words.extend([word.to_owned()]));
        words
    }

    /// Calls a function with every word of [`Value::each_word`] in the arguments of operations.
    pub(crate) fn each_word(&self, mut f: impl FnMut(&str)) {
        self.packed.values().iter().for_each(|value| value.each_word(&mut f));
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

    /// Calls a function with each tensor in the results of an operation.
    #[inline]
    fn each_result(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        self.packed.each_result(self.results_of(operation), &mut f);
    }

    /// Calls a function with each tensor in the arguments of an operation.
    #[inline]
    pub(crate) fn each_operand_tensor(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        let (_, count, _) = self.signatures.counts(operation.signature());
        self.packed.each_operand_tensor(operation.operands..operation.operands + count, &mut f);
    }

    /// All tensors among the results of an operation.
    pub fn tensors_of<'g>(&'g self, operation: &'g Operation) -> impl Iterator<Item = TensorId> + Clone {
        self.outputs_of(operation).flat_map(Output::tensors).copied()
    }

    /// The shape of a tensor, if its rank is known.
    pub fn shape(&self, tensor: TensorId) -> Option<&Shape> {
        self.shapes.get(self.tensors[tensor.index()].shape?)
    }

    /// Whether an extent of a tensor is not known, not even as an expression.
    pub(crate) fn is_open(&self, tensor: TensorId) -> bool {
        self.tensors[tensor.index()].shape.is_none_or(|shape| self.shapes.is_open(shape))
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

    /// Whether the results of operations of a kind depend on nothing but the arguments. This is only known of
    /// standard operations.
    pub(crate) fn is_function(&self, kind: &Kind) -> bool {
        kind.standard && !standard::NO_FUNCTIONS.contains(&self.text_of(kind.name))
    }

    /// The name of an operation's kind.
    pub fn operation_name(&self, operation: &Operation) -> &str {
        self.symbols.text(self.kind(operation).name)
    }

    /// A writer of tensor names.
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
