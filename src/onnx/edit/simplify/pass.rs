//! The pass over the nodes of a graph in their order: each is simplified once its operands are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::extents::KnownExtents;
use super::items::is_positive;
use super::row::{Applies, NewNode, RuleChange};
use super::rule_table::RULES;
use super::scope::{NamedSource, ScopeStart, SimplifyScope};
use super::step::SimplifyStep;
use super::targets::shape_source;
use super::used::{RuleCounts, UsedRules};
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::infer::{GraphTypes, each_typed_graph};
use crate::onnx::model::{
    AttributeProto, AttributeValue, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto, TensorProto, Values,
};
use crate::onnx::types::AttributeType;
use crate::onnx::walk::{each_node_mut, own_names, own_names_of_function};
use crate::source::names::Name;

/// How often a node changes at most: by rules, of which each takes one node of a chain away.
const MAX_CHANGES: usize = 64;

/// The rules for nodes, by operator.
pub(super) struct RuleLookup {
    by_operator: FxHashMap<&'static str, Vec<usize>>,
    pub(super) used: UsedRules,
}

impl RuleLookup {
    /// The used rules, without those for operators that functions of a model replace.
    pub(super) fn new(used: UsedRules, model: &ModelProto) -> Self {
        let mut rules: FxHashMap<&'static str, Vec<usize>> = FxHashMap::default();
        for (index, rule) in RULES.iter().enumerate().filter(|(index, _)| used.has(*index)) {
            rule.operators.iter().for_each(|operator| rules.entry(operator).or_default().push(index));
        }
        for function in &model.functions {
            let text = |name: Option<Name>| name.map_or("", |name| model.names.texts.text(name));
            if matches!(text(function.domain), "" | "ai.onnx") {
                rules.remove(text(function.name));
            }
        }
        RuleLookup { by_operator: rules, used }
    }

    fn of(&self, operator: &str) -> &[usize] {
        self.by_operator.get(operator).map_or(&[], Vec::as_slice)
    }
}

/// What a graph or a function keeps.
pub(super) struct KeptEnds {
    /// The values whose names stay: outputs, and inputs of functions.
    fixed: FxHashSet<NameId>,
    pub(super) start: ScopeStart,
    /// The results that get the name of an output.
    renamed: FxHashMap<NameId, NameId>,
}

/// The state of the pass.
pub(super) struct SimplifyPass<'m> {
    pub(super) names: &'m mut ModelNames,
    pub(super) imports: Imports,
    pub(super) rules: &'m RuleLookup,
    pub(super) counts: RuleCounts,
    pub(super) scope: SimplifyScope<'m>,
    /// How often nodes and outputs use each value, by the number of its name.
    pub(super) uses: Vec<u32>,
    /// The values that are named outside nodes.
    pub(super) named: &'m FxHashSet<NameId>,
    /// The values that training changes.
    pub(super) variables: &'m FxHashSet<NameId>,
    /// Whether constants are initializers; functions have none.
    pub(super) has_initializers: bool,
    pub(super) extents: KnownExtents,
    /// The position of the first node of the innermost open graph.
    start: usize,
    /// The number of open graphs that cannot run.
    pub(super) frozen: u32,
    /// Whether names were made.
    pub(super) has_new_names: bool,
}

impl<'m> SimplifyPass<'m> {
    /// A pass over a model with these imports, given the values that are named outside nodes and those that training
    /// changes, the names that are not said in another place, and how often each value is used.
    pub(super) fn new(
        names: &'m mut ModelNames,
        imports: Imports,
        rules: &'m RuleLookup,
        named: &'m FxHashSet<NameId>,
        variables: &'m FxHashSet<NameId>,
        hidden: FxHashSet<NameId>,
        uses: Vec<u32>,
    ) -> Self {
        let scope = SimplifyScope::new(names.values.len(), hidden);
        SimplifyPass {
            names,
            imports,
            rules,
            counts: RuleCounts::default(),
            scope,
            uses,
            named,
            variables,
            has_initializers: true,
            extents: KnownExtents::default(),
            start: 0,
            frozen: 0,
            has_new_names: false,
        }
    }

    /// Ends the pass. Returns how often each rule was applied.
    pub(super) fn finish(self) -> RuleCounts {
        if self.has_new_names {
            self.names.values.resolve(&self.names.texts, &Default::default());
        }
        self.counts
    }

    /// Simplifies a graph; `is_inner` if it is in a node.
    pub(super) fn graph(&mut self, graph: &mut GraphProto, types: Option<&'m GraphTypes>, is_inner: bool) {
        self.frozen += u32::from(graph.cannot_run);
        let types = types.filter(|_| !graph.cannot_run);
        let fixed = graph.outputs.iter().filter_map(|output| output.name).collect();
        let own = own_names(graph);
        let is_own: FxHashSet<NameId> = if is_inner { own.iter().copied().collect() } else { FxHashSet::default() };
        let mut kept = KeptEnds { fixed, start: self.scope.open(&own, types), renamed: FxHashMap::default() };
        let extents = self.extents.open();
        let outside = std::mem::replace(&mut self.start, kept.start.nodes);
        let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
        for constant in std::mem::take(&mut graph.initializers) {
            let is_known = constant.name.is_some_and(|name| !inputs.contains(&name) && !self.variables.contains(&name));
            self.scope.add_constant(constant, is_known);
        }
        self.nodes(std::mem::take(&mut graph.nodes), types, &mut kept);
        if is_inner {
            for output in &mut graph.outputs {
                output.name = output.name.map(|name| match is_own.contains(&name) {
                    true => name,
                    false => self.scope.replacement(name),
                });
            }
        }
        self.extents.close(extents);
        self.start = outside;
        (graph.initializers, graph.nodes) = self.scope.close(kept.start);
        rename(&mut graph.nodes, &kept.renamed);
        self.frozen -= u32::from(graph.cannot_run);
    }

    /// Simplifies the body of a function.
    pub(super) fn in_function(&mut self, function: &mut FunctionProto, types: Option<&'m GraphTypes>) {
        let imports = Imports::new(self.names, &function.opsets);
        let outside = std::mem::replace(&mut self.imports, imports);
        self.has_initializers = false;
        let extents = self.extents.open();
        let own = own_names_of_function(function);
        let fixed = function.inputs.iter().chain(&function.outputs).copied().collect();
        let mut kept = KeptEnds { fixed, start: self.scope.open(&own, types), renamed: FxHashMap::default() };
        self.start = kept.start.nodes;
        self.nodes(std::mem::take(&mut function.nodes), types, &mut kept);
        (_, function.nodes) = self.scope.close(kept.start);
        rename(&mut function.nodes, &kept.renamed);
        self.extents.close(extents);
        (self.imports, self.has_initializers) = (outside, true);
    }

    fn nodes(&mut self, nodes: Vec<NodeProto>, types: Option<&'m GraphTypes>, kept: &mut KeptEnds) {
        for (i, mut node) in nodes.into_iter().enumerate() {
            for input in &mut node.inputs {
                *input = self.scope.replacement(*input);
            }
            each_typed_graph(i, &mut node, types, &mut |inner, types| self.graph(inner, types, true));
            self.node(node, kept);
        }
    }

    /// Applies rules to a node until none fits, and adds what is left.
    fn node(&mut self, mut node: NodeProto, kept: &mut KeptEnds) {
        for _ in 0..MAX_CHANGES {
            if self.frozen > 0 {
                break;
            }
            if node.has_graphs() {
                self.control(&mut node, kept);
                break;
            }
            let Some((rule, change)) = self.change(&node) else { break };
            match change {
                RuleChange::Value(value) => {
                    if self.stands_for(&mut node, value, rule, kept) {
                        return;
                    }
                    break;
                }
                RuleChange::Node(new) => {
                    self.counts.count(rule, 1);
                    node = self.made(*new);
                }
            }
        }
        self.add(node, kept);
    }

    /// What the first rule that fits makes of a node.
    fn change(&self, node: &NodeProto) -> Option<(usize, RuleChange)> {
        let (domain, operator) = self.names.operator(node);
        let rules = if domain.is_empty() { self.rules.of(operator) } else { &[] };
        if rules.is_empty() || node.outputs.first().is_none_or(|name| *name == NameId::ROOT) {
            return None;
        }
        let step = self.step(node)?;
        rules.iter().find_map(|index| {
            let Applies::Node(rule) = RULES.get(*index)?.applies else { return None };
            let change = rule(&step)?;
            let is_plain = |name: &NameId| node.inputs.contains(name) || self.scope.is_plain(*name);
            let accepted = match &change {
                RuleChange::Value(value) => is_plain(value) && self.scope.is_plain(*value) && *value != NameId::ROOT,
                RuleChange::Node(new) => new.node.inputs.iter().all(is_plain),
            };
            accepted.then_some((*index, change))
        })
    }

    /// A node as rules see it.
    pub(super) fn step<'s>(&'s self, node: &'s NodeProto) -> Option<SimplifyStep<'s, 'm>> {
        let version = self.imports.version(self.names, node.domain)?;
        Some(SimplifyStep { names: self.names, scope: &self.scope, node, version, uses: &self.uses, start: self.start })
    }

    /// Lets a value stand for the first result of a node. Returns whether the node is no longer needed; else it may hand the
    /// value on.
    fn stands_for(&mut self, node: &mut NodeProto, value: NameId, rule: usize, kept: &mut KeptEnds) -> bool {
        let Some(result) = node.outputs.first().copied() else { return false };
        if !self.is_fixed(result, kept) {
            self.counts.count(rule, 1);
            self.scope.replace(result, value);
            return true;
        }
        if self.may_be_named(value, result, kept) {
            self.counts.count(rule, 1);
            kept.renamed.insert(value, result);
            self.scope.replace(result, value);
            return true;
        }
        if node.op_type.is_none_or(|operator| self.names.texts.text(operator) != "Identity") {
            self.counts.count(rule, 1);
            node.op_type = Some(self.names.texts.intern("Identity"));
            node.inputs = Values::from_slice(&[value]);
            node.outputs.truncate(1);
            node.attributes.clear();
        }
        false
    }

    /// Whether a value keeps its name.
    pub(super) fn is_fixed(&self, name: NameId, kept: &KeptEnds) -> bool {
        kept.fixed.contains(&name) || self.named.contains(&name)
    }

    /// Whether a value may get the name of an output instead of its own.
    fn may_be_named(&self, value: NameId, output: NameId, kept: &KeptEnds) -> bool {
        let is_here = match self.scope.source(value) {
            NamedSource::Node(at) => at as usize >= kept.start.nodes,
            _ => false,
        };
        let is_free = !self.is_fixed(value, kept) && !kept.renamed.contains_key(&value);
        let is_plain = self.scope.is_plain(value) && self.scope.is_plain(output);
        // A constant keeps its name: others may have one of equal constants.
        is_here && is_free && is_plain && self.scope.constant(value).is_none()
    }

    /// A node with new constants.
    fn made(&mut self, new: NewNode) -> NodeProto {
        let NewNode { mut node, operator, constants } = new;
        if let Some(operator) = operator {
            node.op_type = Some(self.names.texts.intern(operator));
        }
        for (at, constant) in constants {
            let name = self.new_constant(&node, constant);
            node.inputs.resize(node.inputs.len().max(at + 1), NameId::ROOT);
            node.inputs[at] = name;
        }
        node
    }

    /// Adds a constant that a node needs. Returns its name.
    pub(super) fn new_constant(&mut self, node: &NodeProto, constant: TensorProto) -> NameId {
        let segment = self.names.texts.intern("constant");
        let of = node.outputs.first().copied().unwrap_or(NameId::ROOT);
        let name = self.names.values.child(of, segment, 0, true);
        self.names.values.mark_used(name);
        self.has_new_names = true;
        if self.has_initializers {
            self.scope.add_constant(TensorProto { name: Some(name), ..constant }, true);
        } else {
            let attribute = AttributeProto {
                name: Some(self.names.texts.intern("value")),
                kind: Some(AttributeType::Tensor as i32),
                value: AttributeValue::Tensor(Box::new(constant)),
                ..AttributeProto::default()
            };
            let op_type = Some(self.names.texts.intern("Constant"));
            let outputs = Values::from_slice(&[name]);
            self.scope.add_node(NodeProto {
                op_type,
                outputs,
                attributes: vec![attribute],
                domain: node.domain,
                at: node.at,
                origin: node.origin,
                ..NodeProto::default()
            });
        }
        name
    }

    /// Adds a node that stays: as an initializer if it is a constant, not at all if an earlier one has the same items.
    fn add(&mut self, node: NodeProto, kept: &KeptEnds) {
        let node = match self.initializer(node, kept) {
            Some(node) => node,
            None => return,
        };
        if let Some((name, earlier)) = self.earlier(&node, kept) {
            self.counts.count_named(super::rule_table::EXTENTS, 1);
            self.scope.replace(name, earlier);
            return;
        }
        let noted = self.step(&node).map(|step| (is_positive(&step), step.result().zip(shape_source(&step))));
        if let Some((is_positive, shaped)) = noted {
            node.outputs.iter().filter(|_| is_positive).for_each(|output| self.scope.note_positive(*output));
            shaped.into_iter().for_each(|(name, source)| self.scope.note_shape(name, source));
        }
        self.scope.add_node(node);
    }

    /// An earlier value with the items of the only result of a node.
    fn earlier(&mut self, node: &NodeProto, kept: &KeptEnds) -> Option<(NameId, NameId)> {
        let [name] = node.outputs[..] else { return None };
        if self.frozen > 0 || !self.rules.used.uses(super::rule_table::EXTENTS) || !self.scope.is_plain(name) {
            return None;
        }
        let facts = self.scope.facts(name).filter(|_| !self.is_fixed(name, kept))?;
        self.extents.earlier(name, facts, &node.inputs).map(|earlier| (name, earlier))
    }

    /// Makes an initializer of a constant, if it is one and not an output; else the node.
    fn initializer(&mut self, node: NodeProto, kept: &KeptEnds) -> Option<NodeProto> {
        let is_wanted = self.has_initializers && self.frozen == 0 && self.rules.used.uses(super::rule_table::CONSTANTS);
        let is_named = |name: &NameId| *name != NameId::ROOT && !self.is_fixed(*name, kept);
        let name = node.outputs.first().copied().filter(|name| is_wanted && is_named(name));
        match name.and_then(|name| super::constants::value(self.names, &node, name)) {
            Some(constant) => {
                self.counts.count_named(super::rule_table::CONSTANTS, 1);
                self.scope.add_constant(constant, true);
                None
            }
            None => Some(node),
        }
    }
}

/// Gives values other names, in nodes and the graphs inside them.
fn rename(nodes: &mut [NodeProto], names: &FxHashMap<NameId, NameId>) {
    if names.is_empty() {
        return;
    }
    each_node_mut(nodes, &mut |node| {
        for name in node.inputs.iter_mut().chain(&mut node.outputs) {
            if let Some(new) = names.get(name) {
                *name = *new;
            }
        }
    });
}
