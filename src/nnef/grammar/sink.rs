//! Where the statements of a body go.

use crate::nnef::ast::{Assignment, Ast, Body, Marks};
use crate::nnef::statements::{Statements, Targets};
use crate::source::Span;

/// What takes the statements of a body.
#[derive(Debug)]
pub(super) enum Sink {
    /// The body of a fragment: its nodes are those of the module.
    Fragment(Body),
    /// The body of a graph, packed.
    Graph(Box<Statements>),
}

impl Sink {
    /// The empty body of a graph or a fragment.
    pub(crate) fn new(graph: bool) -> Self {
        if graph { Sink::Graph(Box::default()) } else { Sink::Fragment(Body::default()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Sink::Fragment(body) => body.assignments.is_empty(),
            Sink::Graph(body) => body.is_empty(),
        }
    }

    pub(crate) fn span(&mut self) -> &mut Span {
        match self {
            Sink::Fragment(body) => &mut body.span,
            Sink::Graph(body) => &mut body.span,
        }
    }

    /// Takes a statement. Its nodes are all that came after the marks; those of a graph are packed
    /// and leave the tree.
    pub(crate) fn push(&mut self, ast: &mut Ast, marks: Marks, targets: &mut Targets, assignment: Assignment) {
        match self {
            Sink::Fragment(body) => body.assignments.push(assignment),
            Sink::Graph(body) => {
                body.push(ast, marks, targets, &assignment);
                marks.rewind(ast);
            }
        }
    }
}
