//! Elementwise operations: their operands are broadcast to a common shape (H1).

use super::outcome::{RuleResult, ShapeError, UNKNOWN, refuse, same};
use super::shape::{Extent, Extents};
use super::shape_call::Call;
use crate::diagnostics::Code;
use crate::extents::{self, Align, Misaligned};

/// All tensor arguments are broadcast.
pub(crate) fn elementwise(call: &Call) -> RuleResult {
    broadcast_all(call, call.operands())
}

/// All tensor arguments are broadcast, but the result always has the shape of the first one.
pub(crate) fn normalization(call: &Call) -> RuleResult {
    let channels = call.extents(0).and_then(|input| input.get(1));
    elementwise(call).map_err(|error| {
        let code = if of_channels(call, channels) { Code::ChannelAxis } else { error.code };
        ShapeError { code, ..error }.but(call.shape(0).cloned())
    })
}

/// Whether the parameters of a normalization have one item for each channel along their last axis.
fn of_channels(call: &Call, channels: Option<&Extent>) -> bool {
    let suits = |extents: &[Extent]| match extents {
        [ones @ .., last] => {
            let one = |extent: &Extent| *extent == Extent::ONE;
            ones.iter().all(one) && (one(last) || channels.is_some_and(|channels| channels.unify(last).is_some()))
        }
        [] => true,
    };
    call.operands().skip(1).all(|operand| operand.is_none_or(&suits))
}

/// The sum of an array of tensors. In 1.0 the sum starts with a zero of shape `[1]`.
pub(crate) fn sum(call: &Call) -> RuleResult {
    let zero = (!call.endless()).then_some(Some(&[Extent::ONE][..]));
    call.list(0).map_or(UNKNOWN, |items| broadcast_all(call, items.into_iter().chain(zero)))
}

/// The shape that all operands are broadcast to; unknown if one of them is. The known ones must still be compatible.
fn broadcast_all<'a>(call: &Call, operands: impl IntoIterator<Item = Option<&'a [Extent]>>) -> RuleResult {
    let mut result: Option<Extents> = None;
    let mut all_known = true;
    for operand in operands {
        match (operand, &result) {
            (None, _) => all_known = false,
            (Some(extents), None) => result = Some(extents.into()),
            (Some(extents), Some(so_far)) if so_far[..] == *extents => {}
            (Some(extents), Some(so_far)) => result = Some(broadcast(call.name(), so_far, extents)?),
        }
    }
    same(result.filter(|_| all_known))
}

/// Whether a tensor has one item for each channel of another along its last axis, as one exporter writes the parameters
/// of a normalization.
fn are_channels(tensor: &[Extent], items: &[Extent]) -> bool {
    match items {
        [ones @ .., last] if ones.len() > 1 => {
            ones.iter().all(|extent| *extent == Extent::ONE) && tensor.get(1) == Some(last)
        }
        _ => false,
    }
}

/// The extents that two operands are broadcast to. Shapes are aligned at the first axis; missing axes at the
/// end have extent 1.
pub(crate) fn broadcast(operation: &str, a: &[Extent], b: &[Extent]) -> Result<Extents, ShapeError> {
    extents::broadcast(a, b, Align::First).or_else(|found: Misaligned<Extent>| {
        let (axis, [from, to]) = (found.axis, found.extents);
        let shapes = format!("the operands of `{operation}` have shapes {a:?} and {b:?}");
        // Tensors of different ranks may be meant to be aligned at their last axes, as other tools do.
        let meant = a.len() != b.len() || are_channels(a, b) || are_channels(b, a);
        let code = if meant { Code::BroadcastShapes } else { Code::UnequalExtents };
        refuse(code, format!("{shapes}: axis {axis} has extents {from:?} and {to:?}"))
    })
}
