//! Products of matrices.

use super::axes::broadcast;
use crate::extents::{Formula, is_letter};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The shape of a product of two stacks of matrices; vectors are rows on the left and columns on the right.
fn product(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (row, lead_a) = match a {
        [] => return None,
        [_] => (None, &a[..0]),
        [lead @ .., row, _] => (Some(row), lead),
    };
    let (column, lead_b) = match b {
        [] => return None,
        [_] => (None, &b[..0]),
        [lead @ .., _, column] => (Some(column), lead),
    };
    let mut shape = broadcast(lead_a, lead_b)?;
    shape.extend(row.cloned());
    shape.extend(column.cloned());
    Some(shape)
}

/// `MatMul`, `MatMulInteger`
pub(crate) fn matmul(call: &mut InferCall) -> Option<()> {
    let shape = product(call.extents(0)?, call.extents(1)?)?;
    call.give(0, shape);
    Some(())
}

/// `QLinearMatMul`
pub(crate) fn quantized_matmul(call: &mut InferCall) -> Option<()> {
    let shape = product(call.extents(0)?, call.extents(3)?)?;
    call.give(0, shape);
    Some(())
}

/// `Gemm`
pub(crate) fn gemm(call: &mut InferCall) -> Option<()> {
    let at = |name: &str, plain: usize| if call.int_or(name, 0) == 0 { plain } else { 1 - plain };
    if call.rank(0).is_some_and(|rank| rank != 2) || call.rank(1).is_some_and(|rank| rank != 2) {
        return None;
    }
    let shape = [call.extent(0, at("transA", 0)), call.extent(1, at("transB", 1))];
    call.give(0, shape);
    Some(())
}

/// `Det`
pub(crate) fn det(call: &mut InferCall) -> Option<()> {
    let [lead @ .., _, _] = call.extents(0)? else { return None };
    let shape = lead.to_vec();
    call.give(0, shape);
    Some(())
}

/// `Einsum`
pub(crate) fn einsum(call: &mut InferCall) -> Option<()> {
    let formula = Formula::read(&call.text("equation")?, is_letter).ok()?;
    let shapes = (0..formula.operands.len()).map(|i| call.extents(i)).collect::<Option<Vec<&[Dim]>>>()?;
    let equation = formula.of_ranks(&shapes.iter().map(|shape| shape.len()).collect::<Vec<_>>()).ok()?;
    let sizes = equation.sizes(&shapes.into_iter().map(Some).collect::<Vec<_>>()).ok()?;
    let shape = equation.result.iter().map(|axis| sizes.get(axis).cloned()).collect::<Option<Vec<Dim>>>()?;
    call.give(0, shape);
    Some(())
}
