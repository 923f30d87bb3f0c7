//! Output notations of flat graphs.
//!
//! A notation is a row of [`NOTATIONS`]: its name, the extensions of its files, and the function
//! that writes it.
//!
//! ```
//! use nnef_flatten::write::Notation;
//!
//! assert_eq!(Notation::named("json").map(|notation| notation.extensions), Some(&["json"][..]));
//! assert_eq!(Notation::of_extension("htm").map(|notation| notation.name), Some("html"));
//! assert!(Notation::of_extension("txt").is_none());
//! ```

#[cfg(feature = "input")]
pub(crate) mod encode;
mod graph;
mod json;
mod nnef;
mod notation;
mod remarks;
mod source_map;

#[cfg(feature = "lsp")]
pub(crate) use nnef::statements as nnef_statements;
pub(crate) use nnef::value_text;
#[cfg(feature = "onnx")]
pub(crate) use notation::OnnxForm;
pub use notation::{NOTATIONS, Notation};
