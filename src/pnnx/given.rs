//! The shapes that options give to inputs.

use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::graph::{Extent, Graph};
use crate::options::nameless;
use crate::source::{FileId, Location, Span};

/// The shape that options give to an input: none if they give none, and none inside if its extents are not numbers.
pub(crate) fn given_shape(options: &Options, input: &str) -> Option<Option<Vec<i64>>> {
    let given = options.shapes.inputs.iter().find(|(name, _)| *name == input || name.is_empty());
    given.map(|(_, shape)| shape.iter().map(Extent::known).collect())
}

/// Reports the names of options that no input of a graph has. Inputs that were refused are not in the graph, so a graph
/// with errors is not checked.
pub(crate) fn report_unknown_inputs(graph: &Graph, options: &Options, file: FileId, found: &mut Diagnostics) {
    if found.has_errors() {
        return;
    }
    let known: Vec<String> = graph.inputs.iter().map(|input| graph.tensor_name(*input)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    for name in options.shapes.inputs.iter().map(|(name, _)| name).filter(|name| !known.contains(&name.as_str())) {
        let message = match name.as_str() {
            "" if known.len() == 1 => continue,
            "" => format!("the options give {}", nameless(&known)),
            name => suggest::no_input("graph", name, &known),
        };
        found.report(Diagnostic::new(Code::OptionInput, Location::new(file, Span::default()), message));
    }
}
