//! Bodies that run straight through, replayed.
//!
//! A body without choices, that only calls such bodies and adds operations which compute item by
//! item, adds the same whenever it is called: names, calls and operations differ in what they are
//! relative to, and that is the call. So they are noted as a list, down to the last call within,
//! and a call adds them one after the other, without running anything. This is done only where
//! nothing can be refused on the way: there is room in all budgets, and all tensors among the
//! arguments have one shape, which all results have then.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::calls::{Callee, Given, Naming};
use super::code::{Hint, Instr, Operand, Site};
use super::emission::Emission;
use super::frame::{Frame, Reached};
use super::machine::{MAX_SLOTS, Machine};
use super::value::Value;
use crate::graph::names::NameId;
use crate::graph::{Common, Kept, OriginId, ShapeId, TensorId};
use crate::nnef::ast::Primitive;
use crate::nnef::check::FragmentId;
use crate::nnef::names::Name;
use crate::source::{FileId, Location};

/// The most operations of a body that is replayed.
const MAX_OPERATIONS: usize = 64;
/// The most locals of such a body.
const MAX_LOCALS: u32 = MAX_PARAMS + 2 * MAX_OPERATIONS as u32;
/// The most calls within each other in such a body.
const MAX_DEPTH: usize = 16;
/// The most operations in all lists, which are kept as long as the expansion lasts.
const MAX_NOTED: usize = 1 << 16;
/// A body is worth a list when it is called for the so manieth time.
const CALLS: u32 = 4;
/// The most parameters of a body that is replayed: there is a bit for each.
const MAX_PARAMS: u32 = 32;

/// The shorter ways to do what a body does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shortcut {
    /// It is no more than the operation of this site.
    Only(u32),
    /// It was called so many times.
    Unknown(u32),
    /// Its list, by number.
    Replay(u32),
    /// There is none.
    None,
}

/// The lists of bodies.
#[derive(Debug, Default)]
pub(super) struct Replays {
    lists: Vec<Replay>,
    /// How many operations they have in all.
    operations: usize,
    /// The shortcuts of fragments that are told by their spelling, by their positions among these:
    /// they have places and calls of their own.
    of_alike: Vec<Shortcut>,
}

impl Replays {
    /// The shortcut for a fragment that is like one with this shortcut.
    #[inline]
    pub(super) fn of_alike(&self, alike: usize, model: Shortcut) -> Shortcut {
        match model {
            Shortcut::Only(_) => model,
            _ => self.of_alike.get(alike).copied().unwrap_or(Shortcut::Unknown(0)),
        }
    }
}

/// What a body adds. Of names and calls, 0 is that of the call itself, others are one more than
/// their place in the lists.
#[derive(Debug, Default)]
struct Replay {
    names: Vec<PathStep>,
    /// Each with the call around it, and its place in the graph.
    calls: Vec<(u32, u32)>,
    operations: Vec<Step>,
    operands: Vec<Source>,
    /// The operation that gives the result.
    result: u32,
    /// How deep calls are within each other, and how many slots they have in all.
    depth: usize,
    slots: usize,
    /// How many calls there are.
    steps: u64,
    /// The parameters that are used, and those that have to be tensors.
    used: u32,
    tensors: u32,
}

/// A name under another one.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    parent: u32,
    segment: Name,
    ordinal: u32,
    inner: bool,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
struct Step {
    emission: Emission,
    at: Location,
    name: u32,
    call: u32,
    operands: u32,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Param(u32),
    Operation(u32),
    Const(u32),
}

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

    /// The number of the innermost call, which is noted now if it was not, as are those around it.
    fn call(&mut self, way: &mut Way) -> u32 {
        let mut around = 0;
        for (place, number) in way {
            around = *number.get_or_insert_with(|| {
                self.calls.push((around, *place));
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
    pub(super) fn find_shortcut(&mut self, callee: &Callee, calls: u32) -> Option<TensorId> {
        let shortcut = match calls + 1 {
            calls if calls < CALLS => Shortcut::Unknown(calls),
            _ => self.note(callee).map_or(Shortcut::None, |replay| {
                self.replays.operations += replay.operations.len();
                self.replays.lists.push(replay);
                Shortcut::Replay(self.replays.lists.len() as u32 - 1)
            }),
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
        if self.replays.operations + MAX_OPERATIONS > MAX_NOTED || callee.head.params > MAX_PARAMS {
            return None;
        }
        let mut replay = Replay::default();
        let params: SmallVec<[Option<Source>; 8]> =
            (0..callee.head.params).map(|param| Some(Source::Param(param))).collect();
        let within = Within {
            fragment: callee.fragment,
            file: callee.head.file,
            path: 0,
            inner: callee.head.standard,
            generic: Some(Primitive::Generic),
            locals: params,
        };
        let Source::Operation(result) = self.note_body(callee, within, &mut Way::new(), &mut replay)? else {
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
                    let Some(&Instr::Store(slot)) = self.program.instrs.get(at) else { return None };
                    at += 1;
                    let made = self.note_call(index, &within, way, replay)?;
                    within.locals[slot as usize] = Some(made);
                }
                Instr::Return => return within.locals[callee.result.map(NonZeroU32::get)? as usize - 1],
                _ => return None,
            }
        }
    }

    fn note_operation(&self, index: u32, within: &Within, way: &mut Way, replay: &mut Replay) -> Option<Source> {
        let Some(&Reached::Single(emission)) = self.reached.get(index as usize) else { return None };
        if !emission.by_item || replay.operations.len() == MAX_OPERATIONS {
            return None;
        }
        let first = replay.operands.len();
        for operand in self.sources(index, self.program.sites[index as usize].keys.1, within) {
            let source = operand?;
            if let Source::Param(param) = source {
                replay.used |= 1 << param;
            }
            if matches!(source, Source::Const(constant) if !self.program.constants[constant as usize].is_plain()) {
                return None;
            }
            replay.operands.push(source);
        }
        // One of them has to be a tensor, or there is no shape.
        let of = &replay.operands[first..];
        if !of.iter().any(|source| matches!(source, Source::Operation(_))) {
            let param = of.iter().find_map(|source| match source {
                Source::Param(param) => Some(param),
                _ => None,
            });
            replay.tensors |= 1 << param?;
        }
        let name = self.name_within(index, within, replay)?;
        let (emission, call) = (emission.under(within.generic), replay.call(way));
        let span = self.program.sites[index as usize].span;
        let at = Location::new(within.file, self.checked.place_in(Some(within.fragment), span));
        replay.operations.push(Step { emission, at, name, call, operands: first as u32 });
        Some(Source::Operation(replay.operations.len() as u32 - 1))
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

    /// Where the operands of a site come from.
    fn sources<'m>(&'m self, index: u32, count: u32, within: &'m Within) -> impl Iterator<Item = Option<Source>> + 'm {
        let first = self.program.sites[index as usize].operands as usize;
        self.program.operands[first..first + count as usize].iter().map(|operand| match *operand {
            Operand::Slot(slot) => within.locals.get(slot as usize).copied().flatten(),
            Operand::Const(constant) => Some(Source::Const(constant)),
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

    /// Adds what a body adds. Returns its result, or nothing if the body has to be run.
    #[inline(never)]
    pub(super) fn replay(
        &mut self,
        list: u32,
        (index, given): (u32, Given),
        params: u32,
        naming: Naming,
        generic: Option<Primitive>,
    ) -> Option<TensorId> {
        if naming.result == NameId::ROOT || !self.has_room(list) {
            return None;
        }
        let (shape, arguments) = self.plain_arguments(list, (index, given), params)?;
        if given == Given::Pushed {
            self.drop_stack(self.stack.len() - params as usize);
        }
        let around = self.origin();
        let Frame { file, fragment, inner, .. } = *self.frame();
        let call = self.call_origin(around, index, (file, fragment));
        let replay = &self.replays.lists[list as usize];
        self.steps -= replay.steps;
        let graph = &mut self.graph;
        let arguments: SmallVec<[Kept; 4]> = arguments.iter().map(|value| value.keep(graph)).collect();
        let mut names: SmallVec<[NameId; MAX_OPERATIONS]> = smallvec::smallvec![naming.result];
        for name in &replay.names {
            let parent = names[name.parent as usize];
            names.push(graph.names.child(parent, name.segment, name.ordinal, inner || name.inner));
        }
        let mut calls: SmallVec<[OriginId; MAX_OPERATIONS]> = smallvec::smallvec![call];
        for &(around, place) in &replay.calls {
            calls.push(graph.add_origin(calls[around as usize], place));
        }
        let first = graph.tensors.len() as u32;
        let mut operands = replay.operands.iter();
        let ends = replay.operations.iter().skip(1).map(|step| step.operands).chain([replay.operands.len() as u32]);
        for (step, end) in replay.operations.iter().zip(ends) {
            for source in operands.by_ref().take((end - step.operands) as usize) {
                let kept = match *source {
                    Source::Operation(operation) => Kept::tensor(TensorId(first + operation)),
                    Source::Param(param) => arguments[param as usize],
                    Source::Const(constant) => self.program.constants[constant as usize].keep(graph),
                };
                graph.push_kept(kept);
            }
            let source = (step.at, calls[step.call as usize]);
            let (dtype, element) = step.emission.types(generic);
            let result = (names[step.name as usize], element);
            graph.add_single(step.emission.signature, dtype, source, result, Some(shape));
        }
        Some(TensorId(first + replay.result))
    }

    /// Whether no budget ends while a list is replayed.
    fn has_room(&self, list: u32) -> bool {
        let replay = &self.replays.lists[list as usize];
        replay.steps <= self.steps
            && (self.graph.operations.len() + replay.operations.len()) as u64 <= self.max_ops
            && (self.frames.len() + replay.depth) as u64 <= self.max_depth
            && self.slots.len() + replay.slots < MAX_SLOTS
    }

    /// The arguments of a call as far as they are used, if they are tensors of one shape and
    /// numbers, and that shape.
    #[inline]
    fn plain_arguments(
        &self,
        list: u32,
        (index, given): (u32, Given),
        params: u32,
    ) -> Option<(ShapeId, SmallVec<[Value; 4]>)> {
        let Replay { used, tensors, .. } = self.replays.lists[list as usize];
        let mut arguments: SmallVec<[Value; 4]> = SmallVec::new();
        let mut common = Common::default();
        for param in 0..params {
            let value = self.argument(index, given, params, param)?;
            let bit = |bits: u32| bits >> param & 1 == 1;
            match value {
                _ if !bit(used) => arguments.push(Value::Logical(false)),
                Value::Tensor(tensor) => {
                    common.add(self.graph.tensors[tensor.index()].shape);
                    arguments.push(Value::Tensor(*tensor));
                }
                number if number.is_plain() && !bit(tensors) => arguments.push(number.clone()),
                _ => return None,
            }
        }
        Some((common.shape()?, arguments))
    }
}
