//! The definition of a fragment for given arguments, as a graph: an evaluator computes compounds with it.

use std::hash::{Hash, Hasher};

use super::expander::Expander;
use super::{constants, datatypes, rules};
use crate::core::unit::{Param, UnitId};
use crate::core::value::Value;
use crate::diagnostics::Diagnostics;
use crate::graph::{self, Graph, Primitive, Shape, TensorId, prune};
use crate::nnef::check::{self, Checked};
use crate::nnef::compile::entry::EntryCall;
use crate::nnef::document::Document;
use crate::options::Options;

/// The parameter of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Given {
    /// The one at this position.
    At(usize),
    /// The one with this name.
    Named(String),
}

/// A call of a fragment.
#[derive(Clone, Debug)]
pub(crate) struct DefinitionCall {
    /// The fragment.
    pub(crate) name: String,
    /// The type argument.
    pub(crate) generic: Option<Primitive>,
    /// The arguments. Tensors in them are positions in `inputs`.
    pub(crate) arguments: Vec<(Given, graph::Value)>,
    /// The element types and the shapes of the tensors in the arguments.
    pub(crate) inputs: Vec<(Primitive, Option<Shape>)>,
    /// For each result, the number of its tensors if it is an array.
    pub(crate) results: Vec<Option<usize>>,
}

impl PartialEq for DefinitionCall {
    fn eq(&self, other: &Self) -> bool {
        let rest = |call: &Self| (call.generic, call.arguments.len());
        let arguments = self.arguments.iter().zip(&other.arguments);
        self.name == other.name
            && rest(self) == rest(other)
            && (&self.inputs, &self.results) == (&other.inputs, &other.results)
            && arguments.into_iter().all(|((a, x), (b, y))| a == b && x.is_same(y, &|x, y| x == y))
    }
}

impl Eq for DefinitionCall {}

impl Hash for DefinitionCall {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.name, self.generic, &self.inputs, &self.results).hash(hasher);
        for (given, value) in &self.arguments {
            given.hash(hasher);
            value.hash_with(hasher, &|tensor| tensor);
        }
    }
}

/// The reason of the first error.
fn reason(diagnostics: &Diagnostics) -> Result<(), String> {
    let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
    first.map_or(Ok(()), |diagnostic| Err(diagnostic.message.clone()))
}

/// Expands a call of a fragment of the standard library, or of the libraries of the options: the inputs of the graph
/// are the tensors in its arguments. None if the fragment has no definition.
///
/// # Errors
///
/// The reason why it cannot be expanded.
pub(crate) fn expand_call(call: &DefinitionCall, options: &Options) -> Result<Option<Graph>, String> {
    with_definitions([call.name.as_str()], options, |definitions| definitions.expand(call))?
}

/// The definitions of fragments, checked once for any number of calls.
pub(crate) struct Definitions<'d> {
    checked: Checked<'d>,
    options: &'d Options,
}

/// Checks the definitions of fragments of the standard library, or of the libraries of the options, and hands them to a
/// function.
///
/// # Errors
///
/// The reason why the libraries are refused.
pub(crate) fn with_definitions<'n, T>(
    fragments: impl IntoIterator<Item = &'n str>,
    options: &Options,
    then: impl FnOnce(&Definitions) -> T,
) -> Result<T, String> {
    let parsed = Document::of_libraries(options);
    reason(&parsed.diagnostics)?;
    let document = &parsed.document;
    let mut checker = check::begin(document, options);
    for name in fragments {
        let name = document.names().get(name);
        let unit = name.and_then(|name| checker.checked.find(document.main_id(), name));
        unit.into_iter().for_each(|unit| checker.need(unit));
    }
    let (checked, found) = checker.finish();
    reason(&found)?;
    Ok(then(&Definitions { checked, options }))
}

impl Definitions<'_> {
    /// [`expand_call`] for one of the fragments.
    pub(crate) fn expand(&self, call: &DefinitionCall) -> Result<Option<Graph>, String> {
        let Definitions { checked, options } = self;
        let name = checked.document.names().get(&call.name);
        let unit = name.and_then(|name| checked.find(checked.document.main_id(), name));
        let Some(unit) = unit else { return Ok(None) };
        let mut expander = Expander::of_graph(checked, options, &[], checked.fragment(unit).name);
        if !expander.expands(unit) {
            return Ok(None);
        }
        let inputs = inputs(&mut expander.machine.graph, call);
        let arguments = arguments(checked, &expander, unit, call, &inputs)?;
        let count = call.results.iter().map(|array| array.unwrap_or(1)).sum();
        let symbols = expander.machine.graph.symbols_mut();
        let names = (0..count).map(|i| symbols.intern(&format!("y{i}"))).collect();
        let entry = EntryCall { unit, generic: call.generic, arguments, names, results: call.results.clone() };
        let outcome = expander.run_call(checked, entry);
        let mut machine = expander.machine;
        let mut found = machine.shapes.take();
        reason(&found)?;
        outcome.map_err(|diagnostic| diagnostic.message)?;
        let output = |slot| machine.tensor_in(slot).ok_or_else(|| format!("`{}` does not return a tensor", call.name));
        let outputs = (0..count as u32).map(output).collect::<Result<Vec<TensorId>, _>>()?;
        let mut graph = machine.into_graph();
        (graph.inputs, graph.outputs) = (inputs, outputs);
        prune::prune(&mut graph);
        graph.finish_names();
        datatypes::check(checked, &mut graph, &mut found);
        constants::convert(&mut graph, checked.words.value, &mut found);
        rules::check(checked, &graph, &mut found);
        reason(&found)?;
        Ok(Some(graph))
    }
}

/// Adds the tensors in the arguments.
fn inputs(graph: &mut Graph, call: &DefinitionCall) -> Vec<TensorId> {
    let add = |(i, (of, shape)): (usize, &(Primitive, Option<Shape>))| {
        let name = graph.symbols_mut().intern(&format!("x{i}"));
        let name = graph.names.user(name);
        let tensor = graph.add_tensor(name, Some(*of));
        graph.set_shape(tensor, shape.clone());
        tensor
    };
    call.inputs.iter().enumerate().map(add).collect()
}

/// The values of all parameters.
fn arguments(
    checked: &Checked,
    expander: &Expander,
    unit: UnitId,
    call: &DefinitionCall,
    inputs: &[TensorId],
) -> Result<Vec<Value>, String> {
    let params = &expander.machine.units.get(unit).params;
    let value = |(i, param): (usize, &Param)| {
        let name = checked.text(param.name);
        let is_for = |given: &Given| match given {
            Given::At(place) => *place == i,
            Given::Named(given) => given == name,
        };
        let given = call.arguments.iter().find(|(given, _)| is_for(given)).map(|(_, value)| {
            let mut value = value.clone();
            value.map_tensors(&mut |tensor| inputs[tensor.index()]);
            Value::from(&value)
        });
        given
            .or_else(|| param.default.as_ref().map(Value::from))
            .ok_or_else(|| format!("`{}` has no argument `{name}`", call.name))
    };
    params.iter().enumerate().map(value).collect()
}
