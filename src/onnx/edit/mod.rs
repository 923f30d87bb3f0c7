//! Edits of models that options request: inputs with given values and shapes, folding, merging of equal nodes.

mod given;
mod pure;
mod share;
#[cfg(test)]
mod tests;

pub(super) use given::{bind, set_shapes};
pub(super) use share::share;
