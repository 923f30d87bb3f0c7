//! Calls of operators that compute item by item, reduce, or quantize.

use super::call::{Call, type_text};
use super::draw::*;
use super::makers::Maker;
use nnef_flatten::tensor::{DType, Tensor};

pub const MAKERS: &[Maker] = &[
    (
        "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Round Sigmoid Sin Sinh Sqrt Tan \
         Tanh Softplus Softsign Mish HardSwish Elu Celu LeakyRelu Selu HardSigmoid ThresholdedRelu Shrink Gelu Swish",
        float,
    ),
    ("Abs Neg Sign Relu Identity IsNaN IsInf", sign),
    ("Add Sub Mul Div Mod Equal Less LessOrEqual Greater GreaterOrEqual PRelu", binary),
    ("And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Not BitwiseNot", bits),
    ("Pow", power),
    ("Max Min Sum Mean", variadic),
    ("Where", choice),
    ("Clip", clip),
    ("Cast CastLike", cast),
    ("BitCast", bit_cast),
    ("Dropout", dropout),
    ("SwiGLU", gated),
    (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum \
         ReduceSumSquare",
        reduction,
    ),
    ("ArgMax ArgMin", place),
    ("TopK", top),
    ("CumSum CumProd", cumulative),
    ("Softmax LogSoftmax Hardmax", softmax),
    ("QuantizeLinear DequantizeLinear DynamicQuantizeLinear", quantization),
];

fn float(s: &mut Draw, op: &'static str) -> Option<Call> {
    let names: &[&str] = match op {
        "Elu" | "Celu" | "LeakyRelu" | "ThresholdedRelu" | "Swish" => &["alpha"],
        "Selu" => &["alpha", "gamma"],
        "HardSigmoid" => &["alpha", "beta"],
        "Shrink" => &["lambd", "bias"],
        _ => &[],
    };
    let of = if op == "Celu" { F32 } else { s.pick(FLOATS) };
    let shape = s.extents(0, 4, 4);
    let mut call = Call::of(op).on(s.within(of, &shape, 4.0)).version(if op == "Swish" { 24 } else { 21 });
    for name in names {
        let value = s.pick(&[0.25f32, 0.5, 1.0, 1.5, 0.0, -0.5]);
        // Celu divides by it.
        if s.flag() && !(op == "Celu" && value == 0.0) {
            call = call.with(name, value);
        }
    }
    let kind = s.pick(&["tanh", "none"]);
    Some(if op == "Gelu" { call.maybe("approximate", s.maybe(kind)) } else { call })
}

fn sign(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = match op {
        "Abs" | "Sign" => s.pick(NUMBERS),
        "Identity" => s.pick(ALL),
        "IsNaN" | "IsInf" => s.pick(FLOATS),
        _ => s.pick(&[F32, F32, F32, F64, F16, I8, I16, I32, I64]),
    };
    let shape = s.extents(0, 4, 4);
    let call = Call::of(op).on(s.within(of, &shape, 4.0));
    if op != "IsInf" {
        return Some(call);
    }
    let (negative, positive) = (s.flag(), s.flag());
    Some(call.maybe("detect_negative", s.maybe(negative)).maybe("detect_positive", s.maybe(positive)))
}

/// Divisors: integers are not 0, nor -1, by which the least one cannot be divided.
fn divisor(s: &mut Draw, of: DType, shape: &[usize]) -> Tensor {
    if is_float(of) {
        return s.array(of, shape);
    }
    let items: Vec<i128> = (0..volume(shape)).map(|_| s.pick(&[2, 3, 4, 1, 5])).collect();
    let signed = limits(of).0 < 0;
    let items: Vec<i128> =
        items.iter().map(|item| if signed && *item > 1 && s.flag() { -item } else { *item }).collect();
    integers(of, shape, &items)
}

fn binary(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = match op {
        "Equal" => s.pick(ALL),
        "PRelu" => s.pick(FLOATS),
        _ => s.pick(NUMBERS),
    };
    let shapes = s.together(2);
    let a = s.array(of, &shapes[0]);
    let b = match op {
        "Div" | "Mod" => divisor(s, of, &shapes[1]),
        "PRelu" => {
            let shape = s.broadcast(&shapes[0]);
            s.array(of, &shape)
        }
        _ => s.array(of, &shapes[1]),
    };
    let call = Call::of(op).on(a).on(b);
    let fmod = s.flag();
    Some(match op {
        "Mod" if is_float(of) => call.with("fmod", true),
        "Mod" => call.maybe("fmod", s.maybe(fmod)),
        _ => call,
    })
}

fn bits(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = match op {
        "BitShift" => s.pick(UNSIGNED),
        _ if op.starts_with("Bit") => s.pick(&[U8, U16, U32, U64, I8, I16, I32, I64]),
        _ => BOOL,
    };
    let shapes = s.together(2);
    let call = Call::of(op).on(s.array(of, &shapes[0]));
    if op.ends_with("Not") {
        return Some(call);
    }
    if op != "BitShift" {
        return Some(call.on(s.array(of, &shapes[1])));
    }
    // What a shift by all bits gives is open.
    let width = (limits(of).1 + 1).ilog2() as i64;
    let items: Vec<i128> = (0..volume(&shapes[1])).map(|_| s.int(0, width - 1).into()).collect();
    Some(call.on(integers(of, &shapes[1], &items)).with("direction", s.pick(&["LEFT", "RIGHT"])))
}

fn power(s: &mut Draw, op: &'static str) -> Option<Call> {
    let types = [F32, F32, F32, F64, F16, I32, I64];
    let (one, two) = (s.pick(&types), s.pick(&types));
    let shapes = s.together(2);
    let a = s.array(one, &shapes[0]);
    let b = match is_float(one) && is_float(two) {
        true => s.array(two, &shapes[1]),
        false => {
            let items: Vec<i128> = (0..volume(&shapes[1])).map(|_| s.int(0, 4).into()).collect();
            integers(two, &shapes[1], &items)
        }
    };
    Some(Call::of(op).on(a).on(b))
}

fn variadic(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = if matches!(op, "Sum" | "Mean") { s.pick(FLOATS) } else { s.pick(NUMBERS) };
    let count = s.size(1, 3);
    let shapes = s.together(count);
    Some(shapes.iter().fold(Call::of(op), |call, shape| call.on(s.array(of, shape))))
}

fn choice(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(ALL);
    let shapes = s.together(3);
    Some(Call::of(op).on(s.array(BOOL, &shapes[0])).on(s.array(of, &shapes[1])).on(s.array(of, &shapes[2])))
}

fn clip(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(NUMBERS);
    let shape = s.extents(0, 4, 4);
    let x = s.within(of, &shape, 4.0);
    let (low, high, known) = (s.array(of, &[]), s.array(of, &[]), s.flag());
    Some(Call::of(op).on(x).knowing_if(known, s.maybe(low)).knowing_if(known, s.maybe(high)))
}

/// The number of a type in models.
pub fn number_of(of: DType) -> i64 {
    let names =
        ["", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double"];
    let more = match of {
        U32 => Some(12),
        U64 => Some(13),
        _ => None,
    };
    more.unwrap_or_else(|| names.iter().position(|name| *name == type_text(of)).expect("a type") as i64)
}

fn cast(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, to) = (s.pick(ALL), s.pick(ALL));
    let shape = s.extents(0, 4, 4);
    // What a float that is out of range gives is open.
    s.edge &= !is_float(of) || is_float(to) || to == BOOL;
    let x = s.within(of, &shape, 4.0);
    let x = match is_float(of) && limits(to).0 == 0 && to != BOOL {
        true => floats(of, &shape, &x.to_scalars().iter().map(|item| item.abs()).collect::<Vec<_>>()),
        false => x,
    };
    if op == "CastLike" {
        let like = s.size(0, 2);
        return Some(Call::of(op).on(x).on(s.array(to, &[like])));
    }
    Some(Call::of(op).on(x).with("to", number_of(to)))
}

fn bit_cast(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, to) = s.pick(&[(F32, I32), (F32, U32), (I64, F64), (I64, U64), (U8, I8)]);
    let shape = s.extents(0, 4, 4);
    Some(Call::of(op).on(s.array(of, &shape)).with("to", number_of(to)).version(26))
}

fn dropout(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(FLOATS), s.extents(0, 4, 4));
    let call = Call::of(op).on(s.array(of, &shape)).knowing(s.maybe(scalar(F32, 0.5)));
    Some(call.results(s.size(1, 2)).version(13))
}

fn gated(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(WIDE), s.extents(0, 4, 4));
    let call = Call::of(op).on(s.array(of, &shape)).on(s.array(of, &shape));
    Some(call.maybe("alpha", s.maybe(0.5f32)).version(28))
}

fn reduction(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = match op {
        "ReduceMax" | "ReduceMin" => s.pick(&[F32, F32, F32, F64, F16, I32, I64, U8, I8, BOOL]),
        "ReduceMean" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceL2" => s.pick(FLOATS),
        _ => s.pick(&[F32, F32, F32, F64, F16, I32, I64]),
    };
    let shape = s.extents(0, 4, 3);
    let x = s.array(of, &shape);
    let (keep, none, old) = (s.flag(), s.flag(), s.chance(20));
    let axes = if shape.is_empty() || s.chance(20) { Vec::new() } else { s.axes(shape.len()) };
    let call = Call::of(op).on(x).maybe("keepdims", s.maybe(keep));
    if !old || of == BOOL {
        let given = s.chance(80).then(|| list(&axes));
        let call = call.knowing(given).maybe("noop_with_empty_axes", s.maybe(none));
        return Some(call.version(if of == BOOL { 20 } else { 21 }));
    }
    if op == "ReduceSum" {
        return Some(call.knowing(s.maybe(list(&axes))).maybe("noop_with_empty_axes", s.maybe(none)).version(13));
    }
    Some(call.maybe("axes", (!axes.is_empty()).then_some(axes)).version(13))
}

fn place(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(&[F32, F32, F32, F64, F16, I32, I64, I8, U8]);
    let shape = s.some(1, 4, 4);
    let (axis, keep, last) = (s.axis(shape.len()), s.flag(), s.flag());
    let call = Call::of(op).on(s.array(of, &shape)).maybe("axis", s.maybe(axis));
    Some(call.maybe("keepdims", s.maybe(keep)).maybe("select_last_index", s.maybe(last)))
}

fn top(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(&[F32, F32, F32, F64, F16, I32, I64]);
    let shape = s.some(1, 3, 5);
    let axis = s.axis(shape.len());
    let extent = shape[axis.rem_euclid(shape.len() as i64) as usize];
    let count = s.size_or_none(10, extent);
    let largest = s.flag();
    let call = Call::of(op).on(s.array(of, &shape)).knowing(list(&[count as i64])).with("axis", axis);
    Some(call.maybe("largest", s.maybe(largest)).results(2))
}

fn cumulative(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(&[F32, F32, F32, F64, F16, I32, I64]);
    let shape = s.extents(1, 3, 5);
    let (axis, exclusive, reverse) = (s.axis(shape.len()), s.flag(), s.flag());
    let axis = scalar(s.pick(&[I32, I64]), axis as f64);
    let call = Call::of(op).on(s.array(of, &shape)).knowing(axis).maybe("exclusive", s.maybe(exclusive));
    Some(call.maybe("reverse", s.maybe(reverse)).version(if op == "CumProd" { 26 } else { 21 }))
}

fn softmax(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(FLOATS);
    let shape = s.extents(1, 4, 4);
    let axis = s.axis(shape.len());
    Some(Call::of(op).on(s.array(of, &shape)).maybe("axis", s.maybe(axis)).version(s.pick(&[21, 21, 11])))
}

fn quantization(s: &mut Draw, op: &'static str) -> Option<Call> {
    if op == "DynamicQuantizeLinear" {
        let shape = s.some(1, 3, 4);
        return Some(Call::of(op).on(s.array(F32, &shape)).results(3));
    }
    let (of, shape) = (s.pick(&[U8, I8, U16, I16]), s.extents(1, 3, 4));
    let axis = s.axis(shape.len());
    let each = if s.flag() { vec![shape[axis.rem_euclid(shape.len() as i64) as usize]] } else { Vec::new() };
    let steps: Vec<f64> = (0..volume(&each)).map(|_| s.pick(&[0.25, 0.5, 1.0, 0.3, 0.01])).collect();
    let scale = floats(F32, &each, &steps);
    let zero = s.flag().then(|| s.array(of, &each));
    let call = match op {
        "QuantizeLinear" => Call::of(op).on(s.within(F32, &shape, 4.0)).knowing(scale).knowing(zero),
        _ if s.chance(20) => Call::of(op).on(s.array(I32, &shape)).knowing(scale),
        _ => Call::of(op).on(s.array(of, &shape)).knowing(scale).knowing(zero),
    };
    Some(if each.is_empty() { call } else { call.with("axis", axis) })
}
