//! Operators that move items: rolls, flips, parts and triangles; and the cross product, which is made of parts.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.roll"], By(roll)),
    (&["torch.flip"], By(flip)),
    (&["torch.fliplr"], By(|line| flipped(line, 1))),
    (&["torch.flipud"], By(|line| flipped(line, 0))),
    (&["torch.rot90"], By(rotate)),
    (&["torch.narrow", "Tensor.narrow"], By(narrow)),
    (&["torch.select"], By(super::shaping::select)),
    (&["Tensor.unflatten", "torch.unflatten"], By(unflatten)),
    (&["torch.ravel"], By(ravel)),
    (&["Tensor.expand", "torch.broadcast_to"], By(expand)),
    (&["torch.broadcast_tensors"], By(broadcast)),
    (&["torch.diff"], By(differences)),
    (&["Tensor.expand_as"], By(expand_as)),
    (&["Tensor.reshape_as", "Tensor.view_as"], By(reshape_as)),
    (&["torch.movedim"], By(move_axes)),
    (&["torch.cross"], By(|line| cross(line, None))),
    (&["torch.linalg.cross"], By(|line| cross(line, Some(-1)))),
    (&["torch.tril"], By(|line| triangle(line, "le"))),
    (&["torch.triu"], By(|line| triangle(line, "ge"))),
];

/// Moves items along axes; those that leave the end come first. Without axes, all items are in one row.
fn roll(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let shifts: Vec<i64> = line.required("shifts")?;
    let axes = line.optional::<Vec<i64>>("dims")?.filter(|axes| !axes.is_empty());
    let mut y = x;
    let axes = match axes {
        None => {
            line.require("shifts", shifts.len() == 1, "an integer")?;
            y = line.reshaped(x, &[product(&extents)?])?;
            vec![0]
        }
        // An axis may occur twice.
        Some(axes) => {
            let rank = extents.len() as i64;
            let index = |axis: i64| super::settings::index(axis, rank);
            let axes = axes.into_iter().map(index).collect::<Option<Vec<i64>>>();
            axes.ok_or_else(|| line.refuse("dims", "a list of axes"))?
        }
    };
    line.require("shifts", shifts.len() == axes.len(), "an integer for each axis")?;
    for (shift, axis) in shifts.iter().zip(axes) {
        let extent = extent_of(&line.extents(y)?, axis)?;
        let shift = shift.checked_rem_euclid(extent).ok_or(Refusal::UNFIT)?;
        if shift > 0 {
            let at = extent.saturating_sub(shift);
            let (head, tail) = (line.part_of(y, axis, 0..at)?, line.part_of(y, axis, at..extent)?);
            y = line.concatenated(&[tail, head], axis)?;
        }
    }
    Ok(vec![line.reshaped(y, &extents)?])
}

impl Line<'_> {
    /// The items along axes in reverse order.
    fn reversed(&mut self, x: TensorId, axes: &[i64]) -> Lowered<TensorId> {
        let extents = self.extents(x)?;
        let along = axes.iter().map(|axis| extent_of(&extents, *axis)).collect::<Lowered<Vec<i64>>>()?;
        if along.contains(&0) {
            return Err(Refusal::UNFIT);
        }
        if axes.is_empty() {
            return Ok(x);
        }
        let begin = along.iter().map(|extent| extent.saturating_sub(1));
        // The place before the first item, counted from the end.
        let end = along.iter().map(|extent| (-1i64).saturating_sub(*extent));
        let attributes =
            [integers(axes.iter().copied()), integers(begin), integers(end), integers(axes.iter().map(|_| -1))];
        self.add("slice", [vec![Value::Tensor(x)], attributes.to_vec()].concat())
    }
}

fn flip(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dims", line.rank(x)?)?.ok_or_else(|| line.refuse("dims", "a list of axes"))?;
    Ok(vec![line.reversed(x, &axes)?])
}

fn flipped(line: &mut Line, axis: i64) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    Ok(vec![line.reversed(x, &[axis])?])
}

/// Quarter turns in the plane of two axes, from the first one towards the second one.
fn rotate(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let turns = line.setting_or("k", 1i64)?.rem_euclid(4);
    let axes = line.axes("dims", rank)?.unwrap_or_else(|| vec![0, 1]);
    let &[from, to] = &axes[..] else { return Err(line.refuse("dims", "a list of two axes")) };
    let mut order: Vec<i64> = (0..rank).collect();
    for axis in &mut order {
        *axis = if *axis == from {
            to
        } else if *axis == to {
            from
        } else {
            *axis
        };
    }
    Ok(vec![match turns {
        0 => x,
        1 => {
            let x = line.reversed(x, &[to])?;
            line.transposed(x, &order)?
        }
        2 => line.reversed(x, &[from, to])?,
        _ => {
            let x = line.reversed(x, &[from])?;
            line.transposed(x, &order)?
        }
    }])
}

fn narrow(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(None)?;
    let start: i64 = line.required("start")?;
    let begin = if start < 0 { start.saturating_add(extent) } else { start };
    line.require("start", (0..=extent).contains(&begin), &format!("an integer up to {extent}"))?;
    let length = line.at_least("length", 1, None)?;
    let end = begin.saturating_add(length);
    line.require("length", end <= extent, &format!("an integer up to {}", extent.saturating_sub(begin)))?;
    Ok(vec![line.part_of(x, axis, begin..end)?])
}

/// An axis as several ones, of which one may be -1.
fn unflatten(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, axis, extent) = line.along_axis(None)?;
    let mut extents = line.extents(x)?;
    let key = line.key_of(&["sizes", "unflattened_size"]);
    let mut sizes: Vec<i64> = line.required(key)?;
    let unfit = |line: &Line| line.refuse(key, format!("extents whose product is {extent}"));
    let known: Vec<i64> = sizes.iter().copied().filter(|size| *size != -1).collect();
    let rest = extent.checked_div(product(&known)?).ok_or_else(|| unfit(line))?;
    sizes.iter_mut().filter(|size| **size == -1).for_each(|size| *size = rest);
    let fits = known.len().saturating_add(1) >= sizes.len() && sizes.iter().all(|size| *size > 0);
    if !fits || product(&sizes)? != extent {
        return Err(unfit(line));
    }
    let at = usize::try_from(axis).map_err(|_| Refusal::UNFIT)?;
    extents.splice(at..=at, sizes);
    Ok(vec![line.reshaped(x, &extents)?])
}

fn ravel(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let count = product(&line.extents(x)?)?;
    Ok(vec![line.reshaped(x, &[count])?])
}

fn expand(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let key = line.key_of(&["shape", "sizes", "size"]);
    let mut to: Vec<i64> = line.required(key)?;
    let unfit = |line: &Line| line.refuse(key, format!("a shape to which {extents:?} can be expanded"));
    // -1 is an extent that is not changed. New axes have no such extent.
    for (to, from) in to.iter_mut().rev().zip(extents.iter().rev()) {
        *to = if *to == -1 { *from } else { *to };
    }
    if to.contains(&-1) || to.len() < extents.len() {
        return Err(unfit(line));
    }
    Ok(vec![line.expanded(x, &to).map_err(|_| unfit(line))?])
}

/// Repeats items up to the shape of the second operand.
fn expand_as(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, other) = (line.tensor("input")?, line.tensor("other")?);
    let to = line.extents(other)?;
    Ok(vec![line.expanded(x, &to)?])
}

fn reshape_as(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, other) = (line.tensor("input")?, line.tensor("other")?);
    let to = line.extents(other)?;
    Ok(vec![line.reshaped(x, &to)?])
}

/// Moves axes to other places; the others stay in their order.
fn move_axes(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let from = line.axes("source", rank)?.unwrap_or_default();
    let to = line.axes("destination", rank)?.unwrap_or_default();
    line.require("destination", from.len() == to.len(), "as many axes as `source`")?;
    let mut rest = (0..rank).filter(|axis| !from.contains(axis));
    let order = (0..rank).map(|place| match to.iter().zip(&from).find(|(to, _)| **to == place) {
        Some((_, from)) => Some(*from),
        None => rest.next(),
    });
    let order = order.collect::<Option<Vec<i64>>>().ok_or(Refusal::UNFIT)?;
    Ok(vec![line.transposed(x, &order)?])
}

/// The cross product along an axis of three items: by default, the first one, unless the operator has another default.
fn cross(line: &mut Line, default: Option<i64>) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor("input")?, line.tensor("other")?);
    let shape = line.broadcast(&[a, b])?;
    let rank = shape.len() as i64;
    let first = || shape.iter().zip(0..).find(|(extent, _)| **extent == 3).map(|(_, axis)| axis);
    let axis = match line.optional::<i64>("dim")? {
        Some(_) => line.axis("dim", rank, None)?,
        None => default.map(|axis| axis.saturating_add(rank)).or_else(first).ok_or(Refusal::UNFIT)?,
    };
    line.require("dim", extent_of(&shape, axis)? == 3, "an axis of three items")?;
    let (a, b) = (line.expanded(a, &shape)?, line.expanded(b, &shape)?);
    let mut parts = Vec::new();
    for place in 0..3i64 {
        let item = |line: &mut Line, x, more: i64| {
            let at = place.saturating_add(more) % 3;
            line.item_of(x, axis, at)
        };
        let operands = [item(line, a, 1)?, item(line, b, 2)?, item(line, a, 2)?, item(line, b, 1)?];
        parts.push(line.formula_of("sub(mul(@0,@1),mul(@2,@3))", &operands)?);
    }
    Ok(vec![line.concatenated(&parts, axis)?])
}

/// Keeps the items of the last two axes on one side of a diagonal; the others are 0.
fn triangle(line: &mut Line, kept: &'static str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let [.., rows, columns] = extents[..] else { return Err(Refusal::UNFIT) };
    let diagonal = line.setting_or("diagonal", 0i64)?;
    let rank = extents.len() as i64;
    let (row, column) = (rank.saturating_sub(2), rank.saturating_sub(1));
    let row = line.spaced(rank, row, diagonal, 1, rows)?;
    let column = line.counting((rank, column), columns)?;
    let is_kept = line.add(kept, vec![Value::Tensor(column), Value::Tensor(row)])?;
    let of = line.primitive(x)?;
    let zero = ExpandedItem::Literal(Literal::Int(0));
    Ok(vec![line.select_as(of, is_kept, [ExpandedItem::Tensor(x), zero])?])
}

/// All operands with the shape that they are broadcast to.
fn broadcast(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let tensors = super::shaping::tensors(line)?;
    let shape = line.broadcast(&tensors)?;
    tensors.into_iter().map(|tensor| line.expanded(tensor, &shape)).collect()
}

/// The differences of neighbours along an axis, or of these differences again; of truth values, whether they differ.
fn differences(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, Some(-1))?;
    for (key, is_first) in [("prepend", true), ("append", false)] {
        if let Some(more) = line.weights(key)? {
            x = line.concatenated(&if is_first { vec![more, x] } else { vec![x, more] }, axis)?;
        }
    }
    let extent = super::extent_of(&line.extents(x)?, axis)?;
    let times = line.at_least("n", 0, Some(1))?;
    line.require("n", times < extent, &format!("an integer below {extent}"))?;
    let formula = if line.is_logical(x) { "xor(@0,@1)" } else { "sub(@0,@1)" };
    for turn in 0..times {
        let count = extent.saturating_sub(turn);
        let after = line.part_of(x, axis, 1..count)?;
        let before = line.part_of(x, axis, 0..count.saturating_sub(1))?;
        x = line.formula_of(formula, &[after, before])?;
    }
    Ok(vec![x])
}
