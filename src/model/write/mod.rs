//! Writing models into a folder or an archive, completely or not at all.

mod archive;
mod folder;

pub(super) use archive::header;

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::error::ModelError;
use super::{GRAPH, Model, ModelFile, QUANT, has_archive_name, path};
use crate::files::{parent, real};

/// The path and the form in which a model is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Files in a folder.
    Folder(PathBuf),
    /// A tar archive.
    Tar(PathBuf),
    /// A tar archive compressed with gzip.
    TarGz(PathBuf),
}

impl Target {
    /// The target for a path: a folder if it ends in a slash or is a folder, an archive if it has the extension
    /// of one; otherwise none.
    ///
    /// ```
    /// use nnef_flatten::model::Target;
    ///
    /// assert_eq!(Target::of("flat/".as_ref()), Some(Target::Folder("flat/".into())));
    /// assert_eq!(Target::of("flat.tgz".as_ref()), Some(Target::TarGz("flat.tgz".into())));
    /// assert_eq!(Target::of("flat.nnef".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        let text = path.as_os_str().as_encoded_bytes();
        let slash = text.ends_with(b"/") || cfg!(windows) && text.ends_with(b"\\");
        if slash || path.is_dir() {
            Some(Target::Folder(path.to_owned()))
        } else if has_archive_name(path) {
            let plain = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar"));
            Some(if plain { Target::Tar(path.to_owned()) } else { Target::TarGz(path.to_owned()) })
        } else {
            None
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Target::Folder(path) | Target::Tar(path) | Target::TarGz(path) => path,
        }
    }
}

/// Writes a text.
pub(crate) type WriteText<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// The contents of a model to be written.
#[non_exhaustive]
pub struct Content<'a> {
    /// The text of the graph.
    pub graph: WriteText<'a>,
    /// The text of the quantizations, if it is to be written.
    pub quant: Option<&'a [u8]>,
    /// The model whose other files are copied.
    pub files: Option<&'a Model>,
    /// Whether files that readers ignore are also copied.
    pub hidden: bool,
    /// Called with the number of bytes of each copied piece.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// The name of the file with the text of the graph, which is bytes for models of ONNX.
    pub(crate) document: &'a str,
    /// Whether files on disk may become hard links in a folder.
    pub(crate) linked: bool,
}

impl<'a> Content<'a> {
    /// A model that has only the text of a graph.
    pub fn new(graph: WriteText<'a>) -> Self {
        let (document, linked) = (GRAPH, true);
        Content { graph, quant: None, files: None, hidden: false, progress: None, document, linked }
    }

    /// Adds the files of a model, except for those that readers ignore.
    pub fn with_files(self, model: &'a Model) -> Self {
        Content { files: Some(model), ..self }
    }

    /// Whether the text of the graph is one of NNEF, which may have quantizations.
    fn is_nnef(&self) -> bool {
        self.document == GRAPH
    }

    /// Whether a file is copied: all files except the texts, which are replaced.
    fn copied(&self) -> impl Fn(&ModelFile) -> bool + use<'a> {
        let (hidden, document, quant) = (self.hidden, self.document, self.is_nnef().then_some(QUANT));
        move |file| {
            let name = file.path();
            name != document && Some(name) != quant && (hidden || !path::is_hidden(name))
        }
    }

    /// Whether a file of this name is written.
    fn has(&self, name: &str) -> bool {
        let text = name == self.document || name == QUANT && self.quant.is_some();
        text || self.files.and_then(|model| model.file(name)).is_some_and(self.copied())
    }

    /// The number of bytes that are copied.
    pub(crate) fn size(&self) -> u64 {
        self.files.map_or(0, |model| model.size(self.copied()))
    }
}

impl Target {
    /// Writes a model. An existing folder or archive is replaced at the end; it is not changed if anything fails
    /// before.
    ///
    /// # Errors
    ///
    /// Reading or writing failed, or the existing target cannot be replaced: it is the model that is read,
    /// contains it or is inside it, or is a folder with files that the new model does not have.
    pub fn write(&self, content: &mut Content) -> Result<(), ModelError> {
        for source in content.files.iter().flat_map(|model| model.sources()) {
            apart(self.path(), source)?;
        }
        match self {
            Target::Folder(path) => folder::write(path, content),
            Target::Tar(path) => archive::write(path, false, content),
            Target::TarGz(path) => archive::write(path, true, content),
        }
    }
}

/// Replaces the archive that a model was read from.
///
/// # Errors
///
/// Reading or writing failed.
pub(crate) fn rewrite(model: &Model, content: &mut Content) -> Result<(), ModelError> {
    archive::write(model.name(), model.is_compressed(), content)
}

/// Refuses a target that is the source, is inside it, or contains it.
fn apart(target: &Path, source: &Path) -> Result<(), ModelError> {
    let (Ok(link), Ok(real)) = (unresolved(source), real(target)) else { return Ok(()) };
    let Ok(source) = fs::canonicalize(source) else { return Ok(()) };
    let relation = if real == source {
        "is the model that is read"
    } else if real.starts_with(&source) {
        "is within the model that is read"
    } else if source.starts_with(&real) || link.starts_with(&real) {
        "holds the model that is read"
    } else {
        return Ok(());
    };
    Err(ModelError::Target(format!("{}: the output {relation}; choose another place", target.display())))
}

/// The path of a file or a link to it, in its real folder.
fn unresolved(path: &Path) -> io::Result<PathBuf> {
    let folder = fs::canonicalize(parent(path))?;
    Ok(path.file_name().map_or(folder.clone(), |name| folder.join(name)))
}

/// The number of bytes copied between two reports of progress.
const CHUNK: u64 = 16 << 20;

/// Copies exactly `size` bytes in pieces.
fn copy(from: &mut dyn Read, to: &mut dyn Write, size: u64, progress: &mut dyn FnMut(u64)) -> io::Result<()> {
    let mut left = size;
    while left > 0 {
        let count = io::copy(&mut from.take(left.min(CHUNK)), to)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
        }
        left -= count;
        progress(count);
    }
    if from.read(&mut [0])? > 0 {
        return Err(io::Error::other("the file became longer while it was read"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_so_many_bytes_are_copied() {
        let copied = |bytes: &[u8], size: u64| {
            let (mut out, mut told) = (Vec::new(), 0);
            copy(&mut &*bytes, &mut out, size, &mut |count| told += count).map(|()| (out, told))
        };
        assert_eq!(copied(b"abc", 3).unwrap(), (b"abc".to_vec(), 3));
        assert_eq!(copied(b"", 0).unwrap(), (Vec::new(), 0));
        assert!(copied(b"abc", 4).is_err() && copied(b"abc", 2).is_err());
    }

    #[test]
    fn a_target_is_apart_from_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("m");
        fs::create_dir(&source).unwrap();
        for (target, fine) in [("m", false), ("m/x", false), ("", false), ("n", true), ("mm", true), ("no/such", true)]
        {
            assert_eq!(apart(&folder.path().join(target), &source).is_ok(), fine, "{target}");
        }
    }
}
