//! Suppression of boxes that overlap better ones.

use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement};
use crate::graph::{Operand, Value};
use crate::onnx::model::AttributeValue;

/// A threshold as an operand; none if it is `false`.
fn threshold(call: &mut TranslatedCall, name: &str, position: usize) -> Translation<Option<ModelValue>> {
    match call.attribute(name, position) {
        None | Some(Operand::Value(Value::Logical(false))) => Ok(None),
        Some(_) => {
            let value = call.value_at(name, position)?;
            Ok(Some(call.out.cast(&value, NnefElement::Float)))
        }
    }
}

/// The most boxes of a class: 0 stands for all in tract, for none in ONNX.
fn most(call: &mut TranslatedCall) -> Translation<ModelValue> {
    const NAME: &str = "max_output_boxes_per_class";
    match call.ints_at(NAME, 2).as_deref() {
        Ok([0]) => return Ok(call.out.integer(i64::MAX)),
        Ok([count]) => return Ok(call.out.integer(*count)),
        _ => {}
    }
    let given = call.value_at(NAME, 2)?;
    let given = call.out.cast(&given, NnefElement::Int);
    let (zero, all) = (call.out.integer(0), call.out.integer(i64::MAX));
    let is_zero = call.node("Equal", &[&given, &zero], Vec::new());
    Ok(call.node("Where", &[&is_zero, &all, &given], Vec::new()))
}

/// The batch, class and number of each selected box.
pub(in crate::onnx::from_nnef) fn non_max_suppression(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (boxes, scores) = (call.value_at("boxes", 0)?, call.value_at("scores", 1)?);
    let (boxes, scores) = (call.out.cast(&boxes, NnefElement::Float), call.out.cast(&scores, NnefElement::Float));
    let form = call.literal_at("center_point_box", 5)?.unwrap_or(0.0);
    if form != 0.0 && form != 1.0 {
        return Err(Refused::meaning(format!("`center_point_box` of `{}` is {form}", call.name())));
    }
    let count = most(call)?;
    let overlap = threshold(call, "iou_threshold", 3)?;
    let overlap = overlap.unwrap_or_else(|| call.out.number(NnefElement::Float, 0.0));
    let mut operands = vec![boxes, scores, count, overlap];
    operands.extend(threshold(call, "score_threshold", 4)?);
    let form = vec![("center_point_box", AttributeValue::Int(form as i64))];
    let made = call.node("NonMaxSuppression", &operands.iter().collect::<Vec<_>>(), form);
    Ok(vec![ModelValue { element: NnefElement::Int, ..made.with([None, Some(3)]) }])
}
