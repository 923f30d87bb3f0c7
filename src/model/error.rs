//! Errors of reading and writing models, which have no location in a document.

use std::fmt;
use std::io;
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Location, Sources};

/// The error of a model that could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// Reading or writing failed.
    Io {
        /// The file or folder.
        path: String,
        /// The failure.
        error: io::Error,
    },
    /// The model is not valid.
    Refused {
        /// The code of the refusal.
        code: Code,
        /// The folder or archive.
        model: String,
        /// The message.
        message: String,
        /// How to solve the problem.
        help: Option<String>,
    },
    /// The model cannot be written to the path.
    Target(String),
}

impl ModelError {
    /// A refusal as a diagnostic, with the sources that it refers to.
    ///
    /// # Errors
    ///
    /// Any other error is returned unchanged.
    pub(crate) fn diagnostic(self) -> Result<(Sources, Diagnostic), Self> {
        let ModelError::Refused { code, model, message, help } = self else { return Err(self) };
        let mut sources = Sources::new();
        let at = Location { file: sources.add(model, ""), ..Location::default() };
        Ok((sources, Diagnostic::new(code, at, message).help_if(help)))
    }

    /// A failure of reading or writing.
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        ModelError::Io { path: path.display().to_string(), error }
    }

    /// A refusal.
    pub(super) fn refused(code: Code, model: &Path, message: impl Into<String>) -> Self {
        let model = model.display().to_string();
        ModelError::Refused { code, model, message: message.into(), help: None }
    }

    /// Adds how to solve the problem.
    pub(super) fn help(mut self, text: &str) -> Self {
        if let ModelError::Refused { help, .. } = &mut self {
            *help = Some(text.to_string());
        }
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ModelError::Io { path, error } => write!(f, "{path}: {error}"),
            ModelError::Refused { model, message, .. } => write!(f, "{model}: {message}"),
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
