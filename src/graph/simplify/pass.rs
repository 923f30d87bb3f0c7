//! The pass over the operations of a graph.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::graph_rule_table::RULES;
use super::step::GraphStep;
use crate::graph::standard::{EXTERNAL, VARIABLE};
use crate::graph::{Graph, KeptFragment, Operation, TensorId, prune};

/// The rules by the operations that they look at.
static BY_OPERATION: LazyLock<FxHashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut rules: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for (index, rule) in RULES.iter().enumerate() {
        rule.operations.iter().for_each(|operation| rules.entry(*operation).or_default().push(index));
    }
    rules
});

/// How often rules were applied, by their names.
pub(crate) type Simplified = Vec<(&'static str, u64)>;

impl Graph {
    /// Lets operands stand for the results of operations that change nothing, by the rules that are used, also in kept
    /// fragments. Inputs and outputs, and tensors in `apart`, keep their names; operations with results in `apart` stay.
    pub(crate) fn simplify(&mut self, uses: &dyn Fn(&str) -> bool, apart: &[TensorId]) -> Simplified {
        let mut counts = vec![0; RULES.len()];
        simplify(self, uses, apart, &mut counts);
        RULES.iter().zip(counts).filter(|(_, count)| *count > 0).map(|(rule, count)| (rule.name, count)).collect()
    }

    /// Removes operations that no output needs, whatever their names. Inputs stay, and so do tensors in `apart`. Returns
    /// how many were removed.
    pub(crate) fn drop_unneeded(&mut self, apart: &[TensorId]) -> u64 {
        let before = self.operations.len();
        let mut wanted = self.marked(&self.inputs);
        for operation in self.operations.iter().filter(|operation| self.operation_name(operation) == EXTERNAL) {
            self.tensors_of(operation).for_each(|tensor| wanted[tensor.index()] = true);
        }
        apart.iter().for_each(|tensor| wanted[tensor.index()] = true);
        prune::prune_to(self, wanted);
        (before - self.operations.len()) as u64
    }
}

fn simplify(graph: &mut Graph, uses: &dyn Fn(&str) -> bool, apart: &[TensorId], counts: &mut [u64]) {
    for fragment in &mut graph.fragments {
        if let KeptFragment::Flat(_, body) = fragment {
            simplify(body, uses, &[], counts);
        }
    }
    let mut pass = GraphPass::new(graph, apart);
    for at in 0..graph.operations.len() {
        pass.visit(at, uses, counts);
    }
    let GraphPass { alias, needed, renamed, .. } = pass;
    if needed.iter().all(|needed| *needed) {
        return;
    }
    for output in &mut graph.outputs {
        *output = alias[output.index()];
    }
    graph.packed.map_operands(|tensor| alias[tensor.index()]);
    for (value, output) in renamed {
        graph.tensors[value.index()].name = graph.tensors[output.index()].name;
    }
    prune::keep(graph, &needed);
}

struct GraphPass<'g> {
    graph: &'g Graph,
    /// Whether each tensor keeps its name.
    fixed: Vec<bool>,
    apart: Vec<bool>,
    outputs: Vec<bool>,
    /// The tensor that stands for each tensor: usually itself.
    alias: Vec<TensorId>,
    /// Whether each operation stays.
    needed: Vec<bool>,
    /// Tensors that get the name of an output.
    renamed: Vec<(TensorId, TensorId)>,
}

impl<'g> GraphPass<'g> {
    fn new(graph: &'g Graph, apart: &[TensorId]) -> Self {
        let outputs = graph.marked(&graph.outputs);
        let mut fixed = outputs.clone();
        for (i, tensor) in graph.tensors.iter().enumerate() {
            let maker = tensor.producer.and_then(|producer| graph.operations.get(producer.index()));
            fixed[i] |= maker.is_none_or(|maker| [EXTERNAL, VARIABLE].contains(&graph.operation_name(maker)));
        }
        apart.iter().for_each(|tensor| fixed[tensor.index()] = true);
        GraphPass {
            graph,
            fixed,
            apart: graph.marked(apart),
            outputs,
            alias: (0..graph.tensors.len()).map(|i| TensorId(i as u32)).collect(),
            needed: vec![true; graph.operations.len()],
            renamed: Vec::new(),
        }
    }

    fn visit(&mut self, at: usize, uses: &dyn Fn(&str) -> bool, counts: &mut [u64]) {
        let operation = &self.graph.operations[at];
        let Some((rule, value)) = self.found(operation, uses) else { return };
        let Some(result) = self.graph.tensors_of(operation).next() else { return };
        let same_type = self.graph.dtype(result) == self.graph.dtype(value);
        if !same_type || self.apart[result.index()] || self.graph.layout(result).is_some() {
            return;
        }
        if self.outputs[result.index()] {
            // An output that is an input, or another output, is a copy of it.
            if self.fixed[value.index()] {
                return;
            }
            self.fixed[value.index()] = true;
            self.renamed.push((value, result));
        }
        counts[rule] += 1;
        self.needed[at] = false;
        self.alias[result.index()] = value;
    }

    /// The first rule that fits, and the tensor that is the result.
    fn found(&self, operation: &'g Operation, uses: &dyn Fn(&str) -> bool) -> Option<(usize, TensorId)> {
        let graph = self.graph;
        let step = GraphStep { graph, operation, alias: &self.alias };
        let rules = BY_OPERATION.get(step.name(operation))?;
        step.result()?;
        rules
            .iter()
            .filter(|rule| uses(RULES[**rule].name))
            .find_map(|rule| Some((*rule, (RULES[*rule].applies)(&step)?)))
    }
}
