//! Loops with known trips: `Loop` and `Scan` become copies of their bodies.

use bytes::Bytes;

use super::super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use super::super::finding::NodeFinding;
use super::super::functions::{each_graph, each_node};
use super::super::known::Scalar;
use super::super::opsets::Imports;
use super::{Flow, SCAN_WITHOUT_BATCHES, Stays};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{
    Dim, EncodedField, Extent, GraphProto, NodeProto, TensorProto, TypeForm, ValueInfo, Values, Wire,
};
use crate::onnx::protobuf::fields::tensor as tensor_fields;
use crate::onnx::types::{ElementType, Storage};

impl Expansion<'_> {
    pub(super) fn unrolled_loop(
        &mut self,
        flow: &Flow,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let (body, mut state) = match self.loop_parts(flow) {
            Ok(parts) => parts,
            Err(reason) => return Ok(Err(reason)),
        };
        let count = state.len();
        let trips = match flow.input(0) {
            None => None,
            Some(name) => match self.known.int(name).filter(|_| self.known.is_certain(name)) {
                Some(trips) => Some(trips.max(0)),
                None => return Ok(Err(self.unknown("its trip count", name))),
            },
        };
        let mut goes_on = match flow.input(1) {
            None => true,
            Some(name) => match self.known.bool(name).filter(|_| self.known.is_certain(name)) {
                Some(goes_on) => goes_on,
                None => return Ok(Err(self.unknown("its condition", name))),
            },
        };
        // The trip number and the condition, if the body uses them.
        let places = used_places(body);
        let mut collected: Vec<Values> = Vec::new();
        let mark = self.known.mark();
        let mut trip = 0;
        while goes_on && trips.is_none_or(|trips| trip < trips) {
            self.check_trips(trip, flow.node)?;
            let call = &InlinedCall { ordinal: trip as u32 + 1, ..*call };
            let mut operands = Values::new();
            for (place, value) in places.into_iter().zip([Scalar::Int(trip), Scalar::Bool(true)]) {
                operands.push(match place {
                    Some(name) => self.constant(value, name, call, target)?,
                    None => NameId::ROOT,
                });
            }
            operands.extend(state.iter().copied());
            let results = self.splice(body, &operands, None, call, target, imports)?;
            goes_on = match self.known.bool(results[0]).filter(|_| self.known.is_certain(results[0])) {
                Some(goes_on) => goes_on,
                None if trips.is_some_and(|trips| trip + 1 == trips) => false,
                None => return Ok(Err(self.unknown("its condition", results[0]))),
            };
            self.known.forget(mark, &results);
            state = results[1..=count].into();
            self.collect(&mut collected, &results[1 + count..], flow.node)?;
            trip += 1;
        }
        let declared = &body.outputs[1 + count..];
        self.finish_loop(flow, (&state, &collected, declared), |_| (0, false), call, target, imports)
    }

    pub(super) fn unrolled_scan(
        &mut self,
        flow: &Flow,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let body = match self.body_of(flow.node) {
            Ok(body) => body,
            Err(reason) => return Ok(Err(reason)),
        };
        let scanned = self.ints_of(flow.node, "num_scan_inputs").first().copied().unwrap_or(0);
        let scanned = usize::try_from(scanned).unwrap_or(0);
        let Some(count) = flow.inputs.len().checked_sub(scanned).filter(|_| scanned > 0) else {
            return Ok(Err("it has fewer operands than `num_scan_inputs` says".to_owned()));
        };
        let version = call.callee.imports.version(self.names, None).or(imports.version(self.names, None));
        if version.is_some_and(|version| version < SCAN_WITHOUT_BATCHES) {
            return Ok(Err("scans of operator set 8 have batches".to_owned()));
        }
        if body.inputs.len() != flow.inputs.len() || body.outputs.len() < count {
            return Ok(Err("its `body` has other inputs and outputs".to_owned()));
        }
        let [axes, directions, output_axes, output_directions] =
            ["scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"]
                .map(|name| self.ints_of(flow.node, name));
        let at = |values: &[i64], i: usize| values.get(i).copied().unwrap_or(0);
        let mut trips = None;
        for (i, &input) in flow.inputs[count..].iter().enumerate() {
            let Some(extent) = self.known.extent(input, at(&axes, i)) else {
                return Ok(Err(self.unknown("the extent of", input)));
            };
            if *trips.get_or_insert(extent) != extent {
                return Ok(Err("what it scans is not of one length".to_owned()));
            }
        }
        let trips = trips.unwrap_or(0);
        let mut state: Values = flow.inputs[..count].into();
        let mut collected: Vec<Values> = Vec::new();
        let mark = self.known.mark();
        for trip in 0..trips {
            self.check_trips(trip, flow.node)?;
            let call = &InlinedCall { ordinal: trip as u32 + 1, ..*call };
            let mut operands = state.clone();
            for (i, &input) in flow.inputs[count..].iter().enumerate() {
                let index = if at(&directions, i) == 1 { trips - 1 - trip } else { trip };
                let formal = body.inputs[count + i].name.unwrap_or(NameId::ROOT);
                operands.push(self.item(input, (at(&axes, i), index), formal, call, target)?);
            }
            let results = self.splice(body, &operands, None, call, target, imports)?;
            self.known.forget(mark, &results);
            state = results[..count].into();
            self.collect(&mut collected, &results[count..], flow.node)?;
        }
        let placed = |i: usize| (at(&output_axes, i), at(&output_directions, i) == 1);
        self.finish_loop(flow, (&state, &collected, &body.outputs[count..]), placed, call, target, imports)
    }

    /// Adds the outputs of a loop: the last values of its state, and the collected values; `placed` is the axis of a
    /// collected output, and whether it is in reverse order. What no trip has collected is empty, with the type that the
    /// body declares.
    pub(in crate::onnx::inline) fn finish_loop(
        &mut self,
        flow: &Flow,
        (state, collected, declared): (&Values, &[Values], &[ValueInfo]),
        placed: impl Fn(usize) -> (i64, bool),
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        for (value, output) in state.iter().zip(&flow.outputs) {
            self.copy_value(*value, *output, call, target)?;
        }
        let scans = flow.outputs.iter().skip(state.len()).enumerate();
        for (i, &output) in scans.filter(|(_, output)| **output != NameId::ROOT) {
            let mut items: Values = collected.iter().filter_map(|values| values.get(i).copied()).collect();
            let (axis, reversed) = placed(i);
            if items.is_empty() {
                let Some(empty) = declared.get(i).and_then(|value| empty(value, axis)) else {
                    return Ok(Err("it has no trips, and the shape of what it collects is not known".to_owned()));
                };
                self.add_constant(empty, output, call, target)?;
                continue;
            }
            if reversed {
                items.reverse();
            }
            self.stack(&items, axis, output, call, target, imports)?;
        }
        Ok(Ok(()))
    }

    /// Adds the values that a trip collects.
    pub(in crate::onnx::inline) fn collect(
        &mut self,
        collected: &mut Vec<Values>,
        values: &[NameId],
        node: &NodeProto,
    ) -> Expand<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.charge(0, size_of::<Values>() + size_of_val(values), node.at)?;
        collected.push(values.into());
        Ok(())
    }

    pub(in crate::onnx::inline) fn check_trips(&mut self, trip: i64, node: &NodeProto) -> Expand<()> {
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
pub(in crate::onnx::inline) fn used_places(body: &GraphProto) -> [Option<NameId>; 2] {
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
