//! Frames of running bodies, and the target names of their results.

use std::rc::Rc;

use super::program::Body;
use super::unit::UnitId;
use crate::graph::OriginId;
use crate::graph::Primitive;
use crate::graph::names::NameId;

/// A running body.
#[derive(Debug)]
pub(super) struct Frame {
    /// The return address: the next instruction to run in this frame when the frames after it have ended.
    pub(super) pc: u32,
    /// Its first slot.
    pub(super) slots: u32,
    /// The unit; none for the outermost body.
    pub(super) unit: Option<UnitId>,
    /// The site that called it.
    pub(super) site: u32,
    /// The prefix of the generated names of its tensors.
    pub(super) path: NameId,
    /// The name of its only result; [`NameId::ROOT`] if its results are named by [`Calls::targets`].
    pub(super) result: NameId,
    /// Its type argument.
    pub(super) dtype: Option<Primitive>,
    /// Whether it belongs to a standard operation, directly or through calls.
    pub(super) inner: bool,
    /// The chain of open calls, computed when the first operation needs it.
    pub(super) origin: CallChain,
}

// Deep recursion can have as many frames as operations, so frames are kept small.
const _: () = assert!(size_of::<Frame>() == 32);

/// The chain of calls of a frame, if it is computed already. Takes no more memory than an [`OriginId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallChain(OriginId);

impl CallChain {
    /// Not computed yet.
    pub(super) const UNKNOWN: CallChain = CallChain(OriginId(OriginId::NONE.0 - 1));

    /// A computed chain of calls.
    pub(super) fn new(origin: OriginId) -> Self {
        CallChain(origin)
    }

    /// The chain of calls, if it is computed.
    #[inline]
    pub(super) fn known(self) -> Option<OriginId> {
        (self != CallChain::UNKNOWN).then_some(self.0)
    }
}

/// The position of the targets of an open call in [`Calls::targets`], for a call that does not have just one
/// target name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targeted {
    /// The frame of the call.
    pub(super) frame: u32,
    /// Its first target.
    pub(super) first: u32,
}

/// The open calls of a fragment: their number, the frame of the first one, and the number of recursive calls
/// that got a generated name since that one started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    pub(super) count: u32,
    pub(super) first_frame: u32,
    pub(super) recursions: u32,
}

/// Compiled bodies, and the state of open calls that is not in their frames.
#[derive(Debug)]
pub(super) struct Calls {
    /// The bodies of units, if they are compiled.
    pub(super) bodies: Vec<Option<Body>>,
    /// The open calls of each unit.
    pub(super) active: Vec<Active>,
    /// The target names of the results of open calls.
    pub(super) targets: Vec<ResultName>,
    /// Which open calls have targets.
    pub(super) targeted: Vec<Targeted>,
}

impl Calls {
    /// No compiled bodies and no open calls, for a number of units.
    pub(super) fn new(units: usize) -> Self {
        Calls {
            bodies: vec![None; units],
            active: vec![Active::default(); units],
            targets: Vec::new(),
            targeted: Vec::new(),
        }
    }
}

/// The name that a result will get.
#[derive(Clone, Debug)]
pub(super) enum ResultName {
    /// No requested name: one is generated.
    Auto,
    /// This one.
    Name(NameId),
    /// One target for each item of an array or tuple.
    Items(Rc<[ResultName]>),
}

pub(super) fn first_name(target: &ResultName) -> Option<NameId> {
    match target {
        ResultName::Auto => None,
        ResultName::Name(id) => Some(*id),
        ResultName::Items(items) => items.iter().find_map(first_name),
    }
}
