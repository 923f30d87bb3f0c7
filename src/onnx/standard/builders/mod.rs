//! What fills the templates of bodies in for calls, by families of operators.

pub(super) mod activations;
pub(super) mod comparisons;
