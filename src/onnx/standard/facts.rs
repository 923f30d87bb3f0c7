//! What is known about the values that a call sees.

use crate::graph::names::NameId;
use crate::onnx::infer::ValueType;

/// What is known about the operands of a call.
pub(crate) trait OperandTypes {
    /// The type of a value.
    fn of_value(&self, value: NameId) -> Option<&ValueType>;
}
