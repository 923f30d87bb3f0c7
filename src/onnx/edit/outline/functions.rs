//! Functions for repeated structure, and calls of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::listing::named;
use crate::graph::names::NameId;
use crate::onnx::model::{FunctionProto, ModelNames, ModelProto, NodeProto, OperatorSet, Values};
use crate::onnx::scopes::NodeScope;
use crate::outline::{
    BodyNames, OutlinePlan, PlannedBody, PlannedStep, Source, ValueId, common_name, identifier, shared_path,
};
use crate::source::names::Name;

/// The domain of the functions.
const DOMAIN: &str = "outline";
/// What functions without a module or call are called.
const FUNCTION: &str = "part";
/// The first version of models with functions.
const WITH_FUNCTIONS: i64 = 8;

/// Adds the functions of a plan to a model, and replaces the nodes of its graph.
pub(super) fn apply(model: &mut ModelProto, plan: &OutlinePlan) {
    let Some(mut graph) = model.graph.take() else { return };
    let nodes = std::mem::take(&mut graph.nodes);
    let domain = domain(model);
    let mut names = BodyNames::default();
    let mut maker = Maker { model, plan, nodes: &nodes, domain, functions: Vec::new() };
    for body in &plan.bodies {
        let name = names.distinct(&maker.name(body));
        let name = maker.model.names.texts.intern(&name);
        let function = maker.function(name, body);
        maker.functions.push(function);
    }
    let made = plan
        .steps
        .iter()
        .map(|step| maker.node(step, &|value| NameId::at(plan.values[value as usize][0] as usize), true));
    let made: Vec<NodeProto> = made.collect();
    let functions = maker.functions;
    let results =
        |nodes: &[NodeProto]| nodes.iter().flat_map(|node| named(&node.outputs)).collect::<FxHashSet<NameId>>();
    let (before, after) = (results(&nodes), results(&made));
    let stays = |name: NameId| !before.contains(&name) || after.contains(&name);
    graph.value_info.retain(|value| value.name.is_none_or(stays));
    graph.nodes = made;
    model.graph = Some(graph);
    model.functions.extend(functions);
    model.opsets.push(OperatorSet { domain: Some(domain), version: Some(1), rest: None });
    model.ir_version = model.ir_version.max(Some(WITH_FUNCTIONS));
}

/// A domain that the model does not have.
fn domain(model: &mut ModelProto) -> Name {
    let mut names = BodyNames::default();
    let functions = model.functions.iter().map(|function| function.domain);
    for domain in model.opsets.iter().map(|set| set.domain).chain(functions).flatten() {
        names.reserve(model.names.texts.text(domain));
    }
    model.names.texts.intern(&names.distinct(DOMAIN))
}

struct Maker<'m> {
    /// The model without its graph.
    model: &'m mut ModelProto,
    plan: &'m OutlinePlan,
    /// The nodes of its graph.
    nodes: &'m [NodeProto],
    domain: Name,
    functions: Vec<FunctionProto>,
}

impl Maker<'_> {
    /// A name for a function: the path of the modules of its nodes, or of the calls that they come from, or what their
    /// names have in common.
    fn name(&self, body: &PlannedBody) -> String {
        let nodes = body.steps.iter().filter_map(|step| match step.source {
            Source::Operation(at) => Some(&self.nodes[at]),
            Source::Call(_) => None,
        });
        let nodes: Vec<&NodeProto> = nodes.filter(|node| !node.inputs.is_empty()).collect();
        let modules = nodes.iter().map(|node| NodeScope::of(&node.rest).path().map(str::to_owned));
        let modules: Option<Vec<_>> = modules.collect();
        let calls = || nodes.iter().map(|node| self.calls(node)).collect::<Vec<_>>();
        let own = || nodes.iter().map(|node| node.name.map_or(String::new(), |name| self.model.names.spelled(name)));
        let ways: [&dyn Fn() -> String; 3] = [
            &|| modules.as_ref().map_or(String::new(), |paths| shared_path(paths, &['.', '/'])),
            &|| shared_path(&calls(), &['/']),
            &|| shared_path(&own().collect::<Vec<_>>(), &['.', '/', '_']),
        ];
        let name = ways.iter().map(|way| identifier(&way())).find(|name| !name.is_empty());
        name.unwrap_or_else(|| FUNCTION.to_owned())
    }

    /// The functions around a node, the outermost first.
    fn calls(&self, node: &NodeProto) -> String {
        let mut calls = Vec::new();
        let mut at = self.model.calls.get(node.origin.index());
        while let Some(call) = at {
            calls.push(self.model.names.texts.text(call.function));
            at = self.model.calls.get(call.parent.index());
        }
        calls.reverse();
        calls.join("/")
    }

    fn function(&mut self, name: Name, body: &PlannedBody) -> FunctionProto {
        let values = self.values(body);
        let of = |value: ValueId| values[&value];
        let nodes: Vec<NodeProto> = body.steps.iter().map(|step| self.node(step, &of, false)).collect();
        FunctionProto {
            name: Some(name),
            domain: Some(self.domain),
            inputs: body.params.iter().map(|value| of(*value)).collect(),
            outputs: body.results.iter().map(|value| of(*value)).collect(),
            opsets: self.imports(&nodes),
            nodes,
            ..FunctionProto::default()
        }
    }

    /// The operator sets of nodes.
    fn imports(&self, nodes: &[NodeProto]) -> Vec<OperatorSet> {
        let text = |domain: Option<Name>| match domain.map_or("", |domain| self.model.names.texts.text(domain)) {
            "ai.onnx" => "",
            domain => domain,
        };
        let used: FxHashSet<&str> = nodes.iter().map(|node| text(node.domain)).collect();
        let own = OperatorSet { domain: Some(self.domain), version: Some(1), rest: None };
        let sets = self.model.opsets.iter().chain([&own]);
        sets.filter(|set| used.contains(text(set.domain))).cloned().collect()
    }

    /// The values of a function, with names that its occurrences have in common.
    fn values(&mut self, body: &PlannedBody) -> FxHashMap<ValueId, NameId> {
        let plan = self.plan;
        let results = body.steps.iter().flat_map(|step| plan.results(step));
        let values: Vec<ValueId> = body.params.iter().chain(results).copied().collect();
        let mut distinct = BodyNames::default();
        let names = values.iter().map(|value| {
            let [first, last] = plan.values[*value as usize].map(|value| NameId::at(value as usize));
            let (first, last) = (self.model.names.spelled(first), self.model.names.spelled(last));
            let name = identifier(common_name(&first, &last));
            distinct.distinct(if name.is_empty() { "x1" } else { &name })
        });
        let names: Vec<String> = names.collect();
        self.model.names.apart(|known: &mut ModelNames| {
            let mut add = |name: &String| {
                let name = known.texts.intern(name);
                known.value(name)
            };
            values.into_iter().zip(names.iter().map(&mut add)).collect()
        })
    }

    /// The node of a step. Nodes of the graph that are not calls are as they were.
    fn node(&self, step: &PlannedStep, of: &dyn Fn(ValueId) -> NameId, in_graph: bool) -> NodeProto {
        let mut operands = self.plan.operands(step).iter().map(|value| of(*value));
        let mut results = self.plan.results(step).iter().map(|value| of(*value));
        match step.source {
            Source::Call(body) => NodeProto {
                inputs: operands.collect(),
                outputs: results.collect(),
                op_type: self.functions[body].name,
                domain: Some(self.domain),
                ..NodeProto::default()
            },
            Source::Operation(at) if in_graph => self.nodes[at].clone(),
            Source::Operation(at) => {
                let node = &self.nodes[at];
                let mapped = |values: &Values, to: &mut dyn Iterator<Item = NameId>| -> Values {
                    let present = values.iter().map(|name| if *name == NameId::ROOT { None } else { to.next() });
                    present.map(|name| name.unwrap_or(NameId::ROOT)).collect()
                };
                NodeProto {
                    inputs: mapped(&node.inputs, &mut operands),
                    outputs: mapped(&node.outputs, &mut results),
                    name: None,
                    rest: None,
                    ..node.clone()
                }
            }
        }
    }
}
