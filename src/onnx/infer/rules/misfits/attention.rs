//! Attention and recurrent networks.

use super::{Misfit, named, not_positive, rank, ranks, same};
use crate::onnx::infer::InferCall;

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
    ranks(call, &[0, 1, 2], 4)
        .or_else(|| same(call, &[(0, 0), (1, 0), (2, 0)]))
        .or_else(|| same(call, &[(1, 1), (2, 1)]))
        .or_else(|| same(call, &[(1, 2), (2, 2)]))
        .or_else(|| same(call, &[(0, 3), (1, 3)]))
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
        .or_else(|| ranks(call, &[0, 1, 2], 3))
        .or_else(|| rank(call, 3, 4..=4))
        .or_else(|| [(0, queries), (1, keys), (2, keys)].into_iter().find_map(packed))
        .or_else(|| same(call, &[(0, 0), (1, 0), (2, 0), (3, 0)]))
        .or_else(|| same(call, &[(0, 1), (1, 1), (2, 1)]))
}

/// `RotaryEmbedding`
pub(crate) fn rotary(call: &InferCall) -> Misfit {
    rank(call, 0, 3..=4).or_else(|| heads(call, 0, "num_heads"))
}
