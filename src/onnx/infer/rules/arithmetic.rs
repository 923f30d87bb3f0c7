//! The items of small integer tensors that are computed from items.

use super::axes::product;
use crate::dictionary::{Kernel, Row};
use crate::graph::Element;
use crate::graph::dims::{Dim, computed};
use crate::onnx::infer::InferCall;
use crate::onnx::infer::infer_call::MAX_ITEMS;

/// The items of an operand with its extents, which are all known.
struct Items {
    extents: Vec<i64>,
    items: std::sync::Arc<[Dim]>,
}

fn items_of(call: &InferCall, operand: usize) -> Option<Items> {
    let extents: Vec<i64> = call.extents(operand)?.iter().map(Dim::known).collect::<Option<_>>()?;
    let items = call.items(operand)?;
    let count = product(call.extents(operand)?).known()?;
    (usize::try_from(count).ok()? == items.len()).then_some(Items { extents, items })
}

impl Items {
    /// The item that a place in the result reads.
    fn at(&self, place: &[i64]) -> Option<&Dim> {
        let lead = place.len().checked_sub(self.extents.len())?;
        let mut at = 0i64;
        for (index, extent) in place.get(lead..)?.iter().zip(&self.extents) {
            at = at.checked_mul(*extent)?.checked_add(if *extent == 1 { 0 } else { *index })?;
        }
        self.items.get(usize::try_from(at).ok()?)
    }
}

/// Moves to the next place in row-major order.
fn advance(place: &mut [i64], extents: &[i64]) {
    for (index, extent) in place.iter_mut().zip(extents).rev() {
        *index += 1;
        if *index < *extent {
            return;
        }
        *index = 0;
    }
}

/// Sets the items of the result, which are computed from the items of the operands at each place.
fn each(call: &mut InferCall, compute: impl Fn(&[Dim]) -> Dim) -> Option<()> {
    spread(call, call.operand_count(), compute)
}

/// [`each`] for the first `count` operands.
fn spread(call: &mut InferCall, operands: usize, compute: impl Fn(&[Dim]) -> Dim) -> Option<()> {
    let extents: Vec<i64> = call.result_shape(0)?.iter().map(Dim::known).collect::<Option<_>>()?;
    let count = extents.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))?;
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_ITEMS)?;
    let operands: Vec<Items> = (0..operands).map(|i| items_of(call, i)).collect::<Option<_>>()?;
    let mut place = vec![0; extents.len()];
    let mut items = Vec::with_capacity(count);
    for _ in 0..count {
        let row: Vec<Dim> =
            operands.iter().map(|operand| operand.at(&place).cloned().unwrap_or(Dim::Unknown)).collect();
        items.push(compute(&row));
        advance(&mut place, &extents);
    }
    call.give_items(0, items);
    Some(())
}

/// Whether the result is computed in 64 bits, or in 32 bits with values that fit.
pub(super) fn is_exact(call: &InferCall) -> bool {
    matches!(call.result_element(0), Some(Element::Int64 | Element::Int32))
}

/// The items of an operator that computes item by item what a row of the dictionary says.
pub(in crate::onnx::infer) fn by_meaning(call: &mut InferCall, row: &Row) -> Option<()> {
    match row.kernel? {
        Kernel::Arithmetic(_) | Kernel::Number(..) if !is_exact(call) => None,
        _ => each(call, |items| computed(row, items)),
    }
}

/// The items of `Mod`: the sign is that of the divisor, or with `fmod` that of the dividend.
pub(crate) fn modulo(call: &mut InferCall) -> Option<()> {
    let truncates = call.int_or("fmod", 0) != 0;
    if !is_exact(call) {
        return None;
    }
    each(call, |row| match row {
        [a, b] if b.is_at_least(1) => {
            let quotient = if truncates { a.clone().divided_by(b.clone()) } else { a.clone().over(b.clone()) };
            a.clone().minus(quotient.times(b.clone()))
        }
        [Dim::Int(a), Dim::Int(b)] if truncates => a.checked_rem(*b).into(),
        [Dim::Int(a), Dim::Int(b)] => {
            let rest = |rest: i64| if rest != 0 && (rest < 0) != (*b < 0) { rest + b } else { rest };
            a.checked_rem(*b).map(rest).into()
        }
        _ => Dim::Unknown,
    })
}

/// The items of an operator that only changes the shape.
pub(crate) fn same_items(call: &mut InferCall) -> Option<()> {
    let items = call.items(0)?;
    call.give_items(0, items);
    Some(())
}

/// The items of `Expand`: those of the operand, repeated along the new extents.
pub(crate) fn expanded(call: &mut InferCall) -> Option<()> {
    spread(call, 1, |row| row.first().cloned().unwrap_or(Dim::Unknown))
}
