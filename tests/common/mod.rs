//! What the tests share: calls of the library, calls of the command, generators.

#![allow(dead_code, unused_imports)] // Each binary uses a part.
// Helpers of tests, which clippy takes for more.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::should_implement_trait
)]

pub mod archives;
#[cfg(feature = "cli")]
pub mod command;
pub mod corpus;
#[cfg(feature = "eval")]
pub mod layouts;
mod library;
pub mod measured;
mod numbers;
pub mod operators;
pub mod patterns;
pub mod protobuf;
mod real;

pub use library::*;
pub use numbers::*;
pub use real::*;
