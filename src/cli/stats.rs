//! `--stats`: statistics of the flat graph and of the document.

use crate::graph::stats::Stats;
use crate::layout::Removed;
use crate::{Document, Graph, Lower};
use serde_json::json;

use super::args::Language;
use super::flatten;
use super::report::Reporter;

/// Writes the statistics of a graph, and those of its document with nothing expanded.
pub(crate) fn tell(
    document: Option<&Document>,
    graph: &Graph,
    removed: Option<Removed>,
    (language, migrate): (&Language, bool),
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
    let mut text = after.to_text(before.as_ref());
    let mut stats = after.to_json(before.as_ref());
    if let Some(removed) = removed {
        let (before, after) = removed.moved;
        text.push_str(&format!("bytes moved by transposes: {before} before --drop-bitcasts, {after} after\n"));
        stats["bytes_moved"] = json!({ "before": before, "after": after });
    }
    reporter.tell(&text, &json!({ "stats": stats }));
}
