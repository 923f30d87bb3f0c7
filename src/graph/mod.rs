//! The flat graph: operations on tensors, in an order in which they can be computed.

pub mod json;
pub mod names;
pub mod prune;
pub mod shapes;
pub mod symbolic;
pub mod text;
pub mod value;
pub mod verify;

use std::io;
use std::sync::Arc;

use crate::nnef::ast::Primitive;
use crate::nnef::dialect::Dialect;
use crate::nnef::names::{Name, Names};
use crate::source::Location;
use names::{NameId, TensorNames};
pub use shapes::{Extent, Shape};
pub use value::Value;

/// Identifies a tensor of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) u32);

/// Identifies an operation of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub(crate) u32);

/// Identifies a kind of operation of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub(crate) u32);

/// Identifies a chain of calls through which operations came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OriginId(pub(crate) u32);

impl OriginId {
    /// No call: the operation stands in the graph's own body.
    pub const NONE: OriginId = OriginId(u32::MAX);
}

macro_rules! indexed {
    ($($id:ident),*) => {
        $(impl $id {
            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}
indexed!(TensorId, OperationId, KindId, OriginId);

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: NameId,
    /// The type of its elements, where known.
    pub dtype: Option<Primitive>,
    /// Its extents, where their number is known.
    pub shape: Option<Shape>,
    /// The operation that makes it.
    pub producer: Option<OperationId>,
}

/// What an operation is: its name and signature.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The name of the operation.
    pub name: Name,
    /// Its parameters; none are known of an operation that is not declared.
    pub params: Vec<KindParam>,
    /// The names of its results.
    pub results: Vec<Name>,
    /// Whether it is declared at all.
    pub declared: bool,
    /// Whether it belongs to the standard library.
    pub standard: bool,
    /// Whether it is generic.
    pub generic: bool,
}

/// A parameter of a kind of operation.
#[derive(Clone, Debug)]
pub struct KindParam {
    /// Its name.
    pub name: Name,
    /// Whether it takes tensors.
    pub tensor: bool,
    /// Its default.
    pub default: Option<Value>,
}

/// For which parameter an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A parameter of the kind.
    Param(u32),
    /// The next position of an operation that is not declared.
    Positional,
    /// A name of an operation that is not declared.
    Named(Name),
}

/// An argument that was given; parameters without one have their default.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The parameter.
    pub key: Key,
    /// The value.
    pub value: Value,
}

/// A result of an operation: one tensor, or an array of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputValue {
    /// One tensor.
    Tensor(TensorId),
    /// An array of tensors.
    Array(Arc<[TensorId]>),
}

impl OutputValue {
    /// The tensors of the result.
    pub fn tensors(&self) -> &[TensorId] {
        match self {
            OutputValue::Tensor(tensor) => std::slice::from_ref(tensor),
            OutputValue::Array(tensors) => tensors,
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it is.
    pub kind: KindId,
    /// The type argument of a generic operation, where known.
    pub dtype: Option<Primitive>,
    /// Whether the type argument was written.
    pub explicit_dtype: bool,
    arguments: (u32, u32),
    outputs: (u32, u32),
    /// The call in the source from which it comes.
    pub at: Location,
    /// The calls around that one.
    pub origin: OriginId,
}

/// A call on the way from the graph to an operation.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The call around this one.
    pub parent: OriginId,
    /// The fragment that was called.
    pub fragment: Name,
    /// Where.
    pub at: Location,
}

/// A fragment that stays in the output.
#[derive(Clone, Debug)]
pub enum KeptFragment {
    /// As it was written.
    Verbatim(String),
    /// Flattened: what stands before its body, and the body.
    Flat(String, Box<Graph>),
}

/// A flat graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) symbols: Arc<Names>,
    /// The dialect whose operations it is made of.
    pub dialect: Dialect,
    /// Its name.
    pub name: Name,
    /// Its inputs.
    pub inputs: Vec<TensorId>,
    /// Its outputs.
    pub outputs: Vec<TensorId>,
    /// Its tensors.
    pub tensors: Vec<Tensor>,
    /// Its operations, each after those it depends on.
    pub operations: Vec<Operation>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) results: Vec<OutputValue>,
    /// The kinds of operations that occur.
    pub kinds: Vec<Kind>,
    /// The calls through which operations came about.
    pub origins: Vec<Origin>,
    pub(crate) names: TensorNames,
    /// What stood between `extension` and `;` in the directives that the output keeps.
    pub extensions: Vec<String>,
    /// The fragments that the output keeps.
    pub fragments: Vec<KeptFragment>,
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
            arguments: Vec::new(),
            results: Vec::new(),
            kinds: Vec::new(),
            origins: Vec::new(),
            names: TensorNames::default(),
            extensions: Vec::new(),
            fragments: Vec::new(),
        }
    }

    /// Adds a tensor, which no operation makes yet.
    pub(crate) fn add_tensor(&mut self, name: NameId, dtype: Option<Primitive>) -> TensorId {
        self.names.mark_used(name);
        self.tensors.push(Tensor { name, dtype, shape: None, producer: None });
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// Adds an operation and makes it the producer of its results.
    pub(crate) fn add_operation(
        &mut self,
        kind: KindId,
        dtype: (Option<Primitive>, bool),
        arguments: impl IntoIterator<Item = Argument>,
        outputs: impl IntoIterator<Item = OutputValue>,
        source: (Location, OriginId),
    ) -> OperationId {
        let id = OperationId(self.operations.len() as u32);
        let (first_argument, first_output) = (self.arguments.len() as u32, self.results.len() as u32);
        self.arguments.extend(arguments);
        for output in outputs {
            for tensor in output.tensors() {
                self.tensors[tensor.index()].producer = Some(id);
            }
            self.results.push(output);
        }
        self.operations.push(Operation {
            kind,
            dtype: dtype.0,
            explicit_dtype: dtype.1,
            arguments: (first_argument, self.arguments.len() as u32),
            outputs: (first_output, self.results.len() as u32),
            at: source.0,
            origin: source.1,
        });
        id
    }

    /// Gives the results of an operation their shapes.
    pub(crate) fn set_shapes(&mut self, operation: OperationId, inferred: &shapes::Inferred) {
        let (first, last) = self.operations[operation.index()].outputs;
        let outputs = &self.results[first as usize..last as usize];
        for (i, tensor) in outputs.iter().flat_map(|output| output.tensors()).enumerate() {
            self.tensors[tensor.index()].shape = inferred.get(i);
        }
    }

    /// The table of names, to add some.
    pub(crate) fn symbols_mut(&mut self) -> &mut Names {
        Arc::make_mut(&mut self.symbols)
    }

    /// Replaces the arguments of every operation.
    pub(crate) fn map_arguments(
        &mut self,
        mut f: impl FnMut(&mut Operation, &[Tensor], Vec<Argument>) -> Vec<Argument>,
    ) {
        let old = std::mem::take(&mut self.arguments);
        for operation in &mut self.operations {
            let given = old[operation.arguments.0 as usize..operation.arguments.1 as usize].to_vec();
            let start = self.arguments.len() as u32;
            self.arguments.extend(f(operation, &self.tensors, given));
            operation.arguments = (start, self.arguments.len() as u32);
        }
    }

    /// Makes the names of all tensors distinct.
    pub(crate) fn finish_names(&mut self) {
        self.names.unmark();
        for tensor in &self.tensors {
            self.names.mark_used(tensor.name);
        }
        self.names.resolve(&self.symbols);
    }

    /// The arguments that an operation was given.
    pub fn arguments(&self, operation: &Operation) -> &[Argument] {
        &self.arguments[operation.arguments.0 as usize..operation.arguments.1 as usize]
    }

    /// The results of an operation.
    pub fn outputs_of(&self, operation: &Operation) -> &[OutputValue] {
        &self.results[operation.outputs.0 as usize..operation.outputs.1 as usize]
    }

    /// The kind of an operation.
    pub fn kind(&self, operation: &Operation) -> &Kind {
        &self.kinds[operation.kind.index()]
    }

    /// The name of an operation's kind.
    pub fn operation_name(&self, operation: &Operation) -> &str {
        self.symbols.text(self.kind(operation).name)
    }

    /// The name of a tensor.
    pub fn tensor_name(&self, tensor: TensorId) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = self.names.write(&self.symbols, self.tensors[tensor.index()].name, &mut text);
        text
    }

    /// The text of a name.
    pub fn text_of(&self, name: Name) -> &str {
        self.symbols.text(name)
    }

    /// An argument of an operation by the name of its parameter, or that parameter's default.
    pub fn argument<'a>(&'a self, operation: &'a Operation, name: &str) -> Option<&'a Value> {
        let kind = self.kind(operation);
        let named = |argument: &&Argument| match argument.key {
            Key::Param(i) => self.symbols.text(kind.params[i as usize].name) == name,
            Key::Named(key) => self.symbols.text(key) == name,
            Key::Positional => false,
        };
        self.arguments(operation)
            .iter()
            .find(named)
            .map(|argument| &argument.value)
            .or_else(|| kind.params.iter().find(|param| self.symbols.text(param.name) == name)?.default.as_ref())
    }

    /// Writes the graph as a flat NNEF document.
    pub fn write_nnef(&self, out: &mut dyn io::Write) -> io::Result<()> {
        text::write_document(self, out)
    }

    /// Writes the graph as JSON, in the form of the Python class `nnef.Graph`.
    pub fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        json::write_graph(self, out)
    }
}
