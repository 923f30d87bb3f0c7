//! The kernels of the domain `ai.onnx.ml`.

pub(in crate::onnx) mod features;
pub(in crate::onnx) mod forest;
pub(in crate::onnx) mod labels;
pub(in crate::onnx) mod linear;
pub(in crate::onnx) mod maps;
pub(in crate::onnx) mod scores;
pub(in crate::onnx) mod svm;
pub(in crate::onnx) mod trees;
