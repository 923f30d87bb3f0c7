//! Tensors as the evaluator of loops needs them: a shape and packed elements in row-major order.
//!
//! This is deliberately small. Nothing outside `loops::ops` and `loops::eval` looks at [`Data`].

use std::fmt;

use smallvec::SmallVec;

/// The extents of a tensor.
pub type Dims = SmallVec<[usize; 4]>;

/// The most elements of a tensor.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// The most axes of a tensor.
pub const MAX_RANK: usize = 32;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The type of a name such as `float32`.
    pub fn from_name(name: &str) -> Option<DType> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(dtype, _)| *dtype)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _)| *dtype == self).map_or("", |(_, name)| name)
    }

    /// The names of all types.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// Whether it is an integer type.
    pub fn is_integer(self) -> bool {
        matches!(self, DType::Int32 | DType::Int64)
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float32 | DType::Float64)
    }

    /// The bytes of an element.
    pub fn size(self) -> usize {
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

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Of [`DType::Float32`].
    Float32(Vec<f32>),
    /// Of [`DType::Float64`].
    Float64(Vec<f64>),
    /// Of [`DType::Int32`].
    Int32(Vec<i32>),
    /// Of [`DType::Int64`].
    Int64(Vec<i64>),
    /// Of [`DType::Bool`].
    Bool(Vec<bool>),
}

/// Does the same with the elements of any type.
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

/// Makes elements of the same type as others.
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
pub(crate) use map_each;

impl Data {
    /// As many zeros, or `false`.
    pub fn zeros(dtype: DType, len: usize) -> Data {
        match dtype {
            DType::Float32 => Data::Float32(vec![0.0; len]),
            DType::Float64 => Data::Float64(vec![0.0; len]),
            DType::Int32 => Data::Int32(vec![0; len]),
            DType::Int64 => Data::Int64(vec![0; len]),
            DType::Bool => Data::Bool(vec![false; len]),
        }
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

    /// The elements at these places.
    pub fn pick(&self, places: impl Iterator<Item = usize>) -> Data {
        map_each!(self, items => places.map(|place| items[place]).collect())
    }

    /// Appends elements of the same type; those of another are left out.
    pub fn append(&mut self, other: &Data) {
        match (self, other) {
            (Data::Float32(to), Data::Float32(from)) => to.extend_from_slice(from),
            (Data::Float64(to), Data::Float64(from)) => to.extend_from_slice(from),
            (Data::Int32(to), Data::Int32(from)) => to.extend_from_slice(from),
            (Data::Int64(to), Data::Int64(from)) => to.extend_from_slice(from),
            (Data::Bool(to), Data::Bool(from)) => to.extend_from_slice(from),
            _ => {}
        }
    }

    /// Fills up with zeros, or `false`, to a number of elements.
    pub fn pad(&mut self, len: usize) {
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
    pub fn integer(&self, at: usize) -> i64 {
        match self {
            Data::Float32(items) => items[at] as i64,
            Data::Float64(items) => items[at] as i64,
            Data::Int32(items) => i64::from(items[at]),
            Data::Int64(items) => items[at],
            Data::Bool(items) => i64::from(items[at]),
        }
    }

    /// Elements of a type from floats.
    pub fn from_floats(dtype: DType, items: impl Iterator<Item = f64>) -> Data {
        match dtype {
            DType::Float32 => Data::Float32(items.map(|x| x as f32).collect()),
            DType::Float64 => Data::Float64(items.collect()),
            DType::Int32 => Data::Int32(items.map(|x| x as i32).collect()),
            DType::Int64 => Data::Int64(items.map(|x| x as i64).collect()),
            DType::Bool => Data::Bool(items.map(|x| x != 0.0).collect()),
        }
    }
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Dims,
    data: Data,
}

impl Tensor {
    /// A tensor; none if the elements do not fill the shape.
    pub fn new(shape: impl Into<Dims>, data: Data) -> Option<Tensor> {
        let shape = shape.into();
        (volume(&shape) == Some(data.len())).then_some(Tensor { shape, data })
    }

    /// A tensor without axes.
    pub fn scalar(data: Data) -> Option<Tensor> {
        Tensor::new(Dims::new(), data)
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> u64 {
        (self.data.len() * self.dtype().size()) as u64 + 64
    }

    /// The number of a tensor with one element.
    pub fn as_integer(&self) -> Option<i64> {
        (self.data.len() == 1).then(|| self.data.integer(0))
    }

    /// The truth of a tensor with one element.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.data {
            Data::Bool(items) if items.len() == 1 => items.first().copied(),
            _ => None,
        }
    }

    /// What is at an index of an axis: the axis is dropped. None past the end.
    pub fn element(&self, axis: usize, index: usize) -> Option<Tensor> {
        let extent = *self.shape.get(axis)?;
        if index >= extent {
            return None;
        }
        let mut shape = self.shape.clone();
        shape.remove(axis);
        let inner: usize = self.shape[axis + 1..].iter().product();
        let outer: usize = self.shape[..axis].iter().product();
        let data = if outer == 1 {
            let from = index * inner;
            map_each!(&self.data, items => items[from..from + inner].to_vec())
        } else {
            let start = |o: usize| (o * extent + index) * inner;
            self.data.pick((0..outer).flat_map(|o| start(o)..start(o) + inner))
        };
        Some(Tensor { shape, data })
    }

    /// The first axis moved to another place.
    pub fn move_first_axis(self, to: usize) -> Tensor {
        if to == 0 || self.shape.len() <= to {
            return self;
        }
        let mut shape = self.shape.clone();
        let first = shape.remove(0);
        shape.insert(to, first);
        let middle: usize = self.shape[1..=to].iter().product();
        let inner: usize = self.shape[to + 1..].iter().product();
        let place = |m: usize, f: usize| (f * middle + m) * inner;
        let places = (0..middle).flat_map(|m| (0..first).flat_map(move |f| place(m, f)..place(m, f) + inner));
        let data = self.data.pick(places);
        Tensor { shape, data }
    }
}

/// How many elements a shape has; none where that is too many.
pub fn volume(shape: &[usize]) -> Option<usize> {
    // An extent of 0 must not hide others whose product overflows.
    let without_zeros = shape.iter().try_fold(1usize, |volume, &extent| volume.checked_mul(extent.max(1)));
    without_zeros
        .filter(|&volume| volume <= MAX_ELEMENTS && shape.len() <= MAX_RANK)
        .map(|volume| if shape.contains(&0) { 0 } else { volume })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Tensor {
        Tensor::new([2, 3].as_slice(), Data::Int32(vec![0, 1, 2, 3, 4, 5])).unwrap()
    }

    #[test]
    fn elements_lose_their_axis() {
        assert_eq!(matrix().element(0, 1).unwrap().data(), &Data::Int32(vec![3, 4, 5]));
        let column = matrix().element(1, 2).unwrap();
        assert_eq!((column.shape(), column.data()), ([2].as_slice(), &Data::Int32(vec![2, 5])));
        assert_eq!(matrix().element(1, 3), None);
        assert_eq!(matrix().element(2, 0), None);
    }

    #[test]
    fn the_first_axis_moves() {
        let moved = matrix().move_first_axis(1);
        assert_eq!((moved.shape(), moved.data()), ([3, 2].as_slice(), &Data::Int32(vec![0, 3, 1, 4, 2, 5])));
        assert_eq!(matrix().move_first_axis(0), matrix());
    }

    #[test]
    fn shapes_that_are_too_large_are_none() {
        assert_eq!(volume(&[1 << 40, 1 << 40]), None);
        assert_eq!(volume(&[]), Some(1));
        assert!(Tensor::new([3].as_slice(), Data::Bool(vec![true])).is_none());
    }
}
