//! The files of a model in a folder or an archive.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::error::ModelError;
use super::index::{ByteLocation, Index, ModelFile};
use super::limits::Limits;
use super::names::{GRAPH, QUANT};
use super::{check, folder, path};
use crate::diagnostics::Code;
use crate::graph::Graph;
use crate::tensor::dat::{HEADER_LENGTH, MadeFile};

/// The files of a model.
#[derive(Debug)]
pub struct Model {
    /// The path of the folder or archive, for messages.
    pub(super) name: PathBuf,
    /// The list of its files.
    pub(super) index: Index,
    /// The archive that contains the files; none for a folder.
    pub(super) archive: Option<Archive>,
    pub(super) limits: Limits,
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

    /// The data of variables, by their labels, as files that are made while they are read. Messages call it `name`.
    ///
    /// # Errors
    ///
    /// A label is not valid, or there are more files than the limits allow.
    pub(crate) fn made(
        name: &Path,
        files: impl IntoIterator<Item = (String, MadeFile)>,
        limits: &Limits,
    ) -> Result<Self, ModelError> {
        let refuse = |code, message| ModelError::refused(code, name, message);
        let mut index = Index::default();
        for (label, file) in files {
            let path = path::data_file(&label).map_err(|why| refuse(Code::ModelPath, format!("the label {why}")))?;
            let file = ModelFile::new(path, file.size(), ByteLocation::Made(file));
            index.add(file).map_err(|(code, message)| refuse(code, message))?;
            if index.exceeds(limits) {
                let message = format!("the model has more than {} files, or names that are too long", limits.entries);
                return Err(refuse(Code::ModelLimit, message));
            }
        }
        Ok(Model { name: name.to_owned(), index, archive: None, limits: limits.clone() })
    }

    /// The folder or archive.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Where the model is read from: the folder or the archive, or the document and each file beside it.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Path> {
        let apart = self.archive.is_none() && !self.name.is_dir();
        let files = self.index.files().iter().filter(move |_| apart).filter_map(ModelFile::on_disk);
        std::iter::once(self.name()).chain(files)
    }

    /// The folders that exist also without files in them.
    pub(super) fn bare_folders(&self) -> impl Iterator<Item = &str> {
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

    pub(super) fn text(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, ModelError> {
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
            ByteLocation::Packed { .. } | ByteLocation::Made(_) => Ok(None),
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
            ByteLocation::Made(made) => Ok(made.head().to_vec()),
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
            match &file.place {
                ByteLocation::Disk(path) => {
                    let mut content = folder::open(path).map_err(|error| ModelError::io(path, error))?;
                    each(file, &mut content)?;
                }
                ByteLocation::Made(made) => each(file, &mut made.open())?,
                ByteLocation::Packed { .. } | ByteLocation::Kept(_) => {}
            }
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
