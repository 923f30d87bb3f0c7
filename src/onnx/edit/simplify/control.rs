//! Rules for nodes with graphs: branches that are equal, and what loops carry along for nothing.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::{KeptEnds, SimplifyPass};
use super::rule_table::{EQUAL_BRANCHES, INVARIANT, UNUSED_RESULTS};
use super::same::same_graphs;
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeProto, AttributeValue, GraphProto, NodeProto};
use crate::onnx::run::tensor_proto;
use crate::onnx::scan_form::WITHOUT_BATCHES;
use crate::onnx::walk::each_node_mut;
use crate::tensor::{Data, Tensor};

/// Where a loop has its states: positions in the lists of node and body.
#[derive(Clone, Copy)]
struct LoopForm {
    states: usize,
    /// The operands of the node, and the inputs of the body, before its states.
    before: usize,
    /// The outputs of the body before its states.
    outputs_before: usize,
}

impl SimplifyPass<'_> {
    /// Simplifies a node with graphs that were simplified.
    pub(super) fn control(&mut self, node: &mut NodeProto, kept: &KeptEnds) {
        let (domain, operator) = self.names.operator(node);
        match (domain, operator) {
            ("", "If") => {
                self.equal_branches(node);
                self.unused_of_branches(node, kept);
            }
            ("", "Loop" | "Scan") => self.states(node, kept),
            _ => {}
        }
    }

    /// Decides an `If` whose branches compute the same, so that it is expanded.
    fn equal_branches(&mut self, node: &mut NodeProto) {
        let is_open = node.inputs.first().is_some_and(|condition| self.scope.constant(*condition).is_none());
        let [AttributeValue::Graph(then), AttributeValue::Graph(other)] =
            [0, 1].map(|at| node.attributes.get(at).map_or(&AttributeValue::None, |attribute| &attribute.value))
        else {
            return;
        };
        if !self.rules.used.uses(EQUAL_BRANCHES) || !self.has_initializers || !is_open || !same_graphs(then, other) {
            return;
        }
        let Some(truth) = Tensor::new(&[], Data::Bool(vec![true])) else { return };
        self.counts.count_named(EQUAL_BRANCHES, 1);
        let condition = self.new_constant(node, tensor_proto(&truth, None));
        node.inputs[0] = condition;
    }

    /// Removes results of branches that nothing uses.
    fn unused_of_branches(&mut self, node: &mut NodeProto, kept: &KeptEnds) {
        if !self.rules.used.uses(UNUSED_RESULTS) {
            return;
        }
        let fits = node.attributes.iter().all(|attribute| match &attribute.value {
            AttributeValue::Graph(graph) => graph.outputs.len() == node.outputs.len(),
            _ => false,
        });
        let unused: Vec<bool> = node.outputs.iter().map(|output| self.is_unused(*output, kept)).collect();
        if !fits || unused.iter().all(|unused| *unused) {
            return;
        }
        let count = unused.iter().filter(|unused| **unused).count();
        self.counts.count_named(UNUSED_RESULTS, count as u64);
        retain(&mut node.outputs, |at| !unused[at]);
        for attribute in &mut node.attributes {
            if let AttributeValue::Graph(graph) = &mut attribute.value {
                retain_items(&mut graph.outputs, |at| !unused[at]);
            }
        }
    }

    /// Whether nothing uses a result.
    fn is_unused(&self, name: NameId, kept: &KeptEnds) -> bool {
        let uses = self.uses.get(name.index()).copied().unwrap_or(0);
        name == NameId::ROOT || uses == 0 && !self.is_fixed(name, kept)
    }

    /// Removes states of a loop that do not change, and those that nothing uses.
    fn states(&mut self, node: &mut NodeProto, kept: &KeptEnds) {
        let Some((mut form, at)) = self.form(node) else { return };
        let Some(AttributeValue::Graph(mut body)) =
            node.attributes.get_mut(at).map(|attribute| std::mem::take(&mut attribute.value))
        else {
            return;
        };
        if self.rules.used.uses(INVARIANT) {
            let renamed = self.invariant(node, &body, form, kept);
            rename_in(&mut body, &renamed);
            let gone = body.inputs.iter().filter_map(|input| input.name).filter(|name| renamed.contains_key(name));
            let gone: FxHashSet<NameId> = gone.collect();
            self.counts.count_named(INVARIANT, gone.len() as u64);
            let is_gone: Vec<bool> = (0..form.states)
                .map(|state| body.inputs.get(form.before + state).and_then(|input| input.name))
                .map(|name| name.is_some_and(|name| gone.contains(&name)))
                .collect();
            self.remove(node, &mut body, &mut form, &is_gone);
        }
        if self.rules.used.uses(UNUSED_RESULTS) {
            self.unused_of_loop(node, &mut body, &mut form, kept);
        }
        if let Some(attribute) = node.attributes.get_mut(at) {
            attribute.value = AttributeValue::Graph(body);
        }
    }

    /// Where a loop has its states, and its body among the attributes; none if it is not as its operator asks.
    fn form(&self, node: &NodeProto) -> Option<(LoopForm, usize)> {
        let at = node.attributes.iter().position(|attribute| attribute.value.has_graphs())?;
        let AttributeValue::Graph(body) = &node.attributes.get(at)?.value else { return None };
        let step = self.step(node)?;
        let form = match step.operator(node) {
            "Loop" => LoopForm { states: node.inputs.len().checked_sub(2)?, before: 2, outputs_before: 1 },
            _ if step.version >= WITHOUT_BATCHES => {
                let scanned = usize::try_from(step.int(node, "num_scan_inputs", 0)?).ok()?;
                LoopForm { states: node.inputs.len().checked_sub(scanned)?, before: 0, outputs_before: 0 }
            }
            _ => return None,
        };
        let (inputs, outputs) = (node.inputs.len(), node.outputs.len());
        let fits = body.inputs.len() == inputs
            && body.outputs.len() == outputs + form.outputs_before
            && outputs >= form.states
            && body.inputs.iter().chain(&body.outputs).all(|value| value.name.is_some());
        fits.then_some((form, at))
    }

    /// The inputs of the body that are the same in each trip, with the values that they are; the results of the node are
    /// these, too.
    fn invariant(
        &mut self,
        node: &NodeProto,
        body: &GraphProto,
        form: LoopForm,
        kept: &KeptEnds,
    ) -> FxHashMap<NameId, NameId> {
        let mut same = FxHashMap::default();
        let identities: FxHashMap<NameId, NameId> = body
            .nodes
            .iter()
            .filter(|inner| self.names.operator(inner) == ("", "Identity"))
            .filter_map(|inner| Some((*inner.outputs.first()?, *inner.inputs.first()?)))
            .collect();
        for state in 0..form.states {
            let input = body.inputs.get(form.before + state).and_then(|input| input.name);
            let output = body.outputs.get(form.outputs_before + state).and_then(|output| output.name);
            let (Some(input), Some(output)) = (input, output) else { continue };
            let (Some(first), Some(result)) = (node.inputs.get(form.before + state), node.outputs.get(state)) else {
                continue;
            };
            let keeps = output == input || identities.get(&output) == Some(&input);
            let given = body.outputs.iter().filter(|output| output.name == Some(input)).count();
            let keeps = keeps && given == usize::from(output == input);
            let is_free = *result == NameId::ROOT || !self.is_fixed(*result, kept);
            let is_plain = *first != NameId::ROOT && self.scope.is_plain(*first) && self.scope.is_plain(input);
            if keeps && is_free && is_plain {
                same.insert(input, *first);
                if *result != NameId::ROOT {
                    self.scope.replace(*result, *first);
                }
            }
        }
        same
    }

    /// Removes states from a loop and its body.
    fn remove(&self, node: &mut NodeProto, body: &mut GraphProto, form: &mut LoopForm, gone: &[bool]) {
        let is_gone = |at: usize, before: usize| {
            at.checked_sub(before).and_then(|state| gone.get(state)).copied().unwrap_or(false)
        };
        retain(&mut node.inputs, |at| !is_gone(at, form.before));
        retain(&mut node.outputs, |at| !is_gone(at, 0));
        retain_items(&mut body.inputs, |at| !is_gone(at, form.before));
        retain_items(&mut body.outputs, |at| !is_gone(at, form.outputs_before));
        form.states -= gone.iter().filter(|gone| **gone).count();
    }

    /// Removes states that only change themselves, and collected results that nothing uses.
    fn unused_of_loop(&mut self, node: &mut NodeProto, body: &mut GraphProto, form: &mut LoopForm, kept: &KeptEnds) {
        let unused: Vec<bool> = node.outputs.iter().map(|output| self.is_unused(*output, kept)).collect();
        if !unused.contains(&true) {
            return;
        }
        let live = Liveness::of(body, *form, &unused);
        let gone: Vec<bool> = (0..form.states).map(|state| !live.states.contains(&state)).collect();
        let states = form.states;
        let collected: Vec<bool> = unused.iter().skip(states).copied().collect();
        let count = gone.iter().chain(&collected).filter(|gone| **gone).count();
        if count == 0 || count == unused.len() {
            return;
        }
        let is_collected = |at: usize, before: usize| {
            at.checked_sub(before + states).and_then(|at| collected.get(at)).copied().unwrap_or(false)
        };
        retain(&mut node.outputs, |at| !is_collected(at, 0));
        retain_items(&mut body.outputs, |at| !is_collected(at, form.outputs_before));
        for attribute in &mut node.attributes {
            self.retain_places(attribute, &collected);
        }
        self.remove(node, body, form, &gone);
        self.counts.count_named(UNUSED_RESULTS, count as u64);
    }

    /// Removes what an attribute of `Scan` says of results that are gone.
    fn retain_places(&self, attribute: &mut AttributeProto, gone: &[bool]) {
        let name = attribute.name.map_or("", |name| self.names.texts.text(name));
        if let ("scan_output_axes" | "scan_output_directions", AttributeValue::Ints(values)) =
            (name, &mut attribute.value)
        {
            retain_items(values, |at| !gone.get(at).copied().unwrap_or(false));
        }
    }
}

/// Which states of a loop matter: those whose results are used, and those on which what matters depends.
struct Liveness {
    states: FxHashSet<usize>,
}

impl Liveness {
    fn of(body: &GraphProto, form: LoopForm, unused: &[bool]) -> Liveness {
        let makers: FxHashMap<NameId, usize> = body
            .nodes
            .iter()
            .enumerate()
            .flat_map(|(at, node)| node.outputs.iter().map(move |name| (*name, at)))
            .collect();
        let inputs: FxHashMap<NameId, usize> =
            (0..form.states).filter_map(|state| Some((body.inputs.get(form.before + state)?.name?, state))).collect();
        let output = |at: usize| body.outputs.get(at).and_then(|output| output.name);
        let mut open: Vec<NameId> = (0..form.outputs_before).filter_map(output).collect();
        for (at, _) in unused.iter().enumerate().filter(|(_, unused)| !**unused) {
            open.extend(output(form.outputs_before + at));
        }
        let used = |state: &usize| unused.get(*state) == Some(&false);
        let mut states: FxHashSet<usize> = (0..form.states).filter(used).collect();
        let (mut seen, mut visited) = (FxHashSet::default(), vec![false; body.nodes.len()]);
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(state) = inputs.get(&name)
                && states.insert(*state)
            {
                open.extend(output(form.outputs_before + state));
            }
            if let Some(at) = makers.get(&name)
                && !std::mem::replace(&mut visited[*at], true)
            {
                super::super::unused::uses_in(&body.nodes[*at], &mut |name| open.push(name));
            }
        }
        Liveness { states }
    }
}

/// Gives values other names in a graph and in those inside it.
fn rename_in(graph: &mut GraphProto, names: &FxHashMap<NameId, NameId>) {
    if !names.is_empty() {
        each_node_mut(&mut graph.nodes, &mut |node| {
            node.inputs.iter_mut().for_each(|input| *input = names.get(input).copied().unwrap_or(*input));
        });
    }
}

/// Keeps the items at some positions.
fn retain<A: smallvec::Array>(items: &mut smallvec::SmallVec<A>, keeps: impl Fn(usize) -> bool) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        keeps(at - 1)
    });
}

/// [`retain`] for a vector.
fn retain_items<T>(items: &mut Vec<T>, keeps: impl Fn(usize) -> bool) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        keeps(at - 1)
    });
}
