//! Another version of the operator set for a whole model.

use rustc_hash::FxHashSet;

use super::super::{memory, raise};
use super::freed;
use super::pass::{self, Unsaid};
use crate::diagnostics::Code;
use crate::live::Held;
use crate::onnx::functions::NodeFinding;
use crate::onnx::infer::{InferGoal, infer_functions};
use crate::onnx::inline::lower_standard;
use crate::onnx::model::{Fields, ModelNames, ModelProto, OperatorSet};
use crate::onnx::protobuf::fields::model as model_fields;
use crate::onnx::schema::{Schemas, format_of};
use crate::onnx::standard::names_body;
use crate::{Lower, Options};

/// Writes a model for another version of the standard operator set: its graph, the graphs inside it, and its functions.
///
/// # Errors
///
/// All nodes that the other version cannot express.
pub(in crate::onnx) fn convert(model: &mut ModelProto, target: i64, options: &Options) -> Result<(), Vec<NodeFinding>> {
    let found = unfit(model);
    if !found.is_empty() {
        return Err(found);
    }
    let mut lowered: FxHashSet<String> = FxHashSet::default();
    // Each round replaces operators by their bodies that no round before has, of which there are some dozens.
    loop {
        // The model is there twice meanwhile.
        let held = Held::of(memory(model));
        let types = infer_functions(model, options, usize::MAX, InferGoal::All);
        let mut converted = model.clone();
        let used = freed::used(model);
        let unsaid = pass::convert(&mut converted, &types, target);
        if unsaid.is_empty() {
            freed::remove(&mut converted, &used);
            *model = converted;
            break;
        }
        drop((converted, held));
        let with_bodies: Vec<String> = unsaid.iter().map(|unsaid| unsaid.operator.clone()).collect();
        let new: Vec<String> =
            with_bodies.into_iter().filter(|name| names_body(name) && lowered.insert(name.clone())).collect();
        if new.is_empty() {
            return Err(unsaid.into_iter().map(|Unsaid { found, .. }| found).collect());
        }
        let names = lowered.iter().map(|name| format!("{STANDARD}.{name}")).collect();
        let options = options.clone().with(|options| (options.lower, options.keep) = (Lower::Names(names), Vec::new()));
        lower_standard(model, &options)?;
    }
    set_versions(model, target);
    Ok(())
}

/// The standard domain, as options write it.
const STANDARD: &str = "ai.onnx";

fn is_standard(names: &ModelNames, set: &OperatorSet) -> bool {
    set.domain.is_none_or(|domain| matches!(names.texts.text(domain), "" | STANDARD))
}

/// What keeps a model from being written for any other version.
fn unfit(model: &ModelProto) -> Vec<NodeFinding> {
    let latest = Schemas::new().latest("");
    let imports = model.opsets.iter().chain(model.functions.iter().flat_map(|function| &function.opsets));
    let mut standard = imports.filter(|set| is_standard(&model.names, set));
    let mut found = Vec::new();
    if let Some(later) = standard.find_map(|set| set.version.filter(|version| *version > latest)) {
        let message =
            format!("the model is of version {later} of the operator set, of which the last one known is {latest}");
        found.push(NodeFinding::new(Code::OnnxInexpressible, 0, message));
    }
    if model.rest.iter().flat_map(|fields| fields.iter()).any(|field| field.number == model_fields::TRAINING) {
        let message =
            "the nodes of the training information of the model are not written for another version".to_owned();
        found.push(NodeFinding::new(Code::OnnxInexpressible, 0, message));
    }
    found
}

/// Sets the imported version, and raises that of the format.
fn set_versions(model: &mut ModelProto, target: i64) {
    let ModelProto { names, opsets, functions, ir_version, .. } = model;
    // Models of format 1 and 2 have no imports.
    let mut has_import = opsets.is_empty();
    if has_import {
        let domain = Some(names.standard_domain());
        opsets.push(OperatorSet { domain, version: Some(target), rest: Fields::None });
    }
    for opsets in std::iter::once(opsets).chain(functions.iter_mut().map(|function| &mut function.opsets)) {
        for set in opsets.iter_mut().filter(|set| is_standard(names, set)) {
            set.version = Some(target);
            has_import = true;
        }
    }
    if has_import {
        *ir_version = (*ir_version).max(Some(format_of(target)));
    }
    raise(model);
}
