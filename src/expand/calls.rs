//! Calls of fragments: frames, and the names of what they make.

use std::num::NonZeroU32;
use std::rc::Rc;

use smallvec::SmallVec;

use super::arithmetic::Outcome;
use super::code::{Head, Hint, Site};
use super::frame::{Active, Frame, Origin, Reached, Slot, Targeted};
use super::list::List;
use super::machine::Machine;
use super::value::Value;
use crate::graph::OriginId;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::nnef::check::FragmentId;
use crate::room;
use crate::source::Location;
use crate::source::names::Name;

/// How many values most bodies have at once, and arguments most calls.
const NEXT: usize = 32;

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

/// What a call needs to know of a fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Callee {
    pub(super) fragment: FragmentId,
    pub(super) head: Head,
    /// One more than the slot of its result, if it has one.
    pub(super) result: Option<NonZeroU32>,
}

/// How a call names what it makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    /// Names of what it makes on the way start with this one.
    pub(super) path: NameId,
    /// The name of its one result; [`NameId::ROOT`] where the targets tell what the results are called.
    pub(super) result: NameId,
    /// The first of its targets.
    pub(super) targets: u32,
}

/// Where the arguments of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// On the stack.
    Pushed,
    /// Among the operands of its site.
    Operands,
}

impl Machine<'_, '_> {
    #[inline]
    pub(super) fn child(&mut self, segment: Name, ordinal: u32) -> NameId {
        let frame = self.frame();
        let (path, inner) = (frame.path, frame.inner);
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// The target that a hint gives to the `result`th of `count` results.
    pub(super) fn target(&mut self, hint: Hint, result: u32, count: usize) -> Target {
        match hint {
            Hint::None => Target::Auto,
            Hint::Local(name) if count == 1 => Target::Name(self.child(name, 0)),
            Hint::Local(_) => Target::Auto,
            Hint::Named(id) if count == 1 => Target::Name(id),
            Hint::Bound(binding) if count == 1 => Target::Name(self.program.bindings[binding as usize].id),
            Hint::Named(_) | Hint::Bound(_) => Target::Auto,
            Hint::Result(i) if count == 1 => {
                let frame = self.frame();
                if frame.result != NameId::ROOT {
                    return Target::Name(frame.result);
                }
                let fragment = frame.fragment;
                let own = self.targeted.last().filter(|targeted| targeted.frame as usize + 1 == self.frames.len());
                let target = own.and_then(|own| self.targets.get((own.first + i) as usize)).cloned();
                match (target.unwrap_or(Target::Auto), fragment) {
                    (Target::Auto, Some(fragment)) => {
                        let name = self.checked.fragment(fragment).results[i as usize].name;
                        Target::Name(self.child(name, 0))
                    }
                    (target, _) => target,
                }
            }
            Hint::Result(_) => Target::Auto,
            Hint::Items { start, len, .. } if count > 1 => {
                if result < len {
                    self.target(self.program.hints[(start + result) as usize], 0, 1)
                } else {
                    Target::Auto
                }
            }
            Hint::Items { start, len, .. } => {
                let items: Vec<Target> =
                    (start..start + len).map(|i| self.target(self.program.hints[i as usize], 0, 1)).collect();
                Target::Items(items.into())
            }
        }
    }

    #[inline]
    pub(super) fn call(&mut self, index: u32, given: Given) -> Outcome<()> {
        self.step()?;
        self.check_depth()?;
        let Site { fragment: Some(fragment), name, generic, .. } = self.program.sites[index as usize] else {
            return Ok(());
        };
        let callee = self.callee(fragment);
        let naming = self.naming((index, name), &callee);
        let dtype = self.type_argument(generic);
        let params = callee.head.params;
        let given = if self.releases(index) { self.release(index, given, params) } else { given };
        let base = self.slots.len();
        match given {
            Given::Pushed => self.move_arguments(params),
            Given::Operands => self.copy_arguments(index, params),
        }
        self.enter(index, &callee, base, naming, dtype);
        Ok(())
    }

    /// An argument of a call that has so many; none if it has no value.
    #[inline]
    pub(super) fn argument(&self, index: u32, given: Given, params: u32, i: u32) -> Option<&Value> {
        match given {
            Given::Pushed => self.stack.get(self.stack.len() - (params - i) as usize),
            Given::Operands => {
                let first = self.program.sites[index as usize].operands;
                let operand = self.program.operands[(first + i) as usize];
                operand.value(self.base, &self.slots, &self.program.constants)
            }
        }
    }

    /// Moves arguments from the stack into new slots.
    #[inline]
    pub(super) fn move_arguments(&mut self, count: u32) {
        if count == 1 {
            let argument = self.pop();
            self.slots.push(Slot::Ready(argument));
        } else {
            let first = self.stack.len() - count as usize;
            self.slots.extend(self.stack.drain(first..).map(Slot::Ready));
        }
    }

    /// Copies the operands of a site into new slots.
    #[inline]
    fn copy_arguments(&mut self, index: u32, count: u32) {
        let first = self.program.sites[index as usize].operands;
        for i in first..first + count {
            let operand = self.program.operands[i as usize];
            let value = match operand.value(self.base, &self.slots, &self.program.constants) {
                Some(Value::Tensor(tensor)) => Value::Tensor(*tensor),
                Some(value) => value.clone(),
                // The compiler lets no other slot be read.
                None => Value::Logical(false),
            };
            self.slots.push(Slot::Ready(value));
        }
    }

    /// What a call needs to know of a fragment; compiles its body when it is called first.
    #[inline]
    pub(super) fn callee(&mut self, fragment: FragmentId) -> Callee {
        match self.callees[fragment.index()] {
            Some(callee) => callee,
            None => self.first_called(fragment),
        }
    }

    #[inline(never)]
    fn first_called(&mut self, fragment: FragmentId) -> Callee {
        let head = self.head(fragment);
        let declared = fragment.index();
        let result = match self.bodies[declared].as_ref().map(|body| &body.results[..]) {
            Some([result]) => NonZeroU32::new(result + 1),
            _ => None,
        };
        let callee = Callee { fragment, head, result };
        self.callees[declared] = Some(callee);
        callee
    }

    /// Enters the body of a fragment whose arguments are in the slots from `base` on. It comes back
    /// to the next instruction.
    #[inline]
    pub(super) fn enter(&mut self, index: u32, callee: &Callee, base: usize, naming: Naming, dtype: Option<Primitive>) {
        let Callee { fragment, head, .. } = *callee;
        let pc = self.pc;
        let caller = self.frame();
        caller.pc = pc;
        let inner = caller.inner || head.standard;
        // Where calls are deep, this is what makes these grow.
        room::reserve(&mut self.stack, NEXT);
        room::reserve(&mut self.slots, (head.slots - head.params) as usize + NEXT);
        for _ in head.params..head.slots {
            self.slots.push(Slot::Empty);
        }
        (self.pc, self.base) = (head.entry, base as u32);
        let frame = self.frames.len() as u32;
        let active = &mut self.active[fragment.index()];
        if active.count == 0 {
            (active.first_frame, active.recursions) = (frame, 0);
        }
        active.count += 1;
        if naming.result == NameId::ROOT && self.targets.len() > naming.targets as usize {
            self.targeted.push(Targeted { frame, first: naming.targets });
        }
        let callee = Frame {
            pc: head.entry,
            slots: base as u32,
            fragment: Some(fragment),
            site: index,
            path: naming.path,
            result: naming.result,
            dtype,
            inner,
            origin: Origin::UNKNOWN,
        };
        room::push(&mut self.frames, callee);
    }

    /// Decides the names of a call's results and of what it makes on the way. A recursive call
    /// continues the names of the first one, so that names stay short.
    #[inline]
    fn naming(&mut self, (index, name): (u32, Name), callee: &Callee) -> Naming {
        let targets = self.targets.len() as u32;
        let Frame { path, result, .. } = *self.frame();
        if !callee.head.makes_tensors {
            return Naming { path, result: NameId::ROOT, targets };
        }
        let Site { hint, ordinal, .. } = self.program.sites[index as usize];
        let path = match hint {
            _ if callee.head.results != 1 => return self.name_several((index, name), callee),
            Hint::None => self.fresh_path((name, ordinal), callee.fragment),
            Hint::Local(name) => self.fresh_path((name, 0), callee.fragment),
            Hint::Named(id) => id,
            Hint::Bound(binding) => self.program.bindings[binding as usize].id,
            Hint::Result(_) if result != NameId::ROOT => result,
            Hint::Result(_) => match self.target(hint, 0, 1) {
                Target::Name(id) => id,
                _ => return self.name_several((index, name), callee),
            },
            Hint::Items { .. } => return self.name_several((index, name), callee),
        };
        Naming { path, result: path, targets }
    }

    /// The same for a call whose results are not one tensor, or one without a name so far: notes
    /// the targets.
    #[inline(never)]
    fn name_several(&mut self, (index, name): (u32, Name), callee: &Callee) -> Naming {
        let (fragment, results) = (callee.fragment, callee.head.results);
        let (base, count) = (self.targets.len() as u32, results as usize);
        let Site { hint, ordinal, .. } = self.program.sites[index as usize];
        let mut path = None;
        if !matches!(hint, Hint::None | Hint::Local(_)) {
            let targets: SmallVec<[Target; 4]> = (0..results).map(|i| self.target(hint, i, count)).collect();
            path = targets.iter().find_map(first_name);
            if path.is_some() {
                self.targets.extend(targets);
            }
        }
        let path = match path {
            Some(path) => path,
            None => {
                let segment = if let Hint::Local(name) = hint { (name, 0) } else { (name, ordinal) };
                let path = self.fresh_path(segment, fragment);
                self.targets.resize(base as usize + count, Target::Auto);
                path
            }
        };
        Naming { path, result: NameId::ROOT, targets: base }
    }

    #[inline]
    fn fresh_path(&mut self, (segment, ordinal): (Name, u32), fragment: FragmentId) -> NameId {
        let active = &mut self.active[fragment.index()];
        if active.count == 0 {
            return self.child(segment, ordinal);
        }
        active.recursions += 1;
        let Active { first_frame, recursions, .. } = *active;
        let (path, inner) = (self.frames[first_frame as usize].path, self.frame().inner);
        self.graph.names.child(path, segment, recursions, inner)
    }

    /// Leaves a fragment and gives the caller its results.
    #[inline]
    pub(super) fn finish_call(&mut self) {
        let Some(&Frame { slots, fragment: Some(fragment), .. }) = self.frames.last() else { return };
        let base = slots as usize;
        let result = match self.callees[fragment.index()].and_then(|callee| callee.result) {
            // The checks see to it that results are assigned.
            Some(slot) => self.slots[base + slot.get() as usize - 1].take().unwrap_or(Value::Logical(false)),
            None => self.results(fragment, base),
        };
        self.drop_slots(base);
        self.leave();
        self.give(result);
    }

    /// Takes the innermost frame away, which is that of a fragment, and goes on in the one around it.
    #[inline]
    pub(super) fn leave(&mut self) {
        let [.., Frame { pc, slots, .. }, Frame { fragment: Some(fragment), .. }] = self.frames[..] else { return };
        self.frames.truncate(self.frames.len() - 1);
        self.active[fragment.index()].count -= 1;
        if let Some(&Targeted { frame, first }) = self.targeted.last()
            && frame as usize == self.frames.len()
        {
            self.targeted.truncate(self.targeted.len() - 1);
            self.targets.truncate(first as usize);
        }
        (self.pc, self.base) = (pc, slots);
    }

    /// The tuple of several results.
    #[inline(never)]
    fn results(&mut self, fragment: FragmentId, base: usize) -> Value {
        let slots = self.bodies[fragment.index()].as_ref().map_or(&[][..], |body| &body.results);
        let values = slots.iter().filter_map(|&slot| self.slots[base + slot as usize].take()).collect();
        Value::Tuple(List::from_values(values, Some(&self.space.meter)))
    }

    /// The type argument of a call; `?` is that of the running fragment.
    pub(super) fn type_argument(&mut self, generic: Option<Primitive>) -> Option<Primitive> {
        match generic {
            Some(Primitive::Generic) => self.frame().dtype,
            generic => generic,
        }
    }

    /// The chain of calls of the running frame. Frames that emit nothing need none.
    #[inline]
    pub(super) fn origin(&mut self) -> OriginId {
        match self.frame().origin.known() {
            Some(origin) => origin,
            None => self.make_origin(),
        }
    }

    /// Adds the calls on the way to the running frame that the graph does not know yet.
    #[inline(never)]
    fn make_origin(&mut self) -> OriginId {
        // The frame of the graph has an origin.
        let mut first = self.frames.len() - 1;
        while first > 1 && self.frames[first - 1].origin == Origin::UNKNOWN {
            first -= 1;
        }
        let mut origin = self.frames[first - 1].origin.known().unwrap_or(OriginId::NONE);
        for i in first..self.frames.len() {
            origin = self.call_origin(origin, self.frames[i].site, self.frames[i - 1].fragment);
            self.frames[i].origin = Origin::new(origin);
        }
        origin
    }

    /// Adds a call from a site, which is in this fragment, to the chain of those around it.
    #[inline]
    pub(super) fn call_origin(&mut self, around: OriginId, index: u32, inside: Option<FragmentId>) -> OriginId {
        let place = match self.reached.get(index as usize) {
            Some(Reached::Call(place, of)) if *of == inside => *place,
            _ => self.add_call_place(index, inside),
        };
        self.graph.add_origin(around, place)
    }

    #[inline(never)]
    fn add_call_place(&mut self, index: u32, fragment: Option<FragmentId>) -> u32 {
        let site = self.program.sites[index as usize];
        let place = self.graph.add_call_place(site.name, Location::new(self.file_of(fragment), site.span));
        *self.reached(index) = Reached::Call(place, fragment);
        place
    }
}

pub(super) fn first_name(target: &Target) -> Option<NameId> {
    match target {
        Target::Auto => None,
        Target::Name(id) => Some(*id),
        Target::Items(items) => items.iter().find_map(first_name),
    }
}
