//! The checks: of a whole model, of its structure, and of its external data.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::checker::{Check, Pass};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::graph::names::NameId;
use crate::onnx::external::{self, Finding};
use crate::onnx::functions::{Functions, NodeFinding};
use crate::onnx::infer::{Contradiction, Mistaken, infer_checked, infer_told, sources};
use crate::onnx::model::{ModelNames, ModelProto};
use crate::onnx::places::{PlacedModel, Places};
use crate::onnx::protobuf::EncodedPart;
use crate::source::FileId;

/// Checks a model.
pub(crate) fn check(model: &ModelProto, file: FileId, places: &Places, options: &Options) -> Diagnostics {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::All, options);
    check.diagnostics
}

/// Reports nodes of a sound model whose operands have shapes that do not go together, and values that are not as they are
/// declared. In a graph of a node that may not run this is a warning.
pub(crate) fn shapes(
    model: &ModelProto,
    PlacedModel { file, places }: PlacedModel,
    options: &Options,
    found: &mut Diagnostics,
) {
    let mut told = FxHashSet::default();
    let functions = Functions::of_calls(&model.names, &model.functions);
    for contradiction in contradictions(model, options) {
        // A call repeats what is wrong in a function for all calls.
        if told.insert((contradiction.at, contradiction.message.clone())) {
            finding(model, &functions, contradiction).report(file, places, found);
        }
    }
}

/// What contradicts itself in a model. A wrong declaration is told once, and not what follows from it. Programs run a model
/// whose declared shapes contradict only what computing items of tensors tells.
fn contradictions(model: &ModelProto, options: &Options) -> Vec<Contradiction> {
    let all = |mistaken| infer_checked(model, options, mistaken).contradictions;
    let found = all(FxHashSet::default());
    if found.iter().all(|each| each.value.is_none()) {
        return found;
    }
    let told = infer_told(model, options).contradictions;
    let told: FxHashSet<Mistaken> = told.iter().filter_map(|each| Some((each.at, each.value?))).collect();
    let mut found = if told.is_empty() { found } else { all(told.clone()) };
    for each in &mut found {
        if each.code == Code::OnnxDeclared && each.value.is_none_or(|value| !told.contains(&(each.at, value))) {
            each.code = Code::OnnxComputed;
        }
    }
    found
}

/// What is reported about a contradiction.
fn finding(model: &ModelProto, functions: &Functions, found: Contradiction) -> NodeFinding {
    let Contradiction { code, at, message, calls, deciding, .. } = found;
    let described = |function: usize| functions.keys[function].describe(&model.names);
    let calls = calls.into_iter().rev().map(|(function, at)| (described(function), at)).collect();
    let Some(deciding) = deciding else { return NodeFinding::new(code, at, message).within(calls) };
    let inputs: Vec<NameId> =
        model.graph.iter().flat_map(|graph| &graph.inputs).filter_map(|input| input.name).collect();
    let nodes = model.graph.as_ref().map_or(&[][..], |graph| &graph.nodes);
    let named = sources(nodes, &inputs, &deciding).into_iter().map(|at| model.names.spelled(inputs[at]));
    let finding = NodeFinding::new(Code::OnnxMisfit, at, format!("if this graph runs, it fails: {message}"));
    finding.deciding(&named.collect::<Vec<_>>()).within(calls)
}

/// Checks what a model must have in order that it can be expanded: values that are defined before they are used and
/// only once, operands as many as there may be, and calls that fit the functions. Returns warnings, and the functions by
/// their calls.
///
/// # Errors
///
/// The model is broken.
pub(in crate::onnx) fn structure(
    model: &ModelProto,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<(Diagnostics, Functions), Diagnostics> {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::Structure, options);
    let (found, functions) = (check.diagnostics, check.functions);
    if found.has_errors() { Err(found) } else { Ok((found, functions)) }
}

/// Checks the external data of a model or of a part of one, and their files if the folder of the model is known.
///
/// # Errors
///
/// The tensors whose data are not there.
pub(crate) fn external_data(
    names: &ModelNames,
    part: EncodedPart,
    file: FileId,
    places: &Places,
    folder: Option<&Path>,
    options: &Options,
) -> Result<(), Diagnostics> {
    let findings = external::findings(external::stored(names, part), folder);
    if findings.is_empty() {
        return Ok(());
    }
    let mut check = Check::new(names, file, places, options);
    for Finding { code, path, at, message } in findings {
        check.path = path;
        check.report(code, at, message, None);
    }
    Err(check.diagnostics)
}
