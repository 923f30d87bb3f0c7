//! Expands known control flow: the branch of an `If` is chosen, `Loop` and `Scan` become copies of their bodies.

mod loops;
mod predicated;

use rustc_hash::{FxHashMap, FxHashSet};

use super::charge;
use super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use super::known::ScopeMark;
use crate::Options;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{AttributeProto, AttributeValue, GraphProto, ModelNames, NodeProto, TensorProto, Values};
use crate::onnx::protobuf::fields::graph as graph_fields;
use crate::room::with_stack;
use crate::source::names::Name;
use loops::Unrolling;

/// The control flow operators that are expanded.
pub(super) const CONTROL: [&str; 3] = ["If", "Loop", "Scan"];

/// The reason for graphs whose constants are not all ordinary tensors.
const SPARSE: &str = "it has sparse constants";

/// The reason for what depends on inputs, as far as it was computed, and what computes more.
const RUN_TIME: &str = "is known only at run time";
const FOLD: &str = "--fold computes what follows from constants and shapes";

/// The reason for what is in a branch that does not fit the shapes of the inputs.
const CANNOT_RUN: &str = "it is in a graph that cannot run with these shapes";

/// The reason why a node is not expanded.
pub(super) type Stays = String;

/// Why a node is not expanded.
enum Halt {
    /// It stays.
    Stays(Stays),
    /// The expansion is refused.
    Refused(Box<NodeFinding>),
}

impl From<Stays> for Halt {
    fn from(reason: Stays) -> Self {
        Halt::Stays(reason)
    }
}

impl From<Box<NodeFinding>> for Halt {
    fn from(refused: Box<NodeFinding>) -> Self {
        Halt::Refused(refused)
    }
}

type Unrolled<T> = Result<T, Halt>;

/// The reason why a node stays, if it does and the expansion goes on.
fn settled(outcome: Unrolled<()>) -> Expand<Result<(), Stays>> {
    match outcome {
        Ok(()) => Ok(Ok(())),
        Err(Halt::Stays(reason)) => Ok(Err(reason)),
        Err(Halt::Refused(refused)) => Err(refused),
    }
}

/// A control flow node, with its bound operands and results.
pub(super) struct Flow<'n> {
    pub(super) node: &'n NodeProto,
    pub(super) inputs: Values,
    pub(super) outputs: Values,
}

impl Flow<'_> {
    /// An operand that is given.
    pub(super) fn input(&self, i: usize) -> Option<NameId> {
        self.inputs.get(i).copied().filter(|input| *input != NameId::ROOT)
    }
}

/// The state to return to if a node cannot be expanded.
struct Checkpoint {
    nodes: usize,
    value_info: usize,
    charged: charge::Mark,
    calls: usize,
    names: usize,
    stays: usize,
    expanded: u64,
    steps: u64,
    known: ScopeMark,
}

/// What became of a control flow node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Expanded,
    /// It stays, and nothing was copied for it.
    Refused,
    /// It stays, and copies of its body were discarded.
    Failed,
}

/// What an expansion knows of its control flow nodes.
#[derive(Debug, Default)]
pub(super) struct ControlFlow {
    /// Whether loops are unrolled.
    unroll: bool,
    /// The most trips of loops whose trips are not known; none if they stay.
    max_trips: Option<i64>,
    /// Whether everything that follows from constants and shapes was computed before.
    is_folded: bool,
    /// Whether nodes that cannot be expanded are reported.
    tell_stays: bool,
    /// The nodes that could not be expanded.
    pub(super) stays: Vec<NodeFinding>,
    /// The number of nodes that were expanded.
    pub(super) expanded: u64,
    /// The number of trips of loops, and of nodes whose copies were discarded.
    steps: u64,
    /// The number of nodes around the current one whose expansion is being tried.
    attempts: u32,
    /// Whether loops stay without being tried, see [`Expansion::within_kept`].
    within_failed: bool,
    /// Whether nothing is decided, because a graph around the node cannot run.
    pub(super) within_contradiction: bool,
    /// The names of [`CONTROL`], as far as the model has them.
    operators: [Option<Name>; CONTROL.len()],
}

/// Whether a node has an operator of control flow.
pub(in crate::onnx) fn is_control(names: &ModelNames, node: &NodeProto) -> bool {
    let (domain, operator) = names.operator(node);
    domain.is_empty() && CONTROL.contains(&operator)
}

/// Whether a model may have operators of control flow.
pub(super) fn has_control(names: &ModelNames) -> bool {
    CONTROL.iter().any(|operator| names.texts.get(operator).is_some())
}

impl ControlFlow {
    pub(super) fn new(names: &ModelNames, options: &Options) -> Self {
        let operators = CONTROL.map(|operator| names.texts.get(operator));
        let (unroll, tell_stays) = (options.unroll, options.unroll || options.flat);
        let max_trips = options.max_trips.map(|trips| i64::try_from(trips).unwrap_or(i64::MAX));
        let is_folded = options.internal.is_folded;
        ControlFlow { unroll, max_trips, is_folded, tell_stays, operators, ..ControlFlow::default() }
    }

    /// Notes that a graph is entered. Returns what [`Self::within_contradiction`] is behind it.
    pub(super) fn enter(&mut self, graph: &GraphProto) -> bool {
        let before = self.within_contradiction;
        self.within_contradiction |= graph.cannot_run;
        before
    }
}

impl<'f> Expansion<'f> {
    /// Whether a node has known control flow, or must be reported if it cannot be expanded. Of a branch whose condition is
    /// not known nothing is prepared: most stay.
    pub(super) fn is_control(&self, node: &NodeProto) -> bool {
        self.operator(node).is_some_and(|operator| self.flow.tell_stays || operator == "If" && self.decides(node))
    }

    /// Whether the condition of a branch is known.
    fn decides(&self, node: &NodeProto) -> bool {
        let condition = node.inputs.first().map(|condition| self.bindings.bound(*condition));
        condition.is_some_and(|condition| self.known.bool(condition).is_some())
    }

    fn operator(&self, node: &NodeProto) -> Option<&'static str> {
        let operator = node.op_type?;
        let known = self.flow.operators.iter().position(|known| *known == Some(operator))?;
        let standard = node.domain.is_none_or(|name| matches!(self.names.texts.text(name), "" | "ai.onnx"));
        standard.then(|| CONTROL[known])
    }

    /// Expands a node with known control flow.
    pub(super) fn control(
        &mut self,
        node: &NodeProto,
        bound: (Values, Values),
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Outcome> {
        let Some(operator) = self.operator(node) else { return Ok(Outcome::Refused) };
        let flow = Flow { node, inputs: bound.0, outputs: bound.1 };
        let path = self.path_of(node, &flow.outputs);
        let call = InlinedCall { path, at: node.at, ..*call };
        // Added nodes other than copies are in the standard domain. They are the same in all versions, except for
        // those that depend on the version of the graph.
        let _ = imports.need(self.names, &call.callee.imports, None);
        let checkpoint = self.checkpoint(target);
        let steps = checkpoint.steps;
        self.flow.attempts += 1;
        let mut expanded = settled(with_stack(|| match operator {
            _ if self.flow.within_contradiction => Err(CANNOT_RUN.to_owned().into()),
            "If" => self.branch(&flow, call, target, imports),
            "Loop" | "Scan" if !self.flow.unroll => Err("it is expanded only with --unroll".to_owned().into()),
            "Loop" | "Scan" if self.flow.within_failed => Err("it is part of a loop that is kept".to_owned().into()),
            "Loop" => Unrolling { expansion: self, flow: &flow, call, target, imports }.known_loop(),
            _ => Unrolling { expansion: self, flow: &flow, call, target, imports }.scan(),
        }))?;
        let mut checkpoint = checkpoint;
        if let (Err(_), "Loop", true, Some(bound)) = (&expanded, operator, self.tries_loops(), self.flow.max_trips) {
            self.give_up(checkpoint, target, node)?;
            checkpoint = self.checkpoint(target);
            let unrolling = Unrolling { expansion: self, flow: &flow, call, target, imports };
            expanded = settled(with_stack(|| unrolling.bounded_loop(bound)))?;
        }
        self.flow.attempts -= 1;
        let Err(reason) = expanded else {
            self.known.accept(checkpoint.known);
            self.flow.expanded += 1;
            self.charge(0, node.heap_bytes(), node.at)?;
            return Ok(Outcome::Expanded);
        };
        self.give_up(checkpoint, target, node)?;
        self.tell(&flow, operator, &reason);
        Ok(if self.flow.steps > steps { Outcome::Failed } else { Outcome::Refused })
    }

    /// Whether loops are unrolled at this place.
    fn tries_loops(&self) -> bool {
        self.flow.unroll && !self.flow.within_failed && !self.flow.within_contradiction
    }

    /// Reports a node that is not expanded, if that is to be reported.
    fn tell(&mut self, flow: &Flow, operator: &str, reason: &str) {
        if self.flow.tell_stays {
            let name = flow.outputs.iter().find(|output| **output != NameId::ROOT);
            let what = name.map_or(String::new(), |name| format!(" of `{}`", self.names.spelled(*name)));
            let message = format!("the `{operator}`{what} is not expanded: {reason}");
            let found = NodeFinding::new(Code::LoopKept, flow.node.at, message);
            let may_fold = !self.flow.is_folded && reason.ends_with(RUN_TIME);
            self.flow.stays.push(if may_fold { found.help(FOLD) } else { found });
        }
    }

    /// Copies what is inside of a node that stays. If the node was tried, and is part of the copy of a loop's body,
    /// loops inside of it are not tried again: the time would double with each level.
    pub(super) fn within_kept<T>(&mut self, node: Outcome, copy: impl FnOnce(&mut Self) -> Expand<T>) -> Expand<T> {
        let before = self.flow.within_failed;
        self.flow.within_failed |= node == Outcome::Failed && self.flow.attempts > 0;
        let made = copy(self);
        self.flow.within_failed = before;
        made
    }

    fn checkpoint(&mut self, target: &CopyTarget) -> Checkpoint {
        Checkpoint {
            nodes: target.nodes.len(),
            value_info: target.value_info.len(),
            charged: self.charged.mark(),
            calls: self.calls.len(),
            names: self.names.values.len(),
            stays: self.flow.stays.len(),
            expanded: self.flow.expanded,
            steps: self.flow.steps,
            known: self.known.open(),
        }
    }

    /// Removes what was copied for a node that cannot be expanded; the work for it counts.
    fn give_up(&mut self, to: Checkpoint, target: &mut CopyTarget, node: &NodeProto) -> Expand<()> {
        self.known.undo(to.known);
        target.nodes.truncate(to.nodes);
        target.value_info.truncate(to.value_info);
        let discarded = self.charged.undo(to.charged, to.names);
        self.calls.truncate(to.calls);
        self.flow.stays.truncate(to.stays);
        self.flow.expanded = to.expanded;
        // Most loops that cannot be expanded are refused before anything is copied.
        if self.names.values.len() > to.names {
            self.names.values.truncate(to.names);
        }
        self.work(discarded, node)
    }

    /// Counts trips of loops, and copies of nodes that were discarded.
    fn work(&mut self, steps: u64, node: &NodeProto) -> Expand<()> {
        self.flow.steps = self.flow.steps.saturating_add(steps);
        if self.flow.steps > self.max_ops {
            let message = format!("the expansion of loops takes more than {} steps", self.max_ops);
            let found = NodeFinding::new(Code::StepBudget, node.at, message);
            return Err(Box::new(found.help("raise the limit with --max-ops")));
        }
        Ok(())
    }

    fn graph_of<'n>(&self, node: &'n NodeProto, name: &str) -> Option<&'n GraphProto> {
        match &self.attribute_of(node, name)?.value {
            AttributeValue::Graph(graph) => Some(graph),
            _ => None,
        }
    }

    /// The body of a loop, if it can be copied.
    fn body_of<'n>(&self, node: &'n NodeProto) -> Result<&'n GraphProto, Stays> {
        let body = self.graph_of(node, "body").ok_or_else(|| "it has no `body`".to_owned())?;
        if has_sparse(body) { Err(SPARSE.to_owned()) } else { Ok(body) }
    }

    /// The body of a `Loop` and the values of its state before the first trip, if they fit each other.
    fn loop_parts<'n>(&self, flow: &Flow<'n>) -> Result<(&'n GraphProto, Values), Stays> {
        let body = self.body_of(flow.node)?;
        let state: Values = flow.inputs.iter().skip(2).copied().collect();
        if body.inputs.len() != 2 + state.len() || body.outputs.len() <= state.len() {
            return Err("its `body` has other inputs and outputs".to_owned());
        }
        Ok((body, state))
    }

    fn attribute_of<'n>(&self, node: &'n NodeProto, name: &str) -> Option<&'n AttributeProto> {
        node.attribute(self.names, name)?.plain()
    }

    fn ints_of(&self, node: &NodeProto, name: &str) -> Vec<i64> {
        match self.attribute_of(node, name).map(|attribute| &attribute.value) {
            Some(AttributeValue::Ints(values)) => values.clone(),
            Some(AttributeValue::Int(value)) => vec![*value],
            _ => Vec::new(),
        }
    }

    fn unknown(&self, what: &str, name: NameId) -> Stays {
        format!("{what} `{}` {RUN_TIME}", self.names.spelled(name))
    }

    fn branch(
        &mut self,
        flow: &Flow,
        call: InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Unrolled<()> {
        let condition = flow.inputs.first().copied().unwrap_or(NameId::ROOT);
        let chosen = self.known.bool(condition).ok_or_else(|| self.unknown("its condition", condition))?;
        let name = if chosen { "then_branch" } else { "else_branch" };
        let graph = self.graph_of(flow.node, name).ok_or_else(|| format!("it has no `{name}`"))?;
        if graph.outputs.len() < flow.outputs.len() {
            return Err(format!("its `{name}` has too few outputs").into());
        }
        if has_sparse(graph) {
            return Err(SPARSE.to_owned().into());
        }
        self.splice(graph, &[], Some(&flow.outputs), &call, target, imports)?;
        Ok(())
    }

    /// Adds a copy of the nodes of a graph, and returns its outputs; these have the names `results`, if there are
    /// any.
    pub(super) fn splice(
        &mut self,
        graph: &GraphProto,
        inputs: &[NameId],
        results: Option<&Values>,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<Values> {
        let at = graph.nodes.first().map_or(0, |node| node.at);
        let operands = graph.inputs.len() + graph.outputs.len();
        self.charge(0, operands * size_of::<NameId>(), at)?;
        let scope = self.bindings.open_scope();
        let formals = graph.inputs.iter().map(|input| input.name.unwrap_or(NameId::ROOT));
        for (formal, actual) in formals.zip(inputs) {
            self.bindings.bind(formal, *actual);
        }
        let outputs: Values = graph.outputs.iter().map(|output| output.name.unwrap_or(NameId::ROOT)).collect();
        let mut named = FxHashMap::default();
        for (output, result) in outputs.iter().zip(results.into_iter().flatten()) {
            named.entry(*output).or_insert(*result);
        }
        let made = graph.nodes.iter().flat_map(|node| &node.outputs);
        for &name in made.filter(|name| **name != NameId::ROOT) {
            let result = named.get(&name).copied().filter(|result| *result != NameId::ROOT);
            let value = result.unwrap_or_else(|| self.fresh(call, name));
            self.bindings.bind_result(name, value);
        }
        let given = if graph.initializers.is_empty() { FxHashSet::default() } else { given(graph, inputs) };
        for tensor in &graph.initializers {
            let formal = tensor.name.unwrap_or(NameId::ROOT);
            // The constant of an input is a default; the operand was given.
            if given.contains(&formal) {
                continue;
            }
            let value = self.fresh(call, formal);
            self.bindings.bind(formal, value);
            self.add_constant(TensorProto { name: None, ..tensor.clone() }, value, call, target)?;
        }
        for value in graph.value_info.iter().filter(|_| call.typed) {
            self.add_type(value, at, target)?;
        }
        self.known.note_facts(&graph.facts, |name| self.bindings.bound(name));
        for node in &graph.nodes {
            self.copy(node, call, target, imports)?;
        }
        let values: Values = outputs.iter().map(|output| self.bindings.bound(*output)).collect();
        self.bindings.leave(scope);
        for (value, result) in values.iter().zip(results.into_iter().flatten()) {
            if value != result {
                self.copy_value(*value, *result, call, target)?;
            }
        }
        Ok(values)
    }
}

/// The names of the inputs of a graph that have an operand.
fn given(graph: &GraphProto, operands: &[NameId]) -> FxHashSet<NameId> {
    let inputs = graph.inputs.iter().zip(operands).filter(|(_, operand)| **operand != NameId::ROOT);
    inputs.filter_map(|(input, _)| input.name).collect()
}

/// Whether a graph has sparse constants, which no node can define.
fn has_sparse(graph: &GraphProto) -> bool {
    graph.rest.iter().flat_map(|fields| fields.iter()).any(|field| field.number == graph_fields::SPARSE_INITIALIZER)
}
