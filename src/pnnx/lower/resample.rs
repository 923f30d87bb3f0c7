//! Padding, resampling, and shuffles between channels and pixels.

use super::windows::pairs;
use super::{Line, integers};
use crate::graph::{TensorId, Value};

/// The spatial extents, after batch and channels.
fn inner(extents: &[i64]) -> Option<&[i64]> {
    extents.get(2..).filter(|inner| !inner.is_empty())
}

/// Pads a tensor; `amounts` are pairs for the axes from the last one on.
fn padded(line: &mut Line, amounts: &[i64], border: &str, value: f64) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)? as usize;
    let fits =
        amounts.len().is_multiple_of(2) && amounts.len() / 2 <= rank && amounts.iter().all(|amount| *amount >= 0);
    fits.then_some(())?;
    let mut padding: Vec<(i64, i64)> = amounts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    padding.resize(rank, (0, 0));
    padding.reverse();
    let arguments = vec![Value::Tensor(x), pairs(padding), Value::String(border.into()), Value::Scalar(value)];
    Some(vec![line.add("pad", arguments)?])
}

/// A padding whose border mode is a parameter.
pub(super) fn pad(line: &mut Line) -> Option<Vec<TensorId>> {
    let border = match line.word("mode").as_deref() {
        None | Some("constant") => "constant",
        Some("reflect") => "reflect",
        Some("replicate") => "replicate",
        Some(_) => return None,
    };
    let value = line.number("value").unwrap_or(0.0);
    let amounts = line.setting("pad")?.integers()?;
    padded(line, &amounts, border, value)
}

/// A padding whose border mode is determined by the kind of the operator.
pub(super) fn pad_with(line: &mut Line, border: &'static str) -> Option<Vec<TensorId>> {
    let value = line.number("value").unwrap_or(0.0);
    let amounts = line.setting("padding")?.integers()?;
    padded(line, &amounts, border, value)
}

/// The factors of a resampling, and whether it is a down-sampling, from the parameter `size` or `scale_factor`. Only
/// integral factors are supported.
fn factors(line: &Line, inner: &[i64]) -> Option<(Vec<i64>, bool)> {
    let count = inner.len();
    let all = |items: Vec<f64>| if items.len() == 1 { vec![items[0]; count] } else { items };
    let ratios: Vec<f64> = match (line.setting("size").and_then(|size| size.floats()), line.setting("scale_factor")) {
        (Some(size), _) if !size.is_empty() => {
            all(size).iter().zip(inner).map(|(to, from)| to / *from as f64).collect()
        }
        (_, Some(scale)) => all(scale.floats()?),
        _ => return None,
    };
    let whole = |ratios: &[f64]| {
        let whole = ratios.iter().all(|ratio| *ratio >= 1.0 && *ratio < 1e6 && ratio.fract() == 0.0);
        (whole && ratios.len() == count).then(|| ratios.iter().map(|ratio| *ratio as i64).collect::<Vec<i64>>())
    };
    if let Some(factors) = whole(&ratios) {
        return Some((factors, false));
    }
    let factors = whole(&ratios.iter().map(|ratio| 1.0 / ratio).collect::<Vec<f64>>())?;
    inner.iter().zip(&factors).all(|(extent, factor)| extent % factor == 0).then_some((factors, true))
}

/// A resampling by integral factors.
pub(super) fn interpolate(line: &mut Line) -> Option<Vec<TensorId>> {
    let kind = line.operator.kind.as_str();
    let (mode, aligned) = match kind {
        "nn.UpsamplingNearest2d" | "F.upsample_nearest" => ("nearest".to_owned(), false),
        "nn.UpsamplingBilinear2d" | "F.upsample_bilinear" => ("bilinear".to_owned(), true),
        _ => (line.word("mode").unwrap_or_else(|| "nearest".to_owned()), line.flag("align_corners")),
    };
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let (factors, smaller) = factors(line, inner(&extents)?)?;
    let factor = integers(factors);
    let method = |method: &str| Value::String(method.into());
    let (nnef, more) = match (mode.as_str(), smaller) {
        ("nearest" | "nearest-exact", false) => ("nearest_upsample", vec![]),
        ("nearest", true) => ("nearest_downsample", vec![]),
        ("area", true) => ("area_downsample", vec![]),
        ("linear" | "bilinear" | "trilinear", false) => {
            let ways = if aligned { "aligned" } else { "symmetric" };
            ("multilinear_upsample", vec![method(ways), method("replicate")])
        }
        _ => return None,
    };
    Some(vec![line.add(nnef, [vec![Value::Tensor(x), factor], more].concat())?])
}

/// Splits axes, transposes them, and joins them again.
fn shuffled(line: &mut Line, x: TensorId, apart: Vec<i64>, order: Vec<i64>, to: Vec<i64>) -> Option<Vec<TensorId>> {
    let apart = line.add("reshape", vec![Value::Tensor(x), integers(apart)])?;
    let turned = line.add("transpose", vec![Value::Tensor(apart), integers(order)])?;
    Some(vec![line.add("reshape", vec![Value::Tensor(turned), integers(to)])?])
}

/// The extents of an image: the outer extents, and channels, height and width.
fn image(line: &Line, x: TensorId) -> Option<(Vec<i64>, [i64; 3])> {
    let extents = line.extents(x).filter(|extents| !extents.contains(&0))?;
    let outer = extents.len().checked_sub(3)?;
    Some((extents[..outer].to_vec(), [extents[outer], extents[outer + 1], extents[outer + 2]]))
}

/// The axis order of a transposition that does not change the outer axes.
fn behind(outer: &[i64], order: &[i64]) -> Vec<i64> {
    let count = outer.len() as i64;
    (0..count).chain(order.iter().map(|axis| axis + count)).collect()
}

/// Moves channels to pixels.
pub(super) fn pixel_shuffle(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.integer("upscale_factor").filter(|r| *r > 0)?);
    let (outer, [c, h, w]) = image(line, x)?;
    (c % r.checked_mul(r)? == 0).then_some(())?;
    let channels = c / (r * r);
    let apart = [&outer[..], &[channels, r, r, h, w]].concat();
    let to = [&outer[..], &[channels, h * r, w * r]].concat();
    shuffled(line, x, apart, behind(&outer, &[0, 3, 1, 4, 2]), to)
}

/// Moves pixels to channels.
pub(super) fn pixel_unshuffle(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.integer("downscale_factor").filter(|r| *r > 0)?);
    let (outer, [c, h, w]) = image(line, x)?;
    (h % r == 0 && w % r == 0).then_some(())?;
    let apart = [&outer[..], &[c, h / r, r, w / r, r]].concat();
    let to = [&outer[..], &[c.checked_mul(r)?.checked_mul(r)?, h / r, w / r]].concat();
    shuffled(line, x, apart, behind(&outer, &[0, 2, 4, 1, 3]), to)
}

/// Interleaves the channels of groups.
pub(super) fn channel_shuffle(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, groups) = (line.tensor("input")?, line.integer("groups").filter(|groups| *groups > 0)?);
    let extents = line.extents(x).filter(|extents| extents.len() > 1 && !extents.contains(&0))?;
    (extents[1] % groups == 0).then_some(())?;
    let apart = [&[extents[0], groups, extents[1] / groups], &extents[2..]].concat();
    let order = [0, 2, 1].into_iter().chain(3..apart.len() as i64).collect();
    shuffled(line, x, apart, order, extents)
}
