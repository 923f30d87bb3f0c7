//! Texts of ONNX models.

mod answers;
mod completion;
mod hover;
mod index;
mod operator;
mod place;
mod text;

pub(super) use text::OnnxText;
