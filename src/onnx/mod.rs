//! ONNX: models in text and protobuf form, and the expansion of their functions.
//!
//! Models are read, changed and written without loss, and are not converted to NNEF graphs. Names, limits, and
//! diagnostics are those of the rest of the crate.

mod assignment;
mod auto_pad;
pub(crate) mod check;
mod constant;
pub(crate) mod contents;
mod document;
mod edit;
mod elements;
#[cfg(feature = "eval")]
mod evaluation;
mod external;
#[cfg(feature = "input")]
mod facts;
pub(crate) mod from_nnef;
mod functions;
pub(crate) mod infer;
mod inline;
pub(crate) mod model;
mod operators;
mod places;
pub(crate) mod protobuf;
mod provenance;
pub(crate) mod run;
mod scan_form;
pub(crate) mod schema;
mod scopes;
mod standard;
pub(crate) mod text;
pub(crate) mod to_nnef;
pub(crate) mod types;
mod view;
mod walk;

pub use document::Document;
pub(crate) use document::ExternalFile;
#[cfg(feature = "cli")]
pub(crate) use edit::{RULES, RuleId, SimplifyRule};
#[cfg(feature = "input")]
pub(crate) use edit::{RuleCounts, UsedRules};
#[cfg(feature = "eval")]
pub(crate) use evaluation::ModelInput;
#[cfg(feature = "cli")]
pub(crate) use schema::latest_opset;
pub(crate) use text::ModelText;
pub(crate) use view::{ConstantReader, ModelConstants, ViewTypes};
