//! The data of the variables of a translated model.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::item::KnownItems;
use super::refusal::{Lowered, NodeRefusal};
use crate::eval::{Budget, Variables};
use crate::live::Held;
use crate::onnx::elements::LongConstant;
use crate::tensor::dat::{ItemSource, MadeFile};
use crate::tensor::{DType, Data, Tensor, TensorError};

/// The data of variables by their labels. Tensors in memory have the element types that files of NNEF have.
#[derive(Debug, Default)]
pub(crate) struct NnefVariables {
    data: BTreeMap<String, KnownItems>,
    /// Their memory.
    held: Held,
}

impl NnefVariables {
    pub(super) fn insert(&mut self, label: String, items: KnownItems) {
        self.data.insert(label, items);
    }

    /// Counts their bytes in the memory of the run.
    pub(super) fn count_memory(&self) {
        self.held.set(self.data.values().map(|items| items.held().map_or(PLACE, |tensor| tensor.bytes())).sum());
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The files of the data, by labels.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, Result<MadeFile, TensorError>)> {
        self.data.iter().map(|(label, items)| {
            let of = stored_dtype(items.dtype());
            let source: Arc<dyn ItemSource> = match items {
                KnownItems::Held(tensor) => Arc::clone(tensor) as _,
                KnownItems::Long(constant) => Arc::new(constant.clone()),
            };
            (label.as_str(), MadeFile::new(of, items.shape(), source))
        })
    }

    /// The number of bytes of the data of a variable.
    pub(crate) fn bytes(&self, label: &str) -> Option<u64> {
        let items = self.data.get(label)?;
        Some((items.len() as u64).saturating_mul(stored_size(items.dtype()) as u64))
    }
}

/// The bytes of what is kept of a long constant.
const PLACE: u64 = 64;

impl Variables for NnefVariables {
    fn load(&self, label: &str, _: &[usize], _: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let Some(items) = self.data.get(label) else { return Ok(None) };
        match items {
            KnownItems::Held(tensor) => Ok(Some(tensor.to_widened())),
            KnownItems::Long(constant) => {
                let read = constant.read(|block| stored_data(&block).unwrap_or(block).widened());
                read.map(Some).map_err(|error| TensorError::new(format!("`{label}`: {error}")))
            }
        }
    }
}

/// Items that have the width of those of a file are copied, others are converted in blocks.
impl ItemSource for LongConstant {
    fn fill(&self, first: usize, bytes: &mut [u8]) -> io::Result<()> {
        if matches!(self.dtype(), DType::Float32 | DType::Int64) {
            return LongConstant::fill(self, first.saturating_mul(self.width()), bytes);
        }
        let size = stored_size(self.dtype());
        self.blocks(first..first + bytes.len() / size, |start, block| {
            let from = (start - first) * size;
            if let Some(place) = bytes.get_mut(from..from + block.len() * size) {
                block.fill_stored(0, place);
            }
        })
    }
}

/// The bytes of an element in a file of NNEF.
fn stored_size(of: DType) -> usize {
    match of {
        DType::Bool => 1,
        of if of.is_float() => 4,
        _ => 8,
    }
}

/// The element type that files of NNEF have for one of a model.
fn stored_dtype(of: DType) -> DType {
    match of {
        DType::Narrow(_) => DType::Float32,
        DType::Small(_) | DType::Uint32 | DType::Uint64 => DType::Int64,
        same => same,
    }
}

/// Elements with the types that files of NNEF have, if they have others; none for integers of more than 63 bits, too.
fn stored_data(data: &Data) -> Option<Data> {
    let places = 0..data.len();
    match data.dtype() {
        of @ DType::Narrow(_) => Some(Data::from_floats(stored_dtype(of), places.map(|i| data.float(i)))),
        of if of.is_integer() => {
            let items = places.map(|i| i64::try_from(data.wide(i)).ok()).collect::<Option<Vec<i64>>>();
            items.map(Data::Int64)
        }
        _ => None,
    }
}

/// Items with the element types that files of NNEF have.
pub(super) fn stored_form(items: &KnownItems, budget: &Budget) -> Lowered<KnownItems> {
    match items.dtype() {
        DType::Float32 | DType::Float64 | DType::Int64 | DType::Int32 | DType::Bool => return Ok(items.clone()),
        DType::Text | DType::Complex64 | DType::Complex128 => {
            return Err(NodeRefusal::because("a constant has texts or complex numbers, which NNEF does not have"));
        }
        DType::Uint64 => {}
        _ if items.held().is_none() => return Ok(items.clone()),
        _ => {}
    }
    let tensor = items.tensor(budget)?;
    let data = stored_data(tensor.data());
    let data = data.ok_or(NodeRefusal::because("a constant has integers of more than 63 bits"))?;
    let tensor = Tensor::new(tensor.shape(), data).ok_or(NodeRefusal::UNFIT)?;
    Ok(KnownItems::Held(tensor.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Limits;
    use crate::onnx::run::{Stores, tensor_proto};
    use crate::tensor::dat::HEADER_LENGTH;
    use std::io::Read;

    /// Files of constants that are converted while they are written have the bytes of those that are in memory.
    #[test]
    fn files_of_long_constants_are_those_of_tensors() {
        let budget = Budget::new(Limits::default());
        let types = [
            DType::Float32,
            DType::Float64,
            DType::FLOAT16,
            DType::INT8,
            DType::UINT8,
            DType::Int32,
            DType::Uint32,
            DType::Int64,
            DType::Bool,
        ];
        for of in types {
            let data = Data::from_floats(of, (0..70_000).map(|i| f64::from(i % 100) / 4.0));
            let tensor = Arc::new(Tensor::new(&[700, 100], data).unwrap());
            let long = LongConstant::of(&tensor_proto(&tensor, None), &Stores::new(None)).unwrap().unwrap();
            let mut variables = NnefVariables::default();
            for (label, items) in [("held", KnownItems::Held(tensor)), ("long", KnownItems::Long(long))] {
                variables.insert(label.to_owned(), stored_form(&items, &budget).unwrap());
            }
            let files: Vec<Vec<u8>> = variables
                .files()
                .map(|(_, file)| {
                    let mut bytes = Vec::new();
                    file.unwrap().open().read_to_end(&mut bytes).unwrap();
                    bytes
                })
                .collect();
            assert_eq!(files[0].len(), HEADER_LENGTH + 70_000 * stored_size(of));
            assert_eq!(files[0], files[1], "{of}");
            let [held, long] = ["held", "long"].map(|label| variables.load(label, &[], None).unwrap().unwrap());
            assert_eq!(held, long, "{of}");
            for label in ["held", "long"] {
                assert_eq!(variables.bytes(label), Some(70_000 * stored_size(of) as u64), "{of}");
            }
        }
    }
}
