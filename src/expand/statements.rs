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
        self.compile_callees();
        let (before, reached) = (self.program.marks(), self.reached.len());
        let first = self.slots.len() as u32;
        let (lowering, program, names) = (&self.lowering, &mut self.program, &mut self.graph.names);
        let of = (&*chunk.ast, &self.checked.statements);
        let entry = Compiler::of_graph(self.checked, lowering, program, names, of).graph(chunk, first, left);
        let after = self.program.marks();
        self.run(entry, slots)?;
        // A body that was compiled meanwhile stays, and what stands before it.
        if self.program.marks() == after {
            self.program.truncate(before);
            self.reached.truncate(reached.min(before.sites));
        }
        Ok(())
    }

    /// Compiles the bodies that the statements call, and those that these call: code that stays
    /// stands before code that goes.
    fn compile_callees(&mut self) {
        let mut at = self.program.instrs.len();
        for fragment in self.checked.statements.calls.iter().flatten().filter_map(|call| call.fragment) {
            if [true, false].iter().any(|taken_apart| self.lowering.expands(fragment, *taken_apart)) {
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
