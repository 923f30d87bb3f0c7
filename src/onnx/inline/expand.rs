//! The expansion of a model.

use rustc_hash::FxHashSet;

use super::callee::Callee;
use super::control::has_control;
use super::copy::{Expand, Expansion};
use super::defaults::{self, GivenTwice};
use super::{annotations, named, shardings, training};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::functions::NameMarks;
use crate::onnx::functions::NodeFinding;
use crate::onnx::functions::{FunctionKey, Functions};
use crate::onnx::model::{FunctionProto, ModelProto};
use crate::onnx::places::{PlacedModel, Places};
use crate::onnx::standard;
use crate::onnx::walk::{each_graph, each_node, each_node_mut};
use crate::source::FileId;

/// Expands the function calls in a model that the options select, and known control flow; `table` has its functions.
/// Returns warnings about control flow that was to be expanded but cannot be.
///
/// # Errors
///
/// Functions or, if a flat model is required, loops cannot be expanded, there are more nodes than the options allow, or
/// the options name unknown operations.
pub(crate) fn expand(
    model: &mut ModelProto,
    table: Functions,
    PlacedModel { file, places }: PlacedModel,
    options: &Options,
) -> Result<Diagnostics, Diagnostics> {
    let names_values = names_values(model);
    let (unknown, wanted) = named::check(model, options);
    let kept = if unknown.is_empty() { named::kept(model, options) } else { Vec::new() };
    let functions = std::mem::take(&mut model.functions);
    let expanded = expand_all(model, &functions, &table, true, options).map_err(|found| vec![*found]);
    let expanded = expanded.and_then(|(stays, _)| unrolled(model, stays, options));
    let mut diagnostics = Diagnostics::of(options.policy());
    let (mut found, mut accepted) = match expanded {
        Ok((stays, _)) => (stays, !options.flat),
        Err(found) => (found, false),
    };
    accepted = (accepted || found.is_empty()) && unknown.is_empty();
    if accepted {
        match standard::lower(model, options, &wanted) {
            Ok(stays) => found.extend(stays),
            Err(errors) => (found, accepted) = (errors, false),
        }
    }
    settle_names(model, names_values);
    report(unknown.into_iter().chain(kept).chain(found), file, places, options, &mut diagnostics);
    if accepted { Ok(diagnostics) } else { Err(diagnostics) }
}

/// Expands known control flow in an expanded model. Returns warnings about control flow that was to be expanded but cannot
/// be, and whether anything was expanded.
///
/// # Errors
///
/// There are more nodes than the options allow, or a flat model is required, and loops cannot be expanded.
pub(in crate::onnx) fn expand_control(
    model: &mut ModelProto,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<(Diagnostics, bool), Diagnostics> {
    let names = model.names.values.len();
    let expanded = match has_control(&model.names) {
        true => {
            let functions = std::mem::take(&mut model.functions);
            Functions::expanding(&model.names, &functions, |_| false)
                .and_then(|table| expand_all(model, &functions, &table, true, options).map_err(|found| vec![*found]))
        }
        false => Ok((Vec::new(), false)),
    };
    let expanded = expanded.and_then(|(stays, expanded)| {
        let (stays, unrolled) = unrolled(model, stays, options)?;
        Ok((stays, expanded || unrolled))
    });
    // Copies have names of their own, also those of branches and trips, which are no calls.
    if model.names.values.len() != names {
        let names_values = names_values(model);
        settle_names(model, names_values);
    }
    let mut diagnostics = Diagnostics::of(options.policy());
    let (found, accepted, expanded) = match expanded {
        Ok((stays, expanded)) => (stays, !options.flat, expanded),
        Err(found) => (found, false, false),
    };
    let accepted = accepted || found.is_empty();
    report(found, file, places, options, &mut diagnostics);
    if accepted { Ok((diagnostics, expanded)) } else { Err(diagnostics) }
}

/// Replaces the standard operators that the options select by their bodies, as far as that is known to be possible.
///
/// # Errors
///
/// There are more nodes than the options allow.
pub(in crate::onnx) fn lower_standard(model: &mut ModelProto, options: &Options) -> Result<(), Vec<NodeFinding>> {
    let names_values = names_values(model);
    standard::lower(model, options, &[])?;
    settle_names(model, names_values);
    Ok(())
}

/// Whether nodes or graphs of a model have further fields, which may name values.
fn names_values(model: &ModelProto) -> bool {
    let nodes = model.graph.iter().map(|graph| &graph.nodes[..]);
    let mut found = false;
    for nodes in nodes.chain(model.functions.iter().map(|function| &function.nodes[..])) {
        each_node(nodes, &mut |node| {
            found |= node.rest.is_some();
            for attribute in &node.attributes {
                each_graph(&attribute.value, &mut |graph| found |= graph.rest.is_some());
            }
        });
    }
    found
}

/// Makes the names of copies distinct, after nodes were copied. If further fields name values, they get those names.
fn settle_names(model: &mut ModelProto, names_values: bool) {
    let names = &mut model.names;
    names.values.resolve(&names.texts, &Default::default());
    if !names_values {
        return;
    }
    let ModelProto { names, graph, functions, .. } = model;
    let graphs = graph.iter_mut().map(|graph| &mut graph.nodes);
    for nodes in graphs.chain(functions.iter_mut().map(|function| &mut function.nodes)) {
        each_node_mut(nodes, &mut |node| {
            shardings::settle(names, node);
            annotations::settle(names, node);
        });
    }
}

/// Replaces recurrent layers by their steps where that is possible. Adds those that stay to the control flow that stays,
/// and returns whether any was replaced.
///
/// # Errors
///
/// There are more nodes than the options allow.
fn unrolled(
    model: &mut ModelProto,
    mut stays: Vec<NodeFinding>,
    options: &Options,
) -> Result<(Vec<NodeFinding>, bool), Vec<NodeFinding>> {
    let unrolled = standard::unroll(model, options)?;
    stays.extend(standard::recurrent(model, options));
    Ok((stays, unrolled))
}

/// Reports what is wrong with nodes; loops that stay are errors if a flat model is required.
fn report(
    found: impl IntoIterator<Item = NodeFinding>,
    file: FileId,
    places: &Places,
    options: &Options,
    diagnostics: &mut Diagnostics,
) {
    for mut found in found {
        if options.flat && found.code == Code::LoopKept {
            found.code = Code::LoopNotFlat;
        }
        found.report(file, places, diagnostics);
    }
}

/// Replaces calls by bodies of standard operators, after the functions of the model were expanded.
///
/// # Errors
///
/// There are more nodes than the options allow.
pub(in crate::onnx) fn expand_bodies(
    model: &mut ModelProto,
    bodies: Vec<FunctionProto>,
    options: &Options,
) -> Result<(), Vec<NodeFinding>> {
    let mut functions = std::mem::take(&mut model.functions);
    let bodies_from = functions.len();
    functions.extend(bodies);
    let keys: FxHashSet<FunctionKey> =
        functions[bodies_from..].iter().map(|body| FunctionKey::of_function(&model.names, body)).collect();
    let table = Functions::expanding(&model.names, &functions, |key| keys.contains(&key))?;
    expand_all(model, &functions, &table, false, options).map(drop).map_err(|found| vec![*found])
}

/// Expands the selected calls and, if that is wanted, known control flow. Returns the control flow nodes that could not be
/// expanded, and whether any was.
fn expand_all(
    model: &mut ModelProto,
    functions: &[FunctionProto],
    table: &Functions,
    follows_control: bool,
    options: &Options,
) -> Expand<(Vec<NodeFinding>, bool)> {
    let in_training = training::called(&model.names, table, &model.rest);
    let stays = |i: usize| !table.expanded[i] || in_training[i];
    let kept_nodes = functions.iter().enumerate().filter(|(i, _)| stays(*i)).map(|(_, function)| &function.nodes[..]);
    let roots = model.graph.iter().map(|graph| &graph.nodes[..]).chain(kept_nodes);
    let copies = table.copies(&model.names, roots);
    let names = &model.names;
    let mut marks = NameMarks::default();
    let callee = |(function, copies): (&FunctionProto, u64)| Callee::new(names, function, copies, &mut marks);
    let callees: Vec<Callee> = functions.iter().zip(copies).map(callee).collect();
    let earlier = std::mem::take(&mut model.calls);
    let mut expansion =
        Expansion::new(&mut model.names, functions, &callees, table, options).after(earlier, follows_control);
    if let Some(graph) = &mut model.graph {
        expansion.graph(graph, &mut model.opsets)?;
    }
    let (mut kept, mut twice): (Vec<FunctionProto>, _) = (Vec::new(), GivenTwice::default());
    for (i, function) in functions.iter().enumerate().filter(|(i, _)| stays(*i)) {
        let mut function = function.clone();
        expansion.function(i, &mut function, &mut twice)?;
        if in_training[i] && twice.contains_key(&i) {
            let message = "training information calls this function, and those calls would require another attribute";
            let found = NodeFinding::new(Code::OnnxReference, function.at, message.to_owned());
            return Err(Box::new(found.help("expand all functions, or keep those that it calls")));
        }
        kept.push(function);
    }
    let (calls, stays, expanded) = expansion.into_results();
    (model.calls, model.functions) = (calls, kept);
    if !twice.is_empty() {
        defaults::give_twice(model, &twice, |names, node| table.called(names, node).ok().flatten());
    }
    Ok((stays, expanded))
}
