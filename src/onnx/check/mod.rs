//! Checks models: structure, names, operators, types, and the location of data.
//!
//! The rules are those of the ONNX specification (`IR.md`) and of the table of operators. Errors that only an expansion
//! can detect are reported by the expansion.

mod attributes;
mod bodies;
mod calls;
mod checker;
mod constants;
mod data;
mod entry;
mod flow;
mod functions;
mod header;
mod nodes;
mod part;
mod scopes;
mod sparse;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub(super) use entry::structure;
pub(crate) use entry::{check, external_data, shapes};
