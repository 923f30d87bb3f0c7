//! Signals: Fourier transforms, windows, and the matrix of mel frequencies.

use super::reals::{Reals, around};
use crate::eval::EvalError;
use crate::eval::kernels::{Complex, Fourier, SignalFrames, Signals};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// A length that an operand gives.
fn length(call: &NodeCall, i: usize) -> Result<Option<usize>, EvalError> {
    let Some(stated) = call.optional_single(i)? else { return Ok(None) };
    let found = usize::try_from(stated).ok().filter(|&length| length > 0);
    found.map(Some).ok_or_else(|| call.refused("a length is not positive"))
}

/// `DFT`.
pub(in crate::onnx) fn dft(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (rank, parts) = (x.shape.len(), x.shape.last().copied().unwrap_or(0));
    if rank < 2 || !(1..=2).contains(&parts) {
        return Err(call.misfit(format!("signals of shape {:?}", x.shape)));
    }
    let axis = match (call.version, call.optional(2)?) {
        (..20, _) => call.int_or("axis", 1)?,
        (_, Some(_)) => call.single(2)?,
        (_, None) => -2,
    };
    let axis = call.axis(axis, rank)?;
    if axis == rank - 1 {
        return Err(call.refused("the axis is that of the parts of numbers"));
    }
    let (inverse, half) = (call.flag("inverse", false)?, call.flag("onesided", false)?);
    let (outer, extent, inner) = around(&x.shape[..rank - 1], axis);
    let default = if inverse && half { extent.saturating_sub(1) * 2 } else { extent };
    let length = length(call, 1)?.unwrap_or(default);
    let mut shape = x.shape.to_vec();
    shape[axis] = if half && !inverse { length / 2 + 1 } else { length };
    // A half of a spectrum is that of a real signal.
    shape[rank - 1] = if half && inverse { 1 } else { 2 };
    let signals = Signals { items: &x.items, parts, outer, extent, inner };
    let frames = SignalFrames { count: 1, step: 1, kept: shape[axis] };
    let mirror = |signal: &mut [Complex]| {
        for i in length / 2 + 1..if half && inverse { length } else { 0 } {
            let [a, b] = signal[length - i];
            signal[i] = [a, -b];
        }
    };
    let mut result = Fourier::new(call.budget, length, inverse)?.spectra(call.budget, &signals, &frames, mirror)?;
    if inverse {
        let factor = 1.0 / length as f64;
        result.iter_mut().for_each(|part| *part *= factor);
    }
    one(call.rounded(x.dtype, &shape, result.into_iter().step_by(2 / shape[rank - 1]))?)
}

/// `STFT`: the transforms of frames of a signal.
pub(in crate::onnx) fn stft(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (batch, samples, parts) = match *x.shape {
        [batch, samples] => (batch, samples, 1),
        [batch, samples, parts @ 1..=2] => (batch, samples, parts),
        _ => return Err(call.misfit(format!("signals of shape {:?}", x.shape))),
    };
    let window = Reals::optional(call, 2)?;
    let step = length(call, 1)?.ok_or_else(|| call.refused("there is no step"))?;
    let frame = match (length(call, 3)?, &window) {
        (Some(frame), _) => frame,
        (None, Some(window)) => window.items.len(),
        (None, None) => samples,
    };
    let wide = window.as_ref().map_or(frame, |window| window.items.len());
    if frame > samples || frame == 0 || wide > frame {
        return Err(call.misfit(format!("frames of {frame} with a window of {wide} for {samples} samples")));
    }
    let count = (samples - frame) / step + 1;
    let kept = if call.flag("onesided", true)? { frame / 2 + 1 } else { frame };
    let signals = Signals { items: &x.items, parts, outer: batch, extent: samples, inner: 1 };
    let weights = window.as_ref().map(|window| window.items.iter().copied().chain(std::iter::repeat(0.0)));
    let weighted = |signal: &mut [Complex]| {
        let pairs = signal.iter_mut().zip(weights.clone().into_iter().flatten());
        pairs.for_each(|(number, weight)| *number = number.map(|part| part * weight));
    };
    let transform = Fourier::new(call.budget, frame, false)?;
    let result = transform.spectra(call.budget, &signals, &SignalFrames { count, step, kept }, weighted)?;
    one(call.rounded(x.dtype, &[batch, count, kept, 2], result)?)
}

/// A window: a function of the part of its length.
pub(in crate::onnx) fn window(call: &NodeCall, f: impl Fn(f64) -> f64) -> KernelResult {
    let size = usize::try_from(call.single(0)?).map_err(|_| call.refused("the size is negative"))?;
    let dtype = call.dtype_attribute("output_datatype")?.unwrap_or(DType::Float32);
    let count = if call.flag("periodic", true)? { size } else { size.saturating_sub(1) };
    call.budget.room(&[size])?;
    // The definition divides by the count: a single item that is not periodic is 0/0.
    let at = |i: usize| 2.0 * std::f64::consts::PI * i as f64 / count as f64;
    one(call.rounded(dtype, &[size], (0..size).map(|i| f(at(i))).collect::<Vec<_>>())?)
}

/// `MelWeightMatrix`: triangles over the bins of a spectrum, equally wide in mel.
pub(in crate::onnx) fn mel_weights(call: &NodeCall) -> KernelResult {
    let natural = |i: usize| usize::try_from(call.single(i)?).map_err(|_| call.refused("an operand is negative"));
    let (bins, length, rate) = (natural(0)?, natural(1)?, natural(2)?);
    let edge = |i: usize| call.single_float(i)?.ok_or_else(|| call.refused("an edge is left out"));
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(edge(3)?), mel(edge(4)?));
    let dtype = call.dtype_attribute("output_datatype")?.unwrap_or(DType::Float32);
    let rows = length / 2 + 1;
    let mut result = vec![0.0; call.budget.room(&[rows, bins])?];
    let step = (high - low) / (bins + 2) as f64;
    let place = |i: usize| {
        let hertz = 700.0 * (10f64.powf((low + i as f64 * step) / 2595.0) - 1.0);
        let place = ((length + 1) as f64 * hertz / rate as f64).floor();
        let fits = (0.0..=rows as f64).contains(&place);
        if fits { Ok(place as usize) } else { Err(call.refused("an edge is outside of the spectrum")) }
    };
    for bin in 0..bins {
        let (left, centre, right) = (place(bin)?, place(bin + 1)?, place(bin + 2)?);
        let mut put = |row: usize, value: f64| {
            if row < rows {
                result[row * bins + bin] = value;
            }
        };
        match centre.saturating_sub(left) {
            0 => put(centre, 1.0),
            width => (left..=centre).for_each(|row| put(row, (row - left) as f64 / width as f64)),
        }
        (centre..right).for_each(|row| put(row, (right - row) as f64 / (right - centre) as f64));
    }
    one(call.rounded(dtype, &[rows, bins], result)?)
}
