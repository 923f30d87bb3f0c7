//! Unrolls loops whose trips are not known, up to a bound: after the last trip, a predicate keeps the values of the state.

use super::control::{Flow, Stays, used_places};
use super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use super::known::Scalar;
use super::opsets::Imports;
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeValue, Extent, GraphProto, NodeProto, ShapeProto, TypeForm, ValueInfo, Values};
use crate::onnx::types::{AttributeType, ElementType};

/// A loop whose trips are bounded.
struct BoundedLoop<'n> {
    node: &'n NodeProto,
    body: &'n GraphProto,
    /// The number of trips and the condition, as far as they are not known.
    trips: Option<NameId>,
    condition: Option<NameId>,
    /// The most trips.
    bound: i64,
    /// Whether values of trips are collected.
    collects: bool,
}

/// What bounded trips leave.
#[derive(Default)]
struct BoundedTrips {
    /// The state after the last trip.
    state: Values,
    /// The values that each trip has for collections.
    collected: Vec<Values>,
    /// For each trip, whether it takes place; none if that is known.
    alive: Vec<Option<NameId>>,
}

/// The version of the standard from which on there is `Where`, and `Less` compares integers.
const SELECTIONS: i64 = 9;

/// The version of the standard from which on bounds of `Slice` are operands.
const BOUNDS_ARE_OPERANDS: i64 = 10;

impl Expansion<'_> {
    /// Unrolls a loop whose trips are not known, up to a bound.
    pub(super) fn predicated_loop(
        &mut self,
        flow: &Flow,
        bound: i64,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let (body, state) = match self.loop_parts(flow) {
            Ok(parts) => parts,
            Err(reason) => return Ok(Err(reason)),
        };
        let count = flow.input(0).and_then(|trips| self.known.int(trips));
        let goes_on = flow.input(1).and_then(|condition| self.known.bool(condition));
        let most = count.map_or(bound, |known| known.clamp(0, bound));
        let of = BoundedLoop {
            node: flow.node,
            body,
            trips: flow.input(0).filter(|trips| !self.known.is_certain(*trips)),
            condition: flow.input(1).filter(|condition| !self.known.is_certain(*condition)),
            bound: if goes_on == Some(false) { 0 } else { most },
            collects: flow.outputs.iter().skip(state.len()).any(|output| *output != NameId::ROOT),
        };
        let version = imports.version(self.names, None);
        if version.is_some_and(|version| version < SELECTIONS) {
            let reason =
                "whether a trip takes place is known only at run time, and `Where` is there from operator set 9 on";
            return Ok(Err(reason.to_owned()));
        }
        if of.collects && version.is_some_and(|version| version < BOUNDS_ARE_OPERANDS) {
            return Ok(Err("it collects values, whose number is known only at run time".to_owned()));
        }
        let trips = match self.bounded_loop(&of, state, call, target, imports)? {
            Ok(trips) => trips,
            Err(reason) => return Ok(Err(reason)),
        };
        self.finish_bounded(flow, &trips, body, call, target, imports)
    }

    /// Adds the outputs of a loop of bounded trips. Of what all trips have collected, those that take place are a part.
    fn finish_bounded(
        &mut self,
        flow: &Flow,
        trips: &BoundedTrips,
        body: &GraphProto,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let count = trips.state.len();
        let declared = body.outputs.get(1 + count..).unwrap_or_default();
        let open: Vec<NameId> = trips.alive.iter().copied().flatten().collect();
        let mut outputs = flow.outputs.clone();
        let mut cut = Vec::new();
        for output in outputs.iter_mut().skip(count).filter(|output| **output != NameId::ROOT && !open.is_empty()) {
            let segment = self.names.texts.intern("all");
            let all = self.child(*output, segment, 0);
            cut.push((all, std::mem::replace(output, all)));
        }
        let whole = Flow { node: flow.node, inputs: flow.inputs.clone(), outputs };
        let made = (&trips.state, &trips.collected[..], declared);
        if let Err(reason) = self.finish_loop(&whole, made, |_| (0, false), call, target, imports)? {
            return Ok(Err(reason));
        }
        if cut.is_empty() {
            return Ok(Ok(()));
        }
        let certain = trips.alive.iter().filter(|alive| alive.is_none()).count() as i64;
        let mut number = self.made("taken", call);
        self.add_scalar(Scalar::Int(certain), number, call, target)?;
        for (trip, alive) in (1..).zip(open) {
            let call = &InlinedCall { ordinal: trip, ..*call };
            let [one, sum] = ["one", "taken"].map(|segment| self.made(segment, call));
            let to = self.attribute_named("to", AttributeType::Int, AttributeValue::Int(7));
            self.operation("Cast", (&[alive], one), vec![to], call, target)?;
            self.operation("Add", (&[number, one], sum), Vec::new(), call, target)?;
            number = sum;
        }
        let [end, begin, zero] = ["end", "begin", "zero"].map(|segment| self.made(segment, call));
        self.stack(&Values::from_slice(&[number]), 0, end, call, target, imports)?;
        self.add_scalar(Scalar::Int(0), zero, call, target)?;
        self.stack(&Values::from_slice(&[zero]), 0, begin, call, target, imports)?;
        for (all, output) in cut {
            self.operation("Slice", (&[all, begin, end], output), Vec::new(), call, target)?;
        }
        Ok(Ok(()))
    }

    /// Adds as many trips as the bound allows.
    ///
    /// # Errors
    ///
    /// There are too many nodes. The inner error is the reason why the loop stays.
    fn bounded_loop(
        &mut self,
        of: &BoundedLoop,
        mut state: Values,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<BoundedTrips, Stays>> {
        let (body, count) = (of.body, state.len());
        let mut made = BoundedTrips::default();
        // A selection broadcasts, so that state of another shape would become another value.
        let mut pairs = body.inputs[2..].iter().zip(&body.outputs[1..]);
        if !body.keeps_shapes && !pairs.all(|(before, after)| same_shape(before, after)) {
            return Ok(Err("it is not known that the shapes of its state stay the same".to_owned()));
        }
        let trips = match of.trips {
            Some(trips) => Some(self.squeezed(trips, ("trips", 0), call, target)?),
            None => None,
        };
        let mut alive = match of.condition {
            Some(condition) => Some(self.squeezed(condition, ("alive", 0), call, target)?),
            None => None,
        };
        let places = used_places(body);
        let mut given = Values::new();
        for trip in 0..of.bound {
            self.check_trips(trip, of.node)?;
            let call = &InlinedCall { ordinal: trip as u32 + 1, ..*call };
            if let Some(trips) = trips {
                let number = self.made("number", call);
                self.add_scalar(Scalar::Int(trip), number, call, target)?;
                let more = self.made("more", call);
                self.operation("Less", (&[number, trips], more), Vec::new(), call, target)?;
                alive = Some(self.both(alive, more, call, target)?);
            }
            let mut operands = Values::new();
            for (place, value) in places.into_iter().zip([Scalar::Int(trip), Scalar::Bool(true)]) {
                operands.push(match place {
                    Some(name) => self.constant(value, name, call, target)?,
                    None => NameId::ROOT,
                });
            }
            operands.extend(state.iter().copied());
            if let Some(alive) = alive.filter(|_| trip > 0) {
                self.hold(body, alive, (&mut operands, &given), call, target)?;
                operands.first().into_iter().for_each(|number| self.known.assume(*number, Scalar::Int(trip)));
            }
            given.clone_from(&operands);
            let results = self.splice(body, &operands, None, call, target, imports)?;
            if of.collects {
                self.collect(&mut made.collected, &results[1 + count..], of.node)?;
                made.alive.push(alive);
            }
            state = self.state_after(alive, &results[1..=count], &state, call, target)?;
            match self.known.bool(results[0]) {
                Some(true) => {}
                Some(false) => break,
                None => {
                    let condition = self.squeezed(results[0], ("goes_on", trip), call, target)?;
                    alive = Some(self.both(alive, condition, call, target)?);
                }
            }
        }
        Ok(Ok(BoundedTrips { state, ..made }))
    }

    /// Replaces integers that a trip gets by those of the trip before, if the trip does not take place: they may be
    /// indices of items, which exist only for trips that take place.
    fn hold(
        &mut self,
        body: &GraphProto,
        alive: NameId,
        (operands, before): (&mut Values, &Values),
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<()> {
        for (i, (value, old)) in operands.iter_mut().zip(before).enumerate() {
            if *value != NameId::ROOT && *value != *old && body.inputs.get(i).is_some_and(is_integer) {
                let held = self.made(&format!("held{i}"), call);
                self.operation("Where", (&[alive, *value, *old], held), Vec::new(), call, target)?;
                *value = held;
            }
        }
        Ok(())
    }

    /// The state after a trip: the new one if the trip takes place.
    fn state_after(
        &mut self,
        alive: Option<NameId>,
        new: &[NameId],
        old: &[NameId],
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<Values> {
        let mut state = Values::from_slice(new);
        let Some(alive) = alive else { return Ok(state) };
        for (i, (value, old)) in state.iter_mut().zip(old).enumerate().filter(|(_, (new, old))| **new != **old) {
            let kept = self.made(&format!("state{i}"), call);
            self.operation("Where", (&[alive, *value, *old], kept), Vec::new(), call, target)?;
            *value = kept;
        }
        Ok(state)
    }

    /// A name under that of the loop.
    fn made(&mut self, segment: &str, call: &InlinedCall) -> NameId {
        let segment = self.names.texts.intern(segment);
        self.child(call.path, segment, call.ordinal)
    }

    /// A single value as a tensor of rank 0, so that a selection by it keeps the rank of what it selects.
    fn squeezed(
        &mut self,
        value: NameId,
        (segment, trip): (&str, i64),
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<NameId> {
        let result = self.made(segment, &InlinedCall { ordinal: trip as u32 + 1, ..*call });
        self.operation("Squeeze", (&[value], result), Vec::new(), call, target)?;
        Ok(result)
    }

    /// The conjunction with what holds so far.
    fn both(
        &mut self,
        alive: Option<NameId>,
        condition: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<NameId> {
        let Some(alive) = alive else { return Ok(condition) };
        let both = self.made("alive", call);
        self.operation("And", (&[alive, condition], both), Vec::new(), call, target)?;
        Ok(both)
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
