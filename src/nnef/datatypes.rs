//! Types of the provisional dialect with the data-types of tensors, which its notation cannot declare.

use super::types::{Element, Type, Types};
use crate::graph::Primitive;

/// A declared type with the data-type of its tensors.
pub(crate) fn with_data_type(types: &mut Types, ty: Type, data_type: Primitive) -> Type {
    match ty {
        Type::Tensor(_) => Type::Tensor(Element::Of(data_type)),
        Type::Array(array) => {
            let item = with_data_type(types, types.item(array), data_type);
            types.array(item)
        }
        other => other,
    }
}

/// The term of this dialect for elements of a data-type, in the plural.
pub(crate) fn plural(data_type: Primitive) -> &'static str {
    match data_type {
        Primitive::Scalar => "scalars",
        Primitive::Logical => "logicals",
        Primitive::Integer => "coordinates",
        Primitive::String => "strings",
        Primitive::Generic => "any items",
    }
}
