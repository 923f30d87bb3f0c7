//! The weights: a file without a directory, in which tensors follow each other in the order of the layers.
//!
//! A tensor has a tag of four bytes that says how its items are stored, or none where the layer says it. All tensors
//! begin and end at multiples of four bytes.

use indexmap::IndexMap;

use super::settings::WantedWeights;
use crate::eval::Variables;
use crate::graph::Element;
use crate::onnx::contents::DiskFile;
use crate::tensor::dat::half;
use crate::tensor::{DType, Data, Tensor, TensorError};

/// The alignment of tensors in the file.
const ALIGNMENT: u64 = 4;

/// The number of bytes of a tag.
const TAG: u64 = 4;

/// The number of entries of a table of values.
const TABLE: u64 = 256;

/// The tags of 16-bit floats, of integers of 8 bits, and of 32-bit floats.
const TAGS: &[(u32, Storage)] = &[
    (0, Storage::Float32),
    (0x0002_C056, Storage::Float32),
    (0x0130_6B47, Storage::Float16),
    (0x000D_4B38, Storage::Int8),
];

/// How the items of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Float32,
    Float16,
    Int8,
    /// Bytes that are positions in a table of 256 floats before them.
    Table,
}

impl Storage {
    /// The number of bytes of a number of items, without padding.
    fn bytes(self, items: u64) -> Option<u64> {
        match self {
            Storage::Float32 => items.checked_mul(4),
            Storage::Float16 => items.checked_mul(2),
            Storage::Int8 => Some(items),
            Storage::Table => items.checked_add(TABLE * 4),
        }
    }
}

/// A tensor in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredTensor {
    shape: Vec<usize>,
    storage: Storage,
    /// The offset of its first byte, after the tag, and the number of its bytes.
    at: u64,
    bytes: u64,
}

impl StoredTensor {
    /// The element type.
    pub(super) fn element(&self) -> Element {
        match self.storage {
            Storage::Float32 | Storage::Table => Element::Float32,
            Storage::Float16 => Element::Float16,
            Storage::Int8 => Element::Int8,
        }
    }
}

/// A file of weights that is read tensor by tensor.
#[derive(Debug)]
pub(crate) struct WeightFile {
    disk: DiskFile,
    /// The offset of the next tensor.
    at: u64,
}

impl WeightFile {
    pub(crate) fn new(disk: DiskFile) -> Self {
        WeightFile { disk, at: 0 }
    }

    /// Finds the next tensor, which begins where the one before it ends.
    ///
    /// # Errors
    ///
    /// The file ends before the tensor does, or cannot be read.
    pub(super) fn next(&mut self, wanted: &WantedWeights) -> Result<StoredTensor, String> {
        let storage = if wanted.is_raw { Storage::Float32 } else { self.tag()? };
        let bytes = storage.bytes(wanted.items);
        let end = bytes.and_then(|bytes| self.at.checked_add(bytes)?.checked_next_multiple_of(ALIGNMENT));
        let (Some(bytes), Some(end)) = (bytes, end.filter(|end| *end <= self.disk.len())) else {
            return Err(format!(
                "`{}` with {} items at byte {} goes beyond the end of the file, which has {} bytes",
                wanted.name,
                wanted.items,
                self.at,
                self.disk.len()
            ));
        };
        let shape = wanted.extents.iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX)).collect();
        let stored = StoredTensor { shape, storage, at: self.at, bytes };
        self.at = end;
        Ok(stored)
    }

    /// Reads a tag.
    fn tag(&mut self) -> Result<Storage, String> {
        let end = self.at.checked_add(TAG).filter(|end| *end <= self.disk.len());
        let end =
            end.ok_or_else(|| format!("the file ends at byte {}, before the tag of a tensor", self.disk.len()))?;
        let mut bytes = [0; TAG as usize];
        self.disk.read_at(&mut bytes, self.at).map_err(|error| error.to_string())?;
        self.at = end;
        let tag = u32::from_le_bytes(bytes);
        let known = TAGS.iter().find(|(known, _)| *known == tag).map(|(_, storage)| *storage);
        Ok(known.unwrap_or(Storage::Table))
    }

    /// The bytes after the last tensor.
    pub(super) fn rest(&self) -> u64 {
        self.disk.len().saturating_sub(self.at)
    }

    fn tensor(&self, stored: &StoredTensor) -> Result<Tensor, TensorError> {
        let failed = |error: &dyn std::fmt::Display| TensorError::new(format!("the weights cannot be read: {error}"));
        let length = usize::try_from(stored.bytes).map_err(|error| failed(&error))?;
        let mut bytes = vec![0; length];
        self.disk.read_at(&mut bytes, stored.at).map_err(|error| failed(&error))?;
        Tensor::new(&stored.shape, items(&bytes, stored.storage))
            .ok_or_else(|| TensorError::new("the weights do not fill their shape"))
    }
}

/// The items of the bytes of a tensor.
fn items(bytes: &[u8], storage: Storage) -> Data {
    let float = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    match storage {
        Storage::Float32 => Data::Float32(bytes.as_chunks().0.iter().map(float).collect()),
        Storage::Float16 => {
            let floats = bytes.as_chunks().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes)));
            Data::from_floats(DType::Float32, floats)
        }
        Storage::Int8 => Data::Int64(bytes.iter().map(|byte| i64::from(byte.cast_signed())).collect()),
        Storage::Table => {
            let (table, places) = bytes.split_at(bytes.len().min(TABLE as usize * 4));
            let table: Vec<f32> = table.as_chunks().0.iter().map(float).collect();
            Data::Float32(
                places.iter().map(|place| table.get(usize::from(*place)).copied().unwrap_or(f32::NAN)).collect(),
            )
        }
    }
}

/// The weights of a network by the labels of their variables, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct NcnnWeights {
    pub(super) file: Option<WeightFile>,
    pub(super) tensors: IndexMap<String, StoredTensor>,
}

impl NcnnWeights {
    /// Whether there is a file.
    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the tensors one by one, and gives them to a function with their labels.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has changed, or the function fails.
    pub(crate) fn each(&self, mut take: impl FnMut(&str, &Tensor) -> Result<(), String>) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        for (label, stored) in &self.tensors {
            take(label, &file.tensor(stored).map_err(|error| error.to_string())?)?;
        }
        file.disk.unchanged().map_err(|error| error.to_string())
    }

    /// The number of bytes of the weights of a variable.
    pub(crate) fn bytes(&self, label: &str) -> Option<u64> {
        self.tensors.get(label).map(|stored| stored.bytes)
    }
}

impl Variables for NcnnWeights {
    fn load(&self, label: &str, _: &[usize], _: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let (Some(file), Some(stored)) = (&self.file, self.tensors.get(label)) else { return Ok(None) };
        file.tensor(stored).map(|tensor| Some(tensor.widened()))
    }
}
