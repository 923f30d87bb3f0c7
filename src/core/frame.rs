//! What running bodies consist of beside their slots: frames, and the names that their results are to
//! have.

use std::rc::Rc;

use super::program::Body;
use super::unit::UnitId;
use crate::graph::OriginId;
use crate::graph::Primitive;
use crate::graph::names::NameId;

/// A running body.
#[derive(Debug)]
pub(super) struct Frame {
    /// The next instruction, while another frame is the innermost.
    pub(super) pc: u32,
    /// Its first slot.
    pub(super) slots: u32,
    /// The unit; none for the outermost body.
    pub(super) unit: Option<UnitId>,
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
    /// The chain of calls, once an operation needed it.
    pub(super) origin: Origin,
}

// Where calls are deep there are as many as operations.
const _: () = assert!(size_of::<Frame>() == 32);

/// The chain of calls of a frame, or that it is not known yet, in no more room than the chain takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin(OriginId);

impl Origin {
    /// Not known yet.
    pub(super) const UNKNOWN: Origin = Origin(OriginId(OriginId::NONE.0 - 1));

    /// A chain of calls.
    pub(super) fn new(origin: OriginId) -> Self {
        Origin(origin)
    }

    /// The chain of calls, where it is known.
    #[inline]
    pub(super) fn known(self) -> Option<OriginId> {
        (self != Origin::UNKNOWN).then_some(self.0)
    }
}

/// The targets of an open call, in [`Calls::targets`]: the names that its results are to have, where
/// that is not one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targeted {
    /// The frame of the call.
    pub(super) frame: u32,
    /// Its first target.
    pub(super) first: u32,
}

/// The open calls of a fragment: how many, the first one, and how many calls started under that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    pub(super) count: u32,
    pub(super) first_frame: u32,
    pub(super) recursions: u32,
}

/// The bodies that can be called, and the calls that are open beside their frames.
#[derive(Debug)]
pub(super) struct Calls {
    /// The bodies of units, where they are compiled.
    pub(super) bodies: Vec<Option<Body>>,
    /// The open calls of each unit.
    pub(super) active: Vec<Active>,
    /// The names that results of open calls are to have.
    pub(super) targets: Vec<Target>,
    /// Which open calls have targets.
    pub(super) targeted: Vec<Targeted>,
}

impl Calls {
    /// None, for so many units.
    pub(super) fn new(units: usize) -> Self {
        Calls {
            bodies: vec![None; units],
            active: vec![Active::default(); units],
            targets: Vec::new(),
            targeted: Vec::new(),
        }
    }
}

/// The name that a result is to have.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// None in particular.
    Auto,
    /// This one.
    Name(NameId),
    /// Its items these.
    Items(Rc<[Target]>),
}

pub(super) fn first_name(target: &Target) -> Option<NameId> {
    match target {
        Target::Auto => None,
        Target::Name(id) => Some(*id),
        Target::Items(items) => items.iter().find_map(first_name),
    }
}
