//! The types of the elements of tensors.

use std::fmt;

use super::{NarrowFloat, SmallInt};

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
    /// Floating point of fewer than 32 bits.
    Narrow(NarrowFloat),
    /// Integer of fewer than 32 bits.
    Small(SmallInt),
    /// Unsigned 32-bit integer.
    Uint32,
    /// Unsigned 64-bit integer.
    Uint64,
    /// Two 32-bit floats: the real and the imaginary part.
    Complex64,
    /// Two 64-bit floats: the real and the imaginary part.
    Complex128,
    /// Text.
    Text,
}

/// The types that networks with loops declare, with their names.
const NAMES: &[(DType, &str)] = &[
    (DType::FLOAT16, "float16"),
    (DType::Float32, "float32"),
    (DType::Float64, "float64"),
    (DType::Int32, "int32"),
    (DType::Int64, "int64"),
    (DType::Bool, "bool"),
];

impl DType {
    /// 16-bit floating point.
    pub const FLOAT16: DType = DType::Narrow(NarrowFloat::Float16);
    /// Unsigned 8-bit integer.
    pub const UINT8: DType = DType::Small(SmallInt::Uint8);
    /// Signed 8-bit integer.
    pub const INT8: DType = DType::Small(SmallInt::Int8);

    /// The type of networks with loops that has a name such as `float32`.
    pub fn from_name(name: &str) -> Option<DType> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(dtype, _)| *dtype)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            DType::Narrow(format) => format.name(),
            DType::Small(integer) => integer.name(),
            DType::Uint32 => "uint32",
            DType::Uint64 => "uint64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::Text => "string",
            plain => NAMES.iter().find(|(dtype, _)| *dtype == plain).map_or("", |(_, name)| name),
        }
    }

    /// The names of the types of networks with loops.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// Whether it is an integer type.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, DType::Int32 | DType::Int64 | DType::Small(_) | DType::Uint32 | DType::Uint64)
    }

    /// Whether it is a floating-point type.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, DType::Float32 | DType::Float64 | DType::Narrow(_))
    }

    /// Whether its elements are complex numbers.
    pub(crate) fn is_complex(self) -> bool {
        matches!(self, DType::Complex64 | DType::Complex128)
    }

    /// The NNEF keyword of the type.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            DType::Float32 | DType::Float64 | DType::Narrow(_) => "scalar",
            DType::Int32 | DType::Int64 | DType::Small(_) | DType::Uint32 | DType::Uint64 => "integer",
            DType::Bool => "logical",
            DType::Complex64 | DType::Complex128 => "complex",
            DType::Text => "string",
        }
    }

    /// The bytes of an element in memory; for text those of the pointer to it.
    pub(crate) fn size(self) -> usize {
        match self {
            DType::Float32 | DType::Int32 | DType::Uint32 | DType::Narrow(_) | DType::Small(_) => 4,
            DType::Float64 | DType::Int64 | DType::Uint64 | DType::Complex64 => 8,
            DType::Complex128 | DType::Text => 16,
            DType::Bool => 1,
        }
    }

    /// The least and the greatest value of an integer type or of logicals.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            DType::Int32 => (i32::MIN.into(), i32::MAX.into()),
            DType::Int64 => (i64::MIN.into(), i64::MAX.into()),
            DType::Uint32 => (0, u32::MAX.into()),
            DType::Uint64 => (0, u64::MAX.into()),
            DType::Bool => (0, 1),
            DType::Small(integer) => {
                let (least, greatest) = integer.range();
                (least.into(), greatest.into())
            }
            _ => return None,
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
