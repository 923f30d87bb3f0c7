//! Tensors whose elements are in row-major order.

use smallvec::SmallVec;

use super::data::{Data, Element};
use super::dtype::DType;
use super::error::TensorError;

/// The maximum rank of tensors in evaluations.
pub(crate) const MAX_RANK: usize = 32;

/// The extents of a tensor.
pub(crate) type Dims = SmallVec<[usize; 4]>;

/// A tensor: elements of one type in row-major order, and a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub(super) shape: Dims,
    pub(super) data: Data,
}

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

    /// A tensor with these elements.
    ///
    /// # Errors
    ///
    /// The number of elements is not that of the shape.
    pub(crate) fn with(shape: &[usize], data: Data) -> Result<Self, TensorError> {
        let count = data.len();
        let unfilled = || TensorError::new(format!("{count} items do not fill the shape {shape:?}"));
        Tensor::new(shape, data).ok_or_else(unfilled)
    }

    /// A tensor with elements of any type.
    ///
    /// # Errors
    ///
    /// The number of elements is not that of the shape.
    pub(crate) fn of<T: Element>(shape: &[usize], items: Vec<T>) -> Result<Self, TensorError> {
        Tensor::with(shape, T::pack(items))
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

    /// The memory of the elements, in units of 8 bytes.
    pub(crate) fn weight(&self) -> usize {
        self.data.weight()
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
        let from = self.dtype();
        if from == to || !to.is_float() || from == DType::Text || from.is_complex() {
            return self.exactly(to);
        }
        let data = Data::from_floats(to, (0..self.len()).map(|i| self.data.float(i)));
        Ok(Tensor { shape: self.shape, data })
    }

    /// Converts numbers to 64 bits, the precision of the reference evaluator.
    pub(crate) fn widened(self) -> Self {
        Tensor { shape: self.shape, data: self.data.widened() }
    }

    /// A copy of [`Self::widened`], without a further one.
    pub(crate) fn to_widened(&self) -> Self {
        let data = self.data.wider().unwrap_or_else(|| self.data.clone());
        Tensor { shape: self.shape.clone(), data }
    }
}

impl Data {
    /// Numbers of 64 bits, the precision of the reference evaluator.
    pub(crate) fn widened(self) -> Self {
        self.wider().unwrap_or(self)
    }

    /// The elements as numbers of 64 bits, if they are numbers of fewer bits.
    fn wider(&self) -> Option<Data> {
        match self {
            Data::Float32(items) | Data::Narrow(_, items) => {
                Some(Data::Float64(items.iter().copied().map(f64::from).collect()))
            }
            Data::Int32(items) => Some(Data::Int64(items.iter().copied().map(i64::from).collect())),
            _ => None,
        }
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
        assert_eq!(scalars.clone().into_type(DType::Int64).unwrap_err().0, "0.5 is not of type int64");
        assert_eq!(scalars.into_type(DType::Bool).unwrap_err().0, "2.0 is not of type bool");
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
