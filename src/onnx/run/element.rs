//! The element types of ONNX as types of tensors.

use crate::onnx::types::{ElementType, Storage};
use crate::tensor::{DType, NarrowFloat, SmallInt};

/// The types of tensors whose names differ from those in texts of ONNX.
const NAMED: &[(&str, DType)] = &[
    ("float", DType::Float32),
    ("double", DType::Float64),
    ("int32", DType::Int32),
    ("int64", DType::Int64),
    ("uint32", DType::Uint32),
    ("uint64", DType::Uint64),
    ("bool", DType::Bool),
    ("complex64", DType::Complex64),
    ("complex128", DType::Complex128),
    ("string", DType::Text),
];

/// The type of tensors with elements of an element type.
pub(crate) fn dtype(element: &ElementType) -> Option<DType> {
    let named = || NAMED.iter().find(|(name, _)| *name == element.name).map(|(_, dtype)| *dtype);
    let narrow = || NarrowFloat::all().find(|format| format.name() == element.name).map(DType::Narrow);
    let small = || SmallInt::all().find(|integer| integer.name() == element.name).map(DType::Small);
    named().or_else(narrow).or_else(small)
}

/// The type of tensors with the number of an element type.
pub(crate) fn dtype_of(number: i32) -> Option<DType> {
    ElementType::numbered(number).and_then(dtype)
}

/// The element type of a tensor.
pub(crate) fn element_of(of: DType) -> Option<&'static ElementType> {
    let named = NAMED.iter().find(|(_, dtype)| *dtype == of).map(|(name, _)| *name);
    ElementType::named(named.unwrap_or_else(|| of.name()))
}

/// The number of the element type of a tensor.
pub(crate) fn number_of(of: DType) -> i32 {
    element_of(of).map_or(0, |element| element.number)
}

/// Whether the elements are stored as the bits of floats.
pub(super) fn is_bits(element: &ElementType) -> bool {
    element.storage == Storage::Unsigned && element.name.contains("float")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::types::ELEMENTS;

    #[test]
    fn every_element_type_has_tensors() {
        for element in ELEMENTS {
            let dtype = dtype(element).unwrap();
            assert_eq!(number_of(dtype), element.number, "{}", element.name);
        }
    }
}
