//! The targets: each runs on any bytes, and panics if its law does not hold.

pub mod dat;
pub mod eval;
pub mod expression;
pub mod extents;
pub mod flat;
pub mod law;
pub mod layout;
pub mod layout_list;
pub mod loops;
pub mod meaning;
pub mod model;
pub mod ncnn;
pub mod npz;
pub mod onnx;
pub mod onnxtxt;
pub mod param;
pub mod passes;
pub mod pictures;
pub mod quant;
pub mod text;
pub mod to_onnx;
pub mod to_pnnx;
pub mod unroll;

/// What a target does with an input.
pub type Target = fn(&[u8]);

/// All targets by their names.
pub const TARGETS: &[(&str, Target)] = &[
    ("dat", dat::target),
    ("eval", eval::target),
    ("expression", expression::target),
    ("extents", extents::target),
    ("flat", flat::target),
    ("law", law::target),
    ("layout", layout::target),
    ("layout_list", layout_list::target),
    ("loops", loops::target),
    ("meaning", meaning::target),
    ("model", model::target),
    ("ncnn", ncnn::target),
    ("npz", npz::target),
    ("onnx", onnx::target),
    ("onnxtxt", onnxtxt::target),
    ("param", param::target),
    ("passes", passes::target),
    ("pictures", pictures::target),
    ("quant", quant::target),
    ("text", text::target),
    ("to_onnx", to_onnx::target),
    ("to_pnnx", to_pnnx::target),
    ("unroll", unroll::target),
];
