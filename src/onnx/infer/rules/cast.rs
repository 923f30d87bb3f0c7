//! Operators that change the element type.

use super::elementwise::same;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// `Cast`
pub(crate) fn cast(call: &mut InferCall) -> Option<()> {
    if let Some(element) = call.int("to").and_then(Element::numbered) {
        call.give_element(0, element);
    }
    same(call)
}

/// `CastLike`
pub(crate) fn cast_like(call: &mut InferCall) -> Option<()> {
    if let Some(element) = call.element(1) {
        call.give_element(0, element);
    }
    same(call)
}

/// The items of a cast, where the type of the result has them: integers to integers, and to truth values.
pub(crate) fn cast_items(call: &mut InferCall) -> Option<()> {
    let (from, to) = (call.element(0)?, call.result_element(0)?);
    let items = call.items(0)?;
    let converted: Vec<Dim> = match to {
        Element::Bool if from != Element::Bool => items.iter().map(truth).collect(),
        Element::Int64 | Element::Int32 | Element::Bool => items.to_vec(),
        _ if to.is_whole() => {
            items.iter().map(|item| if item.is_at_least(0) { small(item) } else { Dim::Unknown }).collect()
        }
        _ => return None,
    };
    call.give_items(0, converted);
    Some(())
}

fn truth(item: &Dim) -> Dim {
    match item {
        Dim::Int(value) => Dim::Int(i64::from(*value != 0)),
        item if item.is_at_least(1) => Dim::Int(1),
        _ => Dim::Unknown,
    }
}

/// An item that every integer type of at least 8 bits has.
fn small(item: &Dim) -> Dim {
    match item {
        Dim::Int(0..=127) => item.clone(),
        _ => Dim::Unknown,
    }
}
