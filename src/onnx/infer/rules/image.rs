//! Operators on images: resizing and sampling.

use super::axes::axis;
use super::source::natural;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The extent times a scale, rounded down.
fn scaled(extent: &Dim, scale: f64) -> Dim {
    if !scale.is_finite() || scale < 0.0 {
        return Dim::Unknown;
    }
    let whole = scale.round();
    if let Dim::Int(extent) = extent {
        // Scales have 32 bits.
        let scaled = (*extent as f32 * scale as f32).floor();
        return if scaled < 9e15 { Dim::Int(scaled as i64) } else { Dim::Unknown };
    }
    if whole == scale && whole < 9e15 {
        return extent.clone().times(Dim::Int(whole as i64));
    }
    let inverse = (1.0 / scale).round();
    // A scale such as 0.5 divides exactly.
    if (1.0..65536.0).contains(&inverse) && (inverse as i64).count_ones() == 1 && 1.0 / inverse == scale {
        return extent.clone().over(Dim::Int(inverse as i64));
    }
    let times = scale * 256.0;
    if times.fract() == 0.0 && times < 65536.0 {
        return extent.clone().times(Dim::Int(times as i64)).over(Dim::Int(256));
    }
    Dim::Unknown
}

/// Sets the extents of these axes.
fn resized(call: &mut InferCall, axes: &[usize], extent: impl Fn(usize, &Dim) -> Dim) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    for (i, at) in axes.iter().enumerate() {
        shape[*at] = extent(i, &shape[*at]);
    }
    call.give(0, shape);
    Some(())
}

/// The extents of a resize to sizes between which the ratio of the sides is kept.
fn with_ratio(call: &mut InferCall, axes: &[usize], sizes: &[Dim], largest: bool) -> Option<()> {
    let own: Option<Vec<i64>> = axes.iter().map(|at| call.extent(0, *at).known()).collect();
    let sizes: Option<Vec<i64>> = sizes.iter().map(Dim::known).collect();
    let (Some(own), Some(sizes)) = (own, sizes) else { return resized(call, axes, |_, _| Dim::Unknown) };
    // The quotients are compared in the precision of the standard's definition, 32 bits.
    let ratios = sizes.iter().zip(&own).map(|(size, own)| *size as f32 / *own as f32);
    let pick: fn(f32, f32) -> f32 = if largest { f32::max } else { f32::min };
    let scale = ratios.reduce(pick)?;
    if !scale.is_finite() {
        return None;
    }
    resized(call, axes, |_, extent| match extent {
        Dim::Int(extent) => Dim::Int((scale * *extent as f32).round() as i64),
        _ => Dim::Unknown,
    })
}

/// `Resize`, `Upsample`
pub(crate) fn resize(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0)?;
    let axes: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes.into_iter().map(|number| axis(number, rank)).collect::<Option<_>>()?,
        None => (0..rank).collect(),
    };
    // Before version 11, the scales are the second operand; before version 9 they are an attribute.
    let scales_at = if call.version() < 11 { 1 } else { 2 };
    if let Some(scales) = call.floats_of("scales") {
        return scale_by(call, &axes, &scales.into_iter().map(f64::from).collect::<Vec<_>>());
    }
    if scales_at == 2 && call.has(3) {
        let sizes = call.items(3).filter(|sizes| sizes.len() == axes.len());
        let Some(sizes) = sizes else { return resized(call, &axes, |_, _| Dim::Unknown) };
        return match call.text("keep_aspect_ratio_policy").as_deref() {
            Some("not_larger") => with_ratio(call, &axes, &sizes, false),
            Some("not_smaller") => with_ratio(call, &axes, &sizes, true),
            _ => resized(call, &axes, |i, _| natural(sizes[i].clone())),
        };
    }
    match call.floats(scales_at) {
        Some(scales) => scale_by(call, &axes, &scales),
        None => resized(call, &axes, |_, _| Dim::Unknown),
    }
}

fn scale_by(call: &mut InferCall, axes: &[usize], scales: &[f64]) -> Option<()> {
    if scales.len() != axes.len() {
        return resized(call, axes, |_, _| Dim::Unknown);
    }
    resized(call, axes, |i, extent| scaled(extent, scales[i]))
}

/// `GridSample`: the spatial extents are those of the grid.
pub(crate) fn grid_sample(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0).or_else(|| call.rank(1))?;
    let batch = call.shared(&[(0, 0), (1, 0)]);
    let mut shape = vec![batch, call.extent(0, 1)];
    shape.extend((1..rank.checked_sub(1)?).map(|at| call.extent(1, at)));
    call.give(0, shape);
    Some(())
}

/// `AffineGrid`: a place of the source for each place of the result.
pub(crate) fn affine_grid(call: &mut InferCall) -> Option<()> {
    if let Some(size) = call.items(1) {
        let [batch, _, spatial @ ..] = &size[..] else { return None };
        let mut shape = vec![natural(batch.clone())];
        shape.extend(spatial.iter().map(|extent| natural(extent.clone())));
        shape.push(Dim::from(i64::try_from(spatial.len()).ok()));
        call.give(0, shape);
        return Some(());
    }
    let rank = call.listed_axes(1)?;
    let spatial = rank.checked_sub(2)?;
    let mut shape = vec![Dim::Unknown; rank];
    shape[0] = call.extent(0, 0);
    shape[rank - 1] = Dim::from(i64::try_from(spatial).ok());
    call.give(0, shape);
    Some(())
}

/// `ImageDecoder`: rows, columns and channels of bytes.
pub(crate) fn image_decoder(call: &mut InferCall) -> Option<()> {
    call.give_element(0, Element::Uint8);
    let channels = match call.text("pixel_format").as_deref() {
        Some("Grayscale") => 1,
        _ => 3,
    };
    call.give(0, [Dim::Unknown, Dim::Unknown, Dim::Int(channels)]);
    Some(())
}
