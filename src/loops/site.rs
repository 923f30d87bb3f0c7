//! Where the machine computes, and why a value may be missing.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network, TensorId, Type};
use super::ops::Op;
use crate::diagnostics::Code;
use crate::source::Span;
use crate::tensor::{DType, Dims};

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

    /// The failure of an operation that is not defined for its operands.
    pub(crate) fn refuse(&self, op: Op, message: &str) -> Arc<Failure> {
        self.fail(Code::LayerOperands, format!("`{}` of `{}`: {message}", op.name(), self.name()))
    }

    /// The failure of an iterator whose index is outside of its axis.
    pub(crate) fn out_of_range(&self, of: TensorId, index: i64, extent: usize) -> Arc<Failure> {
        let (name, tensor) = (self.name(), self.net.name_of(of));
        let message = format!("iterator `{name}` asks for index {index} of an axis of `{tensor}` that has {extent}");
        self.fail(Code::IteratorRange, message)
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

impl<'a> Collecting<'a> {
    /// The failure of a loop output that is shorter than the trip count.
    pub(crate) fn too_short(&self) -> Arc<Failure> {
        let name = self.site.name();
        let message = format!("loop output `{name}` has length {}, and there are more trips", self.length);
        self.site.fail(Code::OutputTooShort, message)
    }

    /// The failure of a loop output whose elements have different shapes.
    pub(crate) fn other_shape(&self) -> Arc<Failure> {
        let message = format!("the elements of loop output `{}` have different shapes", self.site.name());
        self.site.fail(Code::OutputShape, message)
    }

    /// The type of the elements of a loop output without any, if it is known.
    pub(crate) fn element_type(&self) -> Slot<(DType, Dims)> {
        self.element.and_then(Type::closed).ok_or_else(|| {
            let message = format!("without any trip the shape of `{}` is not known", self.site.name());
            self.site.fail(Code::OutputShape, message)
        })
    }
}
