//! The declarations of operations that are known without a document: the standard libraries of both dialects, and the
//! registries of vendors.
//!
//! The language parses the same texts, since compounds have bodies. Everything else needs only names, parameters,
//! defaults and results, which [`read`] finds without the language.

#[cfg(any(feature = "onnx", feature = "pnnx"))]
pub(crate) mod assembly;
pub(crate) mod build;
mod cut;
pub(crate) mod datatypes;
pub(crate) mod declared;
pub(crate) mod distinct;
pub(crate) mod identifier;
#[cfg(any(feature = "onnx", feature = "pnnx"))]
pub(crate) mod label;
mod read;
#[cfg(any(feature = "onnx", feature = "pnnx"))]
pub(crate) mod recurrent;
pub(crate) mod registries;
pub(crate) mod texts;
