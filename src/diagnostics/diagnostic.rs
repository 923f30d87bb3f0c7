//! An error or a warning.

use std::error::Error;
use std::fmt;

use super::codes::Code;
use super::visible;
use crate::source::Location;

/// The message that a result has more operations than the budget allows.
pub(crate) fn too_many(what: &str, limit: u64, operations: &str) -> String {
    format!("{what} has more than {limit} {operations}")
}

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// The document is accepted in spite of it.
    Warning,
    /// The document is refused.
    Error,
}

/// A note at another location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The location.
    pub at: Location,
    /// The note.
    pub message: String,
}

/// One of the nested calls of fragments in which a diagnostic was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFrame {
    /// The fragment that was called.
    pub fragment: String,
    /// The call.
    pub at: Location,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The code: what kind of error or warning.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The location in the source.
    pub at: Location,
    /// What is found at that location; none if the location is a whole input.
    pub label: Option<String>,
    /// Notes at other locations that explain it.
    pub labels: Vec<Label>,
    /// How to solve the problem, if that is certain.
    pub help: Option<String>,
    /// The nested calls in which it was found, innermost first.
    pub expansion: Vec<TraceFrame>,
    /// How many calls were omitted from the middle of [`Diagnostic::expansion`], and before which of its
    /// frames.
    pub elided: Option<(usize, usize)>,
}

impl Diagnostic {
    /// A diagnostic with the default severity of its code.
    pub(crate) fn new(code: Code, at: Location, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity(false),
            message: message.into(),
            at,
            label: code.label().map(str::to_owned),
            labels: Vec::new(),
            help: None,
            expansion: Vec::new(),
            elided: None,
        }
    }

    /// The error for a text with more than `limit` bytes.
    pub(crate) fn too_large(at: Location, limit: u64) -> Self {
        let message = format!("the text has more than {limit} bytes");
        Diagnostic::new(Code::TooLarge, at, message).help("raise the limit with --max-text")
    }

    /// Adds the text of the label at the location.
    pub(crate) fn label(mut self, message: impl Into<String>) -> Self {
        self.label = Some(message.into());
        self
    }

    /// Adds a label at another location.
    pub(crate) fn see(mut self, at: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label { at, message: message.into() });
        self
    }

    /// Adds how to solve the problem.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds how to solve the problem, if that is known.
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Whether it is an error, for which the document is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Code, message and help on one line. The location is omitted because it needs the sources;
/// [`Diagnostic::write_human`] shows it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), visible::clean(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "; {}", visible::clean(help)),
            None => Ok(()),
        }
    }
}

impl Error for Diagnostic {}
