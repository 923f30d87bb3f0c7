//! The table of rules: one row for each operator.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::line::{NodeLine, NodeResults};
use super::rules::*;
use crate::onnx::operators::row_of;

/// Adds the counterpart of a node.
pub(super) type TranslationRule = fn(&mut NodeLine) -> NodeResults;

/// The rule of an operator.
pub(super) struct RuleRow {
    name: &'static str,
    pub(super) rule: TranslationRule,
    /// What it becomes, for the documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test of the documentation reads it"))]
    how: &'static str,
}

const fn row(name: &'static str, rule: TranslationRule, how: &'static str) -> RuleRow {
    RuleRow { name, rule, how }
}

/// The rule of operators that are functions of the items of their operands, as the dictionary has them.
static BY_ITEM: RuleRow = row("", elementwise::meaning, "");

/// What resampling becomes.
const RESIZED: &str =
    "`nearest_upsample`, `nearest_downsample`, `multilinear_upsample`, or `gather` or `matmul` along each axis";

/// All rules.
pub(super) static RULES: &[RuleRow] = &[
    // Item by item, with attributes, other types or any number of operands. What `onnx/operators` finds in the dictionary
    // needs no row here.
    row("BitwiseNot", elementwise::bitwise_not, "`sub`"),
    row("BitShift", elementwise::bit_shift, "`tract_shl`, `tract_shr`"),
    row(
        "Cast",
        elementwise::cast,
        "`cast` between kinds of numbers; of integers to fewer bits, the remainder; between other widths, nothing",
    ),
    row(
        "CastLike",
        elementwise::cast_like,
        "`cast` between kinds of numbers; of integers to fewer bits, the remainder; between other widths, nothing",
    ),
    row("Celu", elementwise::celu, "a formula"),
    row("Clip", elementwise::clip, "`clamp`, or `min`, `max`"),
    row("Dropout", elementwise::dropout, "nothing"),
    row("Elu", elementwise::elu, "a formula"),
    row("Gelu", elementwise::gelu, "a formula with `tract_core_erf` or `tanh`"),
    row("HardSigmoid", elementwise::hard_sigmoid, "a formula"),
    row("HardSwish", elementwise::hard_swish, "a formula"),
    row("Identity", elementwise::identity, "nothing"),
    row("IsInf", elementwise::is_inf, "a formula"),
    row("IsNaN", |line| elementwise::formula(line, "ne(@0,@0)"), "`ne`"),
    row("LeakyRelu", elementwise::leaky_relu, "`leaky_relu`"),
    row("Max", elementwise::max, "`max`"),
    row("Mean", elementwise::mean, "`add`, `div`"),
    row("Min", elementwise::min, "`min`"),
    row("Mod", elementwise::modulo, "a formula"),
    row("Pow", elementwise::pow, "`pow`"),
    row("PRelu", elementwise::prelu, "`prelu`"),
    row("Selu", elementwise::selu, "a formula"),
    row("Shrink", elementwise::shrink, "a formula"),
    row("Sum", elementwise::sum, "`add`"),
    row("Swish", elementwise::swish, "`silu`, `gelu`, or a formula"),
    row("ThresholdedRelu", elementwise::thresholded_relu, "a formula"),
    // Shapes and the order of items.
    row("Concat", shaping::concat, "`concat`; `copy` of a single operand"),
    row("DepthToSpace", shaping::depth_to_space, "`reshape`, `transpose`"),
    row("Expand", shaping::expand, "`tile`"),
    row("Flatten", shaping::flatten, "`reshape`"),
    row("Pad", shaping::pad, "`pad`; `concat` for `wrap`"),
    row("Reshape", shaping::reshape, "`reshape`"),
    row("Shape", shaping::shape, "a constant"),
    row("Size", shaping::size, "a constant"),
    row("SpaceToDepth", shaping::space_to_depth, "`reshape`, `transpose`"),
    row("Split", shaping::split, "`split`"),
    row("Squeeze", shaping::squeeze, "`squeeze`"),
    row("Tile", shaping::tile, "`tile`"),
    row("Transpose", shaping::transpose, "`transpose`"),
    row("Unsqueeze", shaping::unsqueeze, "`unsqueeze`"),
    // Selection.
    row("Compress", selection::compress, "`gather` of a known condition"),
    row("EyeLike", selection::eye_like, "a constant"),
    row("GridSample", selection::grid_sample, "`tract_onnx_grid_sample`"),
    row("Gather", selection::gather, "`gather`, `slice`; `tract_core_gather` with registries"),
    row("GatherElements", selection::gather_elements, "`tract_core_gather_elements`"),
    row("GatherND", selection::gather_nd, "`tract_core_gather_nd`"),
    row("NonZero", selection::non_zero, "`tract_onnx_non_zero`"),
    row("OneHot", selection::one_hot, "`eq`, `select`"),
    row("Scatter", selection::scatter_elements, "`tract_core_scatter_elements`"),
    row("ScatterElements", selection::scatter_elements, "`tract_core_scatter_elements`"),
    row("ScatterND", selection::scatter_nd, "`tract_core_scatter_nd`"),
    row("Slice", selection::slice, "`slice`"),
    row(
        "TopK",
        selection::top_k,
        "`max_reduce`, `argmax_reduce`, or `min_reduce`, `argmin_reduce`, for `k` = 1; `tract_core_topk`",
    ),
    row("Trilu", selection::trilu, "`select` by a mask"),
    row("Range", selection::range_of, "a constant; `tract_core_range`"),
    // Sequences.
    row("ConcatFromSequence", sequences::concat, "`concat`"),
    row("SequenceAt", sequences::at, "the item"),
    row("SequenceConstruct", sequences::construct, "its items"),
    row("SequenceEmpty", sequences::empty, "no items"),
    row("SequenceErase", sequences::erase, "the other items"),
    row("SequenceInsert", sequences::insert, "its items"),
    row("SequenceLength", sequences::length, "a constant"),
    row("SplitToSequence", sequences::split, "`slice`"),
    // Reductions.
    row("ArgMax", reductions::arg_max, "`argmax_reduce`; `tract_core_argmax_reduce_last`"),
    row("ArgMin", reductions::arg_min, "`argmin_reduce`; `tract_core_argmin_reduce_last`"),
    row("CumSum", reductions::cum_sum, "`box`"),
    row("CumProd", reductions::cum_prod, "`mul` of each step"),
    row("GlobalAveragePool", |line| reductions::global(line, "mean_reduce"), "`mean_reduce`"),
    row("GlobalLpPool", reductions::global_lp_pool, "`sum_reduce` and a formula"),
    row("GlobalMaxPool", |line| reductions::global(line, "max_reduce"), "`max_reduce`"),
    row("Hardmax", reductions::hardmax, "`argmax_reduce`, `eq`, `select`"),
    row("LogSoftmax", reductions::log_softmax, "a formula with `max_reduce`, `sum_reduce`"),
    row("LpNormalization", reductions::lp_normalization, "`sum_reduce` and a formula"),
    row("ReduceL1", reductions::l1, "`abs`, `sum_reduce`"),
    row("ReduceL2", reductions::l2, "`sum_reduce` and a formula"),
    row("ReduceLogSum", reductions::log_sum, "`sum_reduce`, `log`"),
    row("ReduceLogSumExp", reductions::log_sum_exp, "a formula with `max_reduce`, `sum_reduce`"),
    row("ReduceMax", reductions::max, "`max_reduce`; `any_reduce` of logicals"),
    row("ReduceMean", reductions::mean, "`mean_reduce`"),
    row("ReduceMin", reductions::min, "`min_reduce`; `all_reduce` of logicals"),
    row("ReduceProd", reductions::prod, "`tract_core_product_reduce`"),
    row("ReduceSum", reductions::sum, "`sum_reduce`"),
    row("ReduceSumSquare", reductions::sum_square, "`sum_reduce` and a formula"),
    row("Softmax", reductions::softmax, "`softmax`"),
    // Normalizations.
    row("BatchNormalization", norms::batch_normalization, "`batch_normalization`"),
    row("GroupNormalization", norms::group_normalization, "`moments` and a formula"),
    row("InstanceNormalization", norms::instance_normalization, "`moments`, `batch_normalization`"),
    row("LayerNormalization", norms::layer_normalization, "`moments`, `batch_normalization`"),
    row("LRN", norms::lrn, "`local_response_normalization`; `box` and a formula"),
    row("MeanVarianceNormalization", norms::mean_variance_normalization, "`moments` and a formula"),
    row("RMSNormalization", norms::rms_normalization, "`mean_reduce` and a formula"),
    // Products and windows.
    row("AveragePool", windows::average_pool, "`avg_pool`"),
    row("Conv", windows::conv, "`conv`"),
    row("ConvTranspose", windows::conv_transpose, "`deconv`"),
    row("Einsum", einsum::einsum, "`matmul` of each pair, `sum_reduce`"),
    row("Gemm", matrices::gemm, "`linear`, or `matmul` and `add`"),
    row("LpPool", windows::lp_pool, "`box` and a formula"),
    row("MatMul", matrices::mat_mul, "`matmul`"),
    row("MatMulInteger", matrices::mat_mul_integer, "`sub`, `matmul`, `cast`"),
    row("MaxPool", windows::max_pool, "`max_pool`"),
    row("Resize", resample::resize, RESIZED),
    row("Upsample", resample::resize, RESIZED),
    // Quantization.
    row("ConvInteger", quantization::conv_integer, "`sub`, `conv`, `cast`"),
    row("DequantizeLinear", quantization::dequantize, "a formula"),
    row("QLinearConv", quantization::qlinear_conv, "`conv`, a formula, `clamp`, `cast`"),
    row("QLinearMatMul", quantization::qlinear_mat_mul, "`matmul`, a formula, `clamp`, `cast`"),
    row("QuantizeLinear", quantization::quantize, "a formula, `clamp`, `cast`"),
];

/// The row of an operator.
pub(super) fn find(domain: &str, name: &str) -> Option<&'static RuleRow> {
    static ROWS: LazyLock<FxHashMap<&str, &RuleRow>> =
        LazyLock::new(|| RULES.iter().map(|row| (row.name, row)).collect());
    let by_item = || row_of(domain, name).filter(|row| row.meaning.is_some()).map(|_| &BY_ITEM);
    ROWS.get(name).copied().or_else(by_item).filter(|_| domain.is_empty())
}

/// The operators that have bodies, and no rule, with their domains.
pub(super) fn compounds() -> &'static [String] {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let without = |(domain, name): &(&str, &str)| find(domain, name).is_none();
        let named = |(domain, name): (&str, &str)| match domain {
            "" => format!("ai.onnx.{name}"),
            domain => format!("{domain}.{name}"),
        };
        crate::onnx::standard::with_bodies().filter(without).map(named).collect()
    });
    &NAMES
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::dictionary::{InNnef, Vocabulary};
    use crate::onnx::operators::rows;
    use crate::tests::is_table_of;

    /// What the dictionary says about an operator.
    fn meant(name: &str) -> String {
        let row = crate::dictionary::find(Vocabulary::Foreign, name).unwrap();
        if let Some(near) = row.near {
            return format!("`{}`, which differs where {}", near.name, near.differs.text);
        }
        match row.nnef {
            InNnef::Operation(operation) => format!("`{operation}`"),
            InNnef::Formula(_) => "a formula".to_owned(),
            InNnef::Missing => format!("`{}`", row.vendor.split(' ').next().unwrap()),
        }
    }

    #[test]
    fn the_documentation_has_the_table() {
        let by_item =
            rows().iter().filter(|row| std::ptr::eq(find(row.domain, row.name).unwrap_or(&RULES[0]), &BY_ITEM));
        let mut lines: Vec<(&str, String)> = by_item.map(|row| (row.name, meant(row.name))).collect();
        lines.extend(RULES.iter().map(|row| (row.name, row.how.to_owned())));
        lines.sort();
        let mut table = "| Operator | In NNEF |\n|---|---|\n".to_owned();
        for (name, how) in lines {
            writeln!(table, "| `{name}` | {how} |").unwrap();
        }
        is_table_of("onnx-to-nnef.md", &table);
    }

    #[test]
    fn operators_have_one_rule() {
        let mut names: Vec<&str> = RULES.iter().map(|row| row.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
