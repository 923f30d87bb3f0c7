//! Einstein summation: sums of products along axes named by letters.

use ndarray::{ArrayD, Dimension, IxDyn, indices};

use crate::eval::array::scalars;
use crate::eval::call::{Call, KernelResult};
use crate::eval::error::EvalError;
use crate::graph::shapes::Einsum;
use crate::tensor::DType;
use crate::tensor::kernels::sum;

use super::{like, unfit};

pub(in crate::eval) fn einsum(call: &Call) -> KernelResult {
    let text = call.string("expr")?;
    let expression = Einsum::read(text);
    let expression =
        expression.ok_or_else(|| EvalError::argument(format!("`{text}` is not an expression of einsum")))?;
    let operands = call.tensors("inputs")?;
    let whole = operands.iter().all(|operand| operand.dtype() == DType::Int64);
    let arrays: Vec<ArrayD<f64>> = operands.iter().map(|operand| scalars(operand)).collect();
    let output = summed(call, &arrays, &expression)?;
    Ok(vec![like(output, if whole { DType::Int64 } else { DType::Float64 })?])
}

/// The letters of all axes with their extents, those of the result first.
fn sizes(call: &Call, arrays: &[ArrayD<f64>], expression: &Einsum) -> Result<Vec<(char, usize)>, EvalError> {
    let shapes: Vec<&[usize]> = arrays.iter().map(|array| array.shape()).collect();
    let mut sizes: Vec<(char, usize)> = expression.result.iter().map(|letter| (*letter, 1)).collect();
    for (shape, letters) in shapes.iter().zip(&expression.operands) {
        if shape.len() != letters.len() {
            return Err(unfit(call, &shapes));
        }
        for (letter, extent) in letters.iter().zip(*shape) {
            match sizes.iter_mut().find(|(known, _)| known == letter) {
                None => sizes.push((*letter, *extent)),
                Some((_, size)) if *size == 1 => *size = *extent,
                Some((_, size)) if *extent == 1 || size == extent => {}
                Some(_) => return Err(unfit(call, &shapes)),
            }
        }
    }
    Ok(sizes)
}

fn summed(call: &Call, arrays: &[ArrayD<f64>], expression: &Einsum) -> Result<ArrayD<f64>, EvalError> {
    if expression.operands.len() != arrays.len() {
        let count = arrays.len();
        return Err(EvalError::argument(format!("`{}` has {count} operands, its expression others", call.name())));
    }
    let sizes = sizes(call, arrays, expression)?;
    let all: Vec<usize> = sizes.iter().map(|(_, size)| *size).collect();
    let outer = expression.result.len();
    let count = call.budget().room(&all[..outer])?;
    let inner: usize = all[outer..].iter().product();
    call.budget().product(count, inner.max(1))?;
    // The stride of each operand along each letter; 0 for an extent of 1, which is broadcast.
    let steps: Vec<Vec<usize>> = arrays
        .iter()
        .zip(&expression.operands)
        .map(|(array, letters)| {
            let step = |letter: char| {
                letters
                    .iter()
                    .zip(array.shape())
                    .zip(strides(array.shape()))
                    .filter(|((own, extent), _)| **own == letter && **extent > 1)
                    .map(|(_, stride)| stride)
                    .sum()
            };
            sizes.iter().map(|(letter, _)| step(*letter)).collect()
        })
        .collect();
    let items: Vec<Vec<f64>> = arrays.iter().map(|array| array.iter().copied().collect()).collect();
    let place = |steps: &[usize], at: &[usize]| steps.iter().zip(at).map(|(step, at)| step * at).sum::<usize>();
    let mut output = ArrayD::zeros(IxDyn(&all[..outer]));
    let sums = indices(IxDyn(&all[outer..]));
    let inner: Vec<Vec<usize>> =
        sums.into_iter().map(|at| steps.iter().map(|steps| place(&steps[outer..], at.slice())).collect()).collect();
    for (at, result) in output.indexed_iter_mut() {
        let starts: Vec<usize> = steps.iter().map(|steps| place(&steps[..outer], at.slice())).collect();
        *result = sum(inner.iter().map(|offsets| {
            let factor = |((items, start), offset): ((&Vec<f64>, &usize), &usize)| items[start + offset];
            items.iter().zip(&starts).zip(offsets).map(factor).product::<f64>()
        }));
    }
    Ok(output)
}

/// The row-major strides of a shape.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The matrix product along the axes `[m, k]` of the first operand and `[k, n]` of the second, with the axes `[m, n]`
/// of the result; `axes` lists their numbers in this order.
pub(in crate::eval) fn product(call: &Call) -> KernelResult {
    let (a, b) = (call.scalars("A")?, call.scalars("B")?);
    let axes = call.naturals("axes")?;
    let wrong = || unfit(call, &[a.shape(), b.shape()]);
    let [rows, sums, b_sums, columns, to_rows, to_columns] = axes[..] else { return Err(wrong()) };
    let rank = a.ndim();
    if b.ndim() != rank || axes.iter().any(|axis| *axis >= rank) {
        return Err(wrong());
    }
    let letters = |named: &[(usize, char)]| -> Vec<char> {
        let mut batch = 'a'..;
        let letter = |axis| named.iter().find(|(own, _)| *own == axis).map(|(_, letter)| *letter);
        (0..rank).map(|axis| letter(axis).unwrap_or_else(|| batch.next().unwrap_or('a'))).collect()
    };
    let operands = vec![letters(&[(rows, 'M'), (sums, 'K')]), letters(&[(b_sums, 'K'), (columns, 'N')])];
    let expression = Einsum { operands, result: letters(&[(to_rows, 'M'), (to_columns, 'N')]) };
    super::one(summed(call, &[a, b], &expression)?)
}
