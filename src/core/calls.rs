//! Calls of fragments: frames, and the names of the tensors that calls produce.

use smallvec::SmallVec;

use super::budget::{FUEL_OF_CALL, Outcome};
use super::frame::{CallChain, Frame, ResultName, Targeted, first_name};
use super::list::List;
use super::machine::Machine;
use super::program::{Body, FirstOperand, Head, Hint, Site};
use super::sites::Reached;
use super::unit::UnitId;
use super::value::Value;
use crate::graph::OriginId;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::room::{self, with_stack};
use crate::source::names::Name;

/// The capacity of the value stack that is reserved when a body is entered.
const NEXT: usize = 32;

/// How the tensors of a call are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    /// The prefix of the generated names of its tensors.
    pub(super) path: NameId,
    /// The name of its only result; [`NameId::ROOT`] if its results are named by targets.
    pub(super) result: NameId,
}

impl Machine {
    #[inline]
    pub(super) fn child(&mut self, segment: Name, ordinal: u32) -> NameId {
        let frame = self.frame();
        let (path, inner) = (frame.path, frame.inner);
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// The target of the `result`th of `count` results, according to a hint.
    pub(super) fn target(&mut self, hint: Hint, result: u32, count: usize) -> ResultName {
        match hint {
            Hint::Items { .. } if count > 1 => match self.program.items_of(&hint).get(result as usize) {
                Some(&item) => self.target(item, 0, 1),
                None => ResultName::Auto,
            },
            Hint::Items { .. } => {
                let hints: SmallVec<[Hint; 4]> = self.program.items_of(&hint).into();
                ResultName::Items(hints.into_iter().map(|hint| self.target(hint, 0, 1)).collect())
            }
            // All other hints name a single result.
            _ if count != 1 => ResultName::Auto,
            Hint::None => ResultName::Auto,
            Hint::Local(name) => ResultName::Name(self.child(name, 0)),
            Hint::Named(id) => ResultName::Name(id),
            Hint::Bound(binding) => ResultName::Name(self.program.bindings[binding as usize].id),
            Hint::Result(i) => {
                let frame = self.frame();
                if frame.result != NameId::ROOT {
                    return ResultName::Name(frame.result);
                }
                let unit = frame.unit;
                let own =
                    self.calls.targeted.last().filter(|targeted| targeted.frame as usize + 1 == self.frames.len());
                let target = own.and_then(|own| self.calls.targets.get((own.first + i) as usize)).cloned();
                match (target.unwrap_or(ResultName::Auto), unit) {
                    (ResultName::Auto, Some(unit)) => {
                        let name = self.units.get(unit).results[i as usize].name;
                        ResultName::Name(self.child(name, 0))
                    }
                    (target, _) => target,
                }
            }
        }
    }

    /// Calls the unit of a site. Returns the unit if its body is not compiled yet.
    #[inline(never)]
    pub(super) fn call(&mut self, index: u32) -> Outcome<Option<UnitId>> {
        let Site { unit: Some(unit), generic, operands, releases, .. } = self.program.sites[index as usize] else {
            return Ok(None);
        };
        let Some(Body { head, .. }) = self.calls.bodies[unit.index()] else { return Ok(Some(unit)) };
        self.budget.burn(FUEL_OF_CALL)?;
        self.check_depth()?;
        let naming = self.naming(index, (unit, &head));
        let mut dtype = self.type_argument(generic);
        if dtype.is_none() && head.generic {
            dtype = self.deduced_argument(unit, operands, head.params);
        }
        self.slots.reserve(head.slots);
        match operands {
            Some(first) if releases && self.releases() => {
                // The arguments are copied before the slots that hold them are freed.
                self.push_operands(first, head.params);
                self.slots.free();
                self.move_arguments(head.params);
            }
            Some(first) => {
                let operands = &self.program.operands[first.index()..][..head.params as usize];
                self.slots.pass_operands(operands, &self.program.constants);
            }
            None => {
                if releases && self.releases() {
                    self.slots.free();
                }
                self.move_arguments(head.params);
            }
        }
        self.enter(index, unit, &head, naming, dtype);
        Ok(None)
    }

    /// The type argument of a call by the element types of its arguments, where static types do not determine it.
    #[inline(never)]
    fn deduced_argument(&self, unit: UnitId, operands: Option<FirstOperand>, count: u32) -> Option<Primitive> {
        let first = self.stack.len().wrapping_sub(count as usize);
        let argument = |i: usize| match operands {
            Some(first) => self.program.operands[first.index() + i].value(self.slots.own(), &self.program.constants),
            None => self.stack.get(first.wrapping_add(i)),
        };
        let params = self.units.get(unit).params.iter().enumerate();
        params.filter(|(_, param)| param.decides).find_map(|(i, _)| self.elements(argument(i)?))
    }

    /// The element type of a value; of a list that of its first item.
    fn elements(&self, value: &Value) -> Option<Primitive> {
        match value {
            Value::Tensor(tensor) => self.graph.dtype(*tensor),
            Value::Int(_) | Value::Symbol(_) => Some(Primitive::Integer),
            Value::Scalar(_) => Some(Primitive::Scalar),
            Value::Logical(_) => Some(Primitive::Logical),
            Value::String(_) => Some(Primitive::String),
            Value::Array(list) | Value::Tuple(list) => {
                let first = list.get(0)?;
                with_stack(|| self.elements(&first))
            }
        }
    }

    /// Moves arguments from the stack to the slots of the body that is entered next.
    #[inline]
    pub(super) fn move_arguments(&mut self, count: u32) {
        let first = self.stack.len() - count as usize;
        self.slots.pass(self.stack.drain(first..));
    }

    /// Pushes copies of operands.
    #[inline(never)]
    pub(super) fn push_operands(&mut self, first: FirstOperand, count: u32) {
        for operand in &self.program.operands[first.index()..][..count as usize] {
            self.stack.push(operand.copy(self.slots.own(), &self.program.constants));
        }
    }

    /// Enters the body of a fragment whose arguments are in its slots. The call returns to the next instruction.
    #[inline(always)]
    pub(super) fn enter(&mut self, index: u32, unit: UnitId, head: &Head, naming: Naming, dtype: Option<Primitive>) {
        let pc = self.pc;
        let caller = self.frame();
        caller.pc = pc;
        let inner = caller.inner || head.standard;
        // Reserved here because in deep recursion the stack grows with the calls.
        room::reserve(&mut self.stack, NEXT);
        self.slots.enter(head.slots);
        self.pc = head.entry;
        let frame = self.frames.len() as u32;
        let active = &mut self.calls.active[unit.index()];
        if active.count == 0 {
            (active.first_frame, active.recursions) = (frame, 0);
        }
        active.count += 1;
        let callee = Frame {
            pc: head.entry,
            slots: self.slots.base() as u32,
            unit: Some(unit),
            site: index,
            path: naming.path,
            result: naming.result,
            dtype,
            inner,
            origin: CallChain::UNKNOWN,
        };
        room::push(&mut self.frames, callee);
    }

    /// Chooses the names of a call's tensors. A recursive call continues the names of the outermost call of its
    /// fragment, so that names stay short.
    #[inline(always)]
    fn naming(&mut self, index: u32, callee: (UnitId, &Head)) -> Naming {
        let (unit, head) = callee;
        let Frame { path, result, .. } = *self.frame();
        if !head.makes_tensors {
            return Naming { path, result: NameId::ROOT };
        }
        if head.results != 1 {
            return self.name_several(index, unit, head);
        }
        let site = &self.program.sites[index as usize];
        let path = match site.hint {
            Hint::None => self.fresh_path(site.name, site.ordinal, unit),
            Hint::Local(name) => self.fresh_path(name, 0, unit),
            Hint::Named(id) => id,
            Hint::Bound(binding) => self.program.bindings[binding as usize].id,
            Hint::Result(_) if result != NameId::ROOT => result,
            Hint::Result(_) | Hint::Items { .. } => return self.name_by_target(index, callee),
        };
        Naming { path, result: path }
    }

    /// [`Machine::naming`] for a call with one result, if the result may have a target.
    #[inline(never)]
    fn name_by_target(&mut self, index: u32, callee: (UnitId, &Head)) -> Naming {
        let hint = self.program.sites[index as usize].hint;
        if let Hint::Result(_) = hint
            && let ResultName::Name(path) = self.target(hint, 0, 1)
        {
            return Naming { path, result: path };
        }
        self.name_several(index, callee.0, callee.1)
    }

    /// [`Machine::naming`] for a call that does not have exactly one named result: stores its targets in
    /// `Calls::targets`.
    #[inline(never)]
    fn name_several(&mut self, index: u32, unit: UnitId, head: &Head) -> Naming {
        let results = head.results;
        let (base, count) = (self.calls.targets.len() as u32, results as usize);
        let Site { hint, name, ordinal, .. } = self.program.sites[index as usize];
        let mut path = None;
        if !matches!(hint, Hint::None | Hint::Local(_)) {
            let targets: SmallVec<[ResultName; 4]> = (0..results).map(|i| self.target(hint, i, count)).collect();
            path = targets.iter().find_map(first_name);
            if path.is_some() {
                self.calls.targets.extend(targets);
            }
        }
        let path = path.unwrap_or_else(|| {
            let (segment, ordinal) = if let Hint::Local(name) = hint { (name, 0) } else { (name, ordinal) };
            self.calls.targets.resize(base as usize + count, ResultName::Auto);
            self.fresh_path(segment, ordinal, unit)
        });
        self.open_targets(base);
        Naming { path, result: NameId::ROOT }
    }

    /// Assigns the targets from `first` on to the call that is entered next.
    pub(super) fn open_targets(&mut self, first: u32) {
        if self.calls.targets.len() > first as usize {
            self.calls.targeted.push(Targeted { frame: self.frames.len() as u32, first });
        }
    }

    #[inline(always)]
    fn fresh_path(&mut self, segment: Name, ordinal: u32, unit: UnitId) -> NameId {
        let Frame { path, inner, .. } = *self.frame();
        let active = &mut self.calls.active[unit.index()];
        let (path, ordinal) = match active.count {
            0 => (path, ordinal),
            _ => {
                active.recursions += 1;
                (self.frames[active.first_frame as usize].path, active.recursions)
            }
        };
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// Returns from a fragment and passes its results to the caller.
    #[inline(never)]
    pub(super) fn finish_call(&mut self) {
        let Some(&Frame { unit: Some(unit), .. }) = self.frames.last() else { return };
        let result = match self.calls.bodies[unit.index()].as_ref().and_then(|body| body.head.result) {
            // The checks ensure that results are assigned.
            Some(slot) => match self.slots.get(slot.get() - 1).take() {
                Some(value) => value,
                None => Value::Logical(false),
            },
            None => self.results(unit),
        };
        self.leave();
        self.give(result);
    }

    /// Removes the innermost frame, which must be that of a fragment, and its slots, and continues in the caller.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        let Some(Frame { unit: Some(unit), .. }) = self.frames.pop() else { return };
        let Some(&Frame { pc, slots, .. }) = self.frames.last() else { return };
        self.slots.leave(slots as usize);
        self.pc = pc;
        self.calls.active[unit.index()].count -= 1;
        if let Some(&Targeted { frame, first }) = self.calls.targeted.last()
            && frame as usize == self.frames.len()
        {
            self.calls.targeted.truncate(self.calls.targeted.len() - 1);
            self.calls.targets.truncate(first as usize);
        }
    }

    /// The tuple of several results.
    #[inline(never)]
    fn results(&mut self, unit: UnitId) -> Value {
        let slots = self.calls.bodies[unit.index()].as_ref().map_or(&[][..], |body| &body.results);
        let values = slots.iter().filter_map(|&slot| self.slots.get(slot).take()).collect();
        Value::Tuple(List::from_values(values, Some(&self.budget.meter)))
    }

    /// The type argument of a call, with `?` replaced by that of the running fragment.
    pub(super) fn type_argument(&mut self, generic: Option<Primitive>) -> Option<Primitive> {
        match generic {
            Some(Primitive::Generic) => self.frame().dtype,
            generic => generic,
        }
    }

    /// The chain of calls of the running frame. It is computed only for frames that emit operations.
    #[inline]
    pub(super) fn origin(&mut self) -> OriginId {
        match self.frame().origin.known() {
            Some(origin) => origin,
            None => self.make_origin(),
        }
    }

    /// Adds the open calls that the graph does not contain yet.
    #[inline(never)]
    fn make_origin(&mut self) -> OriginId {
        let Machine { frames, sites, graph, program, units, file, .. } = self;
        // The frame of the graph always has an origin.
        let first = frames.iter().rposition(|frame| frame.origin != CallChain::UNKNOWN).unwrap_or(0);
        let Frame { unit: mut inside, origin, .. } = frames[first];
        let mut origin = origin.known().unwrap_or(OriginId::NONE);
        for frame in &mut frames[first + 1..] {
            let place = match sites.reached.get(frame.site as usize) {
                Some(Reached::Call(place)) => *place,
                _ => {
                    let file = inside.map_or(*file, |id| units.get(id).file);
                    sites.add_call_place(frame.site, &program.sites, file, graph)
                }
            };
            origin = graph.add_origin(origin, place);
            frame.origin = CallChain::new(origin);
            inside = frame.unit;
        }
        origin
    }
}
