//! Types of values, and the dialects that a graph can be written in.

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
    /// All of them, in their order.
    pub(crate) const ALL: [Primitive; 5] =
        [Primitive::Integer, Primitive::Scalar, Primitive::Logical, Primitive::String, Primitive::Generic];

    /// A number of three bits for one of them, or for none.
    #[inline]
    pub(crate) fn number_of(primitive: Option<Primitive>) -> u32 {
        primitive.map_or(0, |primitive| primitive as u32 + 1)
    }

    /// The inverse of [`Primitive::number_of`].
    #[inline]
    pub(crate) fn of_number(number: u32) -> Option<Primitive> {
        (number as usize).checked_sub(1).and_then(|at| Self::ALL.get(at).copied())
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

/// Which text of the specification a document follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// NNEF 1.0.5.
    #[default]
    V1,
    /// The provisional text of 2017: `extent`, optional semicolons, untyped tensors.
    Draft,
}
