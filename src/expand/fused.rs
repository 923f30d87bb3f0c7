//! Sequences of instructions that are run at once.
//!
//! Recursion over a list asks for its length, compares that with a number, takes an item and goes
//! on with the rest. One instruction for each of these looks at the list where it is, instead of
//! having it copied to the stack and dropped there.
//!
//! Such an instruction takes the place of the first one of its sequence only, and the others stay
//! behind it. Where the operands are as they mostly are, it does what all of them do, and passes
//! over them. Else it does what the first one did, and the others follow: what is to be told
//! about unusual operands, and where, is known to them alone.

use super::arithmetic;
use super::code::{Instr, Program};
use super::frame::Slot;
use super::machine::Machine;
use super::value::Value;
use crate::nnef::ast::{BinaryOp, Builtin};
use crate::nnef::operators::Class;

/// What is done at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fused {
    /// `Load`, `Builtin(LengthOf)`: push the length of a list in a slot.
    Length(u32),
    /// `Load`, `Const`, `Index`: push an item of a list in a slot.
    Item {
        /// The slot.
        slot: u16,
        /// Which item.
        index: u16,
    },
    /// `Load`, `Const`, `Slice`: push a list in a slot without its first items.
    Rest {
        /// The slot.
        slot: u16,
        /// How many items are left out.
        begin: u16,
    },
    /// `Load`, `Const`, `Binary`: push what an operator gives of an integer in a slot and another one.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The slot.
        slot: u16,
        /// The other integer.
        with: i16,
    },
    /// The same and `JumpUnless`: go on there unless the integer in a slot compares so.
    Decide {
        /// The comparison.
        op: BinaryOp,
        /// The slot.
        slot: u16,
        /// What the integer is compared with.
        with: i16,
    },
    /// `Store`, `Return`: return what is on top of the stack; see [`super::release`]. The slot is that
    /// of the result.
    Return(u32),
    /// `Const`, `Binary`, `JumpUnless`: pop an integer; go on there unless it compares so.
    JumpUnless {
        /// The comparison.
        op: BinaryOp,
        /// What the integer is compared with.
        with: i16,
    },
}

impl Instr {
    /// The first of the instructions that are fused into this, where that is asked for.
    pub(super) fn plain(self) -> Instr {
        match self {
            Instr::Fused(Fused::Binary { slot, .. }) => Instr::Load(slot.into()),
            Instr::Fused(Fused::Return(slot)) => Instr::Store(slot),
            instr => instr,
        }
    }
}

impl Program {
    /// Fuses the instructions emitted last, of which this is the last one, if they are a sequence
    /// for which there is a fused one.
    #[inline]
    pub(super) fn fuse(&mut self, last: Instr) {
        if matches!(
            last,
            Instr::Builtin(_) | Instr::Index | Instr::Slice { .. } | Instr::Binary(_) | Instr::JumpUnless(_)
        ) && let Some((len, fused)) = self.fused()
        {
            let first = self.instrs.len() - len;
            self.instrs[first] = Instr::Fused(fused);
        }
    }

    /// The fused instruction for those emitted last, and how many these are.
    fn fused(&self) -> Option<(usize, Fused)> {
        Some(match self.instrs[..] {
            [.., Instr::Load(slot), Instr::Builtin(Builtin::LengthOf)] => (2, Fused::Length(slot)),
            [.., Instr::Load(slot), Instr::Const(index), Instr::Index] => {
                (3, Fused::Item { slot: slot.try_into().ok()?, index: self.integer(index)? })
            }
            [.., Instr::Load(slot), Instr::Const(begin), Instr::Slice { begin: true, end: false }] => {
                (3, Fused::Rest { slot: slot.try_into().ok()?, begin: self.integer(begin)? })
            }
            [.., Instr::Load(slot), Instr::Const(with), Instr::Binary(op)] => {
                (3, Fused::Binary { op, slot: slot.try_into().ok()?, with: self.integer(with)? })
            }
            [
                ..,
                Instr::Fused(Fused::Binary { op, slot, with }),
                Instr::Const(_),
                Instr::Binary(_),
                Instr::JumpUnless(_),
            ] if matches!(op.info().class, Class::Order | Class::Equality) => (4, Fused::Decide { op, slot, with }),
            [.., Instr::Const(with), Instr::Binary(op), Instr::JumpUnless(_)]
                if matches!(op.info().class, Class::Order | Class::Equality) =>
            {
                (3, Fused::JumpUnless { op, with: self.integer(with)? })
            }
            _ => return None,
        })
    }

    /// A small integer among the constants.
    fn integer<T: TryFrom<i64>>(&self, constant: u32) -> Option<T> {
        self.constants.get(constant as usize)?.as_int()?.try_into().ok()
    }
}

impl Machine<'_, '_> {
    /// Runs a fused instruction, or the first one of its sequence.
    #[inline]
    pub(super) fn run_fused(&mut self, fused: Fused) {
        match fused {
            Fused::Length(slot) => self.push_length(slot),
            Fused::Item { slot, index } => self.push_item(slot.into(), index.into()),
            Fused::Rest { slot, begin } => self.push_rest(slot.into(), begin.into()),
            Fused::Binary { op, slot, with } => self.push_result(op, slot.into(), with.into()),
            Fused::Decide { op, slot, with } => self.decide(op, slot.into(), with.into()),
            Fused::Return(_) => self.return_top(),
            Fused::JumpUnless { op, with } => self.jump_unless(op, with.into()),
        }
    }

    fn push_length(&mut self, slot: u32) {
        match self.slots[(self.base + slot) as usize] {
            Slot::Ready(Value::Array(ref list) | Value::String(ref list)) => {
                self.stack.push(Value::Int(list.len() as i64));
                self.pc += 1;
            }
            _ => self.load(slot),
        }
    }

    fn push_item(&mut self, slot: u32, index: usize) {
        let item = match &self.slots[(self.base + slot) as usize] {
            Slot::Ready(Value::Array(list) | Value::Tuple(list)) => list.get(index),
            _ => None,
        };
        match item {
            Some(item) => {
                self.stack.push(item);
                self.pc += 2;
            }
            None => self.load(slot),
        }
    }

    fn push_rest(&mut self, slot: u32, begin: usize) {
        match &self.slots[(self.base + slot) as usize] {
            Slot::Ready(Value::Array(list)) if begin <= list.len() => {
                self.stack.push(Value::Array(list.slice(begin, list.len())));
                self.pc += 2;
            }
            _ => self.load(slot),
        }
    }

    fn integer_in(&self, slot: u32) -> Option<i64> {
        match &self.slots[(self.base + slot) as usize] {
            Slot::Ready(value) => value.as_int(),
            _ => None,
        }
    }

    fn push_result(&mut self, op: BinaryOp, slot: u32, with: i64) {
        match self.integer_in(slot).and_then(|i| arithmetic::of_integers(op, i, with)) {
            Some(value) => {
                self.stack.push(value);
                self.pc += 2;
            }
            None => self.load(slot),
        }
    }

    fn decide(&mut self, op: BinaryOp, slot: u32, with: i64) {
        let holds = self.integer_in(slot).and_then(|i| arithmetic::holds(op, i.cmp(&with)));
        match (holds, self.program.instrs[self.pc as usize + 2]) {
            (Some(holds), Instr::JumpUnless(to)) => self.pc = if holds { self.pc + 3 } else { to },
            _ => self.load(slot),
        }
    }

    fn jump_unless(&mut self, op: BinaryOp, with: i64) {
        let holds = match self.stack.last() {
            Some(Value::Int(i)) => arithmetic::holds(op, i.cmp(&with)),
            _ => None,
        };
        match (holds, self.program.instrs[self.pc as usize + 1]) {
            (Some(holds), Instr::JumpUnless(to)) => {
                self.drop_top();
                self.pc = if holds { self.pc + 2 } else { to };
            }
            _ => self.stack.push(Value::Int(with)),
        }
    }
}
