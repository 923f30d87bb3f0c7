//! Sums of products by the names of axes.

use std::sync::Arc;

use crate::eval::EvalError;
use crate::eval::kernels::{SumItem, Summand, sum_of_products};
use crate::extents::{Equation, EquationError, Formula, is_letter};
use crate::onnx::run::kernels::elementwise::wide;
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, one};
use crate::tensor::{Data, Tensor};

/// The equation of a node for its operands.
fn equation(call: &NodeCall, operands: &[&Arc<Tensor>]) -> Result<Equation, EvalError> {
    let formula = Formula::read(&call.text_or("equation", "")?, is_letter).map_err(|error| call.refused(error))?;
    let ranks: Vec<usize> = operands.iter().map(|operand| operand.rank()).collect();
    let equation = formula.of_ranks(&ranks).map_err(|error| match error {
        EquationError::Rank(i) => {
            call.misfit(format!("the term `{}` does not fit a rank of {}", formula.operands[i], ranks[i]))
        }
        error => call.misfit(error),
    })?;
    match equation.missing().is_some() || equation.repeats() {
        true => Err(call.refused("the result of the equation has an axis that no term has, or one twice")),
        false => Ok(equation),
    }
}

/// The sum of the products of the items of operands whose axes of the same name have the same index.
pub(in crate::onnx) fn einsum(call: &NodeCall) -> KernelResult {
    let operands = call.tensors()?;
    let equation = equation(call, &operands)?;
    let Some(first) = operands.first() else { return Err(call.refused("there are no operands")) };
    let dtype = first.dtype();
    if operands.iter().any(|operand| operand.dtype() != dtype) {
        return Err(call.refused("the operands have different types"));
    }
    let items = operands.iter().map(|operand| operand.len()).fold(0usize, usize::saturating_add);
    let words = if dtype.is_integer() { 2 } else { 1 };
    call.budget.memory(items.saturating_mul(words), "the items of the operands of `Einsum`")?;
    let (shape, data) = if dtype.is_integer() {
        let items: Vec<Vec<i128>> = operands.iter().map(|operand| wide(operand).collect()).collect();
        let (shape, sums) = summed(call, &equation, &operands, &items)?;
        (shape, Data::from_wide(dtype, sums.into_iter()))
    } else {
        let items = operands.iter().map(|operand| floats(operand)).collect::<Result<Vec<_>, EvalError>>()?;
        let (shape, sums) = summed(call, &equation, &operands, &items)?;
        (shape, Data::from_floats(dtype, sums.into_iter()))
    };
    one(Tensor::with(&shape, data)?)
}

fn summed<T: SumItem>(
    call: &NodeCall,
    equation: &Equation,
    operands: &[&Arc<Tensor>],
    items: &[impl AsRef<[T]>],
) -> Result<(Vec<usize>, Vec<T>), EvalError> {
    let shapes: Vec<Option<&[usize]>> = operands.iter().map(|operand| Some(operand.shape())).collect();
    let sizes = equation.sizes(&shapes).map_err(|found| {
        let [known, extent] = found.sizes;
        call.misfit(format!("an axis has extents {known} and {extent}"))
    })?;
    let operands = operands.iter().zip(items);
    let operands: Vec<Summand<T>> =
        operands.map(|(operand, items)| Summand { shape: operand.shape(), items: items.as_ref() }).collect();
    sum_of_products(call.budget, equation, sizes, &operands)
}
