//! Calls of products, normalizations, recurrent layers, attention, losses and transforms.

use super::call::Call;
use super::draw::*;
use super::makers::Maker;
use super::windows::{code, image};
use nnef_flatten::tensor::DType;

pub const MAKERS: &[Maker] = &[
    ("MatMul", matmul),
    ("MatMulInteger QLinearMatMul", integer_matmul),
    ("Gemm", gemm),
    ("Einsum", einsum),
    ("Det", determinant),
    ("BatchNormalization InstanceNormalization GroupNormalization", of_channels),
    ("LpNormalization MeanVarianceNormalization", of_axes),
    ("LayerNormalization RMSNormalization", of_last_axes),
    ("RNN GRU LSTM", recurrent),
    ("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", loss),
    ("HannWindow HammingWindow BlackmanWindow", window),
    ("DFT", transform),
    ("STFT", short_transform),
    ("MelWeightMatrix", mel_weights),
    ("Attention", attention),
    ("RotaryEmbedding", rotary),
    ("LinearAttention", linear_attention),
    ("CausalConvWithState", causal_conv),
];

/// The extents of two matrices that are multiplied, in batches that broadcast.
fn matrices(s: &mut Draw) -> [Vec<usize>; 2] {
    let (m, k, n) = (s.size(1, 4), s.size_or_none(8, 4), s.size(1, 4));
    let batch = s.extents(0, 2, 3);
    [[s.broadcast(&batch), vec![m, k]].concat(), [s.broadcast(&batch), vec![k, n]].concat()]
}

fn matmul(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(&[F32, F32, F32, F64, F16, I32, I64]);
    let [mut a, mut b] = matrices(s);
    let k = a[a.len() - 1];
    if s.chance(20) {
        a = vec![k];
    }
    if s.chance(20) {
        b = vec![k];
    }
    Some(Call::of(op).on(s.array(of, &a)).on(s.array(of, &b)))
}

fn integer_matmul(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (one, two) = (s.pick(&[U8, I8]), s.pick(&[U8, I8]));
    let [a, b] = matrices(s);
    if op == "QLinearMatMul" {
        let call = Call::of(op).on(s.array(one, &a));
        let call = code(s, call, one).on(s.array(two, &b));
        let call = code(s, call, two);
        return Some(code(s, call, one));
    }
    let zeros = [scalar(one, s.int(0, 5) as f64), scalar(two, s.int(0, 5) as f64)];
    let call = Call::of(op).on(s.array(one, &a)).on(s.array(two, &b));
    Some(zeros.into_iter().fold(call, |call, zero| call.knowing(s.maybe(zero))))
}

fn gemm(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (m, k, n) = (s.size(1, 4), s.size_or_none(8, 4), s.size(1, 4));
    let (of, turn_a, turn_b) = (s.pick(WIDE), s.flag(), s.flag());
    let a = s.array(of, &if turn_a { [k, m] } else { [m, k] });
    let b = s.array(of, &if turn_b { [n, k] } else { [k, n] });
    let shapes = [vec![], vec![1], vec![n], vec![1, n], vec![m, 1], vec![m, n], vec![1, 1]];
    let shape = s.pick(&shapes);
    let c = s.array(of, &shape);
    let beta = s.pick(&[0.25f32, 0.0]);
    let call = Call::of(op).on(a).on(b).maybe_on(s.maybe(c));
    let call = if turn_a { call.with("transA", true) } else { call.maybe("transA", s.maybe(false)) };
    let call = if turn_b { call.with("transB", true) } else { call.maybe("transB", s.maybe(false)) };
    Some(call.maybe("alpha", s.maybe(0.5f32)).maybe("beta", s.maybe(beta)))
}

/// An equation of one to three terms: letters that are repeated or absent, ellipses, blanks, with or without a result.
fn equation(s: &mut Draw) -> (Vec<Vec<char>>, String) {
    let terms: Vec<Vec<char>> = (0..s.size(1, 3))
        .map(|_| {
            let mut term: Vec<char> = (0..s.size(0, 3)).map(|_| s.pick(&['i', 'j', 'k'])).collect();
            if s.chance(30) {
                let at = s.size(0, term.len());
                term.insert(at, '.');
            }
            term
        })
        .collect();
    let mut parts: Vec<char> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        parts.extend((at > 0).then_some(','));
        parts.extend(term);
    }
    if s.chance(70) {
        let mut result: Vec<char> = Vec::new();
        for at in s.permutation(3) {
            let letter = ['i', 'j', 'k'][at];
            if terms.iter().flatten().any(|part| *part == letter) && s.flag() {
                result.push(letter);
            }
        }
        if terms.iter().flatten().any(|part| *part == '.') && s.chance(80) {
            let at = s.size(0, result.len());
            result.insert(at, '.');
        }
        parts.push('>');
        parts.extend(result);
    }
    let blanks = s.chance(20);
    let text = |part: char| match part {
        '.' => "...".to_owned(),
        '>' => "->".to_owned(),
        part => part.to_string(),
    };
    let text = parts.into_iter().map(|part| text(part) + if blanks && s.flag() { " " } else { "" }).collect();
    (terms, text)
}

fn einsum(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, (terms, equation)) = (s.pick(&[F32, F32, F64, I32]), equation(s));
    let extents: Vec<usize> = (0..3).map(|_| s.size_or_none(3, 3)).collect();
    let more = s.some(0, 2, 3);
    let mut call = Call::of(op);
    for term in terms {
        let mut shape = Vec::new();
        for part in term {
            match part {
                '.' => shape.extend(more.iter().map(|extent| if s.chance(20) { 1 } else { *extent })),
                letter => shape.push(extents[letter as usize - 'i' as usize]),
            }
        }
        call = call.on(s.array(of, &shape));
    }
    Some(call.with("equation", equation.as_str()))
}

fn determinant(s: &mut Draw, op: &'static str) -> Option<Call> {
    let n = s.size(1, 3);
    let shape = [s.extents(0, 2, 3), vec![n, n]].concat();
    Some(Call::of(op).on(s.array(F32, &shape)))
}

fn epsilon(s: &mut Draw) -> Option<f32> {
    let value = s.pick(&[1e-3, 0.1]);
    s.maybe(value)
}

/// The call, whose numbers are normalized in floats of 64 bits if they are such.
fn precise(call: Call, of: DType) -> Call {
    call.maybe("stash_type", (of == F64).then_some(11))
}

fn of_channels(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, mut shape) = (s.pick(WIDE), image(s, 4));
    let groups = s.size(1, 2);
    if op == "GroupNormalization" {
        shape[1] *= groups;
    }
    let each = [shape[1]];
    let call = Call::of(op).on(s.array(of, &shape)).on(s.array(of, &each)).on(s.array(of, &each));
    let call = match op {
        "BatchNormalization" => call.on(s.array(of, &each)).on(s.positive(of, &each)).version(15),
        "GroupNormalization" => precise(call, of).with("num_groups", groups as i64),
        _ => call,
    };
    Some(call.maybe("epsilon", epsilon(s)))
}

fn of_axes(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(WIDE), image(s, 4));
    if op == "LpNormalization" {
        let (axis, p) = (s.axis(shape.len()), s.int(1, 2));
        return Some(Call::of(op).on(s.array(of, &shape)).maybe("axis", s.maybe(axis)).maybe("p", s.maybe(p)));
    }
    let shape = [2, s.size(1, 3), s.size(1, 3), s.size(1, 3)];
    let axes = if s.flag() { vec![0, 1, 2, 3] } else { vec![0, 2, 3] };
    Some(Call::of(op).on(s.array(F32, &shape)).maybe("axes", s.maybe(axes)))
}

fn of_last_axes(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(WIDE), image(s, 4));
    let axis = s.axis(shape.len());
    let last = &shape[axis.rem_euclid(shape.len() as i64) as usize..];
    let (scale, bias) = (s.array(of, last), s.array(of, last));
    let call = precise(Call::of(op).on(s.array(of, &shape)).on(scale).maybe("epsilon", epsilon(s)), of);
    let call = if axis == -1 { call.maybe("axis", s.maybe(axis)) } else { call.with("axis", axis) };
    Some(match op {
        "RMSNormalization" => call.version(23),
        _ => call.maybe_on(s.maybe(bias)).results(s.pick(&[1, 1, 3])).version(17),
    })
}

fn recurrent(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (length, batch, width, hidden) = (s.size(1, 3), s.size(1, 2), s.size(1, 3), s.size(1, 3));
    let gates = match op {
        "RNN" => 1,
        "GRU" => 3,
        _ => 4,
    } * hidden;
    let direction = s.pick(&["forward", "reverse", "bidirectional"]);
    let ways = if direction == "bidirectional" { 2 } else { 1 };
    // A batch that comes first has other places for the axes of all states.
    let first = s.chance(25);
    let of = |shape: [usize; 3]| if first { [shape[1], shape[0], shape[2]] } else { shape };
    let call = Call::of(op).on(s.array(F32, &of([length, batch, width]))).on(s.array(F32, &[ways, gates, width]));
    let call = call.on(s.array(F32, &[ways, gates, hidden]));
    let bias = s.array(F32, &[ways, 2 * gates]);
    let lengths: Vec<i128> = (0..batch).map(|_| s.size(1, length) as i128).collect();
    let lengths = s.chance(30).then(|| integers(I32, &[batch], &lengths));
    let (state, cell) = (s.array(F32, &of([ways, batch, hidden])), s.array(F32, &of([ways, batch, hidden])));
    let peepholes = s.array(F32, &[ways, 3 * hidden]);
    let mut call = call.maybe_on(s.maybe(bias)).maybe_on(lengths).maybe_on(s.maybe(state));
    if op == "LSTM" {
        call = call.maybe_on(s.maybe(cell)).maybe_on(s.maybe(peepholes));
    }
    let (linear, forget) = (s.flag(), s.chance(20));
    let call = call.with("hidden_size", hidden as i64).maybe("clip", s.chance(20).then_some(1.5f32));
    let call = if direction == "forward" {
        call.maybe("direction", s.maybe(direction))
    } else {
        call.with("direction", direction)
    };
    let call = call.maybe("layout", first.then_some(1));
    Some(match op {
        "GRU" => call.maybe("linear_before_reset", s.maybe(linear)).results(2),
        "LSTM" => call.maybe("input_forget", forget.then_some(1)).results(3),
        _ => call.results(2),
    })
}

fn loss(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (n, classes, more) = (s.size(1, 3), s.size(1, 3), s.some(0, 2, 3));
    let shape = [vec![n, classes], more.clone()].concat();
    let how = s.pick(&["none", "mean", "sum"]);
    let labels = s.indices(I64, &[vec![n], more].concat(), classes, false);
    let (weights, ignored) = (s.positive(F32, &[classes]), s.int(0, classes as i64 - 1));
    let results = if op == "SoftmaxCrossEntropyLoss" { s.pick(&[1, 1, 2]) } else { 1 };
    let call = Call::of(op).on(s.array(F32, &shape)).on(labels).maybe_on(s.maybe(weights)).results(results);
    Some(call.maybe("reduction", s.maybe(how)).maybe("ignore_index", s.maybe(ignored)))
}

fn window(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (size, periodic, of) = (s.int(1, 8), s.flag(), s.pick(&[1, 11]));
    let call = Call::of(op).knowing(scalar(I64, size as f64)).maybe("periodic", s.maybe(periodic));
    Some(call.maybe("output_datatype", s.maybe(of)))
}

fn transform(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = [s.size(1, 2), s.size(1, 5), s.pick(&[1, 2])];
    let (inverse, onesided, length) = (s.flag(), s.flag(), s.int(1, 6));
    let axis = scalar(I64, s.pick(&[1.0, -2.0]));
    let call = Call::of(op).on(s.array(F32, &shape)).knowing(s.maybe(scalar(I64, length as f64))).knowing(axis);
    let call = match shape[2] {
        2 => call.maybe("inverse", s.maybe(inverse)),
        _ => call.maybe("onesided", s.maybe(onesided)),
    };
    Some(call.version(20))
}

fn short_transform(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (batch, length, frame, step, onesided) = (s.size(1, 2), s.size(4, 8), s.size(2, 4), s.int(1, 3), s.flag());
    let window = s.array(F32, &[frame]);
    let call = Call::of(op).on(s.array(F32, &[batch, length, 1])).knowing(scalar(I64, step as f64));
    let call = call.maybe_on(s.maybe(window)).knowing(scalar(I64, frame as f64));
    Some(call.maybe("onesided", s.maybe(onesided)).version(17))
}

fn mel_weights(s: &mut Draw, op: &'static str) -> Option<Call> {
    let bins = s.int(1, 5) as f64;
    let call = Call::of(op).knowing(scalar(I64, bins)).knowing(scalar(I64, s.pick(&[8.0, 16.0])));
    let call = call.knowing(scalar(I64, s.pick(&[8000.0, 16000.0]))).knowing(scalar(F32, s.pick(&[0.0, 20.0])));
    let call = call.knowing(scalar(F32, s.pick(&[2000.0, 4000.0])));
    let of = s.pick(&[1, 11]);
    Some(call.maybe("output_datatype", s.maybe(of)).version(17))
}

fn attention(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (batch, length, keys, width, values) = (s.size(1, 2), s.size(1, 3), s.size(1, 3), s.size(1, 3), s.size(1, 3));
    let heads = s.size(1, 2);
    let groups = heads * s.size(1, 2);
    let (past, flat) = (if s.chance(25) { s.size(1, 2) } else { 0 }, s.chance(25));
    let call = match flat {
        false => Call::of(op)
            .on(s.array(F32, &[batch, groups, length, width]))
            .on(s.array(F32, &[batch, heads, keys, width]))
            .on(s.array(F32, &[batch, heads, keys, values])),
        true => Call::of(op)
            .on(s.array(F32, &[batch, length, groups * width]))
            .on(s.array(F32, &[batch, keys, heads * width]))
            .on(s.array(F32, &[batch, keys, heads * values]))
            .with("q_num_heads", groups as i64)
            .with("kv_num_heads", heads as i64),
    };
    let whole = [batch, groups, length];
    let of = s.pick(&[F32, BOOL]);
    let from = s.size(0, 2);
    let mut shape: Vec<usize> = whole[from..].iter().map(|extent| if s.chance(30) { 1 } else { *extent }).collect();
    shape.push(keys + past);
    let mask = match of == F32 && s.flag() {
        // Rows that see some keys, all of them, or none.
        true => {
            let seen: Vec<f64> = (0..volume(&shape)).map(|_| s.pick(&[0.0, f64::NEG_INFINITY])).collect();
            floats(F32, &shape, &seen)
        }
        false => s.array(of, &shape),
    };
    let call = call.maybe_on(s.maybe(mask));
    let call = match past {
        0 => call,
        past => call.on(s.array(F32, &[batch, heads, past, width])).on(s.array(F32, &[batch, heads, past, values])),
    };
    let causal = s.flag();
    let call = call.maybe("is_causal", s.maybe(causal)).maybe("scale", s.maybe(0.5f32));
    let call = call.maybe("softcap", s.chance(20).then_some(2.0f32)).version(s.pick(&[23, 24]));
    let results = if past > 0 { s.pick(&[1, 3]) } else { 1 };
    Some(call.results(results))
}

fn rotary(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (batch, heads, length, half, most) = (s.size(1, 2), s.size(1, 2), s.size(1, 3), s.size(1, 3), s.size(1, 4));
    let (turned, flat, interleaved) = (s.size(1, half), s.chance(30), s.flag());
    let shape = if flat { vec![batch, length, heads * 2 * half] } else { vec![batch, heads, length, 2 * half] };
    let call =
        Call::of(op).on(s.array(F32, &shape)).on(s.array(F32, &[most, turned])).on(s.array(F32, &[most, turned]));
    let call = call.on(s.indices(I64, &[batch, length], most, false)).maybe("interleaved", s.maybe(interleaved));
    let part = turned < half;
    let call = call.maybe("rotary_embedding_dim", part.then_some(2 * turned as i64));
    Some(call.maybe("num_heads", (flat || part).then_some(heads as i64)).version(23))
}

fn linear_attention(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (batch, length, width, values) = (s.size(1, 2), s.size(1, 3), s.size(1, 3), s.size(1, 3));
    let heads = s.size(1, 2);
    let groups = heads * s.size(1, 2);
    let rule = s.pick(&["linear", "gated", "delta", "gated_delta"]);
    let q = s.array(F32, &[batch, length, groups * width]);
    let call = Call::of(op).on(q).on(s.array(F32, &[batch, length, heads * width]));
    let call = call.on(s.array(F32, &[batch, length, heads * values]));
    let past = s.array(F32, &[batch, heads, width, values]);
    let call = call.maybe_on(s.maybe(past));
    // Gates are logarithms of factors below 1.
    let gate = s.positive(F32, &[batch, length, heads * width]);
    let gate = floats(F32, gate.shape(), &gate.to_scalars().iter().map(|item| -item).collect::<Vec<_>>());
    let call = call.maybe_on(rule.starts_with("gated").then_some(gate));
    let beta = s.positive(F32, &[batch, length, heads]);
    let call = call.maybe_on(rule.ends_with("delta").then_some(beta)).maybe("scale", s.maybe(0.5f32));
    let call = call.with("q_num_heads", groups as i64).with("kv_num_heads", heads as i64);
    Some(call.with("update_rule", rule).results(2).version(27))
}

fn causal_conv(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (batch, channels, length, size) = (s.size(1, 2), s.size(1, 3), s.size(1, 4), s.size(1, 3));
    let (bias, past) = (s.array(F32, &[channels]), s.array(F32, &[batch, channels, size - 1]));
    let call = Call::of(op).on(s.array(F32, &[batch, channels, length])).on(s.array(F32, &[channels, 1, size]));
    let call = call.maybe_on(s.maybe(bias)).maybe_on(s.maybe(past));
    Some(call.maybe("activation", s.maybe("silu")).results(2).version(27))
}
