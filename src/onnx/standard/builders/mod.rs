//! What fills the templates of bodies in for calls, by families of operators.

mod activation;
pub(super) mod activations;
pub(super) mod attention;
pub(super) mod comparisons;
pub(super) mod layouts;
pub(super) mod linear;
pub(super) mod losses;
pub(super) mod microsoft;
pub(super) mod normalizations;
pub(super) mod recurrent;
pub(super) mod reductions;
pub(super) mod sequences;
pub(super) mod sources;
