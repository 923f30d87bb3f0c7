//! Attention and recurrent networks.

use super::{Misfit, differ, named, not_positive, rank, ranks, same};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::facts::ValueType;

/// `LSTM`, `GRU`, `RNN`
pub(crate) fn recurrent(call: &InferCall) -> Misfit {
    let batch = usize::from(call.int_or("layout", 0) == 0);
    let (state, directions) = if batch == 1 { (1, 0) } else { (0, 1) };
    ranks(call, &[0, 1, 2], 3)
        .or_else(|| rank(call, 5, 3..=3))
        .or_else(|| same(call, &[(0, 2), (1, 2)]))
        .or_else(|| same(call, &[(0, batch), (5, state)]))
        .or_else(|| same(call, &[(1, 0), (2, 0), (3, 0), (5, directions)]))
        .or_else(|| same(call, &[(1, 1), (2, 1)]))
}

/// Packed heads need their number, which is positive.
fn heads(call: &InferCall, operand: usize, name: &str) -> Misfit {
    if call.rank(operand)? != 3 {
        return None;
    }
    let missing = || format!("{} needs the attribute `{name}`", named(call, operand));
    not_positive(call, name).or_else(|| call.int(name).is_none().then(missing))
}

/// `Attention`
pub(crate) fn attention(call: &InferCall) -> Misfit {
    let (query, keys) = ("q_num_heads", "kv_num_heads");
    [0, 1, 2]
        .into_iter()
        .find_map(|operand| rank(call, operand, 3..=4))
        .or_else(|| heads(call, 0, query))
        .or_else(|| heads(call, 1, keys))
        .or_else(|| heads(call, 2, keys))
        .or_else(|| ranks(call, &[4, 5], 4))
        .or_else(|| same(call, &[(0, 0), (1, 0), (2, 0)]))
}

/// `FlexAttention`
pub(crate) fn flex_attention(call: &InferCall) -> Misfit {
    // What changes scores or probabilities takes them and returns them, with their four axes.
    let changed = |name: &str| {
        let rank = call.ends_of_graph(name)?.iter().filter_map(ValueType::shape).find(|shape| shape.len() != 4)?.len();
        Some(format!("an end of the graph `{name}` has the rank {rank}, not 4"))
    };
    ranks(call, &[0, 1, 2], 4)
        .or_else(|| same(call, &[(0, 0), (1, 0), (2, 0)]))
        .or_else(|| same(call, &[(1, 1), (2, 1)]))
        .or_else(|| same(call, &[(1, 2), (2, 2)]))
        .or_else(|| same(call, &[(0, 3), (1, 3)]))
        .or_else(|| changed("score_mod"))
        .or_else(|| changed("prob_mod"))
}

/// `LinearAttention`
pub(crate) fn linear_attention(call: &InferCall) -> Misfit {
    let (queries, keys) = (call.int("q_num_heads"), call.int("kv_num_heads"));
    let multiple = || {
        let (queries, keys) = (queries?, keys?);
        let fits = queries.checked_rem(keys) == Some(0);
        (!fits).then(|| format!("`q_num_heads` is {queries}, no multiple of {keys}"))
    };
    let packed = |(operand, heads): (usize, Option<i64>)| {
        let rest = call.extent(operand, 2).known()?.checked_rem(heads?);
        (rest != Some(0)).then(|| format!("{} is not divided into {} heads", named(call, operand), heads.unwrap_or(0)))
    };
    ["q_num_heads", "kv_num_heads"]
        .into_iter()
        .find_map(|name| not_positive(call, name))
        .or_else(multiple)
        .or_else(|| ranks(call, &[0, 1, 2, 4, 5], 3))
        .or_else(|| rank(call, 3, 4..=4))
        .or_else(|| [(0, queries), (1, keys), (2, keys)].into_iter().find_map(packed))
        .or_else(|| same(call, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]))
        .or_else(|| same(call, &[(0, 1), (1, 1), (2, 1), (4, 1), (5, 1)]))
        .or_else(|| linear_state(call, [queries?, keys?]))
        .or_else(|| [4, 5].into_iter().find_map(|gate| linear_gate(call, gate, keys?)))
}

/// Heads have one size, and the state before has a matrix of the sizes of heads for each head of the keys.
fn linear_state(call: &InferCall, [queries, keys]: [i64; 2]) -> Misfit {
    let of = |operand: usize, heads: i64| call.extent(operand, 2).over(Dim::Int(heads));
    if differ(&of(0, queries), &of(1, keys)) {
        return Some(format!("heads of {} and {} have different sizes", named(call, 0), named(call, 1)));
    }
    let axes = [(1, Dim::Int(keys)), (2, of(0, queries)), (2, of(1, keys)), (3, of(2, keys))];
    let (at, wanted) = axes.into_iter().find(|(at, wanted)| differ(&call.extent(3, *at), wanted))?;
    Some(format!("the axis {at} of {} is not {}", named(call, 3), wanted.known()?))
}

/// The last axis of the decay has a number for each head or for each item of the keys; that of `beta` one, or one for each head.
fn linear_gate(call: &InferCall, gate: usize, keys: i64) -> Misfit {
    let other = if gate == 4 { call.extent(1, 2).known()? } else { 1 };
    let last = call.extent(gate, 2).known()?;
    let misfit = ![keys, other].contains(&last);
    misfit.then(|| format!("the last axis of {} is neither {keys} nor {other}", named(call, gate)))
}

/// `RotaryEmbedding`
pub(crate) fn rotary(call: &InferCall) -> Misfit {
    rank(call, 0, 3..=4).or_else(|| heads(call, 0, "num_heads"))
}
