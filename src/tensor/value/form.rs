//! What a value is declared to be.

use std::fmt;

use super::{DType, MapValue, RunValue};
use crate::tensor::TensorError;

/// What a value is declared to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueForm {
    /// A tensor, with the type of its items if that is declared.
    Tensor(Option<DType>),
    Sequence(Box<ValueForm>),
    Map {
        key: DType,
        value: DType,
    },
    Optional(Box<ValueForm>),
}

impl ValueForm {
    /// The type of the items of a tensor.
    pub(crate) fn dtype(&self) -> Option<DType> {
        if let ValueForm::Tensor(dtype) = self { *dtype } else { None }
    }

    /// A value in the declared types, if it has this form, and its items are of these types or can be rounded to them, see
    /// `Tensor::rounded`. What may be left out may be given without further ado.
    ///
    /// # Errors
    ///
    /// The value is of another kind, or has an item that the type does not have.
    pub(crate) fn fit(&self, given: RunValue) -> Result<RunValue, TensorError> {
        match (self, given) {
            (ValueForm::Optional(_), RunValue::Optional(None)) => Ok(RunValue::Optional(None)),
            (ValueForm::Optional(form), RunValue::Optional(Some(value))) => {
                Ok(RunValue::Optional(Some(Box::new(form.fit(*value)?))))
            }
            (ValueForm::Optional(form), value) => Ok(RunValue::Optional(Some(Box::new(form.fit(value)?)))),
            (ValueForm::Tensor(None), RunValue::Tensor(tensor)) => Ok(RunValue::Tensor(tensor)),
            (ValueForm::Tensor(Some(dtype)), RunValue::Tensor(tensor)) if tensor.dtype() == *dtype => {
                Ok(RunValue::Tensor(tensor))
            }
            (ValueForm::Tensor(Some(dtype)), RunValue::Tensor(tensor)) => Ok((*tensor).clone().rounded(*dtype)?.into()),
            (ValueForm::Sequence(form), RunValue::Sequence(items)) => {
                let items = items.iter().map(|item| form.fit(item.clone()));
                Ok(RunValue::sequence(items.collect::<Result<_, _>>()?))
            }
            (ValueForm::Map { key, value }, RunValue::Map(map)) => {
                // An empty array has no types of its own.
                let typed = |of: &crate::tensor::Tensor, dtype| match of.is_empty() {
                    true => crate::tensor::Tensor::with(of.shape(), crate::tensor::Data::zeros(dtype, 0)),
                    false => of.clone().rounded(dtype),
                };
                Ok(RunValue::map(MapValue::new(&typed(map.keys(), *key)?, &typed(map.values(), *value)?)?))
            }
            (form, given) => Err(TensorError::new(format!("{}, where {form} is declared", given.kind()))),
        }
    }
}

impl fmt::Display for ValueForm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ValueForm::Tensor(_) => "a tensor",
            ValueForm::Sequence(_) => "a sequence",
            ValueForm::Map { .. } => "a map",
            ValueForm::Optional(_) => "an optional",
        })
    }
}
