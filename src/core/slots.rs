//! The locals of running bodies.

use super::program::Operand;
use super::value::Value;
use crate::graph::TensorId;
use crate::room;

/// How many slots more than a body needs are made at once, where there are too few.
const MORE: usize = 32;

/// A local of a running body.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// No value yet.
    Empty,
    /// The block that gives it its value when it is needed.
    Deferred(u32),
    /// Its value.
    Ready(Value),
}

impl Slot {
    /// Puts something else there.
    #[inline]
    pub(super) fn set(&mut self, new: Slot) {
        if self.is_plain() {
            std::mem::forget(std::mem::replace(self, new));
        } else {
            *self = new;
        }
    }

    /// Puts a value there, where there is none.
    #[inline]
    fn fill(&mut self, value: Value) {
        std::mem::forget(std::mem::replace(self, Slot::Ready(value)));
    }

    /// Takes the value out, if it has one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Value> {
        match std::mem::replace(self, Slot::Empty) {
            Slot::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// Whether there is nothing to drop.
    #[inline]
    fn is_plain(&self) -> bool {
        match self {
            Slot::Empty | Slot::Deferred(_) => true,
            Slot::Ready(value) => value.is_plain(),
        }
    }
}

impl Operand {
    /// What an operand stands for in the body that has these slots; none for a slot without a value.
    #[inline]
    pub(super) fn value<'v>(&self, slots: &'v [Slot], constants: &'v [Value]) -> Option<&'v Value> {
        match self {
            Operand::Slot(slot) => match slots.get(*slot as usize) {
                Some(Slot::Ready(value)) => Some(value),
                _ => None,
            },
            Operand::Const(constant) => constants.get(*constant as usize),
        }
    }

    /// A copy of that.
    #[inline(never)]
    pub(super) fn copy(&self, slots: &[Slot], constants: &[Value]) -> Value {
        match self.value(slots, constants) {
            Some(value) => value.clone(),
            // The compiler lets no slot without a value be read.
            None => Value::Logical(false),
        }
    }
}

/// The slots of all running bodies, those of each behind those of its caller.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Those from `end` on are empty, so that a call need not make its own.
    cells: Vec<Slot>,
    /// The first one of the innermost body.
    base: usize,
    /// One past its last one.
    end: usize,
}

impl Slots {
    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end
    }

    /// The first one of the innermost body.
    #[inline]
    pub(super) fn base(&self) -> usize {
        self.base
    }

    /// Those of the innermost body from one on.
    #[inline]
    pub(super) fn from(&mut self, first: u32) -> &mut [Slot] {
        &mut self.cells[self.base + first as usize..]
    }

    /// Those of the innermost body.
    #[inline]
    pub(super) fn own(&self) -> &[Slot] {
        &self.cells[self.base..]
    }

    /// The tensor that an operand stands for in the innermost body, if it is one, as most are.
    #[inline]
    pub(super) fn tensor(&self, operand: &Operand) -> Option<TensorId> {
        match operand {
            Operand::Slot(slot) => match self.cells.get(self.base + *slot as usize) {
                Some(Slot::Ready(Value::Tensor(tensor))) => Some(*tensor),
                _ => None,
            },
            Operand::Const(_) => None,
        }
    }

    /// One of the innermost body.
    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> &mut Slot {
        &mut self.cells[self.base + slot as usize]
    }

    /// Gives the outermost body, which is the innermost now, so many slots.
    pub(super) fn extend(&mut self, count: usize) {
        self.make(count);
        (self.base, self.end) = (0, self.end.max(count));
    }

    /// Makes room for the slots of another body.
    #[inline]
    pub(super) fn reserve(&mut self, count: u32) {
        if self.cells.len() < self.end + count as usize {
            self.make(self.end + count as usize);
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, count: usize) {
        let more = (count + MORE).saturating_sub(self.cells.len());
        room::reserve(&mut self.cells, more);
        self.cells.extend(std::iter::repeat_n(Slot::Empty, more));
    }

    /// Gives the body that is entered next, for which there is room, its first values.
    #[inline]
    pub(super) fn pass(&mut self, values: impl Iterator<Item = Value>) {
        for (slot, value) in self.cells[self.end..].iter_mut().zip(values) {
            slot.fill(value);
        }
    }

    /// The same with copies of operands in the innermost body.
    #[inline]
    pub(super) fn pass_operands(&mut self, operands: &[Operand], constants: &[Value]) {
        for (place, operand) in (self.end..).zip(operands) {
            if let Some(tensor) = self.tensor(operand) {
                self.cells[place].fill(Value::Tensor(tensor));
            } else {
                let value = operand.copy(self.own(), constants);
                self.cells[place].fill(value);
            }
        }
    }

    /// Enters a body with so many slots, for which there is room.
    #[inline]
    pub(super) fn enter(&mut self, count: u32) {
        (self.base, self.end) = (self.end, self.end + count as usize);
    }

    /// Empties the slots of the innermost body, which needs them no more.
    #[inline]
    pub(super) fn free(&mut self) {
        for slot in &mut self.cells[self.base..self.end] {
            slot.set(Slot::Empty);
        }
        self.end = self.base;
    }

    /// Leaves the innermost body for the one around it, whose first slot this is.
    #[inline]
    pub(super) fn leave(&mut self, base: usize) {
        self.free();
        self.base = base;
    }
}
