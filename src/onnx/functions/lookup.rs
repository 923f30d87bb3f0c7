//! The functions of a model: which function a node calls, and whether it is expanded.

use rustc_hash::FxHashMap;

use super::call_graph::{self, CallGraph, Size};
use super::finding::NodeFinding;
use crate::diagnostics::Code;
use crate::onnx::model::{FunctionProto, ModelNames, NodeProto};
use crate::onnx::walk::each_node;
use crate::source::names::Name;
use crate::{Lower, Options};

/// The key by which calls refer to functions: normalized domain, name and overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::onnx) struct FunctionKey {
    domain: Option<Name>,
    name: Option<Name>,
    overload: Option<Name>,
}

impl FunctionKey {
    fn new(names: &ModelNames, domain: Option<Name>, name: Option<Name>, overload: Option<Name>) -> FunctionKey {
        let known = |name: &Name| !names.texts.text(*name).is_empty();
        // The standard domain has two names.
        let domain = domain.filter(|name| known(name) && names.texts.text(*name) != "ai.onnx");
        FunctionKey { domain, name, overload: overload.filter(known) }
    }

    /// The key of a function.
    pub(in crate::onnx) fn of_function(names: &ModelNames, function: &FunctionProto) -> FunctionKey {
        FunctionKey::new(names, function.domain, function.name, function.overload)
    }

    /// The function that a node would call.
    pub(in crate::onnx) fn of_node(names: &ModelNames, node: &NodeProto) -> FunctionKey {
        FunctionKey::new(names, node.domain, node.op_type, node.overload)
    }

    /// The name without an overload.
    pub(in crate::onnx) fn name(self, names: &ModelNames) -> &str {
        self.name.map_or("", |name| names.texts.text(name))
    }

    /// The domain; empty for that of the standard.
    pub(in crate::onnx) fn domain(self, names: &ModelNames) -> &str {
        self.domain.map_or("", |name| names.texts.text(name))
    }

    /// Whether an option names this function: by its name, with or without its domain and its overload, or by [`EACH`]
    /// behind its domain.
    pub(in crate::onnx) fn is(self, names: &ModelNames, option: &str) -> bool {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let name = match self.domain.map(|domain| names.texts.text(domain)) {
            Some(domain) => option.strip_prefix(domain).and_then(|rest| rest.strip_prefix('.')),
            None => option.strip_prefix("ai.onnx."),
        };
        let is = |option: &str| match option.strip_prefix(text(self.name)) {
            Some("") => true,
            Some(rest) => self.overload.is_some() && rest.strip_prefix(':') == Some(text(self.overload)),
            None => false,
        };
        is(option) || name.is_some_and(|name| name == EACH || is(name))
    }

    /// The text for messages.
    pub(in crate::onnx) fn describe(self, names: &ModelNames) -> String {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let point = if self.domain.is_some() { "." } else { "" };
        let colon = if self.overload.is_some() { ":" } else { "" };
        format!("{}{point}{}{colon}{}", text(self.domain), text(self.name), text(self.overload))
    }
}

/// Stands in options for all names of a domain.
pub(in crate::onnx) const EACH: &str = "*";

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
    by_key: FxHashMap<FunctionKey, usize>,
    /// The function of each name, regardless of its overload.
    any_overload: FxHashMap<FunctionKey, usize>,
    pub(in crate::onnx) keys: Vec<FunctionKey>,
    /// Whether calls of a function are expanded.
    pub(in crate::onnx) expanded: Vec<bool>,
    /// The functions of each name, by the number of the name, for fast lookup: most nodes are not calls. Empty without
    /// functions.
    named: Vec<Named>,
    graph: CallGraph,
}

impl Functions {
    /// # Errors
    ///
    /// Functions that are declared twice, or that call each other in a cycle.
    pub(in crate::onnx) fn new(
        names: &ModelNames,
        functions: &[FunctionProto],
        options: &Options,
    ) -> Result<Self, Vec<NodeFinding>> {
        Self::expanding(names, functions, |key| is_expanded(names, key, options))
    }

    /// The functions, of which those are expanded whose keys are selected.
    ///
    /// # Errors
    ///
    /// See [`Functions::new`].
    pub(in crate::onnx) fn expanding(
        names: &ModelNames,
        functions: &[FunctionProto],
        selected: impl Fn(FunctionKey) -> bool,
    ) -> Result<Self, Vec<NodeFinding>> {
        let (mut table, mut found) = Self::table(names, functions, selected);
        match CallGraph::new(names, functions, &table) {
            Ok(graph) => table.graph = graph,
            Err(cycles) => found.extend(cycles),
        }
        if found.is_empty() { Ok(table) } else { Err(found) }
    }

    /// The functions for finding those that nodes call: none is expanded, and their sizes are not known.
    pub(in crate::onnx) fn of_calls(names: &ModelNames, functions: &[FunctionProto]) -> Self {
        Self::table(names, functions, |_| false).0
    }

    /// The functions by their keys, and those that are declared twice.
    fn table(
        names: &ModelNames,
        functions: &[FunctionProto],
        selected: impl Fn(FunctionKey) -> bool,
    ) -> (Self, Vec<NodeFinding>) {
        let (mut table, mut found) = (Functions::default(), Vec::new());
        if !functions.is_empty() {
            table.named = vec![Named::None; names.texts.len()];
        }
        for (i, function) in functions.iter().enumerate() {
            let key = FunctionKey::of_function(names, function);
            table.keys.push(key);
            if let Some(named) = key.name.and_then(|name| table.named.get_mut(name.index())) {
                *named = match named {
                    Named::None => Named::One(i, function.domain, function.overload),
                    Named::One(..) | Named::Several => Named::Several,
                };
            }
            table.any_overload.insert(FunctionKey { overload: None, ..key }, i);
            table.expanded.push(selected(key));
            if table.by_key.insert(key, i).is_some() {
                let message = format!("the function `{}` is declared twice", key.describe(names));
                found.push(NodeFinding::new(Code::OnnxDuplicate, function.at, message));
            }
        }
        (table, found)
    }

    /// The function that a node with these texts would call.
    pub(in crate::onnx) fn named(&self, names: &ModelNames, domain: &str, name: &str, overload: &str) -> Option<usize> {
        let text = |text: &str| if text.is_empty() { Some(None) } else { names.texts.get(text).map(Some) };
        let key = FunctionKey::new(names, text(domain)?, text(name)?, text(overload)?);
        self.by_key.get(&key).copied()
    }

    /// How often each function is copied into these nodes, whose calls are expanded.
    pub(in crate::onnx) fn copies<'n>(
        &self,
        names: &ModelNames,
        roots: impl Iterator<Item = &'n [NodeProto]>,
    ) -> Vec<u64> {
        let mut copies = vec![0u64; self.keys.len()];
        for nodes in roots {
            each_node(nodes, &mut |node| {
                if let Ok(Some(called)) = self.called(names, node) {
                    copies[called] = copies[called].saturating_add(u64::from(self.expanded[called]));
                }
            });
        }
        let CallGraph { calls, order, .. } = &self.graph;
        for &caller in order.iter().rev() {
            let times = copies[caller];
            for call in calls[caller].called.iter().filter(|call| self.expanded[call.function]) {
                let added = times.saturating_mul(call.count());
                copies[call.function] = copies[call.function].saturating_add(added);
            }
        }
        copies
    }

    /// The size of expanded nodes.
    pub(in crate::onnx) fn size(&self, names: &ModelNames, nodes: &[NodeProto]) -> Size {
        call_graph::size(names, self, &self.graph.sizes, nodes)
    }

    /// The function that a node calls.
    ///
    /// # Errors
    ///
    /// There are functions with that name, but not with the overload.
    pub(in crate::onnx) fn called(
        &self,
        names: &ModelNames,
        node: &NodeProto,
    ) -> Result<Option<usize>, Box<NodeFinding>> {
        match node.op_type.and_then(|name| self.named.get(name.index())) {
            None | Some(Named::None) => return Ok(None),
            Some(Named::One(function, domain, overload)) if (*domain, *overload) == (node.domain, node.overload) => {
                return Ok(Some(*function));
            }
            // Domains and overloads have several spellings.
            Some(Named::One(..) | Named::Several) => {}
        }
        let key = FunctionKey::of_node(names, node);
        match self.by_key.get(&key) {
            Some(function) => Ok(Some(*function)),
            None if self.any_overload.contains_key(&FunctionKey { overload: None, ..key }) => {
                let message = format!("this function has no overload `{}`", key.describe(names));
                Err(Box::new(NodeFinding::new(Code::OnnxOverload, node.at, message)))
            }
            None => Ok(None),
        }
    }
}

/// Whether the options select calls of a function of the model for expansion.
fn is_expanded(names: &ModelNames, key: FunctionKey, options: &Options) -> bool {
    options.lower == Lower::Custom && !is_kept(names, key, options) || is_lowered(names, key, options)
}

/// Whether the options select all operations with a body, or those with this key.
pub(in crate::onnx) fn is_lowered(names: &ModelNames, key: FunctionKey, options: &Options) -> bool {
    let lowered = match &options.lower {
        Lower::All => true,
        Lower::Custom | Lower::None => false,
        Lower::Names(lowered) => lowered.iter().any(|name| key.is(names, name)),
    };
    lowered && !is_kept(names, key, options)
}

/// Whether the options keep an operation.
pub(in crate::onnx) fn is_kept(names: &ModelNames, key: FunctionKey, options: &Options) -> bool {
    options.keep.iter().any(|name| key.is(names, name))
}
