//! Sums, means and maxima of the rows of a table that bags of indices have.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

pub(super) const ROWS: &[LoweringRow] =
    &[(&["nn.EmbeddingBag", "F.embedding_bag", "torch.embedding_bag"], By(embedding_bag))];

/// What is done with the rows of a bag.
#[derive(Clone, Copy, PartialEq)]
enum BagMode {
    Sum,
    Mean,
    Max,
}

/// The mode: a word, or a number where operands have no names.
fn mode(line: &Line) -> Lowered<BagMode> {
    const MODES: [(&str, BagMode); 3] = [("sum", BagMode::Sum), ("mean", BagMode::Mean), ("max", BagMode::Max)];
    if line.is_word("mode") {
        return line.choice("mode", &MODES, None);
    }
    let number = line.optional::<i64>("mode")?.map(usize::try_from);
    match number {
        None => Ok(BagMode::Mean),
        Some(number) => {
            let found = number.ok().and_then(|at| MODES.get(at)).map(|(_, mode)| *mode);
            found.ok_or_else(|| line.refuse("mode", "0, 1 or 2"))
        }
    }
}

/// Which indices each bag has: (bags, indices), as truth values. Rows of a matrix are bags, and others begin at offsets.
fn members(line: &mut Line, indices: TensorId, rows: Option<(i64, i64)>) -> Lowered<TensorId> {
    let count = extent_of(&line.extents(indices)?, 0)?;
    let places = line.counting((2, 1), count)?;
    let (begin, end) = match rows {
        Some((bags, width)) => (line.spaced((2, 0), (0, width, bags))?, line.spaced((2, 0), (width, width, bags))?),
        None => {
            let offsets = line.indices("offsets")?;
            let &[given] = &line.extents(offsets)?[..] else { return Err(Refusal::UNFIT) };
            let has_end = line.flag("include_last_offset")?;
            let bags = if has_end { given.saturating_sub(1) } else { given };
            let begin = line.part_of(offsets, 0, (0, bags))?;
            let end = match has_end {
                true => line.part_of(offsets, 0, (1, given))?,
                false => {
                    let last = line.spaced((1, 0), (count, 1, 1))?;
                    let rest = if given > 1 { vec![line.part_of(offsets, 0, (1, given))?, last] } else { vec![last] };
                    line.concatenated(&rest, 0)?
                }
            };
            (line.with_axes(begin, vec![1])?, line.with_axes(end, vec![1])?)
        }
    };
    let (from, to) = (
        line.add("ge", vec![Value::Tensor(places), Value::Tensor(begin)])?,
        line.add("lt", vec![Value::Tensor(places), Value::Tensor(end)])?,
    );
    let mut within = line.add("and", vec![Value::Tensor(from), Value::Tensor(to)])?;
    if let Some(padding) = line.optional::<i64>("padding_idx")?.filter(|padding| *padding >= 0) {
        let row = line.with_axes(indices, vec![0])?;
        let counts = line.add("ne", vec![Value::Tensor(row), Value::Int(padding)])?;
        within = line.add("and", vec![Value::Tensor(within), Value::Tensor(counts)])?;
    }
    Ok(within)
}

/// The rows of bags. Further results tell which indices were used, for training.
fn embedding_bag(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (indices, table) = (line.indices("input")?, line.data("weight")?);
    let &[rows, width] = &line.shape(table)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("num_embeddings", &[rows])?;
    line.agrees("embedding_dim", &[width])?;
    ["scale_grad_by_freq", "sparse"].iter().for_each(|key| line.ignore(key));
    let mode = mode(line)?;
    let shape = line.extents(indices)?;
    let of_rows = match shape[..] {
        [bags, each] => Some((bags, each)),
        [_] => None,
        _ => return Err(Refusal::UNFIT),
    };
    let flat = if of_rows.is_some() { line.reshaped(indices, &[super::product(&shape)?])? } else { indices };
    let within = members(line, flat, of_rows)?;
    let mut items = line.add("gather", vec![Value::Tensor(table), Value::Tensor(flat), Value::Int(0)])?;
    if let Some(factors) = line.weights("per_sample_weights")? {
        line.require("mode", mode == BagMode::Sum, "`sum` beside factors")?;
        let count = super::product(&line.extents(factors)?)?;
        let factors = line.reshaped(factors, &[count, 1])?;
        items = line.formula_of("mul(@0,@1)", &[items, factors])?;
    }
    if mode == BagMode::Max {
        let (within, items) = (line.with_axes(within, vec![2])?, line.with_axes(items, vec![0])?);
        // A bag without indices has zeros.
        let least = format!("{:?}", f64::from(f32::MIN));
        let all = line.formula_of(&format!("select(@0,@1,{least})"), &[within, items])?;
        let most = line.add("max_reduce", vec![Value::Tensor(all), integers([1])])?;
        let some = line.cast(within, Primitive::Scalar)?;
        let some = line.add("max_reduce", vec![Value::Tensor(some), integers([1])])?;
        let y = line.formula_of("select(gt(@1,0.0),@0,0.0)", &[most, some])?;
        return Ok(vec![line.without_axes(y, &[1])?]);
    }
    let factors = line.cast(within, Primitive::Scalar)?;
    let mut y = line.multiplied(factors, items, (false, false))?;
    if mode == BagMode::Mean {
        let counts = line.add("sum_reduce", vec![Value::Tensor(factors), integers([1])])?;
        y = line.formula_of("div(@0,max(@1,1.0))", &[y, counts])?;
    }
    Ok(vec![y])
}
