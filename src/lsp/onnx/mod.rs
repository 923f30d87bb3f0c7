//! Texts of ONNX models.

mod answers;
mod completion;
mod findings;
mod folds;
mod hints;
mod hover;
mod index;
mod operator;
mod outline;
mod place;
mod scan;
mod signature;
mod text;

pub(super) use text::OnnxText;
