//! The elements of tensors, packed by type.

use std::sync::Arc;

use super::{DType, NarrowFloat, SmallInt};

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
    /// Elements of [`DType::Narrow`], as the floats that they are equal to.
    Narrow(NarrowFloat, Vec<f32>),
    /// Elements of [`DType::Small`].
    Small(SmallInt, Vec<i32>),
    /// Elements of [`DType::Uint32`].
    Uint32(Vec<u32>),
    /// Elements of [`DType::Uint64`].
    Uint64(Vec<u64>),
    /// Elements of [`DType::Complex64`].
    Complex64(Vec<[f32; 2]>),
    /// Elements of [`DType::Complex128`].
    Complex128(Vec<[f64; 2]>),
    /// Elements of [`DType::Text`].
    Text(Vec<Arc<str>>),
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
            Data::Narrow(_, $items) => $body,
            Data::Small(_, $items) => $body,
            Data::Uint32($items) => $body,
            Data::Uint64($items) => $body,
            Data::Complex64($items) => $body,
            Data::Complex128($items) => $body,
            Data::Text($items) => $body,
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
            Data::Narrow(format, $items) => Data::Narrow(*format, $body),
            Data::Small(integer, $items) => Data::Small(*integer, $body),
            Data::Uint32($items) => Data::Uint32($body),
            Data::Uint64($items) => Data::Uint64($body),
            Data::Complex64($items) => Data::Complex64($body),
            Data::Complex128($items) => Data::Complex128($body),
            Data::Text($items) => Data::Text($body),
        }
    };
}

/// Evaluates an expression on two lists of elements of equal type; does nothing if the types differ.
macro_rules! each_pair {
    ($to:expr, $from:expr, $a:ident, $b:ident => $body:expr) => {
        match ($to, $from) {
            (Data::Float32($a), Data::Float32($b)) => $body,
            (Data::Float64($a), Data::Float64($b)) => $body,
            (Data::Int32($a), Data::Int32($b)) => $body,
            (Data::Int64($a), Data::Int64($b)) => $body,
            (Data::Bool($a), Data::Bool($b)) => $body,
            (Data::Narrow(one, $a), Data::Narrow(other, $b)) if one == other => $body,
            (Data::Small(one, $a), Data::Small(other, $b)) if one == other => $body,
            (Data::Uint32($a), Data::Uint32($b)) => $body,
            (Data::Uint64($a), Data::Uint64($b)) => $body,
            (Data::Complex64($a), Data::Complex64($b)) => $body,
            (Data::Complex128($a), Data::Complex128($b)) => $body,
            (Data::Text($a), Data::Text($b)) => $body,
            _ => {}
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
elements!(
    f32: Float32,
    f64: Float64,
    i32: Int32,
    i64: Int64,
    bool: Bool,
    u32: Uint32,
    u64: Uint64,
    [f32; 2]: Complex64,
    [f64; 2]: Complex128
);

impl Data {
    /// `len` elements that are 0, `false` or empty text.
    pub(crate) fn zeros(dtype: DType, len: usize) -> Data {
        match dtype {
            DType::Float32 => Data::Float32(vec![0.0; len]),
            DType::Float64 => Data::Float64(vec![0.0; len]),
            DType::Int32 => Data::Int32(vec![0; len]),
            DType::Int64 => Data::Int64(vec![0; len]),
            DType::Bool => Data::Bool(vec![false; len]),
            // The format without zero has its least value instead.
            DType::Narrow(format) => Data::Narrow(format, vec![format.round(0.0); len]),
            DType::Small(integer) => Data::Small(integer, vec![0; len]),
            DType::Uint32 => Data::Uint32(vec![0; len]),
            DType::Uint64 => Data::Uint64(vec![0; len]),
            DType::Complex64 => Data::Complex64(vec![[0.0; 2]; len]),
            DType::Complex128 => Data::Complex128(vec![[0.0; 2]; len]),
            DType::Text => Data::Text(vec![Arc::from(""); len]),
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

    /// The memory of the elements in the unit of limits: 8 bytes, which is what an element counts for. Texts have a
    /// reference, two counters and their bytes; those that stand in several places after each other have them once.
    pub(crate) fn weight(&self) -> usize {
        let Data::Text(items) = self else { return self.len() };
        let own = items.iter().enumerate().filter(|(i, item)| *i == 0 || !Arc::ptr_eq(item, &items[i - 1]));
        own.fold(2 * items.len(), |sum, (_, item)| sum.saturating_add(2 + item.len().div_ceil(8)))
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
            Data::Narrow(format, _) => DType::Narrow(*format),
            Data::Small(integer, _) => DType::Small(*integer),
            Data::Uint32(_) => DType::Uint32,
            Data::Uint64(_) => DType::Uint64,
            Data::Complex64(_) => DType::Complex64,
            Data::Complex128(_) => DType::Complex128,
            Data::Text(_) => DType::Text,
        }
    }

    /// The elements at some indices.
    pub(crate) fn pick(&self, places: impl Iterator<Item = usize>) -> Data {
        fn picked<T: Clone>(items: &[T], places: impl Iterator<Item = usize>) -> Vec<T> {
            places.map(|place| items[place].clone()).collect()
        }
        map_each!(self, items => picked(items, places))
    }

    /// The elements at some indices; `None` selects the fill value.
    pub(crate) fn pick_or(&self, places: &[Option<usize>], fill: f64) -> Data {
        let mut picked = Data::from_floats(self.dtype(), std::iter::repeat_n(fill, places.len()));
        let (to, from): (Vec<usize>, Vec<usize>) =
            places.iter().enumerate().filter_map(|(i, place)| place.map(|place| (i, place))).unzip();
        picked.put(&to, self, |i| from[i]);
        picked
    }

    /// Stores `from[number(i)]` at `places[i]` for each `i`; does nothing if the element types differ.
    pub(crate) fn put(&mut self, places: &[usize], from: &Data, number: impl Fn(usize) -> usize) {
        fn put<T: Clone>(to: &mut [T], places: &[usize], from: &[T], number: impl Fn(usize) -> usize) {
            places.iter().enumerate().for_each(|(i, place)| to[*place] = from[number(i)].clone());
        }
        each_pair!(self, from, to, from => put(to, places, from, number));
    }

    /// Appends elements; does nothing if the element types differ.
    pub(crate) fn append(&mut self, other: &Data) {
        self.append_range(other, 0..other.len());
    }

    /// Appends a range of elements; does nothing if the element types differ.
    pub(crate) fn append_range(&mut self, other: &Data, range: std::ops::Range<usize>) {
        each_pair!(self, other, to, from => to.extend_from_slice(&from[range]));
    }

    /// The bytes of the elements, each in the width that it has here: narrow floats in 32 bits, and small integers, too.
    /// Text has none.
    #[cfg(feature = "eval")]
    pub(crate) fn le_bytes(&self) -> Vec<u8> {
        fn bytes<T: Copy, const N: usize>(items: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
            items.iter().flat_map(|&item| to(item)).collect()
        }
        match self {
            Data::Float32(items) | Data::Narrow(_, items) => bytes(items, f32::to_le_bytes),
            Data::Float64(items) => bytes(items, f64::to_le_bytes),
            Data::Int32(items) | Data::Small(_, items) => bytes(items, i32::to_le_bytes),
            Data::Int64(items) => bytes(items, i64::to_le_bytes),
            Data::Bool(items) => bytes(items, |item| [u8::from(item)]),
            Data::Uint32(items) => bytes(items, u32::to_le_bytes),
            Data::Uint64(items) => bytes(items, u64::to_le_bytes),
            Data::Complex64(items) => bytes(items.as_flattened(), f32::to_le_bytes),
            Data::Complex128(items) => bytes(items.as_flattened(), f64::to_le_bytes),
            Data::Text(_) => Vec::new(),
        }
    }

    /// The bytes of the elements in files: scalars have 32 bits, integers 64, logicals 8. Those of other notations
    /// than NNEF have none.
    #[cfg(feature = "eval")]
    pub(crate) fn stored(&self) -> Vec<u8> {
        let size = match self.dtype() {
            of if of.is_float() => 4,
            of if of.is_integer() => 8,
            DType::Bool => 1,
            _ => 0,
        };
        let mut bytes = vec![0; self.len() * size];
        self.fill_stored(0, &mut bytes);
        bytes
    }

    /// Fills a buffer with the bytes that elements have in files, from the element at a place on.
    #[cfg(feature = "eval")]
    pub(crate) fn fill_stored(&self, first: usize, bytes: &mut [u8]) {
        fn fill<T: Copy, const N: usize>(items: &[T], place: (usize, &mut [u8]), to: impl Fn(T) -> [u8; N]) {
            let items = items.get(place.0..).unwrap_or_default();
            place.1.as_chunks_mut::<N>().0.iter_mut().zip(items).for_each(|(place, item)| *place = to(*item));
        }
        let place = (first, bytes);
        match self {
            Data::Float32(items) | Data::Narrow(_, items) => fill(items, place, f32::to_le_bytes),
            Data::Float64(items) => fill(items, place, |item| (item as f32).to_le_bytes()),
            Data::Int32(items) | Data::Small(_, items) => fill(items, place, |item| i64::from(item).to_le_bytes()),
            Data::Uint32(items) => fill(items, place, |item| i64::from(item).to_le_bytes()),
            Data::Int64(items) => fill(items, place, i64::to_le_bytes),
            Data::Uint64(items) => fill(items, place, u64::to_le_bytes),
            Data::Bool(items) => fill(items, place, |item| [u8::from(item)]),
            Data::Complex64(_) | Data::Complex128(_) | Data::Text(_) => {}
        }
    }

    /// Appends 0 or `false` up to a number of elements.
    pub(crate) fn pad(&mut self, len: usize) {
        let more = Data::zeros(self.dtype(), len.saturating_sub(self.len()));
        self.append(&more);
    }

    /// An element as a float: of a complex number the real part, of text NaN.
    pub fn float(&self, at: usize) -> f64 {
        match self {
            Data::Float32(items) => f64::from(items[at]),
            Data::Float64(items) => items[at],
            Data::Int32(items) => f64::from(items[at]),
            Data::Int64(items) => items[at] as f64,
            Data::Bool(items) => f64::from(u8::from(items[at])),
            Data::Narrow(_, items) => f64::from(items[at]),
            Data::Small(_, items) => f64::from(items[at]),
            Data::Uint32(items) => f64::from(items[at]),
            Data::Uint64(items) => items[at] as f64,
            Data::Complex64(items) => f64::from(items[at][0]),
            Data::Complex128(items) => items[at][0],
            Data::Text(_) => f64::NAN,
        }
    }

    /// The real and the imaginary part of an element.
    pub(crate) fn complex(&self, at: usize) -> [f64; 2] {
        match self {
            Data::Complex64(items) => items[at].map(f64::from),
            Data::Complex128(items) => items[at],
            other => [other.float(at), 0.0],
        }
    }

    /// An element as an integer; floats are truncated, unsigned numbers beyond the range are its end.
    pub(crate) fn integer(&self, at: usize) -> i64 {
        match self {
            Data::Float32(items) => items[at] as i64,
            Data::Float64(items) => items[at] as i64,
            Data::Int32(items) => i64::from(items[at]),
            Data::Int64(items) => items[at],
            Data::Bool(items) => i64::from(items[at]),
            Data::Small(_, items) => i64::from(items[at]),
            Data::Uint32(items) => i64::from(items[at]),
            Data::Uint64(items) => i64::try_from(items[at]).unwrap_or(i64::MAX),
            other => other.float(at) as i64,
        }
    }

    /// Elements of a type that a function appends, a block of items at a time.
    fn appended<T: Copy + Default>(
        dtype: DType,
        items: impl Iterator<Item = T>,
        append: impl Fn(&mut Data, &[T]),
    ) -> Data {
        let mut data = Data::zeros(dtype, 0);
        data.reserve(items.size_hint().0);
        in_blocks(items, |block| append(&mut data, block));
        data
    }

    /// Converts floats to elements of a type: rounded, with an imaginary part of 0, or as text.
    pub(crate) fn from_floats(dtype: DType, items: impl Iterator<Item = f64>) -> Data {
        Data::appended(dtype, items, Data::append_floats)
    }

    fn append_floats(&mut self, floats: &[f64]) {
        let items = floats.iter().copied();
        match self {
            Data::Float32(all) => all.extend(items.map(|x| x as f32)),
            Data::Float64(all) => all.extend(items),
            Data::Int32(all) => all.extend(items.map(|x| x as i32)),
            Data::Int64(all) => all.extend(items.map(|x| x as i64)),
            Data::Bool(all) => all.extend(items.map(|x| x != 0.0)),
            Data::Narrow(format, all) => format.append_rounded(floats, all),
            Data::Small(integer, all) => all.extend(items.map(|x| integer.wrap(x as i64 as i32))),
            Data::Uint32(all) => all.extend(items.map(|x| x as u32)),
            Data::Uint64(all) => all.extend(items.map(|x| x as u64)),
            Data::Complex64(all) => all.extend(items.map(|x| [x as f32, 0.0])),
            Data::Complex128(all) => all.extend(items.map(|x| [x, 0.0])),
            Data::Text(all) => all.extend(items.map(|x| Arc::from(x.to_string()))),
        }
    }

    /// An element as an integer of any width; floats are truncated.
    pub(crate) fn wide(&self, at: usize) -> i128 {
        match self {
            Data::Uint64(items) => items[at].into(),
            other => other.integer(at).into(),
        }
    }

    /// Converts integers to elements of a type: those of integer types keep the lowest bits.
    pub(crate) fn from_wide(dtype: DType, items: impl Iterator<Item = i128>) -> Data {
        Data::appended(dtype, items, Data::append_wide)
    }

    fn append_wide(&mut self, items: &[i128]) {
        let items = items.iter().copied();
        match self {
            Data::Int32(all) => all.extend(items.map(|x| x as i32)),
            Data::Int64(all) => all.extend(items.map(|x| x as i64)),
            Data::Small(integer, all) => all.extend(items.map(|x| integer.wrap(x as i32))),
            Data::Uint32(all) => all.extend(items.map(|x| x as u32)),
            Data::Uint64(all) => all.extend(items.map(|x| x as u64)),
            Data::Bool(all) => all.extend(items.map(|x| x != 0)),
            Data::Text(all) => all.extend(items.map(|x| Arc::from(x.to_string()))),
            other => in_blocks(items.map(|x| x as f64), |block| other.append_floats(block)),
        }
    }
}

/// Passes items on in blocks. What depends on the type of the elements is then compiled once, not for each iterator, of
/// which there are a hundred.
fn in_blocks<T: Copy + Default>(items: impl Iterator<Item = T>, mut take: impl FnMut(&[T])) {
    const BLOCK: usize = 64;
    let (mut block, mut filled) = ([T::default(); BLOCK], 0);
    items.for_each(|item| {
        block[filled] = item;
        filled += 1;
        if filled == BLOCK {
            take(&block);
            filled = 0;
        }
    });
    take(&block[..filled]);
}
