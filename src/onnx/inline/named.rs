//! Names in the options: checks that the named operations exist, and that those to be expanded can be.

use std::collections::BTreeSet;

use super::finding::NodeFinding;
use super::functions::{FunctionKey, Functions, each_node};
use super::opsets::Imports;
use crate::Lower;
use crate::diagnostics::{Code, suggest};
use crate::onnx::model::{FunctionProto, ModelProto, NodeProto, OperatorSet};
use crate::onnx::schema::Schemas;
use crate::options::{LEVELS, Options};

/// The number of operators that a message lists.
const LISTED: usize = 8;

/// The names in the options that are neither functions of a model, nor operators of the standard, nor called in the
/// model; those that are both to be expanded and to be kept; and operators that are to be expanded, but cannot be.
pub(super) fn check(model: &ModelProto, options: &Options) -> Vec<NodeFinding> {
    let mut found: Vec<NodeFinding> =
        options.conflicts().map(|message| NodeFinding::new(Code::OptionConflict, 0, message)).collect();
    if options.lower == Lower::All {
        found.extend(unexpanded(model, options));
    }
    let names = &model.names;
    let declared =
        |name: &str| model.functions.iter().any(|function| FunctionKey::of_function(names, function).is(names, name));
    let mut others = options.named().filter(|name| !declared(name)).peekable();
    if others.peek().is_none() {
        return found;
    }
    let known = known(model);
    for name in others {
        if !known.contains(name) {
            let help = suggest::did_you_mean(name, known.iter().map(String::as_str).chain(LEVELS));
            found.push(NodeFinding { help, ..NodeFinding::new(Code::OptionOperation, 0, Options::unknown(name)) });
        } else if options.lowered().iter().any(|lowered| lowered == name) {
            let message = format!("`{name}` is not expanded: it is not a function of the model");
            found.push(NodeFinding::new(Code::OptionPrimitive, 0, message).help(NOT_YET));
        }
    }
    found
}

/// Why an operator cannot be expanded.
const NOT_YET: &str = "operators of the standard are kept, including those that it defines as functions";

/// The operators of a model that the standard defines as functions, unless they are kept.
fn unexpanded(model: &ModelProto, options: &Options) -> Option<NodeFinding> {
    let names = &model.names;
    let schemas = Schemas::new();
    let mut found: BTreeSet<String> = BTreeSet::new();
    let table = Functions::new(names, &model.functions, options).unwrap_or_default();
    let mut search = |nodes: &[NodeProto], opsets: &[OperatorSet]| {
        let imports = Imports::new(names, opsets);
        each_node(nodes, &mut |node| {
            let key = FunctionKey::of_node(names, node);
            let version = imports.version(names, node.domain).unwrap_or(i64::MAX);
            let is_own = !matches!(table.called(names, node), Ok(None));
            if !is_own
                && schemas.is_function(key.domain(names), key.name(names), version)
                && !options.keep.iter().any(|kept| key.is(names, kept))
            {
                found.insert(key.describe(names));
            }
        });
    };
    model.graph.iter().for_each(|graph| search(&graph.nodes, &model.opsets));
    model.functions.iter().for_each(|function| search(&function.nodes, &function.opsets));
    if found.is_empty() {
        return None;
    }
    let listed: Vec<String> = found.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if found.len() > LISTED { ", …" } else { "" };
    let message = format!("--lower all does not expand operators of the standard: {}{more}", listed.join(", "));
    Some(
        NodeFinding::new(Code::OptionPrimitive, 0, message)
            .help("without the option, the functions of the model are expanded"),
    )
}

/// The names of all functions, of the operators that are called, and of those of the standard.
fn known(model: &ModelProto) -> BTreeSet<String> {
    let names = &model.names;
    let mut known: BTreeSet<String> = Schemas::new().all_operators().map(str::to_owned).collect();
    let mut add = |key: FunctionKey| known.extend([key.name(names).to_owned(), key.describe(names)]);
    model.functions.iter().for_each(|function: &FunctionProto| add(FunctionKey::of_function(names, function)));
    let mut called = |node: &NodeProto| add(FunctionKey::of_node(names, node));
    for nodes in model.graph.iter().map(|graph| &graph.nodes).chain(model.functions.iter().map(|of| &of.nodes)) {
        each_node(nodes, &mut called);
    }
    known
}
