//! How bodies end, and slots that are freed before that.
//!
//! A body whose last step is to give its one result a value returns what is on the stack: the value
//! need not go through the slot.
//!
//! In deep recursion the slots of open calls are memory that is touched for the first time, which
//! costs more than the calls themselves. After the last call of a body mostly no slot is read: all
//! that remains to be done is on the stack, and so will be the result. Such a call frees the slots of
//! its caller, so that a million open calls need no more slots than the innermost one.

use super::machine::Machine;
use super::program::{Instr, Program};

/// So many open calls keep their slots: those are in the caches of the processor.
const SHALLOW: usize = 256;

/// How many instructions are looked at behind a call.
const FAR: usize = 32;

impl Program {
    /// Finishes the code of a body, which is the end of the program but for statements that are
    /// evaluated on demand, and returns at an instruction.
    pub(crate) fn finish_body(&mut self, entry: u32, end: usize, results: &[u32]) {
        let code = &self.instrs[entry as usize..end];
        let ([result], Some(Instr::Store(slot))) = (results, code.last()) else { return };
        if result != slot {
            return;
        }
        let last = end as u32 - 1;
        for at in entry as usize..end {
            if self.instrs[at] == Instr::Jump(last) {
                self.instrs[at] = Instr::ReturnTop(*result);
            }
        }
        self.instrs[end - 1] = Instr::ReturnTop(*result);
        for at in entry as usize..end {
            if let Instr::Call(site) = self.instrs[at] {
                self.sites[site as usize].releases = self.is_last(at + 1);
            }
        }
    }

    /// Whether the code from an instruction to the end of the body needs no slot.
    fn is_last(&self, mut at: usize) -> bool {
        for _ in 0..FAR {
            match self.instrs.get(at) {
                Some(Instr::ReturnTop(_)) => return true,
                Some(Instr::Jump(to)) => {
                    at = *to as usize;
                    continue;
                }
                Some(
                    Instr::Const(_)
                    | Instr::Unary(_)
                    | Instr::Binary(_)
                    | Instr::Collect { .. }
                    | Instr::Index
                    | Instr::Slice { .. }
                    | Instr::Builtin(_)
                    | Instr::Call(_)
                    | Instr::Emit(_)
                    | Instr::AsTensor
                    | Instr::Conform(_),
                ) => {}
                _ => return false,
            }
            at += 1;
        }
        false
    }
}

impl Machine {
    /// Whether calls free the slots of the running body where they can.
    #[inline]
    pub(super) fn releases(&self) -> bool {
        self.frames.len() > SHALLOW
    }

    /// Leaves a fragment, and those around it that do no more than to return the same. The result
    /// is on the stack.
    #[inline(never)]
    pub(super) fn return_top(&mut self) {
        loop {
            self.leave();
            match self.program.instrs[self.pc as usize] {
                Instr::ReturnTop(_) => {}
                Instr::Store(slot) => {
                    self.pc += 1;
                    let value = self.pop();
                    self.put(slot, value);
                    return;
                }
                _ => return,
            }
        }
    }
}
