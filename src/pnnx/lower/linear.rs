//! Matrix products, attention, and embeddings.

use super::{Line, integers};
use crate::graph::{Primitive, TensorId, Value};

/// The product of each vector along the last axis with the transposed weight matrix, plus the bias.
pub(super) fn linear(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight, bias) = (line.tensor("input")?, line.weights("weight")?, line.weights("bias"));
    let rank = line.rank(x).filter(|rank| *rank > 0)?;
    let matrix = if rank == 1 { line.with_axes(x, vec![0])? } else { x };
    let wide = rank.max(2);
    let weight = line.with_axes(weight, (0..wide - 2).collect())?;
    let [no, yes] = [false, true].map(Value::Logical);
    let mut y = line.add("matmul", vec![Value::Tensor(matrix), Value::Tensor(weight), no, yes])?;
    if let Some(bias) = bias {
        let bias = line.with_axes(bias, (0..wide - 1).collect())?;
        y = line.add("add", vec![Value::Tensor(y), Value::Tensor(bias)])?;
    }
    if rank == 1 {
        y = line.add("squeeze", vec![Value::Tensor(y), integers([0])])?;
    }
    Some(vec![y])
}

pub(super) fn matmul(line: &mut Line) -> Option<Vec<TensorId>> {
    let second = ["other", "mat2"].into_iter().find_map(|name| line.tensor(name));
    let (a, b) = (line.tensor("input")?, second?);
    let (m, n) = (line.rank(a)?, line.rank(b)?);
    // Products with vectors have another rank.
    (m > 1 && n > 1).then_some(())?;
    let rank = m.max(n);
    let a = line.with_axes(a, (0..rank - m).collect())?;
    let b = line.with_axes(b, (0..rank - n).collect())?;
    Some(vec![line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?])
}

/// `beta * input + alpha * (mat1 @ mat2)`.
pub(super) fn addmm(line: &mut Line) -> Option<Vec<TensorId>> {
    let [c, a, b] = ["input", "mat1", "mat2"].map(|name| line.tensor(name));
    let (c, a, b) = (c?, a?, b?);
    let mut y = line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?;
    let more = 2 - line.rank(c)?;
    let mut c = line.with_axes(c, (0..more).collect())?;
    for (key, term) in [("alpha", &mut y), ("beta", &mut c)] {
        let factor = line.setting(key).map_or(Some(1.0), |factor| factor.float())?;
        if factor != 1.0 {
            *term = line.add("mul", vec![Value::Tensor(*term), Value::Scalar(factor)])?;
        }
    }
    Some(vec![line.add("add", vec![Value::Tensor(y), Value::Tensor(c)])?])
}

/// The rows of a table.
pub(super) fn embedding(line: &mut Line) -> Option<Vec<TensorId>> {
    let (indices, table) = (line.tensor("input")?, line.weights("weight")?);
    if line.number("max_norm").is_some() {
        return None;
    }
    Some(vec![line.add("gather", vec![Value::Tensor(table), Value::Tensor(indices), Value::Int(0)])?])
}

/// Attention: the values, weighted by the softmax of the scaled products of queries and keys.
pub(super) fn attention(line: &mut Line) -> Option<Vec<TensorId>> {
    let [query, key, value] = ["query", "key", "value"].map(|name| line.tensor(name));
    let (query, key, value) = (query?, key?, value?);
    let extents = line.extents(query)?;
    let same = [key, value].iter().all(|tensor| line.rank(*tensor) == Some(extents.len() as i64));
    let drops = line.setting("dropout_p").is_some_and(|p| p.float() != Some(0.0));
    if !same || drops || line.flag("is_causal") || line.flag("enable_gqa") {
        return None;
    }
    let width = *extents.last().filter(|_| extents.len() > 1)?;
    let scale = line.number("scale").unwrap_or_else(|| 1.0 / (width as f64).sqrt());
    let [no, yes] = [false, true].map(Value::Logical);
    let scores = line.add("matmul", vec![Value::Tensor(query), Value::Tensor(key), no, yes])?;
    let mut scores = line.add("mul", vec![Value::Tensor(scores), Value::Scalar(scale)])?;
    if let Some(mask) = line.tensor("attn_mask") {
        let more = extents.len() as i64 - line.rank(mask)?;
        let mask = line.with_axes(mask, (0..more).collect())?;
        // Only numeric masks are added; logical masks select, which is not supported.
        if line.builder.graph.tensors[mask.index()].dtype != Some(Primitive::Scalar) {
            return None;
        }
        scores = line.add("add", vec![Value::Tensor(scores), Value::Tensor(mask)])?;
    }
    let weights = line.add("softmax", vec![Value::Tensor(scores), integers([extents.len() as i64 - 1])])?;
    Some(vec![line.add("matmul", vec![Value::Tensor(weights), Value::Tensor(value)])?])
}
