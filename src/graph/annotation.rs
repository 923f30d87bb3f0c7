//! What the comments of an annotated text tell beside the graph: the lines and columns of its operations.

use rustc_hash::FxHashMap;

use crate::source::places::Places;
use crate::source::{FileId, Location, Sources};

/// The places of the operations of a graph, and of the fragments that are kept with it.
#[derive(Debug, Default)]
pub(crate) struct Annotation {
    places: Places,
    /// The names of the files that have lines, without their folders.
    files: FxHashMap<FileId, String>,
}

impl Annotation {
    /// The places in texts.
    pub(super) fn new(sources: &Sources, places: impl Iterator<Item = Location>) -> Self {
        let with_lines = sources.iter().filter(|(_, file)| !file.is_binary());
        let files: FxHashMap<FileId, String> =
            with_lines.map(|(id, file)| (id, file.short_name().to_owned())).collect();
        Annotation { places: Places::new(sources, places.filter(|at| files.contains_key(&at.file))), files }
    }

    /// The start of a location, `FILE:LINE:COLUMN`; none in binary files.
    pub(crate) fn place(&self, at: Location) -> Option<String> {
        let file = self.files.get(&at.file)?;
        let start = self.places.start(at);
        Some(format!("{file}:{}:{}", start.line, start.column))
    }
}
