//! The statements of the graph, which are checked some at a time.

use super::bodies::BodyCheck;
use super::state::Place;
use super::{Checked, Checker, GraphInfo};
use crate::diagnostics::{Code, Diagnostics};
use crate::nnef::ast::{Ast, GraphDecl, Ident};
use crate::nnef::statements::Chunk;

impl<'d> Checker<'d> {
    /// Goes on with the check of the graph.
    fn in_graph<T>(&mut self, graph: &GraphDecl, ast: &Ast, check: impl FnOnce(&mut BodyCheck<'_, 'd>) -> T) -> T {
        let main = self.checked.document.main_id();
        let state = std::mem::take(&mut self.graph);
        let mut body = BodyCheck::new(self, main, Place::Graph(graph), ast, state);
        let found = check(&mut body);
        self.graph = body.state;
        found
    }

    /// Checks the next statements of the graph, and what these reach of the standard library.
    pub(crate) fn graph_statements(&mut self, graph: &GraphDecl, chunk: &Chunk) {
        if self.flat_graph {
            self.flat_statements(&chunk.ast, &chunk.statements);
        }
        self.checked.statements.reset(&chunk.ast);
        self.in_graph(graph, &chunk.ast, |check| {
            chunk.statements.iter().for_each(|statement| check.assignment(statement));
        });
        self.pending_bodies();
    }

    /// How many slots the statements of the graph have so far.
    pub(crate) fn graph_slots(&self) -> usize {
        self.graph.slots.len()
    }

    /// Ends the checks, after the last statement of the graph.
    pub(crate) fn finish(mut self) -> (Checked<'d>, Diagnostics) {
        if let Some(graph) = self.checked.document.main().graphs.first() {
            self.checked.graph = self.in_graph(graph, &Ast::default(), |check| {
                let mut slots = |declared: &[Ident], code: Code, what: &str| {
                    declared.iter().map(|&ident| check.finish(ident, code, what)).collect()
                };
                let outputs = slots(&graph.results, Code::OutputUnassigned, "output");
                GraphInfo { outputs, inputs: slots(&graph.params, Code::InputUnassigned, "input") }
            });
        }
        (self.checked, self.diagnostics)
    }
}
