//! The shapes that locals of fragments have in the calls of the graph.

use rustc_hash::FxHashMap;

use crate::Document;
use crate::graph::{Graph, TensorId};
use crate::lsp::symbols::Symbol;
use crate::nnef::ast::ExprId;
use crate::source::names::Name;

/// The most shapes of a local that are shown.
pub(super) const MOST_SHAPES: usize = 4;

/// Tensors of different shapes, each with how many have its shape.
type Shapes = Vec<(TensorId, usize)>;

/// The shapes of the locals of all fragments of a document.
#[derive(Debug, Default)]
pub(super) struct LocalShapes {
    /// By the start of the value.
    by_value: FxHashMap<u32, Shapes>,
    /// By the fragment and the name: the result of a call has the name that the caller gives it, so that it is found by its
    /// value, and what a call stands for has the place of the call.
    by_name: FxHashMap<(Name, Name), Shapes>,
}

impl LocalShapes {
    pub(super) fn new(document: &Document, graph: &Graph) -> Self {
        let (file, names) = (document.main().file, document.names());
        let mut found = LocalShapes::default();
        for operation in &graph.operations {
            let Some(tensor) = graph.tensors_of(operation).next() else { continue };
            let at = operation.location();
            let called = graph.calls(operation).next().and_then(|(called, _)| names.get(called));
            let name = graph.names.source_name(graph.name_of(tensor));
            let local = called.zip(name);
            if let Some(local) = local {
                add(graph, found.by_name.entry(local).or_default(), tensor);
            }
            if at.file == file {
                add(graph, found.by_value.entry(at.span.start).or_default(), tensor);
            }
        }
        found
    }

    /// The shapes of a local that gets a value.
    pub(super) fn of(&self, document: &Document, symbol: &Symbol, value: ExprId) -> &[(TensorId, usize)] {
        let main = document.main();
        let here = self.by_value.get(&main.ast.span(value).start);
        let named = || {
            let fragment = main.fragments.get(symbol.body? as usize)?;
            self.by_name.get(&(fragment.name.name, document.names().get(&symbol.name)?))
        };
        here.or_else(named).map_or(&[], Vec::as_slice)
    }
}

/// Counts a tensor. More shapes than are shown are one too many.
fn add(graph: &Graph, shapes: &mut Shapes, tensor: TensorId) {
    let shape = graph.shape_id(tensor);
    let is_new = shapes.len() <= MOST_SHAPES;
    match shapes.iter_mut().find(|(known, _)| graph.shape_id(*known) == shape) {
        Some((_, count)) => *count += 1,
        None if is_new => shapes.push((tensor, 1)),
        None => {}
    }
}
