//! Returns without a store, and tail calls that free the caller's slots.
//!
//! If the last step of a body is to store its only result, the value stays on the stack instead.
//!
//! In deep recursion, the slots of open calls are memory that is used for the first time, which costs more than the
//! calls themselves. After its last call, a body mostly reads no slot: all operands and the result are on the stack.
//! Such a call frees the slots of its caller, so that a million open calls need no more slots than the innermost one.

use super::machine::Machine;
use super::program::{Instr, Program};

/// The number of open calls that keep their slots, because these are in the caches of the processor. Builds with
/// debug assertions, such as those of tests, free slots in most calls.
const SHALLOW: usize = if cfg!(debug_assertions) { 2 } else { 256 };

/// The number of instructions that are examined after a call.
const FAR: usize = 32;

impl Program {
    /// Finishes the code of a body, which starts at `entry` and returns at `end`; only deferred blocks may
    /// follow it. The store of the only result becomes a return, and calls that can free the slots are marked.
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

    /// Whether the code from an instruction to the end of the body reads and writes no slot.
    fn is_last(&self, mut at: usize) -> bool {
        for _ in 0..FAR {
            match self.instrs.get(at) {
                Some(Instr::ReturnTop(_)) => return true,
                Some(Instr::Jump(to)) => {
                    at = *to as usize;
                    continue;
                }
                Some(Instr::Call(site) | Instr::Emit(site)) if self.uses_slots(*site) => return false,
                Some(
                    Instr::Const(_)
                    | Instr::Unary(_)
                    | Instr::Binary { .. }
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

    /// Whether a call or an emission reads arguments from slots, or writes its result to one. Arguments that
    /// are all constants count as slots, which costs memory only.
    fn uses_slots(&self, site: u32) -> bool {
        let site = &self.sites[site as usize];
        site.operands.is_some() || site.slot.is_some()
    }
}

impl Machine {
    /// Whether marked calls free the slots of the running body.
    #[inline]
    pub(super) fn releases(&self) -> bool {
        self.frames.len() > SHALLOW
    }

    /// Returns from a fragment, and from its callers as long as they only return the same value, which is on
    /// the stack.
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
