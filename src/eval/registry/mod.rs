//! Kernels of the operations of registries, with the semantics of tract 0.23.9.

pub(super) mod arrange;
pub(super) mod attention;
pub(super) mod einsum;
pub(super) mod items;
pub(super) mod recurrent;
pub(super) mod resample;
pub(super) mod signal;
#[cfg(test)]
mod tests;
mod values;

use values::{like, natural, number_or, one, unfit};
