//! Tensors, and the files that hold them.
//!
//! NNEF knows three types of items: scalars, integers and logicals. Scalars are kept as 64-bit
//! floating point numbers whatever the file they come from, and rounded to 32 bits where they are
//! written; `docs/evaluation.md` says why.

pub mod dat;
pub mod json;
pub mod npy;
pub mod npz;

use std::fmt;

use ndarray::{ArrayD, IxDyn};

/// The type of a tensor's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// Real numbers.
    Scalar,
    /// Whole numbers of 64 bits.
    Integer,
    /// Truth values.
    Logical,
}

impl ElementType {
    /// The keyword of the type.
    pub fn text(self) -> &'static str {
        match self {
            ElementType::Scalar => "scalar",
            ElementType::Integer => "integer",
            ElementType::Logical => "logical",
        }
    }

    /// The type of the items in files, as numpy calls it.
    pub fn stored(self) -> &'static str {
        match self {
            ElementType::Scalar => "float32",
            ElementType::Integer => "int64",
            ElementType::Logical => "bool",
        }
    }
}

/// A tensor: items of one type in row-major order, and a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Tensor {
    /// Of real numbers.
    Scalar(ArrayD<f64>),
    /// Of whole numbers.
    Integer(ArrayD<i64>),
    /// Of truth values.
    Logical(ArrayD<bool>),
}

/// Applies an expression to the array of a tensor, whatever its type, and makes a tensor of the
/// array that it gives.
macro_rules! map_array {
    ($tensor:expr, $array:ident => $result:expr) => {
        match $tensor {
            $crate::tensor::Tensor::Scalar($array) => $crate::tensor::Tensor::Scalar($result),
            $crate::tensor::Tensor::Integer($array) => $crate::tensor::Tensor::Integer($result),
            $crate::tensor::Tensor::Logical($array) => $crate::tensor::Tensor::Logical($result),
        }
    };
}
pub(crate) use map_array;

/// Why bytes or values are no tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorError(pub String);

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
pub fn volume(shape: &[usize]) -> Option<usize> {
    // Extents of 0 must not hide that the others overflow: arrays are not made of such shapes.
    let all = shape.iter().filter(|&&extent| extent != 0).try_fold(1usize, |all, &extent| all.checked_mul(extent))?;
    let all = Some(all).filter(|&all| all <= isize::MAX as usize / 8)?;
    Some(if shape.contains(&0) { 0 } else { all })
}

/// An array of items in row-major order.
///
/// # Errors
///
/// The number of items is not that of the shape.
pub fn array<T>(shape: &[usize], items: Vec<T>) -> Result<ArrayD<T>, TensorError> {
    let count = items.len();
    if volume(shape) != Some(count) {
        return Err(TensorError::new(format!("{count} items do not fill the shape {shape:?}")));
    }
    ArrayD::from_shape_vec(IxDyn(shape), items).map_err(|error| TensorError::new(error.to_string()))
}

impl Tensor {
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
        array(shape, items).map(Tensor::Scalar)
    }

    /// A tensor of integers.
    ///
    /// # Errors
    ///
    /// The number of items is not that of the shape.
    pub fn integers(shape: &[usize], items: Vec<i64>) -> Result<Self, TensorError> {
        array(shape, items).map(Tensor::Integer)
    }

    /// A tensor of logicals.
    ///
    /// # Errors
    ///
    /// The number of items is not that of the shape.
    pub fn logicals(shape: &[usize], items: Vec<bool>) -> Result<Self, TensorError> {
        array(shape, items).map(Tensor::Logical)
    }

    /// A tensor of rank 0.
    pub fn scalar(value: f64) -> Self {
        Tensor::Scalar(ArrayD::from_elem(IxDyn(&[]), value))
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        match self {
            Tensor::Scalar(array) => array.shape(),
            Tensor::Integer(array) => array.shape(),
            Tensor::Logical(array) => array.shape(),
        }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        match self {
            Tensor::Scalar(array) => array.len(),
            Tensor::Integer(array) => array.len(),
            Tensor::Logical(array) => array.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the items.
    pub fn element_type(&self) -> ElementType {
        match self {
            Tensor::Scalar(_) => ElementType::Scalar,
            Tensor::Integer(_) => ElementType::Integer,
            Tensor::Logical(_) => ElementType::Logical,
        }
    }

    /// The items as real numbers: logicals count as 0 and 1.
    pub fn to_scalars(&self) -> ArrayD<f64> {
        match self {
            Tensor::Scalar(array) => array.clone(),
            Tensor::Integer(array) => array.mapv(|item| item as f64),
            Tensor::Logical(array) => array.mapv(|item| f64::from(u8::from(item))),
        }
    }

    /// The same values as another type, where no value changes: integers are scalars, whole
    /// scalars are integers, 0 and 1 are logicals.
    ///
    /// # Errors
    ///
    /// A value does not exist in the other type.
    pub fn into_type(self, to: ElementType) -> Result<Self, TensorError> {
        if self.element_type() == to {
            return Ok(self);
        }
        let lost = |item: &dyn fmt::Display| TensorError::new(format!("{item} is no {}", to.text()));
        let integer = |item: &f64| {
            let whole = item.fract() == 0.0 && item.abs() < 9e15;
            if whole { Ok(*item as i64) } else { Err(lost(item)) }
        };
        let shape = self.shape().to_vec();
        match to {
            ElementType::Scalar => Ok(Tensor::Scalar(self.to_scalars())),
            ElementType::Integer => {
                let items = self.to_scalars().iter().map(integer).collect::<Result<_, _>>()?;
                Tensor::integers(&shape, items)
            }
            ElementType::Logical => {
                let logical = |item: &f64| match *item {
                    0.0 => Ok(false),
                    1.0 => Ok(true),
                    other => Err(lost(&other)),
                };
                let items = self.to_scalars().iter().map(logical).collect::<Result<_, _>>()?;
                Tensor::logicals(&shape, items)
            }
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
        assert_eq!(integers.clone().into_type(ElementType::Scalar), Tensor::scalars(&[2], vec![0.0, 1.0]));
        assert_eq!(integers.into_type(ElementType::Logical), Tensor::logicals(&[2], vec![false, true]));
        let scalars = Tensor::scalars(&[2], vec![2.0, 0.5]).unwrap();
        assert_eq!(scalars.clone().into_type(ElementType::Integer).unwrap_err().0, "0.5 is no integer");
        assert_eq!(scalars.into_type(ElementType::Logical).unwrap_err().0, "2 is no logical");
    }
}
