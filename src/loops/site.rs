//! Sites of computations, and failures.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network};
use super::ops::Op;
use crate::diagnostics::Code;
use crate::source::Span;

/// A failed computation.
#[derive(Clone, Debug)]
pub(crate) struct ComputationError {
    /// The code.
    pub(crate) code: Code,
    /// The location.
    pub(crate) at: Span,
    /// The message.
    pub(crate) message: String,
    /// The running trips, the outermost first.
    pub(crate) trips: Vec<(LoopId, u64)>,
}

impl ComputationError {
    /// A failure outside of all trips.
    pub(crate) fn new(code: Code, at: Span, message: impl Into<String>) -> Arc<ComputationError> {
        Arc::new(ComputationError { code, at, message: message.into(), trips: Vec::new() })
    }
}

/// A value, or the failure of its computation.
pub(crate) type Computed<V> = Result<V, Arc<ComputationError>>;

/// A layer in a trip of each loop around it.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    /// The network.
    pub(crate) net: &'a Network,
    /// The layer.
    pub(crate) layer: LayerId,
    /// The running trips, the outermost first.
    pub(crate) trips: &'a [(LoopId, u64)],
}

impl Site<'_> {
    /// A failure at this site.
    pub(crate) fn fail(&self, code: Code, message: impl Into<String>) -> Arc<ComputationError> {
        let at = self.net.layer(self.layer).at;
        Arc::new(ComputationError { code, at, message: message.into(), trips: self.trips.to_vec() })
    }

    /// The failure of an operation that is not defined for its operands.
    pub(crate) fn refuse(&self, op: Op, message: &str) -> Arc<ComputationError> {
        self.fail(Code::LayerOperands, format!("`{}` of `{}`: {message}", op.name(), self.name()))
    }

    /// The name of the layer's result.
    pub(crate) fn name(&self) -> &str {
        self.net.layer(self.layer).output.map_or("", |output| self.net.name_of(output))
    }

    /// The location and name of the layer, for messages.
    pub(crate) fn place(&self) -> (Span, &str) {
        (self.net.layer(self.layer).at, self.name())
    }
}
