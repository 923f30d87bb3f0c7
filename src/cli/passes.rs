//! The passes over a flat graph that options request: `--fold`, `--share`, `--layout`, `--drop-bitcasts`, in this order.

use crate::Graph;
use crate::input::passes::fold_and_share;
use crate::input::source::Backing;
use crate::layout::Removed;

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
    let passed = fold_and_share(backing, graph, request.settings)?;
    let told =
        [("operations that became constants", passed.folded), ("operations merged with equal ones", passed.shared)];
    for (what, count) in told.into_iter().filter_map(|(what, count)| Some((what, count?))) {
        reporter.remark(&format!("{what}: {count}"));
    }
    layouts::assign(graph, &request.output.layout)?;
    Ok(request.settings.passes.drop_bitcasts.then(|| {
        let removed = graph.remove_bitcasts();
        reporter.remark(&removed.told());
        removed
    }))
}
