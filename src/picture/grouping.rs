//! Which groups a graph has: calls, modules in names ([`paths`]), runs of equal modules ([`runs`]), and parts of groups with
//! too many items ([`parts`]).

use super::groups::Groups;
use super::runs::{self, Joined};
use super::{parts, paths};
use crate::graph::Graph;

/// The groups for the operations that are drawn.
pub(super) fn grouped(graph: &Graph, drawn: &[usize]) -> Groups {
    let modules = runs::joined(graph, drawn, undivided(graph, drawn), Joined::Modules);
    runs::joined(graph, drawn, parts::divided(graph, drawn, modules), Joined::Parts)
}

/// The groups of calls and modules.
pub(super) fn undivided(graph: &Graph, drawn: &[usize]) -> Groups {
    let calls = Groups::of_calls(graph, drawn);
    paths::grouped(graph, drawn, &calls).unwrap_or(calls)
}
