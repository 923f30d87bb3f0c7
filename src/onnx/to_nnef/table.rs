//! The table of rules: one row for each operator.

use super::line::{NodeLine, Results};
use super::rules::*;

/// Adds the counterpart of a node.
pub(super) type Rule = fn(&mut NodeLine) -> Results;

/// The rule of an operator.
pub(super) struct RuleRow {
    domain: &'static str,
    name: &'static str,
    pub(super) rule: Rule,
}

const fn row(name: &'static str, rule: Rule) -> RuleRow {
    RuleRow { domain: "", name, rule }
}

/// All rules.
pub(super) static RULES: &[RuleRow] = &[
    // Item by item, as the dictionary has it.
    row("Abs", elementwise::meaning),
    row("Acos", elementwise::meaning),
    row("Acosh", elementwise::meaning),
    row("Add", elementwise::meaning),
    row("And", elementwise::meaning),
    row("Asin", elementwise::meaning),
    row("Asinh", elementwise::meaning),
    row("Atan", elementwise::meaning),
    row("Atanh", elementwise::meaning),
    row("BitwiseAnd", elementwise::meaning),
    row("BitwiseNot", elementwise::bitwise_not),
    row("BitwiseOr", elementwise::meaning),
    row("BitwiseXor", elementwise::meaning),
    row("Ceil", elementwise::meaning),
    row("Cos", elementwise::meaning),
    row("Cosh", elementwise::meaning),
    row("Div", elementwise::meaning),
    row("Equal", elementwise::equal),
    row("Erf", elementwise::meaning),
    row("Exp", elementwise::meaning),
    row("Floor", elementwise::meaning),
    row("Greater", elementwise::meaning),
    row("GreaterOrEqual", elementwise::meaning),
    row("Less", elementwise::meaning),
    row("LessOrEqual", elementwise::meaning),
    row("Log", elementwise::meaning),
    row("Mish", elementwise::meaning),
    row("Mul", elementwise::meaning),
    row("Neg", elementwise::meaning),
    row("Not", elementwise::meaning),
    row("Or", elementwise::meaning),
    row("Reciprocal", elementwise::meaning),
    row("Relu", elementwise::meaning),
    row("Round", elementwise::meaning),
    row("Sigmoid", elementwise::meaning),
    row("Sign", elementwise::meaning),
    row("Sin", elementwise::meaning),
    row("Sinh", elementwise::meaning),
    row("Softplus", elementwise::meaning),
    row("Softsign", elementwise::meaning),
    row("Sqrt", elementwise::meaning),
    row("Sub", elementwise::meaning),
    row("Tan", elementwise::meaning),
    row("Tanh", elementwise::meaning),
    row("Where", elementwise::meaning),
    row("Xor", elementwise::meaning),
    // Item by item, with attributes or any number of operands.
    row("BitShift", elementwise::bit_shift),
    row("Cast", elementwise::cast),
    row("CastLike", elementwise::cast_like),
    row("Celu", elementwise::celu),
    row("Clip", elementwise::clip),
    row("Dropout", elementwise::dropout),
    row("Elu", elementwise::elu),
    row("Gelu", elementwise::gelu),
    row("HardSigmoid", elementwise::hard_sigmoid),
    row("HardSwish", elementwise::hard_swish),
    row("Identity", elementwise::identity),
    row("IsInf", elementwise::is_inf),
    row("IsNaN", elementwise::is_nan),
    row("LeakyRelu", elementwise::leaky_relu),
    row("Max", elementwise::max),
    row("Mean", elementwise::mean),
    row("Min", elementwise::min),
    row("Mod", elementwise::modulo),
    row("Pow", elementwise::pow),
    row("PRelu", elementwise::prelu),
    row("Selu", elementwise::selu),
    row("Shrink", elementwise::shrink),
    row("Sum", elementwise::sum),
    row("Swish", elementwise::swish),
    row("ThresholdedRelu", elementwise::thresholded_relu),
    // Shapes and the order of items.
    row("Concat", shaping::concat),
    row("DepthToSpace", shaping::depth_to_space),
    row("Expand", shaping::expand),
    row("Flatten", shaping::flatten),
    row("Pad", shaping::pad),
    row("Reshape", shaping::reshape),
    row("Shape", shaping::shape),
    row("Size", shaping::size),
    row("SpaceToDepth", shaping::space_to_depth),
    row("Split", shaping::split),
    row("Squeeze", shaping::squeeze),
    row("Tile", shaping::tile),
    row("Transpose", shaping::transpose),
    row("Unsqueeze", shaping::unsqueeze),
    // Selection.
    row("Compress", selection::compress),
    row("Gather", selection::gather),
    row("GatherElements", selection::gather_elements),
    row("GatherND", selection::gather_nd),
    row("NonZero", selection::non_zero),
    row("OneHot", selection::one_hot),
    row("Scatter", selection::scatter_elements),
    row("ScatterElements", selection::scatter_elements),
    row("ScatterND", selection::scatter_nd),
    row("Slice", selection::slice),
    row("TopK", selection::top_k),
    row("Trilu", selection::trilu),
    row("Range", selection::range_of),
    // Sequences.
    row("ConcatFromSequence", sequences::concat),
    row("SequenceAt", sequences::at),
    row("SequenceConstruct", sequences::construct),
    row("SequenceEmpty", sequences::empty),
    row("SequenceErase", sequences::erase),
    row("SequenceInsert", sequences::insert),
    row("SequenceLength", sequences::length),
    row("SplitToSequence", sequences::split),
    // Reductions.
    row("ArgMax", reductions::arg_max),
    row("ArgMin", reductions::arg_min),
    row("CumSum", reductions::cum_sum),
    row("GlobalAveragePool", reductions::global_average_pool),
    row("GlobalLpPool", reductions::global_lp_pool),
    row("GlobalMaxPool", reductions::global_max_pool),
    row("Hardmax", reductions::hardmax),
    row("LogSoftmax", reductions::log_softmax),
    row("LpNormalization", reductions::lp_normalization),
    row("ReduceL1", reductions::l1),
    row("ReduceL2", reductions::l2),
    row("ReduceLogSum", reductions::log_sum),
    row("ReduceLogSumExp", reductions::log_sum_exp),
    row("ReduceMax", reductions::max),
    row("ReduceMean", reductions::mean),
    row("ReduceMin", reductions::min),
    row("ReduceProd", reductions::prod),
    row("ReduceSum", reductions::sum),
    row("ReduceSumSquare", reductions::sum_square),
    row("Softmax", reductions::softmax),
    // Normalizations.
    row("BatchNormalization", norms::batch_normalization),
    row("GroupNormalization", norms::group_normalization),
    row("InstanceNormalization", norms::instance_normalization),
    row("LayerNormalization", norms::layer_normalization),
    row("LRN", norms::lrn),
    row("MeanVarianceNormalization", norms::mean_variance_normalization),
    row("RMSNormalization", norms::rms_normalization),
    // Products and windows.
    row("AveragePool", windows::average_pool),
    row("Conv", windows::conv),
    row("ConvTranspose", windows::conv_transpose),
    row("Einsum", einsum::einsum),
    row("Gemm", matrices::gemm),
    row("LpPool", windows::lp_pool),
    row("MatMul", matrices::mat_mul),
    row("MatMulInteger", matrices::mat_mul_integer),
    row("MaxPool", windows::max_pool),
    row("GRU", recurrent::gru),
    row("LSTM", recurrent::lstm),
    row("Resize", resample::resize),
    row("RNN", recurrent::rnn),
    row("Upsample", resample::resize),
    // Quantization.
    row("DequantizeLinear", quantization::dequantize),
    row("QuantizeLinear", quantization::quantize),
];

/// The row of an operator.
pub(super) fn find(domain: &str, name: &str) -> Option<&'static RuleRow> {
    RULES.iter().find(|row| (row.domain, row.name) == (domain, name))
}

/// The operators that have bodies, and no rule.
pub(super) fn compounds() -> Vec<String> {
    let without = |(domain, name): &(&str, &str)| find(domain, name).is_none();
    crate::onnx::standard::with_bodies().filter(without).map(|(_, name)| name.to_owned()).collect()
}
