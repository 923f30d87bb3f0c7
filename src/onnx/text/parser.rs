//! The parser: its state, its errors, and lists and nesting.

use super::cursor::Cursor;
use super::marks::TextMarks;
use super::production::{ParsedText, Production};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::onnx::model::ModelNames;
use crate::source::{FileId, Location, Span};

/// The error of a part whose errors have been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

pub(super) type TextResult<T> = Result<T, Reported>;

/// The maximum number of errors that are reported for a text.
pub(super) const MAX_ERRORS: usize = 100;

pub(super) struct TextParser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) names: ModelNames,
    pub(super) diagnostics: Diagnostics,
    pub(super) file: FileId,
    /// The nesting depth of messages in the protobuf form.
    pub(super) depth: u32,
    /// The places of names, if they are wanted.
    pub(super) marks: Option<Box<TextMarks>>,
}

impl TextParser<'_> {
    pub(super) fn production(&mut self, production: Production) -> TextResult<ParsedText> {
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

    pub(super) fn report(&mut self, code: Code, span: Span, message: impl Into<String>) -> Reported {
        self.report_with_help(code, span, message, None)
    }

    pub(super) fn report_with_help(
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
    pub(super) fn unexpected(&mut self, expected: &str) -> Reported {
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

    pub(super) fn expect(&mut self, byte: u8, expected: &str) -> TextResult<()> {
        match self.cursor.eat(byte) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Reads something that adds `messages` to the nesting depth of the protobuf form.
    pub(super) fn nested<T>(&mut self, messages: u32, read: impl FnOnce(&mut Self) -> TextResult<T>) -> TextResult<T> {
        if self.depth + messages > crate::onnx::protobuf::MAX_DEPTH {
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
    pub(super) fn list(
        &mut self,
        last: u8,
        closing: &str,
        mut item: impl FnMut(&mut Self) -> TextResult<()>,
    ) -> TextResult<()> {
        loop {
            item(self)?;
            if !self.cursor.eat(b',') {
                return self.expect(last, closing);
            }
        }
    }
}
