//! An arranged graph, and the notations in which it is written.

use std::io::{self, Write};

use super::html::Comparison;
use super::layout::Arrangement;
use super::scene::Scene;
use super::values::Summaries;
use super::{dot, html, layout, svg};
use crate::graph::Graph;
use crate::source::Sources;
use crate::source::facts::Facts;

/// The maximum number of operations of a graph that is drawn.
pub(crate) const MAX_OPERATIONS: usize = 400_000;

/// An arranged graph.
#[derive(Debug)]
pub struct Picture<'g> {
    pub(super) scene: Scene<'g>,
    pub(super) arrangement: Arrangement,
    pub(super) sources: &'g Sources,
    pub(super) values: Summaries,
    facts: Facts,
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
        Some(Picture { scene, arrangement, sources, values: Summaries::default(), facts: Facts::default() })
    }

    /// Adds what the model tells about itself, for pages.
    #[cfg(feature = "input")]
    pub(crate) fn with_facts(self, facts: Facts) -> Self {
        Picture { facts, ..self }
    }

    /// What pages tell beside the graph.
    pub(super) fn told(&self) -> (&Sources, &Summaries, &Facts) {
        (self.sources, &self.values, &self.facts)
    }

    /// Adds what the data of variables are like, for pages.
    #[cfg(feature = "kernels")]
    pub(crate) fn with_values(self, values: Summaries) -> Self {
        Picture { values, ..self }
    }

    /// Writes the picture as SVG, with all groups open.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        svg::write(&self.scene, &self.arrangement, self.sources, out)
    }

    /// Writes a self-contained HTML page that shows the graph, with a search and the details of each operation.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        html::write(&self.scene, &self.arrangement, self.told(), out)
    }

    /// Writes a page that shows this graph beside another one, with the changes between them.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command asks for it"))]
    pub(crate) fn write_comparison(&self, other: &Picture, told: &Comparison, out: &mut dyn Write) -> io::Result<()> {
        html::write_comparison([self, other], told, out)
    }

    /// Writes the graph in the DOT language; Graphviz computes the layout.
    pub fn write_dot(&self, out: &mut dyn Write) -> io::Result<()> {
        dot::write(&self.scene, out)
    }
}
