//! Item-wise layers: functions of one blob, operations on two, and the activations that other layers end with.

use super::{LayerLine, LayerRuleRow};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::lower::{Line, Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["Split", "DeepCopy"], split),
    (&["Dropout"], dropout),
    (&["UnaryOp"], unary),
    (&["BinaryOp"], binary),
    (&["Eltwise"], combined),
    (&["AbsVal"], |line| formula(line, "abs(@0)")),
    (&["BNLL", "Softplus"], |line| formula(line, SOFTPLUS)),
    (&["CELU"], |line| of_torch(line, "F.celu", &["alpha"])),
    (&["Clip"], clip),
    (&["ELU"], |line| of_torch(line, "F.elu", &["alpha"])),
    (&["Erf"], |line| of_torch(line, "torch.erf", &[])),
    (&["Exp"], exponential),
    (&["GELU"], gelu),
    (&["HardSigmoid"], |line| hard(line, false)),
    (&["HardSwish"], |line| hard(line, true)),
    (&["Log"], logarithm),
    (&["Mish"], |line| formula(line, MISH)),
    (&["Power"], power),
    (&["PReLU"], sloped),
    (&["ReLU"], rectified),
    (&["SELU"], scaled),
    (&["Shrink"], shrunk),
    (&["Sigmoid"], |line| operation(line, "sigmoid")),
    (&["Swish"], |line| of_torch(line, "F.silu", &[])),
    (&["TanH"], |line| formula(line, "tanh(@0)")),
    (&["Threshold"], threshold),
];

/// The functions of `UnaryOp` by their numbers, as files of PNNX call them.
const UNARY: &[&str] = &[
    "abs",
    "neg",
    "floor",
    "ceil",
    "square",
    "sqrt",
    "rsqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "reciprocal",
    "tanh",
    "log10",
    "round",
    "trunc",
    "sign",
    "expm1",
    "sinh",
    "asinh",
    "cosh",
    "acosh",
    "atanh",
    "log1p",
];

/// The operations of `BinaryOp` by their numbers, and whether the operands are exchanged. The last two, remainders, are
/// those of IEEE 754, which NNEF does not have.
const BINARY: &[(&str, bool)] = &[
    ("add", false),
    ("sub", false),
    ("mul", false),
    ("div", false),
    ("maximum", false),
    ("minimum", false),
    ("pow", false),
    ("sub", true),
    ("div", true),
    ("pow", true),
    ("atan2", false),
    ("atan2", true),
    ("fmod", false),
    ("fmod", true),
    ("logaddexp", false),
    ("floor_divide", false),
    ("floor_divide", true),
];

/// The logarithm of 1 plus an exponential.
const SOFTPLUS: &str = "logaddexp(@0,0.0)";
const MISH: &str = "mul(@0,tanh(logaddexp(@0,0.0)))";

/// A number in an expression.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// A formula of a tensor.
fn written(to: &mut Line, text: &str, x: TensorId) -> Lowered<TensorId> {
    to.text(text, &[ExpandedItem::Tensor(x)])
}

fn formula(line: &mut LayerLine, text: &str) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    Ok(vec![line.by_item(x, |to, x| written(to, text, x))?])
}

fn operation(line: &mut LayerLine, nnef: &'static str) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    Ok(vec![line.by_item(x, |to, x| to.on(nnef, x, []))?])
}

/// An operator of torch with numbers of the same names.
fn of_torch(line: &mut LayerLine, kind: &str, names: &[&'static str]) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let numbers = names.iter().map(|name| Ok((*name, number(line.scalar(name)?)))).collect::<Lowered<Vec<_>>>()?;
    Ok(vec![line.by_item(x, |to, x| torch(to, kind, &[("input", x)], &numbers))?])
}

/// All results are the operand.
fn split(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    Ok(vec![line.only()?; line.settings.layer.tops.len()])
}

fn dropout(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    match line.scalar("scale")? {
        1.0 => Ok(vec![line.only()?]),
        scale => formula(line, &format!("mul(@0,{})", number(scale))),
    }
}

fn unary(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let kind = usize::try_from(line.integer("op_type")?).ok().and_then(|kind| UNARY.get(kind));
    let kind = kind.ok_or_else(|| line.unsupported("op_type", "the number of a function"))?;
    let x = line.only()?;
    Ok(vec![line.by_item(x, |to, x| to.spelled(&format!("{kind}(@0)"), &[ExpandedItem::Tensor(x)]))?])
}

fn binary(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let kind = usize::try_from(line.integer("op_type")?).ok().and_then(|kind| BINARY.get(kind));
    let (kind, exchanged) = *kind.ok_or_else(|| line.unsupported("op_type", "an operation of NNEF"))?;
    let call = |a: &str, b: &str| if exchanged { format!("{kind}({b},{a})") } else { format!("{kind}({a},{b})") };
    if line.flag("with_scalar")? {
        let text = call("@0", &number(line.scalar("b")?));
        let x = line.only()?;
        return Ok(vec![line.by_item(x, |to, x| to.spelled(&text, &[ExpandedItem::Tensor(x)]))?]);
    }
    // Without the flag, the number has no effect.
    line.note("b");
    let &[a, b] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    let (a, b) = stretched(line, a, b)?;
    Ok(vec![line.to.spelled(&call("@0", "@1"), &[ExpandedItem::Tensor(a), ExpandedItem::Tensor(b)])?])
}

/// Two tensors with the same rank. The one of fewer axes gets more behind them, unless it is a vector that does not have
/// the first extent of the other one: its items are the last axis.
fn stretched(line: &mut LayerLine, a: TensorId, b: TensorId) -> Lowered<(TensorId, TensorId)> {
    let (left, right) = (line.to.extents(a)?, line.to.extents(b)?);
    let (a, b) = match left.len().cmp(&right.len()) {
        std::cmp::Ordering::Less => (aligned(line, a, &left, &right)?, b),
        std::cmp::Ordering::Equal => (a, b),
        std::cmp::Ordering::Greater => (a, aligned(line, b, &right, &left)?),
    };
    let fits = |(a, b): (&i64, &i64)| a == b || *a == 1 || *b == 1;
    match line.to.extents(a)?.iter().zip(&line.to.extents(b)?).all(fits) {
        true => Ok((a, b)),
        false => Err(Refusal::UNFIT),
    }
}

fn aligned(line: &mut LayerLine, x: TensorId, own: &[i64], other: &[i64]) -> Lowered<TensorId> {
    let ones = vec![1; other.len().saturating_sub(own.len())];
    let is_inner = matches!(own, [extent] if Some(extent) != other.first());
    let extents = if is_inner { [&ones, own].concat() } else { [own, &ones].concat() };
    line.to.reshaped(x, &extents)
}

/// Products, sums with factors, or maxima of several blobs.
fn combined(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (kind, factors) = (line.integer("op_type")?, line.scalars("coeffs")?);
    let kind = ["mul", "add", "maximum"].get(usize::try_from(kind).unwrap_or(usize::MAX));
    let kind = kind.ok_or_else(|| line.unsupported("op_type", "0, 1 or 2"))?;
    line.require("coeffs", factors.is_empty() || factors.len() == line.operands.len(), "a number for each operand")?;
    let (shapes, operands) = (line.operands.clone(), line.operands.clone());
    let shapes = shapes.iter().map(|x| line.to.extents(*x)).collect::<Lowered<Vec<_>>>()?;
    let (Some(first), true) = (operands.first(), shapes.windows(2).all(|pair| pair.first() == pair.last())) else {
        return Err(Refusal::UNFIT);
    };
    let term = |at: usize| match factors.get(at).filter(|factor| *kind == "add" && **factor != 1.0) {
        Some(factor) => format!("mul(@{at},{})", number(*factor)),
        None => format!("@{at}"),
    };
    if operands.len() == 1 && term(0) == "@0" {
        return Ok(vec![*first]);
    }
    let mut y: Option<TensorId> = None;
    for (at, operand) in operands.iter().enumerate() {
        let text = term(at).replace(&format!("@{at}"), "@0");
        let x = if text == "@0" { *operand } else { written(&mut line.to, &text, *operand)? };
        y = Some(match y {
            Some(y) => line.to.text(&format!("{kind}(@0,@1)"), &[ExpandedItem::Tensor(y), ExpandedItem::Tensor(x)])?,
            None => x,
        });
    }
    y.map(|y| vec![y]).ok_or(Refusal::UNFIT)
}

fn clip(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let bounds = [line.scalar("min")?, line.scalar("max")?];
    let x = line.only()?;
    Ok(vec![line.by_item(x, |to, x| to.on("clamp", x, bounds.map(Value::Scalar)))?])
}

/// `shift + scale * x`.
fn shifted(line: &LayerLine) -> Lowered<String> {
    let (scale, shift) = (line.scalar("scale")?, line.scalar("shift")?);
    let scaled = if scale == 1.0 { "@0".to_owned() } else { format!("mul(@0,{})", number(scale)) };
    Ok(if shift == 0.0 { scaled } else { format!("add({scaled},{})", number(shift)) })
}

fn exponential(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (base, inside) = (line.scalar("base")?, shifted(line)?);
    let text = if base == -1.0 { format!("exp({inside})") } else { format!("pow({},{inside})", number(base)) };
    formula(line, &text)
}

fn logarithm(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (base, inside) = (line.scalar("base")?, shifted(line)?);
    let text = match base {
        -1.0 => format!("log({inside})"),
        base => format!("div(log({inside}),{})", number(base.ln())),
    };
    formula(line, &text)
}

fn power(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (power, inside) = (line.scalar("power")?, shifted(line)?);
    let text = if power == 1.0 { inside } else { format!("pow({inside},{})", number(power)) };
    if text == "@0" { Ok(vec![line.only()?]) } else { formula(line, &text) }
}

fn gelu(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let approximate = if line.flag("fast_gelu")? { "tanh" } else { "none" };
    let x = line.only()?;
    let parameters = [("approximate", approximate.to_owned())];
    Ok(vec![line.by_item(x, |to, x| torch(to, "F.gelu", &[("input", x)], &parameters))?])
}

/// A line between 0 and 1, or the operand times that.
fn hard(line: &mut LayerLine, times: bool) -> Lowered<Vec<TensorId>> {
    let text = hard_text(line.scalar("alpha")?, line.scalar("beta")?, times);
    formula(line, &text)
}

fn hard_text(alpha: f64, beta: f64, times: bool) -> String {
    let inside = format!("minimum(maximum(add(mul(@0,{}),{}),0.0),1.0)", number(alpha), number(beta));
    if times { format!("mul(@0,{inside})") } else { inside }
}

/// Slopes below 0: one, or one for each item of the first axis.
fn sloped(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, slope) = (line.only()?, line.weight("slope_data")?);
    let count = line.integer("num_slope")?;
    let extents = line.to.extents(x)?;
    if count != 1 && extents.first() != Some(&count) {
        return Err(Refusal::UNFIT);
    }
    let shape = [vec![count], vec![1; extents.len().saturating_sub(1)]].concat();
    let slope = line.to.reshaped(slope, &shape)?;
    Ok(vec![line.to.on("prelu", x, [Value::Tensor(slope)])?])
}

fn rectified(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (slope, x) = (line.scalar("slope")?, line.only()?);
    Ok(vec![line.by_item(x, |to, x| leaky(to, x, slope))?])
}

fn leaky(to: &mut Line, x: TensorId, slope: f64) -> Lowered<TensorId> {
    if slope == 0.0 { to.on("relu", x, []) } else { to.on("leaky_relu", x, [Value::Scalar(slope)]) }
}

fn scaled(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let settings = [line.scalar("alpha")?, line.scalar("lambda")?].map(Value::Scalar);
    let x = line.only()?;
    Ok(vec![line.by_item(x, |to, x| to.on("selu", x, settings))?])
}

fn shrunk(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (bias, bound) = (number(line.scalar("bias")?), line.scalar("lambd")?);
    let (below, above) = (number(-bound), number(bound));
    formula(line, &format!("select(lt(@0,{below}),add(@0,{bias}),select(gt(@0,{above}),sub(@0,{bias}),0.0))"))
}

fn threshold(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let text = format!("select(gt(@0,{}),1.0,0.0)", number(line.scalar("threshold")?));
    formula(line, &text)
}

impl LayerLine<'_> {
    /// The activation at the end of a layer with weights.
    pub(super) fn activated(&mut self, x: TensorId) -> Lowered<TensorId> {
        let (kind, values) = (self.integer("activation_type")?, self.scalars("activation_params")?);
        let to = &mut self.to;
        match (kind, &values[..]) {
            (0, _) => Ok(x),
            (1, _) => to.on("relu", x, []),
            (2, [slope, ..]) => leaky(to, x, *slope),
            (3, [min, max, ..]) => to.on("clamp", x, [Value::Scalar(*min), Value::Scalar(*max)]),
            (4, _) => to.on("sigmoid", x, []),
            (5, _) => written(to, MISH, x),
            (6, [alpha, beta, ..]) => written(to, &hard_text(*alpha, *beta, true), x),
            _ => Err(self.unsupported("activation_type", "a number up to 6 with its parameters")),
        }
    }
}
