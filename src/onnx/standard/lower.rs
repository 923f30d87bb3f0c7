//! Expands standard operators until none is left that the options select.

use rustc_hash::{FxHashMap, FxHashSet};

use super::body_table::BodyTable;
use super::microsoft;
use super::plan::BodyPlan;
use super::selection::Selection;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::{FunctionKey, NodeFinding};
use crate::onnx::inline::expand_bodies;
use crate::onnx::model::{ExpandedCall, ModelNames, ModelProto, NodeProto};
use crate::onnx::schema::MICROSOFT_DOMAIN;
use crate::onnx::walk::{each_node_mut, each_node_of_model};
use crate::{Lower, Options};

/// The deepest nesting of bodies: each round expands one level of them, and none contains its own operator.
const MAX_ROUNDS: usize = 16;

/// Expands the standard operators that the options select and that have bodies. `wanted` are the names in the options
/// that must have something to expand. Returns warnings about operators that stay.
///
/// # Errors
///
/// There are more nodes than the options allow, or a name has nothing to expand.
pub(crate) fn lower(
    model: &mut ModelProto,
    options: &Options,
    wanted: &[String],
) -> Result<Vec<NodeFinding>, Vec<NodeFinding>> {
    if matches!(options.lower, Lower::Custom | Lower::None) {
        return Ok(Vec::new());
    }
    let first = model.calls.len();
    let mut lowered = FxHashSet::default();
    let mut blocked = FxHashMap::default();
    let mut selection = Selection::new(&model.names, &model.functions, BodyTable::Functions, options);
    for _ in 0..MAX_ROUNDS {
        let plan = BodyPlan::for_model(model, &mut selection).map_err(|found| vec![*found])?;
        let Some(plan) = plan else {
            blocked.clear();
            break;
        };
        lowered.extend(plan.found.lowered);
        blocked = plan.found.blocked;
        if plan.functions.is_empty() {
            break;
        }
        expand_bodies(model, plan.functions, options)?;
        // What is not known in this round may be known once the bodies are there.
        if !plan.nested && blocked.is_empty() {
            break;
        }
    }
    place_calls(model, first);
    if lowered.iter().any(|key: &FunctionKey| key.domain(&model.names) == MICROSOFT_DOMAIN) {
        microsoft::forget_import(model);
    }
    let found = unexpanded(&model.names, wanted, &lowered, &blocked);
    if !found.is_empty() {
        return Err(found);
    }
    let mut stay: Vec<_> = blocked.iter().map(|(key, reason)| (key.describe(&model.names), *reason)).collect();
    stay.sort_unstable();
    let warning = |(name, reason): (String, &str)| {
        NodeFinding::new(Code::OperatorStays, 0, format!("`{name}` is not expanded: {reason}"))
    };
    let without = microsoft::without_bodies(model, options);
    Ok(stay.into_iter().chain(without).map(warning).collect())
}

/// Replaces recurrent layers by their steps, if loops are unrolled and their lengths are known. Returns whether there were
/// any.
///
/// # Errors
///
/// There are more nodes than the options allow.
pub(crate) fn unroll(model: &mut ModelProto, options: &Options) -> Result<bool, Vec<NodeFinding>> {
    let first = model.calls.len();
    if !options.unroll || !has_recurrent(&model.names) {
        return Ok(false);
    }
    let mut selection = Selection::new(&model.names, &model.functions, BodyTable::Steps, options);
    let plan = BodyPlan::for_model(model, &mut selection).map_err(|found| vec![*found])?;
    let Some(plan) = plan else { return Ok(false) };
    let found = !plan.functions.is_empty();
    if found {
        expand_bodies(model, plan.functions, options)?;
        place_calls(model, first);
    }
    Ok(found)
}

/// The recurrent layers of a model that loops are unrolled in, or that has to be flat: they stay.
pub(crate) fn recurrent(model: &mut ModelProto, options: &Options) -> Vec<NodeFinding> {
    if !(options.unroll || options.flat) || !has_recurrent(&model.names) {
        return Vec::new();
    }
    let reason = match options.unroll {
        true => "its length, the other extents, or its attributes are not known",
        false => "its steps are expanded only with --unroll",
    };
    let mut kept = Vec::new();
    let mut visit = |node: &NodeProto| {
        let (domain, operator) = model.names.operator(node);
        if BodyTable::Steps.needs(domain, operator).is_some() {
            let name = node.outputs.iter().find(|output| **output != NameId::ROOT).copied();
            kept.push((operator.to_owned(), name, node.at));
        }
    };
    each_node_of_model(model, &mut visit);
    let names = &mut model.names;
    if !kept.is_empty() {
        names.values.resolve(&names.texts, &Default::default());
    }
    let finding = |(operator, name, at): (String, Option<NameId>, u32)| {
        let text = name.map(|name| names.spelled(name)).filter(|text| !text.is_empty());
        let what = text.map_or(String::new(), |text| format!(" of `{text}`"));
        NodeFinding::new(Code::LoopKept, at, format!("the `{operator}`{what} is kept: {reason}"))
    };
    kept.into_iter().map(finding).collect()
}

/// Whether a model may have recurrent layers.
fn has_recurrent(names: &ModelNames) -> bool {
    BodyTable::Steps.names().any(|operator| names.texts.get(operator).is_some())
}

/// The names that have nothing to expand.
fn unexpanded(
    names: &ModelNames,
    wanted: &[String],
    lowered: &FxHashSet<FunctionKey>,
    blocked: &FxHashMap<FunctionKey, &str>,
) -> Vec<NodeFinding> {
    let finding = |name: &String| {
        let reason = blocked.iter().find(|(key, _)| key.is(names, name)).map(|(_, reason)| *reason);
        let reason = reason.unwrap_or("the model has no node of it, or its operator set is older than the body");
        NodeFinding::new(Code::OptionPrimitive, 0, format!("`{name}` is not expanded: {reason}"))
    };
    wanted.iter().filter(|name| !lowered.iter().any(|key| key.is(names, name))).map(finding).collect()
}

/// Bodies have no place in the file: their nodes have that of the call.
fn place_calls(model: &mut ModelProto, first: usize) {
    for i in first..model.calls.len() {
        let parent = model.calls.get(model.calls[i].parent.0 as usize).copied();
        if let Some(ExpandedCall { at, .. }) = parent.filter(|_| model.calls[i].parent.0 as usize >= first) {
            model.calls[i].at = at;
        }
    }
    let calls = &model.calls;
    let mut place = |node: &mut NodeProto| {
        let origin = node.origin.0 as usize;
        if let Some(call) = calls.get(origin).filter(|_| origin >= first) {
            node.at = call.at;
        }
    };
    let graphs = model.graph.iter_mut().map(|graph| &mut graph.nodes);
    graphs.chain(model.functions.iter_mut().map(|function| &mut function.nodes)).for_each(|nodes| {
        each_node_mut(nodes, &mut place);
    });
}
