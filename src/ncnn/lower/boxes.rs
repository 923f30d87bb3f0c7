//! Layers of detectors: boxes that follow from extents alone, and the greatest items, means and samples within a box.

use super::vision::truth;
use super::{LayerLine, LayerRuleRow};
use crate::graph::TensorId;
use crate::library::assembly::{Assembly, integers};
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["PriorBox"], priors),
    (&["PSROIPooling"], pooled_by_place),
    (&["ROIAlign"], aligned),
    (&["ROIPooling"], pooled),
];

/// Layers whose results have as many rows as there are boxes, which depends on data.
pub(super) const OF_DATA: &[&str] = &["DetectionOutput", "Proposal", "YoloDetectionOutput", "Yolov3DetectionOutput"];

/// The least float of 32 bits, which is less than any item of a box.
const LEAST: &str = "-3.4028234663852886e38";

/// What stands for a size that follows from an operand.
const OPEN: f64 = -233.0;

/// The boxes at each place of a plane, and how they are laid over an image.
struct PriorBoxes {
    /// Widths and heights.
    sizes: Vec<(f64, f64)>,
    /// The number of places in a row.
    columns: i64,
    /// Width and height of the image, and of the part of it that belongs to a place.
    image: (f64, f64),
    step: (f64, f64),
    offset: f64,
    clips: bool,
}

impl PriorBoxes {
    /// A coordinate, by its number: x and y of the first corner, then of the other one, for each box of each place.
    fn coordinate(&self, number: i64) -> f64 {
        let (corner, number) = (number.rem_euclid(4), number.div_euclid(4));
        let count = self.sizes.len() as i64;
        let which = number.checked_rem_euclid(count).and_then(|at| usize::try_from(at).ok());
        let (width, height) = which.and_then(|at| self.sizes.get(at).copied()).unwrap_or_default();
        let place = number.checked_div_euclid(count).unwrap_or_default();
        let row = place.checked_div_euclid(self.columns).unwrap_or_default();
        let column = place.checked_rem_euclid(self.columns).unwrap_or_default();
        let side = if corner < 2 { -0.5 } else { 0.5 };
        let (center, length, whole) = match corner.rem_euclid(2) {
            0 => ((column as f64 + self.offset) * self.step.0, width, self.image.0),
            _ => ((row as f64 + self.offset) * self.step.1, height, self.image.1),
        };
        let found = (center + side * length) / whole;
        if self.clips { found.clamp(0.0, 1.0) } else { found }
    }
}

/// The sizes of the boxes at each place: squares, and rectangles of the same area.
fn sizes(line: &LayerLine) -> Lowered<Vec<(f64, f64)>> {
    let (least, most) = (line.scalars("min_sizes")?, line.scalars("max_sizes")?);
    line.require("max_sizes", most.is_empty() || most.len() == least.len(), "as many sizes as `min_sizes`")?;
    let (ratios, flips) = (line.scalars("aspect_ratios")?, line.flag("flip")?);
    let mut found = Vec::new();
    for (at, size) in least.into_iter().enumerate() {
        found.push((size, size));
        found.extend(most.get(at).map(|most| ((size * most).sqrt(), (size * most).sqrt())));
        for ratio in &ratios {
            let (long, short) = (size * ratio.sqrt(), size / ratio.sqrt());
            found.push((long, short));
            found.extend(flips.then_some((short, long)));
        }
    }
    line.require("min_sizes", !found.is_empty(), "sizes")?;
    Ok(found)
}

/// Boxes around the places of a plane, as parts of an image, and a row with their variances. The numbers of an image that the
/// text does not have are those of the second operand.
fn priors(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, image) = match line.operands[..] {
        [x] => (x, None),
        [x, image] => (x, Some(image)),
        _ => return Err(Refusal::UNFIT),
    };
    let &[_, rows, columns] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    ["step_mmdetection", "center_mmdetection"].iter().try_for_each(|name| line.is(name, 0))?;
    let size = |line: &LayerLine, name: &str, behind: usize| match line.scalar(name)? {
        OPEN => {
            let image = image.ok_or_else(|| line.unsupported(name, "a size, or a second operand"))?;
            let extent = line.to.extents(image)?.iter().rev().nth(behind).copied();
            Ok(extent.ok_or(Refusal::UNFIT)? as f64)
        }
        given => Ok(given),
    };
    let image = (size(line, "image_width", 0)?, size(line, "image_height", 1)?);
    let step = |line: &LayerLine, name: &str, whole: f64, count: i64| {
        Ok(match line.scalar(name)? {
            OPEN => whole / count as f64,
            given => given,
        })
    };
    let step = (step(line, "step_width", image.0, columns)?, step(line, "step_height", image.1, rows)?);
    let (offset, clips) = (line.scalar("offset")?, line.flag("clip")?);
    let boxes = PriorBoxes { sizes: sizes(line)?, columns, image, step, offset, clips };
    let mut variances = Vec::with_capacity(4);
    for at in 0..4 {
        variances.push(line.scalar(&format!("variances_{at}"))?);
    }
    let count = line.to.count(&[rows, columns, boxes.sizes.len() as i64, 4])?;
    let item = |at: i64| match at.checked_sub(count).filter(|at| *at >= 0) {
        Some(at) => variances.iter().cycle().nth(at.rem_euclid(4) as usize).copied().unwrap_or_default(),
        None => boxes.coordinate(at),
    };
    Ok(vec![line.to.numbers(&[2, count], item)?])
}

/// The side of a box, cut into parts.
struct BoxSide {
    /// Where each part begins and ends, within the axis.
    first: TensorId,
    last: TensorId,
    /// The length of a part before what is outside of the axis goes.
    length: TensorId,
    is_empty: TensorId,
}

/// Which of the items along an axis are in each part of a box, how many, and which parts have none.
struct BoxParts {
    inside: TensorId,
    count: TensorId,
    is_empty: TensorId,
}

/// How a layer lays the parts of a box.
struct BoxFormulas<'f> {
    /// The coordinates of the two corners, of those that are given.
    corners: [&'f str; 2],
    /// The length of a side, of the coordinates of its corners.
    length: &'f str,
    /// The first item of a part, and the one behind its last: of the beginning of the side, the length of its parts, and the
    /// number of the part.
    places: [&'f str; 2],
}

/// The nearest integer, halves away from 0.
fn rounded(of: &str) -> String {
    format!("mul(sign({of}),floor(add(abs({of}),0.5)))")
}

impl BoxFormulas<'_> {
    /// A side of a box with these corners: a number of parts, over an axis with an extent.
    fn side(&self, line: &mut LayerLine, corners: [TensorId; 2], [parts, extent]: [i64; 2]) -> Lowered<BoxSide> {
        let begin = line.to.formula_of(self.corners[0], &[corners[0]])?;
        let end = line.to.formula_of(self.corners[1], &[corners[1]])?;
        let length = line.to.formula_of(&format!("div({},{parts}.0)", self.length), &[begin, end])?;
        let number = line.to.numbers(&[parts, 1], |at| at as f64)?;
        let place = |line: &mut LayerLine, place: &str| {
            let within = format!("min(max({place},0.0),{extent}.0)");
            line.to.formula_of(&within, &[begin, length, number])
        };
        let (first, last) = (place(line, self.places[0])?, place(line, self.places[1])?);
        let is_empty = line.to.formula_of("le(@1,@0)", &[first, last])?;
        Ok(BoxSide { first, last, length, is_empty })
    }

    /// The parts of such a side, by the items that are in them.
    fn parts(&self, line: &mut LayerLine, corners: [TensorId; 2], [parts, extent]: [i64; 2]) -> Lowered<BoxParts> {
        let BoxSide { first, last, is_empty, .. } = self.side(line, corners, [parts, extent])?;
        let place = line.to.numbers(&[1, extent], |at| at as f64)?;
        let inside = line.to.formula_of("and(ge(@0,@1),lt(@0,@2))", &[place, first, last])?;
        let count = line.to.formula_of("sub(@1,@0)", &[first, last])?;
        Ok(BoxParts { inside, count, is_empty })
    }
}

/// A blob, and a box that is pooled.
struct BoxedPlane {
    x: TensorId,
    extents: [i64; 3],
    /// The coordinates of the corners: x of both, and y of both.
    corners: [[TensorId; 2]; 2],
    /// The numbers of parts.
    wide: i64,
    high: i64,
    scale: f64,
}

impl BoxedPlane {
    /// The operands and parameters of a layer that pools within one box.
    fn read(line: &mut LayerLine) -> Lowered<Self> {
        let &[x, region] = &line.operands[..] else { return Err(Refusal::UNFIT) };
        let &[channels, rows, columns] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
        if line.to.count(&line.to.extents(region)?)? != 4 {
            return Err(Refusal::UNFIT);
        }
        let (wide, high, scale) =
            (line.integer("pooled_width")?, line.integer("pooled_height")?, line.scalar("spatial_scale")?);
        line.require("pooled_width", wide > 0 && high > 0, "a number above 0, as is `pooled_height`")?;
        let region = line.to.reshaped(region, &[1, 4])?;
        // The coordinates are x and y of one corner, then those of the other one.
        let corner = |line: &mut LayerLine, at: i64| line.to.item_of(region, 1, at);
        let corners = [[corner(line, 0)?, corner(line, 2)?], [corner(line, 1)?, corner(line, 3)?]];
        Ok(BoxedPlane { x, extents: [channels, rows, columns], corners, wide, high, scale })
    }

    /// The parts of the box across and down.
    fn parts(&self, line: &mut LayerLine, formulas: &BoxFormulas) -> Lowered<[BoxParts; 2]> {
        let ([across, down], [_, rows, columns]) = (self.corners, self.extents);
        Ok([formulas.parts(line, across, [self.wide, columns])?, formulas.parts(line, down, [self.high, rows])?])
    }

    /// The results of the parts, where those that are empty are 0.
    fn filled(&self, line: &mut LayerLine, y: TensorId, [across, down]: [TensorId; 2]) -> Lowered<Vec<TensorId>> {
        let without = [line.to.reshaped(down, &[1, self.high, 1])?, line.to.reshaped(across, &[1, 1, self.wide])?];
        Ok(vec![line.to.formula_of("select(or(@0,@1),0.0,@2)", &[&without[..], &[y]].concat())?])
    }
}

/// The greatest items of the parts of a box, which is a second blob.
fn pooled(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let plane = BoxedPlane::read(line)?;
    let (wide, high, [channels, rows, columns]) = (plane.wide, plane.high, plane.extents);
    let corner = rounded(&format!("mul(@0,{:?})", plane.scale));
    let formulas = BoxFormulas {
        corners: [&corner, &corner],
        length: "max(add(sub(@1,@0),1.0),1.0)",
        places: ["add(@0,floor(mul(@2,@1)))", "add(@0,ceil(mul(add(@2,1.0),@1)))"],
    };
    let parts = plane.parts(line, &formulas)?;
    let [across, down] = &parts;
    let chosen = format!("select(@0,@1,{LEAST})");
    let inside = line.to.reshaped(across.inside, &[1, 1, wide, columns])?;
    let y = line.to.reshaped(plane.x, &[channels, rows, 1, columns])?;
    let y = line.to.formula_of(&chosen, &[inside, y])?;
    let y = line.to.on("max_reduce", y, [integers([3])])?;
    let inside = line.to.reshaped(down.inside, &[1, high, rows, 1])?;
    let y = line.to.reshaped(y, &[channels, 1, rows, wide])?;
    let y = line.to.formula_of(&chosen, &[inside, y])?;
    let y = line.to.on("max_reduce", y, [integers([2])])?;
    let y = line.to.reshaped(y, &[channels, high, wide])?;
    plane.filled(line, y, parts.map(|part| part.is_empty))
}

/// The means of the parts of a box. Each part of each result has a channel of its own.
fn pooled_by_place(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let plane = BoxedPlane::read(line)?;
    let (wide, high, [channels, rows, columns]) = (plane.wide, plane.high, plane.extents);
    let count = line.integer("output_dim")?;
    let fits = count.checked_mul(wide).and_then(|all| all.checked_mul(high)) == Some(channels);
    line.require("output_dim", fits, "the number of channels, divided by that of the parts")?;
    let corner = |of: &str| format!("mul({},{:?})", rounded(of), plane.scale);
    let formulas = BoxFormulas {
        corners: [&corner("@0"), &corner("add(@0,1.0)")],
        length: "max(sub(@1,@0),0.1)",
        places: ["floor(add(@0,mul(@2,@1)))", "ceil(add(@0,mul(add(@2,1.0),@1)))"],
    };
    let parts = plane.parts(line, &formulas)?;
    let [across, down] = &parts;
    let inside = [
        line.to.reshaped(down.inside, &[1, high, 1, rows, 1])?,
        line.to.reshaped(across.inside, &[1, 1, wide, 1, columns])?,
    ];
    let x = line.to.reshaped(plane.x, &[count, high, wide, rows, columns])?;
    let y = line.to.formula_of("select(and(@0,@1),@2,0.0)", &[&inside[..], &[x]].concat())?;
    let y = line.to.on("sum_reduce", y, [integers([3, 4])])?;
    let y = line.to.reshaped(y, &[count, high, wide])?;
    let area = [line.to.reshaped(down.count, &[1, high, 1])?, line.to.reshaped(across.count, &[1, 1, wide])?];
    let y = line.to.formula_of("div(@2,max(mul(@0,@1),1.0))", &[&area[..], &[y]].concat())?;
    plane.filled(line, y, parts.map(|part| part.is_empty))
}

/// The means of samples in the parts of a box, in the form of torchvision or in that of ncnn's first version.
fn aligned(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let version = line.integer("version")?;
    line.require("version", version == 0 || version == 1, "0 or 1")?;
    if version == 0 { aligned_to_parts(line) } else { aligned_to_box(line) }
}

/// torchvision's form: samples lie beside each other in the box, and those outside of the plane count as 0.
fn aligned_to_box(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let &[x, region] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    if line.to.count(&line.to.extents(region)?)? != 4 {
        return Err(Refusal::UNFIT);
    }
    let region = line.to.reshaped(region, &[1, 4])?;
    let image = torch(&mut line.to, "torch.zeros", &[], &[("size", "(1,1)".to_owned())])?;
    let boxes = line.to.concatenated(&[image, region], 1)?;
    let settings = [
        ("output_size", format!("({},{})", line.integer("pooled_height")?, line.integer("pooled_width")?)),
        ("spatial_scale", format!("{:?}", line.scalar("spatial_scale")?)),
        ("sampling_ratio", line.integer("sampling_ratio")?.to_string()),
        ("aligned", truth(line.flag("aligned")?)),
    ];
    let x = line.batch(x)?;
    let y = torch(&mut line.to, "torchvision.ops.RoIAlign", &[("input", x), ("boxes", boxes)], &settings)?;
    Ok(vec![line.unbatch(y)?])
}

/// The first form: what is outside of the plane is cut off each part, and samples lie behind its beginning. Where ncnn reads
/// behind the plane, the last item is taken.
fn aligned_to_parts(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let plane = BoxedPlane::read(line)?;
    let (wide, high, [channels, rows, columns]) = (plane.wide, plane.high, plane.extents);
    let is_shifted = line.flag("aligned")?;
    let shift = if is_shifted { 0.5 } else { 0.0 };
    let corner = format!("sub(mul(@0,{:?}),{shift:?})", plane.scale);
    let formulas = BoxFormulas {
        corners: [&corner, &corner],
        length: if is_shifted { "sub(@1,@0)" } else { "max(sub(@1,@0),1.0)" },
        places: ["add(@0,mul(@2,@1))", "add(@0,mul(add(@2,1.0),@1))"],
    };
    let across = formulas.side(line, plane.corners[0], [wide, columns])?;
    let down = formulas.side(line, plane.corners[1], [high, rows])?;
    let y = line.to.reshaped(plane.x, &[line.to.count(&[channels, rows])?, columns])?;
    let shares = shares(line, &across, [wide, columns])?;
    let y = line.to.multiplied(y, shares, [false, true])?;
    let y = line.to.reshaped(y, &[channels, rows, wide])?;
    let y = line.to.transposed(y, &[1, 0, 2])?;
    let y = line.to.reshaped(y, &[rows, line.to.count(&[channels, wide])?])?;
    let shares = self::shares(line, &down, [high, rows])?;
    let y = line.to.multiplied(shares, y, [false, false])?;
    let y = line.to.reshaped(y, &[high, channels, wide])?;
    let y = line.to.transposed(y, &[1, 0, 2])?;
    plane.filled(line, y, [across.is_empty, down.is_empty])
}

/// The share that each item of an axis has in the mean of the samples of each part: a row for each part.
fn shares(line: &mut LayerLine, side: &BoxSide, [parts, extent]: [i64; 2]) -> Lowered<TensorId> {
    // Without a number of samples there is one for each item that a part touches.
    let ratio = line.integer("sampling_ratio")?;
    let (samples, count) = match ratio > 0 {
        true => (ratio, format!("{ratio}.0")),
        false => (extent, "max(ceil(sub(@1,@0)),1.0)".to_owned()),
    };
    let first = line.to.reshaped(side.first, &[parts, 1, 1])?;
    let last = line.to.reshaped(side.last, &[parts, 1, 1])?;
    let length = line.to.reshaped(side.length, &[1, 1, 1])?;
    let number = line.to.numbers(&[1, samples, 1], |at| at as f64)?;
    let place = line.to.numbers(&[1, 1, extent], |at| at as f64)?;
    let sample = format!("min(add(@0,div(mul(add(@3,0.5),@2),{count})),{}.0)", extent.saturating_sub(1));
    let sample = line.to.formula_of(&sample, &[first, last, length, number])?;
    let share = format!("select(lt(@3,{count}),div(max(sub(1.0,abs(sub(@2,@4))),0.0),{count}),0.0)");
    let share = line.to.formula_of(&share, &[first, last, sample, number, place])?;
    let share = line.to.on("sum_reduce", share, [integers([1])])?;
    line.to.reshaped(share, &[parts, extent])
}
