//! The statements of the graph, which are checked some at a time.

use super::bodies::BodyCheck;
use super::state::{BodyState, Place, Source};
use super::{Checked, Checker, GraphInfo};
use crate::diagnostics::{Code, Diagnostics};
use crate::nnef::ast::{Ast, GraphDecl, Ident};
use crate::nnef::statements::Chunk;

impl<'d> Checker<'d> {
    fn graph_check<'c>(&'c mut self, graph: &'c GraphDecl, ast: &'c Ast, state: BodyState) -> BodyCheck<'c, 'd> {
        let main = self.checked.document.main_id();
        BodyCheck::new(self, main, Place::Graph, ast, Source::Graph(&graph.body), state)
    }

    /// Checks the next statements of the graph, and what these reach of the standard library.
    pub(crate) fn graph_statements(&mut self, graph: &GraphDecl, chunk: &Chunk) {
        if self.flat_graph {
            self.flat_statements(&chunk.ast, chunk.statements.iter());
        }
        self.checked.statements.reset(&chunk.ast);
        let Some(state) = self.graph.take() else { return };
        let mut check = self.graph_check(graph, &chunk.ast, state);
        chunk.statements.iter().for_each(|statement| check.assignment(statement));
        self.graph = Some(check.into_state());
        self.pending_bodies();
    }

    /// How many slots the statements of the graph have so far.
    pub(crate) fn graph_slots(&self) -> usize {
        self.graph.as_ref().map_or(0, BodyState::slots)
    }

    /// Ends the checks, after the last statement of the graph.
    pub(crate) fn finish(mut self) -> (Checked<'d>, Diagnostics) {
        if let (Some(graph), Some(state)) = (self.checked.document.main().graphs.first(), self.graph.take()) {
            let ast = Ast::default();
            let mut check = self.graph_check(graph, &ast, state);
            let mut slots = |declared: &[Ident], code: Code, what: &str| {
                declared.iter().map(|&ident| check.finish(ident, code, what)).collect()
            };
            let outputs = slots(&graph.results, Code::OutputUnassigned, "output");
            let inputs = slots(&graph.params, Code::InputUnassigned, "input");
            self.checked.graph = GraphInfo { inputs, outputs };
        }
        (self.checked, self.diagnostics)
    }
}
