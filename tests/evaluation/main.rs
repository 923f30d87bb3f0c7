//! What operations compute, in every notation that has them.

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "cli")]
mod eval;
#[cfg(feature = "cli")]
mod operators;
#[cfg(all(feature = "cli", feature = "onnx"))]
mod recurrent;
#[cfg(feature = "cli")]
mod refusals;
#[cfg(feature = "eval")]
mod storage;
#[cfg(all(feature = "cli", feature = "onnx", feature = "pnnx"))]
mod translations;
