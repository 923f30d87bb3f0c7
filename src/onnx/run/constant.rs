//! Long constants as tensors.

use std::io;
use std::ops::Range;

use super::element::dtype;
use super::stored::{Stores, data, external, failed, unread};
use crate::eval::{Budget, EvalError};
use crate::onnx::contents::ClosedFile;
use crate::onnx::elements::LongConstant;
use crate::onnx::model::TensorProto;
use crate::tensor::{DType, Data, Tensor};

impl LongConstant {
    /// A long constant; none if it is short, or its elements have other forms.
    ///
    /// # Errors
    ///
    /// The file beside the model does not have its data.
    pub(crate) fn of(of: &TensorProto, stores: &Stores) -> Result<Option<Self>, EvalError> {
        if !of.is_external() {
            return Ok(Self::within(of));
        }
        Self::beside(of, || {
            let (path, offset, length) = external(of, stores)?;
            let file = ClosedFile::new(path.as_path().into()).map_err(|error| failed(&path, &error))?;
            Ok((file, offset, length))
        })
    }

    /// The type of the elements, which all have one.
    pub(crate) fn dtype(&self) -> DType {
        dtype(self.element()).unwrap_or(DType::Text)
    }

    /// [`Self::elements`] as those of tensors.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn blocks(&self, range: Range<usize>, mut take: impl FnMut(usize, Data)) -> io::Result<()> {
        self.elements(range, |start, elements| {
            if let Some(block) = data(self.element(), elements) {
                take(start, block);
            }
        })
    }

    /// All elements, each block changed by a function.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn read(&self, change: impl Fn(Data) -> Data) -> io::Result<Tensor> {
        let mut all: Option<Data> = None;
        self.blocks(0..self.len(), |_, block| {
            let block = change(block);
            let all = all.get_or_insert_with(|| {
                let mut all = Data::zeros(block.dtype(), 0);
                all.reserve(self.len());
                all
            });
            all.append(&block);
        })?;
        let tensor = all.and_then(|all| Tensor::new(self.shape(), all));
        tensor.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The tensor, if the limits allow it.
    ///
    /// # Errors
    ///
    /// A limit is exceeded, or the file cannot be read.
    pub(crate) fn tensor(&self, budget: &Budget) -> Result<Tensor, EvalError> {
        budget.extents(self.shape())?;
        self.read(|block| block).map_err(|error| unread(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Limits;
    use crate::onnx::run::{tensor_of, tensor_proto};
    use crate::onnx::types::ELEMENTS;

    #[test]
    fn long_constants_are_those_that_are_read_at_once() {
        let (budget, stores) = (Budget::new(Limits::default()), Stores::new(None));
        let mut long = 0;
        for element in ELEMENTS {
            let items = (0..5000).map(|i| f64::from(i % 3));
            let data = Data::from_floats(dtype(element).unwrap(), items);
            let tensor = Tensor::new(&[50, 100], data).unwrap();
            let proto = tensor_proto(&tensor, None);
            let wanted = tensor_of(&proto, &stores, &budget).unwrap();
            let Some(constant) = LongConstant::of(&proto, &stores).unwrap() else { continue };
            long += 1;
            assert_eq!(constant.tensor(&budget).unwrap(), wanted, "{}", element.name);
            assert_eq!((constant.len(), constant.dtype()), (wanted.len(), wanted.dtype()));
            let mut some = Data::zeros(wanted.dtype(), 0);
            constant.blocks(7..4000, |_, block| some.append(&block)).unwrap();
            let mut same = Data::zeros(wanted.dtype(), 0);
            same.append_range(wanted.data(), 7..4000);
            assert_eq!(some, same, "{}", element.name);
            assert!(constant.reshaped(&[5000]).is_some() && constant.reshaped(&[4999]).is_none());
        }
        assert!(long > 10, "{long} types have long constants");
        let short = Tensor::new(&[3], Data::Float32(vec![1.0; 3])).unwrap();
        assert!(LongConstant::of(&tensor_proto(&short, None), &stores).unwrap().is_none());
    }
}
