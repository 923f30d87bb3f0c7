//! Compiles long statements of the graph in parts.
//!
//! A chain of a million operators is one statement. Its code would be a hundred bytes for each of
//! them that nothing touched before. So some operators are compiled and run, which leaves what is
//! on their left on the stack, and their code makes room for that of the next ones.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Hint, Instr};
use super::compile::Compiler;
use crate::nnef::ast::{Assignment, ExprId};
use crate::source::Span;
use crate::source::names::Name;

/// The instructions of a part, about: code that fits into a cache.
const PART: u32 = 1 << 10;

/// What is left of a statement of which some was compiled.
pub struct Rest {
    assignment: Assignment,
    hint: Hint,
    /// The operators and subscripts to come, the next one last.
    above: Vec<ExprId>,
    unnamed: FxHashMap<Name, u32>,
    superseded: FxHashSet<u32>,
    bindings: (u32, Vec<u32>),
}

impl Compiler<'_, '_> {
    /// Compiles the first part of a statement of the graph; all of it, if it is no chain.
    pub(super) fn first_part(mut self, assignment: &Assignment) -> (u32, Option<Rest>) {
        let entry = self.here();
        let hint = self.begin_statement(assignment);
        let (above, leaf) = self.ast.left_spine(assignment.value);
        self.expr(leaf, if above.is_empty() { hint } else { Hint::None });
        self.part(entry, assignment, hint, above.into_vec())
    }

    /// Compiles the next part of a statement. What was compiled before left its value on the stack.
    pub(super) fn next_part(mut self, rest: Rest) -> (u32, Option<Rest>) {
        let entry = self.here();
        self.barrier();
        self.unnamed = rest.unnamed;
        self.superseded = rest.superseded;
        (self.first_slot, self.bindings) = rest.bindings;
        self.part(entry, &rest.assignment, rest.hint, rest.above)
    }

    fn part(mut self, entry: u32, assignment: &Assignment, hint: Hint, mut above: Vec<ExprId>) -> (u32, Option<Rest>) {
        while let Some(node) = above.pop() {
            self.above(node, if above.is_empty() { hint } else { Hint::None });
            if self.here() - entry > PART && !above.is_empty() {
                self.emit(Instr::Return, Span::default());
                let (unnamed, superseded) = (self.unnamed, self.superseded);
                let bindings = (self.first_slot, self.bindings);
                let assignment = *assignment;
                return (entry, Some(Rest { assignment, hint, above, unnamed, superseded, bindings }));
            }
        }
        self.store(assignment.target, self.ast.span(assignment.value));
        self.emit(Instr::Return, Span::default());
        (entry, None)
    }
}
