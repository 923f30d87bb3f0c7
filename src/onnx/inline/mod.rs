//! Expands function calls: a call becomes a copy of the function's nodes.
//!
//! The names of a copy are paths: the result of the call, then the name in the function (`y_t` for `t` in the call with
//! the result `y`), as in flat NNEF graphs. Names of the graph are kept.

mod annotations;
mod apply;
mod attributes;
mod bindings;
mod callee;
mod charge;
mod control;
mod copy;
mod declared;
mod defaults;
mod expand;
mod known;
mod metadata;
mod named;
mod operands;
mod operations;
mod shardings;
#[cfg(test)]
mod tests;
mod training;

pub(super) use control::is_control;
pub(crate) use expand::expand;
pub(super) use expand::{expand_bodies, expand_control, lower_standard};
pub(super) use metadata::add as add_metadata;
