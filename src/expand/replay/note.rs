//! Lists read off the code of a body.
//!
//! This can be done with bodies without choices that only call such bodies and add operations:
//! down to the last call within, there is nothing to run.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::super::calls::Callee;
use super::super::code::{Hint, Instr, Operand, Site};
use super::super::frame::Reached;
use super::super::machine::Machine;
use super::{CallPlace, CallStep, PathStep, Place, Replay, Shortcut, Source, Step};
use crate::graph::Primitive;
use crate::graph::TensorId;
use crate::nnef::check::FragmentId;
use crate::source::names::Name;
use crate::source::{FileId, Location};

/// The most operations of a body that is replayed.
const MAX_OPERATIONS: usize = 64;
/// The most locals of such a body.
const MAX_LOCALS: u32 = MAX_PARAMS + 2 * MAX_OPERATIONS as u32;
/// The most calls within each other in such a body.
const MAX_DEPTH: usize = 16;
/// A body is worth a list when it is called for the so manieth time.
const CALLS: u32 = 4;
/// The most parameters of a body that is replayed: there is a bit for each.
const MAX_PARAMS: u32 = 32;

/// A body within the one that is replayed.
struct Within {
    fragment: FragmentId,
    file: FileId,
    path: u32,
    inner: bool,
    generic: Option<Primitive>,
    locals: SmallVec<[Option<Source>; 8]>,
}

/// The calls on the way to a body, each with its place and its number in the list, once that is
/// needed.
type Way = SmallVec<[(u32, Option<u32>); MAX_DEPTH]>;

impl Replay {
    fn add_name(&mut self, parent: u32, (segment, ordinal): (Name, u32), inner: bool) -> u32 {
        self.names.push(PathStep { parent, segment, ordinal, inner });
        self.names.len() as u32
    }

    /// Notes that parameters are used.
    fn uses(&mut self, operands: &[Source]) {
        for operand in operands {
            if let Source::Given(param) = operand {
                self.used |= 1 << param;
            }
        }
    }

    /// The number of the innermost call, which is noted now if it was not, as are those around it.
    fn call(&mut self, way: &mut Way) -> u32 {
        let mut around = 0;
        for (place, number) in way {
            around = *number.get_or_insert_with(|| {
                self.calls.push(CallStep { around, place: CallPlace::Known(*place) });
                self.calls.len() as u32
            });
        }
        around
    }
}

impl Machine<'_, '_> {
    /// Finds out whether there is a shortcut for a body, if it is called often enough. There is none
    /// for this call.
    #[inline(never)]
    pub(in crate::expand) fn find_shortcut(&mut self, callee: &Callee, calls: u32) -> Option<TensorId> {
        let shortcut = match calls + 1 {
            calls if calls < CALLS => Shortcut::Unknown(calls),
            _ => self.note(callee).map_or(Shortcut::None, |replay| Shortcut::Replay(self.replays.add(replay))),
        };
        if let Some(alike) = self.checked.alike_index(callee.fragment) {
            let known = &mut self.replays.of_alike;
            known.resize(known.len().max(alike + 1), Shortcut::Unknown(0));
            known[alike] = shortcut;
        } else if let Some(callee) = &mut self.callees[callee.fragment.index()] {
            callee.shortcut = shortcut;
        }
        None
    }

    /// The list for a body, if there can be one.
    fn note(&mut self, callee: &Callee) -> Option<Replay> {
        if !self.replays.has_room(MAX_OPERATIONS) || callee.head.params > MAX_PARAMS {
            return None;
        }
        let mut replay = Replay::default();
        let params: SmallVec<[Option<Source>; 8]> =
            (0..callee.head.params).map(|param| Some(Source::Given(param))).collect();
        let within = Within {
            fragment: callee.fragment,
            file: callee.head.file,
            path: 0,
            inner: callee.head.standard,
            generic: Some(Primitive::Generic),
            locals: params,
        };
        let Source::Made(result) = self.note_body(callee, within, &mut Way::new(), &mut replay)? else {
            return None;
        };
        replay.result = result;
        Some(replay)
    }

    /// Notes what a body adds. Returns where its result comes from.
    fn note_body(&mut self, callee: &Callee, mut within: Within, way: &mut Way, replay: &mut Replay) -> Option<Source> {
        let large = callee.head.slots > MAX_LOCALS || way.len() >= MAX_DEPTH;
        if large || matches!(callee.shortcut, Shortcut::None) || callee.head.results != 1 || !callee.head.makes_tensors
        {
            return None;
        }
        replay.depth = replay.depth.max(way.len());
        replay.slots += callee.head.slots as usize;
        within.locals.resize(callee.head.slots as usize, None);
        let mut at = callee.head.entry as usize;
        loop {
            at += 1;
            match self.program.instrs[at - 1] {
                Instr::Apply(index) => {
                    let slot = self.program.sites[index as usize].slot?;
                    let made = self.note_operation(index, &within, way, replay)?;
                    within.locals[slot.get() as usize - 1] = Some(made);
                }
                Instr::CallWith(index) => {
                    let Some(Instr::Store(slot)) = self.program.instrs.get(at).map(|next| next.plain()) else {
                        return None;
                    };
                    at += 1;
                    let made = self.note_call(index, &within, way, replay)?;
                    within.locals[slot as usize] = Some(made);
                }
                Instr::Return => return within.locals[callee.result.map(NonZeroU32::get)? as usize - 1],
                _ => return None,
            }
        }
    }

    fn note_operation(&mut self, index: u32, within: &Within, way: &mut Way, replay: &mut Replay) -> Option<Source> {
        let Some(&Reached::Single(emission)) = self.reached.get(index as usize) else { return None };
        if replay.operations.len() == MAX_OPERATIONS {
            return None;
        }
        let count = self.program.sites[index as usize].keys.1;
        let operands: Option<SmallVec<[Source; 8]>> = self.sources(index, count, within).collect();
        let operands = operands?;
        replay.uses(&operands);
        replay.operands.extend(operands);
        let name = self.name_within(index, within, replay)?;
        let (emission, call) = (emission.under(within.generic), replay.call(way));
        let span = self.program.sites[index as usize].span;
        let at = Place::Fixed(Location::new(within.file, self.checked.place_in(Some(within.fragment), span)));
        replay.operations.push(Step { emission, at, name, call, operands: replay.operands.len() as u32 });
        Some(Source::Made(replay.operations.len() as u32 - 1))
    }

    fn note_call(&mut self, index: u32, within: &Within, way: &mut Way, replay: &mut Replay) -> Option<Source> {
        let Site { fragment: Some(fragment), generic, name, span, .. } = self.site_in(Some(within.fragment), index)
        else {
            return None;
        };
        let callee = self.callees[self.checked.declared(fragment)].map(|callee| Callee { fragment, ..callee })?;
        replay.steps += 1;
        let path = self.name_within(index, within, replay)?;
        let generic = if generic == Some(Primitive::Generic) { within.generic } else { generic };
        let locals = self.sources(index, callee.head.params, within).collect();
        let inner = within.inner || callee.head.standard;
        let called = Within { fragment, file: callee.head.file, path, inner, generic, locals };
        let place = match self.reached.get(index as usize) {
            Some(Reached::Call(place, of)) if *of == Some(within.fragment) => *place,
            // It was reached from another fragment last, or not yet.
            _ => self.graph.add_call_place(name, Location::new(within.file, span)),
        };
        way.push((place, None));
        let result = self.note_body(&callee, called, way, replay);
        way.pop();
        result
    }

    /// Where the operands of a site come from. Constants are in the graph from now on.
    fn sources<'m>(&'m mut self, index: u32, count: u32, within: &'m Within) -> impl Iterator<Item = Option<Source>> {
        let first = self.program.sites[index as usize].operands as usize;
        let Machine { program, graph, space, .. } = self;
        program.operands[first..first + count as usize].iter().map(|operand| match *operand {
            Operand::Slot(slot) => within.locals.get(slot as usize).copied().flatten(),
            Operand::Const(constant) => {
                let value = program.constants[constant as usize].freeze(space).ok()?;
                Some(Source::Kept(graph.keep(value)))
            }
            Operand::Shared(..) => None,
        })
    }

    /// The name of what a site makes.
    fn name_within(&self, index: u32, within: &Within, replay: &mut Replay) -> Option<u32> {
        let Site { hint, name, ordinal, .. } = self.site_in(Some(within.fragment), index);
        match hint {
            Hint::None => Some(replay.add_name(within.path, (name, ordinal), within.inner)),
            Hint::Local(name) => Some(replay.add_name(within.path, (name, 0), within.inner)),
            Hint::Result(0) => Some(within.path),
            _ => None,
        }
    }
}
