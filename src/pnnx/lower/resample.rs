//! Padding, resampling, and shuffles between channels and pixels.

use super::settings::SettingKind;
use super::windows::{pairs, spatial};
use super::{Line, Lowered, Refusal, extent_of, in_groups, integers, product};
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};

/// The spatial extents, after batch and channels.
fn inner(extents: &[i64]) -> Lowered<&[i64]> {
    extents.get(2..).filter(|inner| !inner.is_empty()).ok_or(Refusal::UNFIT)
}

/// Pads a tensor by a setting with pairs for the axes from the last one on.
fn padded(line: &mut Line, key: &str, border: &str, value: f64) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)? as usize;
    let amounts: Vec<i64> = line.required(key)?;
    let fits = amounts.len().is_multiple_of(2) && amounts.len() / 2 <= rank;
    let expected = "a list with two integers that are not negative for each axis";
    line.require(key, fits && amounts.iter().all(|amount| *amount >= 0), expected)?;
    let mut padding: Vec<(i64, i64)> = amounts.as_chunks().0.iter().map(|[before, after]| (*before, *after)).collect();
    padding.resize(rank, (0, 0));
    padding.reverse();
    let arguments = vec![Value::Tensor(x), pairs(padding), Value::String(border.into()), Value::Scalar(value)];
    Ok(vec![line.add("pad", arguments)?])
}

/// A padding whose border mode is a parameter.
pub(super) fn pad(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let modes = [("constant", "constant"), ("reflect", "reflect"), ("replicate", "replicate")];
    let border = line.choice("mode", &modes, Some("constant"))?;
    let value: Option<f64> = line.optional("value")?;
    let has_meaning = border == "constant" || value.is_none_or(|value| value == 0.0);
    line.require("value", has_meaning, "`None` with this mode")?;
    padded(line, "pad", border, value.unwrap_or(0.0))
}

/// A padding whose border mode is determined by the kind of the operator.
pub(super) fn pad_with(line: &mut Line, border: &'static str) -> Lowered<Vec<TensorId>> {
    let constant = line.operator.kind.starts_with("nn.ConstantPad");
    let value = if constant { line.required("value")? } else { 0.0 };
    let (given, wanted) = (line.required::<Vec<i64>>("padding")?.len(), spatial(line)?.saturating_mul(2));
    line.require("padding", given == wanted, &format!("a list of {wanted} integers"))?;
    padded(line, "padding", border, value)
}

/// The factors of a resampling, and whether it is a down-sampling, from the setting `size` or `scale_factor`. Only
/// integral factors are supported.
fn factors(line: &Line, inner: &[i64]) -> Lowered<(Vec<i64>, bool)> {
    let count = inner.len();
    let size = line.optional::<Vec<i64>>("size")?.filter(|size| !size.is_empty());
    let scale = line.optional::<Vec<f64>>("scale_factor")?.filter(|scale| !scale.is_empty());
    let (key, ratios) = match (size, scale.as_deref()) {
        (Some(_), Some(_)) => return Err(line.refuse("scale_factor", "`None` beside a size")),
        (None, None) => return Err(line.refuse("size", <Vec<i64>>::EXPECTED)),
        (Some(_), None) => {
            let size = line.per_axis("size", count, 1, None)?;
            ("size", size.iter().zip(inner).map(|(to, from)| *to as f64 / *from as f64).collect())
        }
        (None, Some([one])) => ("scale_factor", vec![*one; count]),
        (None, Some(scale)) => ("scale_factor", scale.to_vec()),
    };
    let whole = |ratios: &[f64]| {
        let whole = ratios.iter().all(|ratio| *ratio >= 1.0 && *ratio < 1e6 && ratio.fract() == 0.0);
        (whole && ratios.len() == count).then(|| ratios.iter().map(|ratio| *ratio as i64).collect::<Vec<i64>>())
    };
    if let Some(factors) = whole(&ratios) {
        return Ok((factors, false));
    }
    let inverse = whole(&ratios.iter().map(|ratio| 1.0 / ratio).collect::<Vec<f64>>());
    let fits = |(extent, factor): (&i64, &i64)| exact_quotient(*extent, *factor).is_some();
    let inverse = inverse.filter(|factors| inner.iter().zip(factors).all(fits));
    let expected = || line.refuse(key, format!("a resampling of {count} axes by integers"));
    inverse.map(|factors| (factors, true)).ok_or_else(expected)
}

/// A function by which items are resampled.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    /// Differs from `Nearest` if there are fewer items than before.
    NearestExact,
    Area,
    Linear,
}

/// The words for functions.
const MODES: &[(&str, Mode)] = &[
    ("nearest", Mode::Nearest),
    ("nearest-exact", Mode::NearestExact),
    ("area", Mode::Area),
    ("linear", Mode::Linear),
    ("bilinear", Mode::Linear),
    ("trilinear", Mode::Linear),
];

/// A resampling by integral factors.
pub(super) fn interpolate(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let kind = line.operator.kind.as_str();
    let (mode, aligned) = match kind {
        "nn.UpsamplingNearest2d" | "F.upsample_nearest" => (Mode::Nearest, false),
        "nn.UpsamplingBilinear2d" | "F.upsample_bilinear" => (Mode::Linear, true),
        _ => (line.choice("mode", MODES, Some(Mode::Nearest))?, line.flag("align_corners")?),
    };
    line.agrees_with("align_corners", aligned && mode == Mode::Linear)?;
    line.off("antialias")?;
    // For integral factors, the size of the result is the same.
    line.ignore("recompute_scale_factor");
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let (factors, smaller) = factors(line, inner(&extents)?)?;
    let factor = integers(factors);
    let method = |method: &str| Value::String(method.into());
    let (nnef, more) = match (mode, smaller) {
        (Mode::Nearest | Mode::NearestExact, false) => ("nearest_upsample", vec![]),
        (Mode::Nearest, true) => ("nearest_downsample", vec![]),
        (Mode::Area, true) => ("area_downsample", vec![]),
        (Mode::Linear, false) => {
            let ways = if aligned { "aligned" } else { "symmetric" };
            ("multilinear_upsample", vec![method(ways), method("replicate")])
        }
        (Mode::NearestExact | Mode::Linear, true) | (Mode::Area, false) => {
            let which = if smaller { "fewer" } else { "more" };
            return Err(Refusal::Because(format!("NNEF has no such resampling to {which} items").into()));
        }
    };
    Ok(vec![line.add(nnef, [vec![Value::Tensor(x), factor], more].concat())?])
}

/// Splits axes, transposes them, and joins them again.
fn shuffled(line: &mut Line, x: TensorId, apart: Vec<i64>, order: Vec<i64>, to: Vec<i64>) -> Lowered<Vec<TensorId>> {
    let apart = line.add("reshape", vec![Value::Tensor(x), integers(apart)])?;
    let turned = line.add("transpose", vec![Value::Tensor(apart), integers(order)])?;
    Ok(vec![line.add("reshape", vec![Value::Tensor(turned), integers(to)])?])
}

/// The extents of an image: the outer extents, and channels, height and width.
fn image(line: &Line, x: TensorId) -> Lowered<(Vec<i64>, [i64; 3])> {
    let extents = line.extents(x)?;
    match &extents[..] {
        [outer @ .., c, h, w] if !extents.contains(&0) => Ok((outer.to_vec(), [*c, *h, *w])),
        _ => Err(Refusal::UNFIT),
    }
}

/// The axis order of a transposition that does not change the outer axes.
fn behind(outer: &[i64], order: &[i64]) -> Vec<i64> {
    let count = outer.len() as i64;
    (0..count).chain(order.iter().map(|axis| axis.saturating_add(count))).collect()
}

/// Moves channels to pixels.
pub(super) fn pixel_shuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.at_least("upscale_factor", 1, None)?);
    let (outer, [c, h, w]) = image(line, x)?;
    let channels = r.checked_mul(r).and_then(|square| exact_quotient(c, square));
    let expected = || line.refuse("upscale_factor", format!("a root of a divisor of {c} channels"));
    let channels = channels.ok_or_else(expected)?;
    let apart = [&outer[..], &[channels, r, r, h, w]].concat();
    let to = [&outer[..], &[channels, product(&[h, r])?, product(&[w, r])?]].concat();
    shuffled(line, x, apart, behind(&outer, &[0, 3, 1, 4, 2]), to)
}

/// Moves pixels to channels.
pub(super) fn pixel_unshuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.at_least("downscale_factor", 1, None)?);
    let (outer, [c, h, w]) = image(line, x)?;
    let (Some(rows), Some(columns)) = (exact_quotient(h, r), exact_quotient(w, r)) else {
        return Err(line.refuse("downscale_factor", format!("a divisor of {h} and {w}")));
    };
    let apart = [&outer[..], &[c, rows, r, columns, r]].concat();
    let to = [&outer[..], &[product(&[c, r, r])?, rows, columns]].concat();
    shuffled(line, x, apart, behind(&outer, &[0, 2, 4, 1, 3]), to)
}

/// Interleaves the channels of groups.
pub(super) fn channel_shuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, groups) = (line.tensor("input")?, line.at_least("groups", 1, None)?);
    let extents = line.extents(x)?;
    let channels = extent_of(&extents, 1)?;
    if extents.contains(&0) {
        return Err(Refusal::UNFIT);
    }
    let expected = || line.refuse("groups", format!("a divisor of {channels} channels"));
    let apart = in_groups(&extents, groups).ok_or_else(expected)?;
    let order = [0, 2, 1].into_iter().chain(3..apart.len() as i64).collect();
    shuffled(line, x, apart, order, extents)
}
