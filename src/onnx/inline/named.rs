//! Names in the options: checks that the named operations exist.

use std::collections::BTreeSet;

use super::Found;
use super::functions::{Key, each_node};
use crate::diagnostics::{Code, suggest};
use crate::onnx::model::{Function, Model, ModelNames, Node};
use crate::onnx::schema::Schemas;
use crate::options::{LEVELS, Options};

/// The names in the options that are neither functions of a model, nor operators of the standard, nor called in the
/// model; and those that are both to be expanded and to be kept.
pub(super) fn check(model: &Model, options: &Options) -> Vec<Found> {
    let mut found: Vec<Found> =
        options.conflicts().map(|message| Found::new(Code::OptionConflict, 0, message)).collect();
    let names = &model.names;
    let declared =
        |name: &str| model.functions.iter().any(|function| is(names, Key::of_function(names, function), name));
    let mut unknown = options.named().filter(|name| !declared(name)).peekable();
    if unknown.peek().is_none() {
        return found;
    }
    let known = known(model);
    for name in unknown.filter(|name| !known.contains(*name)) {
        let help = suggest::did_you_mean(name, known.iter().map(String::as_str).chain(LEVELS));
        found.push(Found { help, ..Found::new(Code::OptionOperation, 0, Options::unknown(name)) });
    }
    found
}

/// Whether a key has a name, alone or with its domain and overload.
fn is(names: &ModelNames, key: Key, name: &str) -> bool {
    key.name(names) == name || key.describe(names) == name
}

/// The names of all functions, of the operators that are called, and of those of the standard.
fn known(model: &Model) -> BTreeSet<String> {
    let names = &model.names;
    let mut known: BTreeSet<String> = Schemas::new().all_operators().map(str::to_owned).collect();
    let mut add = |key: Key| known.extend([key.name(names).to_owned(), key.describe(names)]);
    model.functions.iter().for_each(|function: &Function| add(Key::of_function(names, function)));
    let mut called = |node: &Node| add(Key::of_node(names, node));
    for nodes in model.graph.iter().map(|graph| &graph.nodes).chain(model.functions.iter().map(|of| &of.nodes)) {
        each_node(nodes, &mut called);
    }
    known
}
