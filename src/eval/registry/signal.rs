//! Discrete Fourier transforms. The last axis, of extent 2, has the real and imaginary parts.

use std::sync::Arc;

use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::{Complex, Fourier, SignalFrames, Signals};
use crate::tensor::Tensor;

use super::arrange::is_given;
use super::{natural, unfit};

/// The operand and the axis of the transform, which is not the last.
fn operand(call: &Call) -> Result<(Arc<Tensor>, usize), EvalError> {
    let input = call.numbers("input")?;
    let axis = call.axis("axis", input.rank())?;
    match input.shape().last() {
        Some(2) if axis + 1 < input.rank() => Ok((input, axis)),
        _ => Err(unfit(call, &[input.shape()])),
    }
}

/// The signals of an operand along an axis.
fn signals(input: &Tensor, axis: usize) -> Signals<'_> {
    let (outer, rest) = input.shape().split_at(axis);
    let inner = rest.iter().skip(1).rev().skip(1).product();
    let items = input.items().unwrap_or_default();
    Signals { items, parts: 2, outer: outer.iter().product(), extent: rest[0], inner }
}

/// The transform along an axis; the inverse is not divided by the number of items.
pub(in crate::eval) fn fft(call: &Call) -> KernelResult {
    let (input, axis) = operand(call)?;
    let (count, budget) = (input.shape()[axis], call.budget());
    let frames = SignalFrames { count: 1, step: 1, kept: count };
    let transform = Fourier::new(budget, count, call.flag("inverse")?)?;
    let items = transform.spectra(budget, &signals(&input, axis), &frames, |_| ())?;
    Ok(vec![Tensor::scalars(input.shape(), items)?])
}

/// Short-time Fourier transform: a new axis after the given axis has the transform of each frame.
pub(in crate::eval) fn stft(call: &Call) -> KernelResult {
    let (input, axis) = operand(call)?;
    let (frame, step) = (natural(call, "frame")?, natural(call, "stride")?);
    let window =
        is_given(call, "window").then(|| call.numbers("window")).transpose()?.map(|window| window.to_scalars());
    let extent = input.shape()[axis];
    if frame > extent || step == 0 || window.as_ref().is_some_and(|window| window.len() > frame) {
        return Err(EvalError::shapes(format!("a frame of {frame} items does not fit {:?}", input.shape())));
    }
    let count = (extent - frame) / step + 1;
    let mut shape = input.shape().to_vec();
    shape[axis] = count;
    shape.insert(axis + 1, frame);
    // A window shorter than the frame is centred in it.
    let weight = |window: &Vec<f64>, i: usize| {
        i.checked_sub((frame - window.len()) / 2).and_then(|i| window.get(i)).copied().unwrap_or(0.0)
    };
    let weighted = |signal: &mut [Complex]| {
        for (i, number) in signal.iter_mut().enumerate().filter(|_| window.is_some()) {
            *number = number.map(|part| part * window.as_ref().map_or(1.0, |window| weight(window, i)));
        }
    };
    let transform = Fourier::new(call.budget(), frame, false)?;
    let frames = SignalFrames { count, step, kept: frame };
    let items = transform.spectra(call.budget(), &signals(&input, axis), &frames, weighted)?;
    Ok(vec![Tensor::scalars(&shape, items)?])
}
