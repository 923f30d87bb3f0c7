//! The functions of a model: which function a node calls, and whether it is expanded.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Found;
use super::call_graph::{self, Size};
use super::opsets::Imports;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::{Attribute, AttributeValue, Function, Graph, ModelNames, Node};
use crate::source::names::Name;
use crate::{Lower, Options};

/// The key by which calls refer to functions: normalized domain, name and overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::onnx) struct Key {
    domain: Option<Name>,
    name: Option<Name>,
    overload: Option<Name>,
}

impl Key {
    fn new(names: &ModelNames, domain: Option<Name>, name: Option<Name>, overload: Option<Name>) -> Key {
        let known = |name: &Name| !names.texts.text(*name).is_empty();
        // The standard domain has two names.
        let domain = domain.filter(|name| known(name) && names.texts.text(*name) != "ai.onnx");
        Key { domain, name, overload: overload.filter(known) }
    }

    /// The key of a function.
    pub(super) fn of_function(names: &ModelNames, function: &Function) -> Key {
        Key::new(names, function.domain, function.name, function.overload)
    }

    /// The function that a node would call.
    pub(in crate::onnx) fn of_node(names: &ModelNames, node: &Node) -> Key {
        Key::new(names, node.domain, node.op_type, node.overload)
    }

    /// The name alone.
    pub(super) fn name(self, names: &ModelNames) -> &str {
        self.name.map_or("", |name| names.texts.text(name))
    }

    /// The text for messages.
    pub(in crate::onnx) fn describe(self, names: &ModelNames) -> String {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let point = if self.domain.is_some() { "." } else { "" };
        let colon = if self.overload.is_some() { ":" } else { "" };
        format!("{}{point}{}{colon}{}", text(self.domain), text(self.name), text(self.overload))
    }
}

/// The functions with a name.
#[derive(Clone, Copy, Debug, Default)]
enum Named {
    #[default]
    None,
    /// A single function, with its domain and overload as they are spelled.
    One(usize, Option<Name>, Option<Name>),
    Several,
}

/// The functions of a model by the key of their calls.
#[derive(Debug, Default)]
pub(in crate::onnx) struct Functions {
    by_key: FxHashMap<Key, usize>,
    /// The function of each name, whatever its overload.
    any_overload: FxHashMap<Key, usize>,
    pub(in crate::onnx) keys: Vec<Key>,
    /// Whether calls of a function are expanded.
    pub(in crate::onnx) expanded: Vec<bool>,
    /// The functions of each name, by the number of the name, for fast lookup: most nodes are not calls.
    named: Vec<Named>,
    /// The size of an expanded call of each function.
    sizes: Vec<Size>,
}

impl Functions {
    /// # Errors
    ///
    /// Functions that are declared twice, or that call each other in a cycle.
    pub(in crate::onnx) fn new(
        names: &ModelNames,
        functions: &[Function],
        options: &Options,
    ) -> Result<Self, Vec<Found>> {
        let mut table = Functions { named: vec![Named::None; names.texts.len()], ..Functions::default() };
        let mut found = Vec::new();
        for (i, function) in functions.iter().enumerate() {
            let key = Key::of_function(names, function);
            table.keys.push(key);
            if let Some(named) = key.name.and_then(|name| table.named.get_mut(name.index())) {
                *named = match named {
                    Named::None => Named::One(i, function.domain, function.overload),
                    Named::One(..) | Named::Several => Named::Several,
                };
            }
            table.any_overload.insert(Key { overload: None, ..key }, i);
            table.expanded.push(is_expanded(&key.describe(names), names, key, options));
            if table.by_key.insert(key, i).is_some() {
                let message = format!("the function `{}` is declared twice", key.describe(names));
                found.push(Found::new(Code::OnnxDuplicate, function.at, message));
            }
        }
        match call_graph::sizes(names, functions, &table) {
            Ok(sizes) => table.sizes = sizes,
            Err(cycle) => found.push(cycle),
        }
        if found.is_empty() { Ok(table) } else { Err(found) }
    }

    /// The size of expanded nodes.
    pub(in crate::onnx) fn size(&self, names: &ModelNames, nodes: &[Node]) -> Size {
        call_graph::size(names, self, &self.sizes, nodes)
    }

    /// The function that a node calls.
    ///
    /// # Errors
    ///
    /// There are functions with that name, but not with the overload.
    pub(in crate::onnx) fn called(&self, names: &ModelNames, node: &Node) -> Result<Option<usize>, Box<Found>> {
        match node.op_type.and_then(|name| self.named.get(name.index())) {
            None | Some(Named::None) => return Ok(None),
            Some(Named::One(function, domain, overload)) if (*domain, *overload) == (node.domain, node.overload) => {
                return Ok(Some(*function));
            }
            // Domains and overloads have several spellings.
            Some(Named::One(..) | Named::Several) => {}
        }
        let key = Key::of_node(names, node);
        match self.by_key.get(&key) {
            Some(function) => Ok(Some(*function)),
            None if self.any_overload.contains_key(&Key { overload: None, ..key }) => {
                let message = format!("there is no overload `{}` of this function", key.describe(names));
                Err(Box::new(Found::new(Code::OnnxOverload, node.at, message)))
            }
            None => Ok(None),
        }
    }
}

fn is_expanded(described: &str, names: &ModelNames, key: Key, options: &Options) -> bool {
    let is = |name: &String| name == described || key.name.is_some_and(|own| names.texts.text(own) == name);
    let lowered = match &options.lower {
        Lower::Custom | Lower::All => true,
        Lower::None => false,
        Lower::Names(names) => names.iter().any(is),
    };
    lowered && !options.keep.iter().any(is)
}

/// What the copies of a function share.
#[derive(Debug, Default)]
pub(super) struct Callee {
    pub(super) imports: Imports,
    /// The names of its inputs and outputs.
    boundary: FxHashSet<NameId>,
    /// For each output, whether it is an input, or an output before it.
    pub(super) passed: Vec<bool>,
    /// The results of its nodes that are not outputs.
    pub(super) locals: Vec<NameId>,
    /// The first default of each attribute, as its index.
    defaults: FxHashMap<Name, usize>,
    /// A value that is defined twice, and the location of the second definition.
    pub(super) reassigned: Option<(NameId, u32)>,
}

impl Callee {
    pub(super) fn new(names: &ModelNames, function: &Function) -> Self {
        let mut callee = Callee { imports: Imports::new(names, &function.opsets), ..Callee::default() };
        let inputs = function.inputs.iter().map(|input| (*input, function.at));
        let results = function.nodes.iter().flat_map(|node| node.outputs.iter().map(|result| (*result, node.at)));
        let mut seen = FxHashSet::default();
        let defined = inputs.chain(results).filter(|(name, _)| *name != NameId::ROOT);
        callee.reassigned = defined.into_iter().find(|(name, _)| !seen.insert(*name));
        let mut boundary: FxHashSet<NameId> = function.inputs.iter().copied().collect();
        callee.passed = function.outputs.iter().map(|output| !boundary.insert(*output)).collect();
        let results = function.nodes.iter().flat_map(|node| &node.outputs).copied();
        callee.locals = results.filter(|result| *result != NameId::ROOT && !boundary.contains(result)).collect();
        for (i, default) in function.defaults.iter().enumerate() {
            default.name.map(|name| *callee.defaults.entry(name).or_insert(i));
        }
        Callee { boundary, ..callee }
    }

    /// Whether a name is an input or an output.
    pub(super) fn is_boundary(&self, name: NameId) -> bool {
        self.boundary.contains(&name)
    }

    /// The default of an attribute of the function.
    pub(super) fn default_of<'f>(&self, function: &'f Function, name: Name) -> Option<&'f Attribute> {
        function.defaults.get(*self.defaults.get(&name)?)
    }
}

/// Visits nodes, including those of graphs in their attributes.
pub(in crate::onnx) fn each_node(nodes: &[Node], visit: &mut dyn FnMut(&Node)) {
    for node in nodes {
        visit(node);
        for attribute in &node.attributes {
            each_graph(&attribute.value, &mut |graph| each_node(&graph.nodes, visit));
        }
    }
}

/// Visits the graphs in the value of an attribute.
pub(in crate::onnx) fn each_graph(value: &AttributeValue, visit: &mut dyn FnMut(&Graph)) {
    match value {
        AttributeValue::Graph(graph) => visit(graph),
        AttributeValue::Graphs(graphs) => graphs.iter().for_each(visit),
        _ => {}
    }
}

/// The names that a graph defines, each once.
pub(in crate::onnx) fn own_names(graph: &Graph) -> Vec<NameId> {
    let inputs = graph.inputs.iter().filter_map(|input| input.name);
    let initializers = graph.initializers.iter().filter_map(|tensor| tensor.name);
    let results = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied());
    let mut seen = FxHashSet::default();
    let own = inputs.chain(initializers).chain(results);
    own.filter(|name| *name != NameId::ROOT && seen.insert(*name)).collect()
}
