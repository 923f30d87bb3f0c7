//! ONNX: models as text and as protobuf, whose functions are expanded.
//!
//! A model stays a model: it is read, changed and written without loss, and is not turned into a graph of
//! NNEF. Names, limits, and diagnostics are those of the rest of the crate.

pub(crate) mod check;
mod document;
mod elements;
pub(crate) mod from_nnef;
mod inline;
pub(crate) mod model;
pub(crate) mod protobuf;
mod provenance;
mod schema;
pub(crate) mod text;
pub(crate) mod types;
mod view;

pub use document::Document;
