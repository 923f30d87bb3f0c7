//! The expansion of a model.

use super::copy::Expansion;
use super::defaults::{self, GivenTwice};
use super::finding::NodeFinding;
use super::functions::{Callee, Functions};
use super::{named, training};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::model::{FunctionProto, ModelProto};
use crate::onnx::places::Places;
use crate::source::FileId;

/// Expands the function calls in a model that the options select, and known control flow. Returns warnings about
/// control flow that was to be expanded but cannot be.
///
/// # Errors
///
/// Functions or, if a flat model is required, loops cannot be expanded, there are more nodes than the options allow, or
/// the options name unknown operations.
pub(crate) fn expand(
    model: &mut ModelProto,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<Diagnostics, Diagnostics> {
    let unknown = named::check(model, options);
    let functions = std::mem::take(&mut model.functions);
    let expanded = Functions::new(&model.names, &functions, options)
        .and_then(|table| expand_all(model, &functions, &table, options).map_err(|found| vec![*found]));
    let mut diagnostics = Diagnostics::new(options.strict);
    let (found, accepted) = match expanded {
        Ok(stays) => (stays, !options.flat),
        Err(found) => (found, false),
    };
    let accepted = (accepted || found.is_empty()) && unknown.is_empty();
    for mut found in unknown.into_iter().chain(found) {
        if options.flat && found.code == Code::LoopKept {
            found.code = Code::LoopNotFlat;
        }
        found.report(file, places, &mut diagnostics);
    }
    if accepted { Ok(diagnostics) } else { Err(diagnostics) }
}

/// Expands everything, and returns the control flow nodes that could not be expanded.
fn expand_all(
    model: &mut ModelProto,
    functions: &[FunctionProto],
    table: &Functions,
    options: &Options,
) -> Result<Vec<NodeFinding>, Box<NodeFinding>> {
    let in_training = training::called(&model.names, table, &model.rest);
    let stays = |i: usize| !table.expanded[i] || in_training[i];
    let kept_nodes = functions.iter().enumerate().filter(|(i, _)| stays(*i)).map(|(_, function)| &function.nodes[..]);
    let roots = model.graph.iter().map(|graph| &graph.nodes[..]).chain(kept_nodes);
    let copies = table.copies(&model.names, functions, roots);
    let names = &model.names;
    let callee = |(function, copies): (&FunctionProto, u64)| Callee::new(names, function, copies);
    let callees: Vec<Callee> = functions.iter().zip(copies).map(callee).collect();
    let mut expansion = Expansion::new(&mut model.names, (functions, &callees), table, options);
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
    let (calls, stays) = expansion.into_results();
    (model.calls, model.functions) = (calls, kept);
    if !twice.is_empty() {
        defaults::give_twice(model, &twice, |names, node| table.called(names, node).ok().flatten());
    }
    let names = &mut model.names;
    names.values.resolve(&names.texts, &Default::default());
    Ok(stays)
}
