//! Names in the options: checks that the named operations exist, and that those to be expanded can be.

use std::collections::BTreeSet;

use crate::diagnostics::{Code, suggest};
use crate::onnx::functions::{EACH, FunctionKey, NodeFinding};
use crate::onnx::model::ModelProto;
use crate::onnx::schema::Schemas;
use crate::onnx::standard;
use crate::onnx::walk::each_node_of_model;
use crate::options::{LEVELS, Lower, Options};

/// The names in the options that are neither functions of a model, nor operators of the standard, nor called in the
/// model; those that are both to be expanded and to be kept; and operators that are to be expanded, but cannot be.
/// Also returns the names of standard operators that must have something to expand.
pub(super) fn check(model: &ModelProto, options: &Options) -> (Vec<NodeFinding>, Vec<String>) {
    let mut found: Vec<NodeFinding> =
        options.conflicts().map(|message| NodeFinding::new(Code::OptionConflict, 0, message)).collect();
    let mut wanted = Vec::new();
    let names = &model.names;
    let declared =
        |name: &str| model.functions.iter().any(|function| FunctionKey::of_function(names, function).is(names, name));
    let mut others = options.named().filter(|name| !declared(name)).peekable();
    if others.peek().is_none() {
        return (found, wanted);
    }
    let (known, domains) = (known(model), domains(model));
    let each = |domain: &str| format!("{domain}.{EACH}");
    for name in others {
        let domain = name.strip_suffix(EACH).and_then(|name| name.strip_suffix('.'));
        if domain.is_some_and(|domain| domains.contains(domain)) {
            continue;
        }
        let short = name.strip_prefix(STANDARD).unwrap_or(name);
        if !known.contains(name) && !known.contains(short) {
            let of_domain = || format!("`{}` stands for all operators of the domain", each(name));
            let all: Vec<String> = domains.iter().map(|domain| each(domain)).collect();
            let texts = || known.iter().chain(&all).map(String::as_str).chain(LEVELS);
            let help = domains.contains(name).then(of_domain).or_else(|| suggest::did_you_mean(name, texts()));
            found.push(NodeFinding { help, ..NodeFinding::new(Code::OptionOperation, 0, Options::unknown(name)) });
            continue;
        }
        if !options.lowered().iter().any(|lowered| lowered == name) {
            continue;
        }
        if standard::names_body(name) {
            wanted.push(name.to_owned());
        } else {
            let what = "neither a function of the model nor an operator that the standard defines as one";
            let message = format!("`{name}` is not expanded: it is {what}");
            found.push(NodeFinding::new(Code::OptionPrimitive, 0, message));
        }
    }
    (found, wanted)
}

/// Warnings about operations that are to be kept, and that the model does not have. Bodies of expanded operators may.
pub(super) fn kept(model: &ModelProto, options: &Options) -> Vec<NodeFinding> {
    if options.keep.is_empty() || options.lower != Lower::Custom {
        return Vec::new();
    }
    let names = &model.names;
    let mut absent: Vec<&String> = options.keep.iter().collect();
    each_node_of_model(model, &mut |node| absent.retain(|name| !FunctionKey::of_node(names, node).is(names, name)));
    let declared =
        |name: &str| model.functions.iter().any(|function| FunctionKey::of_function(names, function).is(names, name));
    let absent = absent.into_iter().filter(|name| !declared(name));
    let warning = |name| format!("the options keep `{name}`, which the model does not call");
    absent.map(|name| NodeFinding::new(Code::OptionKept, 0, warning(name))).collect()
}

/// The prefix that options may use for operators of the standard domain.
const STANDARD: &str = "ai.onnx.";

/// Visits the keys of all functions of a model, and of all that it calls.
fn each_key(model: &ModelProto, visit: &mut dyn FnMut(FunctionKey)) {
    let names = &model.names;
    model.functions.iter().for_each(|function| visit(FunctionKey::of_function(names, function)));
    each_node_of_model(model, &mut |node| visit(FunctionKey::of_node(names, node)));
}

/// The domains of operators with bodies, of functions, and of what is called.
fn domains(model: &ModelProto) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = standard::with_bodies().map(|(domain, _)| domain.to_owned()).collect();
    each_key(model, &mut |key| {
        let domain = key.domain(&model.names);
        if !found.contains(domain) {
            found.insert(domain.to_owned());
        }
    });
    if found.remove("") {
        found.insert(STANDARD.trim_end_matches('.').to_owned());
    }
    found
}

/// The names of all functions, of the operators that are called, and of those of the standard.
fn known(model: &ModelProto) -> BTreeSet<String> {
    let names = &model.names;
    let mut known: BTreeSet<String> = Schemas::new().all_operators().map(str::to_owned).collect();
    each_key(model, &mut |key| known.extend([key.name(names).to_owned(), key.describe(names)]));
    known
}
