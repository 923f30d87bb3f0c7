//! External data of models of ONNX on the command line: they follow a model that is written into another folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::files::{self, Beside};
use crate::onnx::{Document, ExternalFile};

use super::Failure;
use super::inputs::opened::Opened;

/// The folder of the model in an input; none for a stream, whose folder is unknown.
pub(super) fn folder(input: &Opened) -> Option<PathBuf> {
    input.is_file().then(|| files::parent(&input.path).to_owned())
}

/// Warns of external data that were not looked at, because the folder of the model is unknown.
pub(super) fn warn_unknown(document: &Document, folder: Option<&Path>, found: &mut Diagnostics) {
    let files = document.external_files();
    if folder.is_none() && !files.is_empty() {
        warn(document, &files, UNKNOWN, found);
    }
}

/// The files that are copied beside a model that is written to a path, or to standard output. Warns of files that are
/// not where the model is.
///
/// # Errors
///
/// The output is one of the files.
pub(super) fn follow(
    document: &Document,
    (folder, output): (Option<&Path>, Option<&Path>),
    found: &mut Diagnostics,
) -> Result<Vec<Beside>, Failure> {
    let files = document.external_files();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = |why: &str| {
        warn(document, &files, why, found);
        Ok(Vec::new())
    };
    let Some(folder) = folder else { return left(UNKNOWN) };
    let Some(output) = output else { return left("standard output has no folder") };
    // Writing fails with the error.
    let Ok(target) = files::real(output) else { return Ok(Vec::new()) };
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return left("the output is not a regular file");
    }
    if let Some(file) = files.iter().find(|file| file.source.as_deref() == Some(&target)) {
        let (output, location) = (output.display(), &file.location);
        return Err(Failure::Message(format!("{output}: this file has external data of the model, `{location}`")));
    }
    let real = |path: &Path| fs::canonicalize(path).ok();
    if real(files::parent(&target)).is_some_and(|parent| Some(parent) == real(folder)) {
        return Ok(Vec::new());
    }
    Ok(files.into_iter().filter_map(|file| Some(Beside { source: file.source?, at: file.path })).collect())
}

/// Why files of a model from a stream do not follow it.
const UNKNOWN: &str = "its folder is unknown, because it comes from a stream";

/// The maximum number of files that a warning names.
const SHOWN: usize = 5;

fn warn(document: &Document, files: &[ExternalFile], why: &str, found: &mut Diagnostics) {
    let shown: Vec<String> = files.iter().take(SHOWN).map(|file| format!("`{}`", file.location)).collect();
    let more = if files.len() > SHOWN { " and others" } else { "" };
    let message = format!("the external data {}{more} do not follow the model: {why}", shown.join(", "));
    let help = "they have to be in the folder of the model";
    found.report(Diagnostic::new(Code::OnnxDataLeft, Document::nowhere(document.file), message).help(help));
}
