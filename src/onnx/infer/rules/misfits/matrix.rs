//! Products of matrices.

use super::differ;
use super::{Misfit, named, rank, ranks, same};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::rules::axes;

fn last(extents: &[Dim], from_end: usize) -> Option<&Dim> {
    extents.get(extents.len().checked_sub(from_end)?)
}

/// The matrices of two operands cannot be multiplied.
fn product(call: &InferCall, first: usize, second: usize) -> Misfit {
    let (a, b) = (call.extents(first)?, call.extents(second)?);
    let row = if b.len() > 1 { last(b, 2) } else { last(b, 1) };
    let leads = (a.get(..a.len().saturating_sub(2)), b.get(..b.len().saturating_sub(2)));
    let leads = leads.0.zip(leads.1).is_some_and(|(a, b)| axes::broadcast(a, b).is_none());
    let fails = leads || a.is_empty() || b.is_empty() || last(a, 1).zip(row).is_some_and(|(a, b)| differ(a, b));
    fails.then(|| format!("{} and {} cannot be multiplied", named(call, first), named(call, second)))
}

/// `MatMul`, `MatMulInteger`
pub(crate) fn matmul(call: &InferCall) -> Misfit {
    product(call, 0, 1)
}

/// `QLinearMatMul`
pub(crate) fn quantized_matmul(call: &InferCall) -> Misfit {
    product(call, 0, 3)
}

/// `Gemm`
pub(crate) fn gemm(call: &InferCall) -> Misfit {
    let transposed = |name: &str| usize::from(call.int_or(name, 0) != 0);
    let (inner, outer) = (1 - transposed("transA"), transposed("transB"));
    ranks(call, &[0, 1], 2).or_else(|| same(call, &[(0, inner), (1, outer)])).or_else(|| {
        let bias = call.extents(2).filter(|_| call.version() >= 7)?;
        let shape = [call.extent(0, 1 - inner), call.extent(1, 1 - outer)];
        let spread = axes::broadcast(&shape, bias);
        let fits =
            spread.is_some_and(|spread| spread.len() == 2 && !spread.iter().zip(&shape).any(|(a, b)| differ(a, b)));
        (!fits).then(|| {
            format!("{} cannot be added to a product of {} and {}", named(call, 2), named(call, 0), named(call, 1))
        })
    })
}

/// `Det`
pub(crate) fn det(call: &InferCall) -> Misfit {
    rank(call, 0, 2..=usize::MAX).or_else(|| {
        let axes = call.rank(0)?;
        same(call, &[(0, axes - 2), (0, axes - 1)]).map(|_| format!("{} is not a square matrix", named(call, 0)))
    })
}

/// `Trilu`
pub(crate) fn trilu(call: &InferCall) -> Misfit {
    rank(call, 0, 2..=usize::MAX)
}
