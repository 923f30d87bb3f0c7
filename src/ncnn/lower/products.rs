//! Products of matrices.

use super::quantized::LayerScales;
use super::{LayerLine, LayerRuleRow};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[(&["InnerProduct"], inner), (&["MatMul"], matmul), (&["Gemm"], gemm)];

/// The rows of a matrix, or all items of another blob, times weights.
fn inner(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    ["num_output", "weight_data_size", "bias_term"].iter().for_each(|name| line.note(name));
    let (x, weight) = (line.only()?, line.weight("weight_data")?);
    let (extents, shape) = (line.to.extents(x)?, line.to.extents(weight)?);
    let &[outputs, inputs] = &shape[..] else { return Err(Refusal::UNFIT) };
    let is_matrix = matches!(extents[..], [_, columns] if columns == inputs);
    let rows = if is_matrix { x } else { line.to.reshaped(x, &[1, inputs])? };
    let bias = match line.weight_if("bias_data") {
        Some(bias) => line.to.with_axes(bias, [0]).map(Value::Tensor)?,
        None => Value::Scalar(0.0),
    };
    let y = match LayerScales::read(line)? {
        Some(scales) => {
            let (rows, weight) = (scales.operand(line, rows, x)?, scales.weight(line, weight)?);
            let sums = line.to.multiplied(rows, weight, [false, true])?;
            scales.number(line, sums, 1, line.weight_if("bias_data"))?
        }
        None => line.to.on("linear", rows, [Value::Tensor(weight), bias])?,
    };
    let y = line.activated(y)?;
    Ok(vec![if is_matrix { y } else { line.to.reshaped(y, &[outputs])? }])
}

fn matmul(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let &[a, mut b] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    let rank = line.to.rank(b)?;
    if line.flag("transB")? && rank > 1 {
        let mut order: Vec<i64> = (0..rank).collect();
        order.reverse();
        let last: Vec<i64> = order.iter().take(2).copied().collect();
        let order = [&(0..rank.saturating_sub(2)).collect::<Vec<i64>>(), &last[..]].concat();
        b = line.to.transposed(b, &order)?;
    }
    // Matrices of more axes are products for each of their channels, which are broadcast with the last axes aligned.
    let (left, right) = (line.to.extents(a)?, line.to.extents(b)?);
    let y = torch(&mut line.to, "torch.matmul", &[("input", a), ("other", b)], &[])?;
    // The product of two vectors is a vector of one item.
    Ok(vec![if left.len() == 1 && right.len() == 1 { line.to.reshaped(y, &[1])? } else { y }])
}

/// `alpha * (A * B + beta * C)`, where each of the three may be weights.
fn gemm(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    for name in ["output_N1M", "output_transpose", "quantize_term"] {
        line.is(name, 0)?;
    }
    // The form of the result in memory, and sizes of blocks, do not change it.
    let hints = ["output_elempack", "output_elemtype", "constant_TILE_M", "constant_TILE_N", "constant_TILE_K"];
    hints.iter().chain(&["constantM", "constantN", "constantK"]).for_each(|name| line.note(name));
    let mut operands = line.operands.clone().into_iter();
    let mut matrix = |line: &LayerLine, constant: &str, weights: &str| match line.flag(constant)? {
        true => line.weight(weights),
        false => operands.next().ok_or(Refusal::UNFIT),
    };
    let (a, b) = (matrix(line, "constantA", "A_data")?, matrix(line, "constantB", "B_data")?);
    let turned = [line.flag("transA")?, line.flag("transB")?];
    let (left, right) = (line.to.extents(a)?, line.to.extents(b)?);
    let (&[..], [m0, m1], [n0, n1]) = (&left[..], &left[..], &right[..]) else { return Err(Refusal::UNFIT) };
    let (m, n) = (if turned[0] { *m1 } else { *m0 }, if turned[1] { *n0 } else { *n1 });
    let mut y = line.to.multiplied(a, b, turned)?;
    let (alpha, beta) = (line.scalar("alpha")?, line.scalar("beta")?);
    let kind = line.integer("constant_broadcast_type_C")?;
    let terms = if line.flag("constantC")? { line.weight_if("C_data") } else { operands.next() };
    if let Some(mut terms) = terms {
        let own = line.to.extents(terms)?;
        let shape = match own[..] {
            // Weights say along which axis they are; a vector of another layer is for rows if it can be.
            [count] if line.weight_if("C_data").is_some() => {
                if kind == 1 {
                    vec![count, 1]
                } else {
                    vec![1, count]
                }
            }
            [count] if count == n || count == 1 => vec![1, count],
            [count] if count == m => vec![count, 1],
            [_, _] => own.clone(),
            _ => return Err(Refusal::UNFIT),
        };
        terms = line.to.reshaped(terms, &shape)?;
        if beta != 1.0 {
            terms = line.to.on("mul", terms, [Value::Scalar(beta)])?;
        }
        y = line.to.on("add", y, [Value::Tensor(terms)])?;
    }
    if alpha != 1.0 {
        y = line.to.on("mul", y, [Value::Scalar(alpha)])?;
    }
    Ok(vec![y])
}
