//! Diagonals of matrices, and matrices of diagonals.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.diag"], By(diag)),
    (&["torch.diagonal"], By(|line| diagonal(line, ["offset", "dim1", "dim2"], Some([0, 1])))),
    (&["torch.linalg.diagonal"], By(|line| diagonal(line, ["offset", "dim1", "dim2"], Some([-2, -1])))),
    (&["torch.diag_embed"], By(embedded)),
    (&["torch.trace"], By(trace)),
];

/// The diagonal of a matrix, or the matrix that has a vector as its diagonal.
fn diag(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    if line.rank(x)? != 1 {
        return diagonal(line, ["diagonal", "", ""], None);
    }
    let offset = line.setting_or("diagonal", 0i64)?;
    let count = extent_of(&line.extents(x)?, 0)?;
    let size = offset.checked_abs().and_then(|more| more.checked_add(count)).ok_or(Refusal::UNFIT)?;
    // The vector begins behind the rows or columns that the offset leaves out.
    let before = offset.saturating_neg().max(0);
    let items = line.with_axes(x, [1])?;
    let rows = line.spaced(2, 0, before, 1, count)?;
    let all = line.counting((2, 1), size)?;
    let own = line.add("eq", vec![Value::Tensor(rows), Value::Tensor(all)])?;
    let of = line.primitive(x)?;
    let zero = || ExpandedItem::Literal(Literal::Int(0));
    // Each item in its row, then in its column.
    let column = line.select_as(of, own, [ExpandedItem::Tensor(items), zero()])?;
    let column = line.add("sum_reduce", vec![Value::Tensor(column), integers([0])])?;
    let column = line.transposed(column, &[1, 0])?;
    let row = line.spaced(2, 0, offset, 1, size)?;
    let is_own = line.add("eq", vec![Value::Tensor(row), Value::Tensor(all)])?;
    Ok(vec![line.select_as(of, is_own, [ExpandedItem::Tensor(column), zero()])?])
}

/// Matrices, along the last two axes, whose diagonals are the items of the last axis.
fn embedded(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let (first, second) = (rank.saturating_sub(1), rank);
    line.require("offset", line.setting_or("offset", 0i64)? == 0, "0")?;
    for (key, axis) in [("dim1", first), ("dim2", second)] {
        let wanted = line.axis(key, rank.saturating_add(1), Some(axis))? == axis;
        line.require(key, wanted, "one of the last two axes, in their order")?;
    }
    let count = extent_of(&line.extents(x)?, first)?;
    let rows = line.counting((rank.saturating_add(1), first), count)?;
    let columns = line.counting((rank.saturating_add(1), second), count)?;
    let is_own = line.add("eq", vec![Value::Tensor(rows), Value::Tensor(columns)])?;
    let items = line.with_axes(x, [first])?;
    let of = line.primitive(x)?;
    Ok(vec![line.select_as(of, is_own, [ExpandedItem::Tensor(items), ExpandedItem::Literal(Literal::Int(0))])?])
}

/// The items of a plane whose places differ by an offset, along a new last axis.
fn diagonal(line: &mut Line, keys: [&str; 3], defaults: Option<[i64; 2]>) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "A"]))?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let offset = line.setting_or(keys[0], 0i64)?;
    let [first, second] = match defaults {
        Some([first, second]) => [line.axis(keys[1], rank, Some(first))?, line.axis(keys[2], rank, Some(second))?],
        None if rank == 2 => [0, 1],
        None => return Err(Refusal::UNFIT),
    };
    line.require(keys[2], first != second, "another axis")?;
    let (rows, columns) = (extent_of(&extents, first)?, extent_of(&extents, second)?);
    let others: Vec<i64> = (0..rank).filter(|axis| ![first, second].contains(axis)).collect();
    let outer = others.iter().map(|axis| extent_of(&extents, *axis)).collect::<Lowered<Vec<i64>>>()?;
    let (row, column) = (offset.saturating_neg().max(0), offset.max(0));
    let count = rows.saturating_sub(row).min(columns.saturating_sub(column));
    line.require(keys[0], count > 0, "an offset within the matrix")?;
    let order: Vec<i64> = others.into_iter().chain([first, second]).collect();
    let x = line.transposed(x, &order)?;
    let x = line.reshaped(x, &[&outer[..], &[product(&[rows, columns])?]].concat())?;
    let begin = product(&[row, columns])?.checked_add(column).ok_or(Refusal::UNFIT)?;
    let places = line.spaced(1, 0, begin, columns.saturating_add(1), count)?;
    Ok(vec![line.taken(x, places, outer.len() as i64)?])
}

fn trace(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let items = diagonal(line, ["", "", ""], None)?;
    let items = *items.first().ok_or(Refusal::UNFIT)?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(items), integers([0])])?;
    Ok(vec![line.without_axes(sum, &[0])?])
}
