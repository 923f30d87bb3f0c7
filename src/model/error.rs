//! What can go wrong with a model before there is a document to point into.

use std::fmt;
use std::io;
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Location, Sources};

/// Why a model could not be read or written.
#[derive(Debug)]
pub enum ModelError {
    /// Reading or writing failed.
    Io {
        /// The file or folder.
        path: String,
        /// How.
        error: io::Error,
    },
    /// The model is not acceptable.
    Refused(Refusal),
    /// The place for the result is not acceptable.
    Target(String),
}

/// What is not acceptable about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind.
    pub code: Code,
    /// The folder or archive.
    pub model: String,
    /// The sentence that says it.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Refusal {
    /// The refusal as a finding, and the sources that it speaks of.
    pub fn diagnostic(self) -> (Sources, Diagnostic) {
        let mut sources = Sources::new();
        let file = sources.add(self.model, "");
        let at = Location { file, ..Location::default() };
        (sources, Diagnostic::new(self.code, at, self.message).help_if(self.help))
    }
}

impl ModelError {
    /// A failure of reading or writing.
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        ModelError::Io { path: path.display().to_string(), error }
    }

    /// A refusal.
    pub(super) fn refused(code: Code, model: &Path, message: impl Into<String>) -> Self {
        let model = model.display().to_string();
        ModelError::Refused(Refusal { code, model, message: message.into(), help: None })
    }

    /// Says what to do about a refusal.
    pub(super) fn help(mut self, help: &str) -> Self {
        if let ModelError::Refused(refusal) = &mut self {
            refusal.help = Some(help.to_string());
        }
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ModelError::Io { path, error } => write!(f, "{path}: {error}"),
            ModelError::Refused(refusal) => write!(f, "{}: {}", refusal.model, refusal.message),
            ModelError::Target(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ModelError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
