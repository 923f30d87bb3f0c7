//! The laws of the design as properties of generated expressions and documents, and of real ones.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "cli")]
mod composition;
mod documents;
mod drafts;
mod expr;
mod expressions;
mod flattening;
mod independent;
mod loops;
mod meaning;
mod model;
mod mutants;
mod mutated;
#[cfg(feature = "cli")]
mod nests;
mod outlining;
mod passes;
mod real;
mod scans;
mod tape;
mod twins;
