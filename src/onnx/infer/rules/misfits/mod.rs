//! Why a node cannot run: operands whose known shapes do not go together, and attributes that do not fit them.
//!
//! A rule refuses what onnx's own inference or onnxruntime refuses; nothing is refused for what is not known.

pub(crate) mod arrange;
pub(crate) mod attention;
pub(crate) mod control;
pub(crate) mod items;
pub(crate) mod matrix;
pub(crate) mod normalize;
mod shapes;
pub(crate) mod sources;
pub(crate) mod window;

pub(crate) use shapes::*;
