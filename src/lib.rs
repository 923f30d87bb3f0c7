//! Flattens neural-network descriptions into graphs of primitive operations.

pub mod diagnostics;
pub mod nnef;
pub mod source;
