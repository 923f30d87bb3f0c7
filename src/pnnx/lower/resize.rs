//! Resampling. It is linear along each axis, so that each item of the result is a sum of items by constant weights: a
//! selection of items where each has one weight, and else a product with a matrix. Integral factors are operations.

use super::settings::SettingKind;
use super::{Line, Lowered, Refusal, integers, pools};
use crate::dictionary::{CUBIC_SLOPE, cubic};
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

/// A function by which items are resampled.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    /// The item whose middle is nearest.
    NearestExact,
    Area,
    Linear,
    Cubic,
}

/// The words for functions.
const MODES: &[(&str, Mode)] = &[
    ("nearest", Mode::Nearest),
    ("nearest-exact", Mode::NearestExact),
    ("area", Mode::Area),
    ("linear", Mode::Linear),
    ("bilinear", Mode::Linear),
    ("trilinear", Mode::Linear),
    ("bicubic", Mode::Cubic),
];

/// How an operator resamples.
#[derive(Clone, Copy)]
struct Resampling {
    mode: Mode,
    /// Whether the middles of the first and last items stay where they are.
    aligned: bool,
    antialias: bool,
}

/// An axis: its extent, that of the result, and the factor, if it is what determines places.
#[derive(Clone, Copy)]
struct AxisSize {
    from: i64,
    to: i64,
    factor: Option<f64>,
}

impl AxisSize {
    /// The distance of neighbouring items of the result in items of the operand.
    fn step(self, aligned: bool) -> f64 {
        match (aligned, self.factor) {
            (true, _) if self.to > 1 => (self.from as f64 - 1.0) / (self.to as f64 - 1.0),
            (true, _) => 0.0,
            (false, Some(factor)) => 1.0 / factor,
            (false, None) => self.from as f64 / self.to as f64,
        }
    }
}

/// The spatial extents, after batch and channels.
fn inner(extents: &[i64]) -> Lowered<&[i64]> {
    extents.get(2..).filter(|inner| !inner.is_empty() && !extents.contains(&0)).ok_or(Refusal::UNFIT)
}

/// The axes of a resampling, from the setting `size` or `scale_factor`, and the name of the setting.
fn sizes(line: &Line, inner: &[i64]) -> Lowered<(&'static str, Vec<AxisSize>)> {
    let count = inner.len();
    let size = line.optional::<Vec<i64>>("size")?.filter(|size| !size.is_empty());
    let scale = line.optional::<Vec<f64>>("scale_factor")?.filter(|scale| !scale.is_empty());
    let kept = !line.flag("recompute_scale_factor")?;
    let scale = match (size, scale) {
        (Some(_), Some(_)) => return Err(line.refuse("scale_factor", "`None` beside a size")),
        (None, None) => return Err(line.refuse("size", <Vec<i64>>::EXPECTED)),
        (Some(_), None) => {
            let size = line.per_axis("size", count, 1, None)?;
            let axes = inner.iter().zip(size).map(|(from, to)| AxisSize { from: *from, to, factor: None });
            return Ok(("size", axes.collect()));
        }
        (None, Some(scale)) => scale,
    };
    let scale = if let [one] = scale[..] { vec![one; count] } else { scale };
    let axis = |(from, factor): (&i64, &f64)| {
        let to = Some(*from as f64 * factor).filter(|to| (1.0..1e9).contains(to))?;
        Some(AxisSize { from: *from, to: to as i64, factor: Some(*factor).filter(|_| kept) })
    };
    let axes = inner.iter().zip(&scale).map(axis).collect::<Option<Vec<AxisSize>>>();
    let axes = axes.filter(|_| scale.len() == count);
    Ok(("scale_factor", axes.ok_or_else(|| line.refuse("scale_factor", format!("positive factors for {count} axes")))?))
}

/// Integral factors to more items, if all are.
fn larger(axes: &[AxisSize]) -> Option<Vec<i64>> {
    let whole = |axis: &AxisSize| {
        let whole = exact_quotient(axis.to, axis.from)?;
        axis.factor.is_none_or(|factor| factor == whole as f64).then_some(whole)
    };
    axes.iter().map(whole).collect()
}

/// Integral factors to fewer items, if all are.
fn smaller(axes: &[AxisSize]) -> Option<Vec<i64>> {
    let whole = |axis: &AxisSize| {
        let whole = exact_quotient(axis.from, axis.to)?;
        axis.factor.is_none_or(|factor| factor == 1.0 / whole as f64).then_some(whole)
    };
    axes.iter().map(whole).collect()
}

/// The operation for integral factors, if NNEF has one.
fn operation(of: Resampling, axes: &[AxisSize]) -> Option<(&'static str, Vec<i64>, Vec<Value>)> {
    let method = |method: &str| Value::String(method.into());
    match (of.mode, larger(axes), smaller(axes)) {
        _ if of.antialias => None,
        (Mode::Nearest | Mode::NearestExact, Some(factors), _) => Some(("nearest_upsample", factors, vec![])),
        (Mode::Nearest, None, Some(factors)) => Some(("nearest_downsample", factors, vec![])),
        (Mode::Area, None, Some(factors)) => Some(("area_downsample", factors, vec![])),
        (Mode::Linear, Some(factors), _) => {
            let ways = if of.aligned { "aligned" } else { "symmetric" };
            Some(("multilinear_upsample", factors, vec![method(ways), method("replicate")]))
        }
        _ => None,
    }
}

/// A resampling, with the convention of the operator about the ends.
pub(super) fn interpolate(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let kind = line.kind.as_str();
    let (mode, aligned) = match kind {
        "nn.UpsamplingNearest2d" | "F.upsample_nearest" => (Mode::Nearest, false),
        "nn.UpsamplingBilinear2d" | "F.upsample_bilinear" => (Mode::Linear, true),
        _ => (line.choice("mode", MODES, Some(Mode::Nearest))?, line.flag("align_corners")?),
    };
    let curved = matches!(mode, Mode::Linear | Mode::Cubic);
    line.agrees_with("align_corners", aligned && curved)?;
    let antialias = line.flag("antialias")?;
    line.require("antialias", curved || !antialias, "`False` with this mode")?;
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let (_, axes) = sizes(line, inner(&extents)?)?;
    let of = Resampling { mode, aligned, antialias };
    if let Some((nnef, factors, more)) = operation(of, &axes) {
        return Ok(vec![line.add(nnef, [vec![Value::Tensor(x), integers(factors)], more].concat())?]);
    }
    let mut y = x;
    for (at, axis) in (2..).zip(axes) {
        y = match mode {
            Mode::Nearest => line.selected(y, at, axis, 0.0)?,
            Mode::NearestExact => line.selected(y, at, axis, 0.5)?,
            Mode::Area if axis.from == axis.to => y,
            Mode::Area => pools::means(line, y, at, axis.to)?,
            Mode::Linear | Mode::Cubic if axis.from == axis.to && axis.step(aligned) == 1.0 => y,
            Mode::Linear | Mode::Cubic => line.summed(y, at, axis.to, &|item| weights(of, axis, item))?,
        };
    }
    Ok(vec![y])
}

/// The items of an axis that an item of the result is made of, with their weights.
fn weights(of: Resampling, axis: AxisSize, item: i64) -> Vec<(i64, f64)> {
    let (step, last) = (axis.step(of.aligned), axis.from.saturating_sub(1));
    if of.antialias {
        return wide(of.mode, axis, step, item);
    }
    let middle = if of.aligned { step * item as f64 } else { step * (item as f64 + 0.5) - 0.5 };
    if of.mode == Mode::Linear {
        let middle = middle.max(0.0);
        let first = (middle as i64).min(last);
        let second = first.saturating_add(1).min(last);
        let part = (middle - first as f64).clamp(0.0, 1.0);
        return vec![(first, 1.0 - part), (second, part)];
    }
    let first = middle.floor() as i64;
    let near = [-1i64, 0, 1, 2].map(|more| first.saturating_add(more));
    near.map(|at| (at.clamp(0, last), cubic(middle - at as f64, CUBIC_SLOPE))).to_vec()
}

/// The weights of a function that gets as wide as the distance of items of the result.
fn wide(mode: Mode, axis: AxisSize, step: f64, item: i64) -> Vec<(i64, f64)> {
    let (radius, a) = if mode == Mode::Linear { (1.0, 0.0) } else { (2.0, -0.5) };
    let scale = step.max(1.0);
    let (centre, support) = (step * (item as f64 + 0.5), radius * scale);
    let first = ((centre - support + 0.5) as i64).max(0);
    let end = ((centre + support + 0.5) as i64).min(axis.from);
    let weight = |at: i64| {
        let distance = (at as f64 - centre + 0.5) / scale;
        if mode == Mode::Linear { (1.0 - distance.abs()).max(0.0) } else { cubic(distance, a) }
    };
    let sum: f64 = (first..end).map(weight).sum();
    (first..end).map(|at| (at, if sum == 0.0 { 0.0 } else { weight(at) / sum })).collect()
}

impl Line<'_> {
    /// The items at the places that torch computes with floats of 32 bits, shifted by a part of an item.
    fn selected(&mut self, x: TensorId, axis: i64, size: AxisSize, shift: f32) -> Lowered<TensorId> {
        if size.from == size.to && size.factor.is_none() {
            return Ok(x);
        }
        let step = match size.factor {
            Some(factor) => (1.0 / factor) as f32,
            None => size.from as f32 / size.to as f32,
        };
        self.items_of(&[size.to])?;
        let place = |item: i64| (((item as f32 + shift) * step).floor() as i64).min(size.from.saturating_sub(1));
        let places: Vec<i64> = (0..size.to).map(place).collect();
        self.taken_at(x, places, axis)
    }

    /// Sums of the items of an axis by weights: a product with a constant matrix.
    pub(super) fn summed(
        &mut self,
        x: TensorId,
        axis: i64,
        count: i64,
        weights: &dyn Fn(i64) -> Vec<(i64, f64)>,
    ) -> Lowered<TensorId> {
        let extents = self.extents(x)?;
        let columns = super::extent_of(&extents, axis)?;
        let mut shape = vec![1; extents.len().max(2).saturating_sub(2)];
        shape.extend([count, columns]);
        let mut items = vec![0.0; self.items_of(&shape)?];
        for row in 0..count {
            for (column, weight) in weights(row) {
                let place = row.checked_mul(columns).and_then(|at| at.checked_add(column)).ok_or(Refusal::UNFIT)?;
                let place = usize::try_from(place).map_err(|_| Refusal::UNFIT)?;
                *items.get_mut(place).ok_or(Refusal::UNFIT)? += weight;
            }
        }
        let item = |at: i64| usize::try_from(at).ok().and_then(|at| items.get(at)).copied().unwrap_or_default();
        let matrix = self.numbers(&shape, item)?;
        Assembly::weighted(self, x, axis, matrix)
    }
}
