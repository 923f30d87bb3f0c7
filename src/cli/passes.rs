//! The passes over a flat graph that options request: `--fold`, `--share`, `--layout`, `--drop-bitcasts`, in this order.

use rustc_hash::FxHashSet;

use crate::Graph;
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::input::source::{Backing, Expanded};
use crate::layout::Removed;

use super::io::Unread;
use super::layouts;
use super::report::Reporter;
use super::request::Request;

/// Runs the passes that the options request, and reports what they did. Returns the removed bitcasts, or `None` if the
/// layouts are refused.
///
/// # Errors
///
/// The quantizations of a model, which tell what is left as it is, cannot be read.
pub(super) fn run(
    request: &Request,
    backing: &mut dyn Backing,
    result: &mut Expanded,
    reporter: &mut Reporter,
) -> Result<Option<Option<Removed>>, Unread> {
    let (output, settings) = (request.output, request.settings);
    let Ok((graph, _)) = result else { return Ok(Some(None)) };
    let apart = if output.fold || output.share { backing.apart(graph, settings)? } else { Vec::new() };
    if output.fold {
        let apart = tensors(graph, &apart);
        let count = graph.fold(settings.evaluation, &apart, settings.options.keep_unused);
        reporter.remark(&format!("operations that became constants: {count}"));
    }
    if output.share {
        let apart = tensors(graph, &apart);
        let count = graph.share(&apart);
        reporter.remark(&format!("operations merged with equal ones: {count}"));
    }
    if !layouts::assign(graph, &output.layout, reporter) {
        reporter.summary();
        return Ok(None);
    }
    if !output.drop_bitcasts {
        return Ok(Some(None));
    }
    let removed = graph.remove_bitcasts();
    reporter.remark(&removed.told());
    Ok(Some(Some(removed)))
}

/// The tensors with these names.
fn tensors(graph: &Graph, names: &[NameId]) -> Vec<TensorId> {
    let names: FxHashSet<NameId> = names.iter().copied().collect();
    let ids = (0..graph.tensors.len()).map(|i| TensorId(i as u32));
    ids.filter(|id| names.contains(&graph.tensors[id.index()].name)).collect()
}
