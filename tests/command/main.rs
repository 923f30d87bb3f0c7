//! The command: what it reads, writes and tells, and its options.

#[cfg(all(feature = "cli", unix))]
mod automation;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod commands;
#[path = "../common/mod.rs"]
mod common;
#[cfg(all(feature = "cli", feature = "onnx"))]
mod differences;
#[cfg(feature = "cli")]
mod exports;
#[cfg(feature = "cli")]
mod foreign;
#[cfg(feature = "cli")]
mod inputs;
#[cfg(all(feature = "cli", feature = "onnx", feature = "eval"))]
mod json_arrays;
#[cfg(feature = "cli")]
mod passes;
#[cfg(feature = "cli")]
mod pictures;
#[cfg(feature = "cli")]
mod practice;
#[cfg(feature = "cli")]
mod registries;
#[cfg(feature = "cli")]
mod round_trips;
#[cfg(all(feature = "cli", unix))]
mod shells;
#[cfg(all(feature = "cli", unix))]
mod terminal;
