//! The kernels of operators, by families.

pub(in crate::onnx) mod attention;
pub(in crate::onnx) mod cast;
pub(in crate::onnx) mod constants;
pub(in crate::onnx) mod conv;
pub(in crate::onnx) mod conv_transpose;
pub(in crate::onnx) mod deform;
pub(in crate::onnx) mod einsum;
pub(in crate::onnx) mod elementwise;
pub(in crate::onnx) mod heads;
pub(in crate::onnx) mod index;
pub(in crate::onnx) mod layout;
pub(in crate::onnx) mod linear;
pub(in crate::onnx) mod linear_attention;
pub(in crate::onnx) mod loss;
pub(in crate::onnx) mod ml;
pub(in crate::onnx) mod normalize;
pub(in crate::onnx) mod pool;
pub(in crate::onnx) mod quantize;
pub(in crate::onnx) mod reals;
pub(in crate::onnx) mod recurrent;
pub(in crate::onnx) mod reduce;
pub(in crate::onnx) mod resize;
pub(in crate::onnx) mod sample;
pub(in crate::onnx) mod sequence;
pub(in crate::onnx) mod signal;
pub(in crate::onnx) mod suppression;
pub(in crate::onnx) mod text;
pub(in crate::onnx) mod unique;
pub(in crate::onnx) mod windows;

#[cfg(test)]
mod tests;
