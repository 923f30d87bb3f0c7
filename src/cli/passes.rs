//! The passes over a flat graph that options request: `--fold`, `--share`, `--layout`, `--drop-bitcasts`, in this order.

use rustc_hash::FxHashSet;

use crate::diagnostics::Diagnostics;
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::layout::Removed;
use crate::{Document, Graph};

use super::args::{Language, Output};
use super::io::Unread;
use super::layouts;
use super::models::{self, Expanded, Origin};
use super::report::Reporter;

/// The names of tensors that `--fold` and `--share` leave as they are: those that the quantizations of a model round.
///
/// # Errors
///
/// The quantizations cannot be read.
pub(super) fn apart(
    origin: &Origin,
    document: &mut Document,
    result: &Expanded,
    (output, language): (&Output, &Language),
) -> Result<Vec<NameId>, Unread> {
    let (Ok((graph, _)), true, true) = (result, output.fold || output.share, origin.is_model()) else {
        return Ok(Vec::new());
    };
    let Some(model) = models::data(origin, &[graph], &language.limits)? else { return Ok(Vec::new()) };
    let Some(text) = models::quant(&model)? else { return Ok(Vec::new()) };
    // Mistakes are reported where the quantizations are used.
    let found = document.quantizations(&text.name, &text.text, graph, &mut Diagnostics::default());
    Ok(found.map_or_else(Vec::new, |found| found.tensors().map(|id| graph.tensors[id.index()].name).collect()))
}

/// Runs the passes that the options request, and reports what they did. Returns the removed bitcasts, or `None` if the
/// layouts are refused.
pub(super) fn run(
    (output, language): (&Output, &Language),
    apart: &[NameId],
    result: &mut Expanded,
    reporter: &mut Reporter,
) -> Option<Option<Removed>> {
    let Ok((graph, _)) = result else { return Some(None) };
    if output.fold {
        let apart = tensors(graph, apart);
        let count = graph.fold(language.limits.evaluation(), &apart, language.keep_unused);
        reporter.remark(&format!("operations that became constants: {count}"));
    }
    if output.share {
        let apart = tensors(graph, apart);
        let count = graph.share(&apart);
        reporter.remark(&format!("operations merged with equal ones: {count}"));
    }
    if !layouts::assign(graph, &output.layout, reporter) {
        reporter.summary();
        return None;
    }
    if !output.drop_bitcasts {
        return Some(None);
    }
    let removed = graph.remove_bitcasts();
    reporter.remark(&removed.told());
    Some(Some(removed))
}

/// The tensors with these names.
fn tensors(graph: &Graph, names: &[NameId]) -> Vec<TensorId> {
    let names: FxHashSet<NameId> = names.iter().copied().collect();
    let ids = (0..graph.tensors.len()).map(|i| TensorId(i as u32));
    ids.filter(|id| names.contains(&graph.tensors[id.index()].name)).collect()
}
