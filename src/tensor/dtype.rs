//! The types of the elements of tensors.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// 32-bit floating point.
    Float32,
    /// 64-bit floating point.
    Float64,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// Logical.
    Bool,
}

/// The types with their names.
const NAMES: &[(DType, &str)] = &[
    (DType::Float32, "float32"),
    (DType::Float64, "float64"),
    (DType::Int32, "int32"),
    (DType::Int64, "int64"),
    (DType::Bool, "bool"),
];

impl DType {
    /// The type with a name such as `float32`.
    pub fn from_name(name: &str) -> Option<DType> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(dtype, _)| *dtype)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _)| *dtype == self).map_or("", |(_, name)| name)
    }

    /// The names of all types.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// Whether it is an integer type.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, DType::Int32 | DType::Int64)
    }

    /// Whether it is a floating-point type.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, DType::Float32 | DType::Float64)
    }

    /// The NNEF keyword of the type.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            DType::Float32 | DType::Float64 => "scalar",
            DType::Int32 | DType::Int64 => "integer",
            DType::Bool => "logical",
        }
    }

    /// The bytes of an element.
    pub(crate) fn size(self) -> usize {
        match self {
            DType::Float32 | DType::Int32 => 4,
            DType::Float64 | DType::Int64 => 8,
            DType::Bool => 1,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
