//! Operators on optional values.

use crate::onnx::infer::InferCall;
use crate::onnx::infer::facts::ValueType;

/// `Optional`
pub(crate) fn optional(call: &mut InferCall) -> Option<()> {
    let content = match call.operand(0) {
        Some(ty) => ty.clone(),
        None => call.declared_type("type")?,
    };
    call.give_type(0, ValueType::Optional(Box::new(content)));
    Some(())
}

/// `OptionalGetElement`: from version 18 on, also of a value that is not optional.
pub(crate) fn get_element(call: &mut InferCall) -> Option<()> {
    let ty = match call.operand(0)? {
        ValueType::Optional(content) => (**content).clone(),
        other => other.clone(),
    };
    call.give_type(0, ty);
    Some(())
}
