//! The data of a model's variables, for evaluation.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::index::Place;
use super::{Model, folder, path};
use crate::eval::Variables;
use crate::tensor::dat::{HEADER_LENGTH, read_from};
use crate::tensor::{DType, Tensor, TensorError, volume};

/// The data of a model's variables. A compressed archive is decompressed into a temporary file when
/// the first variable is loaded.
#[derive(Debug)]
struct ModelVariables<'m> {
    model: &'m Model,
    unpacked: OnceCell<File>,
}

impl Model {
    /// The data of the model's variables, for evaluation.
    pub fn variables(&self) -> impl Variables + '_ {
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
}

impl Variables for ModelVariables<'_> {
    fn load(&self, label: &str, shape: &[usize], of: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let fail = |error: std::io::Error| TensorError::new(format!("{}: {error}", self.model.name().display()));
        let name = path::data_file(label).map_err(|why| TensorError::new(format!("the label {why}")))?;
        let Some(file) = self.model.file(&name) else { return Ok(None) };
        // No file with data of the shape is longer, so none is read that does not fit.
        let most = volume(shape).map_or(u64::MAX, |items| (items as u64).saturating_mul(8) + HEADER_LENGTH as u64);
        if file.size() > most {
            let size = file.size();
            return Err(TensorError::new(format!(
                "the file has {size} bytes, a tensor of shape {shape:?} at most {most}"
            )));
        }
        let read = |content: &mut dyn Read| read_from(content, file.size(), of);
        let tensor = match &file.place {
            Place::Disk(path) => read(&mut folder::open(path).map_err(fail)?),
            Place::Kept(bytes) => read(&mut &bytes[..]),
            Place::Packed { offset, .. } => {
                let Some(mut unpacked) = self.unpacked().map_err(fail)? else { return Ok(None) };
                unpacked.seek(SeekFrom::Start(*offset)).map_err(fail)?;
                read(&mut unpacked.take(file.size()))
            }
        };
        tensor.map(Some)
    }
}
