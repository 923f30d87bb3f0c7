//! Inference of the items of small tensors, such as extents.
//!
//! Documents of tract compute shapes with operations on tensors: `shape_of`, slices, arithmetic and concatenation. The
//! items of these tensors are computed while expanding; integers may be expressions on symbols.

use std::cmp::Ordering;
use std::sync::Arc;

use super::items::{Item, Items, MAX_ITEMS};
use super::shape_call::{Call, Role};
use crate::dictionary::{Deviation, ItemRule, Kernel};
use crate::graph::dims::Dim;
use crate::graph::{Operand, Primitive, TensorId, Value};

/// The items of the only result of an operation, by a rule.
fn by_rule(call: &Call, rule: ItemRule) -> Option<Items> {
    match rule {
        ItemRule::Constant => constant(call),
        ItemRule::Same => same(call),
        ItemRule::Slice => slice(call),
        ItemRule::Concat => concat(call),
        ItemRule::Gather => gather(call),
        ItemRule::Negated => unary(call, |item| Some(Item::Dim(whole(item)?.negated()))),
        ItemRule::Rounded => rounded(call, call.plan.row.function()?),
        ItemRule::NeverNegative | ItemRule::Magnitude => {
            unary(call, |item| item.dim().is_at_least(0).then(|| item.clone()))
        }
        ItemRule::Squared => unary(call, |item| Some(Item::Dim(whole(item)?.times(whole(item)?)))),
        ItemRule::Root => unary(call, |item| Some(Item::of_scalar(item.scalar()?.sqrt()))),
        ItemRule::Sum => binary(call, Dim::plus, |a, b| a + b),
        ItemRule::Difference => binary(call, Dim::minus, |a, b| a - b),
        ItemRule::Product => binary(call, Dim::times, |a, b| a * b),
        ItemRule::Quotient => quotient(call),
        ItemRule::Least => binary(call, Dim::min, f64::min),
        ItemRule::Greatest => binary(call, Dim::max, f64::max),
        ItemRule::Comparison => match call.plan.row.kernel {
            Some(Kernel::Compare(order)) => comparison(call, |ordering| order.holds(ordering)),
            _ => None,
        },
        ItemRule::Select => select(call),
        ItemRule::SumOfAll => fold(call, Dim::plus, Dim::Int(0)),
        ItemRule::ProductOfAll => fold(call, Dim::times, Dim::Int(1)),
        ItemRule::GreatestOfAll => extremes(call, Dim::max),
        ItemRule::LeastOfAll => extremes(call, Dim::min),
        ItemRule::ShapeOf => shape_of(call),
        ItemRule::Cast => cast(call),
        ItemRule::Range => range(call),
    }
}

/// An item as an integer, unless it is unknown.
fn whole(item: &Item) -> Option<Dim> {
    Some(item.dim()).filter(|dim| *dim != Dim::Unknown)
}

/// Rounds scalars; integers do not change.
fn rounded(call: &Call, round: fn(f64) -> f64) -> Option<Items> {
    unary(call, |item| match item {
        Item::Dim(_) => whole(item).map(Item::Dim),
        Item::Scalar(value) => Some(Item::of_scalar(round(*value))),
    })
}

/// The items of an argument.
fn items(call: &Call, operand: Operand) -> Option<Arc<Items>> {
    match operand {
        Operand::Tensor(tensor) => call.graph.values.get(&tensor).cloned(),
        Operand::Value(value @ (Value::Scalar(_) | Value::Scalars(_))) => {
            let scalars: &[f64] = match value {
                Value::Scalars(items) => items,
                Value::Scalar(item) => std::slice::from_ref(item),
                _ => &[],
            };
            Items::new(scalars.iter().map(|item| Item::of_scalar(*item)).collect(), true).map(Arc::new)
        }
        Operand::Value(Value::Logical(item)) => Items::dims([Dim::Int(i64::from(*item))]).map(Arc::new),
        Operand::Value(Value::Tuple(_) | Value::String(_) | Value::Tensor(_)) => None,
        operand => Items::dims(call.dims_of(operand)?).map(Arc::new),
    }
}

/// The items of the `i`th argument, and its rank.
fn argument(call: &Call, i: u32) -> Option<(Arc<Items>, usize)> {
    let items = items(call, call.argument(i)?).filter(|items| items.progression.is_none())?;
    Some((items, call.rank(i)?))
}

/// The items of the first argument, for operations that only change the shape.
fn same(call: &Call) -> Option<Items> {
    argument(call, 0).map(|(items, _)| Items::clone(&items))
}

/// The items of a constant; a single value is repeated.
fn constant(call: &Call) -> Option<Items> {
    let operand = call.named("value")?;
    let given = items(call, operand)?;
    let volume = call.ints(Role::Shape)?.iter().try_fold(1i64, |volume, extent| volume.checked_mul((*extent)?))?;
    let count = usize::try_from(volume).ok().filter(|count| *count <= MAX_ITEMS)?;
    match &given.items[..] {
        [item] => Items::new(vec![item.clone(); count], given.scalars),
        _ => Some(Items::clone(&given)),
    }
}

fn shape_of(call: &Call) -> Option<Items> {
    Items::dims(call.extents(0)?.iter().map(|extent| extent.dim()))
}

/// Conversions between integers, scalars and logicals.
fn cast(call: &Call) -> Option<Items> {
    let (items, _) = argument(call, 0)?;
    let to = match call.text("to") {
        Some(to) => to.to_ascii_lowercase(),
        None => match call.operation.dtype()? {
            Primitive::Integer => "i64".to_owned(),
            Primitive::Scalar => "f64".to_owned(),
            Primitive::Logical => "bool".to_owned(),
            Primitive::String | Primitive::Generic => return None,
        },
    };
    let scalars = to.starts_with('f') || to.starts_with("bf");
    let convert = |item: &Item| match item {
        Item::Dim(dim) if to == "bool" => match dim {
            Dim::Int(value) => Item::Dim(Dim::Int(i64::from(*value != 0))),
            dim if dim.is_at_least(1) => Item::Dim(Dim::Int(1)),
            _ => Item::Dim(Dim::Unknown),
        },
        Item::Scalar(value) if to == "bool" => Item::Dim(Dim::Int(i64::from(*value != 0.0))),
        Item::Scalar(value) if !scalars => Item::of_scalar(value.trunc()),
        item => item.clone(),
    };
    Items::new(items.items.iter().map(convert).collect(), scalars)
}

fn range(call: &Call) -> Option<Items> {
    let [start, end, step] = ["start", "end", "step"].map(|name| call.number(name));
    let step = step.known().filter(|step| *step != 0)?;
    let (Dim::Int(start), Dim::Int(end)) = (&start, end) else {
        let progression = Some((start, step)).filter(|(start, _)| *start != Dim::Unknown);
        return Some(Items { items: Vec::new(), scalars: false, progression });
    };
    let count = (i128::from(end) - i128::from(*start)).unsigned_abs().div_ceil(u128::from(step.unsigned_abs()));
    let count = i64::try_from(count).ok().filter(|count| *count <= MAX_ITEMS as i64)?;
    Items::dims((0..count).map(|i| Dim::from(step.checked_mul(i).and_then(|offset| start.checked_add(offset)))))
}

/// A slice of a tensor with one axis.
fn slice(call: &Call) -> Option<Items> {
    let items = items(call, call.argument(0)?)?;
    let rank = call.rank(0)?;
    let one = |role: Role, absent: i64| match call.ints(role)?[..] {
        [] => Some(absent),
        [item] => item,
        _ => None,
    };
    let (axis, begin, end, stride) =
        (one(Role::Axes, -1)?, one(Role::Begin, 0)?, one(Role::End, 0)?, one(Role::Stride, 1)?);
    if let (Some((start, step)), 0, 0.., 1, true) = (items.progression.clone(), axis, begin, stride, begin < end) {
        let part = (begin..end).take(MAX_ITEMS);
        return Items::dims(part.map(|i| start.clone().plus(Dim::Int(step).times(Dim::Int(i)))));
    }
    let count = i64::try_from(items.items.len()).ok()?;
    let place = |at: i64| if at < 0 { at + count } else { at }.clamp(0, count);
    let end = match end {
        0 if begin == 0 && call.deviates(Deviation::CutFirst) => 0,
        0 => count,
        end => place(end),
    };
    if axis != 0 || rank != 1 || stride < 1 {
        return None;
    }
    let part = items.items.get(place(begin) as usize..end as usize)?;
    Items::new(part.iter().step_by(stride as usize).cloned().collect(), items.scalars)
}

/// The concatenation of tensors with at most one axis.
fn concat(call: &Call) -> Option<Items> {
    let operand = call.argument(0)?;
    if call.int(Role::Axis)? != 0 || call.list(0)?.iter().any(|shape| shape.is_none_or(|shape| shape.len() > 1)) {
        return None;
    }
    if let Operand::Tensors(tensors) = operand {
        let parts = tensors.iter().map(|tensor| call.graph.values.get(tensor));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let scalars = parts.iter().any(|part| part.scalars);
        return Items::new(parts.iter().flat_map(|part| part.items.iter().cloned()).collect(), scalars);
    }
    Items::dims(call.dims_of(operand)?)
}

/// Items of a tensor with one axis, by their indices.
fn gather(call: &Call) -> Option<Items> {
    let (items, _) = argument(call, 0).filter(|(_, rank)| *rank == 1)?;
    let (indices, _) = argument(call, 1)?;
    let count = items.items.len() as i64;
    let at = |index: &Item| {
        let index = index.dim().known()?;
        items.items.get(usize::try_from(if index < 0 { index + count } else { index }).ok()?).cloned()
    };
    Items::new(indices.items.iter().map(at).collect::<Option<_>>()?, items.scalars)
}

/// Applies a function to each item of the first argument.
fn unary(call: &Call, f: impl Fn(&Item) -> Option<Item>) -> Option<Items> {
    let (items, _) = argument(call, 0)?;
    let unknown = Item::Dim(Dim::Unknown);
    let item = |item: &Item| f(item).unwrap_or(unknown.clone());
    Items::new(items.items.iter().map(item).collect(), items.scalars)
}

/// The pairs of items of two arguments; a single item is broadcast.
fn pairs(call: &Call) -> Option<(Vec<(Item, Item)>, bool)> {
    let ((a, a_rank), (b, b_rank)) = (argument(call, 0)?, argument(call, 1)?);
    let count = match (a.items.len(), b.items.len()) {
        (1, count) if a_rank <= 1 => count,
        (count, 1) if b_rank <= 1 => count,
        (count, other) if count == other && a_rank == b_rank => count,
        _ => return None,
    };
    let at = |items: &[Item], i: usize| if items.len() == 1 { items[0].clone() } else { items[i].clone() };
    // A literal number has the type of the tensor operand.
    let tensor = |i: u32| matches!(call.argument(i), Some(Operand::Tensor(_)));
    let scalars = match (tensor(0), tensor(1)) {
        (true, false) => a.scalars,
        (false, true) => b.scalars,
        _ => a.scalars || b.scalars,
    };
    Some(((0..count).map(|i| (at(&a.items, i), at(&b.items, i))).collect(), scalars))
}

fn binary(call: &Call, on_dims: impl Fn(Dim, Dim) -> Dim, on_scalars: impl Fn(f64, f64) -> f64) -> Option<Items> {
    let (pairs, scalars) = pairs(call)?;
    let item = |(a, b): (Item, Item)| match (a, b) {
        (Item::Dim(a), Item::Dim(b)) => Item::Dim(on_dims(a, b)),
        (a, b) => match a.scalar().zip(b.scalar()) {
            Some((a, b)) if scalars => Item::of_scalar(on_scalars(a, b)),
            _ => Item::Dim(Dim::Unknown),
        },
    };
    Items::new(pairs.into_iter().map(item).collect(), scalars)
}

/// Quotients of integers are rounded towards 0, those of scalars are exact.
fn quotient(call: &Call) -> Option<Items> {
    let (pairs, scalars) = pairs(call)?;
    let item = |(a, b): (Item, Item)| match (a, b) {
        (Item::Dim(a), Item::Dim(b)) if !scalars => Item::Dim(a.divided_by(b)),
        (a, b) if scalars => match a.scalar().zip(b.scalar()) {
            Some((a, b)) => Item::of_scalar(a / b),
            None => Item::Dim(a.dim().exactly_over(b.dim())),
        },
        _ => Item::Dim(Dim::Unknown),
    };
    Items::new(pairs.into_iter().map(item).collect(), scalars)
}

fn comparison(call: &Call, holds: impl Fn(Ordering) -> bool) -> Option<Items> {
    let (pairs, _) = pairs(call)?;
    let item = |(a, b): (Item, Item)| {
        let ordering = match (a, b) {
            (Item::Dim(a), Item::Dim(b)) => a.compare(&b),
            (a, b) => a.scalar()?.partial_cmp(&b.scalar()?),
        };
        Some(Dim::Int(i64::from(holds(ordering?))))
    };
    Items::dims(pairs.into_iter().map(|pair| item(pair).unwrap_or(Dim::Unknown)))
}

/// Items chosen by a known condition. If the condition is unknown, items that are equal on both sides.
fn select(call: &Call) -> Option<Items> {
    let ((yes, _), (no, _)) = (argument(call, 1)?, argument(call, 2)?);
    let condition = argument(call, 0).map(|(items, _)| items);
    let count = yes.items.len().max(no.items.len()).max(condition.as_ref().map_or(0, |items| items.items.len()));
    let at = |items: &[Item], i: usize| if items.len() == 1 { items.first() } else { items.get(i) }.cloned();
    let item = |i: usize| {
        let (yes, no) = (at(&yes.items, i)?, at(&no.items, i)?);
        Some(match condition.as_ref().and_then(|items| at(&items.items, i)) {
            Some(Item::Dim(Dim::Int(0))) => no,
            Some(Item::Dim(Dim::Int(_))) => yes,
            _ if yes == no => yes,
            _ => Item::Dim(Dim::Unknown),
        })
    };
    Items::new((0..count).map(item).collect::<Option<_>>()?, yes.scalars || no.scalars)
}

/// Reduces all items of a tensor with one axis to a single item.
fn fold(call: &Call, f: impl Fn(Dim, Dim) -> Dim, first: Dim) -> Option<Items> {
    let (items, _) = argument(call, 0).filter(|(_, rank)| *rank == 1)?;
    if call.ints(Role::Axes)?[..] != [Some(0)] || call.is_set("normalize") {
        return None;
    }
    // Scalars are combined where no order of steps rounds them.
    let is_exact = |dim: &Dim| !items.scalars || dim.known().is_some_and(|dim| dim.unsigned_abs() <= MOST_EXACT);
    let step = |all: Dim, item: &Item| Some(f(all, item.dim())).filter(is_exact);
    let all = items.items.iter().try_fold(first, step)?;
    Items::new(vec![Item::Dim(all)], items.scalars)
}

/// The largest number up to which all integers are floats of 32 bits.
const MOST_EXACT: u64 = 1 << f32::MANTISSA_DIGITS;

fn extremes(call: &Call, f: impl Fn(Dim, Dim) -> Dim) -> Option<Items> {
    let (items, _) = argument(call, 0)?;
    fold(call, f, items.items.first()?.dim())
}

impl Call<'_> {
    /// Whether a logical attribute is true or unknown.
    fn is_set(&self, name: &str) -> bool {
        self.named(name).is_some_and(|operand| operand.value() != Some(&Value::Logical(false)))
    }

    /// The items of the result of an operation, if any is known, and their number is that of the shape.
    pub(super) fn value(&self, rule: ItemRule, result: TensorId) -> Option<Items> {
        let items = by_rule(self, rule)?;
        let shape = self.graph.shape(result)?;
        let volume = shape.extents().iter().try_fold(1i64, |volume, extent| volume.checked_mul(extent.known()?));
        if items.progression.is_some() {
            return Some(items);
        }
        let volume = volume?;
        Some(items).filter(|items| {
            let useful = items.items.iter().any(|item| *item != Item::Dim(Dim::Unknown));
            useful && i64::try_from(items.items.len()) == Ok(volume)
        })
    }
}
