//! Functions of items that NNEF has formulas for, and distances and products of vectors.

use std::f64::consts::LN_2;

use super::LoweringRule::{By, With};
use super::bits::width;
use super::lengths;
use super::{Line, Lowered, LoweringRow, Refusal, integers, torch};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::{Assembly, einsum};
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.hypot"], By(|line| of_two(line, "other", "sqrt(add(mul(@0,@0),mul(@1,@1)))"))),
    // The reciprocal of -0 is negative.
    (
        &["torch.copysign"],
        By(|line| of_two(line, "other", "select(or(lt(@1,0.0),lt(rcp(@1),0.0)),neg(abs(@0)),abs(@0))")),
    ),
    (&["torch.heaviside"], By(|line| of_two(line, "values", "select(eq(@0,0.0),@1,select(gt(@0,0.0),1.0,0.0))"))),
    (
        &["torch.xlogy", "torch.special.xlogy"],
        By(|line| of_two(line, "other", "select(ne(@1,@1),@1,select(eq(@0,0.0),0.0,mul(@0,log(@1))))")),
    ),
    (&["torch.exp2", "torch.special.exp2"], With("pow(2.0,@0)", &[])),
    (
        &["torch.sinc", "torch.special.sinc"],
        With("select(eq(@0,0.0),1.0,div(sin(mul(@0,3.141592653589793)),mul(@0,3.141592653589793)))", &[]),
    ),
    (&["torch.frac"], With("sub(@0,trunc(@0))", &[])),
    (&["torch.sgn"], With("sign(@0)", &[])),
    (&["torch.signbit"], With("or(lt(@0,0.0),lt(rcp(@0),0.0))", &[])),
    (&["torch.rad2deg"], With("mul(@0,57.29577951308232)", &[])),
    (&["torch.deg2rad"], With("mul(@0,0.017453292519943295)", &[])),
    // An operand that is NaN is passed over.
    (&["torch.fmax"], By(|line| of_two(line, "other", "select(ne(@0,@0),@1,select(ne(@1,@1),@0,maximum(@0,@1)))"))),
    (&["torch.fmin"], By(|line| of_two(line, "other", "select(ne(@0,@0),@1,select(ne(@1,@1),@0,minimum(@0,@1)))"))),
    (
        &["torch.logaddexp2"],
        By(|line| {
            let more = "log(add(1.0,pow(2.0,neg(abs(sub(@0,@1))))))";
            of_two(line, "other", &format!("select(eq(@0,@1),add(@0,1.0),add(maximum(@0,@1),div({more},{LN_2:?})))"))
        }),
    ),
    (&["torch.float_power"], By(float_power)),
    (&["torch.ldexp"], By(scaled)),
    (
        &["torch.log2"],
        By(|line| Ok(vec![line.tensor("input").and_then(|x| line.add("log2", vec![Value::Tensor(x)]))?])),
    ),
    (&["torch.round"], By(rounded)),
    (&["torch.erfc", "torch.special.erfc"], By(error_complement)),
    (&["torch.logit", "torch.special.logit"], By(logit)),
    (&["torch.nan_to_num"], By(finite)),
    (&["F.one_hot"], By(one_hot)),
    (&["torch.gcd"], By(|line| divisor(line, false))),
    (&["torch.lcm"], By(|line| divisor(line, true))),
    (&["torch.cdist"], By(distances)),
    (&["nn.Bilinear", "F.bilinear"], By(bilinear)),
];

/// A formula of two operands.
fn of_two(line: &mut Line, second: &str, formula: &str) -> Lowered<Vec<TensorId>> {
    let key = line.key_of(&[second, "other", "input1"]);
    let items = [line.term("input")?, line.term(key)?];
    Ok(vec![line.text(formula, &items)?])
}

/// Powers of numbers that are not integers, also where both operands are.
fn float_power(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let key = line.key_of(&["exponent", "other", "input1"]);
    let mut items = [line.term("input")?, line.term(key)?];
    for item in &mut items {
        if let ExpandedItem::Tensor(tensor) = item {
            *tensor = line.cast(*tensor, Primitive::Scalar)?;
        }
    }
    Ok(vec![line.text("pow(@0,@1)", &items)?])
}

/// Numbers times powers of 2, whose exponents may be integers.
fn scaled(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, exponent) = (line.tensor("input")?, line.tensor("other")?);
    let exponent = line.cast(exponent, Primitive::Scalar)?;
    Ok(vec![line.formula_of("mul(@0,pow(2.0,@1))", &[x, exponent])?])
}

/// Rounds to a number of decimals, by default to integers.
fn rounded(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let decimals: i64 = line.setting_or("decimals", 0)?;
    if decimals == 0 {
        return Ok(vec![line.by_item("torch.round")?]);
    }
    line.require("decimals", (-30..=30).contains(&decimals), "an integer from -30 to 30")?;
    // Powers of 10 are exact, tenths are not.
    let factor = 10f64.powi(decimals.unsigned_abs() as i32);
    let (to, back) = if decimals > 0 { ("mul", "div") } else { ("div", "mul") };
    let x = line.tensor("input")?;
    let scaled = line.formula_of(&format!("{to}(@0,{factor:?})"), &[x])?;
    let whole = torch(line, "torch.round", &[("input", scaled)], &[])?;
    Ok(vec![line.formula_of(&format!("{back}(@0,{factor:?})"), &[whole])?])
}

/// One less the error function.
fn error_complement(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = ExpandedItem::Tensor(line.tensor("input")?);
    Ok(vec![line.spelled("sub(1.0,erf(@0))", &[x])?])
}

/// The greatest common divisor of integers, or their least common multiple, by Euclid's algorithm on integers.
fn divisor(line: &mut Line, is_multiple: bool) -> Lowered<Vec<TensorId>> {
    let operands = [line.indices("input")?, line.indices("other")?];
    let [mut a, mut b] = [magnitude(line, operands[0])?, magnitude(line, operands[1])?];
    let bits = operands.iter().map(|x| width(line.builder.graph.element_type(*x))).max().unwrap_or_default();
    // Fibonacci numbers take the most steps, and grow by a bit in 1.44 steps.
    for _ in 0..bits.saturating_mul(3) / 2 {
        let is_done = line.add("eq", vec![Value::Tensor(b), Value::Int(0)])?;
        let by = line.add("select", vec![Value::Tensor(is_done), Value::Int(1), Value::Tensor(b)])?;
        let quotient = line.add("div", vec![Value::Tensor(a), Value::Tensor(by)])?;
        let whole = line.add("mul", vec![Value::Tensor(quotient), Value::Tensor(by)])?;
        let rest = line.add("sub", vec![Value::Tensor(a), Value::Tensor(whole)])?;
        a = line.add("select", vec![Value::Tensor(is_done), Value::Tensor(a), Value::Tensor(b)])?;
        b = rest;
    }
    if !is_multiple {
        return Ok(vec![a]);
    }
    let is_zero = line.add("eq", vec![Value::Tensor(a), Value::Int(0)])?;
    let by = line.add("select", vec![Value::Tensor(is_zero), Value::Int(1), Value::Tensor(a)])?;
    let [x, y] = operands;
    let quotient = line.add("div", vec![Value::Tensor(x), Value::Tensor(by)])?;
    let product = line.add("mul", vec![Value::Tensor(quotient), Value::Tensor(y)])?;
    Ok(vec![magnitude(line, product)?])
}

/// The absolute values of integers, which stay integers.
fn magnitude(line: &mut Line, x: TensorId) -> Lowered<TensorId> {
    let is_negative = line.add("lt", vec![Value::Tensor(x), Value::Int(0)])?;
    let opposite = line.add("sub", vec![Value::Int(0), Value::Tensor(x)])?;
    line.add("select", vec![Value::Tensor(is_negative), Value::Tensor(opposite), Value::Tensor(x)])
}

/// The inverse of the sigmoid, of items that may be kept away from 0 and 1.
fn logit(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    if let Some(epsilon) = line.optional::<f64>("eps")? {
        let above = 1.0 - epsilon;
        x = line.formula_of(&format!("minimum(maximum(@0,{epsilon:?}),{above:?})"), &[x])?;
    }
    Ok(vec![line.formula_of("log(div(@0,sub(1.0,@0)))", &[x])?])
}

/// Numbers instead of NaN and infinities: by default 0, and the largest ones of 32 bits.
fn finite(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let most = f64::from(f32::MAX);
    let number = |key, default| Ok(line.optional::<f64>(key)?.unwrap_or(default));
    let (nan, above, below) = (number("nan", 0.0)?, number("posinf", most)?, number("neginf", -most)?);
    let is_whole = line.primitive(x)? != Primitive::Scalar;
    if is_whole {
        return Ok(vec![x]);
    }
    let infinite = "eq(mul(@0,0.5),@0)";
    let formula = format!(
        "select(ne(@0,@0),{nan:?},select(and({infinite},gt(@0,0.0)),{above:?},\
         select(and({infinite},lt(@0,0.0)),{below:?},@0)))"
    );
    Ok(vec![line.formula_of(&formula, &[x])?])
}

/// For each index, a row that has 1 at its place.
fn one_hot(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.indices("input")?;
    let count = line.at_least("num_classes", 1, None)?;
    let rank = line.rank(x)?;
    let places = line.counting((rank.saturating_add(1), rank), count)?;
    let x = line.with_axes(x, [rank])?;
    let is_there = line.add("eq", vec![Value::Tensor(x), Value::Tensor(places)])?;
    let items = [ExpandedItem::Literal(Literal::Int(1)), ExpandedItem::Literal(Literal::Int(0))];
    Ok(vec![line.select_as(Primitive::Integer, is_there, items)?])
}

/// The distances of all rows of two matrices.
fn distances(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, y) = (line.tensor(line.key_of(&["x1", "input"]))?, line.tensor(line.key_of(&["x2", "input1"]))?);
    line.ignore("compute_mode");
    let (rank, other) = (line.rank(x)?, line.rank(y)?);
    if rank < 2 || other < 2 {
        return Err(Refusal::UNFIT);
    }
    let x = line.with_axes(x, [rank.saturating_sub(1)])?;
    let y = line.with_axes(y, [other.saturating_sub(2)])?;
    let rank = rank.max(other).saturating_add(1);
    let (x, y) = (line.with_rank(x, rank)?, line.with_rank(y, rank)?);
    let difference = line.formula_of("sub(@0,@1)", &[x, y])?;
    let axis = rank.saturating_sub(1);
    let order = lengths::order(line, "p")?;
    let y = lengths::along(line, difference, order, &[axis])?;
    Ok(vec![line.add("squeeze", vec![Value::Tensor(y), integers([axis])])?])
}

/// The products of two vectors with a matrix between them for each result, plus a bias.
fn bilinear(line: &mut Line) -> Lowered<Vec<TensorId>> {
    // By name they are `input1` and `input2`, by position `input` and `input1`.
    let second = line.key_of(&["input2", "input1", "other"]);
    let first = if second == "input2" { line.key_of(&["input1", "input"]) } else { "input" };
    let (x, y) = (line.tensor(first)?, line.tensor(second)?);
    let (weight, bias) = (line.data("weight")?, line.weights("bias")?);
    let (own, other, extents) = (line.extents(x)?, line.extents(y)?, line.extents(weight)?);
    let &[outputs, first, second] = &extents[..] else { return Err(Refusal::UNFIT) };
    line.agrees("in1_features", &[Some(first)])?;
    line.agrees("in2_features", &[Some(second)])?;
    line.agrees("out_features", &[Some(outputs)])?;
    let ([outer @ .., width], [same @ .., height]) = (&own[..], &other[..]) else { return Err(Refusal::UNFIT) };
    if (*width, *height) != (first, second) || outer != same {
        return Err(Refusal::UNFIT);
    }
    let count = super::product(outer)?;
    let (x, y) = (line.reshaped(x, &[count, first])?, line.reshaped(y, &[count, second])?);
    let mut sum = einsum::einsum(line, "bn,anm,bm->ba", &[x, weight, y]).map_err(|_| Refusal::UNFIT)?;
    if let Some(bias) = bias {
        let bias = line.with_axes(bias, [0])?;
        sum = line.add("add", vec![Value::Tensor(sum), Value::Tensor(bias)])?;
    }
    Ok(vec![line.reshaped(sum, &[outer, &[outputs]].concat())?])
}
