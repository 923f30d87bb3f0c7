//! The kernels of the domain `ai.onnx.ml`.

pub(in crate::onnx::run) mod features;
pub(in crate::onnx::run) mod forest;
pub(in crate::onnx::run) mod labels;
pub(in crate::onnx::run) mod linear;
pub(in crate::onnx::run) mod scores;
pub(in crate::onnx::run) mod svm;
pub(in crate::onnx::run) mod trees;
