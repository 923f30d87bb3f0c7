//! The data of a model's variables, for evaluation.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::index::ByteLocation;
use super::stored_model::Model;
use super::{folder, path};
use crate::eval::Variables;
use crate::tensor::dat::{CodedBlocks, HEADER_LENGTH, Raw, blocks_from, pieces_from, raw_from, read_from};
use crate::tensor::{DType, Tensor, TensorError, volume};

/// The data of a model's variables. A compressed archive is decompressed into a temporary file when
/// the first variable is loaded.
#[derive(Debug)]
pub(crate) struct ModelVariables<'m> {
    model: &'m Model,
    unpacked: OnceCell<File>,
}

impl Model {
    /// The data of the model's variables, for evaluation.
    pub fn variables(&self) -> impl Variables + '_ {
        self.data()
    }

    /// The data of the model's variables.
    pub(crate) fn data(&self) -> ModelVariables<'_> {
        ModelVariables { model: self, unpacked: OnceCell::new() }
    }
}

impl ModelVariables<'_> {
    fn unpacked(&self) -> std::io::Result<Option<&File>> {
        let Some(archive) = &self.model.archive else { return Ok(None) };
        if let Some(file) = self.unpacked.get() {
            return Ok(Some(file));
        }
        let file = archive.unpacked(&self.model.limits)?;
        Ok(Some(self.unpacked.get_or_init(|| file)))
    }

    /// Reads the file of a label with a function, which also gets the size of the file. A file that is too large
    /// for a tensor of this shape is refused.
    fn read<T>(
        &self,
        label: &str,
        shape: &[usize],
        read: impl FnOnce(&mut dyn Read, u64) -> Result<T, TensorError>,
    ) -> Result<Option<T>, TensorError> {
        let fail = |error: std::io::Error| TensorError::new(format!("{}: {error}", self.model.name().display()));
        let name = path::data_file(label).map_err(|why| TensorError::new(format!("the label {why}")))?;
        let Some(file) = self.model.file(&name) else { return Ok(None) };
        // The maximum size of a file with data of this shape.
        let most = volume(shape).map_or(u64::MAX, |items| (items as u64).saturating_mul(8) + HEADER_LENGTH as u64);
        let size = file.size();
        if size > most {
            return Err(TensorError::new(format!(
                "the file has {size} bytes, a tensor of shape {shape:?} at most {most}"
            )));
        }
        match &file.place {
            ByteLocation::Disk(path) => read(&mut folder::open(path).map_err(fail)?, size),
            ByteLocation::Kept(bytes) => read(&mut &bytes[..], size),
            ByteLocation::Made(made) => read(&mut made.open(), size),
            ByteLocation::Packed { offset, .. } => {
                let Some(mut unpacked) = self.unpacked().map_err(fail)? else { return Ok(None) };
                unpacked.seek(SeekFrom::Start(*offset)).map_err(fail)?;
                read(&mut unpacked.take(size), size)
            }
        }
        .map(Some)
    }

    /// The elements of the variable with a label, see [`Raw`].
    ///
    /// # Errors
    ///
    /// The data exist but cannot be read.
    pub(crate) fn raw(&self, label: &str, shape: &[usize], of: Option<DType>) -> Result<Option<Raw>, TensorError> {
        self.read(label, shape, |content, size| raw_from(content, size, (of, Some(shape))))
    }

    /// Gives the bytes of a variable of 32-bit floats to a function, in pieces, so that they are never all in memory.
    /// Returns whether it is one, since other types have to be decoded; none without data.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not have data of this shape.
    pub(crate) fn pieces(
        &self,
        label: &str,
        shape: &[usize],
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<bool>, TensorError> {
        self.read(label, shape, |content, size| pieces_from(content, size, shape, take))
    }

    /// The elements of the variable with a label, if they are packed in blocks.
    ///
    /// # Errors
    ///
    /// The data exist but cannot be read.
    pub(crate) fn blocks(&self, label: &str, shape: &[usize]) -> Result<Option<CodedBlocks>, TensorError> {
        Ok(self.read(label, shape, |content, size| blocks_from(content, size, shape))?.flatten())
    }
}

impl Variables for ModelVariables<'_> {
    fn load(&self, label: &str, shape: &[usize], of: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        self.read(label, shape, |content, size| read_from(content, size, (of, Some(shape))))
    }
}
