//! Einstein summation: sums of products along axes named by letters.

use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::{SumItem, Summand, sum_of_products};
use crate::extents::{Equation, Formula};
use crate::tensor::{DType, Data, Tensor};
use std::sync::Arc;

use super::unfit;

pub(in crate::eval) fn einsum(call: &Call) -> KernelResult {
    let text = call.string("expr")?;
    let equation = Formula::plain(text).filter(|equation| !equation.repeats());
    let equation = equation.ok_or_else(|| EvalError::argument(format!("`{text}` is not an expression of einsum")))?;
    let operands = call.tensors("inputs")?;
    let count = operands.len();
    if equation.operands.len() != count {
        return Err(EvalError::argument(format!("`{}` has {count} operands, its expression others", call.name())));
    }
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    if operands.iter().all(|operand| operand.dtype() == DType::Int64) {
        let wide = |tensor: &Arc<Tensor>| (0..tensor.len()).map(|at| tensor.data().wide(at)).collect();
        let items: Vec<Vec<i128>> = operands.iter().map(wide).collect();
        let (shape, sums) = summed(call, &equation, &shapes, &items)?;
        return Ok(vec![Tensor::with(&shape, Data::from_wide(DType::Int64, sums.into_iter()))?]);
    }
    let items: Vec<Vec<f64>> = operands.iter().map(|operand| operand.to_scalars()).collect();
    let (shape, sums) = summed(call, &equation, &shapes, &items)?;
    Ok(vec![Tensor::scalars(&shape, sums)?])
}

fn summed<T: SumItem>(
    call: &Call,
    equation: &Equation,
    shapes: &[&[usize]],
    items: &[impl AsRef<[T]>],
) -> Result<(Vec<usize>, Vec<T>), EvalError> {
    let known: Vec<Option<&[usize]>> = shapes.iter().map(|shape| Some(*shape)).collect();
    let fits = equation.operands.iter().zip(shapes).all(|(axes, shape)| axes.len() == shape.len());
    let sizes = equation.sizes(&known).ok().filter(|_| fits).ok_or_else(|| unfit(call, shapes))?;
    let operands = shapes.iter().zip(items);
    let operands: Vec<Summand<T>> = operands.map(|(shape, items)| Summand { shape, items: items.as_ref() }).collect();
    sum_of_products(call.budget(), equation, sizes, &operands)
}

/// The matrix product along the axes `[m, k]` of the first operand and `[k, n]` of the second, with the axes `[m, n]`
/// of the result; `axes` lists their numbers in this order.
pub(in crate::eval) fn product(call: &Call) -> KernelResult {
    let (a, b) = (call.scalars("A")?, call.scalars("B")?);
    let shapes = [a.shape(), b.shape()];
    let equation = Equation::of_matrices(&call.naturals("axes")?, a.ndim());
    let equation = equation.ok_or_else(|| unfit(call, &shapes))?;
    let (shape, sums) = summed(call, &equation, &shapes, &[&a, &b].map(|array| array.as_slice().unwrap_or_default()))?;
    Ok(vec![Tensor::scalars(&shape, sums)?])
}
