//! Norms of any order, and mean and variance together.

use super::LoweringRule::By;
use super::reductions::{drop_axes, reduced, spread};
use super::{Line, Lowered, LoweringRow, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.norm"], By(|line| norm(line, "p"))),
    (&["torch.linalg.vector_norm"], By(|line| norm(line, "ord"))),
    (&["torch.linalg.norm"], By(linear_norm)),
    (&["F.normalize"], By(normalize)),
    (&["F.pairwise_distance", "nn.PairwiseDistance"], By(distance)),
    (&["F.cosine_similarity", "nn.CosineSimilarity"], By(cosine)),
    (&["torch.var_mean"], By(|line| with_mean(line, false))),
    (&["torch.std_mean"], By(|line| with_mean(line, true))),
];

/// The order of a norm: infinities are the largest and the least absolute value, 0 the number of items that are not 0.
pub(super) fn order(line: &Line, key: &str) -> Lowered<f64> {
    if line.is_word(key) {
        return line.choice(key, &[("fro", 2.0), ("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY)], None);
    }
    let given = line.optional::<Literal>(key)?;
    let order = given.and_then(Literal::number).map_or(2.0, |order| order.float());
    line.require(key, !order.is_nan() && !matches!(given, Some(Literal::Bool(_))), "a number")?;
    Ok(order)
}

/// The norm along axes, which are kept.
pub(super) fn along(line: &mut Line, x: TensorId, order: f64, axes: &[i64]) -> Lowered<TensorId> {
    let axes = || integers(axes.iter().copied());
    let reduce = |line: &mut Line, nnef, x| line.add(nnef, vec![Value::Tensor(x), axes()]);
    let x = line.cast(x, Primitive::Scalar)?;
    if order == 2.0 {
        let squares = line.add("sqr", vec![Value::Tensor(x)])?;
        let sum = reduce(line, "sum_reduce", squares)?;
        return line.add("sqrt", vec![Value::Tensor(sum)]);
    }
    let sizes = line.add("abs", vec![Value::Tensor(x)])?;
    match order {
        f64::INFINITY => reduce(line, "max_reduce", sizes),
        f64::NEG_INFINITY => reduce(line, "min_reduce", sizes),
        0.0 => {
            let counted = line.truth(sizes)?;
            let counted = line.cast(counted, Primitive::Scalar)?;
            reduce(line, "sum_reduce", counted)
        }
        1.0 => reduce(line, "sum_reduce", sizes),
        order => {
            let powers = line.add("pow", vec![Value::Tensor(sizes), Value::Scalar(order)])?;
            let sum = reduce(line, "sum_reduce", powers)?;
            line.add("pow", vec![Value::Tensor(sum), Value::Scalar(1.0 / order)])
        }
    }
}

fn norm(line: &mut Line, key: &str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "x"]))?;
    let axes = reduced(line, x)?;
    let order = order(line, key)?;
    let y = along(line, x, order, &axes)?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The norm of a vector, or the root of the sum of all squares; other norms of matrices need their singular values.
fn linear_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let is_plain = order(line, "ord")? == 2.0 && (line.is_word("ord") || line.optional::<Literal>("ord")?.is_none());
    line.require("ord", axes.len() == 1 || is_plain, "`None` for matrices")?;
    norm(line, "ord")
}

fn distance(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, y) = (line.tensor(line.key_of(&["x1", "input"]))?, line.tensor(line.key_of(&["x2", "input1"]))?);
    let order = match line.key_of(&["p", "norm"]) {
        "norm" => line.setting_or("norm", 2.0)?,
        _ => order(line, "p")?,
    };
    let epsilon = line.setting_or("eps", 1e-6)?;
    let (y, axis) = apart(line, x, y, order, epsilon)?;
    drop_axes(line, y, vec![axis]).map(|y| vec![y])
}

/// The norm of the difference of two operands along the last axis, which is kept; a number is added to each item.
pub(super) fn apart(line: &mut Line, x: TensorId, y: TensorId, order: f64, epsilon: f64) -> Lowered<(TensorId, i64)> {
    let difference = line.formula_of(&format!("add(sub(@0,@1),{epsilon:?})"), &[x, y])?;
    let axis = line.rank(difference)?.saturating_sub(1);
    Ok((along(line, difference, order, &[axis])?, axis))
}

/// The product of two vectors along an axis, over that of their norms, which are kept away from 0.
fn cosine(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, y) = (line.tensor(line.key_of(&["x1", "input"]))?, line.tensor(line.key_of(&["x2", "input1"]))?);
    let epsilon: f64 = line.setting_or("eps", 1e-8)?;
    let shape = line.broadcast(&[x, y])?;
    let axis = line.axis("dim", shape.len() as i64, Some(1))?;
    let (x, y) = (line.expanded(x, &shape)?, line.expanded(y, &shape)?);
    let products = line.formula_of("mul(@0,@1)", &[x, y])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(products), integers([axis])])?;
    let (x, y) = (along(line, x, 2.0, &[axis])?, along(line, y, 2.0, &[axis])?);
    let formula = format!("div(@0,mul(maximum(@1,{epsilon:?}),maximum(@2,{epsilon:?})))");
    let cosine = line.formula_of(&formula, &[sum, x, y])?;
    drop_axes(line, cosine, vec![axis]).map(|y| vec![y])
}

/// Divides the operand by its norm along an axis.
fn normalize(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, Some(1))?;
    let epsilon: f64 = line.setting_or("eps", 1e-12)?;
    let order = order(line, "p")?;
    let y = along(line, x, order, &[axis])?;
    // As the second operand, a norm that is NaN stays.
    let norm = line.add("max", vec![Value::Scalar(epsilon), Value::Tensor(y)])?;
    Ok(vec![line.add("div", vec![Value::Tensor(x), Value::Tensor(norm)])?])
}

/// The variance, or its root, and the mean.
fn with_mean(line: &mut Line, root: bool) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let y = spread(line, x, &axes, root)?;
    let mean = line.add("mean_reduce", vec![Value::Tensor(x), integers(axes.iter().copied())])?;
    Ok(vec![drop_axes(line, y, axes.clone())?, drop_axes(line, mean, axes)?])
}
