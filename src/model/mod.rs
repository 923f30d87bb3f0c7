//! Models: the text of a graph and the data of its variables, in a folder or an archive.
//!
//! A model consists of `graph.nnef`, a data file `<label>.dat` for each variable, an optional `graph.quant`, and any
//! other files. [`Model::open`] lists the files of a folder, a `.tar` or a `.tar.gz`, within the same [`Limits`]; data
//! are streamed, not loaded into memory. `check` compares data with a graph,
//! [`Document::check_quant`](crate::Document::check_quant) reads quantizations, and [`Target::write`] writes a model,
//! completely or not at all. `docs/models.md` has the decisions.
//!
//! ```
//! use nnef_flatten::model::{Limits, Model};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("graph.nnef"), "version 1.0;")?;
//! std::fs::create_dir(folder.path().join("part"))?;
//! std::fs::write(folder.path().join("part/w.dat"), [0; 128])?;
//! let model = Model::open(folder.path(), &Limits::default())?;
//! let files: Vec<&str> = model.files().map(|file| file.path()).collect();
//! assert_eq!(files, ["graph.nnef", "part/w.dat"]);
//! assert_eq!(model.graph()?, b"version 1.0;");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
pub(crate) mod check;
mod error;
mod folder;
mod index;
mod input;
mod limits;
mod parts;
pub(crate) mod path;
mod quant;
mod scratch;
mod tar;
mod variables;
mod write;

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::diagnostics::Code;
use crate::graph::Graph;
use crate::tensor::dat::HEADER_LENGTH;
use archive::Archive;
pub use error::ModelError;
pub use index::ModelFile;
use index::{ByteLocation, Index};
pub(crate) use input::GZIP;
pub use limits::Limits;
pub(crate) use scratch::Scratch;
pub(crate) use variables::ModelVariables;
pub(crate) use write::rewrite;
pub use write::{Content, Target};

/// The name of the text of the graph.
pub(crate) const GRAPH: &str = "graph.nnef";
/// The name of the text of the quantizations.
pub(crate) const QUANT: &str = "graph.quant";
/// The extension of data files.
pub(crate) const DATA: &str = ".dat";

/// The files of a model.
#[derive(Debug)]
pub struct Model {
    /// The path of the folder or archive, for messages.
    name: PathBuf,
    /// The list of its files.
    index: Index,
    /// The archive that contains the files; none for a folder.
    archive: Option<Archive>,
    limits: Limits,
}

/// Whether bytes are the start of a gzip file or a tar archive. At least 512 bytes are needed to recognize a tar
/// archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP) || bytes.get(257..262) == Some(b"ustar")
}

/// Whether a file name has the extension of an archive.
pub(crate) fn has_archive_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".tar", ".tar.gz", ".tgz"].iter().any(|extension| name.ends_with(extension))
}

impl Model {
    /// Lists the files of a folder or an archive.
    ///
    /// # Errors
    ///
    /// It cannot be read; it contains links or names that lead out of it, devices, or duplicate files; or the
    /// archive is damaged or exceeds a limit.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, ModelError> {
        if fs::metadata(path).map_err(|error| ModelError::io(path, error))?.is_dir() {
            let index = folder::list(path, limits)?;
            return Ok(Model { name: path.to_owned(), index, archive: None, limits: limits.clone() });
        }
        let file = File::open(path).map_err(|error| ModelError::io(path, error))?;
        Model::from_file(path, file, limits)
    }

    /// Lists the files of an archive that is open already.
    ///
    /// # Errors
    ///
    /// Those of [`Model::open`].
    pub fn from_file(name: &Path, file: File, limits: &Limits) -> Result<Self, ModelError> {
        let (archive, index) = Archive::open(name, file, limits)?;
        Ok(Model { name: name.to_owned(), index, archive: Some(archive), limits: limits.clone() })
    }

    /// The data files of the variables of graphs and the quantizations in a folder, without any other file.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not allowed in a model.
    pub(crate) fn of_variables(folder: &Path, graphs: &[&Graph], limits: &Limits) -> Result<Self, ModelError> {
        let mut index = Index::default();
        let labels = graphs.iter().flat_map(|graph| check::labels(graph));
        // Labels that are not valid file names are refused when they are looked up.
        let files = labels.filter_map(|label| path::data_file(label).ok());
        for name in files.chain([QUANT.into()]) {
            if index.find(&name).is_none()
                && let Some(file) = folder::find(folder, &name)?
            {
                index.add(file).map_err(|(code, message)| ModelError::refused(code, folder, message))?;
            }
        }
        Ok(Model { name: folder.to_owned(), index, archive: None, limits: limits.clone() })
    }

    /// The folder or archive.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Where the model is read from: the folder or the archive, or the document and each file beside it.
    fn sources(&self) -> impl Iterator<Item = &Path> {
        let apart = self.archive.is_none() && !self.name.is_dir();
        let files = self.index.files().iter().filter(move |_| apart).filter_map(ModelFile::on_disk);
        std::iter::once(self.name()).chain(files)
    }

    /// The folders that exist also without files in them.
    fn bare_folders(&self) -> impl Iterator<Item = &str> {
        self.index.bare()
    }

    /// The files, except for those that readers ignore.
    pub fn files(&self) -> impl Iterator<Item = &ModelFile> {
        self.index.files().iter().filter(|file| !path::is_hidden(file.path()))
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.index.files().iter().map(ModelFile::path)
    }

    /// A file by its name.
    pub(crate) fn file(&self, path: &str) -> Option<&ModelFile> {
        self.index.find(path)
    }

    /// The total size in bytes of the wanted files.
    pub(crate) fn size(&self, wanted: impl Fn(&ModelFile) -> bool) -> u64 {
        self.index.files().iter().filter(|file| wanted(file)).map(ModelFile::size).sum()
    }

    /// The bytes that the model takes where it is stored: those of the archive, or of all files of the folder.
    pub(crate) fn stored(&self) -> u64 {
        match &self.archive {
            Some(archive) => archive.stored(),
            None => self.size(|_| true),
        }
    }

    /// The text of the graph.
    ///
    /// # Errors
    ///
    /// It is missing, too long, or cannot be read.
    pub fn graph(&self) -> Result<Vec<u8>, ModelError> {
        let text = self.text(GRAPH, self.limits.graph)?;
        text.ok_or_else(|| {
            ModelError::refused(Code::ModelWithoutGraph, &self.name, format!("the model has no {GRAPH}"))
                .help("the text of the graph must be at the top level of a model, not in a folder")
        })
    }

    /// The text of the quantizations, if there are any.
    ///
    /// # Errors
    ///
    /// It is too long, or it cannot be read.
    pub fn quant(&self) -> Result<Option<Vec<u8>>, ModelError> {
        self.text(QUANT, self.limits.quant)
    }

    fn text(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, ModelError> {
        let Some(file) = self.index.find(path) else { return Ok(None) };
        if file.size() > limit {
            let message = format!("{path} has {} bytes, at most {limit} are read", file.size());
            return Err(ModelError::refused(Code::TooLarge, &self.name, message));
        }
        match &file.place {
            ByteLocation::Kept(bytes) => Ok(Some(bytes.to_vec())),
            ByteLocation::Disk(path) => {
                let mut bytes = Vec::new();
                let read = folder::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
                read.map(|_| Some(bytes)).map_err(|error| ModelError::io(path, error))
            }
            ByteLocation::Packed { .. } => Ok(None),
        }
    }

    /// The first bytes of a data file: as many as a header has, or the whole file if it is shorter.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(crate) fn head(&self, file: &ModelFile) -> Result<Vec<u8>, ModelError> {
        match &file.place {
            ByteLocation::Kept(bytes) => Ok(bytes[..bytes.len().min(HEADER_LENGTH)].to_vec()),
            ByteLocation::Packed { head, .. } => Ok(head.to_vec()),
            ByteLocation::Disk(path) => {
                let mut head = Vec::new();
                let read = folder::open(path).and_then(|file| file.take(HEADER_LENGTH as u64).read_to_end(&mut head));
                read.map(|_| head).map_err(|error| ModelError::io(path, error))
            }
        }
    }

    /// The number of bytes of the data of a variable, without the header of its file, by its label.
    pub(crate) fn stored_data(&self, label: &str) -> Option<u64> {
        self.file(&path::data_file(label).ok()?)?.size().checked_sub(HEADER_LENGTH as u64)
    }

    /// Calls a function with every wanted file and its bytes, in the order of the archive, or of the names in a
    /// folder. Bytes that the function does not read are skipped.
    ///
    /// # Errors
    ///
    /// The function failed, a file cannot be read, or the archive has changed.
    pub(crate) fn each(
        &self,
        wanted: impl Fn(&ModelFile) -> bool,
        mut each: impl FnMut(&ModelFile, &mut dyn Read) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        if let Some(archive) = &self.archive {
            return archive.each(&self.name, &self.index, &self.limits, wanted, each);
        }
        for file in self.index.files().iter().filter(|file| wanted(file)) {
            let ByteLocation::Disk(path) = &file.place else { continue };
            let mut content = folder::open(path).map_err(|error| ModelError::io(path, error))?;
            each(file, &mut content)?;
        }
        Ok(())
    }

    /// Whether it is an archive compressed by gzip.
    pub(crate) fn is_compressed(&self) -> bool {
        self.archive.as_ref().is_some_and(Archive::is_compressed)
    }
}

/// The text of the graph in a folder, if it exists: the open file and its size.
///
/// # Errors
///
/// It cannot be read, or is not allowed in a model.
pub(crate) fn graph_in(folder: &Path) -> Result<Option<(File, u64)>, ModelError> {
    let Some(file) = folder::find(folder, GRAPH)? else { return Ok(None) };
    let ByteLocation::Disk(path) = &file.place else { return Ok(None) };
    let open = folder::open(path).map_err(|error| ModelError::io(path, error))?;
    Ok(Some((open, file.size())))
}

/// Copies a stream into an anonymous temporary file, so that it can be read twice.
///
/// # Errors
///
/// Reading or writing failed.
pub(crate) fn spool(stream: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(stream, &mut file)?;
    file.rewind()?;
    Ok(file)
}
