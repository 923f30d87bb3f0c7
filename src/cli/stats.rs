//! `--stats`: statistics of the flat graph and of the document.

use crate::graph::stats::Stats;
use crate::{Document, Graph, Lower};
use serde_json::json;

use super::args::Language;
use super::flatten;
use super::report::Reporter;

/// Writes the statistics of a graph, and those of its document with nothing expanded.
pub(crate) fn tell(
    document: Option<&Document>,
    graph: &Graph,
    language: &Language,
    migrate: bool,
    reporter: &mut Reporter,
) {
    let before = document.and_then(|document| {
        let mut options = flatten::options(language).ok()?;
        (options.lower, options.migrate) = (Lower::None, migrate);
        options.keep.clear();
        let expansion = crate::expand(document, &options).ok()?;
        Some(Stats::new(&expansion.graph))
    });
    let after = Stats::new(graph);
    reporter.tell(&after.to_text(before.as_ref()), &json!({ "stats": after.to_json(before.as_ref()) }));
}
