//! Operators with graphs.

use super::{Misfit, single};
use crate::onnx::infer::InferCall;

/// `If`: one truth value decides.
pub(crate) fn branches(call: &InferCall) -> Misfit {
    single(call, 0)
}

/// `Loop`: one count, and one truth value.
pub(crate) fn repeated(call: &InferCall) -> Misfit {
    single(call, 0).or_else(|| single(call, 1))
}
