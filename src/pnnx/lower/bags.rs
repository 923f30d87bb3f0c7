//! Sums, means and maxima of the rows of a table that bags of indices have.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

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

/// Which indices each bag has, (bags, indices), as truth values: bags begin at offsets.
fn members(line: &mut Line, indices: TensorId) -> Lowered<TensorId> {
    let count = extent_of(&line.extents(indices)?, 0)?;
    let places = line.counting((2, 1), count)?;
    let offsets = line.indices("offsets")?;
    let &[given] = &line.extents(offsets)?[..] else { return Err(Refusal::UNFIT) };
    let has_end = line.flag("include_last_offset")?;
    let bags = if has_end { given.saturating_sub(1) } else { given };
    let begin = line.part_of(offsets, 0, 0..bags)?;
    let end = match has_end {
        true => line.part_of(offsets, 0, 1..given)?,
        false => {
            let last = line.spaced(1, 0, count, 1, 1)?;
            let rest = if given > 1 { vec![line.part_of(offsets, 0, 1..given)?, last] } else { vec![last] };
            line.concatenated(&rest, 0)?
        }
    };
    let (begin, end) = (line.with_axes(begin, [1])?, line.with_axes(end, [1])?);
    let (from, to) = (
        line.add("ge", vec![Value::Tensor(places), Value::Tensor(begin)])?,
        line.add("lt", vec![Value::Tensor(places), Value::Tensor(end)])?,
    );
    line.add("and", vec![Value::Tensor(from), Value::Tensor(to)])
}

/// The rows of bags. Further results tell which indices were used, for training.
fn embedding_bag(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (indices, table) = (line.indices("input")?, line.data("weight")?);
    let &[rows, width] = &line.shape(table)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("num_embeddings", &[rows])?;
    line.agrees("embedding_dim", &[width])?;
    ["scale_grad_by_freq", "sparse"].iter().for_each(|key| line.ignore(key));
    let mode = mode(line)?;
    // Rows of a matrix are bags. Other bags are sections of one row, which all of them share.
    let (indices, mut within) = match line.extents(indices)?.len() {
        2 => (indices, None),
        1 => (line.with_axes(indices, [0])?, Some(members(line, indices)?)),
        _ => return Err(Refusal::UNFIT),
    };
    if let Some(padding) = line.optional::<i64>("padding_idx")?.filter(|padding| *padding >= 0) {
        let counts = line.add("ne", vec![Value::Tensor(indices), Value::Int(padding)])?;
        within = Some(match within {
            Some(within) => line.add("and", vec![Value::Tensor(within), Value::Tensor(counts)])?,
            None => counts,
        });
    }
    let shape = line.extents(indices)?;
    let mut items = line.add("gather", vec![Value::Tensor(table), Value::Tensor(indices), Value::Int(0)])?;
    if let Some(factors) = line.weights("per_sample_weights")? {
        line.require("mode", mode == BagMode::Sum, "`sum` beside factors")?;
        let factors = line.reshaped(factors, &[&shape[..], &[1]].concat())?;
        items = line.formula_of("mul(@0,@1)", &[items, factors])?;
    }
    let reduction = if mode == BagMode::Max { "max_reduce" } else { "sum_reduce" };
    let Some(within) = within else {
        let reduction = if mode == BagMode::Mean { "mean_reduce" } else { reduction };
        let y = line.add(reduction, vec![Value::Tensor(items), integers([1])])?;
        return Ok(vec![line.without_axes(y, &[1])?]);
    };
    // Items of other bags are replaced, since infinities and NaN do not vanish by factors of 0.
    let within = line.with_axes(within, [2])?;
    let none = if mode == BagMode::Max { f64::NEG_INFINITY } else { 0.0 };
    let none = line.number(Literal::Float(none))?;
    let chosen = [ExpandedItem::Tensor(within), ExpandedItem::Tensor(items), none];
    let all = line.text("select(@0,@1,@2)", &chosen)?;
    let mut y = line.add(reduction, vec![Value::Tensor(all), integers([1])])?;
    if mode != BagMode::Sum {
        let counts = line.cast(within, Primitive::Scalar)?;
        let counts = line.add("sum_reduce", vec![Value::Tensor(counts), integers([1])])?;
        // A bag without indices has zeros.
        let formula = if mode == BagMode::Mean { "div(@0,max(@1,1.0))" } else { "select(gt(@1,0.0),@0,0.0)" };
        y = line.formula_of(formula, &[y, counts])?;
    }
    Ok(vec![line.without_axes(y, &[1])?])
}
