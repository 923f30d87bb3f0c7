//! `--stats`: statistics of the flat graph and of the document.

use crate::graph::stats::{NNEF, Setting, Stats};
use crate::layout::Removed;
use crate::{Document, Graph, Lower, Options};
use serde_json::json;

use super::args::Language;
use super::flatten;
use super::report::Reporter;

/// The statistics of a document with nothing expanded.
pub(crate) fn before(document: &Document, language: &Language, migrate: bool) -> Option<Stats> {
    let options = Options { lower: Lower::None, keep: Vec::new(), migrate, ..flatten::options(language) };
    let expansion = crate::expand(document, &options).ok()?;
    Some(Stats::new(&expansion.graph, Setting::without_data(NNEF)))
}

/// Writes the statistics of a graph, with those before flattening for comparison.
pub(crate) fn tell(
    before: Option<&Stats>,
    (graph, setting): (&Graph, Setting),
    removed: Option<Removed>,
    reporter: &mut Reporter,
) {
    let after = Stats::new(graph, setting);
    let mut text = after.to_text(before);
    let mut stats = after.to_json(before);
    if let Some(removed) = removed {
        let (before, after) = removed.moved;
        let what = "bytes moved by reshapes and transposes";
        text.push_str(&format!("{what}: {before} before --drop-bitcasts, {after} after\n"));
        stats["bytes_moved"] = json!({ "before": before, "after": after });
    }
    if let Some(laid) = graph.laid_out() {
        let (tensors, bytes, wasted) = (laid.tensors, laid.memory, laid.memory.saturating_sub(laid.elements));
        let unknown = if laid.unknown > 0 { format!(", {} of unknown size", laid.unknown) } else { String::new() };
        text.push_str(&format!("tensors with layouts: {tensors}{unknown}; {bytes} bytes, {wasted} of them padding\n"));
        stats["layouts"] = json!({ "tensors": tensors, "unknown": laid.unknown, "bytes": bytes, "wasted": wasted });
    }
    reporter.tell(&text, &json!({ "stats": stats }));
}
