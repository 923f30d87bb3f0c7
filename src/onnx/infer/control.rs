//! Inference of the operators that have graphs.

use std::convert::Infallible;

use super::contradictions::Contradiction;
use super::engine::{InferGoal, Inference, InnerTypes, ResultTypes};
use super::facts::{TensorExtents, ValueType};
use super::graphs::graphs_of;
use super::infer_call::InferCall;
use super::merge::{joined, unified};
use super::operator::Operator;
use super::rules::axes;
use super::rules::misfits::differ;
use super::symbols::SymbolMark;
use super::tables::InnerPlace;
use crate::diagnostics::Code;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::trips::{Condition, LoopStart, TripChoice, TripDomain, TripResults, walk};
use crate::onnx::model::{GraphProto, NodeProto};
use crate::onnx::scan_form::{ScanForm, ScanSide, WITHOUT_BATCHES};

/// How often the body of a loop is visited until values whose shapes still change get unknown shapes.
const TURNS: i64 = 3;

/// How a body gets its inputs, and what becomes of the types of states.
struct BodyForm {
    /// The types of the inputs before the states, and behind them.
    before: Vec<ValueType>,
    behind: Vec<ValueType>,
    /// The type of a state from those before and after a turn.
    combine: fn(&ValueType, &ValueType) -> ValueType,
}

/// What a loop gives.
struct Settled {
    states: Vec<ValueType>,
    /// The types of what a turn collects.
    items: Vec<ValueType>,
    /// What contradicts itself: operands in the first turn, and declarations in all turns.
    found: Vec<Contradiction>,
    /// Whether a state has another shape after a turn, at last.
    changed: bool,
}

/// The turns of a loop, which are visited until its types settle.
struct TypedTrips<'t, 'm> {
    inference: &'t mut Inference<'m>,
    body: Inner<'m>,
    form: BodyForm,
    inner: &'t mut InnerTypes,
    items: Vec<ValueType>,
    found: Vec<Contradiction>,
    /// What contradicts itself in declarations, in the last turn.
    last: Vec<Contradiction>,
    /// Whether a state has another shape after the last turn.
    changed: bool,
}

impl TripDomain for TypedTrips<'_, '_> {
    type Value = ValueType;
    type Failure = Infallible;

    fn begin(&mut self, _: i64, active: Option<ValueType>) -> Result<Option<ValueType>, Infallible> {
        Ok(active)
    }

    fn body(&mut self, turn: i64, states: Vec<ValueType>) -> Result<TripResults<ValueType>, Infallible> {
        let (BodyForm { before, behind, .. }, count) = (&self.form, states.len());
        let given = before.iter().cloned().chain(states).chain(behind.iter().cloned());
        let given: Vec<ValueType> = given.map(|ty| self.inference.completed(ty)).collect();
        let (outputs, mut contradictions) = self.inference.visit(self.body, &given, self.inner);
        let is_declared = |each: &Contradiction| each.code != Code::OnnxShapes;
        if turn == 0 {
            self.found = contradictions.extract_if(.., |each| !is_declared(each)).collect();
        }
        self.last = contradictions.into_iter().filter(is_declared).collect();
        self.changed = false;
        Ok(TripResults::new(Condition::Known(true), outputs, count))
    }

    fn collect(&mut self, items: Vec<ValueType>, _: Option<&ValueType>) -> Result<(), Infallible> {
        self.items = items;
        Ok(())
    }

    fn choose(&mut self, of: TripChoice<ValueType>) -> Result<ValueType, Infallible> {
        self.changed |= changes(&of.old, &of.new);
        Ok((self.form.combine)(&of.old, &of.new))
    }

    fn is_settled(&mut self, turn: i64, states: &mut [ValueType], before: &[ValueType]) -> bool {
        if states == before || turn > TURNS || !self.inference.budget.has_visits(self.inference.model) {
            return true;
        }
        for (state, before) in states.iter_mut().zip(before).filter(|_| turn == TURNS) {
            if let ValueType::Tensor(facts) = state
                && facts.shape.as_ref() != before.shape()
            {
                *state = ValueType::tensor(facts.element, None);
            }
        }
        false
    }
}

/// The type of a state whose shape does not change.
fn fixed(before: &ValueType, after: &ValueType) -> ValueType {
    unified(after.clone(), before.clone())
}

/// Whether a state has another shape after a turn.
fn changes(before: &ValueType, after: &ValueType) -> bool {
    let (Some(before), Some(after)) = (before.shape(), after.shape()) else { return false };
    before.len() != after.len() || before.iter().zip(after.iter()).any(|(before, after)| differ(before, after))
}

/// The types of the outputs of a graph, and what contradicts itself in it.
type Visited = (Vec<ValueType>, Vec<Contradiction>);

/// A graph of a node, with its place.
type Inner<'m> = (InnerPlace, &'m GraphProto);

impl<'m> Inference<'m> {
    /// The results of a node with graphs, and the types in its graphs.
    pub(super) fn with_graphs(
        &mut self,
        node: &'m NodeProto,
        operator: &Operator,
        results: &mut ResultTypes,
        inner: &mut InnerTypes,
    ) {
        let graphs = graphs_of(node);
        let found = match (operator.row().map(|row| row.name), &graphs[..]) {
            (Some("If"), [_, _]) => self.branches(node, &graphs, inner),
            (Some("Loop"), [body]) => self.repeated(node, *body, inner),
            (Some("Scan"), [body]) => self.scanned(node, operator, *body, inner),
            (Some("SequenceMap"), [body]) => self.mapped(node, *body, inner),
            _ => {
                for graph in graphs {
                    self.visit(graph, &[], inner);
                }
                return;
            }
        };
        for (result, found) in results.iter_mut().zip(found) {
            *result = found;
        }
    }

    /// Infers in a graph and notes the types of its values. Returns those of its outputs, and what contradicts itself in
    /// it: that is no concern of the graph around it, which may never run it.
    fn visit(&mut self, (place, graph): Inner<'m>, given: &[ValueType], inner: &mut InnerTypes) -> Visited {
        if !self.budget.has_visits(self.model) {
            return (vec![ValueType::Unknown; graph.outputs.len()], Vec::new());
        }
        let before = self.contradictions.mark();
        let (types, outputs) = self.graph(graph, given);
        let found = self.contradictions.take_since(before);
        inner.retain(|(before, _)| *before != place);
        inner.push((place, types));
        (outputs, found)
    }

    /// `If`: what both branches have in common, or the results of the branch that is taken.
    fn branches(&mut self, node: &'m NodeProto, graphs: &[Inner<'m>], inner: &mut InnerTypes) -> Vec<ValueType> {
        let condition = self.call(node, 0, ResultTypes::new()).item(0).known();
        let mut found: Vec<(bool, Visited)> = Vec::new();
        for graph in graphs {
            let attribute = node.attributes.get(graph.0.1).and_then(|attribute| attribute.name);
            let is_then = attribute.is_some_and(|name| self.model.names.texts.text(name) == "then_branch");
            found.push((is_then, self.visit(*graph, &[], inner)));
        }
        if let Some(condition) = condition
            && let Some(at) = found.iter().position(|(is_then, _)| *is_then == (condition != 0))
        {
            let (_, (taken, contradictions)) = found.swap_remove(at);
            self.contradictions.put(contradictions);
            return taken;
        }
        let condition = &node.inputs[..node.inputs.len().min(1)];
        for (_, (_, contradictions)) in &mut found {
            self.contradictions.put_open(std::mem::take(contradictions), condition);
        }
        let [(_, (a, _)), (_, (b, _))] = &found[..] else { return Vec::new() };
        self.compare_branches(node, a, b);
        a.iter().zip(b).map(|(a, b)| joined(a, b)).collect()
    }

    /// Visits a body until the types of its states no longer change. Returns the types of the states, those of what is
    /// collected, and what contradicts itself.
    fn settle(&mut self, body: Inner<'m>, states: Vec<ValueType>, form: BodyForm, inner: &mut InnerTypes) -> Settled {
        let (items, found, last) = (Vec::new(), Vec::new(), Vec::new());
        let mut trips = TypedTrips { inference: self, body, form, inner, items, found, last, changed: false };
        // Whether any trip takes place is not known.
        let start = LoopStart { most: None, condition: Condition::Open(ValueType::Unknown), states };
        let Ok(states) = walk(&mut trips, start);
        let TypedTrips { items, mut found, last, changed, .. } = trips;
        found.extend(last);
        Settled { states, items, found, changed }
    }

    /// `Loop`
    fn repeated(&mut self, node: &'m NodeProto, body: Inner<'m>, inner: &mut InnerTypes) -> Vec<ValueType> {
        let mark = self.symbols.mark();
        let call = self.call(node, 0, ResultTypes::new());
        let always = !call.has(1) || call.item(1).known().is_some_and(|condition| condition != 0);
        let trips = if call.has(0) { call.item(0) } else { Dim::Unknown };
        let [turn, mut condition] = self.turn(&call);
        drop(call);
        self.compare_inputs(&[ValueType::Unknown, condition.clone()], body.1, node.at);
        if let ValueType::Tensor(facts) = &mut condition {
            facts.items = always.then(|| [Dim::Int(1)].into());
        }
        let is_told = self.wanted == InferGoal::Told;
        // Other programs do not follow the shapes of states.
        let state = |ty: ValueType| match ty {
            ValueType::Tensor(facts) => ValueType::tensor(facts.element, facts.shape.filter(|_| !is_told)),
            ty => ty,
        };
        let mut states = vec![condition];
        states.extend(node.inputs.iter().skip(2).map(|input| state(self.scope.type_of(*input))));
        let form = BodyForm { before: vec![turn], behind: Vec::new(), combine: joined };
        let Settled { states, items, found, .. } = self.settle(body, states, form, inner);
        match trips.known() {
            Some(..=0) => {}
            Some(_) if always => self.contradictions.put(found),
            known => {
                let decides = usize::from(known.is_some());
                self.contradictions.put_open(found, node.inputs.get(decides..=decides).unwrap_or_default());
            }
        }
        let keeps_on = states.first().and_then(|state| state.as_tensor()?.items.as_deref()) == Some(&[Dim::Int(1)]);
        let length = if keeps_on { trips.max(Dim::Int(0)) } else { Dim::Unknown };
        let stacks: Vec<ValueType> = items.iter().map(|ty| self.stacked(ty, &length, 0, mark)).collect();
        let last = |ty: ValueType| if is_told { state(ty) } else { ty };
        states.into_iter().skip(1).map(last).chain(stacks).collect()
    }

    /// The number of a turn of a loop and its condition, as the body gets them: a number, or a list of one where the body
    /// declares it so. The condition is as the operand.
    fn turn(&self, call: &InferCall) -> [ValueType; 2] {
        let shape: Option<TensorExtents> = if self.wanted.compares() { None } else { Some([].into()) };
        let is_single = call.extents(1).is_some_and(|extents| axes::product(extents) == Dim::Int(1));
        let of_operand = call.shape(1).filter(|_| self.wanted.compares() && is_single);
        [
            ValueType::tensor(Some(Element::Int64), shape.clone()),
            ValueType::tensor(Some(Element::Bool), of_operand.or(shape)),
        ]
    }

    /// The type of the results of all turns of a body, stacked along a new axis.
    fn stacked(&self, ty: &ValueType, length: &Dim, axis: i64, mark: SymbolMark) -> ValueType {
        let ty = self.symbols.without_local(ty, mark);
        let Some(facts) = ty.as_tensor() else { return ValueType::Unknown };
        let shape = facts.shape.as_ref().and_then(|shape| {
            let mut extents = shape.to_vec();
            extents.insert(axes::place(axis, extents.len())?, length.clone());
            Some(extents.into())
        });
        ValueType::tensor(facts.element, shape)
    }

    /// `Scan`. Before version 9 all values have a leading axis for a batch, which the body does not see.
    fn scanned(
        &mut self,
        node: &'m NodeProto,
        operator: &Operator,
        body: Inner<'m>,
        inner: &mut InnerTypes,
    ) -> Vec<ValueType> {
        let mark = self.symbols.mark();
        let call = self.call(node, operator.version, ResultTypes::new());
        let is_batched = operator.version < WITHOUT_BATCHES;
        let lead = usize::from(is_batched);
        let operands: Vec<ValueType> = node.inputs.iter().skip(lead).map(|input| self.scope.type_of(*input)).collect();
        let scans = call.int("num_scan_inputs");
        let ints = |name: &str| Ok::<_, Infallible>(call.ints(name).filter(|_| !is_batched));
        let Ok(form) = ScanForm::read(scans.unwrap_or(-1), operands.len(), ints);
        drop(call);
        let Some(scans) = scans.filter(|count| *count >= 0) else {
            self.misfit(node, "`Scan`: `num_scan_inputs` is no count".to_owned());
            return Vec::new();
        };
        let Some(form) = form.filter(|form| form.states <= node.outputs.len()) else {
            self.misfit(node, format!("`Scan`: `num_scan_inputs` is {scans}, which does not fit the node"));
            return Vec::new();
        };
        let batch = if is_batched { removed(&operands, 0, 0) } else { None };
        let states = operands.iter().take(form.states).map(|ty| without_axes(ty, lead, None));
        let states: Vec<ValueType> = states.collect();
        let mut length = Dim::Unknown;
        let mut items = Vec::new();
        for (ty, ScanSide { axis, .. }) in operands.iter().skip(form.states).zip(form.inputs.iter().copied()) {
            match removed(std::slice::from_ref(ty), axis, lead) {
                Some(extent) => match length.clone().unify(extent) {
                    Some(both) => length = both,
                    None => self.misfit(node, "`Scan`: the operands have different numbers of items".to_owned()),
                },
                None if ty.shape().is_some() => self.misfit(node, format!("`Scan`: an operand has no axis {axis}")),
                None => {}
            }
            items.push(without_axes(ty, lead, Some(axis)));
        }
        self.compare_inputs(&[&states[..], &items[..]].concat(), body.1, node.at);
        let of_body = BodyForm { before: Vec::new(), behind: items, combine: fixed };
        let Settled { states, items, found, changed } = self.settle(body, states, of_body, inner);
        if length != Dim::Int(0) {
            if changed {
                self.misfit(node, "`Scan`: a state changes its shape".to_owned());
            }
            self.contradictions.put(found);
        }
        let mut results: Vec<ValueType> = states;
        results.extend(items.iter().enumerate().map(|(i, ty)| self.stacked(ty, &length, form.output(i).axis, mark)));
        if is_batched {
            let batch = batch.unwrap_or(Dim::Unknown);
            results = results.iter().map(|ty| self.stacked(ty, &batch, 0, mark)).collect();
        }
        results
    }

    fn misfit(&mut self, node: &NodeProto, message: String) {
        self.contradictions.add(Code::OnnxShapes, node.at, message);
    }

    /// `SequenceMap`
    fn mapped(&mut self, node: &'m NodeProto, body: Inner<'m>, inner: &mut InnerTypes) -> Vec<ValueType> {
        let mark = self.symbols.mark();
        let item = |ty: ValueType| match ty {
            ValueType::Sequence(item) => *item,
            other => other,
        };
        let mut given: Vec<ValueType> = node.inputs.iter().map(|input| item(self.scope.type_of(*input))).collect();
        given.iter_mut().for_each(|ty| *ty = self.completed(std::mem::take(ty)));
        self.compare_inputs(&given, body.1, node.at);
        let (outputs, found) = self.visit(body, &given, inner);
        self.contradictions.put(found);
        outputs.iter().map(|ty| ValueType::Sequence(Box::new(self.symbols.without_local(ty, mark)))).collect()
    }
}

/// The extent of an axis of the first tensor of known rank; axes are counted after `lead` others.
fn removed(types: &[ValueType], axis: i64, lead: usize) -> Option<Dim> {
    let shape = types.iter().find_map(ValueType::shape)?;
    shape.get(place(axis, shape.len(), lead)?).cloned()
}

fn place(axis: i64, rank: usize, lead: usize) -> Option<usize> {
    Some(axes::axis(axis, rank.checked_sub(lead)?)? + lead)
}

/// The type of a tensor without its first `lead` axes, and without another axis if one is given.
fn without_axes(ty: &ValueType, lead: usize, axis: Option<i64>) -> ValueType {
    let Some(facts) = ty.as_tensor() else { return ty.clone() };
    let shape = facts.shape.as_ref().and_then(|shape| {
        let mut extents = shape.to_vec();
        if let Some(axis) = axis {
            extents.remove(place(axis, extents.len(), lead)?);
        }
        extents.get(lead..).map(Into::into)
    });
    ValueType::tensor(facts.element, shape)
}
