//! Matrix products, sums of products, and embeddings.

use super::{Line, Lowered, Refusal, integers, shaping};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::library::assembly::einsum;

/// The product of each vector along the last axis with the transposed weight matrix, plus the bias.
pub(super) fn linear(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, weight, bias) = (line.tensor("input")?, line.data("weight")?, line.weights("bias")?);
    let &[outputs, inputs] = &line.shape(weight)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("in_features", &[inputs])?;
    line.agrees("out_features", &[outputs])?;
    let rank = Some(line.rank(x)?).filter(|rank| *rank > 0).ok_or(Refusal::UNFIT)?;
    let matrix = if rank == 1 { line.with_axes(x, [0])? } else { x };
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
        *term = line.times_setting(*term, key)?;
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

/// Sums of products by a formula of axes.
pub(super) fn einsum(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let equation: String = line.required("equation")?;
    let operands = shaping::tensors(line)?;
    operands.iter().try_for_each(|operand| line.extents(*operand).map(drop))?;
    let found = einsum::einsum(line, &equation, &operands);
    Ok(vec![found.map_err(|reason| line.refuse("equation", format!("a formula for its operands: {reason}")))?])
}
