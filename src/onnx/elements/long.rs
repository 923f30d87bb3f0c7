//! Long constants whose elements are read when they are needed, from the file that has them.

use std::io;
use std::ops::Range;

use super::{Elements, Unread, fixed_data, is_complex, raw_bytes};
use crate::onnx::contents::{ClosedFile, FieldBytes};
use crate::onnx::model::TensorProto;
use crate::onnx::types::{ElementType, Storage};
use crate::tensor::{Dims, MAX_RANK, volume};

/// The fewest bytes of a constant that is read when it is needed.
const LONG: usize = 1 << 10;

/// The number of elements that are decoded at once.
const BLOCK: usize = 1 << 16;

/// A constant of elements of whole bytes, one after another. Copies share them.
#[derive(Clone, Debug)]
pub(crate) struct LongConstant {
    shape: Dims,
    element: &'static ElementType,
    place: ConstantPlace,
}

/// Where the elements are.
#[derive(Clone, Debug)]
enum ConstantPlace {
    /// In the model.
    Field(FieldBytes),
    /// In a file beside it, from an offset on.
    Beside(ClosedFile, u64),
}

/// The shape, the element type and the number of bytes of a constant that is long, and whose elements are whole bytes.
fn form(of: &TensorProto) -> Option<(Dims, &'static ElementType, usize)> {
    let element = of.data_type.and_then(ElementType::numbered);
    let element = element.filter(|of| matches!(of.bits, 1 | 8 | 16 | 32 | 64) && !is_complex(of))?;
    let shape = of.dims.iter().map(|extent| usize::try_from(*extent).ok()).collect::<Option<Dims>>()?;
    let bytes = volume(&shape).filter(|_| shape.len() <= MAX_RANK)?.checked_mul(raw_bytes(element))?;
    (bytes >= LONG).then_some((shape, element, bytes))
}

impl LongConstant {
    /// A long constant whose elements are in the model; none if it is short, or its elements have other forms.
    pub(crate) fn within(of: &TensorProto) -> Option<Self> {
        let (shape, element, bytes) = form(of)?;
        let field = fixed_data(of, element).filter(|data| data.bytes.len() == bytes && !of.is_external())?;
        Some(LongConstant { shape, element, place: ConstantPlace::Field(field.bytes.clone()) })
    }

    /// A long constant whose elements are in a file beside the model, which a function finds with their offset and their
    /// number of bytes; none if it is short, or its elements have other forms.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub(crate) fn beside<E>(
        of: &TensorProto,
        find: impl FnOnce() -> Result<(ClosedFile, u64, u64), E>,
    ) -> Result<Option<Self>, E> {
        let Some((shape, element, bytes)) = form(of) else { return Ok(None) };
        let (file, offset, length) = find()?;
        let place = (length == bytes as u64).then(|| ConstantPlace::Beside(file, offset));
        Ok(place.map(|place| LongConstant { shape, element, place }))
    }

    /// The extents.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub(crate) fn element(&self) -> &'static ElementType {
        self.element
    }

    /// Whether it is printed as floats.
    pub(crate) fn is_float(&self) -> bool {
        matches!(self.element.storage, Storage::Float | Storage::Double)
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
            ConstantPlace::Beside(file, offset) => file.read_at(buffer, offset.saturating_add(at as u64)),
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

    /// The same elements in another shape, if it has as many.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Option<Self> {
        (volume(shape) == Some(self.len())).then(|| LongConstant { shape: shape.into(), ..self.clone() })
    }
}
