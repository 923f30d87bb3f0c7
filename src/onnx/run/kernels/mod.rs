//! The kernels of operators, by families.

pub(super) mod columns;
pub(super) mod constants;
pub(super) mod conv;
pub(super) mod conv_transpose;
pub(super) mod deform;
pub(super) mod layout;
pub(super) mod pool;
pub(super) mod quantize;
pub(super) mod reals;
pub(super) mod resize;
pub(super) mod sample;
pub(super) mod windows;
