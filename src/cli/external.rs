//! External data of models of ONNX on the command line: they follow a model that is written into another folder, a new
//! folder or an archive.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostics::Diagnostics;
use crate::files::{self, Beside};
use crate::input::Refusal;
use crate::input::opened::Opened;
use crate::input::table::onnx::{UNKNOWN, warn_left};
use crate::model::{self, Content, Model, Target};
use crate::onnx::{Document, ExternalFile};
use crate::sink::OutputLimit;
use crate::write::Notation;

use super::io::{self, Writing};
use super::outcome::Failure;
use super::report::Reporter;
use super::request::{Request, path};
use super::spool::Spool;
use super::verify::Comparison;
use super::{args, models};

/// Where a model comes from.
pub(super) struct ModelOrigin {
    /// Its path if it is a file, else its name for messages.
    name: PathBuf,
    is_file: bool,
}

impl ModelOrigin {
    pub(super) fn new(input: &Opened) -> Self {
        let is_file = input.is_file();
        // The name replaces bytes of a path that are not UTF-8.
        let path = input.path.clone().filter(|_| is_file);
        let name = path.unwrap_or_else(|| PathBuf::from(&input.name));
        ModelOrigin { name, is_file }
    }

    /// The folder of the model; none for a stream, whose folder is unknown.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.is_file.then(|| files::parent(&self.name))
    }

    /// The name of the model in a folder or an archive: that of its file, with the extension of the notation.
    fn name_as(&self, notation: &Notation) -> Option<String> {
        let extension = notation.extensions.first().copied().unwrap_or_default();
        let Some(name) = self.name.file_name().filter(|_| self.is_file) else {
            return Some(format!("model.{extension}"));
        };
        let is_right = |extension: &str| notation.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
        let has = Path::new(name).extension().and_then(OsStr::to_str).is_some_and(is_right);
        let name = if has { name.into() } else { Path::new(name).with_extension(extension).into_os_string() };
        name.into_string().ok()
    }
}

/// The place where a model is written, with the files that follow it there.
pub(super) enum OutputPlace<'o> {
    Stdout,
    /// A file, and others beside it.
    File(&'o Path, Vec<Beside>),
    /// A folder or an archive, with the name of the model in it.
    Whole(Target, String, Box<Model>),
}

impl<'o> OutputPlace<'o> {
    /// The place of a model, and the files that follow it there. Warns of those that do not.
    ///
    /// # Errors
    ///
    /// The output is one of the files; a name is not allowed in a model, or stands for several files.
    pub(super) fn new(
        document: &Document,
        origin: &ModelOrigin,
        to: &Notation,
        target: Option<Target>,
        output: &'o args::Output,
        limits: &model::Limits,
        found: &mut Diagnostics,
    ) -> Result<Self, Failure> {
        let Some(target) = target else {
            let path = path(output);
            let others = follow(document, origin.folder(), path, found)?;
            return Ok(path.map_or(OutputPlace::Stdout, |path| OutputPlace::File(path, others)));
        };
        let Some(name) = origin.name_as(to) else {
            let message = format!("{}: the name of the model is not UTF-8; rename it", origin.name.display());
            return Err(Failure::Message(message));
        };
        if origin.folder().is_none() {
            warn_left(document, &document.external_files(), UNKNOWN, found);
        }
        let files = copied(document.external_files());
        let model = Model::of_files(&origin.name, &name, &files, limits).map_err(Refusal::from)?;
        let map = output.source_map.as_deref();
        let clash = |name: &str| map.is_some_and(|map| io::is_same_file(map, &target.path().join(name)));
        if let Some(name) = model.names().find(|name| clash(name)) {
            let path = target.path().join(name);
            let message = format!("{}: the model and the source map cannot both have this file", path.display());
            return Err(Failure::Message(message));
        }
        Ok(OutputPlace::Whole(target, name, Box::new(model)))
    }

    /// Writes a model there, after a comparison with its source.
    pub(super) fn write(
        &self,
        content: Writing,
        comparison: Option<Comparison>,
        request: &Request,
        reporter: &mut Reporter,
    ) -> Result<(), Failure> {
        let limit = request.limit();
        if let OutputPlace::Whole(target, name, model) = self {
            let mut content = |mut out: &mut dyn std::io::Write| content(&mut out);
            // Programs add data at the end of such files, which must not change those of the input.
            let content = Content { hidden: true, document: name, linked: false, ..Content::new(&mut content) };
            return models::write_compared(target, content.with_files(model), limit, comparison, reporter);
        }
        let Some(comparison) = comparison else { return self.put(limit, content) };
        let spool = Spool::new(request.to(), limit, content, None)?;
        comparison.file(spool.path(), reporter)?;
        self.put(limit, &mut |out| spool.write(out))
    }

    /// Writes a file there.
    fn put(&self, limit: OutputLimit, content: Writing) -> Result<(), Failure> {
        match self {
            OutputPlace::Stdout => io::write_stdout(limit, content),
            OutputPlace::File(path, others) => io::write_file_beside(path, others, limit, content),
            OutputPlace::Whole(..) => Ok(()),
        }
    }
}

/// The files that are copied beside a model that is written to a path, or to standard output. Warns of files that are
/// not where the model is.
///
/// # Errors
///
/// The output is one of the files.
fn follow(
    document: &Document,
    folder: Option<&Path>,
    output: Option<&Path>,
    found: &mut Diagnostics,
) -> Result<Vec<Beside>, Failure> {
    let files = document.external_files();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = |why: &str| {
        warn_left(document, &files, why, found);
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
    Ok(copied(files))
}

/// The files that are there.
fn copied(files: Vec<ExternalFile>) -> Vec<Beside> {
    files.into_iter().filter_map(|file| Some(Beside { source: file.source?, at: file.path })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join(OsStr::from_bytes(b"a\xffb"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("m.onnx"), b"").unwrap();
        let Ok(input) = Opened::open(&folder.join("m.onnx")) else { panic!("the file is not opened") };
        assert_eq!(ModelOrigin::new(&input).folder(), Some(&*folder));
    }
}
