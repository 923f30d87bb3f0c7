//! The laws of the design as properties of generated expressions and documents, and of real ones.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod drafts;
mod expr;
mod expressions;
mod flattening;
#[cfg(feature = "cli")]
mod kept;
mod loops;
mod meaning;
mod model;
mod mutants;
mod mutated;
mod outlining;
mod passes;
mod real;
mod scans;
mod tape;

// The fuzz targets, which use generators of this folder.
#[cfg(feature = "cli")]
use common::archives;

#[cfg(feature = "cli")]
#[path = "../../fuzz/src/models.rs"]
mod models;
#[cfg(feature = "cli")]
#[allow(dead_code)] // Each tool uses a part.
#[path = "../../fuzz/src/shared.rs"]
mod shared;
#[cfg(feature = "cli")]
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;
