//! Where operations come from: calls of fragments, and what a model tells about them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::annotation::Annotation;
use super::ids::{OperationId, OriginId};
use super::names::NameId;
use crate::source::Location;
use crate::source::names::Name;

/// Where the operations of a graph come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Provenance {
    /// The calls that produced operations: the enclosing call of each, and an index into the places.
    pub(super) calls: Vec<(OriginId, u32)>,
    /// The called fragment and the location of each call in the source. Repeated expansions of the same call
    /// share an entry.
    pub(super) places: Vec<(Name, Location)>,
    /// The places that are no calls, but graphs in attributes.
    pub(super) graphs: FxHashSet<u32>,
    /// What the model tells about operations, if it does.
    pub(super) notes: FxHashMap<OperationId, Note>,
    /// The places that the text tells as comments, if it is annotated.
    pub(super) annotation: Option<Arc<Annotation>>,
}

/// Where an operation comes from in the program that its model was exported from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    /// The name of the node.
    pub(crate) node: Option<NameId>,
    /// The modules around it.
    pub(crate) module: Option<Arc<ModulePath>>,
    /// The file and the line of its source.
    pub(crate) source: Option<Arc<str>>,
}

/// The modules around an operation: a path such as `layers.0.attention`, and where each of them ends in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModulePath {
    text: String,
    /// The end of each module in the text, with its class; none if a point ends each, and classes are not known.
    ends: Vec<(u32, Box<str>)>,
}

impl ModulePath {
    /// The modules of a path in which a point ends each.
    pub(crate) fn of_text(text: String) -> Self {
        ModulePath { text, ends: Vec::new() }
    }

    /// Adds a module inside of the others: its name in the one around it, or in the whole model, and its class.
    #[cfg(feature = "onnx")]
    pub(crate) fn push(&mut self, name: &str, class: &str) {
        match name.strip_prefix(&self.text).filter(|rest| self.text.is_empty() || rest.starts_with('.')) {
            Some(rest) => self.text.push_str(rest),
            None => {
                self.text.push('.');
                self.text.push_str(name);
            }
        }
        self.ends.push((self.text.len() as u32, class.into()));
    }

    /// The whole path.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The modules, the outermost first: the name of each in the one around it, and its class, which may be empty.
    #[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only pictures have modules apart"))]
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        let told = self.ends.iter().map(move |(end, class)| {
            let name = self.text.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            (name.strip_prefix('.').unwrap_or(name), &**class)
        });
        let is_told = !self.ends.is_empty();
        let named = self.text.split('.').filter(move |name| !is_told && !name.is_empty()).map(|name| (name, ""));
        told.chain(named)
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.ends.iter().map(|(_, class)| size_of::<(u32, Box<str>)>() + class.len()).sum::<usize>()
    }
}

impl Note {
    /// The path of the module around it.
    pub(crate) fn module_path(&self) -> Option<&str> {
        self.module.as_deref().map(ModulePath::text)
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.node.is_none() && self.module.is_none() && self.source.is_none()
    }

    /// What it tells, by what that is: the name of the node, its module, and its source.
    pub(crate) fn parts(&self, graph: &Graph) -> [(&'static str, Option<String>); 3] {
        let name = |id: NameId| {
            let mut name = String::new();
            graph.names.write(&graph.symbols, id, &mut name);
            name
        };
        let (module, source) = (self.module_path().map(str::to_owned), self.source.as_deref().map(str::to_owned));
        [("node", self.node.map(name)), ("module", module), ("source", source)]
    }

    /// The bytes that it takes when it is written, without the name.
    pub(crate) fn bytes(&self) -> usize {
        let module = self.module.as_ref().map_or(0, |module| module.bytes());
        size_of::<Note>() + module + self.source.as_ref().map_or(0, |text| text.len())
    }
}

/// The most calls that the path of an operation has; outer ones are left out.
const MAX_CALLS: usize = 16;

impl Graph {
    /// Adds a graph in an attribute of an operation, as [`Graph::add_call_place`] adds the place of a call.
    #[cfg(feature = "onnx")]
    pub(crate) fn add_graph_place(&mut self, attribute: Name, at: Location) -> u32 {
        let place = self.add_call_place(attribute, at);
        self.provenance.graphs.insert(place);
        place
    }

    /// Whether what operations come from is no call, but a graph in an attribute.
    #[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only pictures tell it"))]
    pub(crate) fn is_graph(&self, id: OriginId) -> bool {
        self.provenance.calls.get(id.index()).is_some_and(|(_, place)| self.provenance.graphs.contains(place))
    }

    /// The module of an operation, such as `layers.0.attention`, or the calls that it comes from, the outermost first,
    /// such as `layer/attention`; none for operations of the whole model.
    pub(crate) fn module(&self, id: OperationId) -> Option<String> {
        if let Some(module) = self.note(id).and_then(Note::module_path) {
            return Some(module.to_owned());
        }
        let mut calls: Vec<&str> = Vec::new();
        for (fragment, _) in self.calls(self.operations.get(id.index())?) {
            if calls.len() == MAX_CALLS {
                calls.push("…");
                break;
            }
            calls.push(fragment);
        }
        calls.reverse();
        (!calls.is_empty()).then(|| calls.join("/"))
    }
}

#[cfg(all(test, feature = "onnx"))]
mod tests {
    use super::ModulePath;

    #[test]
    fn modules_are_named_in_the_one_around_them() {
        let mut path = ModulePath::default();
        for (name, class) in [("layers.0", "Block"), ("layers.0.a", ""), ("act", "Act"), ("actor", "")] {
            path.push(name, class);
        }
        assert_eq!(path.text(), "layers.0.a.act.actor");
        let steps: Vec<_> = path.steps().collect();
        assert_eq!(steps, [("layers.0", "Block"), ("a", ""), ("act", "Act"), ("actor", "")]);
        let named = ModulePath::of_text("a.0..b".to_owned());
        assert_eq!(named.steps().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "0", "b"]);
    }
}
