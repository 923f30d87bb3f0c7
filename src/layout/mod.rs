//! Layouts as graphs: the memory of an array, made by primitive operations.

mod bitcasts;
mod primitives;

use std::sync::Arc;

use crate::Graph;
use crate::graph::names::NameId;
use crate::graph::shapes::Inferred;
use crate::graph::{
    Argument, Dialect, Extent, Key, KindId, Operation, OriginId, Output, Primitive, Shape, TensorId, Value,
};
use crate::nnef::migrate::target::Declarations;
use crate::source::Location;
use crate::source::names::Names;
use crate::tensor::TensorError;

pub(crate) use bitcasts::Removed;

/// The order of the axes that a transpose makes: those that it does not name stay at the end. None of
/// other operations.
fn permuted_axes(graph: &Graph, operation: &Operation, rank: usize) -> Option<Vec<usize>> {
    if graph.operation_name(operation) != "transpose" {
        return None;
    }
    let named = graph.attribute(operation, "axes")?.as_integers()?.iter().map(|axis| *axis as usize);
    let count = named.len();
    Some(named.chain(count..rank).collect())
}

/// A flat graph in the making, of operations with one result on tensors of scalars.
struct Builder<'d> {
    graph: Graph,
    declarations: Declarations<'d>,
}

impl<'d> Builder<'d> {
    fn new(name: &str, declarations: Declarations<'d>) -> Self {
        let mut names = Names::new();
        let name = names.intern(name);
        let mut graph = Graph::new(name, Arc::new(names));
        graph.dialect = Dialect::V1;
        Builder { graph, declarations }
    }

    /// A name that the result keeps.
    fn name(&mut self, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.user(segment)
    }

    /// A name below another one.
    fn under(&mut self, name: NameId, text: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(text);
        self.graph.names.child(name, segment, 0, false)
    }

    /// Adds an operation with arguments by position.
    ///
    /// # Errors
    ///
    /// The standard has no such operation.
    fn emit(
        &mut self,
        operation: &'static str,
        arguments: Vec<Value>,
        name: NameId,
        shape: &[u64],
    ) -> Result<TensorId, TensorError> {
        let unknown = || TensorError::new(format!("NNEF has no operation `{operation}`"));
        let kind = self.declarations.find(operation, &mut self.graph).ok_or_else(unknown)?.kind.clone();
        let generic = kind.generic.then_some(Primitive::Scalar);
        let known = self.graph.kinds.iter().position(|other| other.name == kind.name);
        let kind = match known {
            Some(at) => KindId(at as u32),
            None => self.graph.add_kind(kind),
        };
        let tensor = self.graph.add_tensor(name, Some(Primitive::Scalar));
        let arguments = (0..).zip(arguments).map(|(i, value)| Argument { key: Key::Param(i), value });
        let source = (Location::default(), OriginId::NONE);
        let id = self.graph.add_operation(kind, (generic, false), arguments, &[Output::Tensor(&tensor)], source);
        let extents: Vec<Extent> = shape.iter().map(|&extent| Extent::new(extent as i64)).collect();
        self.graph.set_shapes(id, Inferred::Same(Some(Shape::new(&extents))));
        Ok(tensor)
    }
}
