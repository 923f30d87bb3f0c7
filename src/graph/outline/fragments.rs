//! A graph with kept fragments for its repeated structure, and calls of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::naming::Naming;
use crate::graph::standard::FRAGMENT_DEFINITIONS;
use crate::graph::{
    Argument, Graph, KeptFragment, Key, Kind, KindId, KindParam, OriginId, Output, Primitive, Tensor, TensorId, Value,
};
use crate::outline::{OutlinePlan, PlannedBody, PlannedStep, Source, ValueId};
use crate::source::Location;
use crate::source::names::Name;

/// The names of a fragment and of its tensors.
struct Named {
    fragment: Name,
    tensors: Vec<(ValueId, Name)>,
}

/// The graph of a plan.
pub(super) fn with_fragments(graph: &Graph, plan: &OutlinePlan, reserved: &dyn Fn(&str) -> bool) -> Graph {
    let mut naming = Naming::new(graph, reserved);
    let names: Vec<(String, Vec<ValueId>, Vec<String>)> = plan
        .bodies
        .iter()
        .map(|body| {
            let values = values_of(plan, body);
            let tensors = naming.tensors(plan, &values, body.params.len());
            (naming.fragment(body), values, tensors)
        })
        .collect();
    let mut new = graph.clone();
    new.take_operations();
    let symbols = new.symbols_mut();
    let mut intern = |text: &String| symbols.intern(text);
    let names = names.iter().map(|(fragment, values, tensors)| Named {
        fragment: intern(fragment),
        tensors: values.iter().copied().zip(tensors.iter().map(&mut intern)).collect(),
    });
    let names: Vec<Named> = names.collect();
    let calls: Vec<Kind> = plan.bodies.iter().zip(&names).map(|(body, named)| kind(body, named)).collect();
    for (body, named) in plan.bodies.iter().zip(&names) {
        let mut fragment = Graph::new(named.fragment, Arc::clone(&new.symbols));
        fragment.dialect = new.dialect;
        let mut tensors = FxHashMap::default();
        for (value, name) in &named.tensors {
            let id = fragment.names.user(*name);
            let Tensor { dtype, element, literal, .. } = graph.tensors[plan.values[*value as usize][0] as usize];
            let tensor = fragment.add_tensor(id, dtype);
            fragment.tensors[tensor.index()] = Tensor { element, literal, ..fragment.tensors[tensor.index()].clone() };
            tensors.insert(*value, tensor);
        }
        let of = |value: &ValueId| tensors[value];
        fragment.inputs = body.params.iter().map(of).collect();
        fragment.outputs = body.results.iter().map(of).collect();
        Steps::new(graph, plan, &calls).write(&body.steps, &mut fragment, &of);
        let head = head(&fragment);
        new.fragments.push(KeptFragment::Flat(head, Box::new(fragment)));
    }
    let of = |value: &ValueId| TensorId(plan.values[*value as usize][0]);
    Steps::new(graph, plan, &calls).write(&plan.steps, &mut new, &of);
    let declared = |extension: &String| extension.split(' ').any(|word| word == FRAGMENT_DEFINITIONS);
    if !new.extensions.iter().any(declared) {
        new.extensions.push(FRAGMENT_DEFINITIONS.to_owned());
    }
    new
}

/// The values of a body: its parameters, and what its steps compute.
fn values_of(plan: &OutlinePlan, body: &PlannedBody) -> Vec<ValueId> {
    let results = body.steps.iter().flat_map(|step| plan.results(step));
    body.params.iter().chain(results).copied().collect()
}

/// The kind of the calls of a fragment.
fn kind(body: &PlannedBody, named: &Named) -> Kind {
    let names: FxHashMap<ValueId, Name> = named.tensors.iter().copied().collect();
    let param = |value: &ValueId| KindParam { name: names[value], tensor: true, default: None };
    Kind {
        name: named.fragment,
        params: body.params.iter().map(param).collect(),
        results: body.results.iter().map(|value| names[value]).collect(),
        declared: true,
        standard: false,
        generic: false,
    }
}

/// The declaration of a fragment up to its body.
fn head(fragment: &Graph) -> String {
    let list = |tensors: &[TensorId]| {
        let tensor = |tensor: &TensorId| {
            let dtype = fragment.dtype(*tensor).unwrap_or(Primitive::Scalar);
            format!("{}: tensor<{}>", fragment.tensor_name(*tensor), dtype.text())
        };
        tensors.iter().map(tensor).collect::<Vec<_>>().join(", ")
    };
    format!("fragment {}({}) -> ({})", fragment.name(), list(&fragment.inputs), list(&fragment.outputs))
}

/// Writes steps of a plan to a graph.
struct Steps<'g> {
    /// The graph with the operations.
    graph: &'g Graph,
    plan: &'g OutlinePlan,
    /// The kinds of the calls of bodies.
    calls: &'g [Kind],
    /// The kinds that the other graph has so far: each fragment has those of its own operations.
    of_operations: FxHashMap<KindId, KindId>,
    of_calls: FxHashMap<usize, KindId>,
}

impl<'g> Steps<'g> {
    fn new(graph: &'g Graph, plan: &'g OutlinePlan, calls: &'g [Kind]) -> Self {
        Steps { graph, plan, calls, of_operations: FxHashMap::default(), of_calls: FxHashMap::default() }
    }

    fn write(&mut self, steps: &[PlannedStep], to: &mut Graph, of: &dyn Fn(&ValueId) -> TensorId) {
        for step in steps {
            let operands = self.plan.operands(step).iter().map(of);
            let results: Vec<TensorId> = self.plan.results(step).iter().map(of).collect();
            match step.source {
                Source::Operation(at) => self.operation(at, operands, &results, to),
                Source::Call(body) => {
                    let argument = |(i, tensor)| Argument { key: Key::Param(i), value: Value::Tensor(tensor) };
                    let arguments: Vec<Argument> = (0..).zip(operands).map(argument).collect();
                    let outputs: Vec<Output> = results.iter().map(Output::Tensor).collect();
                    let source = (Location::default(), OriginId::NONE);
                    let kind = *self.of_calls.entry(body).or_insert_with(|| to.add_kind(self.calls[body].clone()));
                    to.add_operation(kind, (None, false), arguments, &outputs, source);
                }
            }
        }
    }

    /// Adds an operation with other tensors.
    fn operation(
        &mut self,
        at: usize,
        mut operands: impl Iterator<Item = TensorId>,
        results: &[TensorId],
        to: &mut Graph,
    ) {
        let operation = &self.graph.operations[at];
        let arguments = self.graph.arguments(operation).map(|(key, operand)| {
            let mut value = operand.to_value();
            value.map_tensors(&mut |tensor| operands.next().unwrap_or(tensor));
            Argument { key, value }
        });
        let arguments: Vec<Argument> = arguments.collect();
        let mut rest = results;
        let outputs = self.graph.outputs_of(operation).map(|output| {
            let (own, after) = rest.split_at(output.tensors().len());
            rest = after;
            match (output, own) {
                (Output::Tensor(_), [tensor]) => Output::Tensor(tensor),
                _ => Output::Array(own),
            }
        });
        let outputs: Vec<Output> = outputs.collect();
        let source = (operation.at, operation.origin);
        let kind = self.graph.kind_id(operation);
        let kind =
            *self.of_operations.entry(kind).or_insert_with(|| to.add_kind(self.graph.kinds[kind.index()].clone()));
        to.add_operation(kind, operation.type_argument(), arguments, &outputs, source);
    }
}
