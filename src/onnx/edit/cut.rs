//! Cuts: the part of a flat model between tensors.

use rustc_hash::FxHashSet;

use super::annotate::complete;
use super::references::References;
use super::unused;
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::cut::{Cut, Ends, not_needed};
use crate::graph::names::{NameId, Spellings};
use crate::onnx::infer::{GraphTypes, infer};
use crate::onnx::model::{GraphProto, ModelNames, ModelProto, NodeProto, ValueInfo};
use crate::onnx::walk::{each_graph, each_node};
use crate::source::Location;

/// Keeps the part of the graph of a flat model that the options select, with its constants. Types of its inputs and
/// outputs are declared as far as inference finds them.
///
/// # Errors
///
/// A name is not that of a value of the graph, or the type of an end is not known.
pub(in crate::onnx) fn cut(model: &mut ModelProto, at: Location, options: &Options) -> Result<(), Diagnostics> {
    let cut = &options.internal.cut;
    if cut.keeps_all() {
        return Ok(());
    }
    let types = infer(model, options);
    let references = References::of(model).named;
    let ModelProto { graph: Some(graph), names, .. } = model else { return Ok(()) };
    let (named, elsewhere) = (&*graph, |name: &str| inside(names, graph, name));
    let each = |f: &mut dyn FnMut(&str, NameId)| {
        let mut spellings = Spellings::new(&names.values, &names.texts);
        each_value(named, &mut |value| f(spellings.spell(value), value));
    };
    let Ends { inputs, outputs } = cut.ends(at, each, elsewhere)?;
    let before = std::mem::take(&mut graph.inputs);
    let is_input = |name: NameId| before.iter().any(|input| input.name == Some(name));
    let new: FxHashSet<NameId> = inputs.iter().copied().filter(|input| !is_input(*input)).collect();
    let mut ends = PartEnds { names, types: &types.main, at, found: Diagnostics::new(false) };
    if !outputs.is_empty() {
        let old = std::mem::take(&mut graph.outputs);
        graph.outputs =
            outputs.iter().map(|output| ends.declared(*output, [&old, &before, &graph.value_info])).collect();
    }
    let used = unused::retain_nodes(graph, |node, used| {
        node.outputs.iter().any(|output| used.contains(output) && !new.contains(output))
    });
    for input in &inputs {
        if !used.contains(input) {
            ends.found.report(not_needed(&ends.names.spelled(*input), at));
        }
        graph.inputs.push(ends.declared(*input, [&before, &graph.value_info, &[]]));
    }
    let named: FxHashSet<NameId> = inputs.iter().copied().collect();
    let rest = before
        .into_iter()
        .filter(|input| input.name.is_some_and(|name| used.contains(&name) && !named.contains(&name)));
    graph.inputs.extend(rest);
    if ends.found.has_errors() {
        return Err(ends.found);
    }
    graph.initializers.retain(|constant| constant.name.is_none_or(|name| !new.contains(&name)));
    rename_results(names, graph, &new);
    unused::retain_values(graph, &used.union(&references).copied().collect());
    Ok(())
}

/// Checks that a model has the values that passes were told to keep.
///
/// # Errors
///
/// A name is not that of a value of the graph.
pub(in crate::onnx) fn has_kept(model: &ModelProto, at: Location) -> Result<(), Diagnostics> {
    let ModelProto { graph: Some(graph), names, kept, .. } = model else { return Ok(()) };
    let mut outputs = kept.clone();
    outputs.sort();
    outputs.dedup();
    let each = |f: &mut dyn FnMut(&str, NameId)| {
        let mut spellings = Spellings::new(&names.values, &names.texts);
        each_value(graph, &mut |value| f(spellings.spell(value), value));
    };
    Cut { outputs, inputs: Vec::new() }.ends(at, each, |name| inside(names, graph, name)).map(drop)
}

/// Calls a function with each value of a graph, without those of graphs in its nodes.
fn each_value(graph: &GraphProto, f: &mut dyn FnMut(NameId)) {
    let inputs = graph.inputs.iter().filter_map(|input| input.name);
    let constants = graph.initializers.iter().filter_map(|constant| constant.name);
    let results = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied());
    inputs.chain(constants).chain(results).filter(|name| *name != NameId::ROOT).for_each(f);
}

/// The help for a name that a graph inside a node has.
fn inside(names: &ModelNames, graph: &GraphProto, name: &str) -> Option<String> {
    let mut of = None;
    for node in graph.nodes.iter().filter(|node| node.has_graphs()) {
        let mut visit = |inner: &NodeProto| {
            if inner.outputs.iter().any(|output| names.spelled(*output) == name) {
                of = of.or(Some(node.op_type));
            }
        };
        node.attributes.iter().for_each(|attribute| {
            each_graph(&attribute.value, &mut |graph| each_node(&graph.nodes, &mut visit));
        });
    }
    let operator = of?.map_or("", |operator| names.texts.text(operator));
    Some(format!("it is in a graph of a node `{operator}`; only tensors of the graph of the model can be its ends"))
}

/// The declarations of the ends of a part.
struct PartEnds<'m> {
    names: &'m mut ModelNames,
    types: &'m GraphTypes,
    at: Location,
    found: Diagnostics,
}

impl PartEnds<'_> {
    /// The declaration of a value, with what inference knows of its type.
    fn declared(&mut self, name: NameId, known: [&[ValueInfo]; 3]) -> ValueInfo {
        let known = known.into_iter().flatten().find(|value| value.name == Some(name));
        let mut value = known.cloned().unwrap_or(ValueInfo { name: Some(name), ty: None, rest: None });
        complete(&mut self.names.texts, &mut value, self.types);
        if value.ty.is_none() {
            let message =
                format!("the type of `{}`, which is to be an end of the part, is not known", self.names.spelled(name));
            self.found.report(Diagnostic::new(Code::OptionTensor, self.at, message));
        }
        value
    }
}

/// Gives other names to results that are new inputs, of nodes with other results that are needed.
fn rename_results(names: &mut ModelNames, graph: &mut GraphProto, new: &FxHashSet<NameId>) {
    let results = graph.nodes.iter_mut().flat_map(|node| &mut node.outputs);
    let mut renamed = false;
    for output in results.filter(|output| new.contains(output)) {
        *output = names.values.sibling(*output);
        names.values.mark_used(*output);
        renamed = true;
    }
    if renamed {
        names.values.resolve(&names.texts, &Default::default());
    }
}
