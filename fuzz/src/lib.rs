//! The fuzz targets, and what they share.

#[path = "../../tests/common/archives.rs"]
pub mod archives;
#[path = "../../tests/common/library.rs"]
#[allow(clippy::should_implement_trait)]
pub mod common;
#[path = "../../tests/laws/documents.rs"]
pub mod documents;
#[path = "../../tests/laws/mutants.rs"]
pub mod mutants;
#[path = "../../tests/common/real.rs"]
pub mod real;
#[path = "../../tests/laws/choices.rs"]
pub mod tape;

pub mod models;
pub mod shared;
pub mod targets;
