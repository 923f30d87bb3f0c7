//! The kernels of operators, by families.

pub(super) mod activation;
pub(super) mod attention;
pub(super) mod cast;
pub(super) mod columns;
pub(super) mod constants;
pub(super) mod conv;
pub(super) mod conv_transpose;
pub(super) mod deform;
pub(super) mod einsum;
pub(super) mod elementwise;
pub(super) mod heads;
pub(super) mod index;
pub(super) mod layout;
pub(super) mod linear;
pub(super) mod linear_attention;
pub(super) mod loss;
pub(super) mod ml;
pub(super) mod normalize;
pub(super) mod pool;
pub(super) mod quantize;
pub(super) mod reals;
pub(super) mod recurrent;
pub(super) mod reduce;
pub(super) mod resize;
pub(super) mod sample;
pub(super) mod sequence;
pub(super) mod signal;
pub(super) mod suppression;
pub(super) mod text;
pub(super) mod unique;
pub(super) mod windows;

#[cfg(test)]
mod tests;
