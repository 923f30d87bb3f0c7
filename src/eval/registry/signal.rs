//! Discrete Fourier transforms. The last axis, of extent 2, has the real and imaginary parts.

use ndarray::{Array2, ArrayD, Axis, IxDyn};

use crate::eval::array::scalars;
use crate::eval::call::{Call, KernelResult};
use crate::eval::error::EvalError;

use super::arrange::is_given;
use super::{natural, one, unfit};

/// The discrete Fourier transform of complex numbers, one in each row.
fn transform(signal: &Array2<f64>, inverse: bool) -> Array2<f64> {
    let count = signal.nrows();
    let turn = if inverse { 2.0 } else { -2.0 } * std::f64::consts::PI / count.max(1) as f64;
    // The powers of the root of unity repeat after `count`.
    let roots: Vec<(f64, f64)> = (0..count).map(|i| (turn * i as f64).sin_cos()).collect();
    Array2::from_shape_fn((count, 2), |(k, part)| {
        let term = |n: usize| {
            let ((sin, cos), (re, im)) = (roots[n * k % count], (signal[[n, 0]], signal[[n, 1]]));
            if part == 0 { re * cos - im * sin } else { re * sin + im * cos }
        };
        (0..count).map(term).sum::<f64>()
    })
}

/// The operand and the axis of the transform, which is not the last.
fn operand(call: &Call) -> Result<(ArrayD<f64>, usize), EvalError> {
    let input = scalars(&*call.numbers("input")?);
    let axis = call.axis("axis", input.ndim())?;
    if input.shape().last() != Some(&2) || axis + 1 == input.ndim() {
        return Err(unfit(call, &[input.shape()]));
    }
    Ok((input, axis))
}

/// The transform along an axis; the inverse is not divided by the number of items.
pub(in crate::eval) fn fft(call: &Call) -> KernelResult {
    let (input, axis) = operand(call)?;
    let inverse = call.flag("inverse")?;
    let count = input.shape()[axis];
    call.budget().product(input.len(), count)?;
    let mut output = ArrayD::zeros(input.raw_dim());
    each_signal(&input, axis, |at, signal| {
        let found = transform(&signal, inverse);
        for (i, row) in found.rows().into_iter().enumerate() {
            let mut to = at.clone();
            to[axis] = i;
            row.iter().enumerate().for_each(|(part, item)| output[IxDyn(&[&to[..], &[part]].concat())] = *item);
        }
    });
    one(output)
}

/// Calls a function with every signal along an axis, and its index, which is 0 along that axis.
fn each_signal(input: &ArrayD<f64>, axis: usize, mut f: impl FnMut(Vec<usize>, Array2<f64>)) {
    let mut outer = input.shape()[..input.ndim() - 1].to_vec();
    let count = std::mem::replace(&mut outer[axis], 1);
    for at in ndarray::indices(IxDyn(&outer)) {
        let at: Vec<usize> = ndarray::Dimension::slice(&at).to_vec();
        let signal = Array2::from_shape_fn((count, 2), |(i, part)| {
            let mut from = at.clone();
            from[axis] = i;
            from.push(part);
            input[IxDyn(&from)]
        });
        f(at, signal);
    }
}

/// Short-time Fourier transform: a new axis after the given axis has the transform of each frame.
pub(in crate::eval) fn stft(call: &Call) -> KernelResult {
    let (input, axis) = operand(call)?;
    let (frame, stride) = (natural(call, "frame")?, natural(call, "stride")?);
    let window =
        is_given(call, "window").then(|| call.numbers("window")).transpose()?.map(|window| window.to_scalars());
    let count = input.shape()[axis];
    if frame > count || stride == 0 || window.as_ref().is_some_and(|window| window.len() > frame) {
        return Err(EvalError::shapes(format!("a frame of {frame} items does not fit {:?}", input.shape())));
    }
    let frames = (count - frame) / stride + 1;
    let mut shape = input.shape().to_vec();
    shape[axis] = frames;
    shape.insert(axis + 1, frame);
    let size = call.budget().room(&shape)?;
    call.budget().product(size, frame)?;
    // A window shorter than the frame is centred in it.
    let weights = window.map(|window| {
        let left = (frame - window.len()) / 2;
        (0..frame)
            .map(|i| i.checked_sub(left).and_then(|i| window.get(i)).copied().unwrap_or(0.0))
            .collect::<Vec<f64>>()
    });
    let mut output = ArrayD::zeros(IxDyn(&shape));
    each_signal(&input, axis, |at, signal| {
        for f in 0..frames {
            let mut part = signal.slice_axis(Axis(0), (f * stride..f * stride + frame).into()).to_owned();
            if let Some(weights) = &weights {
                part.rows_mut().into_iter().zip(weights).for_each(|(mut row, weight)| row *= *weight);
            }
            for ((i, complex), item) in transform(&part, false).indexed_iter() {
                let mut to = at.clone();
                to[axis] = f;
                to.insert(axis + 1, i);
                to.push(complex);
                output[IxDyn(&to)] = *item;
            }
        }
    });
    one(output)
}
