//! The element types and attribute types of ONNX, with their names in the text notation.

/// A row of the table of element types.
#[derive(Debug)]
pub(crate) struct ElementType {
    /// The number in `TensorProto.DataType`.
    pub(crate) number: i32,
    /// The name in texts.
    pub(crate) name: &'static str,
    /// The field for elements that are not raw data, which also determines their form in a text.
    pub(crate) storage: Storage,
    /// The number of bits of an element; 0 for strings.
    pub(crate) bits: u32,
}

/// The field of `TensorProto` for the elements of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// `float_data`; complex numbers as two elements each.
    Float,
    /// `double_data`; complex numbers as two elements each.
    Double,
    /// `int32_data`, signed.
    Signed,
    /// `int32_data`, unsigned numbers or the bits of small floats.
    Unsigned,
    /// `int64_data`.
    Int64,
    /// `uint64_data`.
    Uint64,
    /// `string_data`.
    String,
}

macro_rules! elements {
    ($($number:literal $name:literal $storage:ident $bits:literal;)*) => {
        /// All element types, in the order of their numbers.
        pub(crate) static ELEMENTS: &[ElementType] =
            &[$(ElementType { number: $number, name: $name, storage: Storage::$storage, bits: $bits }),*];
    };
}

elements! {
    1  "float"           Float    32;
    2  "uint8"           Unsigned 8;
    3  "int8"            Signed   8;
    4  "uint16"          Unsigned 16;
    5  "int16"           Signed   16;
    6  "int32"           Signed   32;
    7  "int64"           Int64    64;
    8  "string"          String   0;
    9  "bool"            Unsigned 1;
    10 "float16"         Unsigned 16;
    11 "double"          Double   64;
    12 "uint32"          Uint64   32;
    13 "uint64"          Uint64   64;
    14 "complex64"       Float    64;
    15 "complex128"      Double   128;
    16 "bfloat16"        Unsigned 16;
    17 "float8e4m3fn"    Unsigned 8;
    18 "float8e4m3fnuz"  Unsigned 8;
    19 "float8e5m2"      Unsigned 8;
    20 "float8e5m2fnuz"  Unsigned 8;
    21 "uint4"           Unsigned 4;
    22 "int4"            Signed   4;
    23 "float4e2m1"      Unsigned 4;
    24 "float8e8m0"      Unsigned 8;
    25 "uint2"           Unsigned 2;
    26 "int2"            Signed   2;
    27 "float6e2m3"      Unsigned 6;
    28 "float6e3m2"      Unsigned 6;
}

impl ElementType {
    /// The type with a name in texts.
    pub(crate) fn named(name: &str) -> Option<&'static ElementType> {
        // Most words are not types: their first letters differ.
        let first = name.as_bytes().first()?;
        ELEMENTS.iter().find(|element| element.name.as_bytes().first() == Some(first) && element.name == name)
    }

    /// The type with a number.
    pub(crate) fn numbered(number: i32) -> Option<&'static ElementType> {
        ELEMENTS.iter().find(|element| element.number == number)
    }
}

/// The types of attributes, with their numbers in `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum AttributeType {
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
}

/// All attribute types: name in texts, type, and for lists the type of their items.
pub(crate) static ATTRIBUTE_TYPES: &[(&str, AttributeType, Option<AttributeType>)] = {
    use AttributeType as T;
    &[
        ("float", T::Float, None),
        ("int", T::Int, None),
        ("string", T::String, None),
        ("tensor", T::Tensor, None),
        ("graph", T::Graph, None),
        ("floats", T::Floats, Some(T::Float)),
        ("ints", T::Ints, Some(T::Int)),
        ("strings", T::Strings, Some(T::String)),
        ("tensors", T::Tensors, Some(T::Tensor)),
        ("graphs", T::Graphs, Some(T::Graph)),
        ("sparse_tensor", T::SparseTensor, None),
        ("sparse_tensors", T::SparseTensors, Some(T::SparseTensor)),
        ("type_proto", T::Type, None),
        ("type_protos", T::Types, Some(T::Type)),
    ]
};

impl AttributeType {
    /// The type with a name in texts.
    pub(crate) fn named(name: &str) -> Option<AttributeType> {
        ATTRIBUTE_TYPES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// The name in texts.
    pub(crate) fn name(self) -> &'static str {
        ATTRIBUTE_TYPES.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    /// The type with a number.
    pub(crate) fn numbered(number: i32) -> Option<AttributeType> {
        ATTRIBUTE_TYPES.iter().map(|row| row.1).find(|kind| *kind as i32 == number)
    }

    /// The type of the items of a list.
    pub(crate) fn item(self) -> Option<AttributeType> {
        ATTRIBUTE_TYPES.iter().find(|row| row.1 == self).and_then(|row| row.2)
    }

    /// The type of lists of this type.
    pub(crate) fn list(self) -> Option<AttributeType> {
        ATTRIBUTE_TYPES.iter().find(|row| row.2 == Some(self)).map(|row| row.1)
    }
}
