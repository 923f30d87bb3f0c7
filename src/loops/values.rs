//! Values of networks as tensors of the evaluator of flat graphs, and back.

use super::tensor::{DType, Data, Dims, Tensor};
use crate::tensor::{self, ElementType, TensorError};

/// The same values without the width of their type.
///
/// # Errors
///
/// The tensor has too many elements.
pub fn to_tensor(value: &Tensor) -> Result<tensor::Tensor, TensorError> {
    let (shape, data) = (value.shape(), value.data());
    let places = 0..data.len();
    match value.dtype() {
        DType::Bool => tensor::Tensor::logicals(shape, places.map(|at| data.integer(at) != 0).collect()),
        DType::Int32 | DType::Int64 => tensor::Tensor::integers(shape, places.map(|at| data.integer(at)).collect()),
        DType::Float32 | DType::Float64 => tensor::Tensor::scalars(shape, places.map(|at| data.float(at)).collect()),
    }
}

/// A tensor as a value of a type: scalars are rounded to its width.
///
/// # Errors
///
/// A value does not exist in the type.
pub fn from_tensor(tensor: &tensor::Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let shape: Dims = tensor.shape().into();
    let kind = match dtype {
        DType::Bool => ElementType::Logical,
        DType::Int32 | DType::Int64 => ElementType::Integer,
        DType::Float32 | DType::Float64 => ElementType::Scalar,
    };
    let narrow = |item: &i64| i32::try_from(*item).map_err(|_| TensorError(format!("{item} is no int32")));
    let data = match tensor.clone().into_type(kind)? {
        tensor::Tensor::Logical(items) => Data::Bool(items.into_iter().collect()),
        tensor::Tensor::Integer(items) if dtype == DType::Int32 => {
            Data::Int32(items.iter().map(narrow).collect::<Result<_, _>>()?)
        }
        tensor::Tensor::Integer(items) => Data::Int64(items.into_iter().collect()),
        tensor::Tensor::Scalar(items) => Data::from_floats(dtype, items.into_iter()),
    };
    Tensor::new(shape, data).ok_or_else(|| TensorError(format!("the elements do not fill {:?}", tensor.shape())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let values = [
            Data::Float32(vec![0.1, -2.0]),
            Data::Float64(vec![0.1, f64::NEG_INFINITY]),
            Data::Int32(vec![i32::MIN, 7]),
            Data::Int64(vec![i64::MAX, -1]),
            Data::Bool(vec![true, false]),
        ];
        for data in values {
            let value = Tensor::new(Dims::from([2, 1].as_slice()), data).expect("two elements");
            let there = to_tensor(&value).expect("a small tensor");
            assert_eq!(from_tensor(&there, value.dtype()), Ok(value));
        }
    }

    #[test]
    fn what_a_type_does_not_have_is_refused() {
        let tensor = tensor::Tensor::integers(&[1], vec![1 << 40]).expect("one item");
        assert!(from_tensor(&tensor, DType::Int32).is_err());
        assert!(from_tensor(&tensor, DType::Bool).is_err());
    }
}
