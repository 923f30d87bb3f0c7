//! The kernels of operators, by families.

pub(super) mod cast;
pub(super) mod constants;
pub(super) mod einsum;
pub(super) mod elementwise;
pub(super) mod index;
pub(super) mod layout;
pub(super) mod linear;
pub(super) mod reduce;
pub(super) mod sequence;
pub(super) mod unique;
