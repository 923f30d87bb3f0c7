//! The rules, by family.

pub(super) mod einsum;
pub(super) mod elementwise;
pub(super) mod matrices;
pub(super) mod norms;
pub(super) mod quantization;
pub(super) mod reductions;
pub(super) mod resample;
pub(super) mod selection;
pub(super) mod sequences;
pub(super) mod shaping;
pub(super) mod windows;
