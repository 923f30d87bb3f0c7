//! Operators that compute each item from the items of the operands at its place.

use crate::dictionary::{self, Arith, Kernel, Row, Vocabulary, elementwise as meanings};
use crate::library::assembly::Assembly;
use crate::onnx::run::dtype_of;
use crate::onnx::to_nnef::emit::shortest;
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome, counts};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::tensor::{DType, Data, Tensor};

/// The factor in the definition of `gelu`.
const GELU: f64 = 1.702;

/// An operator that has a meaning in the dictionary: an operation, a formula, or an operation of a registry.
pub(in crate::onnx::to_nnef) fn meaning(line: &mut NodeLine) -> NodeResults {
    let row = dictionary::find(Vocabulary::Foreign, line.operator);
    let row = row.ok_or(NodeRefusal::because("the dictionary does not have it"))?;
    let terms = line.terms(0..line.count())?;
    // An operation on scalars of the standard is not defined for integers.
    let scalars = matches!(row.kernel, Some(Kernel::Float(..) | Kernel::Floats(_)));
    let terms = if scalars { in_scalars(line, terms)? } else { terms };
    if let Some(activation) = gated(line, row, &terms)? {
        return one(activation);
    }
    match line.emit.operator(row, &terms)? {
        FormulaTerm::FlatTensor(result) if leaves_range(row, result.dtype) => one(line.emit.wrapped(result)?),
        result => flat(result),
    }
}

/// The product of a tensor and the logistic function of it, or of 1.702 times it, as one activation. tract does not have
/// these.
fn gated(line: &mut NodeLine, row: &Row, terms: &[FormulaTerm]) -> Lowered<Option<FlatTensor>> {
    let [FormulaTerm::FlatTensor(a), FormulaTerm::FlatTensor(b)] = *terms else { return Ok(None) };
    if *row != meanings::MUL || line.emit.has_registries() || !a.dtype.is_float() {
        return Ok(None);
    }
    for (x, gate) in [(a, b), (b, a)] {
        let Some(inner) = line.emit.only_operand(gate, "sigmoid") else { continue };
        let activation = match line.emit.multiple(inner) {
            _ if inner == x.id => "silu",
            Some((of, factor)) if of == x.id && factor == GELU => "gelu",
            _ => continue,
        };
        line.emit.droppable.extend([gate.id, inner]);
        return line.emit.on(activation, x, []).map(Some);
    }
    Ok(None)
}

/// Whether a result may be out of the range of integers of a type, of which the operands are. A quotient is if the least
/// number is divided by -1.
fn leaves_range(row: &Row, dtype: DType) -> bool {
    match row.kernel {
        Some(Kernel::Arithmetic(Arith::Add | Arith::Sub | Arith::Mul)) => true,
        Some(Kernel::Arithmetic(Arith::Div)) => dtype.range().is_some_and(|(low, _)| low < 0),
        _ => [meanings::NEG.name, meanings::ABS.name].contains(&row.name),
    }
}

/// Converts operands with integers to scalars.
fn in_scalars(line: &mut NodeLine, terms: Vec<FormulaTerm>) -> Lowered<Vec<FormulaTerm>> {
    let scalar = |term| match term {
        FormulaTerm::FlatTensor(flat) if flat.dtype.is_integer() => {
            line.emit.cast(flat, DType::Float32).map(FormulaTerm::FlatTensor)
        }
        other => Ok(other),
    };
    terms.into_iter().map(scalar).collect()
}

/// A result as a tensor.
fn flat(term: FormulaTerm) -> NodeResults {
    match term {
        FormulaTerm::FlatTensor(flat) => one(flat),
        FormulaTerm::Number(..) => Err(NodeRefusal::because("its result is known")),
    }
}

/// A formula of all operands.
pub(in crate::onnx::to_nnef) fn formula(line: &mut NodeLine, text: &str) -> NodeResults {
    let terms = line.terms(0..line.count())?;
    one(line.emit.formula(text, &terms)?)
}

/// A formula of the operand and attributes, whose names follow `%` in the text.
fn with_floats(line: &mut NodeLine, text: &str, defaults: &[(&str, f32)]) -> NodeResults {
    let mut text = text.to_owned();
    for (name, default) in defaults {
        text = text.replace(&format!("%{name}"), &format!("{:?}", line.float(name, *default)?));
    }
    formula(line, &text)
}

pub(in crate::onnx::to_nnef) fn identity(_: &mut NodeLine) -> NodeResults {
    Ok(vec![NnefOutcome::Operand(0)])
}

/// The operand; nothing is dropped outside of training.
pub(in crate::onnx::to_nnef) fn dropout(line: &mut NodeLine) -> NodeResults {
    let training = line.numbers(2)?.is_some_and(|items| items.iter().any(|item| *item != 0.0));
    if training {
        return Err(NodeRefusal::because("it is in training"));
    }
    let mut results = vec![NnefOutcome::Operand(0)];
    if line.wants(1) {
        let extents = counts(&line.shape(0)?)?;
        let all = Tensor::logicals(&extents, line.emit.filled(&extents, true)?).map_err(|_| NodeRefusal::UNFIT)?;
        results.push(NnefOutcome::Known(all.into()));
    }
    Ok(results)
}

pub(in crate::onnx::to_nnef) fn cast(line: &mut NodeLine) -> NodeResults {
    let to = i32::try_from(line.int("to", 0)?).ok().and_then(dtype_of);
    let to = to.ok_or(NodeRefusal::because("its element type is not known"))?;
    converted(line, to)
}

pub(in crate::onnx::to_nnef) fn cast_like(line: &mut NodeLine) -> NodeResults {
    let to = line.dtype(1)?;
    converted(line, to)
}

fn converted(line: &mut NodeLine, to: DType) -> NodeResults {
    // Another known value, such as a constant that becomes like an operand.
    if line.constant(0).is_some_and(|items| items.dtype().is_float() && to.is_float()) {
        let tensor = line.known(0)?;
        let data = Data::from_floats(to, tensor.to_scalars().into_iter());
        return Ok(vec![NnefOutcome::Known(Tensor::new(tensor.shape(), data).ok_or(NodeRefusal::UNFIT)?.into())]);
    }
    let x = line.flat(0)?;
    one(line.emit.cast(x, to)?)
}

/// Folds an operation of two operands over all of them.
fn folded(line: &mut NodeLine, row: &'static Row) -> Lowered<FlatTensor> {
    let terms = line.terms(0..line.count())?;
    let mut terms = terms.into_iter();
    let mut result = terms.next().ok_or(NodeRefusal::UNFIT)?;
    for term in terms {
        result = match (result, term) {
            (FormulaTerm::Number(a, of), FormulaTerm::Number(b, _)) => {
                let known = row.kernel.and_then(|kernel| kernel.of_floats(&[a, b]));
                FormulaTerm::Number(known.ok_or(NodeRefusal::UNFIT)?, of)
            }
            (a, b) => line.emit.operator(row, &[a, b])?,
        };
    }
    match result {
        FormulaTerm::FlatTensor(flat) => Ok(flat),
        FormulaTerm::Number(..) => Err(NodeRefusal::because("its result is known")),
    }
}

pub(in crate::onnx::to_nnef) fn sum(line: &mut NodeLine) -> NodeResults {
    if line.count() == 1 { identity(line) } else { one(folded(line, &meanings::ADD)?) }
}

pub(in crate::onnx::to_nnef) fn max(line: &mut NodeLine) -> NodeResults {
    if line.count() == 1 { identity(line) } else { one(folded(line, &meanings::MAXIMUM)?) }
}

pub(in crate::onnx::to_nnef) fn min(line: &mut NodeLine) -> NodeResults {
    if line.count() == 1 { identity(line) } else { one(folded(line, &meanings::MINIMUM)?) }
}

pub(in crate::onnx::to_nnef) fn mean(line: &mut NodeLine) -> NodeResults {
    if line.count() == 1 {
        return identity(line);
    }
    let sum = folded(line, &meanings::ADD)?;
    one(line.emit.formula("div(@0,@1)", &[sum.into(), FormulaTerm::of(line.count() as f64)])?)
}

/// The remainder, with the sign of the divisor, or with that of the dividend if `fmod` is set.
pub(in crate::onnx::to_nnef) fn modulo(line: &mut NodeLine) -> NodeResults {
    let fmod = line.flag("fmod", false)?;
    match (line.dtype(0)?.is_integer(), fmod) {
        // Integers are divided towards zero.
        (true, true) => formula(line, "sub(@0,mul(@1,div(@0,@1)))"),
        (true, false) => formula(
            line,
            "select(or(and(lt(sub(@0,mul(@1,div(@0,@1))),0),lt(0,@1)),and(lt(0,sub(@0,mul(@1,div(@0,@1)))),lt(@1,0))),\
             add(sub(@0,mul(@1,div(@0,@1))),@1),sub(@0,mul(@1,div(@0,@1))))",
        ),
        (false, true) => formula(line, "fmod(@0,@1)"),
        (false, false) => formula(line, "remainder(@0,@1)"),
    }
}

/// A power. Integers are raised as scalars.
pub(in crate::onnx::to_nnef) fn pow(line: &mut NodeLine) -> NodeResults {
    let of = line.dtype(0)?;
    let terms = line.terms(0..2)?;
    let terms = in_scalars(line, terms)?;
    let power = line.emit.formula("pow(@0,@1)", &terms)?;
    one(if of.is_integer() { line.emit.cast(power, of)? } else { FlatTensor { dtype: of, ..power } })
}

pub(in crate::onnx::to_nnef) fn bit_shift(line: &mut NodeLine) -> NodeResults {
    let (operation, leaves_range) = match line.text("direction", "")?.as_str() {
        "LEFT" => ("tract_shl", true),
        "RIGHT" => ("tract_shr", false),
        _ => return Err(NodeRefusal::because("its direction is not known")),
    };
    let operation = line.emit.registry(operation)?;
    let rank = line.rank(0)?.max(line.rank(1)?);
    let (x, y) = (line.raised(0, rank)?, line.raised(1, rank)?);
    let shifted = line.emit.on(operation, x, [crate::graph::Value::Tensor(y.id)])?;
    one(if leaves_range { line.emit.wrapped(shifted)? } else { shifted })
}

/// The complement of an integer; that of an unsigned one is counted from the largest one.
pub(in crate::onnx::to_nnef) fn bitwise_not(line: &mut NodeLine) -> NodeResults {
    let x = line.flat(0)?;
    let high = x.dtype.range().filter(|(low, _)| *low == 0).map_or(-1, |(_, high)| high);
    let high = i64::try_from(high).map_err(|_| NodeRefusal::because("it has unsigned integers of 64 bits"))?;
    one(line.emit.add("sub", [crate::graph::Value::Int(high), crate::graph::Value::Tensor(x.id)], x.dtype)?)
}

/// Half of an infinity is the infinity, as it is for zero only.
pub(in crate::onnx::to_nnef) fn is_inf(line: &mut NodeLine) -> NodeResults {
    match (line.flag("detect_positive", true)?, line.flag("detect_negative", true)?) {
        (true, true) => formula(line, "and(eq(mul(@0,0.5),@0),ne(@0,0.0))"),
        (true, false) => formula(line, "and(eq(mul(@0,0.5),@0),gt(@0,0.0))"),
        (false, true) => formula(line, "and(eq(mul(@0,0.5),@0),lt(@0,0.0))"),
        (false, false) => formula(line, "and(lt(@0,0.0),gt(@0,0.0))"),
    }
}

/// The bounds of `Clip`, the lower one first, if both are numbers in order.
fn bounds(line: &mut NodeLine) -> Lowered<Option<[FormulaTerm; 2]>> {
    let bounds = if line.version < 11 {
        let [low, high] = [("min", f32::MIN), ("max", f32::MAX)].map(|(name, none)| (line.float(name, none), none));
        let number =
            |(bound, none): (Lowered<f64>, f32)| bound.map(|bound| (bound != f64::from(none)).then_some(bound));
        (number(low)?, number(high)?)
    } else {
        let number = |i: usize| line.single(i).map(|value| shortest(value.dtype(), value.data().float(0)));
        (number(1), number(2))
    };
    let ordered = |low: &f64, high: &f64| low <= high && low.is_finite() && high.is_finite();
    Ok(match bounds {
        (Some(low), Some(high)) if ordered(&low, &high) => Some([low, high].map(FormulaTerm::of)),
        _ => None,
    })
}

/// The bounds are attributes in early versions.
pub(in crate::onnx::to_nnef) fn clip(line: &mut NodeLine) -> NodeResults {
    let x = line.flat(0)?;
    if let Some([low, high]) = bounds(line)?.filter(|_| line.emit.is_plain() && x.dtype.is_float()) {
        return flat(line.emit.operator(&meanings::CLIP, &[x.into(), low, high])?);
    }
    let mut result = FormulaTerm::from(x);
    let bounds = [("max", 2, "minimum(@0,@1)", f32::MAX), ("min", 1, "maximum(@0,@1)", f32::MIN)];
    // The upper bound wins if they contradict each other.
    for (name, operand, text, none) in bounds.into_iter().rev() {
        let bound = match line.version < 11 {
            true => {
                // An infinity is beyond a limit that no other number is beyond.
                let is_left = |bound: &f64| line.emit.is_plain() && *bound == f64::from(none);
                Some(line.float(name, none)?).filter(|bound| !is_left(bound)).map(FormulaTerm::of)
            }
            false if line.has(operand) => line.terms([0, operand])?.pop(),
            false => None,
        };
        if let Some(bound) = bound {
            result = line.emit.formula(text, &[result, bound])?.into();
        }
    }
    match result {
        FormulaTerm::FlatTensor(flat) => one(flat),
        FormulaTerm::Number(..) => Err(NodeRefusal::UNFIT),
    }
}

pub(in crate::onnx::to_nnef) fn leaky_relu(line: &mut NodeLine) -> NodeResults {
    let alpha = line.float("alpha", 0.01)?;
    let x = line.flat(0)?;
    one(line.emit.on("leaky_relu", x, [crate::graph::Value::Scalar(alpha)])?)
}

pub(in crate::onnx::to_nnef) fn elu(line: &mut NodeLine) -> NodeResults {
    with_floats(line, "select(lt(@0,0.0),mul(%alpha,expm1(@0)),@0)", &[("alpha", 1.0)])
}

pub(in crate::onnx::to_nnef) fn celu(line: &mut NodeLine) -> NodeResults {
    let text = "select(lt(@0,0.0),mul(%alpha,expm1(div(@0,%alpha))),add(@0,0.0))";
    with_floats(line, text, &[("alpha", 1.0)])
}

pub(in crate::onnx::to_nnef) fn selu(line: &mut NodeLine) -> NodeResults {
    let text = "mul(%gamma,select(lt(@0,0.0),mul(%alpha,expm1(@0)),@0))";
    with_floats(line, text, &[("alpha", 1.673_263_2), ("gamma", 1.050_701)])
}

/// By the error function, or approximated by `tanh`.
pub(in crate::onnx::to_nnef) fn gelu(line: &mut NodeLine) -> NodeResults {
    match line.text("approximate", "none")?.as_str() {
        "tanh" => formula(
            line,
            "mul(mul(@0,0.5),add(tanh(mul(add(@0,mul(mul(mul(@0,@0),@0),0.044715)),0.7978845608028654)),1.0))",
        ),
        "none" => formula(line, "mul(mul(@0,0.5),add(erf(mul(@0,0.7071067811865476)),1.0))"),
        _ => Err(NodeRefusal::because("its approximation is not known")),
    }
}

pub(in crate::onnx::to_nnef) fn hard_sigmoid(line: &mut NodeLine) -> NodeResults {
    let text = "maximum(minimum(add(mul(@0,%alpha),%beta),1.0),0.0)";
    with_floats(line, text, &[("alpha", 0.2), ("beta", 0.5)])
}

pub(in crate::onnx::to_nnef) fn hard_swish(line: &mut NodeLine) -> NodeResults {
    // The slope is a sixth as a float of 32 bits, which floats of 64 bits can tell from a sixth.
    let text = match line.flat(0)?.dtype {
        DType::Float64 => "mul(@0,maximum(minimum(add(mul(@0,0.1666666716337204),0.5),1.0),0.0))",
        _ => "mul(@0,maximum(minimum(add(div(@0,6.0),0.5),1.0),0.0))",
    };
    formula(line, text)
}

/// Also as one activation, which tract does not have.
pub(in crate::onnx::to_nnef) fn swish(line: &mut NodeLine) -> NodeResults {
    let activation = match line.float("alpha", 1.0)? {
        1.0 => Some("silu"),
        alpha if alpha == GELU => Some("gelu"),
        _ => None,
    };
    if let Some(activation) = activation.filter(|_| !line.emit.has_registries()) {
        let x = line.flat(0)?;
        return one(line.emit.on(activation, x, [])?);
    }
    with_floats(line, "mul(@0,sigmoid(mul(@0,%alpha)))", &[("alpha", 1.0)])
}

pub(in crate::onnx::to_nnef) fn thresholded_relu(line: &mut NodeLine) -> NodeResults {
    with_floats(line, "select(gt(@0,%alpha),@0,0.0)", &[("alpha", 1.0)])
}

pub(in crate::onnx::to_nnef) fn shrink(line: &mut NodeLine) -> NodeResults {
    let text = "select(lt(@0,neg(%lambd)),add(@0,%bias),select(gt(@0,%lambd),sub(@0,%bias),0.0))";
    with_floats(line, text, &[("lambd", 0.5), ("bias", 0.0)])
}

/// The slope is broadcast to the operand.
pub(in crate::onnx::to_nnef) fn prelu(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?;
    let (x, slope) = (line.flat(0)?, line.raised(1, rank)?);
    if x.dtype.is_integer() {
        return formula(line, "select(lt(@0,0),mul(@0,@1),@0)");
    }
    one(line.emit.on("prelu", x, [crate::graph::Value::Tensor(slope.id)])?)
}
