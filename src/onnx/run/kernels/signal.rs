//! Signals: Fourier transforms, windows, and the matrix of mel frequencies.

use super::reals::{Reals, around};
use crate::eval::EvalError;
use crate::onnx::run::call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// A complex number.
type Complex = [f64; 2];

/// A Fourier transform of a length.
struct Transform {
    /// The powers of the root of unity.
    roots: Vec<Complex>,
    inverse: bool,
}

impl Transform {
    fn new(call: &NodeCall, length: usize, inverse: bool) -> Result<Self, EvalError> {
        let sign = if inverse { 1.0 } else { -1.0 };
        let root = |k: usize| {
            let angle = sign * 2.0 * std::f64::consts::PI * k as f64 / length as f64;
            [angle.cos(), angle.sin()]
        };
        Ok(Transform { roots: (0..call.budget.room(&[length])?).map(root).collect(), inverse })
    }

    fn length(&self) -> usize {
        self.roots.len()
    }

    /// The transform of as many numbers as its length.
    fn apply(&self, call: &NodeCall, signal: &[Complex]) -> Result<Vec<Complex>, EvalError> {
        let mut result = signal.to_vec();
        let odd = self.length() >> self.length().trailing_zeros().min(63);
        call.budget.product(self.length(), odd + 64)?;
        self.split(&mut result, 1);
        if self.inverse {
            let factor = 1.0 / self.length() as f64;
            result.iter_mut().flatten().for_each(|part| *part *= factor);
        }
        Ok(result)
    }

    /// Transforms in place by those of the even and of the odd numbers, or directly if their number is odd.
    fn split(&self, signal: &mut [Complex], step: usize) {
        let count = signal.len();
        let product = |[a, b]: Complex, k: usize| {
            let [c, d] = self.roots[k * step % self.length()];
            [a * c - b * d, a * d + b * c]
        };
        if count % 2 == 1 || count < 2 {
            let direct = |k: usize| {
                let terms = signal.iter().enumerate().map(|(j, &x)| product(x, j * k % count));
                terms.fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]])
            };
            let result: Vec<Complex> = (0..count).map(direct).collect();
            signal.copy_from_slice(&result);
            return;
        }
        let part = |first: usize| signal.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
        let (mut even, mut odd) = (part(0), part(1));
        self.split(&mut even, step * 2);
        self.split(&mut odd, step * 2);
        for k in 0..count / 2 {
            let ([a, b], [c, d]) = (even[k], product(odd[k], k));
            signal[k] = [a + c, b + d];
            signal[k + count / 2] = [a - c, b - d];
        }
    }
}

/// The number at a place of signals that are real or complex.
fn number(items: &[f64], parts: usize, place: usize) -> Complex {
    [items[place * parts], if parts == 2 { items[place * parts + 1] } else { 0.0 }]
}

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
    let transform = Transform::new(call, length, inverse)?;
    let mut shape = x.shape.to_vec();
    shape[axis] = if half && !inverse { length / 2 + 1 } else { length };
    // A half of a spectrum is that of a real signal.
    shape[rank - 1] = if half && inverse { 1 } else { 2 };
    let (kept, width) = (shape[axis], shape[rank - 1]);
    let mut result = vec![0.0; call.budget.room(&shape)?];
    let mut signal = vec![[0.0; 2]; length];
    for row in 0..outer * inner {
        let (block, within) = (row / inner, row % inner);
        signal.fill([0.0; 2]);
        for (i, to) in signal.iter_mut().enumerate().take(extent) {
            *to = number(&x.items, parts, (block * extent + i) * inner + within);
        }
        if half && inverse {
            for i in length / 2 + 1..length {
                let [a, b] = signal[length - i];
                signal[i] = [a, -b];
            }
        }
        for (i, found) in transform.apply(call, &signal)?.iter().enumerate().take(kept) {
            let at = ((block * kept + i) * inner + within) * width;
            result[at..at + width].copy_from_slice(&found[..width]);
        }
    }
    one(call.rounded(x.dtype, &shape, result)?)
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
    let (transform, frames) = (Transform::new(call, frame, false)?, (samples - frame) / step + 1);
    let half = call.flag("onesided", true)?;
    let kept = if half { frame / 2 + 1 } else { frame };
    let shape = [batch, frames, kept, 2];
    let mut result = Vec::with_capacity(call.budget.room(&shape)?);
    let mut signal = vec![[0.0; 2]; frame];
    for at in 0..batch * frames {
        let start = at / frames * samples + at % frames * step;
        for (i, to) in signal.iter_mut().enumerate() {
            let weight = window.as_ref().map_or(1.0, |window| window.items.get(i).copied().unwrap_or(0.0));
            *to = number(&x.items, parts, start + i).map(|part| part * weight);
        }
        result.extend(transform.apply(call, &signal)?.into_iter().take(kept).flatten());
    }
    one(call.rounded(x.dtype, &shape, result)?)
}

/// A window: a function of the part of its length.
fn window(call: &NodeCall, f: impl Fn(f64) -> f64) -> KernelResult {
    let size = usize::try_from(call.single(0)?).map_err(|_| call.refused("the size is negative"))?;
    let dtype = call.dtype_attribute("output_datatype")?.unwrap_or(DType::Float32);
    let count = if call.flag("periodic", true)? { size } else { size.saturating_sub(1) };
    call.budget.room(&[size])?;
    // The definition divides by the count: a single item that is not periodic is 0/0.
    let at = |i: usize| 2.0 * std::f64::consts::PI * i as f64 / count as f64;
    one(call.rounded(dtype, &[size], (0..size).map(|i| f(at(i))).collect::<Vec<_>>())?)
}

/// `HannWindow`.
pub(in crate::onnx) fn hann(call: &NodeCall) -> KernelResult {
    window(call, |angle| 0.5 - 0.5 * angle.cos())
}

/// `HammingWindow`.
pub(in crate::onnx) fn hamming(call: &NodeCall) -> KernelResult {
    window(call, |angle| 25.0 / 46.0 - 21.0 / 46.0 * angle.cos())
}

/// `BlackmanWindow`.
pub(in crate::onnx) fn blackman(call: &NodeCall) -> KernelResult {
    window(call, |angle| 0.42 - 0.5 * angle.cos() + 0.08 * (2.0 * angle).cos())
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
