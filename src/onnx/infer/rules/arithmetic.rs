//! The items of small integer tensors that are computed from items.

use std::cmp::Ordering;

use super::axes::product;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::call::MAX_ITEMS;

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

fn folded(call: &mut InferCall, f: fn(Dim, Dim) -> Dim) -> Option<()> {
    if !is_exact(call) {
        return None;
    }
    each(call, |row| row.iter().cloned().reduce(f).unwrap_or(Dim::Unknown))
}

/// The items of `Add` and `Sum`.
pub(crate) fn add(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::plus)
}

/// The items of `Sub`.
pub(crate) fn sub(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::minus)
}

/// The items of `Mul`.
pub(crate) fn mul(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::times)
}

/// The items of `Div`, which rounds towards 0.
pub(crate) fn div(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::divided_by)
}

/// The items of `Min`.
pub(crate) fn min(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::min)
}

/// The items of `Max`.
pub(crate) fn max(call: &mut InferCall) -> Option<()> {
    folded(call, Dim::max)
}

/// The items of `Neg`.
pub(crate) fn neg(call: &mut InferCall) -> Option<()> {
    if !is_exact(call) {
        return None;
    }
    each(call, |row| row.first().map_or(Dim::Unknown, |item| item.clone().negated()))
}

/// The items of `Abs`.
pub(crate) fn abs(call: &mut InferCall) -> Option<()> {
    if !is_exact(call) {
        return None;
    }
    each(call, |row| match row.first() {
        Some(Dim::Int(value)) => Dim::from(value.checked_abs()),
        Some(item) if item.is_at_least(0) => item.clone(),
        Some(item) => item.clone().max(item.clone().negated()),
        None => Dim::Unknown,
    })
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

fn truth(value: Option<bool>) -> Dim {
    value.map(i64::from).into()
}

fn compared(call: &mut InferCall, test: impl Fn(Ordering) -> bool) -> Option<()> {
    // Symbols may have any value: an order that depends on them is unknown.
    each(call, |row| match row {
        [a, b] => truth(a.clone().compare(b.clone()).map(&test)),
        _ => Dim::Unknown,
    })
}

/// The items of `Equal`. Numbers that are never equal need not have a known order.
pub(crate) fn equal(call: &mut InferCall) -> Option<()> {
    compared(call, Ordering::is_eq)
}

/// The items of `Less`.
pub(crate) fn less(call: &mut InferCall) -> Option<()> {
    bounded(call, |a, b| (a, b), 1)
}

/// The items of `LessOrEqual`.
pub(crate) fn less_or_equal(call: &mut InferCall) -> Option<()> {
    bounded(call, |a, b| (a, b), 0)
}

/// The items of `Greater`.
pub(crate) fn greater(call: &mut InferCall) -> Option<()> {
    bounded(call, |a, b| (b, a), 1)
}

/// The items of `GreaterOrEqual`.
pub(crate) fn greater_or_equal(call: &mut InferCall) -> Option<()> {
    bounded(call, |a, b| (b, a), 0)
}

/// Whether `high - low` is at least `least`.
fn bounded(call: &mut InferCall, order: fn(Dim, Dim) -> (Dim, Dim), least: i64) -> Option<()> {
    each(call, |row| {
        let [a, b] = row else { return Dim::Unknown };
        let (low, high) = order(a.clone(), b.clone());
        if high.clone().minus(low.clone()).is_at_least(least) {
            return Dim::Int(1);
        }
        truth(low.minus(high).is_at_least(1 - least).then_some(false))
    })
}

/// The items of `Not`.
pub(crate) fn not(call: &mut InferCall) -> Option<()> {
    each(call, |row| truth(row.first().and_then(Dim::known).map(|value| value == 0)))
}

/// The items of `And`.
pub(crate) fn and(call: &mut InferCall) -> Option<()> {
    each(call, |row| match row {
        [Dim::Int(0), _] | [_, Dim::Int(0)] => Dim::Int(0),
        [Dim::Int(_), Dim::Int(_)] => Dim::Int(1),
        _ => Dim::Unknown,
    })
}

/// The items of `Or`.
pub(crate) fn or(call: &mut InferCall) -> Option<()> {
    each(call, |row| match row {
        [Dim::Int(a), _] | [_, Dim::Int(a)] if *a != 0 => Dim::Int(1),
        [Dim::Int(_), Dim::Int(_)] => Dim::Int(0),
        _ => Dim::Unknown,
    })
}

/// The items of `Where`.
pub(crate) fn choose(call: &mut InferCall) -> Option<()> {
    each(call, |row| match row {
        [_, a, b] if a == b => a.clone(),
        [Dim::Int(condition), a, b] => if *condition != 0 { a } else { b }.clone(),
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
