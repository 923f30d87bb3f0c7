//! Expands function calls: a call becomes a copy of the function's nodes.
//!
//! The names of a copy are paths: the result of the call, then the name in the function (`y_t` for `t` in the call with
//! the result `y`), as in flat NNEF graphs. Names of the graph are kept.

mod annotations;
mod apply;
mod attributes;
mod bindings;
mod call_graph;
mod charge;
mod control;
mod copy;
mod declared;
mod defaults;
mod expand;
mod finding;
mod functions;
mod known;
mod marks;
mod metadata;
mod named;
mod operands;
mod operations;
mod opsets;
mod predicated;
mod shardings;
#[cfg(test)]
mod tests;
mod training;

pub(super) use control::is_control;
pub(crate) use expand::expand;
pub(super) use expand::{expand_bodies, expand_control};
pub(super) use finding::NodeFinding;
pub(super) use functions::{
    FunctionKey, Functions, each_graph, each_graph_mut, each_node, each_node_mut, is_kept, is_lowered, own_names,
};
pub(super) use metadata::add as add_metadata;
pub(super) use opsets::Imports;
