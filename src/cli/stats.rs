//! `--stats`: statistics of the flat graph and of its source.

use crate::Graph;
use crate::graph::stats::{Stats, StoredBytes};
use crate::input::source::Backing;
use crate::layout::Removed;
use crate::onnx::RuleCounts;
use serde_json::json;

use super::report::Reporter;
use super::request::Request;

/// Writes the statistics of a graph that was made of an input.
pub(super) fn run(backing: &dyn Backing, graph: &Graph, passed: Passed, request: &Request, reporter: &mut Reporter) {
    let before = backing.before(request.to(), request.settings);
    let stored = backing.stored(graph, request.settings);
    tell(before.as_ref(), graph, &*stored, passed, reporter);
}

/// What passes did that count what they do.
#[derive(Default)]
pub(super) struct Passed<'p> {
    /// How often each rule was applied, if a model or a graph was simplified.
    pub(super) simplified: Option<&'p RuleCounts>,
    /// The bitcasts that were removed.
    pub(super) removed: Option<Removed>,
}

/// Writes the statistics of a graph, with those before flattening for comparison.
pub(super) fn tell(
    before: Option<&Stats>,
    graph: &Graph,
    stored: StoredBytes,
    Passed { simplified, removed }: Passed,
    reporter: &mut Reporter,
) {
    let after = Stats::new(graph, stored);
    let mut text = after.to_text(before);
    let mut stats = after.to_json(before);
    if let Some(counts) = simplified {
        text.push_str(&format!("rules that were applied: {}\n", counts.total()));
        counts.applied().for_each(|(rule, count)| text.push_str(&format!("  {rule}: {count}\n")));
        stats["rules"] = counts.applied().map(|(rule, count)| (rule.to_owned(), json!(count))).collect();
    }
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
