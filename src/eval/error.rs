//! Failures of an evaluation.

use std::fmt;

use crate::diagnostics::{Code, Diagnostic};
use crate::graph::origin::with_origin;
use crate::graph::{Graph, OperationId};
use crate::parts::MissingPart;
use crate::tensor::TensorError;

/// The reason why a graph or one of its operations could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvalError {
    /// The kind of failure.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The operation whose evaluation failed, set by the evaluator; none if the failure concerns no single
    /// operation.
    pub(crate) operation: Option<OperationId>,
}

impl EvalError {
    /// A failure of a kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        EvalError { code, message: message.into(), operation: None }
    }

    /// The refusal of an evaluation in a build without kernels.
    pub(crate) fn missing(part: MissingPart) -> Self {
        EvalError::new(Code::NotBuilt, part.reason())
    }

    /// Incompatible shapes of operands, or an attribute that does not match a shape.
    pub(crate) fn shapes(message: impl Into<String>) -> Self {
        EvalError::new(Code::EvalShapes, message)
    }

    /// A value for which an operation is not defined.
    pub(crate) fn value(message: impl Into<String>) -> Self {
        EvalError::new(Code::EvalValue, message)
    }

    /// An argument of another kind than the operation takes.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        EvalError::new(Code::EvalArgument, message)
    }

    /// The failure as a diagnostic at the location of the operation, with the chain of calls.
    pub(crate) fn diagnostic(&self, graph: &Graph) -> Diagnostic {
        let operation = self.operation.or_else(|| {
            // A failure that concerns no operation is reported at the first operation.
            (!graph.operations.is_empty()).then_some(OperationId::at(0))
        });
        let operation = operation.and_then(|id| graph.operations.get(id.index()));
        let at = operation.map_or_else(Default::default, |operation| operation.at);
        let mut diagnostic = Diagnostic::new(self.code, at, self.message.clone());
        if self.code == Code::EvalShapes {
            let shapes = operation.and_then(|operation| graph.operand_shapes(operation));
            diagnostic.label = shapes.or(diagnostic.label);
        }
        match operation.filter(|_| self.operation.is_some()) {
            Some(operation) => with_origin(graph, operation, diagnostic),
            None => diagnostic,
        }
    }
}

impl From<TensorError> for EvalError {
    fn from(error: TensorError) -> Self {
        EvalError::shapes(error.0)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for EvalError {}
