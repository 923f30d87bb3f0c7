//! Source texts, byte spans, and their conversion to lines and columns.
//!
//! Everything that a diagnostic can refer to has a [`Location`]: a file and a byte [`Span`] in it. Lines and
//! columns are computed only for reports.

#[cfg(feature = "pictures")]
pub(crate) mod facts;
pub(crate) mod json;
pub(crate) mod literals;
pub(crate) mod names;
pub(crate) mod places;
mod sources;
mod span;
pub(crate) mod word_lines;
mod words;

pub use sources::Sources;
pub(crate) use sources::{SourceFile, line_starts, without_mark};
pub use span::{FileId, Location, Position, Span};
