//! The rules of operators, by family. A rule sets what it finds about the results; element types that the schema of the
//! operator determines are set before.

pub(crate) mod arithmetic;
pub(crate) mod arrange;
pub(crate) mod attention;
pub(in crate::onnx) mod axes;
pub(crate) mod cast;
pub(crate) mod elementwise;
pub(crate) mod image;
pub(crate) mod learning;
pub(crate) mod loss;
pub(crate) mod matrix;
pub(crate) mod misfits;
pub(crate) mod normalize;
pub(crate) mod optional;
pub(crate) mod reduce;
pub(crate) mod select;
pub(crate) mod sequence;
pub(crate) mod signal;
pub(crate) mod source;
pub(crate) mod text;
pub(crate) mod training;
pub(crate) mod window;
