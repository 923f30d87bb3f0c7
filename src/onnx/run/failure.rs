//! The failure of a node.

use crate::diagnostics::Code;
use crate::eval::EvalError;

/// Why a model could not be evaluated, and where.
#[derive(Clone, Debug)]
pub(crate) struct RunFailure {
    pub(crate) error: EvalError,
    /// The start of the node, if it concerns one.
    pub(crate) at: Option<u32>,
}

impl RunFailure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        EvalError::new(code, message).into()
    }

    /// The failure with the place of a node, unless a node in it has failed.
    pub(super) fn at(self, at: u32) -> Self {
        RunFailure { at: self.at.or(Some(at)), ..self }
    }
}

impl From<EvalError> for RunFailure {
    fn from(error: EvalError) -> Self {
        RunFailure { error, at: None }
    }
}
