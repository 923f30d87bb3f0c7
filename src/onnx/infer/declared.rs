//! Types as a model declares them.

use super::facts::{TensorExtents, ValueType};
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::model::{Extent, ModelNames, TensorProto, TypeForm, TypeProto};

/// A declared type. TensorExtents without a value and a symbol are unknown.
pub(in crate::onnx) fn declared(names: &ModelNames, of: &TypeProto) -> ValueType {
    nested(names, of).within_limits()
}

fn nested(names: &ModelNames, of: &TypeProto) -> ValueType {
    let inner = |inner: &Option<Box<TypeProto>>| {
        let content = || inner.as_deref().map_or(ValueType::Unknown, |inner| nested(names, inner));
        Box::new(crate::room::with_stack(content))
    };
    match &of.form {
        TypeForm::None => ValueType::Unknown,
        TypeForm::Tensor(tensor) => {
            let element = tensor.element.and_then(|number| Element::numbered(number.into()));
            let extents = tensor.shape.as_ref().map(|shape| shape.dims.iter().map(|dim| extent(names, dim.extent)));
            ValueType::tensor(element, extents.map(Iterator::collect))
        }
        TypeForm::Sequence(item, _) => ValueType::Sequence(inner(item)),
        TypeForm::Optional(content, _) => ValueType::Optional(inner(content)),
        TypeForm::SparseTensor(_) | TypeForm::Map { .. } | TypeForm::Opaque { .. } => ValueType::Other,
    }
}

fn extent(names: &ModelNames, of: Extent) -> Dim {
    match of {
        Extent::Value(value @ 0..) => Dim::Int(value),
        Extent::Value(_) | Extent::Unknown => Dim::Unknown,
        // Exporters of Paddle write `?` for each extent that is not known.
        Extent::Symbol(name) => match names.texts.text(name) {
            "" | "?" => Dim::Unknown,
            text => Dim::symbol(text),
        },
    }
}

/// The type of a constant.
pub(in crate::onnx) fn of_constant(tensor: &TensorProto) -> ValueType {
    let element = tensor.data_type.and_then(|number| Element::numbered(number.into()));
    let extents = tensor.dims.iter().map(|&extent| if extent < 0 { Dim::Unknown } else { Dim::Int(extent) });
    ValueType::tensor(element, Some(extents.collect::<TensorExtents>()))
}
