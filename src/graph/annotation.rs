//! What the comments of an annotated text tell beside the graph: the lines and columns of its operations.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::flat_graph::{Graph, KeptFragment};
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
    /// The start of a location, `FILE:LINE:COLUMN`; none in binary files.
    pub(crate) fn place(&self, at: Location) -> Option<String> {
        let file = self.files.get(&at.file)?;
        let start = self.places.start(at);
        Some(format!("{file}:{}:{}", start.line, start.column))
    }
}

impl Graph {
    /// Lets the text of the graph have comments with the types, modules and places of its operations, which come from
    /// `sources`.
    pub(crate) fn annotate(&mut self, sources: &Sources) {
        let with_lines = sources.iter().filter(|(_, file)| !file.is_binary());
        let files: FxHashMap<FileId, String> =
            with_lines.map(|(id, file)| (id, file.short_name().to_owned())).collect();
        let mut bodies: Vec<&mut Graph> = Vec::new();
        for fragment in &mut self.fragments {
            if let KeptFragment::Flat(_, body) = fragment {
                bodies.push(body);
            }
        }
        let of_bodies = bodies.iter().flat_map(|body| &body.operations);
        let all = of_bodies.chain(&self.operations).map(|operation| operation.at);
        let places = Places::new(sources, all.filter(|at| files.contains_key(&at.file)));
        let annotation = Arc::new(Annotation { places, files });
        bodies.into_iter().for_each(|body| body.annotation = Some(Arc::clone(&annotation)));
        self.annotation = Some(annotation);
    }
}
