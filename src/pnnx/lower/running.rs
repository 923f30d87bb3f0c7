//! Sums and products along an axis: of all items, and of those up to each one.
//!
//! NNEF has no product of all items, and no running sums: the halves of an axis are combined, and items with those at
//! distances of powers of two.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.cumsum"], By(|line| running(line, "add(@0,@1)"))),
    (&["torch.cumprod"], By(|line| running(line, "mul(@0,@1)"))),
    (&["torch.logcumsumexp"], By(|line| running(line, "logaddexp(@0,@1)"))),
    (&["torch.cummax"], By(|line| running_extreme(line, "or(ge(@1,@0),ne(@1,@1))"))),
    (&["torch.cummin"], By(|line| running_extreme(line, "or(le(@1,@0),ne(@1,@1))"))),
    (&["torch.prod"], By(prod)),
    (&["torch.any"], By(|line| truth(line, "any_reduce"))),
    (&["torch.all"], By(|line| truth(line, "all_reduce"))),
];

/// The element types of `dtype` for sums and products.
const TYPES: &[(&str, Primitive)] = &[
    ("torch.float", Primitive::Scalar),
    ("torch.float32", Primitive::Scalar),
    ("torch.float64", Primitive::Scalar),
    ("torch.double", Primitive::Scalar),
    ("torch.int", Primitive::Integer),
    ("torch.int32", Primitive::Integer),
    ("torch.long", Primitive::Integer),
    ("torch.int64", Primitive::Integer),
];

/// The operand, converted to the type that a setting names; truth values become integers.
fn operand(line: &mut Line) -> Lowered<TensorId> {
    let x = line.tensor("input")?;
    let own = match line.primitive(x)? {
        Primitive::Logical => Primitive::Integer,
        own => own,
    };
    let of = match line.optional::<String>("dtype")? {
        None => own,
        Some(_) => line.choice("dtype", TYPES, None)?,
    };
    line.cast(x, of)
}

/// What the items up to each one of an axis are combined to.
fn running(line: &mut Line, text: &str) -> Lowered<Vec<TensorId>> {
    let mut y = operand(line)?;
    let rank = line.rank(y)?;
    if rank == 0 {
        line.ignore("dim");
        return Ok(vec![y]);
    }
    let axis = line.axis("dim", rank, None)?;
    let count = extent_of(&line.extents(y)?, axis)?;
    if count < 1 {
        return Err(Refusal::UNFIT);
    }
    let mut distance = 1i64;
    while distance < count {
        let first = line.part_of(y, axis, 0..distance)?;
        let later = line.part_of(y, axis, distance..count)?;
        let before = line.part_of(y, axis, 0..count.saturating_sub(distance))?;
        let combined = line.formula_of(text, &[before, later])?;
        y = line.concatenated(&[first, combined], axis)?;
        distance = distance.saturating_mul(2);
    }
    Ok(vec![y])
}

/// The largest or smallest items up to each one of an axis, and their places. The formula says when a later item
/// replaces one before it: also if they are equal, or if it is NaN, which then stays.
fn running_extreme(line: &mut Line, later_wins: &str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    if rank == 0 {
        line.ignore("dim");
        return Ok(vec![x, line.constant(&[], Value::Integers([0].into()))?]);
    }
    let axis = line.axis("dim", rank, None)?;
    let extents = line.extents(x)?;
    let (of, count) = (line.primitive(x)?, extent_of(&extents, axis)?);
    let places = line.counting((rank, axis), count)?;
    let (mut y, mut places) = (x, line.expanded(places, &extents)?);
    let mut distance = 1i64;
    while distance < count {
        let ends = [0..distance, distance..count, 0..count.saturating_sub(distance)];
        let mut parts = Vec::with_capacity(2);
        for tensor in [y, places] {
            let [first, later, before] = ends.clone().map(|range| line.part_of(tensor, axis, range));
            parts.push([first?, later?, before?]);
        }
        let [[_, later, before], _] = parts[..] else { return Err(Refusal::UNFIT) };
        let wins = line.formula_of(later_wins, &[before, later])?;
        let mut next = Vec::with_capacity(2);
        for ([first, later, before], of) in parts.into_iter().zip([of, Primitive::Integer]) {
            let chosen = line.select_as(of, wins, [ExpandedItem::Tensor(later), ExpandedItem::Tensor(before)])?;
            next.push(line.concatenated(&[first, chosen], axis)?);
        }
        let [values, indices] = next[..] else { return Err(Refusal::UNFIT) };
        (y, places) = (values, indices);
        distance = distance.saturating_mul(2);
    }
    Ok(vec![y, places])
}

impl Line<'_> {
    /// The product of all items along an axis, which is kept.
    pub(super) fn product_of(&mut self, x: TensorId, axis: i64) -> Lowered<TensorId> {
        self.joined_halves(x, axis, "mul")
    }

    /// All items along an axis, which is kept, combined by an operation.
    pub(super) fn joined_halves(&mut self, x: TensorId, axis: i64, nnef: &'static str) -> Lowered<TensorId> {
        let mut y = x;
        let mut count = extent_of(&self.extents(y)?, axis)?;
        if count < 1 {
            return Err(Refusal::UNFIT);
        }
        while count > 1 {
            let half = count / 2;
            let both = half.saturating_mul(2);
            let (first, second) = (self.part_of(y, axis, 0..half)?, self.part_of(y, axis, half..both)?);
            let halves = self.add(nnef, vec![Value::Tensor(first), Value::Tensor(second)])?;
            y = match both == count {
                true => halves,
                false => {
                    let rest = self.part_of(y, axis, both..count)?;
                    self.concatenated(&[halves, rest], axis)?
                }
            };
            count = extent_of(&self.extents(y)?, axis)?;
        }
        Ok(y)
    }
}

/// The product along an axis, or of all items.
fn prod(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = operand(line)?;
    let extents = line.extents(x)?;
    let kept = line.flag("keepdim")?;
    let (mut y, axis) = match line.optional::<i64>("dim")? {
        Some(_) => (x, line.axis("dim", extents.len() as i64, None)?),
        None => (line.reshaped(x, &[product(&extents)?])?, 0),
    };
    y = line.product_of(y, axis)?;
    if kept && line.optional::<i64>("dim")?.is_none() {
        return Ok(vec![line.reshaped(y, &vec![1; extents.len()])?]);
    }
    if kept { Ok(vec![y]) } else { Ok(vec![line.without_axes(y, &[axis])?]) }
}

/// Whether any or all items along axes are true.
fn truth(line: &mut Line, nnef: &'static str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = super::reductions::reduced(line, x)?;
    let x = line.truth(x)?;
    let y = line.add(nnef, vec![Value::Tensor(x), integers(axes.iter().copied())])?;
    super::reductions::drop_axes(line, y, axes).map(|y| vec![y])
}
