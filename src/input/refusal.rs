//! What is found about an input, with the texts that it refers to, and why an input has no result.

use std::fmt;
use std::io;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::model::ModelError;
use crate::source::{Location, Sources, Span};

/// Diagnostics with the texts that they refer to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// The texts.
    pub sources: Sources,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
    /// The command line that helps, which the command adds to the help of its only diagnostic.
    pub(crate) command: Option<String>,
}

impl Findings {
    pub(crate) fn new(sources: Sources, diagnostics: Diagnostics) -> Self {
        Findings { sources, diagnostics, command: None }
    }

    /// A single diagnostic.
    pub(crate) fn one(sources: Sources, diagnostic: Diagnostic) -> Self {
        let mut diagnostics = Diagnostics::default();
        diagnostics.report(diagnostic);
        Findings::new(sources, diagnostics)
    }

    /// The findings that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter()
    }

    /// Whether the input is refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

impl<'f> IntoIterator for &'f Findings {
    type Item = &'f Diagnostic;
    type IntoIter = std::slice::Iter<'f, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        (&self.diagnostics).into_iter()
    }
}

/// Each finding on a line, with its location.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, found) in self.diagnostics.clone().into_sorted().iter().enumerate() {
            let at = self.sources.start(found.at);
            let end = if i > 0 { "\n" } else { "" };
            write!(f, "{end}{}:{}:{}: {found}", self.sources.name(found.at.file), at.line, at.column)?;
        }
        Ok(())
    }
}

/// Why an input has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// Reading or writing failed.
    Io {
        /// The file, or the name of the stream.
        name: String,
        /// The failure.
        error: io::Error,
    },
    /// What is asked for does not exist for inputs of this kind.
    Unfit(String),
    /// The input is refused; the findings include warnings.
    Found(Box<Findings>),
}

impl Refusal {
    pub(crate) fn io(name: &str, error: io::Error) -> Self {
        Refusal::Io { name: name.to_owned(), error }
    }

    /// The refusal of a file; `diagnostic` gets the location of its start.
    pub(crate) fn of(name: String, text: String, diagnostic: impl FnOnce(Location) -> Diagnostic) -> Self {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        let at = Location { file, ..Location::default() };
        Refusal::Found(Box::new(Findings::one(sources, diagnostic(at))))
    }

    /// The refusal of a file, at a location in its text.
    pub(crate) fn at(name: String, text: &str, span: Span, code: Code, message: String) -> Self {
        Refusal::of(name, text.to_owned(), |file| Diagnostic::new(code, Location { span, ..file }, message))
    }

    /// Adds the command line that helps.
    pub(super) fn command(mut self, command: Option<String>) -> Self {
        if let Refusal::Found(found) = &mut self {
            found.command = command;
        }
        self
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        match error.diagnostic() {
            Ok((sources, diagnostic)) => Refusal::Found(Box::new(Findings::one(sources, diagnostic))),
            Err(ModelError::Io { path, error }) => Refusal::Io { name: path, error },
            Err(other) => Refusal::Unfit(other.to_string()),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::Io { name, error } => write!(f, "{name}: {error}"),
            Refusal::Unfit(message) => f.write_str(message),
            Refusal::Found(found) => found.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Refusal::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
