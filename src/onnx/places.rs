//! How messages describe places in a model.

use super::contents::Contents;
use super::protobuf::{self, FoundNode};
use super::scopes::NodeScope;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Location, Span};

/// How messages describe a place in a model.
#[derive(Clone, Debug)]
pub(crate) enum Places {
    /// By a location in the text.
    Text,
    /// By a path of fields, such as `graph.node[3]`, in this file; it is empty if the model was not read from a file.
    Fields(Contents),
}

/// A model as messages refer to it.
#[derive(Clone, Copy)]
pub(crate) struct PlacedModel<'p> {
    pub(crate) file: FileId,
    pub(crate) places: &'p Places,
}

impl Places {
    /// A diagnostic about the node or function at a place: its message has its module and the line of its source, if
    /// they are known.
    pub(super) fn diagnostic(&self, code: Code, file: FileId, at: u32, message: String) -> Diagnostic {
        let found = match self {
            Places::Fields(bytes) if at > 0 => protobuf::path(bytes, at),
            _ => None,
        };
        let place = Location::new(file, Span::new(at, at));
        match found {
            Some(FoundNode { place: node, metadata }) => {
                let message = format!("{message} ({node}{})", NodeScope::of(&metadata).told());
                Diagnostic::new(code, place, message).about(Some(node))
            }
            None => Diagnostic::new(code, place, message),
        }
    }
}
