//! Compounds in graphs that were made from other notations: they are expanded where the options ask for it, as calls in
//! a document are.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use super::definition::{DefinitionCall, Definitions, Given, with_definitions};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::names::NameId;
use crate::graph::standard::COPY;
use crate::graph::{
    Argument, Graph, Key, Kind, KindId, Operation, OperationId, Output, Primitive, TensorId, Value, prune,
};
use crate::library::registries::BUILT_IN;
use crate::library::texts::standard;
use crate::options::{GivenShapes, Lower, Options};
use crate::source::names::Name;

/// The most expanded definitions that are kept for equal calls.
const REMEMBERED: usize = 4096;

/// Expands the compounds of a graph that was made from another notation, where the options ask for it. What stays is
/// told.
///
/// # Errors
///
/// There are more operations than the options allow.
pub(crate) fn expand_compounds(mut graph: Graph, options: &Options) -> Result<(Graph, Diagnostics), Diagnostics> {
    let mut found = Diagnostics::of(options.policy());
    let wanted = options.internal.compounds.is_some() || matches!(options.lower, Lower::All | Lower::Names(_));
    let names = compounds(&graph);
    if names.is_empty() || !wanted || options.internal.keeps_compounds {
        return Ok((graph, found));
    }
    let libraries = match graph.conventions.deviates {
        // The definitions have the operations of documents with registries.
        true => vec![(BUILT_IN.to_owned(), String::new())],
        false => Vec::new(),
    };
    // The definitions have no directives of their own: what a strict document has to enable, they may use.
    let of_calls = Options {
        dialect: Some(graph.dialect),
        libraries,
        shapes: GivenShapes::default(),
        strict: false,
        ..options.clone()
    };
    let lowered = with_definitions(names.iter().copied(), &of_calls, |definitions| {
        let mut splicing = Splicing {
            definitions,
            known: FxHashMap::default(),
            kinds: FxHashMap::default(),
            changed: false,
            found: &mut found,
        };
        let done = splicing.all(&mut graph, &names, options);
        done.map(|()| splicing.changed)
    });
    match lowered {
        Ok(Ok(true)) if !options.keep_unused => prune::prune(&mut graph),
        Ok(Ok(_)) => {}
        Ok(Err(over)) => {
            found.report(*over);
            return Err(found);
        }
        Err(why) => {
            let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
            let message = format!("compounds are not expanded: {why}");
            found.report(Diagnostic::new(Code::OperatorStays, at, message));
            return Ok((graph, found));
        }
    }
    graph.finish_names();
    Ok((graph, found))
}

/// The names of the kinds in a graph that have a definition.
fn compounds(graph: &Graph) -> Vec<&'static str> {
    let library = standard(graph.dialect);
    let declared = graph.kinds.iter().filter(|kind| kind.standard);
    let declared = declared.filter_map(|kind| library.find(graph.text_of(kind.name)));
    declared.filter(|declared| declared.text.contains('{')).map(|declared| declared.name).collect()
}

/// Replaces operations by their definitions.
struct Splicing<'a, 'd> {
    definitions: &'a Definitions<'d>,
    /// The definitions of calls so far; none for calls that stay.
    known: FxHashMap<DefinitionCall, Option<Arc<Graph>>>,
    /// The kinds of operations in definitions, by name.
    kinds: FxHashMap<String, KindId>,
    /// Whether any operation was replaced.
    changed: bool,
    found: &'a mut Diagnostics,
}

impl Splicing<'_, '_> {
    /// Replaces the operations of a graph that are compounds of these names.
    fn all(&mut self, graph: &mut Graph, names: &[&str], options: &Options) -> Result<(), Box<Diagnostic>> {
        let is_one = |kind: &Kind| kind.standard && names.contains(&graph.text_of(kind.name));
        let expandable: Vec<bool> = graph.kinds.iter().map(is_one).collect();
        let mut notes = graph.take_notes();
        let old = graph.take_operations();
        graph.kinds = old.kinds.clone();
        for (i, operation) in old.operations.iter().enumerate() {
            let first = graph.operations.len();
            let definition = match expandable[old.kind_id(operation).index()] {
                true => self.definition(graph, &old, operation),
                false => None,
            };
            match definition {
                Some((definition, given)) => {
                    self.changed = true;
                    self.splice(graph, &old, operation, &definition, &given);
                }
                None => drop(graph.add_again(&old, operation)),
            }
            if graph.operations.len() as u64 > options.max_ops {
                let message = too_many("the graph", options.max_ops, "operations");
                return Err(Box::new(Diagnostic::new(Code::OperationBudget, operation.at, message)));
            }
            if let Some(note) = notes.remove(&OperationId::at(i)) {
                (first..graph.operations.len()).for_each(|at| graph.add_note(OperationId::at(at), note.clone()));
            }
        }
        Ok(())
    }

    /// The definition of an operation, and the tensors for its inputs; none if the operation stays.
    fn definition(
        &mut self,
        graph: &Graph,
        old: &Graph,
        operation: &Operation,
    ) -> Option<(Arc<Graph>, IndexSet<TensorId>)> {
        let (call, given) = call_of(graph, old, operation)?;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let definition = match self.known.entry(call) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let expanded = self.definitions.expand(place.key()).unwrap_or_else(|why| {
                    let name = &place.key().name;
                    let message = format!("`{name}` is not expanded: {why}");
                    self.found.report(Diagnostic::new(Code::OperatorStays, operation.at, message));
                    None
                });
                place.insert(expanded.map(Arc::new)).clone()
            }
        };
        definition.map(|definition| (definition, given))
    }

    /// Adds the operations of a definition. The results of the operation are results of theirs.
    fn splice(
        &mut self,
        graph: &mut Graph,
        old: &Graph,
        operation: &Operation,
        definition: &Graph,
        given: &IndexSet<TensorId>,
    ) {
        let source = (operation.at, operation.origin);
        let results: Vec<TensorId> = old.tensors_of(operation).collect();
        let mut tensors: FxHashMap<TensorId, TensorId> =
            definition.inputs.iter().copied().zip(given.iter().copied()).collect();
        let mut names: FxHashMap<NameId, NameId> = FxHashMap::default();
        let mut copies = Vec::new();
        for (inner, result) in definition.outputs.iter().zip(&results) {
            match tensors.entry(*inner) {
                // A result that is an operand, or given twice.
                Entry::Occupied(of) => copies.push((*of.get(), *result)),
                Entry::Vacant(place) => {
                    place.insert(*result);
                    names.insert(definition.name_of(*inner), graph.name_of(*result));
                    if graph.is_open(*result) {
                        graph.set_shape(*result, definition.shape(*inner).cloned());
                    }
                }
            }
        }
        let root = results.first().map_or(NameId::ROOT, |result| graph.name_of(*result));
        for inner in &definition.operations {
            for tensor in definition.tensors_of(inner) {
                if let Entry::Vacant(place) = tensors.entry(tensor) {
                    let name = grafted(graph, definition, definition.name_of(tensor), root, &mut names);
                    let added = graph.add_tensor(name, definition.dtype(tensor));
                    graph.set_shape(added, definition.shape(tensor).cloned());
                    place.insert(added);
                }
            }
            let kind = self.kind(graph, definition, definition.kind(inner));
            let new = |tensor: TensorId| tensors.get(&tensor).copied().unwrap_or(tensor);
            let mut arguments = Vec::new();
            for (key, operand) in definition.arguments(inner) {
                let mut value = operand.to_value();
                value.map_tensors(&mut |tensor| new(tensor));
                let key = match key {
                    Key::Named(name) => Key::Named(graph.symbols_mut().intern(definition.text_of(name))),
                    key => key,
                };
                arguments.push(Argument { key, value });
            }
            let outputs: Vec<(bool, Vec<TensorId>)> = definition
                .outputs_of(inner)
                .map(|output| match output {
                    Output::Tensor(tensor) => (false, vec![new(*tensor)]),
                    Output::Array(tensors) => (true, tensors.iter().map(|tensor| new(*tensor)).collect()),
                })
                .collect();
            let outputs: Vec<Output> = outputs
                .iter()
                .filter_map(|(is_array, tensors)| match is_array {
                    true => Some(Output::Array(tensors)),
                    false => tensors.first().map(Output::Tensor),
                })
                .collect();
            graph.add_operation(kind, inner.type_argument(), arguments, &outputs, source);
        }
        for (of, result) in copies {
            let Some(declared) = standard(graph.dialect).find(COPY) else { continue };
            let kind = declared.kind(graph.symbols_mut());
            let kind = graph.standard_kind(&kind);
            let argument = Argument { key: Key::Param(0), value: Value::Tensor(of) };
            let dtype = (graph.dtype(result), false);
            graph.add_operation(kind, dtype, [argument], &[Output::Tensor(&result)], source);
        }
    }

    /// The kind of operations in a definition.
    fn kind(&mut self, graph: &mut Graph, definition: &Graph, kind: &Kind) -> KindId {
        let text = definition.text_of(kind.name);
        if let Some(known) = self.kinds.get(text) {
            return *known;
        }
        let mut name = |name: Name| graph.symbols_mut().intern(definition.text_of(name));
        let mut again = kind.clone();
        again.name = name(kind.name);
        again.params.iter_mut().for_each(|param| param.name = name(param.name));
        again.results.iter_mut().for_each(|result| *result = name(*result));
        let id = graph.standard_kind(&again);
        self.kinds.insert(text.to_owned(), id);
        id
    }
}

/// A name of a definition below the name of the call's result.
fn grafted(
    graph: &mut Graph,
    definition: &Graph,
    id: NameId,
    root: NameId,
    names: &mut FxHashMap<NameId, NameId>,
) -> NameId {
    // A path has few parts.
    let mut parts = Vec::new();
    let (mut at, mut to) = (id, root);
    while at != NameId::ROOT {
        if let Some(known) = names.get(&at) {
            to = *known;
            break;
        }
        let Some((parent, segment, ordinal, inner)) = definition.names.link(at) else { break };
        parts.push((at, segment, ordinal, inner));
        at = parent;
    }
    for (at, segment, ordinal, inner) in parts.into_iter().rev() {
        let segment = graph.symbols_mut().intern(definition.text_of(segment));
        to = graph.names.child(to, segment, ordinal, inner);
        names.insert(at, to);
    }
    to
}

/// The call that an operation is, and the tensors in its arguments.
fn call_of(graph: &Graph, old: &Graph, operation: &Operation) -> Option<(DefinitionCall, IndexSet<TensorId>)> {
    let mut given: IndexSet<TensorId> = IndexSet::new();
    let mut arguments = Vec::new();
    for (key, operand) in old.arguments(operation) {
        let key = match key {
            Key::Param(position) => Given::At(position as usize),
            Key::Named(name) => Given::Named(old.text_of(name).to_owned()),
            // Only operations that are not declared have such arguments.
            Key::Positional => return None,
        };
        let mut value = operand.to_value();
        value.map_tensors(&mut |tensor| TensorId(given.insert_full(tensor).0 as u32));
        arguments.push((key, value));
    }
    let input = |tensor: &TensorId| (graph.dtype(*tensor).unwrap_or(Primitive::Scalar), graph.shape(*tensor).cloned());
    let array = |output: Output| match output {
        Output::Tensor(_) => None,
        Output::Array(tensors) => Some(tensors.len()),
    };
    let call = DefinitionCall {
        name: old.operation_name(operation).to_owned(),
        generic: operation.dtype(),
        arguments,
        inputs: given.iter().map(input).collect(),
        results: old.outputs_of(operation).map(array).collect(),
    };
    Some((call, given))
}
