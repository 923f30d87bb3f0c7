//! Diagnostics as data: errors and warnings with message, location, and the enclosing calls.
//!
//! Stages report into one [`Diagnostics`] list; text and colour are added only when the list is
//! rendered ([`Diagnostic::write_human`], behind the feature `render`) or written as JSON ([`Diagnostic::write_json`]).

mod codes;
mod diagnostic;
pub(crate) mod json;
mod list;
#[cfg(feature = "render")]
pub(crate) mod render;
pub(crate) mod suggest;
pub(crate) mod trace;
pub(crate) mod visible;

pub use codes::Code;
#[cfg(feature = "input")]
pub(crate) use diagnostic::ReadLimit;
pub use diagnostic::{Diagnostic, Fix, Label, Severity, TraceFrame};
pub(crate) use diagnostic::{NodePlace, PlacePart, memory_text, too_many};
pub use list::Diagnostics;
pub(crate) use list::Policy;
