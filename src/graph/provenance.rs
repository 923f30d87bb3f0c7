//! Where operations come from: calls of fragments, and what a model tells about them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

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
    /// The path of the module around it.
    pub(crate) module: Option<Arc<str>>,
    /// The file and the line of its source.
    pub(crate) source: Option<Arc<str>>,
}

impl Note {
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
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        [("node", self.node.map(name)), ("module", text(&self.module)), ("source", text(&self.source))]
    }

    /// The bytes that it takes when it is written, without the name.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        size_of::<Note>() + text(&self.module) + text(&self.source)
    }
}

/// The most calls that the path of an operation has; outer ones are left out.
const MAX_CALLS: usize = 16;

impl Graph {
    /// The module of an operation, such as `layers.0.attention`, or the calls that it comes from, the outermost first,
    /// such as `layer/attention`; none for operations of the whole model.
    pub(crate) fn module(&self, id: OperationId) -> Option<String> {
        if let Some(module) = self.note(id).and_then(|note| note.module.as_deref()) {
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
