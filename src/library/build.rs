//! Building flat graphs of NNEF 1.0 operations, from any notation.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::declared::Declared;
use super::identifier::identifier;
use super::registries::{self, REGISTRY_EXTENSION};
use super::texts::standard;
use crate::graph::names::NameId;
use crate::graph::shapes::{self, Plan, ShapeError};
use crate::graph::standard::{CONSTANT, COPY, EXTERNAL, UNUSED_INPUT, VARIABLE};
use crate::graph::{
    Argument, Conventions, Dialect, Graph, Key, Kind, KindId, OriginId, Output, Primitive, Shape, TensorId, Value,
};
use crate::source::Location;
use crate::source::names::{Name, Names};

/// Error: neither NNEF 1.0 nor a registry that the graph may use has an operation of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) &'static str);

/// Builds a flat graph operation by operation.
pub(crate) struct Builder {
    pub(crate) graph: Graph,
    /// The kinds of the graph by name.
    kinds: FxHashMap<&'static str, KnownKind>,
    /// The kinds of operations that NNEF does not have, by name.
    passed: FxHashMap<String, KindId>,
    /// The inputs and the outputs so far.
    boundary: FxHashSet<TensorId>,
    /// The source location of added operations.
    at: Location,
    /// Whether operations of registries are allowed.
    has_registries: bool,
    /// Whether operations that NNEF only approximates may be those of registries. Such a graph is not written as a
    /// document of NNEF.
    is_exact: bool,
}

/// A kind of the graph.
#[derive(Clone, Copy)]
struct KnownKind {
    id: KindId,
    generic: bool,
    /// The element type of the results, unless the caller specifies another.
    gives: Primitive,
}

/// The result tensors of an operation.
pub(crate) type Tensors = SmallVec<[TensorId; 4]>;

/// Operations whose operands do not determine their elements, so that the type argument is written.
const TYPED: &[&str] = &[EXTERNAL, VARIABLE, CONSTANT];

/// The operation whose type argument is always written: no default stands for it.
pub(crate) const CAST: &str = "cast";

/// The results of an operation: tensors one by one, or one array of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Results<'a> {
    Each(&'a [(NameId, Option<Shape>)]),
    Array(&'a [(NameId, Option<Shape>)]),
}

impl Results<'_> {
    fn names(&self) -> &[(NameId, Option<Shape>)] {
        match self {
            Results::Each(names) | Results::Array(names) => names,
        }
    }
}

/// The declaration of an operation of NNEF 1.0.
pub(crate) fn declared(operation: &str) -> Option<&'static Declared> {
    standard(Dialect::V1).find(operation)
}

impl Builder {
    /// An empty graph.
    pub(crate) fn new(name: &str) -> Self {
        let mut names = Names::new();
        let name = names.intern(&identifier(name));
        let mut graph = Graph::new(name, Arc::new(names));
        graph.dialect = Dialect::V1;
        let (kinds, passed) = (FxHashMap::default(), FxHashMap::default());
        let (boundary, at) = (FxHashSet::default(), Location::default());
        Builder { graph, kinds, passed, boundary, at, has_registries: false, is_exact: false }
    }

    /// An empty graph of a document with tract's registries: standard operations have the deviations of these, and
    /// operations of registries are allowed. The document names those that are used.
    pub(crate) fn with_registries(name: &str) -> Self {
        let mut builder = Builder::new(name);
        builder.graph.conventions = Conventions { follows: true, deviates: true, ..Conventions::default() };
        builder.has_registries = true;
        builder
    }

    /// Allows operations of registries for what NNEF only approximates; standard operations mean what the standard says.
    pub(crate) fn be_exact(&mut self, exact: bool) {
        self.is_exact = exact;
    }

    /// Whether operations of registries stand for what NNEF only approximates.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether operations of registries are allowed.
    pub(crate) fn has_registries(&self) -> bool {
        self.has_registries
    }

    /// Sets the source location of the operations that are added next.
    pub(crate) fn come_from(&mut self, at: Location) {
        self.at = at;
    }

    /// A name that stays unchanged in the output.
    pub(crate) fn name(&mut self, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.user(segment)
    }

    /// A path name: a segment appended to another name.
    pub(crate) fn under(&mut self, name: NameId, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.child(name, segment, 0, false)
    }

    /// A path name with a number after its last segment.
    pub(crate) fn numbered(&mut self, name: NameId, text: &str, ordinal: u32) -> NameId {
        let segment = self.segment(text);
        self.part(name, segment, ordinal)
    }

    /// Interns a segment of path names.
    pub(crate) fn segment(&mut self, text: &str) -> Name {
        self.graph.symbols_mut().intern(text)
    }

    /// A path name with an interned last segment.
    pub(crate) fn part(&mut self, name: NameId, segment: Name, ordinal: u32) -> NameId {
        self.graph.names.child(name, segment, ordinal, false)
    }

    /// Adds an operation with one result and arguments by position.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn emit(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        name: NameId,
        shape: Option<Shape>,
    ) -> Result<TensorId, Unknown> {
        let tensors = self.add(operation, None, arguments, Results::Each(&[(name, shape)]))?;
        Ok(tensors[0])
    }

    /// Adds an operation with any results and with arguments by position, of which some may be absent. The
    /// elements of the results are `of`, or else what the operation declares.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn add(
        &mut self,
        operation: &'static str,
        of: Option<Primitive>,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        results: Results,
    ) -> Result<Tensors, Unknown> {
        let kind = self.kind(operation)?;
        let elements = of.unwrap_or(kind.gives);
        let written = operation == CAST || elements != Primitive::Scalar && TYPED.contains(&operation);
        let given = |(i, value)| Some(Argument { key: Key::Param(i), value: Into::<Option<Value>>::into(value)? });
        let arguments = (0..).zip(arguments).filter_map(given);
        Ok(self.add_of_kind(kind.id, (kind.generic.then_some(elements), written), arguments, elements, results))
    }

    /// Adds an input of the graph.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn input(&mut self, of: Primitive, name: NameId, shape: &[i64]) -> Result<TensorId, Unknown> {
        let results = [(name, Some(Shape::of(shape)))];
        let tensors = self.add(EXTERNAL, Some(of), [Value::Integers(shape.into())], Results::Each(&results))?;
        self.boundary.insert(tensors[0]);
        self.graph.inputs.push(tensors[0]);
        Ok(tensors[0])
    }

    /// Makes a tensor an output of the graph, or a copy of it with this name: in NNEF no input is an output,
    /// and no output is listed twice. `copied` demands the copy.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn output(&mut self, tensor: TensorId, name: NameId, copied: bool) -> Result<(), Unknown> {
        let mut output = tensor;
        if copied || !self.boundary.insert(tensor) {
            let (of, shape) = (self.graph.dtype(tensor), self.graph.shape(tensor).cloned());
            // A tensor has a name of its own.
            let is_taken = self.graph.tensors.get(tensor.index()).is_some_and(|of| of.name == name);
            let name = if is_taken { self.graph.names.sibling(name) } else { name };
            output = self.add(COPY, of, [Value::Tensor(tensor)], Results::Each(&[(name, shape)]))?[0];
        }
        self.graph.outputs.push(output);
        Ok(())
    }

    /// The finished graph, with an unused input if it has none: NNEF requires one.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn finish(mut self) -> Result<Graph, Unknown> {
        if self.graph.inputs.is_empty() {
            let (external, name) = (self.kind(EXTERNAL)?.id, self.segment(UNUSED_INPUT));
            self.graph.add_unused_input(external, name, self.at);
        }
        self.graph.finish_names();
        Ok(self.graph)
    }

    /// Adds an operation that NNEF does not have, with arguments by name.
    pub(crate) fn pass(&mut self, operation: &str, arguments: Vec<(String, Value)>, results: Results) -> Tensors {
        let kind = match self.passed.get(operation) {
            Some(kind) => *kind,
            None => {
                let name = self.graph.symbols_mut().intern(operation);
                let (params, results) = (Vec::new(), Vec::new());
                let kind = Kind { name, params, results, declared: false, standard: false, generic: false };
                let kind = self.graph.add_kind(kind);
                self.passed.insert(operation.to_owned(), kind);
                kind
            }
        };
        let mut given = Vec::with_capacity(arguments.len());
        for (name, value) in arguments {
            given.push(Argument { key: Key::Named(self.segment(&name)), value });
        }
        self.add_of_kind(kind, (None, false), given, Primitive::Scalar, results)
    }

    /// Infers the result shapes of the operation that produces a tensor.
    ///
    /// # Errors
    ///
    /// The argument shapes break a rule.
    pub(crate) fn infer(&mut self, tensor: TensorId) -> Result<(), ShapeError> {
        let Some(operation) = self.graph.tensors[tensor.index()].producer else { return Ok(()) };
        let kind = self.graph.kind_id(&self.graph.operations[operation.index()]);
        let Some(plan) = Plan::new(&self.graph, kind, false) else { return Ok(()) };
        let inferred = shapes::infer(&self.graph, operation, &plan)?;
        self.graph.set_shapes(operation, inferred);
        Ok(())
    }

    fn kind(&mut self, operation: &'static str) -> Result<KnownKind, Unknown> {
        if let Some(known) = self.kinds.get(operation) {
            return Ok(*known);
        }
        let declared = match declared(operation) {
            Some(declared) => declared,
            None => self.of_registry(operation).ok_or(Unknown(operation))?,
        };
        let gives = declared.results.first().and_then(|result| result.gives);
        let gives = gives.filter(|of| *of != Primitive::Generic).unwrap_or(Primitive::Scalar);
        let kind = declared.kind(self.graph.symbols_mut());
        let generic = kind.generic;
        let known = KnownKind { id: self.graph.add_kind(kind), generic, gives };
        self.kinds.insert(operation, known);
        Ok(known)
    }

    /// The declaration of an operation of a registry, which the document names from now on.
    fn of_registry(&mut self, operation: &str) -> Option<&'static Declared> {
        let mut known = registries::operations().filter(|_| self.has_registries || self.is_exact);
        let (declared, registry) = known.find(|(declared, _)| declared.name == operation)?;
        let extension = format!("{REGISTRY_EXTENSION} {}", registry.name);
        if self.has_registries && registry.name != registries::BUILT_IN && !self.graph.extensions.contains(&extension) {
            self.graph.extensions.push(extension);
        }
        Some(declared)
    }

    fn add_of_kind(
        &mut self,
        kind: KindId,
        dtype: (Option<Primitive>, bool),
        arguments: impl IntoIterator<Item = Argument>,
        elements: Primitive,
        results: Results,
    ) -> Tensors {
        let add = |(name, shape): &(NameId, Option<Shape>)| {
            let tensor = self.graph.add_tensor(*name, Some(elements));
            self.graph.set_shape(tensor, shape.clone());
            tensor
        };
        let tensors: Tensors = results.names().iter().map(add).collect();
        let outputs: SmallVec<[Output; 4]> = match results {
            Results::Each(_) => tensors.iter().map(Output::Tensor).collect(),
            Results::Array(_) => smallvec::smallvec![Output::Array(&tensors)],
        };
        self.graph.add_operation(kind, dtype, arguments, &outputs, (self.at, OriginId::NONE));
        drop(outputs);
        tensors
    }
}
