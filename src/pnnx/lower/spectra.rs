//! Spectra of signals: transforms of windows that overlap, and signals that have such spectra.

use super::LoweringRule::By;
use super::complex::ComplexParts;
use super::fourier::{self, AxisTransform};
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::library::assembly::pairs;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] =
    &[(&["torch.stft"], By(forward)), (&["torchaudio.functional.spectrogram"], By(spectrogram))];

/// The windows of a signal.
#[derive(Clone, Copy)]
struct SignalFrames {
    /// The number of items of a window.
    size: i64,
    /// The distance of windows.
    hop: i64,
    /// The factors of the items; none if all are 1.
    window: Option<TensorId>,
    centred: bool,
}

/// How spectra are normalized.
#[derive(Clone, Copy, PartialEq)]
enum SpectrumNorm {
    None,
    /// By the root of the number of items of a window.
    Size,
    /// By the root of the sum of the squares of the factors.
    Window,
}

impl SignalFrames {
    /// The windows that settings say, whose factors are in the middle of zeros.
    fn read(line: &mut Line) -> Lowered<SignalFrames> {
        let size = line.at_least("n_fft", 1, None)?;
        let hop = line.optional("hop_length")?.unwrap_or(size / 4);
        line.require("hop_length", hop > 0, "a positive integer")?;
        let length = line.optional("win_length")?.unwrap_or(size);
        line.require("win_length", (1..=size).contains(&length), &format!("an integer from 1 to {size}"))?;
        let window = match line.has_tensor("window") {
            true => Some(line.tensor("window")?),
            false if length == size => None,
            false => Some(line.filled(&[length], ExpandedItem::Literal(Literal::Float(1.0)), Primitive::Scalar)?),
        };
        let window = match window {
            Some(window) if line.extents(window)? != [length] => return Err(Refusal::UNFIT),
            Some(window) => {
                let before = size.saturating_sub(length) / 2;
                let after = size.saturating_sub(length).saturating_sub(before);
                Some(extended(line, window, before, after, "constant")?)
            }
            None => None,
        };
        Ok(SignalFrames { size, hop, window, centred: line.optional("center")?.unwrap_or(true) })
    }

    /// The places of items that a signal has on both sides, if windows are in the middle of their places.
    fn margin(&self) -> i64 {
        if self.centred { self.size / 2 } else { 0 }
    }
}

/// A tensor with more items on both sides of its last axis.
fn extended(line: &mut Line, x: TensorId, before: i64, after: i64, border: &str) -> Lowered<TensorId> {
    if (before, after) == (0, 0) {
        return Ok(x);
    }
    let rank = line.rank(x)?;
    let padding = (1..rank).map(|_| (0, 0)).chain([(before, after)]);
    if border == super::resample::CIRCULAR {
        return super::resample::circular(line, x, &padding.collect::<Vec<_>>());
    }
    let border = Value::String(border.into());
    line.add("pad", vec![Value::Tensor(x), pairs(padding), border, Value::Scalar(0.0)])
}

/// The words for what is beyond the ends of signals.
const BORDERS: &[(&str, &str)] = &[
    ("reflect", "reflect"),
    ("constant", "constant"),
    ("replicate", "replicate"),
    ("circular", super::resample::CIRCULAR),
];

/// The spectra of signals along the last axis: (…, frequencies, windows).
fn spectra(line: &mut Line, x: TensorId, of: SignalFrames, halved: bool) -> Lowered<ComplexParts> {
    let border = line.choice("pad_mode", BORDERS, Some("reflect"))?;
    let x = line.cast(x, Primitive::Scalar)?;
    let x = extended(line, x, of.margin(), of.margin(), border)?;
    let last = line.rank(x)?.saturating_sub(1);
    let length = extent_of(&line.extents(x)?, last)?;
    let rest = Some(length.saturating_sub(of.size)).filter(|rest| *rest >= 0).ok_or(Refusal::UNFIT)?;
    let count = rest.checked_div(of.hop).ok_or(Refusal::UNFIT)?.saturating_add(1);
    let firsts = line.spaced(2, 0, 0, of.hop, count)?;
    let within = line.counting((2, 1), of.size)?;
    let places = line.add("add", vec![Value::Tensor(firsts), Value::Tensor(within)])?;
    let mut frames = line.taken(x, places, last)?;
    if let Some(window) = of.window {
        frames = line.formula_of("mul(@0,@1)", &[frames, window])?;
    }
    let columns = if halved { (of.size / 2).saturating_add(1) } else { of.size };
    let step = AxisTransform { axis: last.saturating_add(1), count: of.size, columns, inverse: false };
    let parts = fourier::step(line, ComplexParts { re: frames, im: None }, step)?;
    exchanged(line, parts)
}

/// Both parts with their last two axes exchanged.
fn exchanged(line: &mut Line, ComplexParts { re, im }: ComplexParts) -> Lowered<ComplexParts> {
    let mut order: Vec<i64> = (0..line.rank(re)?).collect();
    let last = order.len().saturating_sub(1);
    order.swap(last.saturating_sub(1), last);
    let mut turned = |part: TensorId| line.transposed(part, &order);
    Ok(ComplexParts { re: turned(re)?, im: im.map(turned).transpose()? })
}

/// Both parts, divided by the root of the sum of the squares of the factors, or multiplied with it.
fn by_window(
    line: &mut Line,
    ComplexParts { re, im }: ComplexParts,
    of: SignalFrames,
    formula: &str,
) -> Lowered<ComplexParts> {
    let root = match of.window {
        Some(window) => {
            let squares = line.add("sqr", vec![Value::Tensor(window)])?;
            let sum = line.add("sum_reduce", vec![Value::Tensor(squares), integers([0])])?;
            let sum = line.without_axes(sum, &[0])?;
            line.add("sqrt", vec![Value::Tensor(sum)])?
        }
        None => line.numbers(&[], |_| (of.size as f64).sqrt())?,
    };
    let mut scaled = |part: TensorId| line.formula_of(formula, &[part, root]);
    Ok(ComplexParts { re: scaled(re)?, im: im.map(scaled).transpose()? })
}

/// `torch.stft`.
fn forward(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let of = SignalFrames::read(line)?;
    let halved = line.optional("onesided")?.unwrap_or(true);
    let parts = spectra(line, x, of, halved)?;
    let scale = if line.flag("normalized")? { (of.size as f64).powf(-0.5) } else { 1.0 };
    let parts = line.scaled_parts(parts, scale)?;
    let y = line.joined(parts)?;
    if !line.flag("return_complex")? {
        line.complex.remove(&y);
    }
    line.ignore("align_to_window");
    Ok(vec![y])
}

/// How an operator of torchaudio normalizes.
fn norm(line: &Line) -> Lowered<SpectrumNorm> {
    match line.is_word("normalized") {
        true => {
            line.choice("normalized", &[("window", SpectrumNorm::Window), ("frame_length", SpectrumNorm::Size)], None)
        }
        false => Ok(if line.flag("normalized")? { SpectrumNorm::Window } else { SpectrumNorm::None }),
    }
}

/// `torchaudio.functional.spectrogram`: powers of the absolute values of spectra, or the spectra.
fn spectrogram(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["waveform", "input"]))?;
    let of = SignalFrames::read(line)?;
    let halved = line.optional("onesided")?.unwrap_or(true);
    let pad = line.at_least("pad", 0, Some(0))?;
    let x = line.cast(x, Primitive::Scalar)?;
    let x = extended(line, x, pad, pad, "constant")?;
    let mut parts = spectra(line, x, of, halved)?;
    parts = match norm(line)? {
        SpectrumNorm::None => parts,
        SpectrumNorm::Size => line.scaled_parts(parts, (of.size as f64).powf(-0.5))?,
        SpectrumNorm::Window => by_window(line, parts, of, "div(@0,@1)")?,
    };
    line.ignore("return_complex");
    let Some(power) = line.optional::<f64>("power")? else { return Ok(vec![line.joined(parts)?]) };
    let items = [parts.re, parts.im.ok_or(Refusal::UNFIT)?];
    let square = "add(sqr(@0),sqr(@1))";
    Ok(vec![match power {
        1.0 => line.formula_of(&format!("sqrt({square})"), &items)?,
        2.0 => line.formula_of(square, &items)?,
        power => line.formula_of(&format!("pow({square},{:?})", power / 2.0), &items)?,
    }])
}

/// Sums of windows (batch, items, windows) at their places.
fn overlapped(line: &mut Line, frames: TensorId, of: SignalFrames) -> Lowered<TensorId> {
    let shape = line.extents(frames)?;
    let &[batch, size, count] = &shape[..] else { return Err(Refusal::UNFIT) };
    let length = count.saturating_sub(1).checked_mul(of.hop).and_then(|length| length.checked_add(size));
    let length = length.ok_or(Refusal::UNFIT)?;
    let (row, column) = (line.counting((2, 0), size)?, line.counting((2, 1), size)?);
    let filter = line.add("eq", vec![Value::Tensor(row), Value::Tensor(column)])?;
    let filter = line.cast(filter, Primitive::Scalar)?;
    let filter = line.with_axes(filter, [1])?;
    let arguments = [
        Value::Tensor(filter),
        Value::Scalar(0.0),
        Value::String("constant".into()),
        pairs([(0, 0)]),
        integers([of.hop]),
        integers([1]),
        integers([batch, 1, length]),
        Value::Int(1),
    ];
    let y = line.on("deconv", frames, arguments)?;
    line.without_axes(y, &[1])
}

/// The signals (batch, items) that have spectra (batch, frequencies, windows), by the mean of what overlaps.
fn signals(
    line: &mut Line,
    parts: ComplexParts,
    of: SignalFrames,
    halved: bool,
    complex: bool,
    scale: f64,
    length: Option<i64>,
) -> Lowered<ComplexParts> {
    let parts = exchanged(line, parts)?;
    let frequencies = extent_of(&line.extents(parts.re)?, 2)?;
    let wanted = if halved { (of.size / 2).saturating_add(1) } else { of.size };
    line.require("n_fft", frequencies == wanted, &format!("the size of windows with {frequencies} frequencies"))?;
    let frames = match halved {
        true => ComplexParts { re: fourier::to_real(line, parts, 2, of.size, scale)?, im: None },
        false => {
            let step = AxisTransform { axis: 2, count: of.size, columns: of.size, inverse: true };
            let all = fourier::step(line, parts, step)?;
            line.scaled_parts(all, scale)?
        }
    };
    let count = extent_of(&line.extents(frames.re)?, 1)?;
    let ones = |line: &mut Line| line.filled(&[of.size], ExpandedItem::Literal(Literal::Float(1.0)), Primitive::Scalar);
    let weights = match of.window {
        Some(window) => line.add("sqr", vec![Value::Tensor(window)])?,
        None => ones(line)?,
    };
    let weights = line.reshaped(weights, &[1, of.size, 1])?;
    let weights = line.expanded(weights, &[1, of.size, count])?;
    let weights = overlapped(line, weights, of)?;
    let all = extent_of(&line.extents(weights)?, 1)?;
    let begin = of.margin();
    let end = match length {
        Some(length) => begin.saturating_add(length),
        None => all.saturating_sub(begin),
    };
    let within = begin..end.min(all);
    if within.is_empty() {
        return Err(Refusal::Because("no item of the signal would be left".into()));
    }
    let weights = line.part_of(weights, 1, within.clone())?;
    let mut part = |part: TensorId| {
        let part = match of.window {
            Some(window) => line.formula_of("mul(@0,@1)", &[part, window])?,
            None => part,
        };
        let part = line.transposed(part, &[0, 2, 1])?;
        let part = overlapped(line, part, of)?;
        let part = line.part_of(part, 1, within.clone())?;
        let part = line.formula_of("div(@0,@1)", &[part, weights])?;
        extended(line, part, 0, end.saturating_sub(within.end), "constant")
    };
    let re = part(frames.re)?;
    let im = if complex { frames.im.map(part).transpose()? } else { None };
    Ok(ComplexParts { re, im })
}

/// A batch of spectra from the last two axes of an operand, and the axes before.
fn batched(line: &mut Line, parts: ComplexParts) -> Lowered<(ComplexParts, Vec<i64>)> {
    let extents = line.extents(parts.re)?;
    let [outer @ .., frequencies, count] = &extents[..] else { return Err(Refusal::UNFIT) };
    let shape = [product(outer)?, *frequencies, *count];
    let re = line.reshaped(parts.re, &shape)?;
    let im = parts.im.map(|im| line.reshaped(im, &shape)).transpose()?;
    Ok((ComplexParts { re, im }, outer.to_vec()))
}

/// A tensor of (batch, items) with the axes of a batch.
fn apart(line: &mut Line, x: TensorId, outer: &[i64]) -> Lowered<TensorId> {
    let length = extent_of(&line.extents(x)?, 1)?;
    line.reshaped(x, &[outer, &[length]].concat())
}

/// `torch.istft`.
pub(super) fn inverse(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let parts = line.parts("input")?;
    let of = SignalFrames::read(line)?;
    let (parts, outer) = batched(line, parts)?;
    let frequencies = extent_of(&line.extents(parts.re)?, 1)?;
    let halved = line.optional("onesided")?.unwrap_or(frequencies != of.size);
    let complex = line.flag("return_complex")?;
    line.require("return_complex", !(complex && halved), "`False` for half of a spectrum")?;
    let scale = (of.size as f64).powf(if line.flag("normalized")? { -0.5 } else { -1.0 });
    let length = line.optional::<i64>("length")?;
    let ComplexParts { re, im } = signals(line, parts, of, halved, complex, scale, length)?;
    let re = apart(line, re, &outer)?;
    if !complex {
        return Ok(vec![re]);
    }
    let im = im.map(|im| apart(line, im, &outer)).transpose()?;
    Ok(vec![line.joined(ComplexParts { re, im })?])
}

/// `torchaudio.functional.inverse_spectrogram`.
pub(super) fn waveform(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let parts = line.parts(line.key_of(&["spectrogram", "input"]))?;
    let of = SignalFrames::read(line)?;
    let (mut parts, outer) = batched(line, parts)?;
    let halved = line.optional("onesided")?.unwrap_or(true);
    let pad = line.at_least("pad", 0, Some(0))?;
    let norm = norm(line)?;
    if norm == SpectrumNorm::Window {
        parts = by_window(line, parts, of, "mul(@0,@1)")?;
    }
    let scale = (of.size as f64).powf(if norm == SpectrumNorm::Size { -0.5 } else { -1.0 });
    let length = line.optional::<i64>("length")?;
    let padded = length.map(|length| length.saturating_add(pad.saturating_mul(2)));
    let mut y = signals(line, parts, of, halved, false, scale, padded)?.re;
    if let Some(length) = length {
        y = line.part_of(y, 1, pad..pad.saturating_add(length))?;
    }
    Ok(vec![apart(line, y, &outer)?])
}
