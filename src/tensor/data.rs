//! The elements of tensors, packed by type.

use super::DType;

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Elements of [`DType::Float32`].
    Float32(Vec<f32>),
    /// Elements of [`DType::Float64`].
    Float64(Vec<f64>),
    /// Elements of [`DType::Int32`].
    Int32(Vec<i32>),
    /// Elements of [`DType::Int64`].
    Int64(Vec<i64>),
    /// Elements of [`DType::Bool`].
    Bool(Vec<bool>),
}

/// Evaluates an expression on the elements, regardless of their type.
macro_rules! each {
    ($data:expr, $items:ident => $body:expr) => {
        match $data {
            Data::Float32($items) => $body,
            Data::Float64($items) => $body,
            Data::Int32($items) => $body,
            Data::Int64($items) => $body,
            Data::Bool($items) => $body,
        }
    };
}

/// Evaluates an expression on elements, regardless of their type; its value is elements of the same type.
macro_rules! map_each {
    ($data:expr, $items:ident => $body:expr) => {
        match $data {
            Data::Float32($items) => Data::Float32($body),
            Data::Float64($items) => Data::Float64($body),
            Data::Int32($items) => Data::Int32($body),
            Data::Int64($items) => Data::Int64($body),
            Data::Bool($items) => Data::Bool($body),
        }
    };
}

/// The Rust type of elements.
pub(crate) trait Element: Copy {
    /// The elements, if they have this type.
    fn of(data: &Data) -> Option<&[Self]>;
    /// Data with elements of this type.
    fn pack(items: Vec<Self>) -> Data;
}

macro_rules! elements {
    ($($of:ty: $variant:ident),*) => {
        $(impl Element for $of {
            fn of(data: &Data) -> Option<&[Self]> {
                match data {
                    Data::$variant(items) => Some(items),
                    _ => None,
                }
            }

            fn pack(items: Vec<Self>) -> Data {
                Data::$variant(items)
            }
        })*
    };
}
elements!(f32: Float32, f64: Float64, i32: Int32, i64: Int64, bool: Bool);

impl Data {
    /// `len` elements that are 0 or `false`.
    pub(crate) fn zeros(dtype: DType, len: usize) -> Data {
        match dtype {
            DType::Float32 => Data::Float32(vec![0.0; len]),
            DType::Float64 => Data::Float64(vec![0.0; len]),
            DType::Int32 => Data::Int32(vec![0; len]),
            DType::Int64 => Data::Int64(vec![0; len]),
            DType::Bool => Data::Bool(vec![false; len]),
        }
    }

    /// Reserves capacity for as many further elements, and no more.
    pub(crate) fn reserve(&mut self, more: usize) {
        each!(self, items => items.reserve_exact(more));
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        each!(self, items => items.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Data::Float32(_) => DType::Float32,
            Data::Float64(_) => DType::Float64,
            Data::Int32(_) => DType::Int32,
            Data::Int64(_) => DType::Int64,
            Data::Bool(_) => DType::Bool,
        }
    }

    /// The elements at some indices.
    pub(crate) fn pick(&self, places: impl Iterator<Item = usize>) -> Data {
        map_each!(self, items => places.map(|place| items[place]).collect())
    }

    /// Stores `from[number(i)]` at `places[i]` for each `i`; does nothing if the element types differ.
    pub(crate) fn put(&mut self, places: &[usize], from: &Data, number: impl Fn(usize) -> usize) {
        fn put<T: Copy>(to: &mut [T], places: &[usize], from: &[T], number: impl Fn(usize) -> usize) {
            places.iter().enumerate().for_each(|(i, place)| to[*place] = from[number(i)]);
        }
        match (self, from) {
            (Data::Float32(to), Data::Float32(from)) => put(to, places, from, number),
            (Data::Float64(to), Data::Float64(from)) => put(to, places, from, number),
            (Data::Int32(to), Data::Int32(from)) => put(to, places, from, number),
            (Data::Int64(to), Data::Int64(from)) => put(to, places, from, number),
            (Data::Bool(to), Data::Bool(from)) => put(to, places, from, number),
            _ => {}
        }
    }

    /// Appends elements; does nothing if the element types differ.
    pub(crate) fn append(&mut self, other: &Data) {
        self.append_range(other, 0..other.len());
    }

    /// Appends a range of elements; does nothing if the element types differ.
    pub(crate) fn append_range(&mut self, other: &Data, range: std::ops::Range<usize>) {
        match (self, other) {
            (Data::Float32(to), Data::Float32(from)) => to.extend_from_slice(&from[range]),
            (Data::Float64(to), Data::Float64(from)) => to.extend_from_slice(&from[range]),
            (Data::Int32(to), Data::Int32(from)) => to.extend_from_slice(&from[range]),
            (Data::Int64(to), Data::Int64(from)) => to.extend_from_slice(&from[range]),
            (Data::Bool(to), Data::Bool(from)) => to.extend_from_slice(&from[range]),
            _ => {}
        }
    }

    /// The bytes of the elements in files: scalars have 32 bits, integers 64, logicals 8.
    #[cfg(feature = "eval")]
    pub(crate) fn stored(&self) -> Vec<u8> {
        match self {
            Data::Float32(items) => items.iter().flat_map(|item| item.to_le_bytes()).collect(),
            Data::Float64(items) => items.iter().flat_map(|item| (*item as f32).to_le_bytes()).collect(),
            Data::Int32(items) => items.iter().flat_map(|item| i64::from(*item).to_le_bytes()).collect(),
            Data::Int64(items) => items.iter().flat_map(|item| item.to_le_bytes()).collect(),
            Data::Bool(items) => items.iter().map(|item| u8::from(*item)).collect(),
        }
    }

    /// Appends 0 or `false` up to a number of elements.
    pub(crate) fn pad(&mut self, len: usize) {
        let more = Data::zeros(self.dtype(), len.saturating_sub(self.len()));
        self.append(&more);
    }

    /// An element as a float.
    pub fn float(&self, at: usize) -> f64 {
        match self {
            Data::Float32(items) => f64::from(items[at]),
            Data::Float64(items) => items[at],
            Data::Int32(items) => f64::from(items[at]),
            Data::Int64(items) => items[at] as f64,
            Data::Bool(items) => f64::from(u8::from(items[at])),
        }
    }

    /// An element as an integer; floats are truncated.
    pub(crate) fn integer(&self, at: usize) -> i64 {
        match self {
            Data::Float32(items) => items[at] as i64,
            Data::Float64(items) => items[at] as i64,
            Data::Int32(items) => i64::from(items[at]),
            Data::Int64(items) => items[at],
            Data::Bool(items) => i64::from(items[at]),
        }
    }

    /// Converts floats to elements of a type.
    pub(crate) fn from_floats(dtype: DType, items: impl Iterator<Item = f64>) -> Data {
        match dtype {
            DType::Float32 => Data::Float32(items.map(|x| x as f32).collect()),
            DType::Float64 => Data::Float64(items.collect()),
            DType::Int32 => Data::Int32(items.map(|x| x as i32).collect()),
            DType::Int64 => Data::Int64(items.map(|x| x as i64).collect()),
            DType::Bool => Data::Bool(items.map(|x| x != 0.0).collect()),
        }
    }
}
