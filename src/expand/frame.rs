//! What a running body consists of, and what is known of the places that call something.

use std::num::NonZeroU32;

use super::code::Operand;
use super::emission::Emission;
use super::iteration::{Collected, Iteration};
use super::value::Value;
use crate::graph::OriginId;
use crate::graph::names::NameId;
use crate::nnef::ast::Primitive;
use crate::nnef::check::FragmentId;
use crate::source::FileId;

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
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Slot::Empty | Slot::Deferred(_) => true,
            Slot::Ready(value) => value.is_plain(),
        }
    }
}

impl Operand {
    /// What an operand stands for in the body whose slots are those from `base` on; none for a slot
    /// without a value, and for what the graph has already.
    #[inline]
    pub(super) fn value<'v>(self, base: u32, slots: &'v [Slot], constants: &'v [Value]) -> Option<&'v Value> {
        match self {
            Operand::Slot(slot) => match slots.get((base + slot) as usize) {
                Some(Slot::Ready(value)) => Some(value),
                _ => None,
            },
            Operand::Const(constant) => constants.get(constant as usize),
            Operand::Shared(..) => None,
        }
    }
}

/// A running body.
#[derive(Debug)]
pub(super) struct Frame {
    /// The next instruction, while another frame is the innermost.
    pub(super) pc: u32,
    /// Its first slot.
    pub(super) slots: u32,
    /// One more than the slot of its result, if it has one.
    pub(super) result_slot: Option<NonZeroU32>,
    /// Its first target.
    pub(super) targets: u32,
    /// The fragment; none for a graph.
    pub(super) fragment: Option<FragmentId>,
    /// The site that called it.
    pub(super) site: u32,
    /// Names of what it makes start with this one.
    pub(super) path: NameId,
    /// The name of its one result; [`NameId::ROOT`] where the targets tell what results are called.
    pub(super) result: NameId,
    /// Its type argument.
    pub(super) dtype: Option<Primitive>,
    /// Whether it is, or is called from, a standard operation.
    pub(super) inner: bool,
    /// How many recursive calls started under it, where it is the first of its fragment.
    pub(super) recursions: u32,
    /// The chain of calls, once an operation needed it.
    pub(super) origin: Option<OriginId>,
    /// The file that its spans are of.
    pub(super) file: FileId,
}

/// What is known of a site that was reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Reached {
    /// Nothing yet, or something out of the ordinary.
    #[default]
    Other,
    /// It called a body: its place in the graph, and the fragment that the call stands in.
    Call(u32, Option<FragmentId>),
    /// It adds operations that give one tensor.
    Single(Emission),
}

/// The open calls of a fragment: how many, and the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) count: u32,
    pub(super) first_frame: u32,
}

/// A comprehension that is running.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) iteration: Iteration,
    pub(super) items: Collected,
}
