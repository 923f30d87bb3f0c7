//! Operands whose known shapes do not go together: a node with them fails when it runs.

use super::axes::{self, axis};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::rules::arrange::listed;

/// The version of the standard from which on operands are broadcast.
const BROADCASTS: i64 = 7;

/// Whether two extents are different numbers.
fn differ(a: &Dim, b: &Dim) -> bool {
    a.known().zip(b.known()).is_some_and(|(a, b)| a != b)
}

fn last(extents: &[Dim], from_end: usize) -> Option<&Dim> {
    extents.get(extents.len().checked_sub(from_end)?)
}

/// Whether the shapes of operands cannot be broadcast to one.
pub(crate) fn broadcast(call: &InferCall) -> bool {
    // Before, an attribute told which axes of the first operand the second one has.
    if call.version() < BROADCASTS {
        return false;
    }
    let mut shape: Vec<Dim> = Vec::new();
    let known = (0..call.operand_count()).filter_map(|i| call.extents(i));
    for extents in known {
        match axes::broadcast(&shape, extents) {
            Some(next) => shape = next,
            None => return true,
        }
    }
    false
}

/// `Expand`: the shape is an operand.
pub(crate) fn expand(call: &InferCall) -> bool {
    let both = call.extents(0).zip(call.items(1));
    both.is_some_and(|(extents, items)| axes::broadcast(extents, &items).is_none())
}

/// `MatMul`
pub(crate) fn matmul(call: &InferCall) -> bool {
    let Some((a, b)) = call.extents(0).zip(call.extents(1)) else { return false };
    let row = if b.len() > 1 { last(b, 2) } else { last(b, 1) };
    let leads = (a.get(..a.len().saturating_sub(2)), b.get(..b.len().saturating_sub(2)));
    let leads = leads.0.zip(leads.1).is_some_and(|(a, b)| axes::broadcast(a, b).is_none());
    leads || a.is_empty() || b.is_empty() || last(a, 1).zip(row).is_some_and(|(a, b)| differ(a, b))
}

/// `Gemm`
pub(crate) fn gemm(call: &InferCall) -> bool {
    let is_matrix = |i: usize| call.rank(i).is_none_or(|rank| rank == 2);
    let transposed = |name: &str| usize::from(call.int_or(name, 0) != 0);
    let (inner, outer) = (1 - transposed("transA"), transposed("transB"));
    !is_matrix(0) || !is_matrix(1) || differ(&call.extent(0, inner), &call.extent(1, outer))
}

/// `Reshape`: the number of items stays.
pub(crate) fn reshape(call: &InferCall) -> bool {
    let (Some(own), Some(target)) = (call.extents(0), call.items(1)) else { return false };
    let copies = call.int_or("allowzero", 0) == 0;
    let mut rest = false;
    let mut product = Some(1i64);
    for (i, item) in target.iter().enumerate() {
        let extent = match item.known() {
            Some(-1) => {
                rest = true;
                continue;
            }
            Some(0) if copies => call.extent(0, i).known(),
            other => other,
        };
        product = product.zip(extent).and_then(|(product, extent)| product.checked_mul(extent));
    }
    let (Some(items), Some(product)) = (axes::product(own).known(), product) else { return false };
    if rest { product != 0 && items.checked_rem(product) != Some(0) } else { items != product }
}

/// `Squeeze`: an axis that is removed has one item.
pub(crate) fn squeeze(call: &InferCall) -> bool {
    let (Some(own), Some(listed)) = (call.extents(0), listed(call, 1, "axes")) else { return false };
    let at = |number: &i64| axis(*number, own.len()).and_then(|at| own.get(at));
    listed.iter().any(|number| at(number).is_none_or(|extent| extent.known().is_some_and(|extent| extent != 1)))
}

/// `Transpose`
pub(crate) fn transpose(call: &InferCall) -> bool {
    call.rank(0).zip(call.ints("perm")).is_some_and(|(rank, perm)| perm.len() != rank)
}

/// `Concat`: all extents but that of the axis are the same.
pub(crate) fn concat(call: &InferCall) -> bool {
    let shapes: Vec<&[Dim]> = (0..call.operand_count()).filter_map(|i| call.extents(i)).collect();
    let Some((first, rest)) = shapes.split_first() else { return false };
    let Some(at) = call.int("axis").map(|number| axis(number, first.len())) else { return false };
    let differs = |(i, (a, b)): (usize, (&Dim, &Dim))| Some(i) != at && differ(a, b);
    at.is_none()
        || rest.iter().any(|other| other.len() != first.len() || first.iter().zip(*other).enumerate().any(differs))
}

/// `Conv`: one weight for each channel of a group.
pub(crate) fn conv(call: &InferCall) -> bool {
    let ranks = call.rank(0).zip(call.rank(1)).is_some_and(|(a, b)| a != b);
    ranks || differ(&call.extent(0, 1), &call.extent(1, 1).times(Dim::Int(call.int_or("group", 1))))
}

/// `LSTM`, `GRU`, `RNN`
pub(crate) fn recurrent(call: &InferCall) -> bool {
    let is_stack = |i: usize| call.rank(i).is_none_or(|rank| rank == 3);
    let batch = usize::from(call.int_or("layout", 0) == 0);
    let initial = || call.extents(5).and_then(|extents| extents.get(batch));
    !is_stack(0)
        || !is_stack(1)
        || differ(&call.extent(0, 2), &call.extent(1, 2))
        || initial().is_some_and(|initial| differ(initial, &call.extent(0, batch)))
}

/// `Gather`: the axis and the indices are those of items.
pub(crate) fn gather(call: &InferCall) -> bool {
    let Some(own) = call.extents(0) else { return false };
    let Some(at) = axis(call.int_or("axis", 0), own.len()) else { return true };
    let Some(extent) = own[at].known() else { return false };
    let items = call.items(1);
    let outside = |index: i64| index >= extent || index < extent.saturating_neg();
    items.iter().flat_map(|items| items.iter()).filter_map(Dim::known).any(outside)
}

/// Operators with an attribute `axis` that counts the axes of the first operand.
pub(crate) fn axis_of(call: &InferCall) -> bool {
    call.rank(0).zip(call.int("axis")).is_some_and(|(rank, number)| axis(number, rank).is_none())
}

/// Reductions.
pub(crate) fn reduced(call: &InferCall) -> bool {
    let both = call.rank(0).zip(listed(call, 1, "axes"));
    both.is_some_and(|(rank, axes)| axes.iter().any(|number| axis(*number, rank).is_none()))
}
