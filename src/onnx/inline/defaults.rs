//! Defaults of expanded functions in functions that are kept.
//!
//! A function that is kept may pass its own attribute on: `o <a>` calls `i <p = @a>`, and `i` has a default for `p`. If
//! a call of `o` omits `a`, then the copy of `i` in `o` must have the default of `i`. So the copy refers to an attribute
//! of `o` with that default: `a` itself, if all its references want the same default, otherwise a new attribute `a_2`,
//! which each call of `o` that gives `a` gives, too.

use rustc_hash::{FxHashMap, FxHashSet};

use super::copy::{Expand, Expansion};
use crate::diagnostics::Code;
use crate::onnx::functions::NodeFinding;
use crate::onnx::model::{AttributeProto, FunctionProto, ModelNames, ModelProto, NodeProto};
use crate::onnx::walk::{each_graph, each_node, each_node_mut, each_node_of_value};
use crate::source::names::Name;

/// The attributes of a function that is kept, while its calls are expanded.
#[derive(Debug, Default)]
pub(super) struct KeptAttributes {
    /// All names of attributes, also of the new ones.
    taken: FxHashSet<Name>,
    /// The attributes with a default, also the new ones.
    defaulted: FxHashSet<Name>,
    wanted: Vec<Wanted>,
    /// The new attribute for each attribute and default, as a text.
    known: FxHashMap<(Name, String), Name>,
    /// The number of the latest new name.
    number: usize,
}

/// A reference to an attribute that needs a default.
#[derive(Debug)]
struct Wanted {
    of: Name,
    /// The new attribute, with its default.
    new: Name,
    default: AttributeProto,
}

/// For a function, the attributes whose values its calls also give to others.
pub(super) type GivenTwice = FxHashMap<usize, Vec<(Name, Name)>>;

impl KeptAttributes {
    pub(super) fn of(function: &FunctionProto) -> Self {
        let defaulted: FxHashSet<Name> = function.defaults.iter().filter_map(|default| default.name).collect();
        let taken = defaulted.iter().chain(&function.attributes).copied().collect();
        KeptAttributes { taken, defaulted, ..KeptAttributes::default() }
    }

    fn new_name(&mut self, names: &mut ModelNames, of: Name) -> Name {
        loop {
            self.number += 1;
            let text = format!("{}_{}", names.texts.text(of), self.number + 1);
            let name = names.texts.intern(&text);
            if self.taken.insert(name) {
                return name;
            }
        }
    }

    /// Adds the wanted defaults to the function. Returns the attributes whose values calls have to give twice.
    pub(super) fn settle(self, function: &mut FunctionProto) -> Vec<(Name, Name)> {
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let referred = referred(function);
        let mut count: FxHashMap<Name, usize> = FxHashMap::default();
        let wanted: Vec<Wanted> = self.wanted.into_iter().filter(|wanted| referred.contains(&wanted.new)).collect();
        wanted.iter().for_each(|wanted| *count.entry(wanted.of).or_default() += 1);
        let (mut renamed, mut twice) = (FxHashMap::default(), Vec::new());
        for Wanted { of, new, default } in wanted {
            let mut name = new;
            if count.get(&of) == Some(&1) && !referred.contains(&of) {
                renamed.insert(new, of);
                name = of;
            } else {
                twice.push((of, new));
            }
            function.defaults.push(AttributeProto { name: Some(name), reference: None, ..default });
        }
        let own: FxHashSet<Name> = renamed.values().copied().collect();
        function.attributes.retain(|name| !own.contains(name));
        each_node_of(function, &mut |node| {
            for reference in node.attributes.iter_mut().filter_map(|attribute| attribute.reference.as_mut()) {
                *reference = renamed.get(reference).copied().unwrap_or(*reference);
            }
        });
        twice
    }
}

/// The attributes that the nodes of a function refer to.
fn referred(function: &FunctionProto) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    let mut visit = |node: &NodeProto| found.extend(node.attributes.iter().filter_map(|attribute| attribute.reference));
    each_node(&function.nodes, &mut visit);
    for default in &function.defaults {
        each_graph(&default.value, &mut |graph| each_node(&graph.nodes, &mut visit));
    }
    found
}

fn each_node_of(function: &mut FunctionProto, visit: &mut dyn FnMut(&mut NodeProto)) {
    each_node_mut(&mut function.nodes, visit);
    function.defaults.iter_mut().for_each(|default| each_node_of_value(&mut default.value, visit));
}

impl Expansion<'_> {
    /// The attribute of the function that is kept to refer to instead of `of`, which gets a default if it has none.
    pub(super) fn with_default(&mut self, of: Name, default: &AttributeProto, node: &NodeProto) -> Expand<Name> {
        let Some(kept) = self.kept.as_mut().filter(|kept| !kept.defaulted.contains(&of)) else { return Ok(of) };
        if default.value.has_graphs() {
            let name = self.names.texts.text(of);
            let message = format!("where the attribute `{name}` is omitted, a graph of the function would replace it");
            let found = NodeFinding::new(Code::OnnxReference, node.at, message);
            return Err(Box::new(found.help("expand the function around it, too, or keep both")));
        }
        let key = (of, format!("{:?}", default.value));
        if let Some(known) = kept.known.get(&key) {
            return Ok(*known);
        }
        let new = kept.new_name(self.names, of);
        kept.known.insert(key, new);
        kept.defaulted.insert(new);
        kept.wanted.push(Wanted { of, new, default: default.clone() });
        Ok(new)
    }
}

/// Gives the values of attributes also to the attributes that were added to functions.
pub(super) fn give_twice(
    model: &mut ModelProto,
    twice: &GivenTwice,
    called: impl Fn(&ModelNames, &NodeProto) -> Option<usize>,
) {
    let names = &model.names;
    let mut visit = |node: &mut NodeProto| {
        let Some(pairs) = called(names, node).and_then(|function| twice.get(&function)) else { return };
        let given: FxHashMap<Option<Name>, usize> =
            node.attributes.iter().enumerate().map(|(i, attribute)| (attribute.name, i)).collect();
        for &(of, new) in pairs {
            if let Some(&i) = given.get(&Some(of)) {
                let copy = AttributeProto { name: Some(new), ..node.attributes[i].clone() };
                node.attributes.push(copy);
            }
        }
    };
    model.graph.iter_mut().for_each(|graph| each_node_mut(&mut graph.nodes, &mut visit));
    model.functions.iter_mut().for_each(|function| each_node_of(function, &mut visit));
}
