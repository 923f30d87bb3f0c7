//! `Loop` and `Scan` become copies of their bodies, one for each trip.

use bytes::Bytes;

use super::super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use super::super::known::{Scalar, ScopeMark};
use super::predicated::Predicates;
use super::{Flow, Halt, Unrolled};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::graph::trips::{Condition, LoopStart, TripChoice, TripDomain, TripResults, walk};
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{
    Dim, EncodedField, Extent, GraphProto, NodeProto, TensorProto, TypeForm, ValueInfo, Values, Wire,
};
use crate::onnx::protobuf::fields::tensor as tensor_fields;
use crate::onnx::scan_form::{ScanForm, ScanSide, WITHOUT_BATCHES};
use crate::onnx::types::{ElementType, Storage};
use crate::onnx::walk::{each_graph, each_node};

/// A loop that is unrolled, and where its nodes go.
pub(super) struct Unrolling<'w, 'f, 'n> {
    pub(super) expansion: &'w mut Expansion<'f>,
    pub(super) flow: &'w Flow<'n>,
    pub(super) call: InlinedCall<'w>,
    pub(super) target: &'w mut CopyTarget,
    pub(super) imports: &'w mut Imports,
}

/// What the body of a loop gets besides its states.
pub(super) enum CopyFeed {
    /// Before them, the number of the trip and a condition that holds, under these names of the body, if it uses them.
    Numbers([Option<NameId>; 2]),
    /// Behind them, an item of each operand that is scanned in so many trips.
    Items(ScanForm, i64),
}

/// The trips of a loop, which become copies of its body.
pub(super) struct UnrolledTrips<'w, 'f, 'n> {
    pub(super) of: Unrolling<'w, 'f, 'n>,
    pub(super) body: &'n GraphProto,
    states: usize,
    feed: CopyFeed,
    most: Option<i64>,
    pub(super) trip: i64,
    /// What tells whether trips take place, if only a bound of their number is known.
    pub(super) predicates: Option<Predicates>,
    /// What was known before the first trip.
    begun: ScopeMark,
    /// The values that each trip has for collections.
    collected: Vec<Values>,
}

impl<'w, 'f, 'n> Unrolling<'w, 'f, 'n> {
    /// Unrolls a `Loop` whose trips are known.
    pub(super) fn known_loop(self) -> Unrolled<()> {
        let flow = self.flow;
        let expansion = &self.expansion;
        let (body, states) = expansion.loop_parts(flow)?;
        let known = &expansion.known;
        let count = |name: NameId| {
            let count = known.int(name).filter(|_| known.is_certain(name));
            count.map(|count| count.max(0)).ok_or_else(|| expansion.unknown("its trip count", name))
        };
        let holds = |name: NameId| {
            let holds = known.bool(name).filter(|_| known.is_certain(name));
            holds.ok_or_else(|| expansion.unknown("its condition", name))
        };
        let most = flow.input(0).map(count).transpose()?;
        let condition = Condition::Known(flow.input(1).map_or(Ok(true), holds)?);
        let start = LoopStart { most, condition, states: states.to_vec() };
        let mut trips = self.trips(body, CopyFeed::Numbers(used_places(body)), &start);
        let states = walk(&mut trips, start)?;
        trips.finish(&states, &flow.outputs)
    }

    /// Unrolls a `Scan`.
    pub(super) fn scan(self) -> Unrolled<()> {
        let flow = self.flow;
        let Unrolling { expansion, call, imports, .. } = &self;
        let body = expansion.body_of(flow.node)?;
        let ints = |name: &str| Ok::<_, Halt>(Some(expansion.ints_of(flow.node, name)));
        let scanned = expansion.ints_of(flow.node, "num_scan_inputs").first().copied().unwrap_or(0);
        let form = ScanForm::read(scanned, flow.inputs.len(), ints)?.filter(|form| !form.inputs.is_empty());
        let form = form.ok_or_else(|| "it has fewer operands than `num_scan_inputs` says".to_owned())?;
        let names = &*expansion.names;
        let written_for = call.callee.imports.version(names, None);
        if written_for.unwrap_or_else(|| imports.version_read(names, None)) < WITHOUT_BATCHES {
            return Err("scans of operator set 8 have batches".to_owned().into());
        }
        if body.inputs.len() != flow.inputs.len() || body.outputs.len() < form.states {
            return Err("its `body` has other inputs and outputs".to_owned().into());
        }
        let mut trips = None;
        for (&input, side) in flow.inputs.iter().skip(form.states).zip(&form.inputs) {
            let extent = expansion.known.extent(input, side.axis);
            let extent = extent.ok_or_else(|| expansion.unknown("the extent of", input))?;
            if *trips.get_or_insert(extent) != extent {
                return Err("what it scans is not of one length".to_owned().into());
            }
        }
        let trips = trips.unwrap_or(0);
        let states = flow.inputs.iter().copied().take(form.states).collect();
        let start = LoopStart::counted(trips, states);
        let mut trips = self.trips(body, CopyFeed::Items(form, trips), &start);
        let states = walk(&mut trips, start)?;
        trips.finish(&states, &flow.outputs)
    }

    pub(super) fn trips(
        self,
        body: &'n GraphProto,
        feed: CopyFeed,
        start: &LoopStart<NameId>,
    ) -> UnrolledTrips<'w, 'f, 'n> {
        let begun = self.expansion.known.mark();
        let (states, most) = (start.states.len(), start.most);
        UnrolledTrips { of: self, body, states, feed, most, trip: 0, predicates: None, begun, collected: Vec::new() }
    }
}

impl<'w> UnrolledTrips<'w, '_, '_> {
    /// The call with the names of the current trip.
    pub(super) fn call(&self) -> InlinedCall<'w> {
        InlinedCall { ordinal: self.trip as u32 + 1, ..self.of.call }
    }

    /// What the body gets in the current trip.
    fn operands(&mut self, states: Vec<NameId>) -> Expand<Values> {
        let (call, trip, body) = (self.call(), self.trip, self.body);
        let Unrolling { expansion, flow, target, .. } = &mut self.of;
        let mut operands = Values::new();
        match &self.feed {
            CopyFeed::Numbers(places) => {
                for (place, value) in places.iter().zip([Scalar::Int(trip), Scalar::Bool(true)]) {
                    operands.push(match place {
                        Some(name) => expansion.constant(value, *name, &call, target)?,
                        None => NameId::ROOT,
                    });
                }
                operands.extend(states);
            }
            CopyFeed::Items(form, trips) => {
                operands.extend(states);
                for (side, at) in form.inputs.iter().zip(form.states..) {
                    let formal = body.inputs.get(at).and_then(|input| input.name).unwrap_or(NameId::ROOT);
                    let operand = flow.inputs.get(at).copied().unwrap_or(NameId::ROOT);
                    let item = side.item(trip, *trips);
                    operands.push(expansion.item(operand, side.axis, item, formal, &call, target)?);
                }
            }
        }
        Ok(operands)
    }

    /// What is known of the condition that the body of a `Loop` gives.
    fn condition(&self, condition: NameId) -> Unrolled<Condition<NameId>> {
        let expansion = &self.of.expansion;
        let known = expansion.known.bool(condition);
        if self.predicates.is_some() {
            return Ok(known.map_or(Condition::Open(condition), Condition::Known));
        }
        match known.filter(|_| expansion.known.is_certain(condition)) {
            Some(goes_on) => Ok(Condition::Known(goes_on)),
            None if self.most.is_some_and(|most| self.trip + 1 == most) => Ok(Condition::Known(false)),
            None => Err(expansion.unknown("its condition", condition).into()),
        }
    }

    /// The number of outputs of the body before those that are collected.
    pub(super) fn before_items(&self) -> usize {
        self.states + usize::from(matches!(self.feed, CopyFeed::Numbers(_)))
    }

    /// Adds the outputs of a loop: the last values of its states, and the collected values. What no trip has collected is
    /// empty, with the type that the body declares.
    pub(super) fn finish(&mut self, states: &[NameId], outputs: &Values) -> Unrolled<()> {
        let first = self.before_items();
        let Unrolling { expansion, call, target, imports, .. } = &mut self.of;
        for (value, output) in states.iter().zip(outputs) {
            expansion.copy_value(*value, *output, call, target)?;
        }
        let scans = outputs.iter().skip(states.len()).enumerate();
        for (i, &output) in scans.filter(|(_, output)| **output != NameId::ROOT) {
            let mut items: Values = self.collected.iter().filter_map(|values| values.get(i).copied()).collect();
            let side = match &self.feed {
                CopyFeed::Numbers(_) => ScanSide::default(),
                CopyFeed::Items(form, _) => form.output(i),
            };
            if items.is_empty() {
                let empty = self.body.outputs.get(first + i).and_then(|value| empty(value, side.axis));
                let unknown = || "it has no trips, and the shape of what it collects is not known".to_owned();
                expansion.add_constant(empty.ok_or_else(unknown)?, output, call, target)?;
                continue;
            }
            if side.reverse {
                items.reverse();
            }
            expansion.stack(&items, side.axis, output, call, target, imports)?;
        }
        Ok(())
    }
}

impl TripDomain for UnrolledTrips<'_, '_, '_> {
    type Value = NameId;
    type Failure = Halt;

    fn begin(&mut self, trip: i64, active: Option<NameId>) -> Unrolled<Option<NameId>> {
        self.trip = trip;
        self.of.expansion.check_trips(trip, self.of.flow.node)?;
        Ok(self.predicate(active)?)
    }

    fn body(&mut self, _: i64, states: Vec<NameId>) -> Unrolled<TripResults<NameId>> {
        let mut operands = self.operands(states)?;
        self.hold(&mut operands)?;
        let call = self.call();
        let Unrolling { expansion, target, imports, .. } = &mut self.of;
        let mut results = expansion.splice(self.body, &operands, None, &call, target, imports)?.to_vec();
        let condition = match self.feed {
            CopyFeed::Numbers(_) => self.condition(results[0])?,
            CopyFeed::Items(..) => Condition::Known(true),
        };
        if self.predicates.is_none() {
            self.of.expansion.known.forget(self.begun, &results);
        }
        results.drain(..self.before_items() - self.states);
        Ok(TripResults::new(condition, results, self.states))
    }

    fn collect(&mut self, items: Vec<NameId>, active: Option<&NameId>) -> Unrolled<()> {
        if !self.notes(active) || items.is_empty() {
            return Ok(());
        }
        let bytes = size_of::<Values>() + size_of_val(&items[..]);
        self.of.expansion.charge(0, bytes, self.of.flow.node.at)?;
        self.collected.push(items.into());
        Ok(())
    }

    fn choose(&mut self, choice: TripChoice<NameId>) -> Unrolled<NameId> {
        Ok(self.chosen(choice)?)
    }

    fn both(&mut self, active: Option<NameId>, more: NameId) -> Unrolled<NameId> {
        let more = self.squeezed(more, "goes_on")?;
        Ok(self.conjunction(active, more)?)
    }
}

impl Expansion<'_> {
    fn check_trips(&mut self, trip: i64, node: &NodeProto) -> Expand<()> {
        if trip as u64 >= self.max_ops {
            let message = format!("the loop has more than {} trips", self.max_ops);
            return Err(Box::new(
                NodeFinding::new(Code::StepBudget, node.at, message).help("raise the limit with --max-ops"),
            ));
        }
        self.work(1, node)
    }
}

/// What is collected of a value in no trips: a tensor with an axis of extent 0. None if its type is not known, or if the
/// shape has other extents that are not.
fn empty(value: &ValueInfo, axis: i64) -> Option<TensorProto> {
    let TypeForm::Tensor(of) = &value.ty.as_ref()?.form else { return None };
    let known = |dim: &Dim| if let Extent::Value(extent) = dim.extent { Some(extent) } else { None };
    let mut dims: Vec<i64> = of.shape.as_ref()?.dims.iter().map(known).collect::<Option<_>>()?;
    let at = crate::extents::axis(axis, dims.len() + 1)?;
    // Texts have no raw data.
    let storage = ElementType::numbered(of.element?).map(|element| element.storage)?;
    if storage == Storage::String {
        return None;
    }
    dims.insert(at, 0);
    let raw = EncodedField { number: tensor_fields::RAW_DATA, wire: Wire::Bytes, bytes: Bytes::new().into() };
    let rest = Some(Box::new(vec![raw]));
    Some(TensorProto { dims: dims.as_slice().into(), data_type: of.element, rest, ..TensorProto::default() })
}

/// The names of the trip number and of the condition in the body of a `Loop`, if the body uses them.
pub(super) fn used_places(body: &GraphProto) -> [Option<NameId>; 2] {
    let place = |i: usize| body.inputs.get(i)?.name.filter(|name| *name != NameId::ROOT && uses(body, *name));
    [0, 1].map(place)
}

/// Whether a body refers to a name.
fn uses(body: &GraphProto, name: NameId) -> bool {
    let mut found = body.outputs.iter().any(|output| output.name == Some(name));
    each_node(&body.nodes, &mut |node| {
        found |= node.inputs.contains(&name);
        for attribute in &node.attributes {
            each_graph(&attribute.value, &mut |graph| {
                found |= graph.outputs.iter().any(|output| output.name == Some(name));
            });
        }
    });
    found
}
