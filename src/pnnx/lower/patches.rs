//! Windows as columns of matrices, and back.

use super::windows::{self, LARGE, padded};
use super::{Line, Lowered, Refusal, integers, product};
use crate::extents::Window;
use crate::graph::{TensorId, Value};
use crate::library::assembly::{Assembly, pairs};

/// The places of all items of all windows along an axis: those of the first items, then those of the second ones.
fn places(line: &Line, window: &Window, count: i64) -> Lowered<Vec<i64>> {
    line.items_of(&[window.size, count])?;
    let place = |item: i64, at: i64| at.checked_mul(window.stride)?.checked_add(item.checked_mul(window.dilation)?);
    let all = (0..window.size).flat_map(|item| (0..count).map(move |at| place(item, at)));
    all.collect::<Option<Vec<i64>>>().ok_or(LARGE)
}

/// The windows of an image, of the two last axes, as columns: (batch, channels × items of a window, windows).
pub(super) fn unfold(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let (outer, [channels, height, width]) = match extents[..] {
        [batch, channels, height, width] => (vec![batch], [channels, height, width]),
        [channels, height, width] => (vec![], [channels, height, width]),
        _ => return Err(Refusal::UNFIT),
    };
    let size = line.per_axis("kernel_size", 2, 1, None)?;
    let windows = windows::windows(line, &size, None)?;
    let &[rows, columns] = &windows[..] else { return Err(Refusal::UNFIT) };
    let counts = (windows::places(&rows, height).ok_or(LARGE)?, windows::places(&columns, width).ok_or(LARGE)?);
    let at = outer.len() as i64;
    let x = padded(line, x, &windows)?;
    let down = places(line, &rows, counts.0)?;
    let x = line.taken_at(x, down, at.saturating_add(1))?;
    let along = places(line, &columns, counts.1)?;
    let x = line.taken_at(x, along, at.saturating_add(2))?;
    let apart = [&outer[..], &[channels, rows.size, counts.0, columns.size, counts.1]].concat();
    let x = line.reshaped(x, &apart)?;
    let order = (0..at).chain([0, 1, 3, 2, 4].map(|axis: i64| axis.saturating_add(at))).collect::<Vec<i64>>();
    let x = line.transposed(x, &order)?;
    let volume = product(&[channels, rows.size, columns.size])?;
    Ok(vec![line.reshaped(x, &[&outer[..], &[volume, product(&[counts.0, counts.1])?]].concat())?])
}

/// The sums of the columns of [`unfold`] at the places of their items: a transposed convolution whose filter has one
/// item of each window.
pub(super) fn fold(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let (outer, volume, count) = match extents[..] {
        [batch, volume, count] => (vec![batch], volume, count),
        [volume, count] => (vec![], volume, count),
        _ => return Err(Refusal::UNFIT),
    };
    let size = line.per_axis("kernel_size", 2, 1, None)?;
    let output = line.per_axis("output_size", 2, 1, None)?;
    let windows = windows::windows(line, &size, None)?;
    let (&[rows, columns], &[height, width]) = (&windows[..], &output[..]) else { return Err(Refusal::UNFIT) };
    let counts = (windows::places(&rows, height).ok_or(LARGE)?, windows::places(&columns, width).ok_or(LARGE)?);
    let items = product(&size)?;
    let channels = super::exact_quotient(volume, items).filter(|_| product(&[counts.0, counts.1]) == Ok(count));
    let channels = channels.ok_or_else(|| line.refuse("output_size", "the extents whose windows the operand has"))?;
    let images = product(&[outer.first().copied().unwrap_or(1), channels])?;
    let x = line.reshaped(x, &[images, items, counts.0, counts.1])?;
    let square = items.saturating_add(1);
    let filter =
        line.numbers(
            &[items, 1, rows.size, columns.size],
            |at| {
                if at.checked_rem(square) == Some(0) { 1.0 } else { 0.0 }
            },
        )?;
    let arguments = [
        Value::Tensor(filter),
        Value::Scalar(0.0),
        Value::String("constant".into()),
        pairs(windows.iter().map(|window| window.padding)),
        integers(windows.iter().map(|window| window.stride)),
        integers(windows.iter().map(|window| window.dilation)),
        integers([images, 1, height, width]),
        Value::Int(1),
    ];
    let y = line.on("deconv", x, arguments)?;
    Ok(vec![line.reshaped(y, &[&outer[..], &[channels, height, width]].concat())?])
}
