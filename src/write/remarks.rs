//! Comments of annotated texts: the types of a statement's results, its module, and its place in the source.

use std::fmt::Write;

use crate::diagnostics::visible::clean;
use crate::graph::{Annotation, Graph, Operation, OperationId, TensorId};

/// The most results of a statement whose types are told.
const RESULTS: usize = 4;

/// The most characters of each part of a comment; the rest of a longer one is left out.
const MOST: usize = 100;

/// What a comment starts with.
const START: &str = "  # ";

/// Adds the comment on an operation to the line of its statement. It has no line ends, whatever names have.
pub(super) fn push(graph: &Graph, annotation: &Annotation, id: OperationId, buffer: &mut String) {
    let Some(operation) = graph.operations.get(id.index()) else { return };
    buffer.push_str(START);
    push_head(&clean(&types(graph, operation)), buffer);
    let source = graph.note(id).and_then(|note| note.source.as_deref().map(str::to_owned));
    let place = source.or_else(|| annotation.place(operation.at));
    for part in [graph.module(id), place].into_iter().flatten() {
        buffer.push_str("  ");
        // The inner modules and the line are at the end.
        push_tail(&clean(&part), buffer);
    }
}

/// The types of the results of an operation: `float32[1,64,56,56], int64[]`.
fn types(graph: &Graph, operation: &Operation) -> String {
    let mut text = String::new();
    for (i, tensor) in graph.tensors_of(operation).take(RESULTS + 1).enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        match i {
            RESULTS => text.push('…'),
            _ => push_type(graph, tensor, &mut text),
        }
    }
    text
}

/// Adds the type of a tensor, with `?` for what is not known: `scalar[2,N]`, `?[2]`, and `scalar[…]` without a rank.
fn push_type(graph: &Graph, tensor: TensorId, text: &mut String) {
    text.push_str(graph.element_type(tensor).unwrap_or("?"));
    text.push('[');
    match graph.shape(tensor) {
        None => text.push('…'),
        // Each extent takes two characters or more.
        Some(shape) => {
            for (i, extent) in shape.extents().iter().take(MOST).enumerate() {
                let _ = write!(text, "{}{extent}", if i > 0 { "," } else { "" });
            }
        }
    }
    text.push(']');
}

/// Adds the start of a text.
fn push_head(text: &str, buffer: &mut String) {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => {
            buffer.push_str(text.get(..end).unwrap_or_default());
            buffer.push('…');
        }
        None => buffer.push_str(text),
    }
}

/// Adds the end of a text.
fn push_tail(text: &str, buffer: &mut String) {
    match text.char_indices().rev().nth(MOST - 1) {
        Some((start, _)) if start > 0 => {
            buffer.push('…');
            buffer.push_str(text.get(start..).unwrap_or_default());
        }
        _ => buffer.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::graph::{ModulePath, Note, OperationId};
    use crate::source::Sources;
    use crate::{Graph, Options, expand, parse};

    fn annotated(text: &str, note: Option<Note>) -> (Graph, String) {
        let options = Options::default();
        let parsed = parse("folder/test.nnef", text.to_owned(), &options);
        let mut graph = expand(&parsed.document, &options).unwrap().graph;
        note.into_iter().for_each(|note| graph.add_note(OperationId::at(1), note));
        graph.annotate(parsed.document.sources());
        let mut out = Vec::new();
        graph.write_nnef(&mut out).unwrap();
        (graph, String::from_utf8(out).unwrap())
    }

    const TEXT: &str = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2,3]); y = relu(x); }";

    fn path(text: &str) -> Option<Arc<ModulePath>> {
        Some(Arc::new(ModulePath::of_text(text.to_owned())))
    }

    #[test]
    fn names_with_control_characters_stay_in_their_comment() {
        let module = "a\ny = exp(x);\r\u{85}\u{2028}\u{1b}[0m # b".to_owned() + &"c".repeat(1000);
        let note = Note { node: None, module: path(&module), source: Some("a\nb.py:3".into()) };
        let (_, text) = annotated(TEXT, Some(note));
        let line = text.lines().find(|line| line.contains("relu")).unwrap();
        assert!(line.starts_with("    y = relu(x);  # scalar[2,3]  …ccc") && line.ends_with("ccc  a b.py:3"), "{line}");
        assert!(line.chars().count() < 200);
        assert_eq!(text.lines().count(), 7);
        let short = Note { node: None, module: path("a\ny = exp(x);\r\u{85}\u{2028}\u{1b}[0m"), source: None };
        let (_, text) = annotated(TEXT, Some(short));
        assert!(text.contains("# scalar[2,3]  a y = exp(x);\\r\\u{85}\\u{2028}\\u{1b}[0m  test.nnef:2:58\n"), "{text}");
    }

    #[test]
    fn binary_files_have_no_places() {
        let (mut graph, _) = annotated(TEXT, None);
        let mut sources = Sources::new();
        sources.add("other", "");
        graph.operations.iter_mut().for_each(|operation| operation.at.file = crate::source::FileId(7));
        graph.annotate(&sources);
        let mut out = Vec::new();
        graph.write_nnef(&mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("y = relu(x);  # scalar[2,3]\n"));
    }
}
