//! The element types that notations with sized numbers have.

#[cfg(feature = "onnx")]
use super::Primitive;

macro_rules! elements {
    ($($variant:ident $number:literal $text:literal $primitive:ident;)*) => {
        /// The true element type of a tensor. NNEF itself only knows primitive types.
        ///
        /// The numbers are those of `TensorProto.DataType`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Element {
            $(#[doc = $text] $variant = $number,)*
        }

        impl Element {
            /// All element types, in the order of their numbers.
            #[cfg(any(feature = "onnx", feature = "pnnx"))]
            pub(crate) const ALL: &[Element] = &[$(Element::$variant),*];

            /// The name: `float32`, `int64`, `bool`.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Element::$variant => $text,)*
                }
            }

            /// The primitive type; none for complex numbers.
            #[cfg(feature = "onnx")]
            pub(crate) fn primitive(self) -> Option<Primitive> {
                match self {
                    $(Element::$variant => elements!(@ $primitive),)*
                }
            }
        }
    };
    (@ Complex) => {
        None
    };
    (@ $primitive:ident) => {
        Some(Primitive::$primitive)
    };
}

elements! {
    Float32 1 "float32" Scalar;
    Uint8 2 "uint8" Integer;
    Int8 3 "int8" Integer;
    Uint16 4 "uint16" Integer;
    Int16 5 "int16" Integer;
    Int32 6 "int32" Integer;
    Int64 7 "int64" Integer;
    String 8 "string" String;
    Bool 9 "bool" Logical;
    Float16 10 "float16" Scalar;
    Float64 11 "float64" Scalar;
    Uint32 12 "uint32" Integer;
    Uint64 13 "uint64" Integer;
    Complex64 14 "complex64" Complex;
    Complex128 15 "complex128" Complex;
    Bfloat16 16 "bfloat16" Scalar;
    Float8e4m3fn 17 "float8e4m3fn" Scalar;
    Float8e4m3fnuz 18 "float8e4m3fnuz" Scalar;
    Float8e5m2 19 "float8e5m2" Scalar;
    Float8e5m2fnuz 20 "float8e5m2fnuz" Scalar;
    Uint4 21 "uint4" Integer;
    Int4 22 "int4" Integer;
    Float4e2m1 23 "float4e2m1" Scalar;
    Float8e8m0 24 "float8e8m0" Scalar;
    Uint2 25 "uint2" Integer;
    Int2 26 "int2" Integer;
    Float6e2m3 27 "float6e2m3" Scalar;
    Float6e3m2 28 "float6e3m2" Scalar;
}

impl Element {
    /// The element type with a number of `TensorProto.DataType`.
    #[cfg(feature = "onnx")]
    pub(crate) fn numbered(number: i64) -> Option<Element> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(at).copied()
    }

    /// The element type with a short name: `f32`, `i64`, `u8`, `bf16`, `bool`.
    #[cfg(feature = "pnnx")]
    pub(crate) fn of_short(name: &str) -> Option<Element> {
        let is_short = |element: &&Element| {
            let text = element.text();
            let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let letters = &text[..text.len() - digits.len()];
            match letters {
                "bool" => name == "bool",
                "bfloat" => name.strip_prefix("bf") == Some(digits),
                _ => name.strip_prefix(&letters[..1]) == Some(digits) && !digits.is_empty(),
            }
        };
        Self::ALL.iter().find(is_short).copied()
    }

    /// Whether the elements are integers or truth values.
    #[cfg(feature = "onnx")]
    pub(crate) fn is_whole(self) -> bool {
        matches!(self.primitive(), Some(Primitive::Integer | Primitive::Logical))
    }
}

#[cfg(all(test, feature = "onnx"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_distinct() {
        for (i, element) in Element::ALL.iter().enumerate() {
            assert_eq!(*element as usize, i + 1);
            assert_eq!(Element::numbered(i as i64 + 1), Some(*element));
        }
        assert_eq!(Element::numbered(0), None);
        assert_eq!(Element::Bfloat16.text(), "bfloat16");
        assert_eq!(Element::Complex64.primitive(), None);
    }

    #[test]
    #[cfg(feature = "pnnx")]
    fn short_names_are_those_of_torch() {
        let named =
            [("f32", Some("float32")), ("f16", Some("float16")), ("bf16", Some("bfloat16")), ("i64", Some("int64"))];
        let others =
            [("u8", Some("uint8")), ("bool", Some("bool")), ("c64", Some("complex64")), ("s", None), ("f", None)];
        for (name, wanted) in named.into_iter().chain(others) {
            assert_eq!(Element::of_short(name).map(Element::text), wanted, "{name}");
        }
    }
}
