//! Operators whose results depend on attributes or on the values of operands only.

use super::axes::{axis, product};
use super::elementwise::same;
use crate::extents::from_start;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::constant::{CONSTANT_FORMS, ConstantForm};
use crate::onnx::infer::InferCall;
use crate::onnx::infer::facts::TensorExtents;
use crate::onnx::infer::infer_call::{MAX_ITEMS, integers};
use crate::tensor::Data;

/// `Constant`
pub(crate) fn constant(call: &mut InferCall) -> Option<()> {
    if let Some(tensor) = call.tensor("value") {
        call.give_type(0, crate::onnx::infer::declared::of_constant(tensor));
        return Some(());
    }
    let (form, items) = plain_constant(call)?;
    call.give_element(0, form.element);
    call.give(0, form.shape(items.len()).into_iter().map(count).collect::<Vec<_>>());
    Some(())
}

/// The form and the items of `Constant` without a tensor.
fn plain_constant(call: &InferCall) -> Option<(&'static ConstantForm, Data)> {
    let given = |form: &'static ConstantForm| Some((form, form.items(&*call.attribute(form.attribute)?)?));
    CONSTANT_FORMS.iter().find_map(given)
}

/// The items of `Constant`. Those of tensors are read when they are needed.
pub(crate) fn constant_items(call: &mut InferCall) -> Option<()> {
    let (_, Data::Int64(items)) = plain_constant(call)? else { return None };
    call.give_items(0, items.into_iter().map(Dim::Int).collect::<Vec<_>>());
    Some(())
}

/// A number of items as an extent.
pub(crate) fn count(items: usize) -> Dim {
    Dim::from(i64::try_from(items).ok())
}

/// The shape that the items of an operand are: `ConstantOfShape` and others.
fn shape_from(call: &InferCall, operand: usize) -> Option<TensorExtents> {
    if let Some(items) = call.items(operand) {
        return Some(items.iter().cloned().map(natural).collect());
    }
    Some(vec![Dim::Unknown; call.listed_axes(operand)?].into())
}

/// `ConstantOfShape`: zeros of 32-bit floats unless there is a value.
pub(crate) fn constant_of_shape(call: &mut InferCall) -> Option<()> {
    let element = match call.tensor("value") {
        Some(value) => Element::numbered(value.data_type?.into())?,
        None => Element::Float32,
    };
    call.give_element(0, element);
    let shape = shape_from(call, 0)?;
    call.give(0, shape);
    Some(())
}

/// The items of `ConstantOfShape`.
pub(crate) fn filled_items(call: &mut InferCall) -> Option<()> {
    let items = usize::try_from(product(call.result_shape(0)?).known()?).ok().filter(|items| *items <= MAX_ITEMS)?;
    let value = *integers(call.tensor("value")?)?.first()?;
    call.give_items(0, vec![Dim::Int(value); items]);
    Some(())
}

/// `RandomNormal`, `RandomUniform`
pub(crate) fn random(call: &mut InferCall) -> Option<()> {
    call.give_element(0, Element::numbered(call.int_or("dtype", 1))?);
    let shape: Vec<Dim> = call.ints("shape")?.into_iter().map(Dim::Int).collect();
    call.give(0, shape);
    Some(())
}

/// `RandomNormalLike`, `RandomUniformLike`, `Bernoulli`, `EyeLike`
pub(crate) fn typed_like(call: &mut InferCall) -> Option<()> {
    if let Some(element) = call.int("dtype").and_then(Element::numbered).or_else(|| call.element(0)) {
        call.give_element(0, element);
    }
    same(call)
}

/// `Multinomial`
pub(crate) fn multinomial(call: &mut InferCall) -> Option<()> {
    call.give_element(0, Element::numbered(call.int_or("dtype", 6))?);
    call.give(0, [call.extent(0, 0), Dim::Int(call.int_or("sample_size", 1))]);
    Some(())
}

/// The range of axes that `Shape` tells.
fn told(call: &InferCall) -> Option<std::ops::Range<usize>> {
    let rank = i64::try_from(call.rank(0)?).ok()?;
    let bound = |value: i64| from_start(value, rank).clamp(0, rank);
    let (start, end) = (bound(call.int_or("start", 0)), bound(call.int_or("end", rank)));
    Some(usize::try_from(start).ok()?..usize::try_from(end.max(start)).ok()?)
}

/// `Shape`
pub(crate) fn shape(call: &mut InferCall) -> Option<()> {
    call.give(0, [told(call).map_or(Dim::Unknown, |axes| count(axes.len()))]);
    Some(())
}

/// The items of `Shape`.
pub(crate) fn shape_items(call: &mut InferCall) -> Option<()> {
    let items: TensorExtents = call.extents(0)?.get(told(call)?)?.into();
    call.give_items(0, items);
    Some(())
}

/// The item of `Size`.
pub(crate) fn size_items(call: &mut InferCall) -> Option<()> {
    let items = product(call.extents(0)?);
    call.give_items(0, [items]);
    Some(())
}

/// `Range`
pub(crate) fn range(call: &mut InferCall) -> Option<()> {
    call.give(0, [Dim::Unknown]);
    if let Some([start, limit, step]) = float_range(call) {
        let length = ((limit - start) / step).ceil().max(0.0);
        call.give(0, [if length < 9e15 { Dim::Int(length as i64) } else { Dim::Unknown }]);
        return Some(());
    }
    let (start, limit, step) = (call.item(0), call.item(1), call.item(2));
    let span = limit.minus(start.clone());
    let length = match step {
        Dim::Int(0) => return None,
        Dim::Int(by @ ..=-1) => span.negated().over_up(Dim::Int(by.checked_neg()?)),
        ref by if by.is_at_least(1) => span.over_up(by.clone()),
        _ => return None,
    };
    let length = length.max(Dim::Int(0));
    call.give(0, [length]);
    Some(())
}

/// The items of `Range`.
pub(crate) fn range_items(call: &mut InferCall) -> Option<()> {
    let (start, step) = (call.item(0), call.item(2));
    let length = call.result_shape(0)?.first()?.known()?;
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= MAX_ITEMS && call.element(0).is_some_and(Element::is_whole))?;
    let items = (0..length).map(|i| start.clone().plus(step.clone().times(count(i))));
    call.give_items(0, items.collect::<Vec<_>>());
    Some(())
}

fn float_range(call: &InferCall) -> Option<[f64; 3]> {
    let number = |operand: usize| call.floats(operand)?.first().copied();
    let numbers = [number(0)?, number(1)?, number(2)?];
    (numbers.iter().all(|number| number.is_finite()) && numbers[2] != 0.0).then_some(numbers)
}

/// `HannWindow` and others: an axis of so many items.
pub(crate) fn window(call: &mut InferCall) -> Option<()> {
    call.give_element(0, Element::numbered(call.int_or("output_datatype", 1))?);
    call.give(0, [natural(call.item(0))]);
    Some(())
}

/// A number as an extent: unknown if it may be negative.
pub(crate) fn natural(number: Dim) -> Dim {
    if number.is_at_least(0) { number } else { Dim::Unknown }
}

/// `MelWeightMatrix`
pub(crate) fn mel_weights(call: &mut InferCall) -> Option<()> {
    call.give_element(0, Element::numbered(call.int_or("output_datatype", 1))?);
    let bins = call.item(1).over(Dim::Int(2)).plus(Dim::Int(1));
    call.give(0, [natural(bins), natural(call.item(0))]);
    Some(())
}

/// `OneHot`
pub(crate) fn one_hot(call: &mut InferCall) -> Option<()> {
    let mut extents = call.extents(0)?.to_vec();
    let depth = match call.floats(1).as_deref() {
        Some([depth]) if *depth >= 0.0 && *depth < 9e15 => Dim::Int(*depth as i64),
        _ => natural(call.item(1)),
    };
    extents.insert(axis(call.int_or("axis", -1), extents.len() + 1)?, depth);
    call.give(0, extents);
    Some(())
}
