//! Flattens neural-network descriptions into graphs of primitive operations.

pub mod diagnostics;
pub mod source;

// TEMPORARY: stands in for the real library until it is merged; delete the module and these lines.
mod api_stub;
pub use api_stub::{Document, Expansion, From, Graph, Lower, Options, Parsed, check, expand, parse};
