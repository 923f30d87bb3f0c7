//! What fills the bodies of the operators of onnxruntime in for calls.

pub(in crate::onnx::standard) mod activations;
pub(in crate::onnx::standard) mod arrangement;
pub(in crate::onnx::standard) mod attention;
pub(in crate::onnx::standard) mod embedding;
pub(in crate::onnx::standard) mod grouped;
mod heads;
pub(in crate::onnx::standard) mod matrices;
pub(in crate::onnx::standard) mod normalizations;
mod numbers;
pub(in crate::onnx::standard) mod packed;
pub(in crate::onnx::standard) mod quantization;
pub(in crate::onnx::standard) mod recurrent;
