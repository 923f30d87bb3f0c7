//! Matrix products, attention, and embeddings.

use super::{Line, Lowered, Refusal, integers};
use crate::graph::{Primitive, TensorId, Value};

/// The product of each vector along the last axis with the transposed weight matrix, plus the bias.
pub(super) fn linear(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight, bias) = (line.tensor("input")?, line.data("weight")?, line.weights("bias")?);
    let &[outputs, inputs] = &line.shape(weight)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("in_features", &[inputs])?;
    line.agrees("out_features", &[outputs])?;
    let rank = Some(line.rank(x)?).filter(|rank| *rank > 0).ok_or(Refusal::UNFIT)?;
    let matrix = if rank == 1 { line.with_axes(x, vec![0])? } else { x };
    let weight = line.with_rank(weight, rank)?;
    let [no, yes] = [false, true].map(Value::Logical);
    let mut y = line.add("matmul", vec![Value::Tensor(matrix), Value::Tensor(weight), no, yes])?;
    if let Some(bias) = bias {
        let bias = line.with_rank(bias, rank.max(2))?;
        y = line.add("add", vec![Value::Tensor(y), Value::Tensor(bias)])?;
    }
    if rank == 1 {
        y = line.add("squeeze", vec![Value::Tensor(y), integers([0])])?;
    }
    Ok(vec![y])
}

/// `beta * input + alpha * (mat1 @ mat2)`.
pub(super) fn addmm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (c, a, b) = (line.tensor("input")?, line.tensor("mat1")?, line.tensor("mat2")?);
    let mut y = line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?;
    if line.rank(c)? > 2 {
        return Err(Refusal::UNFIT);
    }
    let mut c = line.with_rank(c, 2)?;
    for (key, term) in [("alpha", &mut y), ("beta", &mut c)] {
        let factor: f64 = line.setting_or(key, 1.0)?;
        if factor != 1.0 {
            *term = line.add("mul", vec![Value::Tensor(*term), Value::Scalar(factor)])?;
        }
    }
    Ok(vec![line.add("add", vec![Value::Tensor(y), Value::Tensor(c)])?])
}

/// The rows of a table.
pub(super) fn embedding(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (indices, table) = (line.tensor("input")?, line.data("weight")?);
    let &[rows, columns] = &line.shape(table)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("num_embeddings", &[rows])?;
    line.agrees("embedding_dim", &[columns])?;
    // These have a meaning only in training.
    ["padding_idx", "scale_grad_by_freq", "sparse"].iter().for_each(|key| line.ignore(key));
    Ok(vec![line.add("gather", vec![Value::Tensor(table), Value::Tensor(indices), Value::Int(0)])?])
}

/// Attention: the values, weighted by the softmax of the scaled products of queries and keys.
pub(super) fn attention(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (query, key, value) = (line.tensor("query")?, line.tensor("key")?, line.tensor("value")?);
    let extents = line.extents(query)?;
    let [outer @ .., width] = &extents[..] else { return Err(Refusal::UNFIT) };
    let rank = extents.len() as i64;
    if outer.is_empty() || line.rank(key)? != rank || line.rank(value)? != rank {
        return Err(Refusal::UNFIT);
    }
    let dropped: f64 = line.setting_or("dropout_p", 0.0)?;
    line.require("dropout_p", dropped == 0.0, "0")?;
    line.off("is_causal")?;
    line.off("enable_gqa")?;
    let default = 1.0 / (*width as f64).sqrt();
    let scale = line.optional("scale")?.unwrap_or(default);
    let [no, yes] = [false, true].map(Value::Logical);
    let scores = line.add("matmul", vec![Value::Tensor(query), Value::Tensor(key), no, yes])?;
    let mut scores = line.add("mul", vec![Value::Tensor(scores), Value::Scalar(scale)])?;
    if let Ok(mask) = line.tensor("attn_mask") {
        let mask = line.with_rank(mask, rank)?;
        // Only numeric masks are added; logical masks select, which is not supported.
        if line.builder.graph.dtype(mask) != Some(Primitive::Scalar) {
            return Err(Refusal::Because("its mask is not known to be one of scalars".into()));
        }
        scores = line.add("add", vec![Value::Tensor(scores), Value::Tensor(mask)])?;
    }
    let weights = line.add("softmax", vec![Value::Tensor(scores), integers([outer.len() as i64])])?;
    Ok(vec![line.add("matmul", vec![Value::Tensor(weights), Value::Tensor(value)])?])
}
