//! Compiles and runs the statements of a graph, some at a time.

use rustc_hash::FxHashMap;

use super::code::Instr;
use super::compile::Compiler;
use super::machine::Machine;
use crate::diagnostics::Diagnostic;
use crate::nnef::statements::Chunk;
use crate::source::names::Name;

impl Machine<'_, '_> {
    /// Compiles and runs the next statements of a graph. Their code is forgotten afterwards.
    pub(super) fn run_statements(
        &mut self,
        chunk: &Chunk,
        slots: usize,
        left: &mut FxHashMap<Name, u32>,
    ) -> Result<(), Box<Diagnostic>> {
        self.compile_callees(chunk);
        let (mut before, mut reached) = (self.program.marks(), self.reached.len());
        let first = self.slots.len() as u32;
        let mut rest = None;
        loop {
            let (lowering, program, names) = (&self.lowering, &mut self.program, &mut self.graph.names);
            let of = (&*chunk.ast, &self.checked.statements);
            let compiler = Compiler::of_graph(self.checked, lowering, program, names, of);
            let (entry, next) = match rest {
                Some(rest) => compiler.next_part(rest),
                None => compiler.graph(chunk, first, left),
            };
            let after = self.program.marks();
            self.run(entry, slots)?;
            if self.program.marks() == after {
                self.program.truncate(if next.is_some() { before.with_names_of(after) } else { before });
                self.latest = None;
                self.reached.truncate(reached.min(before.sites));
            } else {
                // A body was compiled meanwhile, and stays.
                (before, reached) = (self.program.marks(), self.reached.len());
            }
            rest = next;
            if rest.is_none() {
                return Ok(());
            }
        }
    }

    /// Compiles what the statements have in common with others, the bodies that they call, and those
    /// that these call: code that stays stands before code that goes.
    fn compile_callees(&mut self, chunk: &Chunk) {
        let mut at = self.program.instrs.len();
        self.compile_compounds(chunk);
        for fragment in self.checked.statements.calls.iter().flatten().filter_map(|call| call.fragment) {
            if [true, false].iter().any(|taken_apart| self.lowering.expands(self.checked, fragment, *taken_apart)) {
                self.head(fragment);
            }
        }
        while let Some(instr) = self.program.instrs.get(at) {
            if let Instr::Call(site) | Instr::CallWith(site) = instr
                && let Some(fragment) = self.program.sites[*site as usize].fragment
            {
                self.head(fragment);
            }
            at += 1;
        }
    }
}
