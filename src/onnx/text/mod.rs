//! The text notation of models: reading and printing.
//!
//! The grammar has no operators and is decided by the next token, as the flat syntax of NNEF is. So it is
//! read in the same way: by a function for each rule, straight from bytes, without a list of tokens.

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

use super::model::{Function, Graph, Model, ModelNames, Node};
use cursor::Cursor;

/// What a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub(crate) enum Production {
    /// A model: a graph, and functions behind it.
    #[default]
    Model,
    /// A graph.
    Graph,
    /// A function.
    Function,
    /// A node.
    Node,
}

/// What was read: a model, or a part of one by itself.
#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    Model(Box<Model>),
    Graph(Box<Graph>, Box<ModelNames>),
    Function(Box<Function>, Box<ModelNames>),
    Node(Box<Node>, Box<ModelNames>),
}

/// Reads a text. There is a result where no error was found.
pub(crate) fn parse(file: FileId, text: &str, production: Production, strict: bool) -> (Option<Parsed>, Diagnostics) {
    let mut names = ModelNames::default();
    names.texts.reserve(text.len().min(ROOM) / BYTES_PER_NAME);
    let mut parser = Parser { cursor: Cursor::new(text), names, diagnostics: Diagnostics::new(strict), file, depth: 0 };
    let parsed = parser.production(production);
    let Parser { diagnostics, mut names, .. } = parser;
    let parsed = parsed.ok().filter(|_| !diagnostics.has_errors());
    let parsed = parsed.map(|parsed| match parsed {
        Parsed::Model(model) => Parsed::Model(Box::new(Model { names, ..*model })),
        Parsed::Graph(graph, _) => Parsed::Graph(graph, Box::new(names)),
        Parsed::Function(function, _) => Parsed::Function(function, Box::new(names)),
        Parsed::Node(node, _) => Parsed::Node(node, Box::new(std::mem::take(&mut names))),
    });
    (parsed, diagnostics)
}

/// An error that was reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Read<T> = Result<T, Reported>;

/// The bytes of a text, on average, in which a new name occurs.
const BYTES_PER_NAME: usize = 64;
/// The bytes of a text for whose names there is room from the start. Longer ones are mostly data.
const ROOM: usize = 1 << 24;

/// The most errors that are looked for in a text.
const MAX_ERRORS: usize = 100;

struct Parser<'t> {
    cursor: Cursor<'t>,
    names: ModelNames,
    diagnostics: Diagnostics,
    file: FileId,
    /// How many messages of the protobuf form are open.
    depth: u32,
}

impl Parser<'_> {
    fn production(&mut self, production: Production) -> Read<Parsed> {
        let names = Box::default;
        let parsed = match production {
            Production::Model => Parsed::Model(Box::new(self.model()?)),
            Production::Graph => Parsed::Graph(Box::new(self.graph()?), names()),
            Production::Function => Parsed::Function(Box::new(self.function()?), names()),
            Production::Node => Parsed::Node(Box::new(self.single_node()?), names()),
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

    /// Reports that something else stands at the current place than what is expected there.
    fn unexpected(&mut self, expected: &str) -> Reported {
        self.cursor.skip();
        let (span, found) = self.cursor.token();
        let message = match found {
            "" => format!("{expected} is expected, the text ends here"),
            found => format!("{expected} is expected, `{found}` stands here"),
        };
        let help = found.starts_with('\'').then(|| "strings stand in double quotes".to_owned());
        self.report_with_help(Code::OnnxSyntax, span, message, help)
    }

    fn expect(&mut self, byte: u8, expected: &str) -> Read<()> {
        match self.cursor.eat(byte) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Reads something that is so many messages within messages in the protobuf form.
    fn nested<T>(&mut self, messages: u32, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth + messages > super::protobuf::MAX_DEPTH {
            let (span, _) = self.cursor.token();
            let message = "types or graphs are nested deeper than protobuf files can be";
            return Err(self.report(Code::TooDeep, span, message));
        }
        self.depth += messages;
        let found = read(self);
        self.depth -= messages;
        found
    }

    /// Reads a list whose items are separated by commas, up to its last bracket; `first` was eaten.
    fn list(&mut self, last: u8, closing: &str, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
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
