//! The locals of running bodies.

use super::program::ImmediateOperand;
use super::value::Value;
use crate::graph::TensorId;
use crate::room;

/// The number of extra slots that are created when there are too few.
const MORE: usize = 32;

/// A local of a running body.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// No value yet.
    Empty,
    /// The deferred block that computes its value.
    Deferred(u32),
    /// Its value.
    Ready(Value),
}

impl Slot {
    /// Replaces the content.
    #[inline]
    pub(super) fn set(&mut self, new: Slot) {
        if self.is_plain() {
            std::mem::forget(std::mem::replace(self, new));
        } else {
            *self = new;
        }
    }

    /// Stores a value in a slot that has none.
    #[inline]
    fn fill(&mut self, value: Value) {
        std::mem::forget(std::mem::replace(self, Slot::Ready(value)));
    }

    /// Removes and returns the value, if there is one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Value> {
        match std::mem::replace(self, Slot::Empty) {
            Slot::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// Whether dropping the content has no effect.
    #[inline]
    fn is_plain(&self) -> bool {
        match self {
            Slot::Empty | Slot::Deferred(_) => true,
            Slot::Ready(value) => value.is_plain(),
        }
    }
}

impl ImmediateOperand {
    /// The value of an operand, given the slots of the running body; none for a slot without a value.
    #[inline]
    pub(super) fn value<'v>(&self, slots: &'v [Slot], constants: &'v [Value]) -> Option<&'v Value> {
        match self {
            ImmediateOperand::Slot(slot) => match slots.get(*slot as usize) {
                Some(Slot::Ready(value)) => Some(value),
                _ => None,
            },
            ImmediateOperand::Const(constant) => constants.get(*constant as usize),
        }
    }

    /// A copy of the value of an operand.
    #[inline(never)]
    pub(super) fn copy(&self, slots: &[Slot], constants: &[Value]) -> Value {
        match self.value(slots, constants) {
            Some(value) => value.clone(),
            // Unreachable: the compiler emits no read of a slot that has no value.
            None => Value::Logical(false),
        }
    }
}

/// The slots of all running bodies, from the outermost to the innermost.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The slots from `end` on are empty and reused by the next call.
    cells: Vec<Slot>,
    /// The first slot of the innermost body.
    base: usize,
    /// One past its last slot.
    end: usize,
}

impl Slots {
    /// The number of slots in use.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end
    }

    /// The first slot of the innermost body.
    #[inline]
    pub(super) fn base(&self) -> usize {
        self.base
    }

    /// The slots of the innermost body from `first` on.
    #[inline]
    pub(super) fn from(&mut self, first: u32) -> &mut [Slot] {
        &mut self.cells[self.base + first as usize..]
    }

    /// The slots of the innermost body.
    #[inline]
    pub(super) fn own(&self) -> &[Slot] {
        &self.cells[self.base..]
    }

    /// The tensor of an operand in the innermost body, if it is a local with a tensor, as most operands are.
    #[inline]
    pub(super) fn tensor(&self, operand: &ImmediateOperand) -> Option<TensorId> {
        match operand {
            ImmediateOperand::Slot(slot) => match self.cells.get(self.base + *slot as usize) {
                Some(Slot::Ready(Value::Tensor(tensor))) => Some(*tensor),
                _ => None,
            },
            ImmediateOperand::Const(_) => None,
        }
    }

    /// A slot of the innermost body.
    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> &mut Slot {
        &mut self.cells[self.base + slot as usize]
    }

    /// Extends the outermost body, which must be the innermost one, to a number of slots.
    pub(super) fn extend(&mut self, count: usize) {
        self.make(count);
        (self.base, self.end) = (0, self.end.max(count));
    }

    /// Creates the slots for the next call, if there are not enough.
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

    /// Stores the first values of the body that is entered next. Its slots must be reserved.
    #[inline]
    pub(super) fn pass(&mut self, values: impl Iterator<Item = Value>) {
        for (slot, value) in self.cells[self.end..].iter_mut().zip(values) {
            slot.fill(value);
        }
    }

    /// [`Slots::pass`] with copies of operands of the innermost body.
    #[inline]
    pub(super) fn pass_operands(&mut self, operands: &[ImmediateOperand], constants: &[Value]) {
        for (place, operand) in (self.end..).zip(operands) {
            if let Some(tensor) = self.tensor(operand) {
                self.cells[place].fill(Value::Tensor(tensor));
            } else {
                let value = operand.copy(self.own(), constants);
                self.cells[place].fill(value);
            }
        }
    }

    /// Enters a body with this number of slots, which must be reserved.
    #[inline]
    pub(super) fn enter(&mut self, count: u32) {
        (self.base, self.end) = (self.end, self.end + count as usize);
    }

    /// Clears the slots of the innermost body, which are not read any more.
    #[inline]
    pub(super) fn free(&mut self) {
        for slot in &mut self.cells[self.base..self.end] {
            slot.set(Slot::Empty);
        }
        self.end = self.base;
    }

    /// Drops arguments of a call that was not entered.
    pub(super) fn trim(&mut self) {
        self.cells.truncate(self.end);
    }

    /// Returns from the innermost body to its caller, whose first slot is `base`.
    #[inline]
    pub(super) fn leave(&mut self, base: usize) {
        self.free();
        self.base = base;
    }
}
