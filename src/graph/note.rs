//! What a model tells about operations beside what they compute.

use std::sync::Arc;

use super::Graph;
use super::names::NameId;

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
