//! Parsing of a whole text.

use super::cursor::Cursor;
use super::marks::TextMarks;
use super::parser::TextParser;
use super::production::{ParsedText, Production};
use crate::diagnostics::{Diagnostics, Policy};
use crate::onnx::model::{FunctionProto, ModelNames, ModelProto};
use crate::source::FileId;

/// Parses a text. Returns a result if there are no errors.
pub(crate) fn parse(
    file: FileId,
    text: &str,
    production: Production,
    policy: impl Into<Policy>,
) -> (Option<ParsedText>, Diagnostics) {
    let (parsed, diagnostics, _) = parse_with(file, text, production, policy.into(), None);
    (parsed, diagnostics)
}

/// [`parse`], with the places of all names in the text. Those before an error are known, too.
#[cfg(feature = "lsp")]
pub(crate) fn parse_marked(file: FileId, text: &str, strict: bool) -> (Option<ParsedText>, Diagnostics, TextMarks) {
    let (parsed, diagnostics, marks) = parse_with(file, text, Production::Model, strict.into(), Some(Box::default()));
    (parsed, diagnostics, marks.map(|marks| *marks).unwrap_or_default())
}

type Marking = Option<Box<TextMarks>>;

fn parse_with(
    file: FileId,
    text: &str,
    production: Production,
    policy: Policy,
    marks: Marking,
) -> (Option<ParsedText>, Diagnostics, Marking) {
    let mut names = ModelNames::default();
    names.texts.reserve(text.len().min(ROOM) / BYTES_PER_NAME);
    let (cursor, diagnostics) = (Cursor::new(text), Diagnostics::of(policy));
    let mut parser = TextParser { cursor, names, diagnostics, file, depth: 0, marks };
    let parsed = parser.production(production);
    let TextParser { diagnostics, mut names, marks, .. } = parser;
    let parsed = parsed.ok().filter(|_| !diagnostics.has_errors());
    let parsed = parsed.map(|parsed| match parsed {
        ParsedText::Model(model) => ParsedText::Model(Box::new(ModelProto { names, ..*model })),
        ParsedText::Graph(graph, _) => ParsedText::Graph(graph, Box::new(names)),
        ParsedText::Function(function, _) => ParsedText::Function(function, Box::new(names)),
        ParsedText::Node(node, _) => ParsedText::Node(node, Box::new(std::mem::take(&mut names))),
    });
    (parsed, diagnostics, marks)
}

/// Parses a function whose texts are added to those of a model. Its values are its own, whatever their names are.
///
/// # Errors
///
/// The text is not a function.
pub(crate) fn parse_function(names: &mut ModelNames, text: &str) -> Result<FunctionProto, Diagnostics> {
    names.apart(|names| parse_function_of(names, text))
}

fn parse_function_of(names: &mut ModelNames, text: &str) -> Result<FunctionProto, Diagnostics> {
    let (cursor, taken, diagnostics) = (Cursor::new(text), std::mem::take(names), Diagnostics::new(false));
    let mut parser = TextParser { cursor, names: taken, diagnostics, file: FileId::default(), depth: 0, marks: None };
    let parsed = parser.function();
    *names = parser.names;
    parsed.map_err(|_| parser.diagnostics)
}

/// The average number of bytes of a text for each new name.
const BYTES_PER_NAME: usize = 64;

/// The maximum number of bytes of a text for whose names memory is reserved. Longer texts are mostly data.
const ROOM: usize = 1 << 24;
