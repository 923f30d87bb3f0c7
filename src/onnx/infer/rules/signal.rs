//! Fourier transforms.

use super::axes::axis;
use super::source::natural;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The number of different frequencies of a real signal.
fn half(length: Dim) -> Dim {
    length.over(Dim::Int(2)).plus(Dim::Int(1))
}

/// `DFT`: the last axis has the real and the imaginary part.
pub(crate) fn dft(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let rank = shape.len();
    // From version 20 on, the axis is an operand, and the default is the last one before the parts.
    let number = if call.version() < 20 {
        Some(call.int_or("axis", 1))
    } else if call.has(2) {
        call.item(2).known()
    } else {
        Some(-2)
    };
    let onesided = call.int_or("onesided", 0) != 0;
    let inverse = call.int_or("inverse", 0) != 0;
    let parts = Dim::Int(if onesided && inverse { 1 } else { 2 });
    let Some(at) = number.and_then(|number| axis(number, rank)) else {
        if onesided || call.has(1) {
            shape = vec![Dim::Unknown; rank];
        }
        *shape.last_mut()? = parts;
        call.give(0, shape);
        return Some(());
    };
    let length = match (call.has(1), onesided && inverse) {
        (true, _) => natural(call.item(1)),
        (false, false) => shape[at].clone(),
        (false, true) => shape[at].clone().minus(Dim::Int(1)).times(Dim::Int(2)),
    };
    shape[at] = if onesided && !inverse { half(length) } else { length };
    *shape.last_mut()? = parts;
    call.give(0, shape);
    Some(())
}

/// `STFT`: batch, frames, frequencies, and the two parts.
pub(crate) fn stft(call: &mut InferCall) -> Option<()> {
    let length = match (call.has(3), call.has(2)) {
        (true, _) => natural(call.item(3)),
        (false, true) => call.extent(2, 0),
        (false, false) => Dim::Unknown,
    };
    let frames = match call.item(1) {
        step if step.is_at_least(1) => call.extent(0, 1).minus(length.clone()).over(step).plus(Dim::Int(1)),
        _ => Dim::Unknown,
    };
    let frequencies = if call.int_or("onesided", 1) != 0 { half(length) } else { length };
    let shape = [call.extent(0, 0), frames, frequencies, Dim::Int(2)];
    call.give(0, shape);
    Some(())
}
