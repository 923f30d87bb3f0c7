//! `--layout`: assigns layouts to tensors of a graph.

use super::{Findings, Refusal};
use crate::Graph;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::{Location, Sources, Span};
use crate::tensor::Layout;

/// Assigns the requested layouts to tensors, those with names first.
///
/// # Errors
///
/// The layouts that cannot be assigned.
pub(crate) fn assign(graph: &mut Graph, wanted: &[String]) -> Result<(), Refusal> {
    let mut sources = Sources::new();
    let mut found = Diagnostics::default();
    // A layout begins with a brace; the text before it is the name of a tensor.
    let parts = |text: &str| match text.split_once('{') {
        Some((name, _)) if name.trim_end().ends_with('=') => {
            let name = name.trim_end().trim_end_matches('=').trim();
            (Some(name.to_owned()), text.chars().take_while(|c| *c != '{').count())
        }
        _ => (None, 0),
    };
    let mut read = Vec::new();
    for text in wanted {
        let file = sources.add("--layout", text.clone());
        let (name, start) = parts(text);
        match Layout::read_at(text, start, file) {
            Ok(layout) => read.push((name, layout, Location::new(file, Span::new(0, text.len() as u32)))),
            Err(errors) => found.extend(errors),
        }
    }
    read.sort_by_key(|(name, ..)| name.is_none());
    for (name, layout, at) in &read {
        if let Err(error) = graph.lay_out(name.as_deref(), layout) {
            found.report(Diagnostic::new(Code::ShapeTensor, *at, error.to_string()));
        }
    }
    if found.has_errors() { Err(Refusal::Found(Box::new(Findings::new(sources, found)))) } else { Ok(()) }
}
