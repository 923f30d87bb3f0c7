//! The text notation of models: parser and printer.
//!
//! The grammar has no operators, and one token of lookahead is sufficient, as for the flat syntax of NNEF. So it is
//! parsed in the same way: by recursive descent, directly from bytes, without a list of tokens.

mod attributes;
mod cursor;
mod data;
mod graphs;
mod headers;
mod print;
mod recovery;
mod value_types;

pub(crate) use print::print;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Location, Span};

use super::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto};
use cursor::Cursor;

/// The kind of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub(crate) enum Production {
    /// A model: a graph followed by functions.
    #[default]
    Model,
    /// A graph.
    Graph,
    /// A function.
    Function,
    /// A node.
    Node,
}

/// The result: a model, or a separate part of one.
#[derive(Clone, Debug)]
pub(crate) enum ParsedText {
    Model(Box<ModelProto>),
    Graph(Box<GraphProto>, Box<ModelNames>),
    Function(Box<FunctionProto>, Box<ModelNames>),
    Node(Box<NodeProto>, Box<ModelNames>),
}

/// Parses a text. Returns a result if there are no errors.
pub(crate) fn parse(
    file: FileId,
    text: &str,
    production: Production,
    strict: bool,
) -> (Option<ParsedText>, Diagnostics) {
    let mut names = ModelNames::default();
    names.texts.reserve(text.len().min(ROOM) / BYTES_PER_NAME);
    let mut parser =
        TextParser { cursor: Cursor::new(text), names, diagnostics: Diagnostics::new(strict), file, depth: 0 };
    let parsed = parser.production(production);
    let TextParser { diagnostics, mut names, .. } = parser;
    let parsed = parsed.ok().filter(|_| !diagnostics.has_errors());
    let parsed = parsed.map(|parsed| match parsed {
        ParsedText::Model(model) => ParsedText::Model(Box::new(ModelProto { names, ..*model })),
        ParsedText::Graph(graph, _) => ParsedText::Graph(graph, Box::new(names)),
        ParsedText::Function(function, _) => ParsedText::Function(function, Box::new(names)),
        ParsedText::Node(node, _) => ParsedText::Node(node, Box::new(std::mem::take(&mut names))),
    });
    (parsed, diagnostics)
}

/// The error of a part whose errors have been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type TextResult<T> = Result<T, Reported>;

/// The average number of bytes of a text for each new name.
const BYTES_PER_NAME: usize = 64;
/// The maximum number of bytes of a text for whose names memory is reserved. Longer texts are mostly data.
const ROOM: usize = 1 << 24;

/// The maximum number of errors that are reported for a text.
const MAX_ERRORS: usize = 100;

struct TextParser<'t> {
    cursor: Cursor<'t>,
    names: ModelNames,
    diagnostics: Diagnostics,
    file: FileId,
    /// The nesting depth of messages in the protobuf form.
    depth: u32,
}

impl TextParser<'_> {
    fn production(&mut self, production: Production) -> TextResult<ParsedText> {
        let names = Box::default;
        let parsed = match production {
            Production::Model => ParsedText::Model(Box::new(self.model()?)),
            Production::Graph => ParsedText::Graph(Box::new(self.graph()?), names()),
            Production::Function => ParsedText::Function(Box::new(self.function()?), names()),
            Production::Node => ParsedText::Node(Box::new(self.single_node()?), names()),
        };
        self.cursor.skip();
        match self.cursor.at_end() {
            true => Ok(parsed),
            false => Err(self.unexpected("the end of the text")),
        }
    }

    fn report(&mut self, code: Code, span: Span, message: impl Into<String>) -> Reported {
        self.report_with_help(code, span, message, None)
    }

    fn report_with_help(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Reported {
        let at = Location::new(self.file, span);
        self.diagnostics.report(Diagnostic::new(code, at, message).help_if(help));
        Reported
    }

    /// Reports an unexpected token at the current position.
    fn unexpected(&mut self, expected: &str) -> Reported {
        self.cursor.skip();
        let (span, found) = self.cursor.token();
        let (found_text, label) = match found {
            "" => ("the end of the text".to_owned(), "the text ends".to_owned()),
            found => (format!("`{found}`"), format!("unexpected `{found}`")),
        };
        let help = found.starts_with('\'').then(|| "strings are written in double quotes".to_owned());
        let message = format!("expected {expected}, found {found_text}");
        let finding = Diagnostic::new(Code::OnnxSyntax, Location::new(self.file, span), message).label(label);
        self.diagnostics.report(finding.help_if(help));
        Reported
    }

    fn expect(&mut self, byte: u8, expected: &str) -> TextResult<()> {
        match self.cursor.eat(byte) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Reads something that adds `messages` to the nesting depth of the protobuf form.
    fn nested<T>(&mut self, messages: u32, read: impl FnOnce(&mut Self) -> TextResult<T>) -> TextResult<T> {
        if self.depth + messages > super::protobuf::MAX_DEPTH {
            let (span, _) = self.cursor.token();
            let message = "types or graphs are nested deeper than protobuf files allow";
            return Err(self.report(Code::TooDeep, span, message));
        }
        self.depth += messages;
        let found = read(self);
        self.depth -= messages;
        found
    }

    /// Reads a list whose items are separated by commas, up to its closing bracket; the opening bracket has been
    /// consumed.
    fn list(&mut self, last: u8, closing: &str, mut item: impl FnMut(&mut Self) -> TextResult<()>) -> TextResult<()> {
        loop {
            item(self)?;
            if !self.cursor.eat(b',') {
                return self.expect(last, closing);
            }
        }
    }
}

#[cfg(test)]
mod tests;
