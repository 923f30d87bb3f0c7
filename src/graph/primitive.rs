//! Primitive types, and the dialects of NNEF.

use std::fmt;

/// Primitive types. The draft's `extent` is `Integer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Primitive {
    /// `integer` (draft: `extent`).
    Integer,
    /// `scalar`.
    Scalar,
    /// `logical`.
    Logical,
    /// `string`.
    String,
    /// `?`, the type argument of a generic fragment.
    Generic,
}

impl Primitive {
    /// All types, in the order of their numbers.
    pub(crate) const ALL: [Primitive; 5] =
        [Primitive::Integer, Primitive::Scalar, Primitive::Logical, Primitive::String, Primitive::Generic];

    /// A number of three bits for a type, or 0 for none.
    #[inline]
    pub(crate) fn number_of(primitive: Option<Primitive>) -> u32 {
        primitive.map_or(0, |primitive| primitive as u32 + 1)
    }

    /// The inverse of [`Primitive::number_of`].
    #[inline]
    pub(crate) fn of_number(number: u32) -> Option<Primitive> {
        (number as usize).checked_sub(1).and_then(|at| Self::ALL.get(at).copied())
    }

    /// The element type of a computation with two operand types: integers take precedence over logicals,
    /// scalars over both.
    #[inline]
    pub(crate) fn wider(a: Option<Primitive>, b: Option<Primitive>) -> Option<Primitive> {
        let rank = |of: Option<Primitive>| match of {
            None => 0,
            Some(Primitive::Logical) => 1,
            Some(Primitive::Integer) => 2,
            Some(_) => 3,
        };
        if rank(a) >= rank(b) { a } else { b }
    }

    /// The element type of a datum type of tract: `f32`, `i64`, `TDim` and others, in upper or lower case.
    /// Quantized and complex numbers are scalars.
    pub(crate) fn of_datum_type(name: &str) -> Option<Primitive> {
        let name = name.to_ascii_lowercase();
        let digits = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u8>().is_ok());
        Some(match name.as_str() {
            "bool" => Primitive::Logical,
            "string" => Primitive::String,
            "tdim" => Primitive::Integer,
            "" | "blob" | "opaque" => return None,
            _ if digits("i") || digits("u") => Primitive::Integer,
            _ => Primitive::Scalar,
        })
    }

    /// The spelling in NNEF 1.0.
    pub fn text(self) -> &'static str {
        match self {
            Primitive::Integer => "integer",
            Primitive::Scalar => "scalar",
            Primitive::Logical => "logical",
            Primitive::String => "string",
            Primitive::Generic => "?",
        }
    }
}

/// The spelling in NNEF 1.0.
impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The version of the specification that a document follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// NNEF 1.0.5.
    #[default]
    V1,
    /// The provisional text of 2017: `extent`, optional semicolons, untyped tensors.
    Draft,
}
