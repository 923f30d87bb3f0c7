//! Flat graphs made of operations of NNEF 1.0, from any notation.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::migrate::target::{Declarations, identifier};
use crate::graph::names::NameId;
use crate::graph::shapes::{self, Plan, ShapeError};
use crate::graph::{Argument, Dialect, Graph, Key, Kind, KindId, OriginId, Output, Primitive, Shape, TensorId, Value};
use crate::source::Location;
use crate::source::names::{Name, Names};

/// NNEF 1.0 has no operation of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) &'static str);

/// A flat graph in the making, of operations on tensors of scalars.
pub(crate) struct Builder<'d> {
    pub(crate) graph: Graph,
    declarations: Declarations<'d>,
    /// The kinds of the graph by name.
    kinds: FxHashMap<&'static str, Known>,
    /// The kinds that NNEF does not have.
    passed: FxHashMap<String, KindId>,
    /// The place that operations come from.
    at: Location,
}

/// A kind of the graph.
#[derive(Clone, Copy)]
struct Known {
    id: KindId,
    generic: Option<Primitive>,
    /// What the results hold.
    gives: Primitive,
}

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

impl<'d> Builder<'d> {
    /// An empty graph.
    pub(crate) fn new(name: &str, declarations: Declarations<'d>) -> Self {
        let mut names = Names::new();
        let name = names.intern(&identifier(name));
        let mut graph = Graph::new(name, Arc::new(names));
        graph.dialect = Dialect::V1;
        let (kinds, passed) = (FxHashMap::default(), FxHashMap::default());
        Builder { graph, declarations, kinds, passed, at: Location::default() }
    }

    /// Sets the place that the next operations come from.
    pub(crate) fn come_from(&mut self, at: Location) {
        self.at = at;
    }

    /// A name that the result keeps.
    pub(crate) fn name(&mut self, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.user(segment)
    }

    /// A name below another one.
    pub(crate) fn under(&mut self, name: NameId, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.child(name, segment, 0, false)
    }

    /// The same with a number.
    pub(crate) fn numbered(&mut self, name: NameId, text: &str, ordinal: u32) -> NameId {
        let segment = self.segment(text);
        self.part(name, segment, ordinal)
    }

    /// A part of names.
    pub(crate) fn segment(&mut self, text: &str) -> Name {
        self.graph.symbols_mut().intern(text)
    }

    /// A name below another one with a part that is known.
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
        let kind = self.kind(operation)?;
        let tensor = self.graph.add_tensor(name, Some(kind.gives));
        self.graph.set_shape(tensor, shape);
        self.add(kind, arguments, &[Output::Tensor(&tensor)]);
        Ok(tensor)
    }

    /// Adds an operation with one result of elements of a type, which generic operations are told.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn emit_of(
        &mut self,
        of: Primitive,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        name: NameId,
        shape: Option<Shape>,
    ) -> Result<TensorId, Unknown> {
        if of == Primitive::Scalar {
            return self.emit(operation, arguments, name, shape);
        }
        let kind = self.kind(operation)?;
        let tensor = self.graph.add_tensor(name, Some(of));
        self.graph.set_shape(tensor, shape);
        let arguments = (0..).zip(arguments).map(|(i, value)| Argument { key: Key::Param(i), value });
        let source = (self.at, OriginId::NONE);
        self.graph.add_operation(kind.id, (Some(of), true), arguments, &[Output::Tensor(&tensor)], source);
        Ok(tensor)
    }

    /// Adds an operation with any results.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    pub(crate) fn emit_all(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        results: Results,
    ) -> Result<Vec<TensorId>, Unknown> {
        let kind = self.kind(operation)?;
        Ok(self.add_all(kind, arguments.into_iter().collect(), None, results))
    }

    /// Adds an operation that NNEF does not have, with arguments by name.
    pub(crate) fn pass(&mut self, operation: &str, arguments: Vec<(String, Value)>, results: Results) -> Vec<TensorId> {
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
        let names: Vec<_> = arguments.iter().map(|(name, _)| self.graph.symbols_mut().intern(name)).collect();
        let kind = Known { id: kind, generic: None, gives: Primitive::Scalar };
        self.add_all(kind, arguments.into_iter().map(|(_, value)| value).collect(), Some(&names), results)
    }

    /// Infers the shapes of the results of the operation that gives a tensor.
    ///
    /// # Errors
    ///
    /// The shapes of its arguments break a rule.
    pub(crate) fn infer(&mut self, tensor: TensorId) -> Result<(), ShapeError> {
        let Some(operation) = self.graph.tensors[tensor.index()].producer else { return Ok(()) };
        let kind = self.graph.kind_id(&self.graph.operations[operation.index()]);
        let Some(plan) = Plan::new(&self.graph, kind, false) else { return Ok(()) };
        let inferred = shapes::infer(&self.graph, operation, &plan)?;
        self.graph.set_shapes(operation, inferred);
        Ok(())
    }

    fn kind(&mut self, operation: &'static str) -> Result<Known, Unknown> {
        if let Some(known) = self.kinds.get(operation) {
            return Ok(*known);
        }
        let declared = self.declarations.find(operation, &mut self.graph).ok_or(Unknown(operation))?;
        let gives = declared.gives.first().copied().flatten();
        let gives = gives.filter(|of| *of != Primitive::Generic).unwrap_or(Primitive::Scalar);
        let kind = declared.kind.clone();
        let generic = kind.generic.then_some(Primitive::Scalar);
        let known = Known { id: self.graph.add_kind(kind), generic, gives };
        self.kinds.insert(operation, known);
        Ok(known)
    }

    fn add_all(
        &mut self,
        kind: Known,
        arguments: Vec<Value>,
        names: Option<&[Name]>,
        results: Results,
    ) -> Vec<TensorId> {
        let add = |(name, shape): &(NameId, Option<Shape>)| {
            let tensor = self.graph.add_tensor(*name, Some(kind.gives));
            self.graph.set_shape(tensor, shape.clone());
            tensor
        };
        let tensors: Vec<TensorId> = results.names().iter().map(add).collect();
        let outputs: Vec<Output> = match results {
            Results::Each(_) => tensors.iter().map(Output::Tensor).collect(),
            Results::Array(_) => vec![Output::Array(&tensors)],
        };
        match names {
            None => self.add(kind, arguments, &outputs),
            Some(names) => {
                let arguments = names.iter().zip(arguments);
                let arguments = arguments.map(|(name, value)| Argument { key: Key::Named(*name), value });
                self.graph.add_operation(kind.id, (None, false), arguments, &outputs, (self.at, OriginId::NONE));
            }
        }
        tensors
    }

    fn add(&mut self, kind: Known, arguments: impl IntoIterator<Item = Value>, outputs: &[Output]) {
        let arguments = (0..).zip(arguments).map(|(i, value)| Argument { key: Key::Param(i), value });
        self.graph.add_operation(kind.id, (kind.generic, false), arguments, outputs, (self.at, OriginId::NONE));
    }
}
