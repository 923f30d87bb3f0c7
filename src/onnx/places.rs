//! How messages describe places in a model.

use super::contents::Contents;
use super::protobuf;
use super::scopes::NodeScope;

/// How messages describe a place in a model.
#[derive(Clone, Debug)]
pub(crate) enum Places {
    /// By a location in the text.
    Text,
    /// By a path of fields, such as `graph.node[3]`, in this file; it is empty if the model was not read from a file.
    Fields(Contents),
}

impl Places {
    /// A message about the node or function at a place: with its module and the line of its source, if they are known.
    pub(super) fn tell(&self, message: String, at: u32) -> String {
        match self {
            Places::Fields(file) if at > 0 => match protobuf::path(file, at) {
                Some(found) => {
                    format!("{message} ({}{})", found.path, NodeScope::of(&found.metadata).told())
                }
                None => message,
            },
            _ => message,
        }
    }
}
