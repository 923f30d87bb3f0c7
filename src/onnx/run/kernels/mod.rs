//! The kernels of operators, by families.

pub(super) mod constants;
pub(super) mod layout;
