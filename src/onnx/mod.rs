//! ONNX: models in text and protobuf form, and the expansion of their functions.
//!
//! Models are read, changed and written without loss, and are not converted to NNEF graphs. Names, limits, and
//! diagnostics are those of the rest of the crate.

pub(crate) mod check;
mod document;
mod elements;
#[cfg(feature = "eval")]
mod evaluation;
mod external;
pub(crate) mod from_nnef;
mod inline;
pub(crate) mod model;
mod places;
pub(crate) mod protobuf;
mod provenance;
#[cfg(feature = "eval")]
pub(crate) mod run;
mod schema;
pub(crate) mod text;
pub(crate) mod types;
mod view;

pub use document::Document;
pub(crate) use document::ExternalFile;
#[cfg(feature = "eval")]
pub(crate) use evaluation::{ModelInput, ModelOutputs};
