//! Expands function calls: a call becomes a copy of the function's nodes.
//!
//! The names of a copy are paths: the result of the call, then the name in the function (`y_t` for `t` in the call with
//! the result `y`), as in flat NNEF graphs. Names of the graph are kept.

mod attributes;
mod call_graph;
mod control;
mod copy;
mod functions;
mod known;
mod named;
mod operations;
mod opsets;

use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, TraceFrame};
use crate::source::{FileId, Location, Span};

use super::model::{Function, Model};
use super::places::Places;
use copy::Expansion;

pub(super) use functions::{Functions, each_node, own_names};
pub(super) use opsets::Imports;

/// A finding about a node.
#[derive(Clone, Debug)]
pub(in crate::onnx) struct Found {
    code: Code,
    at: u32,
    message: String,
    help: Option<String>,
    /// The calls around it, the innermost first: function, and location of the call.
    calls: Vec<(String, u32)>,
}

impl Found {
    fn new(code: Code, at: u32, message: String) -> Self {
        Found { code, at, message, help: None, calls: Vec::new() }
    }

    fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_owned());
        self
    }

    /// Its code, message and help.
    pub(super) fn told(self) -> (Code, String, Option<String>) {
        (self.code, self.message, self.help)
    }

    pub(super) fn report(self, file: FileId, places: &Places, diagnostics: &mut Diagnostics) {
        let place = |at: u32| Location::new(file, Span::new(at, at));
        let mut diagnostic =
            Diagnostic::new(self.code, place(self.at), places.tell(self.message, self.at)).help_if(self.help);
        let frame = |(fragment, at): (String, u32)| TraceFrame { fragment, at: place(at) };
        diagnostic.expansion.extend(self.calls.into_iter().map(frame));
        diagnostics.report(diagnostic);
    }
}

/// Expands the function calls in a model that the options select, and known control flow. Returns warnings about
/// control flow that was to be expanded but cannot be.
///
/// # Errors
///
/// Functions or, if a flat model is required, loops cannot be expanded, there are more nodes than the options allow, or
/// the options name operations that there are not.
pub(crate) fn expand(
    model: &mut Model,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<Diagnostics, Diagnostics> {
    let unknown = named::check(model, options);
    let functions = std::mem::take(&mut model.functions);
    let expanded = Functions::new(&model.names, &functions, options)
        .and_then(|table| expand_all(model, &functions, &table, options).map_err(|found| vec![*found]));
    let mut diagnostics = Diagnostics::new(options.strict);
    let (found, accepted) = match expanded {
        Ok(stays) => (stays, !options.flat),
        Err(found) => (found, false),
    };
    let accepted = (accepted || found.is_empty()) && unknown.is_empty();
    for mut found in unknown.into_iter().chain(found) {
        if options.flat && found.code == Code::LoopKept {
            found.code = Code::LoopNotFlat;
        }
        found.report(file, places, &mut diagnostics);
    }
    if accepted { Ok(diagnostics) } else { Err(diagnostics) }
}

/// Expands everything, and returns the control flow nodes that could not be expanded.
fn expand_all(
    model: &mut Model,
    functions: &[Function],
    table: &Functions,
    options: &Options,
) -> Result<Vec<Found>, Box<Found>> {
    let mut kept: Vec<Function> = Vec::new();
    let mut expansion = Expansion::new(&mut model.names, functions, table, options);
    if let Some(graph) = &mut model.graph {
        expansion.graph(graph, &mut model.opsets)?;
    }
    for (function, _) in functions.iter().zip(&table.expanded).filter(|(_, expanded)| !**expanded) {
        kept.push(function.clone());
        if let Some(function) = kept.last_mut() {
            expansion.function(function)?;
        }
    }
    let (calls, stays) = expansion.into_results();
    (model.calls, model.functions) = (calls, kept);
    let names = &mut model.names;
    names.values.resolve(&names.texts, &Default::default());
    Ok(stays)
}

#[cfg(test)]
mod tests;
