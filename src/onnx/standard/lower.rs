//! Expands standard operators until none is left that the options select.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::plan::{Found, Plan};
use crate::Options;
use crate::diagnostics::Code;
use crate::onnx::infer::infer;
use crate::onnx::inline::{FunctionKey, NodeFinding, each_node_mut, expand_bodies};
use crate::onnx::model::{ExpandedCall, ModelProto, NodeProto};

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
    let first = model.calls.len();
    let mut lowered: FxHashSet<FunctionKey> = FxHashSet::default();
    let mut blocked = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let Plan { functions, found: Found { lowered: now, blocked: stay, .. }, .. } =
            Plan::of(model, &infer(model, options), options).map_err(|found| vec![*found])?;
        lowered.extend(now);
        blocked = stay;
        if functions.is_empty() {
            break;
        }
        expand_bodies(model, functions, options)?;
    }
    place_calls(model, first);
    let names = &model.names;
    let mut found = Vec::new();
    for name in wanted.iter().filter(|name| !lowered.iter().any(|key| key.is(names, name))) {
        let message = format!("`{name}` is not expanded: no node of the model is one that has a function body");
        let finding = NodeFinding::new(Code::OptionPrimitive, 0, message);
        let reason = if blocked.iter().any(|key| key.ends_with(name.as_str())) { Some(UNKNOWN) } else { None };
        found.push(match reason {
            Some(reason) => finding.help(reason),
            None => finding,
        });
    }
    if !found.is_empty() {
        return Err(found);
    }
    let stays = |name: String| {
        let message = format!("`{name}` is not expanded");
        NodeFinding::new(Code::OperatorStays, 0, message).help(UNKNOWN)
    };
    Ok(blocked.into_iter().map(stays).collect())
}

/// Why a body cannot be made.
const UNKNOWN: &str = "its function body depends on types, shapes or attributes that are not known here";

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
