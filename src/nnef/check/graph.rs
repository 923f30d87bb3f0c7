//! The statements of the graph, which are checked in groups.

use super::bodies::BodyCheck;
use super::state::CheckedBody;
use super::{Checked, Checker, GraphInfo};
use crate::diagnostics::{Code, Diagnostics};
use crate::nnef::ast::{GraphDecl, Group, Ident};

impl<'d> Checker<'d> {
    /// Runs a check with the state and side tables of the graph.
    fn in_graph<T>(&mut self, graph: &GraphDecl, check: impl FnOnce(&mut BodyCheck<'_, 'd>) -> T) -> T {
        let main = self.checked.document.main_id();
        let (ast, state) = (self.ast(main), std::mem::take(&mut self.graph));
        let tables = std::mem::take(&mut self.checked.statements);
        let mut body = BodyCheck::new(self, main, ast, CheckedBody::Graph(graph), state, tables);
        let found = check(&mut body);
        let (state, tables) = (body.state, body.tables);
        (self.graph, self.checked.statements) = (state, tables);
        found
    }

    /// Checks the next group of statements, and the bodies of the standard fragments they call.
    pub(crate) fn graph_statements(&mut self, graph: &GraphDecl, group: &Group) {
        self.checked.statements.reset(group.nodes.clone());
        self.in_graph(graph, |check| {
            group.statements.iter().for_each(|statement| check.assignment(statement));
        });
        if self.flat_graph {
            self.flat_statements(self.ast(self.checked.document.main_id()), group.statements);
        }
        self.pending_bodies();
    }

    /// How many slots the statements of the graph have so far.
    pub(crate) fn graph_slots(&self) -> usize {
        self.graph.slots.len()
    }

    /// Ends the checks, after the last statement of the graph.
    pub(crate) fn finish(mut self) -> (Checked<'d>, Diagnostics) {
        if let Some(graph) = self.checked.document.main().graphs.first() {
            self.checked.graph = self.in_graph(graph, |check| {
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
