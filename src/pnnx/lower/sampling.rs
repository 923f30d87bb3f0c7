//! Items of images at places between them: sums of the items near by, whose rows are taken from a table of all of them.

use super::{Line, Lowered, Refusal, extent_of, integers, product, windows};
use crate::dictionary::CUBIC_SLOPE;
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;

/// The items of images as a table, which has a row of channels for each place.
pub(super) struct PlaceTable {
    /// The rows: those of the places of the first group of the first image, then those of the second group.
    rows: TensorId,
    /// The extents of an image.
    pub(super) extents: Vec<i64>,
    /// The number of images, of groups of channels, and of channels of a group.
    pub(super) counts: [i64; 3],
}

/// An item near a place along an axis: its index, times the number of rows between neighbours; and its weight.
#[derive(Clone, Copy)]
pub(super) struct NearItem {
    index: TensorId,
    weight: Option<TensorId>,
}

/// What is beyond the first and the last item of an axis.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum OutsidePlaces {
    /// Zeros.
    Zeros,
    /// The item itself.
    Border,
    /// The items in reverse order, around the middles of the end items if `aligned` is set, or else around their edges.
    Reflected {
        /// Around which places.
        aligned: bool,
    },
}

impl PlaceTable {
    /// The table of images with the axes (batch, channels, …), whose channels form groups.
    pub(super) fn new(line: &mut Line, x: TensorId, groups: i64) -> Lowered<PlaceTable> {
        let shape = line.extents(x)?;
        let [batch, channels, extents @ ..] = &shape[..] else { return Err(Refusal::UNFIT) };
        let each = super::exact_quotient(*channels, groups).filter(|_| !extents.is_empty() && !shape.contains(&0));
        let each = each.ok_or(Refusal::UNFIT)?;
        let apart = line.reshaped(x, &[&[*batch, groups, each], extents].concat())?;
        let rank = extents.len() as i64;
        let order: Vec<i64> = [0, 1].into_iter().chain(3..rank.saturating_add(3)).chain([2]).collect();
        let turned = line.transposed(apart, &order)?;
        let rows = line.reshaped(turned, &[product(&[*batch, groups, product(extents)?])?, each])?;
        Ok(PlaceTable { rows, extents: extents.to_vec(), counts: [*batch, groups, each] })
    }

    /// The first row of each image and group, along the first two of some axes.
    pub(super) fn firsts(&self, line: &mut Line, rank: i64) -> Lowered<TensorId> {
        let ([batch, groups, _], size) = (self.counts, product(&self.extents)?);
        let images = line.spaced(rank, 0, 0, product(&[groups, size])?, batch)?;
        let parts = line.spaced(rank, 1, 0, size, groups)?;
        line.add("add", vec![Value::Tensor(images), Value::Tensor(parts)])
    }

    /// The items at an axis that a place has near by, which has a weight each.
    pub(super) fn tap(
        &self,
        line: &mut Line,
        axis: i64,
        place: TensorId,
        weight: Option<TensorId>,
        beyond: OutsidePlaces,
    ) -> Lowered<NearItem> {
        let last = (extent_of(&self.extents, axis)?.saturating_sub(1)) as f64;
        let place = match beyond {
            OutsidePlaces::Reflected { .. } => reflected(line, place, last, beyond)?,
            _ => place,
        };
        let mut weight = weight;
        if beyond == OutsidePlaces::Zeros {
            let within = format!("and(ge(@0,0.0),le(@0,{last:?}))");
            let within = line.formula_of(&within, &[place])?;
            weight = Some(match weight {
                Some(weight) => line.formula_of("select(@0,@1,0.0)", &[within, weight])?,
                None => line.cast(within, Primitive::Scalar)?,
            });
        }
        let place = line.add("clamp", vec![Value::Tensor(place), Value::Scalar(0.0), Value::Scalar(last)])?;
        let index = line.cast(place, Primitive::Integer)?;
        let inner = usize::try_from(axis).ok().and_then(|axis| self.extents.get(axis.checked_add(1)?..));
        let step = product(inner.ok_or(Refusal::UNFIT)?)?;
        let index = if step == 1 { index } else { line.add("mul", vec![Value::Tensor(index), Value::Int(step)])? };
        Ok(NearItem { index, weight })
    }

    /// The two items on both sides of a place.
    pub(super) fn linear(
        &self,
        line: &mut Line,
        axis: i64,
        place: TensorId,
        beyond: OutsidePlaces,
    ) -> Lowered<Vec<NearItem>> {
        let first = line.add("floor", vec![Value::Tensor(place)])?;
        let second = line.add("add", vec![Value::Tensor(first), Value::Scalar(1.0)])?;
        let part = line.add("sub", vec![Value::Tensor(place), Value::Tensor(first)])?;
        let rest = line.add("sub", vec![Value::Scalar(1.0), Value::Tensor(part)])?;
        Ok(vec![self.tap(line, axis, first, Some(rest), beyond)?, self.tap(line, axis, second, Some(part), beyond)?])
    }

    /// The nearest item; of two, the even one.
    pub(super) fn nearest(
        &self,
        line: &mut Line,
        axis: i64,
        place: TensorId,
        beyond: OutsidePlaces,
    ) -> Lowered<Vec<NearItem>> {
        let place = line.spelled("round(@0)", &[ExpandedItem::Tensor(place)])?;
        Ok(vec![self.tap(line, axis, place, None, beyond)?])
    }

    /// The four items around a place.
    pub(super) fn cubic(
        &self,
        line: &mut Line,
        axis: i64,
        place: TensorId,
        beyond: OutsidePlaces,
    ) -> Lowered<Vec<NearItem>> {
        let (inner, a) = (CUBIC_SLOPE + 2.0, CUBIC_SLOPE);
        let near = |distance: &str| {
            format!("add(mul(mul(sub(mul({inner:?},{distance}),{:?}),{distance}),{distance}),1.0)", CUBIC_SLOPE + 3.0)
        };
        let far = |distance: &str| {
            let (five, eight) = (5.0 * a, 8.0 * a);
            format!(
                "sub(mul(add(mul(sub(mul({a:?},{distance}),{five:?}),{distance}),{eight:?}),{distance}),{:?})",
                4.0 * a
            )
        };
        let weights = [far("add(@0,1.0)"), near("@0"), near("sub(1.0,@0)"), far("sub(2.0,@0)")];
        let first = line.add("floor", vec![Value::Tensor(place)])?;
        let part = line.add("sub", vec![Value::Tensor(place), Value::Tensor(first)])?;
        let mut taps = Vec::with_capacity(4);
        for (weight, shift) in weights.iter().zip([-1.0, 0.0, 1.0, 2.0]) {
            let weight = line.formula_of(weight, &[part])?;
            let at = line.add("add", vec![Value::Tensor(first), Value::Scalar(shift)])?;
            taps.push(self.tap(line, axis, at, Some(weight), beyond)?);
        }
        Ok(taps)
    }

    /// The sums of rows by the taps of all axes. The result has the axes of the taps, and the channels of a group as
    /// the last one.
    pub(super) fn sampled(&self, line: &mut Line, firsts: TensorId, taps: &[Vec<NearItem>]) -> Lowered<TensorId> {
        let mut all: Vec<NearItem> = vec![NearItem { index: firsts, weight: None }];
        for axis in taps {
            let mut next = Vec::with_capacity(all.len().saturating_mul(axis.len()));
            for outer in &all {
                for tap in axis {
                    let index = line.formula_of("add(@0,@1)", &[outer.index, tap.index])?;
                    let weight = match (outer.weight, tap.weight) {
                        (Some(a), Some(b)) => Some(line.formula_of("mul(@0,@1)", &[a, b])?),
                        (a, b) => a.or(b),
                    };
                    next.push(NearItem { index, weight });
                }
            }
            all = next;
        }
        let mut sum = None;
        for tap in all {
            let mut items = line.taken(self.rows, tap.index, 0)?;
            if let Some(weight) = tap.weight {
                let weight = line.with_axes(weight, [line.rank(weight)?])?;
                items = line.formula_of("mul(@0,@1)", &[items, weight])?;
            }
            sum = Some(match sum {
                None => items,
                Some(sum) => line.formula_of("add(@0,@1)", &[sum, items])?,
            });
        }
        sum.ok_or(Refusal::UNFIT)
    }
}

/// Places beyond the ends as places within them.
fn reflected(line: &mut Line, place: TensorId, last: f64, beyond: OutsidePlaces) -> Lowered<TensorId> {
    let (low, span) = match beyond {
        OutsidePlaces::Reflected { aligned: true } => (0.0, last),
        _ => (-0.5, last + 1.0),
    };
    if span == 0.0 {
        return line.add("mul", vec![Value::Tensor(place), Value::Scalar(0.0)]);
    }
    let period = 2.0 * span;
    let within = format!("sub(sub(@0,{low:?}),mul({period:?},floor(div(sub(@0,{low:?}),{period:?}))))");
    let within = line.formula_of(&within, &[place])?;
    line.formula_of(&format!("add(sub({span:?},abs(sub(@0,{span:?}))),{low:?})"), &[within])
}

/// The functions by which places are sampled.
#[derive(Clone, Copy, PartialEq)]
enum SamplingMethod {
    Linear,
    Nearest,
    Cubic,
}

/// `F.grid_sample`: the items of an image at the places that a grid has, which are from -1 to 1.
pub(super) fn grid(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, grid) = (line.tensor("input")?, line.tensor(line.key_of(&["grid", "input1"]))?);
    let words = [
        ("bilinear", SamplingMethod::Linear),
        ("linear", SamplingMethod::Linear),
        ("nearest", SamplingMethod::Nearest),
        ("bicubic", SamplingMethod::Cubic),
        ("cubic", SamplingMethod::Cubic),
    ];
    let sampling = line.choice("mode", &words, Some(SamplingMethod::Linear))?;
    let aligned = line.flag("align_corners")?;
    let ends = [
        ("zeros", OutsidePlaces::Zeros),
        ("border", OutsidePlaces::Border),
        ("reflection", OutsidePlaces::Reflected { aligned }),
    ];
    let beyond = line.choice("padding_mode", &ends, Some(OutsidePlaces::Zeros))?;
    let table = PlaceTable::new(line, x, 1)?;
    let (shape, spatial) = (line.extents(grid)?, table.extents.len() as i64);
    let rank = shape.len() as i64;
    if rank != spatial.saturating_add(2) || shape.last() != Some(&spatial) || shape.first() != table.counts.first() {
        return Err(Refusal::UNFIT);
    }
    line.require("mode", sampling != SamplingMethod::Cubic || spatial == 2, "`bilinear` or `nearest` for volumes")?;
    let mut taps = Vec::with_capacity(table.extents.len());
    for axis in 0..spatial {
        // The first coordinate is that of the last axis.
        let at = spatial.saturating_sub(axis).saturating_sub(1);
        let last = rank.saturating_sub(1);
        let place = line.item_of(grid, last, at)?;
        let place = line.without_axes(place, &[last])?;
        let place = line.with_axes(place, [1])?;
        let extent = extent_of(&table.extents, axis)? as f64;
        let place = match aligned {
            true => line.formula_of(&format!("mul(div(add(@0,1.0),2.0),{:?})", extent - 1.0), &[place])?,
            false => line.formula_of(&format!("div(sub(mul(add(@0,1.0),{extent:?}),1.0),2.0)"), &[place])?,
        };
        taps.push(match sampling {
            // Each of the four items is sought on its own.
            SamplingMethod::Cubic => table.cubic(line, axis, place, beyond)?,
            SamplingMethod::Nearest | SamplingMethod::Linear => {
                let (place, beyond) = brought_in(line, place, extent - 1.0, beyond)?;
                match sampling {
                    SamplingMethod::Nearest => table.nearest(line, axis, place, beyond)?,
                    _ => table.linear(line, axis, place, beyond)?,
                }
            }
        });
    }
    let firsts = table.firsts(line, spatial.saturating_add(2))?;
    let y = table.sampled(line, firsts, &taps)?;
    let y = line.without_axes(y, &[1])?;
    let order: Vec<i64> = [0, spatial.saturating_add(1)].into_iter().chain(1..=spatial).collect();
    Ok(vec![line.transposed(y, &order)?])
}

/// A place within the ends, unless zeros are beyond them.
fn brought_in(
    line: &mut Line,
    place: TensorId,
    last: f64,
    beyond: OutsidePlaces,
) -> Lowered<(TensorId, OutsidePlaces)> {
    let place = match beyond {
        OutsidePlaces::Zeros => return Ok((place, beyond)),
        OutsidePlaces::Border => place,
        OutsidePlaces::Reflected { .. } => reflected(line, place, last, beyond)?,
    };
    let place = line.add("clamp", vec![Value::Tensor(place), Value::Scalar(0.0), Value::Scalar(last)])?;
    Ok((place, OutsidePlaces::Border))
}

/// `torchvision.ops.DeformConv2d`: a convolution whose windows have their items at places that an operand shifts.
pub(super) fn deformed(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, offset) = (line.tensor("input")?, line.tensor(line.key_of(&["offset", "input1"]))?);
    let mask = line.key_of(&["mask", "input2"]);
    let mask = if line.has_tensor(mask) { Some(line.tensor(mask)?) } else { None };
    let weight = line.data("weight")?;
    let (of, groups) = windows::filter(line, weight, "in_channels", "out_channels")?;
    let (extents, shifts, filter) = (line.extents(x)?, line.extents(offset)?, line.extents(weight)?);
    let (&[batch, channels, height, width], &[_, count, rows, columns], &[outputs, per_group, ..]) =
        (&extents[..], &shifts[..], &filter[..])
    else {
        return Err(Refusal::UNFIT);
    };
    let [down, along] = &of[..] else { return Err(Refusal::UNFIT) };
    let size = product(&[down.size, along.size])?;
    let shifted = super::exact_quotient(count, product(&[size, 2])?).filter(|groups| *groups > 0);
    let shifted = shifted.ok_or(Refusal::UNFIT)?;
    if windows::places(down, height) != Some(rows) || windows::places(along, width) != Some(columns) {
        return Err(Refusal::UNFIT);
    }
    let table = PlaceTable::new(line, x, shifted)?;
    let offset = line.reshaped(offset, &[batch, shifted, size, 2, rows, columns])?;
    let mut taps = Vec::with_capacity(2);
    for (axis, window) in [(0i64, down), (1, along)] {
        let shift = line.item_of(offset, 3, axis)?;
        let shift = line.without_axes(shift, &[3])?;
        let item = |at: i64| if axis == 0 { at.checked_div(along.size) } else { at.checked_rem(along.size) };
        let within = line.numbers(&[1, 1, size, 1, 1], |at| {
            item(at).unwrap_or(0) as f64 * window.dilation as f64 - window.padding.0 as f64
        })?;
        let shape = if axis == 0 { [1, 1, 1, rows, 1] } else { [1, 1, 1, 1, columns] };
        let begin = line.numbers(&shape, |at| at as f64 * window.stride as f64)?;
        let place = line.formula_of("add(@0,add(@1,@2))", &[shift, within, begin])?;
        taps.push(table.linear(line, axis, place, OutsidePlaces::Zeros)?);
    }
    let firsts = table.firsts(line, 5)?;
    let mut items = table.sampled(line, firsts, &taps)?;
    if let Some(mask) = mask {
        let mask = line.reshaped(mask, &[batch, shifted, size, rows, columns, 1])?;
        items = line.formula_of("mul(@0,@1)", &[items, mask])?;
    }
    let items = line.transposed(items, &[0, 1, 5, 2, 3, 4])?;
    let items = line.reshaped(items, &[batch, product(&[channels, size])?, rows, columns])?;
    let weight = line.reshaped(weight, &[outputs, product(&[per_group, size])?, 1, 1])?;
    windows::plain_conv(line, items, weight, groups).map(|y| vec![y])
}

/// `torchvision.ops.RoIAlign`: the means of items at places within boxes, which have an image and four coordinates.
pub(super) fn aligned_regions(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, boxes) = (line.tensor("input")?, line.tensor(line.key_of(&["boxes", "rois", "input1"]))?);
    let scale: f64 = line.required("spatial_scale")?;
    let samples: i64 = line.required("sampling_ratio")?;
    line.require("sampling_ratio", samples > 0, "a positive integer, since others depend on the boxes")?;
    let shift = if line.flag("aligned")? { 0.5 } else { 0.0 };
    let size = line.per_axis("output_size", 2, 1, None)?;
    let shape = line.extents(boxes)?;
    let &[count, 5] = &shape[..] else { return Err(Refusal::UNFIT) };
    let table = PlaceTable::new(line, x, 1)?;
    let (&[height, width], [_, _, channels]) = (&table.extents[..], table.counts) else { return Err(Refusal::UNFIT) };
    let mut taps = Vec::with_capacity(2);
    for ((axis, extent), out) in [(0i64, height), (1, width)].into_iter().zip(&size) {
        let column = |line: &mut Line, at: i64| line.item_of(boxes, 1, at);
        // The coordinates are x and y of one corner, then those of the other one.
        let (begin, end) = (column(line, 2i64.saturating_sub(axis))?, column(line, 4i64.saturating_sub(axis))?);
        let scaled = format!("sub(mul(@0,{scale:?}),{shift:?})");
        let (begin, end) = (line.formula_of(&scaled, &[begin])?, line.formula_of(&scaled, &[end])?);
        let length = if shift == 0.0 { "max(sub(@1,@0),1.0)" } else { "sub(@1,@0)" };
        let all = product(&[*out, samples])?;
        let parts = line.numbers(&[1, all], |at| (at as f64 + 0.5) / samples as f64)?;
        let place = format!("add(@0,mul(@2,div({length},{:?})))", *out as f64);
        let place = line.formula_of(&place, &[begin, end, parts])?;
        let shape = if axis == 0 { [count, all, 1] } else { [count, 1, all] };
        let place = line.reshaped(place, &shape)?;
        let within = line.formula_of(&format!("and(ge(@0,-1.0),le(@0,{:?}))", extent as f64), &[place])?;
        let (place, _) = brought_in(line, place, extent as f64 - 1.0, OutsidePlaces::Border)?;
        let mut near = table.linear(line, axis, place, OutsidePlaces::Border)?;
        for tap in &mut near {
            if let Some(weight) = tap.weight {
                tap.weight = Some(line.formula_of("select(@0,@1,0.0)", &[within, weight])?);
            }
        }
        taps.push(near);
    }
    let image = line.part_of(boxes, 1, 0..1)?;
    let image = line.cast(image, Primitive::Integer)?;
    let firsts = line.add("mul", vec![Value::Tensor(image), Value::Int(product(&table.extents)?)])?;
    let firsts = line.reshaped(firsts, &[count, 1, 1])?;
    let items = table.sampled(line, firsts, &taps)?;
    let &[rows, columns] = &size[..] else { return Err(Refusal::UNFIT) };
    let items = line.reshaped(items, &[count, rows, samples, columns, samples, channels])?;
    let means = line.add("mean_reduce", vec![Value::Tensor(items), integers([2, 4])])?;
    let means = line.without_axes(means, &[2, 4])?;
    Ok(vec![line.transposed(means, &[0, 3, 1, 2])?])
}
