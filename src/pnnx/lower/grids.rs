//! Grids of places for sampling.

use super::{Line, Lowered, Refusal, extent_of};
use crate::graph::TensorId;
use crate::library::assembly::Assembly;

/// The place from -1 to 1 of an item of an axis.
fn place(item: i64, extent: i64, aligned: bool) -> f64 {
    let (item, extent) = (item as f64, extent as f64);
    match aligned {
        true if extent > 1.0 => 2.0 * item / (extent - 1.0) - 1.0,
        true => 0.0,
        false => (2.0 * item + 1.0) / extent - 1.0,
    }
}

/// `F.affine_grid`: for each item of an image, the product of the matrix with its place, the last axis of which is
/// first.
pub(super) fn affine(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let theta = line.tensor(line.key_of(&["theta", "input"]))?;
    let size: Vec<i64> = line.required("size")?;
    let aligned = line.flag("align_corners")?;
    let extents = line.extents(theta)?;
    let &[batch, count, columns] = &extents[..] else { return Err(Refusal::UNFIT) };
    let fits = size.len() as i64 == count.saturating_add(2) && size.first() == Some(&batch);
    let positive = size.iter().all(|extent| *extent > 0) && (1..=3).contains(&count);
    line.require("size", fits && positive, &format!("{batch}, the number of channels, and {count} extents"))?;
    if columns != count.saturating_add(1) {
        return Err(Refusal::UNFIT);
    }
    // The columns of the matrix have the axes of the result: batch, image, coordinate.
    let shape: Vec<i64> = std::iter::once(batch).chain((0..count).map(|_| 1)).chain([count]).collect();
    let mut sum = {
        let shift = line.part_of(theta, 2, count..columns)?;
        line.reshaped(shift, &shape)?
    };
    for column in 0..count {
        // The first coordinate is that of the last axis.
        let axis = count.saturating_sub(column);
        let extent = extent_of(&size, axis.saturating_add(1))?;
        let factor = line.item_of(theta, 2, column)?;
        let factor = line.reshaped(factor, &shape)?;
        let along: Vec<i64> = (0..count.saturating_add(2)).map(|at| if at == axis { extent } else { 1 }).collect();
        let places = line.numbers(&along, |item| place(item, extent, aligned))?;
        sum = line.formula_of("add(@0,mul(@1,@2))", &[sum, factor, places])?;
    }
    Ok(vec![sum])
}
