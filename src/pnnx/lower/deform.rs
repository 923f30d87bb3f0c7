//! Deformable convolutions: the items of windows are interpolated at places that an operand shifts.

use super::windows::{LARGE, Window, windows};
use super::{Line, Lowered, LoweringRow, LoweringRule, Refusal, product};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

/// The rules of this family.
pub(super) const ROWS: &[LoweringRow] =
    &[(&["torchvision.ops.DeformConv2d", "torchvision.ops.deform_conv2d"], LoweringRule::By(conv))];

/// The windows along an axis of an image.
struct Along {
    window: Window,
    /// The number of windows.
    count: i64,
    /// The extent of the image.
    extent: i64,
}

/// The extents of an operator.
struct Deformation {
    batch: i64,
    channels: i64,
    rows: Along,
    columns: Along,
    /// The items of a window.
    volume: i64,
    /// The groups of channels that have their own shifts.
    shifted: i64,
}

impl Deformation {
    /// The number of windows.
    fn places(&self) -> Lowered<i64> {
        product(&[self.rows.count, self.columns.count])
    }

    /// The number of items of a channel.
    fn area(&self) -> Lowered<i64> {
        product(&[self.rows.extent, self.columns.extent])
    }
}

/// `torchvision.ops.DeformConv2d`: input, shifts of places, and optionally factors of items.
fn conv(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let shifts = line.tensor(line.key_of(&["offset", "input1"]))?;
    let mask = line.key_of(&["mask", "input2"]);
    let mask = if line.has_tensor(mask) { Some(line.tensor(mask)?) } else { None };
    let weight = line.data("weight")?;
    let &[outputs, inner, ..] = &line.extents(weight)?[..] else { return Err(Refusal::UNFIT) };
    let groups = line.at_least("groups", 1, Some(1))?;
    let of = read(line, x, weight, shifts)?;
    let each = super::exact_quotient(outputs, groups).filter(|_| product(&[inner, groups]) == Ok(of.channels));
    let each = each.ok_or(Refusal::UNFIT)?;
    let columns = columns_of(line, &of, (x, shifts, mask))?;
    let depth = product(&[inner, of.volume])?;
    let filter = line.reshaped(weight, &[groups, each, depth])?;
    let mut results = Vec::new();
    for columns in columns {
        let columns = line.reshaped(columns, &[groups, depth, of.places()?])?;
        let y = line.multiplied(filter, columns, (false, false))?;
        results.push(line.reshaped(y, &[1, outputs, of.rows.count, of.columns.count])?);
    }
    let y = line.concatenated(&results, 0)?;
    match line.weights("bias")? {
        Some(bias) => {
            let bias = line.reshaped(bias, &[1, outputs, 1, 1])?;
            line.formula_of("add(@0,@1)", &[y, bias]).map(|y| vec![y])
        }
        None => Ok(vec![y]),
    }
}

/// The extents of input, weight and shifts, which have to fit each other.
fn read(line: &Line, x: TensorId, weight: TensorId, shifts: TensorId) -> Lowered<Deformation> {
    let (input, filter) = (line.extents(x)?, line.extents(weight)?);
    let (&[batch, channels, height, width], &[outputs, _, rows, columns]) = (&input[..], &filter[..]) else {
        return Err(Refusal::UNFIT);
    };
    line.agrees("in_channels", &[Some(channels)])?;
    line.agrees("out_channels", &[Some(outputs)])?;
    line.agrees("kernel_size", &[Some(rows), Some(columns)])?;
    let &[down, second] = &windows(line, &[rows, columns], None)?[..] else { return Err(Refusal::UNFIT) };
    let along =
        |window: Window, extent: i64| window.count(extent).map(|count| Along { window, count, extent }).ok_or(LARGE);
    let (rows, columns, volume) = (along(down, height)?, along(second, width)?, product(&[rows, columns])?);
    let given = line.extents(shifts)?;
    let each = product(&[2, volume])?;
    let shifted = given.get(1).and_then(|all| super::exact_quotient(*all, each));
    let shifted = shifted.filter(|groups| *groups > 0 && super::exact_quotient(channels, *groups).is_some());
    let shifted = shifted.ok_or(Refusal::UNFIT)?;
    if given[..] != [batch, product(&[shifted, each])?, rows.count, columns.count] || input.contains(&0) {
        return Err(Refusal::UNFIT);
    }
    Ok(Deformation { batch, channels, rows, columns, volume, shifted })
}

/// For each image of the batch, the interpolated items of all windows: (channels, items of a window × windows).
fn columns_of(
    line: &mut Line,
    of: &Deformation,
    (x, shifts, mask): (TensorId, TensorId, Option<TensorId>),
) -> Lowered<Vec<TensorId>> {
    // Groups, items of a window, axis, rows and columns of windows.
    let shape = [of.batch, of.shifted, of.volume, 2, of.rows.count, of.columns.count];
    let shifts = line.reshaped(shifts, &shape)?;
    let (down, along) = (corners(line, of, shifts, 0)?, corners(line, of, shifts, 1)?);
    let mask = match mask {
        Some(mask) => {
            Some(line.reshaped(mask, &[of.batch, of.shifted, of.volume, 1, of.rows.count, of.columns.count])?)
        }
        None => None,
    };
    let width = Value::Int(of.columns.extent);
    let mut taken = Vec::new();
    for (row, by_row) in down {
        for (column, by_column) in along {
            let rows = line.on("mul", row, [width.clone()])?;
            let place = line.formula_of("add(@0,@1)", &[rows, column])?;
            let factor = line.formula_of("mul(@0,@1)", &[by_row, by_column])?;
            let factor = match mask {
                Some(mask) => line.formula_of("mul(@0,@1)", &[factor, mask])?,
                None => factor,
            };
            taken.push((place, factor));
        }
    }
    let channels = super::exact_quotient(of.channels, of.shifted).ok_or(Refusal::UNFIT)?;
    let items = product(&[of.volume, of.places()?])?;
    let image = line.reshaped(x, &[of.batch, of.shifted, channels, of.area()?])?;
    let mut all = Vec::new();
    for batch in 0..of.batch {
        let mut groups = Vec::new();
        for group in 0..of.shifted {
            let part = |line: &mut Line, x: TensorId, shape: &[i64]| {
                let x = line.part_of(x, 0, (batch, batch.saturating_add(1)))?;
                let x = line.part_of(x, 1, (group, group.saturating_add(1)))?;
                line.reshaped(x, shape)
            };
            let image = part(line, image, &[channels, of.area()?])?;
            let mut sum = None;
            for (place, factor) in &taken {
                let (place, factor) = (part(line, *place, &[items])?, part(line, *factor, &[1, items])?);
                let term = line.taken(image, place, 1)?;
                let term = line.formula_of("mul(@0,@1)", &[term, factor])?;
                sum = Some(match sum {
                    Some(sum) => line.formula_of("add(@0,@1)", &[sum, term])?,
                    None => term,
                });
            }
            groups.push(sum.ok_or(Refusal::UNFIT)?);
        }
        all.push(line.concatenated(&groups, 0)?);
    }
    Ok(all)
}

/// The two items along an axis between which each place is, with their factors; the factor of an item beyond the image
/// is 0.
fn corners(line: &mut Line, of: &Deformation, shifts: TensorId, axis: i64) -> Lowered<[(TensorId, TensorId); 2]> {
    let shift = line.part_of(shifts, 3, (axis, axis.saturating_add(1)))?;
    let Along { window, count, extent } = if axis == 0 { &of.rows } else { &of.columns };
    let (count, size) = (*count, of.columns.window.size);
    // The items of a window in row-major order.
    let item = |at: i64| if axis == 0 { at.checked_div(size) } else { at.checked_rem(size) };
    let within =
        line.numbers(&[1, 1, of.volume, 1, 1, 1], |at| item(at).unwrap_or(0) as f64 * window.dilation as f64)?;
    let shape = if axis == 0 { [1, 1, 1, 1, count, 1] } else { [1, 1, 1, 1, 1, count] };
    let first = line.numbers(&shape, |at| at as f64 * window.stride as f64 - window.padding.0 as f64)?;
    let place = line.formula_of("add(@0,add(@1,@2))", &[shift, within, first])?;
    let low = line.formula_of("floor(@0)", &[place])?;
    let last = extent.saturating_sub(1);
    let mut found = Vec::with_capacity(2);
    for (corner, factor) in [("@0", "sub(1.0,sub(@1,@0))"), ("add(@0,1.0)", "sub(@1,@0)")] {
        let corner = if corner == "@0" { low } else { line.formula_of(corner, &[low])? };
        let inside = line.formula_of(&format!("minimum(maximum(@0,0.0),{last}.0)"), &[corner])?;
        let factor = format!("mul({factor},sub(1.0,minimum(abs(sub(@2,@3)),1.0)))");
        let factor = line.formula_of(&factor, &[low, place, corner, inside])?;
        found.push((line.cast_to_integers(inside)?, factor));
    }
    match found[..] {
        [low, high] => Ok([low, high]),
        _ => Err(Refusal::UNFIT),
    }
}
