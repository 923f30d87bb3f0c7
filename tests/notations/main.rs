//! Notations and files beside documents of NNEF: models and their data, ONNX, PNNX, ncnn, layouts.

#[cfg(all(feature = "cli", feature = "onnx"))]
mod annotations;
#[path = "../common/mod.rs"]
mod common;
#[cfg(all(feature = "cli", feature = "pnnx", feature = "eval"))]
mod layers;
#[cfg(feature = "eval")]
mod layouts;
#[cfg(all(feature = "cli", feature = "translate"))]
mod lowering;
#[cfg(feature = "cli")]
mod models;
#[cfg(all(feature = "cli", feature = "onnx"))]
mod onnx_data;
#[cfg(feature = "cli")]
mod pnnx;
#[cfg(all(feature = "cli", feature = "onnx"))]
mod to_onnx;
