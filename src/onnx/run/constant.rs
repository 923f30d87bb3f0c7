//! Long constants whose elements are read when they are needed, from the file that has them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::element::dtype;
use super::stored::{Stores, data, external, shape};
use crate::eval::{Budget, EvalError};
use crate::onnx::contents::FieldBytes;
use crate::onnx::elements::{Elements, Unread, fixed_data, raw_bytes};
use crate::onnx::model::TensorProto;
use crate::onnx::types::ElementType;
use crate::tensor::{DType, Data, Dims, MAX_RANK, Tensor, volume};

/// The fewest bytes of a constant that is read when it is needed.
const LONG: usize = 1 << 10;

/// The number of elements that are decoded at once.
const BLOCK: usize = 1 << 16;

/// A constant of elements of whole bytes, one after another. Copies share them.
#[derive(Clone, Debug)]
pub(crate) struct LongConstant {
    shape: Dims,
    element: &'static ElementType,
    dtype: DType,
    place: ConstantPlace,
}

/// Where the elements are.
#[derive(Clone, Debug)]
enum ConstantPlace {
    /// In the model.
    Field(FieldBytes),
    /// In a file beside it, from an offset on. It is not open meanwhile: there may be thousands of such files.
    Beside(Arc<Path>, u64),
}

/// The shape, the element type and the number of bytes of a constant that is long, and whose elements are whole bytes.
fn form(of: &TensorProto) -> Option<(Dims, &'static ElementType, DType, usize)> {
    let element = of.data_type.and_then(ElementType::numbered);
    let element = element.filter(|element| matches!(element.bits, 1 | 8 | 16 | 32 | 64))?;
    let dtype = dtype(element).filter(|dtype| !dtype.is_complex())?;
    let shape = Dims::from(shape(of).ok().filter(|shape| shape.len() <= MAX_RANK)?);
    let bytes = volume(&shape)?.checked_mul(raw_bytes(element)).filter(|bytes| *bytes >= LONG)?;
    Some((shape, element, dtype, bytes))
}

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
        let Some((shape, element, dtype, bytes)) = form(of) else { return Ok(None) };
        let (path, offset, length) = external(of, stores)?;
        let place = (length == bytes as u64).then(|| ConstantPlace::Beside(path.into(), offset));
        Ok(place.map(|place| LongConstant { shape, element, dtype, place }))
    }

    /// A long constant whose elements are in the model; none if it is short, or its elements have other forms.
    pub(crate) fn within(of: &TensorProto) -> Option<Self> {
        let (shape, element, dtype, bytes) = form(of)?;
        let field = fixed_data(of, element).filter(|data| data.bytes.len() == bytes && !of.is_external())?;
        Some(LongConstant { shape, element, dtype, place: ConstantPlace::Field(field.bytes.clone()) })
    }

    /// The extents.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        volume(&self.shape).unwrap_or(0)
    }

    /// The bytes of an element.
    pub(crate) fn width(&self) -> usize {
        raw_bytes(self.element)
    }

    /// Fills a buffer with the bytes of the elements, from a byte on.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn fill(&self, at: usize, buffer: &mut [u8]) -> io::Result<()> {
        match &self.place {
            ConstantPlace::Field(field) => field.fill(at, buffer),
            ConstantPlace::Beside(path, offset) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(offset.saturating_add(at as u64)))?;
                file.read_exact(buffer)
            }
        }
    }

    /// Gives the elements of a range to a function, in blocks with the places where they begin.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn elements(&self, range: Range<usize>, mut take: impl FnMut(usize, Elements)) -> io::Result<()> {
        let mut bytes = Vec::new();
        for start in range.clone().step_by(BLOCK) {
            let count = BLOCK.min(range.end - start);
            bytes.resize(count * self.width(), 0);
            self.fill(start * self.width(), &mut bytes)?;
            let elements = Elements::of_raw(&bytes, self.element, count);
            take(start, elements.map_err(|Unread| io::ErrorKind::InvalidData)?);
        }
        Ok(())
    }

    /// [`Self::elements`] as those of tensors.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn blocks(&self, range: Range<usize>, mut take: impl FnMut(usize, Data)) -> io::Result<()> {
        self.elements(range, |start, elements| {
            if let Some(block) = data(self.element, elements) {
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
        let tensor = all.and_then(|all| Tensor::new(&self.shape, all));
        tensor.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The tensor, if the limits allow it.
    ///
    /// # Errors
    ///
    /// A limit is exceeded, or the file cannot be read.
    pub(crate) fn tensor(&self, budget: &Budget) -> Result<Tensor, EvalError> {
        budget.extents(&self.shape)?;
        self.read(|block| block).map_err(|error| super::stored::unread(error.to_string()))
    }

    /// The same elements in another shape, if it has as many.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Option<Self> {
        (volume(shape) == Some(self.len())).then(|| LongConstant { shape: shape.into(), ..self.clone() })
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
