//! Control flow that is known: the branch of an `If` is chosen, `Loop` and `Scan` become copies of their
//! bodies.

use bytes::Bytes;

use super::Found;
use super::copy::{Call, Expand, Expansion, Target};
use super::functions::each_node;
use super::known::Scalar;
use super::opsets::Imports;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{Attribute, AttributeValue, Field, Graph, Node, Tensor, Values, Wire};
use crate::onnx::protobuf::fields::tensor as tensor_fields;
use crate::onnx::types::AttributeType;
use crate::room::with_stack;

/// The operators with graphs in their attributes that are evaluated here.
pub(super) const CONTROL: &[&str] = &["If", "Loop", "Scan"];

/// The first version in which `Unsqueeze` has its axes as an operand.
const AXES_ARE_OPERANDS: i64 = 13;
/// The first version in which `Scan` has no batches.
const SCAN_WITHOUT_BATCHES: i64 = 9;

/// Why a node stays as it is.
type Stays = String;

/// A node with control flow: the node as it is written, with operands and results that are bound.
struct Flow<'n> {
    node: &'n Node,
    inputs: Values,
    outputs: Values,
}

/// What is given up where a loop turns out to be one that cannot be expanded.
struct Checkpoint {
    nodes: usize,
    value_info: usize,
    made: (u64, u64),
    calls: usize,
    names: usize,
}

impl<'f> Expansion<'f> {
    /// Whether a node may be one whose control flow is known.
    pub(super) fn is_control(&self, node: &Node) -> bool {
        self.operator(node).is_some_and(|operator| operator == "If" || self.tell_stays)
    }

    fn operator(&self, node: &Node) -> Option<&'static str> {
        let standard = node.domain.is_none_or(|name| matches!(self.names.texts.text(name), "" | "ai.onnx"));
        let operator = self.names.texts.text(node.op_type.filter(|_| standard)?);
        CONTROL.iter().find(|known| **known == operator).copied()
    }

    /// Expands a node whose control flow is known; whether it was.
    pub(super) fn control(
        &mut self,
        node: &Node,
        bound: (Values, Values),
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<bool> {
        let Some(operator) = self.operator(node) else { return Ok(false) };
        let flow = Flow { node, inputs: bound.0, outputs: bound.1 };
        let path = self.path_of(node, &flow.outputs);
        let call = Call { path, ..call };
        let checkpoint = self.checkpoint(target);
        let expanded = with_stack(|| match operator {
            "Loop" | "Scan" if !self.unroll => Ok(Err("only --unroll expands it".to_owned())),
            "If" => self.branch(&flow, call, target, imports),
            "Loop" => self.unrolled_loop(&flow, call, target, imports),
            _ => self.unrolled_scan(&flow, call, target, imports),
        })?;
        if let Err(reason) = &expanded {
            self.give_up(checkpoint, target);
            if self.tell_stays {
                let name = flow.outputs.iter().find(|output| **output != NameId::ROOT);
                let what = name.map_or(String::new(), |name| format!(" of `{}`", self.spelled(*name)));
                self.stays.push(Found::new(Code::LoopKept, node.at, format!("the `{operator}`{what} stays: {reason}")));
            }
        }
        Ok(expanded.is_ok())
    }

    fn checkpoint(&self, target: &Target) -> Checkpoint {
        Checkpoint {
            nodes: target.nodes.len(),
            value_info: target.value_info.len(),
            made: (self.made, self.bytes),
            calls: self.calls.len(),
            names: self.names.values.len(),
        }
    }

    fn give_up(&mut self, to: Checkpoint, target: &mut Target) {
        target.nodes.truncate(to.nodes);
        target.value_info.truncate(to.value_info);
        (self.made, self.bytes) = to.made;
        self.calls.truncate(to.calls);
        // Most loops that stay are refused before anything is copied.
        if self.names.values.len() > to.names {
            self.known.forget(to.names);
            self.names.values.truncate(to.names);
        }
    }

    fn spelled(&self, name: NameId) -> String {
        let mut text = String::new();
        self.names.values.write(&self.names.texts, name, &mut text);
        text
    }

    fn graph_of<'n>(&self, node: &'n Node, name: &str) -> Option<&'n Graph> {
        match &self.attribute_of(node, name)?.value {
            AttributeValue::Graph(graph) => Some(graph),
            _ => None,
        }
    }

    fn attribute_of<'n>(&self, node: &'n Node, name: &str) -> Option<&'n Attribute> {
        let named = |attribute: &&Attribute| attribute.name.is_some_and(|own| self.names.texts.text(own) == name);
        node.attributes.iter().find(named).filter(|attribute| attribute.reference.is_none())
    }

    fn ints_of(&self, node: &Node, name: &str) -> Vec<i64> {
        match self.attribute_of(node, name).map(|attribute| &attribute.value) {
            Some(AttributeValue::Ints(values)) => values.clone(),
            Some(AttributeValue::Int(value)) => vec![*value],
            _ => Vec::new(),
        }
    }

    fn unknown(&self, what: &str, name: NameId) -> Stays {
        format!("{what} `{}` is known only when the model runs", self.spelled(name))
    }

    fn branch(
        &mut self,
        flow: &Flow,
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let condition = flow.inputs.first().copied().unwrap_or(NameId::ROOT);
        let Some(chosen) = self.known.bool(condition) else { return Ok(Err(self.unknown("its condition", condition))) };
        let name = if chosen { "then_branch" } else { "else_branch" };
        let Some(graph) = self.graph_of(flow.node, name) else { return Ok(Err(format!("it has no `{name}`"))) };
        if graph.outputs.len() < flow.outputs.len() {
            return Ok(Err(format!("its `{name}` has too few outputs")));
        }
        self.splice(graph, &[], Some(&flow.outputs), call, target, imports)?;
        Ok(Ok(()))
    }

    fn unrolled_loop(
        &mut self,
        flow: &Flow,
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let input = |i: usize| flow.inputs.get(i).copied().filter(|input| *input != NameId::ROOT);
        let Some(body) = self.graph_of(flow.node, "body") else { return Ok(Err("it has no `body`".to_owned())) };
        let mut state: Values = flow.inputs.iter().skip(2).copied().collect();
        let count = state.len();
        if body.inputs.len() != 2 + count || body.outputs.len() <= count {
            return Ok(Err("its `body` has other inputs and outputs".to_owned()));
        }
        let trips = match input(0) {
            None => None,
            Some(name) => match self.known.int(name) {
                Some(trips) => Some(trips.max(0)),
                None => return Ok(Err(self.unknown("its trip count", name))),
            },
        };
        let mut goes_on = match input(1) {
            None => true,
            Some(name) => match self.known.bool(name) {
                Some(goes_on) => goes_on,
                None => return Ok(Err(self.unknown("its condition", name))),
            },
        };
        let mut collected: Vec<Values> = Vec::new();
        let mut trip = 0;
        while goes_on && trips.is_none_or(|trips| trip < trips) {
            self.check_trips(trip, flow.node)?;
            let call = Call { ordinal: trip as u32 + 1, ..call };
            let mut operands = Values::new();
            for (input, value) in body.inputs.iter().zip([Scalar::Int(trip), Scalar::Bool(true)]) {
                let name = input.name.filter(|name| *name != NameId::ROOT && uses(body, *name));
                operands.push(match name {
                    Some(name) => self.constant(value, name, call, target)?,
                    None => NameId::ROOT,
                });
            }
            operands.extend(state.iter().copied());
            let results = self.splice(body, &operands, None, call, target, imports)?;
            goes_on = match self.known.bool(results[0]) {
                Some(goes_on) => goes_on,
                None if trips.is_some_and(|trips| trip + 1 == trips) => false,
                None => return Ok(Err(self.unknown("its condition", results[0]))),
            };
            state = results[1..=count].into();
            collected.push(results[1 + count..].into());
            trip += 1;
        }
        self.finish_loop(flow, (&state, &collected), |_| (0, false), call, target, imports)
    }

    fn unrolled_scan(
        &mut self,
        flow: &Flow,
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        let Some(body) = self.graph_of(flow.node, "body") else { return Ok(Err("it has no `body`".to_owned())) };
        let scanned = self.ints_of(flow.node, "num_scan_inputs").first().copied().unwrap_or(0);
        let scanned = usize::try_from(scanned).unwrap_or(0);
        let Some(count) = flow.inputs.len().checked_sub(scanned).filter(|_| scanned > 0) else {
            return Ok(Err("it has fewer operands than `num_scan_inputs` says".to_owned()));
        };
        if imports.version(self.names, None).is_some_and(|version| version < SCAN_WITHOUT_BATCHES) {
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
        for trip in 0..trips {
            self.check_trips(trip, flow.node)?;
            let call = Call { ordinal: trip as u32 + 1, ..call };
            let mut operands = state.clone();
            for (i, &input) in flow.inputs[count..].iter().enumerate() {
                let index = if at(&directions, i) == 1 { trips - 1 - trip } else { trip };
                let formal = body.inputs[count + i].name.unwrap_or(NameId::ROOT);
                operands.push(self.item(input, (at(&axes, i), index), formal, call, target)?);
            }
            let results = self.splice(body, &operands, None, call, target, imports)?;
            state = results[..count].into();
            collected.push(results[count..].into());
        }
        let placed = |i: usize| (at(&output_axes, i), at(&output_directions, i) == 1);
        self.finish_loop(flow, (&state, &collected), placed, call, target, imports)
    }

    /// Makes the outputs of a loop: the last values of its state, and what it collects, along axes and in orders.
    fn finish_loop(
        &mut self,
        flow: &Flow,
        (state, collected): (&Values, &[Values]),
        placed: impl Fn(usize) -> (i64, bool),
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<Result<(), Stays>> {
        for (value, output) in state.iter().zip(&flow.outputs) {
            self.copy_value(*value, *output, call, target)?;
        }
        let scans = flow.outputs.iter().skip(state.len()).enumerate();
        for (i, &output) in scans.filter(|(_, output)| **output != NameId::ROOT) {
            let mut items: Values = collected.iter().filter_map(|values| values.get(i).copied()).collect();
            if items.is_empty() {
                return Ok(Err("it has no trips, and the shape of what it collects is not known".to_owned()));
            }
            let (axis, reversed) = placed(i);
            if reversed {
                items.reverse();
            }
            self.stack(&items, axis, output, call, target, imports)?;
        }
        Ok(Ok(()))
    }

    fn check_trips(&self, trip: i64, node: &Node) -> Expand<()> {
        if trip as u64 >= self.max_ops {
            let message = format!("the loop has more than {} trips", self.max_ops);
            return Err(Box::new(
                Found::new(Code::StepBudget, node.at, message).help("raise the limit with --max-ops"),
            ));
        }
        Ok(())
    }

    /// Adds a copy of the nodes of a graph, and gives its outputs. Where results are named, these are the outputs.
    fn splice(
        &mut self,
        graph: &Graph,
        inputs: &[NameId],
        results: Option<&Values>,
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<Values> {
        let mut scope = self.open_scope();
        let formals = graph.inputs.iter().map(|input| input.name.unwrap_or(NameId::ROOT));
        for (formal, actual) in formals.zip(inputs) {
            self.bind(&mut scope, formal, *actual);
        }
        let made: Vec<NameId> = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied()).collect();
        let outputs: Vec<NameId> = graph.outputs.iter().map(|output| output.name.unwrap_or(NameId::ROOT)).collect();
        for &name in made.iter().filter(|name| **name != NameId::ROOT) {
            let result = outputs.iter().position(|output| *output == name);
            let result = result.and_then(|i| results?.get(i).copied()).filter(|result| *result != NameId::ROOT);
            let value = result.unwrap_or_else(|| self.fresh(call, name));
            self.bind(&mut scope, name, value);
        }
        for tensor in &graph.initializers {
            let formal = tensor.name.unwrap_or(NameId::ROOT);
            let value = self.fresh(call, formal);
            self.bind(&mut scope, formal, value);
            self.add_constant(Tensor { name: None, ..tensor.clone() }, value, call, target)?;
        }
        for value in &graph.value_info {
            self.add_type(value, target);
        }
        for node in &graph.nodes {
            self.copy(node, call, target, imports)?;
        }
        let values: Values = outputs.iter().map(|output| self.bound(*output)).collect();
        self.leave(scope);
        for (value, result) in values.iter().zip(results.into_iter().flatten()) {
            if value != result {
                self.copy_value(*value, *result, call, target)?;
            }
        }
        Ok(values)
    }

    /// Adds a node of the standard domain.
    fn operation(
        &mut self,
        operator: &str,
        (inputs, output): (&[NameId], NameId),
        attributes: Vec<Attribute>,
        call: Call,
        target: &mut Target,
    ) -> Expand<()> {
        let texts = &mut self.names.texts;
        let node = Node {
            inputs: Values::from_slice(inputs),
            outputs: Values::from_slice(&[output]),
            op_type: Some(texts.intern(operator)),
            domain: Some(texts.intern("")),
            attributes,
            origin: call.origin,
            ..Node::default()
        };
        self.add(node, target)
    }

    fn attribute_named(&mut self, name: &str, kind: AttributeType, value: AttributeValue) -> Attribute {
        let name = Some(self.names.texts.intern(name));
        Attribute { name, kind: Some(kind as i32), value, reference: None, rest: None }
    }

    /// Makes a result the copy of a value; a result that nobody wants has no name.
    fn copy_value(&mut self, value: NameId, result: NameId, call: Call, target: &mut Target) -> Expand<()> {
        if result == NameId::ROOT {
            return Ok(());
        }
        self.operation("Identity", (&[value], result), Vec::new(), call, target)
    }

    fn add_constant(&mut self, tensor: Tensor, result: NameId, call: Call, target: &mut Target) -> Expand<()> {
        let value = AttributeValue::Tensor(Box::new(tensor));
        let attribute = self.attribute_named("value", AttributeType::Tensor, value);
        self.operation("Constant", (&[], result), vec![attribute], call, target)
    }

    /// A constant that stands for a name of a body.
    fn constant(&mut self, value: Scalar, name: NameId, call: Call, target: &mut Target) -> Expand<NameId> {
        let result = self.fresh(call, name);
        self.add_constant(tensor_of(value, &[]), result, call, target)?;
        Ok(result)
    }

    /// The item of a value at an index along an axis.
    fn item(
        &mut self,
        value: NameId,
        (axis, index): (i64, i64),
        formal: NameId,
        call: Call,
        target: &mut Target,
    ) -> Expand<NameId> {
        let item = self.fresh(call, formal);
        let segment = self.names.texts.intern("index");
        let at = self.child(item, segment, 0);
        self.add_constant(tensor_of(Scalar::Int(index), &[]), at, call, target)?;
        let axis = self.attribute_named("axis", AttributeType::Int, AttributeValue::Int(axis));
        self.operation("Gather", (&[value, at], item), vec![axis], call, target)?;
        Ok(item)
    }

    /// Joins items along a new axis.
    fn stack(
        &mut self,
        items: &Values,
        axis: i64,
        result: NameId,
        call: Call,
        target: &mut Target,
        imports: &mut Imports,
    ) -> Expand<()> {
        let as_operand = imports.version(self.names, None).is_none_or(|version| version >= AXES_ARE_OPERANDS);
        let axes = match as_operand {
            false => None,
            true => {
                let segment = self.names.texts.intern("axes");
                let axes = self.child(result, segment, 0);
                self.add_constant(tensor_of(Scalar::Int(axis), &[1]), axes, call, target)?;
                Some(axes)
            }
        };
        let mut parts = Values::new();
        for (i, &item) in items.iter().enumerate() {
            let segment = self.names.texts.intern("item");
            let part = if items.len() == 1 { result } else { self.child(result, segment, i as u32 + 1) };
            let (inputs, attributes): (Values, Vec<Attribute>) = match axes {
                Some(axes) => (Values::from_slice(&[item, axes]), Vec::new()),
                None => {
                    let axes = self.attribute_named("axes", AttributeType::Ints, AttributeValue::Ints(vec![axis]));
                    (Values::from_slice(&[item]), vec![axes])
                }
            };
            self.operation("Unsqueeze", (&inputs, part), attributes, call, target)?;
            parts.push(part);
        }
        self.known.set_extent(result, axis, items.len() as i64);
        if items.len() == 1 {
            return Ok(());
        }
        let axis = self.attribute_named("axis", AttributeType::Int, AttributeValue::Int(axis));
        self.operation("Concat", (&parts, result), vec![axis], call, target)
    }
}

/// Whether a body refers to a name.
fn uses(body: &Graph, name: NameId) -> bool {
    let mut found = body.outputs.iter().any(|output| output.name == Some(name));
    each_node(&body.nodes, &mut |node| {
        found |= node.inputs.contains(&name);
        for attribute in &node.attributes {
            super::functions::each_graph(&attribute.value, &mut |graph| {
                found |= graph.outputs.iter().any(|output| output.name == Some(name));
            });
        }
    });
    found
}

/// A tensor of one element.
fn tensor_of(value: Scalar, dims: &[i64]) -> Tensor {
    let (data_type, raw) = match value {
        Scalar::Int(value) => (7, Bytes::copy_from_slice(&value.to_le_bytes())),
        Scalar::Bool(value) => (9, Bytes::copy_from_slice(&[u8::from(value)])),
    };
    let raw = Field { number: tensor_fields::RAW_DATA, wire: Wire::Bytes, bytes: raw };
    Tensor { dims: dims.into(), data_type: Some(data_type), rest: Some(Box::new(vec![raw])), ..Tensor::default() }
}
