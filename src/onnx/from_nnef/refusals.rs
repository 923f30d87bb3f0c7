//! The refusals of a graph, each once with the number of its operations.

use indexmap::IndexMap;

use super::sources;
use super::translated_call::{self, Refused};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::origin::with_origin;
use crate::graph::{Graph, Operation};

/// The refusals by group or message, each with the diagnostic of the first operation and the number of operations.
pub(super) struct Refusals<'g> {
    pub(super) graph: &'g Graph,
    pub(super) all: IndexMap<String, (Diagnostic, usize)>,
}

impl Refusals<'_> {
    pub(super) fn refused(mut self, operation: Option<&Operation>, Refused { code, message, group }: Refused) -> Self {
        if group == Some(translated_call::FOLLOWS) {
            return self;
        }
        let graph = self.graph;
        let diagnostic = || {
            let at = operation.map_or_else(Default::default, |operation| operation.at);
            let diagnostic = Diagnostic::new(code, at, message.clone());
            operation.map_or(diagnostic.clone(), |operation| with_origin(graph, operation, diagnostic))
        };
        let key = group.map_or_else(|| message.clone(), str::to_owned);
        let count = &mut self.all.entry(key).or_insert_with(|| (diagnostic(), 0)).1;
        *count = usize::saturating_add(*count, 1);
        self
    }

    pub(super) fn reported(self, strict: bool) -> Diagnostics {
        let mut diagnostics = Diagnostics::new(strict);
        let mut keeps_operators = self.graph.conventions.keeps_operators;
        for (key, (mut diagnostic, count)) in self.all {
            if count > 1 {
                diagnostic.message.push_str(&format!(" ({count} operations)"));
            }
            let help = match key.as_str() {
                sources::NO_DATA => {
                    Some("the data are beside `graph.nnef`: give the folder or the archive of the model as input")
                }
                _ if diagnostic.code == Code::MemoryBudget => Some("raise the limit with --max-memory"),
                key if key.contains("`tract_core_scan`") => Some("--unroll expands scans of a known length"),
                // Once, since a network may have many of them.
                _ if diagnostic.code == Code::OnnxMeaning && std::mem::take(&mut keeps_operators) => {
                    Some("--lower all expands the operators of PNNX and the layers of ncnn to those of NNEF")
                }
                _ => None,
            };
            diagnostics.report(diagnostic.help_if(help.map(str::to_owned)));
        }
        diagnostics
    }
}
