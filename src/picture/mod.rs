//! Pictures of flat graphs: SVG, an HTML page, and the DOT language of Graphviz.
//!
//! ```
//! use nnef_flatten::{Options, expand, parse, picture::Picture};
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2, 3]); y = relu(x); }";
//! let parsed = parse("example.nnef", text.to_string(), &Options::default());
//! let expansion = expand(&parsed.document, &Options::default()).expect("a valid document");
//! let picture = Picture::new(&expansion.graph, parsed.document.sources()).expect("a small graph");
//! let mut svg = Vec::new();
//! picture.write_svg(&mut svg)?;
//! assert!(String::from_utf8_lossy(&svg).contains(">relu</text>"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The output is deterministic: it depends only on the graph and its sources.

mod category;
mod dot;
mod groups;
mod html;
mod label;
mod layout;
mod paths;
mod scene;
mod sheet;
mod svg;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::graph::Graph;
use crate::source::Sources;
use layout::Arrangement;
use scene::Scene;

/// The maximum number of operations of a graph that is drawn.
pub(crate) const MAX_OPERATIONS: usize = 400_000;

/// An arranged graph.
#[derive(Debug)]
pub struct Picture<'g> {
    scene: Scene<'g>,
    arrangement: Arrangement,
    sources: &'g Sources,
}

impl<'g> Picture<'g> {
    /// Arranges a graph; none if it has more than 400,000 operations. `sources` are the texts that the graph
    /// comes from.
    pub fn new(graph: &'g Graph, sources: &'g Sources) -> Option<Self> {
        if graph.operations.len() > MAX_OPERATIONS {
            return None;
        }
        let mut scene = Scene::new(graph);
        let arrangement = layout::arrange(&mut scene);
        Some(Picture { scene, arrangement, sources })
    }

    /// Writes the picture as SVG, with all groups open.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        svg::write(&self.scene, &self.arrangement, self.sources, out)
    }

    /// Writes a self-contained HTML page that shows the graph, with a search and the details of each operation.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        html::write(&self.scene, &self.arrangement, self.sources, out)
    }

    /// Writes the graph in the DOT language; Graphviz computes the layout.
    pub fn write_dot(&self, out: &mut dyn Write) -> io::Result<()> {
        dot::write(&self.scene, out)
    }
}
