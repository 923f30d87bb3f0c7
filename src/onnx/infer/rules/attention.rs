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
    if let Some(shape) = attended(call, query.as_ref(), value.as_ref()) {
        call.give(0, shape);
    }
    let (key, value) = agreed(key, value);
    let past = if call.has(4) { call.shared(&[(4, 2), (5, 2)]) } else { Dim::Int(0) };
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

/// The same keys and values with the batch, the heads and the length that both have.
fn agreed(key: Option<[Dim; 4]>, value: Option<[Dim; 4]>) -> (Option<[Dim; 4]>, Option<[Dim; 4]>) {
    let (Some(mut key), Some(mut value)) = (key.clone(), value.clone()) else { return (key, value) };
    for (a, b) in key.iter_mut().zip(&mut value).take(3) {
        if let Some(both) = a.clone().unify(b.clone()) {
            *a = both.clone();
            *b = both;
        }
    }
    (Some(key), Some(value))
}

/// The shape of the first result of `Attention`, which is packed if the queries are.
fn attended(call: &InferCall, query: Option<&[Dim; 4]>, value: Option<&[Dim; 4]>) -> Option<Vec<Dim>> {
    let ([batch, heads, length, _], [_, value_heads, _, size]) = (query?, value?);
    match (call.rank(0)?, call.extents(2)?) {
        (4, _) => Some(vec![batch.clone(), heads.clone(), length.clone(), size.clone()]),
        // Both are packed: the number of heads divides the extent.
        (3, [_, _, packed]) => {
            let hidden = packed.clone().times(heads.clone()).over(value_heads.clone());
            Some(vec![batch.clone(), length.clone(), hidden])
        }
        (3, _) => Some(vec![batch.clone(), length.clone(), heads.clone().times(size.clone())]),
        _ => None,
    }
}

/// `FlexAttention`: operands have four axes.
pub(crate) fn flex_attention(call: &mut InferCall) -> Option<()> {
    let shape = [call.extent(0, 0), call.extent(0, 1), call.extent(0, 2), call.extent(2, 3)];
    call.give(0, shape);
    Some(())
}

/// `LinearAttention`: heads are packed into the last axis; the state is a matrix for each head of the keys.
pub(crate) fn linear_attention(call: &mut InferCall) -> Option<()> {
    // Without a state before, the new one has the type of the operands.
    if let Some(element) = call.element(3).or_else(|| call.element(0)) {
        call.give_element(1, element);
    }
    let (queries, keys) = (Dim::Int(call.int("q_num_heads")?), Dim::Int(call.int("kv_num_heads")?));
    let batch = call.shared(&[(0, 0), (1, 0), (2, 0), (3, 0)]);
    let length = call.shared(&[(0, 1), (1, 1), (2, 1)]);
    let size = |operand: usize, at: usize| match call.extent(operand, 2).over(keys.clone()) {
        Dim::Unknown => call.extent(3, at),
        size => size,
    };
    let packed = call.extent(2, 2).times(queries.clone()).over(keys.clone());
    let packed = if packed == Dim::Unknown { call.extent(3, 3).times(queries.clone()) } else { packed };
    let key_size = match size(1, 2) {
        // Queries and keys have heads of one size.
        Dim::Unknown => call.extent(0, 2).over(queries.clone()),
        size => size,
    };
    let value_size = size(2, 3);
    call.give(0, [batch.clone(), length, packed]);
    call.give(1, [batch, keys, key_size, value_size]);
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
