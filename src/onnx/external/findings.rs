//! What is wrong with tensors that have external data.

use std::path::Path;

use super::place::{Folder, Wrong};
use super::stored::{PathStep, Stored};
use crate::diagnostics::Code;

/// A finding about a tensor.
pub(in crate::onnx) struct Finding {
    pub(in crate::onnx) code: Code,
    pub(in crate::onnx) path: Vec<PathStep>,
    pub(in crate::onnx) at: u32,
    pub(in crate::onnx) message: String,
}

/// What is wrong with tensors, and with their files if the folder of the model is known.
pub(in crate::onnx) fn findings(stored: Vec<Stored>, folder: Option<&Path>) -> Vec<Finding> {
    // Most models have all data in them: then the system need not look for the folder.
    let mut folder = folder.filter(|_| !stored.is_empty()).and_then(Folder::new);
    let check = |Stored { path, at, place }: Stored| {
        let checked = place.and_then(|place| match &mut folder {
            Some(folder) => folder.check(&place),
            None => Ok(()),
        });
        let Wrong { code, message } = checked.err()?;
        Some(Finding { code, path, at, message })
    };
    stored.into_iter().filter_map(check).collect()
}
