//! The contents of a model to be written.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::model::names::{GRAPH, QUANT};
use crate::model::stored_model::Model;
use crate::model::{ModelFile, path};

/// Writes a text.
/// A model that was written completely, before it gets its place.
pub(crate) enum Staged<'s> {
    /// A folder.
    Folder(&'s Path),
    /// An archive.
    Archive(&'s File),
}

/// Looks at a model before it gets its place. After an error it does not get it.
pub(crate) type Look<'a> = &'a mut dyn FnMut(Staged) -> io::Result<()>;

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
    /// Looks at the model before it gets its place.
    pub(crate) look: Option<Look<'a>>,
}

impl<'a> Content<'a> {
    /// A model that has only the text of a graph.
    pub fn new(graph: WriteText<'a>) -> Self {
        let (document, linked) = (GRAPH, true);
        Content { graph, quant: None, files: None, hidden: false, progress: None, document, linked, look: None }
    }

    /// Adds the files of a model, except for those that readers ignore.
    pub fn with_files(self, model: &'a Model) -> Self {
        Content { files: Some(model), ..self }
    }

    /// Whether the text of the graph is one of NNEF, which may have quantizations.
    pub(super) fn is_nnef(&self) -> bool {
        self.document == GRAPH
    }

    /// Whether a file is copied: all files except the texts, which are replaced.
    pub(super) fn copied(&self) -> impl Fn(&ModelFile) -> bool + use<'a> {
        let (hidden, document, quant) = (self.hidden, self.document, self.is_nnef().then_some(QUANT));
        move |file| {
            let name = file.path();
            name != document && Some(name) != quant && (hidden || !path::is_hidden(name))
        }
    }

    /// Whether a file of this name is written.
    pub(super) fn has(&self, name: &str) -> bool {
        let text = name == self.document || name == QUANT && self.quant.is_some();
        text || self.files.and_then(|model| model.file(name)).is_some_and(self.copied())
    }

    /// The number of bytes that are copied.
    pub(crate) fn size(&self) -> u64 {
        self.files.map_or(0, |model| model.size(self.copied()))
    }
}
