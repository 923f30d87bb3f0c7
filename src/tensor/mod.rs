//! Tensors, and their files.
//!
//! A tensor is a shape and packed elements of one of five types. A [`Tensor`] has its elements in row-major order, so
//! that its shape is a list of extents. An [`ArrayShape`] also has the number format, dynamic sizes and a [`Layout`].
//! A [`Buffer`] is the memory of a tensor in any layout. The types of NNEF are scalars, integers and logicals: the
//! reference evaluator and the readers of files represent them as 64-bit floating point numbers, 64-bit integers and
//! logicals, for any file, and scalars are rounded to 32 bits when written (see `docs/evaluation.md`). Networks
//! with loops use the types that they declare.

mod arrange;
mod buffer;
#[cfg(feature = "eval")]
pub(crate) mod dat;
mod data;
pub(crate) mod json;
pub(crate) mod kernels;
#[cfg(feature = "eval")]
pub(crate) mod npy;
#[cfg(feature = "eval")]
pub(crate) mod npz;
pub(crate) mod shape;
pub(crate) mod usage;

use std::fmt;

use smallvec::SmallVec;

pub use buffer::Buffer;
pub use data::Data;
pub(crate) use data::Element;
pub use shape::{ArrayShape, Dimension, ElementType, Ignoring, Layout, PaddingValue, Shape, ShapeList};

/// The maximum rank of tensors in evaluations.
pub(crate) const MAX_RANK: usize = 32;

/// The extents of a tensor.
pub(crate) type Dims = SmallVec<[usize; 4]>;

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

/// A tensor: elements of one type in row-major order, and a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Dims,
    data: Data,
}

/// The error of bytes or values that do not form a valid tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorError(pub(crate) String);

impl TensorError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        TensorError(message.into())
    }
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TensorError {}

/// The number of items of a shape; none if it does not fit into memory.
pub(crate) fn volume(shape: &[usize]) -> Option<usize> {
    // The product of the other extents must not overflow even if one extent is 0: `ndarray` refuses such shapes.
    let all = shape.iter().filter(|&&extent| extent != 0).try_fold(1usize, |all, &extent| all.checked_mul(extent))?;
    let all = Some(all).filter(|&all| all <= isize::MAX as usize / 8)?;
    Some(if shape.contains(&0) { 0 } else { all })
}

impl Tensor {
    /// A tensor; none if the number of elements differs from that of the shape.
    pub fn new(shape: &[usize], data: Data) -> Option<Tensor> {
        (volume(shape) == Some(data.len())).then(|| Tensor { shape: shape.into(), data })
    }

    /// A tensor with elements of any type.
    ///
    /// # Errors
    ///
    /// The number of elements is not that of the shape.
    pub(crate) fn of<T: Element>(shape: &[usize], items: Vec<T>) -> Result<Self, TensorError> {
        let count = items.len();
        let unfilled = || TensorError::new(format!("{count} items do not fill the shape {shape:?}"));
        Tensor::new(shape, T::pack(items)).ok_or_else(unfilled)
    }

    /// A tensor of scalars.
    ///
    /// ```
    /// use nnef_flatten::tensor::Tensor;
    ///
    /// let tensor = Tensor::scalars(&[2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(tensor.shape(), [2, 2]);
    /// assert!(Tensor::scalars(&[2, 3], vec![1.0]).is_err());
    /// # Ok::<(), nnef_flatten::tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The number of items is not that of the shape.
    pub fn scalars(shape: &[usize], items: Vec<f64>) -> Result<Self, TensorError> {
        Tensor::of(shape, items)
    }

    /// A tensor of integers.
    ///
    /// # Errors
    ///
    /// The number of items is not that of the shape.
    pub fn integers(shape: &[usize], items: Vec<i64>) -> Result<Self, TensorError> {
        Tensor::of(shape, items)
    }

    /// A tensor of logicals.
    ///
    /// # Errors
    ///
    /// The number of items is not that of the shape.
    pub fn logicals(shape: &[usize], items: Vec<bool>) -> Result<Self, TensorError> {
        Tensor::of(shape, items)
    }

    /// A tensor of rank 0; none if there is not exactly one element.
    pub fn scalar(data: Data) -> Option<Self> {
        Tensor::new(&[], data)
    }

    /// A scalar tensor of rank 0.
    #[cfg(feature = "eval")]
    pub(crate) fn number(value: f64) -> Self {
        Tensor { shape: Dims::new(), data: Data::Float64(vec![value]) }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the elements without the shape.
    pub(crate) fn into_data(self) -> Data {
        self.data
    }

    /// The elements, if they have this type.
    pub(crate) fn items<T: Element>(&self) -> Option<&[T]> {
        T::of(&self.data)
    }

    /// The number of axes.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// The memory usage in bytes: that of the elements, and a fixed overhead.
    pub(crate) fn bytes(&self) -> u64 {
        (self.data.len() * self.dtype().size()) as u64 + 64
    }

    /// The only element as an integer, if there is exactly one.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        (self.data.len() == 1).then(|| self.data.integer(0))
    }

    /// The only element as a logical, if there is exactly one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        self.items::<bool>().filter(|items| items.len() == 1).map(|items| items[0])
    }

    /// The elements as real numbers: logicals become 0 and 1.
    pub fn to_scalars(&self) -> Vec<f64> {
        (0..self.len()).map(|i| self.data.float(i)).collect()
    }

    /// Converts to another type, if no value changes: integers to scalars, integral scalars to integers, 0 and 1
    /// to logicals. Scalars are rounded to the precision of the type.
    ///
    /// # Errors
    ///
    /// A value cannot be represented in the other type.
    pub(crate) fn into_type(self, to: DType) -> Result<Self, TensorError> {
        if self.dtype() == to {
            return Ok(self);
        }
        let lost = |item: &dyn fmt::Display| TensorError::new(format!("{item} is not of type {}", to.keyword()));
        let whole = |i: usize| {
            let item = self.data.float(i);
            let exact = !self.dtype().is_float() || item.fract() == 0.0 && item.abs() < 9e15;
            if exact { Ok(self.data.integer(i)) } else { Err(lost(&item)) }
        };
        let narrow =
            |item: i64| i32::try_from(item).map_err(|_| TensorError::new(format!("{item} is not of type int32")));
        let logical = |i: usize| match self.data.float(i) {
            0.0 => Ok(false),
            1.0 => Ok(true),
            other => Err(lost(&other)),
        };
        let places = 0..self.len();
        let data = match to {
            DType::Float32 | DType::Float64 => Data::from_floats(to, places.map(|i| self.data.float(i))),
            DType::Int64 => Data::Int64(places.map(whole).collect::<Result<_, _>>()?),
            DType::Int32 => Data::Int32(places.map(|i| narrow(whole(i)?)).collect::<Result<_, _>>()?),
            DType::Bool => Data::Bool(places.map(logical).collect::<Result<_, _>>()?),
        };
        Ok(Tensor { shape: self.shape, data })
    }

    /// Converts numbers to 64 bits, the precision of the reference evaluator.
    pub(crate) fn widened(self) -> Self {
        let data = match self.data {
            Data::Float32(items) => Data::Float64(items.into_iter().map(f64::from).collect()),
            Data::Int32(items) => Data::Int64(items.into_iter().map(i64::from).collect()),
            other => other,
        };
        Tensor { data, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_do_not_overflow() {
        assert_eq!(volume(&[2, 3]), Some(6));
        assert_eq!(volume(&[]), Some(1));
        assert_eq!(volume(&[usize::MAX, 2]), None);
        assert_eq!(volume(&[usize::MAX, 2, 0]), None);
        assert_eq!(volume(&[3, 0]), Some(0));
    }

    #[test]
    fn types_change_where_values_stay() {
        let integers = Tensor::integers(&[2], vec![0, 1]).unwrap();
        assert_eq!(integers.clone().into_type(DType::Float64), Tensor::scalars(&[2], vec![0.0, 1.0]));
        assert_eq!(integers.into_type(DType::Bool), Tensor::logicals(&[2], vec![false, true]));
        let scalars = Tensor::scalars(&[2], vec![2.0, 0.5]).unwrap();
        assert_eq!(scalars.clone().into_type(DType::Int64).unwrap_err().0, "0.5 is not of type integer");
        assert_eq!(scalars.into_type(DType::Bool).unwrap_err().0, "2 is not of type logical");
        assert!(Tensor::integers(&[1], vec![1 << 40]).unwrap().into_type(DType::Int32).is_err());
    }

    #[test]
    fn wide_values_come_back() {
        let values = [
            Data::Float32(vec![0.1, -2.0]),
            Data::Float64(vec![0.1, f64::NEG_INFINITY]),
            Data::Int32(vec![i32::MIN, 7]),
            Data::Int64(vec![i64::MAX, -1]),
            Data::Bool(vec![true, false]),
        ];
        for data in values {
            let value = Tensor::new(&[2, 1], data).unwrap();
            assert_eq!(value.clone().widened().into_type(value.dtype()), Ok(value));
        }
    }
}
