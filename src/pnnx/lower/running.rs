//! Sums and products along an axis: of all items, and of those up to each one.
//!
//! NNEF has no product of all items, and no running sums: the halves of an axis are combined, and items with those at
//! distances of powers of two.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.cumsum"], By(|line| running(line, "add(@0,@1)"))),
    (&["torch.cumprod"], By(|line| running(line, "mul(@0,@1)"))),
    (&["torch.logcumsumexp"], By(|line| running(line, "logaddexp(@0,@1)"))),
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
        let first = line.section(y, axis, (0, distance))?;
        let later = line.section(y, axis, (distance, count))?;
        let before = line.section(y, axis, (0, count.saturating_sub(distance)))?;
        let combined = line.formula_of(text, &[before, later])?;
        y = line.concat(vec![first, combined], axis)?;
        distance = distance.saturating_mul(2);
    }
    Ok(vec![y])
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
    let mut count = extent_of(&line.extents(y)?, axis)?;
    if count < 1 {
        return Err(Refusal::UNFIT);
    }
    while count > 1 {
        let half = count / 2;
        let both = half.saturating_mul(2);
        let (first, second) = (line.section(y, axis, (0, half))?, line.section(y, axis, (half, both))?);
        let halves = line.add("mul", vec![Value::Tensor(first), Value::Tensor(second)])?;
        y = match both == count {
            true => halves,
            false => {
                let rest = line.section(y, axis, (both, count))?;
                line.concat(vec![halves, rest], axis)?
            }
        };
        count = extent_of(&line.extents(y)?, axis)?;
    }
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
