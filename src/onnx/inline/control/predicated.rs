//! Loops whose trips are not known, up to a bound: after the last trip, a predicate keeps the values of the state.

use super::super::copy::{Expand, Expansion, InlinedCall};
use super::super::known::Scalar;
use super::Unrolled;
use super::loops::{CopyFeed, UnrolledTrips, Unrolling, used_places};
use crate::graph::names::NameId;
use crate::graph::trips::{Condition, LoopStart, TripChoice, walk};
use crate::onnx::model::{AttributeProto, AttributeValue, Extent, ShapeProto, TypeForm, ValueInfo, Values};
use crate::onnx::types::ElementType;

/// What tells whether a trip takes place.
pub(super) struct Predicates {
    /// The number of trips, if it is not known.
    trips: Option<NameId>,
    /// The predicate of the current trip.
    alive: Option<NameId>,
    /// What the body got in the trip before.
    given: Values,
    /// Whether values of trips are collected.
    collects: bool,
    /// For each trip that collects, its predicate; none if it takes place in any case.
    taken: Vec<Option<NameId>>,
}

/// The version of the standard from which on there is `Where`, and `Less` compares integers.
const SELECTIONS: i64 = 9;

/// The version of the standard from which on bounds of `Slice` are operands.
const BOUNDS_ARE_OPERANDS: i64 = 10;

impl Unrolling<'_, '_, '_> {
    /// Unrolls a `Loop` whose trips are not known, up to a bound.
    pub(super) fn bounded_loop(self, bound: i64) -> Unrolled<()> {
        let flow = self.flow;
        let Unrolling { expansion, imports, .. } = &self;
        let (body, states) = expansion.loop_parts(flow)?;
        let known = &expansion.known;
        let count = flow.input(0).and_then(|trips| known.int(trips));
        let goes_on = flow.input(1).and_then(|condition| known.bool(condition));
        let most = count.map_or(bound, |known| known.clamp(0, bound));
        let most = if goes_on == Some(false) { 0 } else { most };
        let open = |i: usize| flow.input(i).filter(|value| !known.is_certain(*value));
        let (trips, condition) = (open(0), open(1));
        let collects = flow.outputs.iter().skip(states.len()).any(|output| *output != NameId::ROOT);
        let version = imports.version_read(expansion.names, None);
        if version < SELECTIONS {
            let reason =
                "whether a trip takes place is known only at run time, and `Where` is there from operator set 9 on";
            return Err(reason.to_owned().into());
        }
        if collects && version < BOUNDS_ARE_OPERANDS {
            return Err("it collects values, whose number is known only at run time".to_owned().into());
        }
        // A selection broadcasts, so that state of another shape would become another value.
        let mut pairs = body.inputs[2..].iter().zip(&body.outputs[1..]);
        if !body.keeps_shapes && !pairs.all(|(before, after)| same_shape(before, after)) {
            return Err("it is not known that the shapes of its state stay the same".to_owned().into());
        }
        let mut start = LoopStart::counted(most, states.to_vec());
        let mut walked = self.trips(body, CopyFeed::Numbers(used_places(body)), &start);
        let trips = trips.map(|trips| walked.squeezed(trips, "trips")).transpose()?;
        if let Some(condition) = condition {
            start.condition = Condition::Open(walked.squeezed(condition, "alive")?);
        }
        let (given, taken) = (Values::new(), Vec::new());
        walked.predicates = Some(Predicates { trips, alive: None, given, collects, taken });
        let states = walk(&mut walked, start)?;
        walked.finish_bounded(&states)
    }
}

impl UnrolledTrips<'_, '_, '_> {
    /// Adds the outputs of a loop of bounded trips. Of what all trips have collected, those that take place are a part.
    fn finish_bounded(&mut self, states: &[NameId]) -> Unrolled<()> {
        let taken = self.predicates.as_mut().map(|predicates| std::mem::take(&mut predicates.taken));
        let taken = taken.unwrap_or_default();
        let open: Vec<NameId> = taken.iter().copied().flatten().collect();
        let mut outputs = self.of.flow.outputs.clone();
        let mut cut = Vec::new();
        let wanted = outputs.iter_mut().skip(states.len()).filter(|output| **output != NameId::ROOT);
        for output in wanted.filter(|_| !open.is_empty()) {
            let segment = self.of.expansion.names.texts.intern("all");
            let all = self.of.expansion.child(*output, segment, 0);
            cut.push((all, std::mem::replace(output, all)));
        }
        self.finish(states, &outputs)?;
        if cut.is_empty() {
            return Ok(());
        }
        let certain = taken.iter().filter(|alive| alive.is_none()).count() as i64;
        let Unrolling { expansion, call, target, imports, .. } = &mut self.of;
        let mut number = expansion.made("taken", call);
        expansion.add_scalar(Scalar::Int(certain), number, call, target)?;
        for (trip, alive) in (1..).zip(open) {
            let call = &InlinedCall { ordinal: trip, ..*call };
            let [one, sum] = ["one", "taken"].map(|segment| expansion.made(segment, call));
            let to = AttributeProto::new(&mut expansion.names.texts, "to", AttributeValue::Int(7));
            expansion.operation("Cast", &[alive], one, vec![to], call, target)?;
            expansion.operation("Add", &[number, one], sum, Vec::new(), call, target)?;
            number = sum;
        }
        let [end, begin, zero] = ["end", "begin", "zero"].map(|segment| expansion.made(segment, call));
        expansion.stack(&Values::from_slice(&[number]), 0, end, call, target, imports)?;
        expansion.add_scalar(Scalar::Int(0), zero, call, target)?;
        expansion.stack(&Values::from_slice(&[zero]), 0, begin, call, target, imports)?;
        for (all, output) in cut {
            expansion.operation("Slice", &[all, begin, end], output, Vec::new(), call, target)?;
        }
        Ok(())
    }

    /// The predicate of the current trip: with what holds so far, whether it is one of the number of trips.
    pub(super) fn predicate(&mut self, active: Option<NameId>) -> Expand<Option<NameId>> {
        let Some(trips) = self.predicates.as_ref().map(|predicates| predicates.trips) else { return Ok(active) };
        let mut alive = active;
        if let Some(trips) = trips {
            let call = self.call();
            let Unrolling { expansion, target, .. } = &mut self.of;
            let number = expansion.made("number", &call);
            expansion.add_scalar(Scalar::Int(self.trip), number, &call, target)?;
            let more = expansion.made("more", &call);
            expansion.operation("Less", &[number, trips], more, Vec::new(), &call, target)?;
            alive = Some(self.conjunction(active, more)?);
        }
        if let Some(predicates) = &mut self.predicates {
            predicates.alive = alive;
        }
        Ok(alive)
    }

    /// Replaces integers that a trip gets by those of the trip before, if the trip does not take place: they may be
    /// indices of items, which exist only for trips that take place.
    pub(super) fn hold(&mut self, operands: &mut Values) -> Expand<()> {
        let (call, trip) = (self.call(), self.trip);
        let Some(predicates) = &mut self.predicates else { return Ok(()) };
        let Unrolling { expansion, target, .. } = &mut self.of;
        if let Some(alive) = predicates.alive.filter(|_| trip > 0) {
            for (i, (value, old)) in operands.iter_mut().zip(&predicates.given).enumerate() {
                if *value != NameId::ROOT && *value != *old && self.body.inputs.get(i).is_some_and(is_integer) {
                    let held = expansion.made(&format!("held{i}"), &call);
                    expansion.operation("Where", &[alive, *value, *old], held, Vec::new(), &call, target)?;
                    *value = held;
                }
            }
            operands.first().into_iter().for_each(|number| expansion.known.assume(*number, Scalar::Int(trip)));
        }
        predicates.given.clone_from(operands);
        Ok(())
    }

    /// Whether the items of a trip are collected; notes its predicate.
    pub(super) fn notes(&mut self, active: Option<&NameId>) -> bool {
        let Some(predicates) = &mut self.predicates else { return true };
        if predicates.collects {
            predicates.taken.push(active.copied());
        }
        predicates.collects
    }

    /// A state after a trip: the new one if the trip takes place.
    pub(super) fn chosen(&mut self, of: TripChoice<NameId>) -> Expand<NameId> {
        if of.new == of.old {
            return Ok(of.new);
        }
        let call = self.call();
        let Unrolling { expansion, target, .. } = &mut self.of;
        let kept = expansion.made(&format!("state{}", of.state), &call);
        expansion.operation("Where", &[*of.active, of.new, of.old], kept, Vec::new(), &call, target)?;
        Ok(kept)
    }

    /// A single value as a tensor of rank 0, so that a selection by it keeps the rank of what it selects.
    pub(super) fn squeezed(&mut self, value: NameId, segment: &str) -> Expand<NameId> {
        let call = self.call();
        let Unrolling { expansion, target, .. } = &mut self.of;
        let result = expansion.made(segment, &call);
        expansion.operation("Squeeze", &[value], result, Vec::new(), &call, target)?;
        Ok(result)
    }

    /// The conjunction with what holds so far.
    pub(super) fn conjunction(&mut self, alive: Option<NameId>, condition: NameId) -> Expand<NameId> {
        let Some(alive) = alive else { return Ok(condition) };
        let call = self.call();
        let Unrolling { expansion, target, .. } = &mut self.of;
        let both = expansion.made("alive", &call);
        expansion.operation("And", &[alive, condition], both, Vec::new(), &call, target)?;
        Ok(both)
    }
}

impl Expansion<'_> {
    /// A name under that of the loop.
    fn made(&mut self, segment: &str, call: &InlinedCall) -> NameId {
        let segment = self.names.texts.intern(segment);
        self.child(call.path, segment, call.ordinal)
    }
}

/// Whether a value may be a tensor of integers.
fn is_integer(value: &ValueInfo) -> bool {
    let element = match value.ty.as_ref().map(|ty| &ty.form) {
        Some(TypeForm::Tensor(of)) => of.element.and_then(ElementType::numbered),
        _ => None,
    };
    element.is_none_or(|element| element.name.contains("int"))
}

/// Whether two values have the same declared shape.
fn same_shape(before: &ValueInfo, after: &ValueInfo) -> bool {
    let shape = |value: &ValueInfo| -> Option<Vec<Extent>> {
        let TypeForm::Tensor(of) = &value.ty.as_ref()?.form else { return None };
        let ShapeProto { dims, .. } = of.shape.as_ref()?;
        let known = dims.iter().map(|dim| Some(dim.extent).filter(|extent| *extent != Extent::Unknown));
        known.collect()
    };
    shape(before).is_some_and(|shape_before| Some(shape_before) == shape(after))
}
