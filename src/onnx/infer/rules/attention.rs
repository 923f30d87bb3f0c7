//! Attention and recurrent networks.

use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// An operand of `Attention` as batch, heads, length and the size of a head. Heads of tensors with three axes are
/// packed into the last one.
fn heads(call: &InferCall, operand: usize, attribute: &str) -> Option<[Dim; 4]> {
    match call.extents(operand)? {
        [batch, heads, length, size] => Some([batch.clone(), heads.clone(), length.clone(), size.clone()]),
        [batch, length, packed] => {
            let heads = Dim::Int(call.int(attribute)?);
            Some([batch.clone(), heads.clone(), length.clone(), packed.clone().over(heads)])
        }
        _ => None,
    }
}

/// `Attention`
pub(crate) fn attention(call: &mut InferCall) -> Option<()> {
    let query = heads(call, 0, "q_num_heads");
    let (key, value) = (heads(call, 1, "kv_num_heads"), heads(call, 2, "kv_num_heads"));
    let past = if call.has(4) { call.extent(4, 2) } else { Dim::Int(0) };
    let shape = match (call.rank(0), &query, &value) {
        (Some(4), Some([batch, heads, length, _]), Some([.., size])) => {
            Some(vec![batch.clone(), heads.clone(), length.clone(), size.clone()])
        }
        (Some(3), Some([batch, heads, length, _]), Some([.., size])) => {
            Some(vec![batch.clone(), length.clone(), heads.clone().times(size.clone())])
        }
        _ => None,
    };
    if let Some(shape) = shape {
        call.give(0, shape);
    }
    let total = |length: &Dim| past.clone().plus(length.clone());
    let key_total = key.as_ref().map_or(Dim::Unknown, |[_, _, length, _]| total(length));
    if let Some([batch, heads, _, size]) = key {
        call.give(1, [batch, heads, key_total.clone(), size]);
    }
    if let Some([batch, heads, length, size]) = value {
        call.give(2, [batch, heads, total(&length), size]);
    }
    if let Some([batch, heads, length, _]) = query {
        call.give(3, [batch, heads, length, key_total]);
    }
    Some(())
}

/// `FlexAttention`: operands have four axes.
pub(crate) fn flex_attention(call: &mut InferCall) -> Option<()> {
    let shape = [call.extent(0, 0), call.extent(0, 1), call.extent(0, 2), call.extent(2, 3)];
    call.give(0, shape);
    Some(())
}

/// `LinearAttention`: heads are packed into the last axis; the state is a matrix for each head of the keys.
pub(crate) fn linear_attention(call: &mut InferCall) -> Option<()> {
    let (queries, keys) = (Dim::Int(call.int("q_num_heads")?), Dim::Int(call.int("kv_num_heads")?));
    let size = |operand: usize| call.extent(operand, 2).over(keys.clone());
    let (key_size, value_size) = (size(1), size(2));
    let shape = [call.extent(0, 0), call.extent(0, 1), queries.times(value_size.clone())];
    let state = [call.extent(0, 0), keys, key_size, value_size];
    call.give(0, shape);
    call.give(1, state);
    Some(())
}

/// `RNN`, `GRU`, `LSTM`: the results of all steps, and the last state or states.
pub(crate) fn recurrent(call: &mut InferCall) -> Option<()> {
    let directions = Dim::Int(if call.text("direction").as_deref() == Some("bidirectional") { 2 } else { 1 });
    let hidden = match call.int("hidden_size") {
        Some(size) => Dim::Int(size),
        None => call.extent(2, 2),
    };
    let (first, second) = (call.extent(0, 0), call.extent(0, 1));
    // With the layout 1, the batch is the first axis of all tensors.
    let (all, state) = if call.int_or("layout", 0) == 0 {
        ([first, directions.clone(), second.clone(), hidden.clone()], [directions, second, hidden])
    } else {
        ([first.clone(), second, directions.clone(), hidden.clone()], [first, directions, hidden])
    };
    call.give(0, all);
    call.give(1, state.clone());
    call.give(2, state);
    Some(())
}
