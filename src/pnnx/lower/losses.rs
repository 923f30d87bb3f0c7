//! Losses: numbers of the items of several operands, and their mean or sum.

use super::LoweringRule::By;
use super::lengths;
use super::{Line, Lowered, LoweringRow, extent_of, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["F.l1_loss"], By(|line| of_two(line, "abs(sub(@0,@1))", &[]))),
    (&["F.mse_loss"], By(|line| of_two(line, "square(sub(@0,@1))", &[]))),
    (&["F.smooth_l1_loss"], By(|line| of_two(line, SMOOTH, &[("beta", 1.0)]))),
    (&["F.huber_loss"], By(|line| of_two(line, HUBER, &[("delta", 1.0)]))),
    (&["F.soft_margin_loss"], By(|line| of_two(line, "log1p(exp(neg(mul(@0,@1))))", &[]))),
    (&["F.hinge_embedding_loss"], By(|line| of_two(line, HINGE, &[("margin", 1.0)]))),
    (&["F.binary_cross_entropy"], By(|line| of_two(line, CROSS, &[]))),
    (&["F.binary_cross_entropy_with_logits"], By(with_logits)),
    (&["F.kl_div"], By(divergence)),
    (&["F.poisson_nll_loss"], By(poisson)),
    (&["F.margin_ranking_loss"], By(ranking)),
    (&["F.cosine_embedding_loss"], By(cosine)),
    (&["F.triplet_margin_loss"], By(triplet)),
    (&["F.multi_margin_loss"], By(margins)),
    (&["F.nll_loss"], By(|line| of_classes(line, false))),
    (&["F.cross_entropy"], By(|line| of_classes(line, true))),
];

const SMOOTH: &str = "select(lt(abs(sub(@0,@1)),%beta),div(mul(0.5,square(sub(@0,@1))),%beta),\
                      sub(abs(sub(@0,@1)),mul(0.5,%beta)))";
const HUBER: &str = "select(le(abs(sub(@0,@1)),%delta),mul(0.5,square(sub(@0,@1))),\
                     mul(%delta,sub(abs(sub(@0,@1)),mul(0.5,%delta))))";
const HINGE: &str = "add(select(ne(@1,1.0),maximum(sub(%margin,@0),0.0),0.0),select(ne(@1,-1.0),@0,0.0))";
/// Logarithms are no less than -100.
const CROSS: &str = "neg(add(mul(@1,maximum(log(@0),-100.0)),mul(sub(1.0,@1),maximum(log(sub(1.0,@0)),-100.0))))";

/// The reduction that a setting selects, by a word or by its number in torch.
fn reduction(line: &Line) -> Lowered<Option<&'static str>> {
    let words = [("none", None), ("mean", Some("mean_reduce")), ("sum", Some("sum_reduce"))];
    if line.is_word("reduction") {
        return line.choice("reduction", &words, None);
    }
    let place = usize::try_from(line.setting_or("reduction", 1i64)?).ok();
    let found = place.and_then(|place| words.get(place)).map(|(_, nnef)| *nnef);
    found.ok_or_else(|| line.refuse("reduction", "an integer from 0 to 2"))
}

/// A number for all items.
fn over_all(line: &mut Line, nnef: &'static str, y: TensorId) -> Lowered<TensorId> {
    let rank = line.rank(y)?;
    if rank == 0 {
        return Ok(y);
    }
    let y = line.add(nnef, vec![Value::Tensor(y), integers(0..rank)])?;
    line.add("squeeze", vec![Value::Tensor(y), integers(0..rank)])
}

/// What a setting selects: the mean, the sum, or all numbers.
fn reduced(line: &mut Line, y: TensorId) -> Lowered<Vec<TensorId>> {
    match reduction(line)? {
        Some(nnef) => over_all(line, nnef, y).map(|y| vec![y]),
        None => Ok(vec![y]),
    }
}

/// Numbers of the items of an operand and its target, which may have weights.
fn of_two(line: &mut Line, formula: &str, params: &[(&str, f64)]) -> Lowered<Vec<TensorId>> {
    let operands = [line.tensor("input")?, line.tensor("target")?];
    let formula = line.with_settings(formula, params)?;
    let y = line.formula_of(&formula, &operands)?;
    let y = weighted(line, y)?;
    reduced(line, y)
}

/// Numbers times their weights, if there are any.
fn weighted(line: &mut Line, y: TensorId) -> Lowered<TensorId> {
    match line.weights("weight")? {
        Some(weight) => line.formula_of("mul(@0,@1)", &[y, weight]),
        None => Ok(y),
    }
}

/// The cross entropy of the sigmoid, without overflow. Positive targets may have weights of their own.
fn with_logits(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, target) = (line.tensor("input")?, line.tensor("target")?);
    // -log(sigmoid(x))
    let positive = line.formula_of("add(log1p(exp(neg(abs(@0)))),maximum(neg(@0),0.0))", &[x])?;
    let y = match line.weights("pos_weight")? {
        Some(weight) => line.formula_of(
            "add(mul(sub(1.0,@1),@0),mul(@2,add(mul(sub(@3,1.0),@1),1.0)))",
            &[x, target, positive, weight],
        )?,
        None => line.formula_of("add(mul(sub(1.0,@1),@0),@2)", &[x, target, positive])?,
    };
    let y = weighted(line, y)?;
    reduced(line, y)
}

/// The divergence of Kullback and Leibler from an operand of logarithms.
fn divergence(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let formula = match line.flag("log_target")? {
        true => "mul(exp(@1),sub(@1,@0))",
        false => "sub(select(eq(@1,0.0),0.0,mul(@1,log(@1))),mul(@1,@0))",
    };
    of_two(line, formula, &[])
}

fn poisson(line: &mut Line) -> Lowered<Vec<TensorId>> {
    line.off("full")?;
    match line.optional("log_input")?.unwrap_or(true) {
        true => {
            line.ignore("eps");
            of_two(line, "sub(exp(@0),mul(@1,@0))", &[])
        }
        false => of_two(line, "sub(@0,mul(@1,log(add(@0,%eps))))", &[("eps", 1e-8)]),
    }
}

fn ranking(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let operands = [line.tensor("input1")?, line.tensor("input2")?, line.tensor("target")?];
    let formula = line.with_settings("maximum(sub(%margin,mul(@2,sub(@0,@1))),0.0)", &[("margin", 0.0)])?;
    let y = line.formula_of(&formula, &operands)?;
    reduced(line, y)
}

/// Cosines that the target wants to be 1, or no larger than the margin.
fn cosine(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, y, target) = (line.tensor("input1")?, line.tensor("input2")?, line.tensor("target")?);
    let axis = line.rank(target)?;
    let mut sums = Vec::new();
    for (one, other) in [(x, y), (x, x), (y, y)] {
        let products = line.formula_of("mul(@0,@1)", &[one, other])?;
        sums.push(sum_along(line, products, axis)?);
    }
    let cosine = line.formula_of("div(@0,sqrt(mul(add(@1,1e-12),add(@2,1e-12))))", &sums)?;
    let formula = "select(eq(@1,1.0),sub(1.0,@0),select(eq(@1,-1.0),maximum(sub(@0,%margin),0.0),0.0))";
    let formula = line.with_settings(formula, &[("margin", 0.0)])?;
    let y = line.formula_of(&formula, &[cosine, target])?;
    reduced(line, y)
}

/// How much farther an operand should be from one other than from another one.
fn triplet(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (anchor, near, far) = (line.tensor("anchor")?, line.tensor("positive")?, line.tensor("negative")?);
    let order = lengths::order(line, "p")?;
    let epsilon = line.setting_or("eps", 1e-6)?;
    let distance = |line: &mut Line, x, y| {
        let (distance, axis) = lengths::apart(line, x, y, order, epsilon)?;
        line.add("squeeze", vec![Value::Tensor(distance), integers([axis])])
    };
    let (to_near, mut to_far) = (distance(line, anchor, near)?, distance(line, anchor, far)?);
    if line.flag("swap")? {
        let between = distance(line, near, far)?;
        to_far = line.formula_of("minimum(@0,@1)", &[to_far, between])?;
    }
    let formula = line.with_settings("maximum(add(%margin,sub(@0,@1)),0.0)", &[("margin", 1.0)])?;
    let y = line.formula_of(&formula, &[to_near, to_far])?;
    reduced(line, y)
}

/// The axis of the classes of an operand, and which item of it is that of the target.
fn chosen(line: &mut Line, x: TensorId, target: TensorId) -> Lowered<(i64, TensorId)> {
    let rank = line.rank(x)?;
    let axis = i64::from(rank > 1);
    let count = extent_of(&line.extents(x)?, axis)?;
    let places = line.counting((rank, axis), count)?;
    let target = line.with_axes(target, [axis])?;
    Ok((axis, line.add("eq", vec![Value::Tensor(target), Value::Tensor(places)])?))
}

/// The sum along an axis, which is removed.
fn sum_along(line: &mut Line, x: TensorId, axis: i64) -> Lowered<TensorId> {
    let sum = line.add("sum_reduce", vec![Value::Tensor(x), integers([axis])])?;
    line.add("squeeze", vec![Value::Tensor(sum), integers([axis])])
}

/// The items where a condition holds, and 0 elsewhere.
fn only(line: &mut Line, condition: TensorId, x: TensorId) -> Lowered<TensorId> {
    let items = [ExpandedItem::Tensor(x), ExpandedItem::Literal(Literal::Float(0.0))];
    line.select_as(Primitive::Scalar, condition, items)
}

/// By how much other classes are within a margin of that of the target.
fn margins(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, target) = (line.tensor("input")?, line.indices("target")?);
    let power: f64 = line.setting_or("p", 1.0)?;
    line.require("p", power == 1.0 || power == 2.0, "1 or 2")?;
    let (axis, is_there) = chosen(line, x, target)?;
    let own = only(line, is_there, x)?;
    let own = line.add("sum_reduce", vec![Value::Tensor(own), integers([axis])])?;
    let formula = line.with_settings("maximum(add(sub(%margin,@1),@0),0.0)", &[("margin", 1.0)])?;
    let mut y = line.formula_of(&formula, &[x, own])?;
    if power == 2.0 {
        y = line.add("sqr", vec![Value::Tensor(y)])?;
    }
    let others = line.add("not", vec![Value::Tensor(is_there)])?;
    let y = only(line, others, y)?;
    let mean = line.add("mean_reduce", vec![Value::Tensor(y), integers([axis])])?;
    let y = line.add("squeeze", vec![Value::Tensor(mean), integers([axis])])?;
    reduced(line, y)
}

/// The negative logarithm of the probability of the class that is the target. Targets may be probabilities of classes, too.
fn of_classes(line: &mut Line, as_logits: bool) -> Lowered<Vec<TensorId>> {
    let (x, target) = (line.tensor("input")?, line.tensor("target")?);
    let smoothing: f64 = line.setting_or("label_smoothing", 0.0)?;
    line.require("label_smoothing", smoothing == 0.0, "0.0")?;
    let axis = i64::from(line.rank(x)? > 1);
    let logs = if as_logits { line.log_softmax(x, &[axis])? } else { x };
    let logs = line.add("neg", vec![Value::Tensor(logs)])?;
    if as_logits && line.extents(x)? == line.extents(target)? {
        line.ignore("ignore_index");
        let y = line.formula_of("mul(@0,@1)", &[logs, target])?;
        let y = sum_along(line, y, axis)?;
        return reduced(line, y);
    }
    let target = line.indices("target")?;
    let ignored: i64 = line.setting_or("ignore_index", -100)?;
    let is_kept = line.add("ne", vec![Value::Tensor(target), Value::Int(ignored)])?;
    let (axis, is_there) = chosen(line, x, target)?;
    let y = only(line, is_there, logs)?;
    let y = sum_along(line, y, axis)?;
    let y = only(line, is_kept, y)?;
    match reduction(line)? {
        Some("mean_reduce") => {
            let count = line.cast(is_kept, Primitive::Scalar)?;
            let (sum, count) = (over_all(line, "sum_reduce", y)?, over_all(line, "sum_reduce", count)?);
            Ok(vec![line.add("div", vec![Value::Tensor(sum), Value::Tensor(count)])?])
        }
        Some(nnef) => over_all(line, nnef, y).map(|y| vec![y]),
        None => Ok(vec![y]),
    }
}
