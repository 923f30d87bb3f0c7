//! Where the machine computes, and why a value may be missing.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network, Type};
use crate::diagnostics::Code;
use crate::source::Span;

/// Why something cannot be computed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind.
    pub code: Code,
    /// Where.
    pub at: Span,
    /// The sentence.
    pub message: String,
    /// In which trips.
    pub trips: Vec<(LoopId, u64)>,
}

/// A value, or why there is none.
pub type Slot<V> = Result<V, Arc<Failure>>;

/// What is being computed.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The network.
    pub net: &'a Network,
    /// The layer.
    pub layer: LayerId,
    /// The running trips, the outermost first.
    pub trips: &'a [(LoopId, u64)],
}

impl Site<'_> {
    /// A failure here.
    pub fn fail(&self, code: Code, message: impl Into<String>) -> Arc<Failure> {
        let at = self.net.layer(self.layer).at;
        Arc::new(Failure { code, at, message: message.into(), trips: self.trips.to_vec() })
    }

    /// The name of the layer's result.
    pub fn name(&self) -> &str {
        self.net.layer(self.layer).output.map_or("", |output| self.net.name_of(output))
    }
}

/// A loop output that collects elements.
pub struct Collecting<'a> {
    /// Where.
    pub site: Site<'a>,
    /// The place of the new axis.
    pub axis: usize,
    /// The extent of the new axis.
    pub length: usize,
    /// Whether the last element comes first.
    pub reverse: bool,
    /// The type of elements, where known.
    pub element: Option<&'a Type>,
}
