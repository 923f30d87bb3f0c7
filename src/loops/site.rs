//! Where something is computed, and why a value may be missing.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network};
use super::ops::Op;
use crate::diagnostics::Code;
use crate::source::Span;

/// Why something cannot be computed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What kind.
    pub(crate) code: Code,
    /// Where.
    pub(crate) at: Span,
    /// The sentence.
    pub(crate) message: String,
    /// In which trips, the outermost first.
    pub(crate) trips: Vec<(LoopId, u64)>,
}

impl Failure {
    /// A failure outside of all trips.
    pub(crate) fn new(code: Code, at: Span, message: impl Into<String>) -> Arc<Failure> {
        Arc::new(Failure { code, at, message: message.into(), trips: Vec::new() })
    }
}

/// A value, or why there is none.
pub(crate) type Computed<V> = Result<V, Arc<Failure>>;

/// A layer in some of its trips.
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
    /// A failure here.
    pub(crate) fn fail(&self, code: Code, message: impl Into<String>) -> Arc<Failure> {
        let at = self.net.layer(self.layer).at;
        Arc::new(Failure { code, at, message: message.into(), trips: self.trips.to_vec() })
    }

    /// The failure of an operation that is not defined for its operands.
    pub(crate) fn refuse(&self, op: Op, message: &str) -> Arc<Failure> {
        self.fail(Code::LayerOperands, format!("`{}` of `{}`: {message}", op.name(), self.name()))
    }

    /// The name of the layer's result.
    pub(crate) fn name(&self) -> &str {
        self.net.layer(self.layer).output.map_or("", |output| self.net.name_of(output))
    }

    /// The layer and its name, for messages.
    pub(crate) fn place(&self) -> (Span, &str) {
        (self.net.layer(self.layer).at, self.name())
    }
}
