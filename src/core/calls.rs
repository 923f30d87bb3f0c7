//! Calls of fragments: frames, and the names of what they make.

use smallvec::SmallVec;

use super::budget::{FUEL_OF_CALL, Outcome};
use super::frame::{Active, Frame, Origin, Slot, Target, Targeted, first_name};
use super::list::List;
use super::machine::Machine;
use super::program::{Body, FirstOperand, Head, Hint, Site};
use super::sites::Reached;
use super::unit::UnitId;
use super::value::Value;
use crate::graph::OriginId;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::room;
use crate::source::Location;
use crate::source::names::Name;

/// How many values on the stack, and how many slots, room is made for when a body is entered.
const NEXT: usize = 32;

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

impl Machine {
    #[inline]
    pub(super) fn child(&mut self, segment: Name, ordinal: u32) -> NameId {
        let frame = self.frame();
        let (path, inner) = (frame.path, frame.inner);
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// The target that a hint gives to the `result`th of `count` results.
    pub(super) fn target(&mut self, hint: Hint, result: u32, count: usize) -> Target {
        match hint {
            Hint::Items { .. } if count > 1 => match self.program.items_of(&hint).get(result as usize) {
                Some(&item) => self.target(item, 0, 1),
                None => Target::Auto,
            },
            Hint::Items { .. } => {
                let hints: SmallVec<[Hint; 4]> = self.program.items_of(&hint).into();
                Target::Items(hints.into_iter().map(|hint| self.target(hint, 0, 1)).collect())
            }
            // Any other hint is about one result.
            _ if count != 1 => Target::Auto,
            Hint::None => Target::Auto,
            Hint::Local(name) => Target::Name(self.child(name, 0)),
            Hint::Named(id) => Target::Name(id),
            Hint::Bound(binding) => Target::Name(self.program.bindings[binding as usize].id),
            Hint::Result(i) => {
                let frame = self.frame();
                if frame.result != NameId::ROOT {
                    return Target::Name(frame.result);
                }
                let unit = frame.unit;
                let own =
                    self.calls.targeted.last().filter(|targeted| targeted.frame as usize + 1 == self.frames.len());
                let target = own.and_then(|own| self.calls.targets.get((own.first + i) as usize)).cloned();
                match (target.unwrap_or(Target::Auto), unit) {
                    (Target::Auto, Some(unit)) => {
                        let name = self.units.get(unit).results[i as usize].name;
                        Target::Name(self.child(name, 0))
                    }
                    (target, _) => target,
                }
            }
        }
    }

    /// Calls the unit of a site; gives it back where its body is missing.
    #[inline]
    pub(super) fn call(&mut self, index: u32) -> Outcome<Option<UnitId>> {
        let Site { unit: Some(unit), name, generic, operands, releases, .. } = self.program.sites[index as usize]
        else {
            return Ok(None);
        };
        let Some(Body { head, .. }) = self.calls.bodies[unit.index()] else { return Ok(Some(unit)) };
        self.budget.burn(FUEL_OF_CALL)?;
        self.check_depth()?;
        let naming = self.naming((index, name), (unit, &head));
        let dtype = self.type_argument(generic);
        let released = releases && self.releases();
        if released {
            // Copied before the slots that hold them are freed.
            if let Some(first) = operands {
                self.push_operands(first, head.params);
            }
            self.drop_slots(self.base as usize);
        }
        let base = self.slots.len();
        match operands {
            Some(first) if !released => self.copy_arguments(first, head.params),
            _ => self.move_arguments(head.params),
        }
        self.enter(index, (unit, &head), base, naming, dtype);
        Ok(None)
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

    /// Copies operands into new slots.
    #[inline]
    fn copy_arguments(&mut self, first: FirstOperand, count: u32) {
        for i in first.index()..first.index() + count as usize {
            let value = self.operand(i);
            self.slots.push(Slot::Ready(value));
        }
    }

    /// Copies operands to the stack.
    #[inline(never)]
    pub(super) fn push_operands(&mut self, first: FirstOperand, count: u32) {
        for i in first.index()..first.index() + count as usize {
            let value = self.operand(i);
            self.stack.push(value);
        }
    }

    /// The value of an operand.
    #[inline]
    fn operand(&self, index: usize) -> Value {
        match self.program.operands[index].value(self.base, &self.slots, &self.program.constants) {
            Some(Value::Tensor(tensor)) => Value::Tensor(*tensor),
            Some(value) => value.clone(),
            // The compiler lets no slot without a value be read.
            None => Value::Logical(false),
        }
    }

    /// Enters the body of a fragment whose arguments are in the slots from `base` on. It comes back
    /// to the next instruction.
    #[inline]
    pub(super) fn enter(
        &mut self,
        index: u32,
        (unit, head): (UnitId, &Head),
        base: usize,
        naming: Naming,
        dtype: Option<Primitive>,
    ) {
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
        let active = &mut self.calls.active[unit.index()];
        if active.count == 0 {
            (active.first_frame, active.recursions) = (frame, 0);
        }
        active.count += 1;
        if naming.result == NameId::ROOT && self.calls.targets.len() > naming.targets as usize {
            self.calls.targeted.push(Targeted { frame, first: naming.targets });
        }
        let callee = Frame {
            pc: head.entry,
            slots: base as u32,
            unit: Some(unit),
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
    fn naming(&mut self, (index, name): (u32, Name), callee: (UnitId, &Head)) -> Naming {
        let (unit, head) = callee;
        let targets = self.calls.targets.len() as u32;
        let Frame { path, result, .. } = *self.frame();
        if !head.makes_tensors {
            return Naming { path, result: NameId::ROOT, targets };
        }
        let Site { hint, ordinal, .. } = self.program.sites[index as usize];
        let path = match hint {
            _ if head.results != 1 => return self.name_several((index, name), callee),
            Hint::None => self.fresh_path((name, ordinal), unit),
            Hint::Local(name) => self.fresh_path((name, 0), unit),
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
    fn name_several(&mut self, (index, name): (u32, Name), (unit, head): (UnitId, &Head)) -> Naming {
        let results = head.results;
        let (base, count) = (self.calls.targets.len() as u32, results as usize);
        let Site { hint, ordinal, .. } = self.program.sites[index as usize];
        let mut path = None;
        if !matches!(hint, Hint::None | Hint::Local(_)) {
            let targets: SmallVec<[Target; 4]> = (0..results).map(|i| self.target(hint, i, count)).collect();
            path = targets.iter().find_map(first_name);
            if path.is_some() {
                self.calls.targets.extend(targets);
            }
        }
        let path = path.unwrap_or_else(|| {
            let segment = if let Hint::Local(name) = hint { (name, 0) } else { (name, ordinal) };
            self.calls.targets.resize(base as usize + count, Target::Auto);
            self.fresh_path(segment, unit)
        });
        Naming { path, result: NameId::ROOT, targets: base }
    }

    #[inline]
    fn fresh_path(&mut self, (segment, ordinal): (Name, u32), unit: UnitId) -> NameId {
        let active = &mut self.calls.active[unit.index()];
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
        let Some(&Frame { slots, unit: Some(unit), .. }) = self.frames.last() else { return };
        let base = slots as usize;
        let result = match self.calls.bodies[unit.index()].as_ref().and_then(|body| body.head.result) {
            // The checks see to it that results are assigned.
            Some(slot) => self.slots[base + slot.get() as usize - 1].take().unwrap_or(Value::Logical(false)),
            None => self.results(unit, base),
        };
        self.drop_slots(base);
        self.leave();
        self.give(result);
    }

    /// Takes the innermost frame away, which is that of a fragment, and goes on in the one around it.
    #[inline]
    pub(super) fn leave(&mut self) {
        let [.., Frame { pc, slots, .. }, Frame { unit: Some(unit), .. }] = self.frames[..] else { return };
        self.frames.truncate(self.frames.len() - 1);
        self.calls.active[unit.index()].count -= 1;
        if let Some(&Targeted { frame, first }) = self.calls.targeted.last()
            && frame as usize == self.frames.len()
        {
            self.calls.targeted.truncate(self.calls.targeted.len() - 1);
            self.calls.targets.truncate(first as usize);
        }
        (self.pc, self.base) = (pc, slots);
    }

    /// The tuple of several results.
    #[inline(never)]
    fn results(&mut self, unit: UnitId, base: usize) -> Value {
        let slots = self.calls.bodies[unit.index()].as_ref().map_or(&[][..], |body| &body.results);
        let values = slots.iter().filter_map(|&slot| self.slots[base + slot as usize].take()).collect();
        Value::Tuple(List::from_values(values, Some(&self.budget.meter)))
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
            origin = self.call_origin(origin, self.frames[i].site, self.frames[i - 1].unit);
            self.frames[i].origin = Origin::new(origin);
        }
        origin
    }

    /// Adds a call from a site, which is in this fragment, to the chain of those around it.
    #[inline]
    pub(super) fn call_origin(&mut self, around: OriginId, index: u32, inside: Option<UnitId>) -> OriginId {
        let place = match self.sites.reached.get(index as usize) {
            Some(Reached::Call(place)) => *place,
            _ => self.add_call_place(index, inside),
        };
        self.graph.add_origin(around, place)
    }

    #[inline(never)]
    fn add_call_place(&mut self, index: u32, fragment: Option<UnitId>) -> u32 {
        let site = self.program.sites[index as usize];
        let place = self.graph.add_call_place(site.name, Location::new(self.file_of(fragment), site.span));
        *self.sites.reached(index, self.program.sites.len()) = Reached::Call(place);
        place
    }
}
