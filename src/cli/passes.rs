//! The passes over a flat graph that options request: `--fold`, `--share`, `--layout`, `--drop-bitcasts`, in this order.

use rustc_hash::FxHashSet;

use crate::Graph;
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::input::source::Backing;
use crate::layout::Removed;
use crate::progress::{self, Phase};

use super::layouts;
use super::outcome::Failure;
use super::report::Reporter;
use super::request::Request;

/// Runs the passes that the options request, and reports what they did. Returns the removed bitcasts.
///
/// # Errors
///
/// The quantizations of a model, which tell what is left as it is, cannot be read; the layouts are refused.
pub(super) fn run(
    request: &Request,
    backing: &mut dyn Backing,
    graph: &mut Graph,
    reporter: &mut Reporter,
) -> Result<Option<Removed>, Failure> {
    let (output, settings) = (request.output, request.settings);
    let apart = if output.fold || output.share { backing.apart(graph, settings)? } else { Vec::new() };
    if output.fold {
        let apart = tensors(graph, &apart);
        progress::enter(Phase::Evaluating);
        let count = graph.fold(settings.evaluation, &apart, settings.options.keep_unused);
        reporter.remark(&format!("operations that became constants: {count}"));
    }
    if output.share {
        let apart = tensors(graph, &apart);
        let count = graph.share(&apart);
        reporter.remark(&format!("operations merged with equal ones: {count}"));
    }
    layouts::assign(graph, &output.layout)?;
    Ok(output.drop_bitcasts.then(|| {
        let removed = graph.remove_bitcasts();
        reporter.remark(&removed.told());
        removed
    }))
}

/// The tensors with these names.
fn tensors(graph: &Graph, names: &[NameId]) -> Vec<TensorId> {
    let names: FxHashSet<NameId> = names.iter().copied().collect();
    let ids = (0..graph.tensors.len()).map(|i| TensorId(i as u32));
    ids.filter(|id| names.contains(&graph.tensors[id.index()].name)).collect()
}
