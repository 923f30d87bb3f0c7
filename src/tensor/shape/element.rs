//! The element types of shapes.

use std::fmt;

use crate::tensor::{DType, NarrowFloat, SmallInt};

/// The class of an element type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Logical,
    Signed,
    Unsigned,
    /// Floating point, with the lowest and the highest finite value.
    Float(f64, f64),
    Complex,
}
use Class::{Complex, Float, Logical, Signed, Unsigned};

const fn float(highest: f64) -> Class {
    Float(-highest, highest)
}

/// The types: name, bits, class.
const TYPES: &[(&str, u32, Class)] = &[
    ("pred", 8, Logical),
    ("s1", 1, Signed),
    ("s2", 2, Signed),
    ("s4", 4, Signed),
    ("s8", 8, Signed),
    ("s16", 16, Signed),
    ("s32", 32, Signed),
    ("s64", 64, Signed),
    ("u1", 1, Unsigned),
    ("u2", 2, Unsigned),
    ("u4", 4, Unsigned),
    ("u8", 8, Unsigned),
    ("u16", 16, Unsigned),
    ("u32", 32, Unsigned),
    ("u64", 64, Unsigned),
    ("f4e2m1fn", 4, float(6.0)),
    ("f6e2m3fn", 6, float(7.5)),
    ("f6e3m2fn", 6, float(28.0)),
    ("f8e3m4", 8, float(15.5)),
    ("f8e4m3", 8, float(240.0)),
    ("f8e4m3b11fnuz", 8, float(30.0)),
    ("f8e4m3fn", 8, float(448.0)),
    ("f8e4m3fnuz", 8, float(240.0)),
    ("f8e5m2", 8, float(57344.0)),
    ("f8e5m2fnuz", 8, float(57344.0)),
    // Powers of two from -127 to 127, without a sign.
    ("f8e8m0fnu", 8, Float(5.877471754111438e-39, 1.7014118346046923e38)),
    ("f16", 16, float(65504.0)),
    ("bf16", 16, float(3.3895313892515355e38)),
    ("f32", 32, float(f32::MAX as f64)),
    ("f64", 64, float(f64::MAX)),
    ("c64", 64, Complex),
    ("c128", 128, Complex),
];

/// The type of the elements of an [`ArrayShape`](super::ArrayShape): a number format of XLA.
///
/// ```
/// use nnef_flatten::tensor::{DType, ElementType};
///
/// assert_eq!(ElementType::from_name("bf16").map(ElementType::bits), Some(16));
/// assert_eq!(ElementType::from(DType::Int32).name(), "s32");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType(u8);

impl ElementType {
    /// The type with a name such as `f32`.
    pub fn from_name(name: &str) -> Option<ElementType> {
        TYPES.iter().position(|(known, ..)| *known == name).map(|at| ElementType(at as u8))
    }

    /// The names of all types.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TYPES.iter().map(|(name, ..)| *name)
    }

    fn row(self) -> &'static (&'static str, u32, Class) {
        &TYPES[usize::from(self.0)]
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The number of bits of a value.
    pub fn bits(self) -> u32 {
        self.row().1
    }

    /// The number of bits of an element that is not packed, a multiple of 8.
    pub(crate) fn stored_bits(self) -> u64 {
        u64::from(self.bits().next_multiple_of(8))
    }

    /// Whether it is a floating-point type.
    pub(super) fn is_float(self) -> bool {
        matches!(self.row().2, Float(..))
    }

    /// Whether it is an unsigned integer type.
    pub(super) fn is_unsigned(self) -> bool {
        self.row().2 == Unsigned
    }

    /// The lowest and the highest finite value; none for complex numbers, which are not ordered.
    pub(super) fn range(self) -> Option<(f64, f64)> {
        let (_, bits, class) = *self.row();
        let power = |bits: u32| 2f64.powi(bits as i32);
        match class {
            Logical => Some((0.0, 1.0)),
            Signed => Some((-power(bits - 1), power(bits - 1) - 1.0)),
            Unsigned => Some((0.0, power(bits) - 1.0)),
            Float(lowest, highest) => Some((lowest, highest)),
            Complex => None,
        }
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        let name = match dtype {
            DType::Float32 => "f32",
            DType::Float64 => "f64",
            DType::Int32 => "s32",
            DType::Int64 => "s64",
            DType::Bool => "pred",
            DType::Narrow(format) => match format {
                NarrowFloat::Float16 => "f16",
                NarrowFloat::BFloat16 => "bf16",
                NarrowFloat::Float8E4M3Fn => "f8e4m3fn",
                NarrowFloat::Float8E4M3Fnuz => "f8e4m3fnuz",
                NarrowFloat::Float8E5M2 => "f8e5m2",
                NarrowFloat::Float8E5M2Fnuz => "f8e5m2fnuz",
                NarrowFloat::Float8E8M0 => "f8e8m0fnu",
                NarrowFloat::Float6E2M3 => "f6e2m3fn",
                NarrowFloat::Float6E3M2 => "f6e3m2fn",
                NarrowFloat::Float4E2M1 => "f4e2m1fn",
            },
            DType::Small(integer) => match integer {
                SmallInt::Int2 => "s2",
                SmallInt::Int4 => "s4",
                SmallInt::Int8 => "s8",
                SmallInt::Int16 => "s16",
                SmallInt::Uint2 => "u2",
                SmallInt::Uint4 => "u4",
                SmallInt::Uint8 => "u8",
                SmallInt::Uint16 => "u16",
            },
            DType::Uint32 => "u32",
            DType::Uint64 => "u64",
            DType::Complex64 => "c64",
            DType::Complex128 => "c128",
            // XLA has no text; its elements are as wide as their references.
            DType::Text => "c128",
        };
        ElementType::from_name(name).unwrap_or(ElementType(0))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
