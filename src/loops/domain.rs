//! Where the machine computes, and why a value may be missing.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network, Type};
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
    /// In which trips.
    pub(crate) trips: Vec<(LoopId, u64)>,
}

/// A value, or why there is none.
pub(crate) type Slot<V> = Result<V, Arc<Failure>>;

/// What is being computed.
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

    /// The name of the layer's result.
    pub(crate) fn name(&self) -> &str {
        self.net.layer(self.layer).output.map_or("", |output| self.net.name_of(output))
    }
}

/// A loop output that collects elements.
pub(crate) struct Collecting<'a> {
    /// Where.
    pub(crate) site: Site<'a>,
    /// The place of the new axis.
    pub(crate) axis: usize,
    /// The extent of the new axis.
    pub(crate) length: usize,
    /// Whether the last element comes first.
    pub(crate) reverse: bool,
    /// The type of elements, where known.
    pub(crate) element: Option<&'a Type>,
}
