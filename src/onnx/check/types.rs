//! The types of values in the spelling of the table of operators.

use super::checker::Check;
use crate::onnx::model::{TypeForm, TypeProto, ValueInfo};
use crate::onnx::schema::TypeId;
use crate::onnx::types::ElementType;

fn element(number: Option<i32>) -> Option<&'static str> {
    Some(ElementType::numbered(number?)?.name)
}

/// The spelling of a type, without shapes.
fn spelled(of: &TypeProto) -> Option<String> {
    let inner = |inner: &Option<Box<TypeProto>>| spelled(inner.as_deref()?);
    Some(match &of.form {
        TypeForm::None | TypeForm::Opaque { .. } => return None,
        TypeForm::Tensor(tensor) => format!("tensor({})", element(tensor.element)?),
        TypeForm::SparseTensor(tensor) => format!("sparse_tensor({})", element(tensor.element)?),
        TypeForm::Sequence(item, _) => format!("seq({})", inner(item)?),
        TypeForm::Optional(item, _) => format!("optional({})", inner(item)?),
        TypeForm::Map { key, value, .. } => {
            let TypeForm::Tensor(tensor) = &value.as_deref()?.form else { return None };
            format!("map({},{})", element(*key)?, element(tensor.element)?)
        }
    })
}

impl Check<'_> {
    /// The declared type of a value.
    pub(super) fn type_of(&self, value: &ValueInfo) -> Option<TypeId> {
        self.schemas.type_id(&spelled(value.ty.as_ref()?)?)
    }

    /// The type of a tensor with an element type.
    pub(super) fn tensor_type(&self, number: Option<i32>) -> Option<TypeId> {
        self.schemas.type_id(&format!("tensor({})", element(number)?))
    }
}
