//! Operations of tract's registries, with the semantics of tract 0.23.9, which `eval/registry` computes.

pub(super) mod arrange;
pub(super) mod attention;
pub(super) mod einsum;
pub(super) mod items;
pub(super) mod places;
pub(super) mod recurrent;
pub(super) mod resample;
pub(super) mod running;
pub(super) mod scan;
pub(super) mod signal;
pub(super) mod suppression;
#[cfg(test)]
mod tests;
