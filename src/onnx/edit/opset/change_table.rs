//! The rows. Changes that are not here follow from the schemas: more types, attributes with defaults, operands that may be
//! omitted.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::row::{OpsetRow, row};
use super::{arithmetic, axes, recurrent, resize, training, values};

const REDUCTIONS: &[&str] = &[
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
];

/// The reductions whose axes became an operand with version 18: all but `ReduceSum`.
const LATER_REDUCTIONS: &[&str] = &[
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
];

/// Operators of two operands that are broadcast.
const BROADCAST: &[&str] = &["Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"];

const SOFTMAX: &[&str] = &["Hardmax", "LogSoftmax", "Softmax"];

const NEGATIVE: &str = "axes may be counted from the end";
const AXES: &str = "`axes` became an operand";

/// All rows, in the order of their versions.
pub(super) static TABLE: &[OpsetRow] = &[
    row(&["Split"], 2, "`split` became an attribute").up(values::split_of_operand),
    row(&["GlobalLpPool", "LpPool"], 2, "`p` became an integer").up(values::power_up).down(values::power_down),
    row(&["Pad"], 2, "`paddings` became `pads`")
        .up(|step| values::renamed(step, "paddings", "pads"))
        .down(|step| values::renamed(step, "pads", "paddings")),
    row(&["GRU"], 3, "the default of `direction` was misspelt").up(values::direction_up).down(values::direction_up),
    row(&["Concat"], 4, "`axis` has to be given").up(axes::concat_axis),
    row(&["Reshape"], 5, "`shape` became an operand").up(values::shape_to_operand).down(values::shape_to_attribute),
    row(&["BatchNormalization"], 6, "`consumed_inputs` went").down(values::consumed),
    row(&["Cast"], 6, "`to` became the number of a type").up(values::cast_up).down(values::cast_down),
    row(&["Clip"], 6, "limits got defaults").up(values::clip_limits),
    row(&["Tile"], 6, "repetitions are along all axes")
        .up(values::tile_up)
        .not_down("the number of repetitions and the axis were of the type of the operand"),
    row(BROADCAST, 7, "operands are broadcast without attributes")
        .up(arithmetic::broadcast_up)
        .down(arithmetic::broadcast_down),
    row(&["BatchNormalization"], 7, "`is_test` went").up(training::normalization_up).down(training::normalization_down),
    row(&["Dropout"], 7, "`is_test` went").up(training::dropout_up).down(training::dropout_down),
    row(&["GRU", "LSTM", "RNN"], 7, "`output_sequence` went")
        .up(|step| step.take("output_sequence").map(drop))
        .down(recurrent::sequence_down),
    row(&["Gemm"], 7, "`broadcast` went").up(|step| step.take("broadcast").map(drop)).down(arithmetic::gemm_down),
    row(&["PRelu"], 7, "slopes are broadcast").up(arithmetic::slopes_up).down(arithmetic::slopes_down),
    row(&["Upsample"], 7, "scales became those of all axes")
        .up(resize::upsample_scales_up)
        .down(resize::upsample_scales_down),
    row(&["Max", "Mean", "Min", "Sum"], 8, "operands are broadcast").down(arithmetic::of_one_shape),
    row(&["BatchNormalization"], 9, "`spatial` went").up(training::normalization_of_channels),
    row(&["Scan"], 9, "the batch went")
        .not_up("its operands have a batch, which it has not there")
        .not_down("its operands have no batch, which they have there"),
    row(&["Upsample"], 9, "`scales` became an operand").up(resize::upsample_up).down(resize::upsample_down),
    row(&["Dropout"], 10, "the mask is of truth values").up(training::mask_up).down(training::mask_down),
    row(&["Slice"], 10, "attributes became operands").up(values::slice_up).down(values::slice_down),
    row(&["TopK"], 10, "`k` became an operand").up(values::top_up).down(values::top_down),
    row(&["Upsample"], 10, "it became `Resize`").up(resize::to_resize),
    row(&["Resize"], 10, "it was `Upsample`").down(resize::to_upsample),
    row(&["ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Split"], 11, NEGATIVE).down(axes::axis_from_front),
    row(SOFTMAX, 11, NEGATIVE).down(axes::axis_from_front),
    row(&["Gather"], 11, "axes and indices may be counted from the end").down(axes::gather),
    row(&["OneHot"], 11, "axes and indices may be counted from the end").down(axes::one_hot),
    row(&["If"], 11, "branches may have results of different shapes").down(axes::branches),
    row(&["Scan"], 11, NEGATIVE).down(axes::scan_axes),
    row(REDUCTIONS, 11, NEGATIVE).down(axes::axes_from_front),
    row(&["Squeeze", "Unsqueeze"], 11, NEGATIVE).down(axes::axes_from_front),
    row(&["Slice"], 11, NEGATIVE).down(axes::slice_axes),
    row(&["Clip"], 11, "limits became operands").up(values::clip_up).down(values::clip_down),
    row(&["Gemm"], 11, "the third operand may be omitted").down(arithmetic::gemm_operand),
    row(&["Pad"], 11, "`pads` and `value` became operands").up(values::pad_up).down(values::pad_down),
    row(&["Resize"], 11, "attributes say where places are").up(resize::places_up).down(resize::places_down),
    row(&["Scatter"], 11, "it became `ScatterElements`").up(values::scatter_up),
    row(&["ScatterElements"], 11, "it was `Scatter`").down(values::scatter_down),
    row(&["TopK"], 11, "results may be in any order").down(|step| step.take("sorted").map(drop)),
    row(&["Constant"], 12, "values may be numbers and texts").down(values::constant_down),
    row(&["Dropout"], 12, "`ratio` became an operand").up(training::ratio_up).down(training::ratio_down),
    row(&["MaxPool"], 10, "windows may have gaps").down(values::dilations_down),
    row(SOFTMAX, 13, "it is along one axis, not along all from one on").up(axes::softmax_up).down(axes::softmax_down),
    row(&["DequantizeLinear", "QuantizeLinear"], 13, "scales may be those of an axis").down(values::per_tensor),
    row(&["ReduceSum"], 13, AXES).up(axes::reduced_to_operand).down(axes::reduced_to_attribute),
    row(&["Resize"], 13, "region and scales may be omitted")
        .up(resize::without_first_places)
        .down(resize::empty_operands),
    row(&["Split"], 13, "`split` became an operand").up(values::split_to_operand).down(values::split_to_attribute),
    row(&["Squeeze", "Unsqueeze"], 13, AXES).up(axes::axes_to_operand).down(axes::axes_to_attribute),
    row(&["BatchNormalization"], 14, "`training_mode` says whether it trains")
        .up(training::normalization_without_training)
        .down(training::normalization_without_training),
    row(&["GRU", "LSTM", "RNN"], 14, "`layout` says which axis is the batch").down(recurrent::layout_down),
    row(&["Reshape"], 14, "extents may be 0").down(values::zeros_down),
    row(&["Shape"], 15, "it may be of some axes").down(values::shape_down),
    row(&["RoiAlign"], 16, "places are shifted by half of an item").up(values::align_up).down(values::align_down),
    row(LATER_REDUCTIONS, 18, AXES).up(axes::reduced_to_operand).down(axes::reduced_to_attribute),
    row(&["LpPool"], 18, "windows may have gaps").down(values::dilations_down),
    row(&["Pad"], 18, "it may be along some axes").down(values::pad_axes_down),
    row(&["Resize"], 18, "it may be along some axes").down(resize::all_axes),
    row(&["ScatterElements", "ScatterND"], 18, "items may be the least or the greatest")
        .down(|step| values::without(step, "reduction", "none", &["max", "min"])),
    row(&["Split"], 18, "parts may be unequal").up(values::split_up).down(values::split_down),
    row(&["AveragePool"], 19, "windows may have gaps").down(values::dilations_down),
    row(&["Cast", "CastLike", "QuantizeLinear"], 19, "floats of 8 bits")
        .down(|step| values::of_small_floats(step, "saturate")),
    row(&["Pad"], 19, "items may be repeated").down(|step| values::without(step, "mode", "constant", &["wrap"])),
    row(&["Resize"], 19, "another way to find places").down(resize::without_symmetry),
    row(&["DFT"], 20, "`axis` became an operand").up(axes::dft_up).down(axes::dft_down),
    row(&["GridSample"], 20, "modes have other names")
        .up(|step| values::mode(step, "bilinear", &[("bilinear", "linear"), ("bicubic", "cubic")]))
        .down(values::sample_down),
    row(&["GroupNormalization"], 21, "scale and bias are those of channels, not of groups")
        .not_up("scale and bias are those of groups")
        .not_down("scale and bias are those of channels"),
    row(&["QuantizeLinear"], 21, "`output_dtype` says the type of results").down(values::quantized_type),
    row(&["DequantizeLinear"], 23, "`output_dtype` says the type of results").down(values::dequantized_type),
    row(&["Cast", "CastLike"], 24, "floats without a fraction")
        .down(|step| values::of_small_floats(step, "round_mode")),
];

/// The rows by operator and version.
static ROWS: LazyLock<FxHashMap<(&'static str, i64), Vec<&'static OpsetRow>>> = LazyLock::new(|| {
    let mut rows: FxHashMap<_, Vec<&'static OpsetRow>> = FxHashMap::default();
    for row in TABLE {
        row.operators.iter().for_each(|operator| rows.entry((*operator, row.version)).or_default().push(row));
    }
    rows
});

/// The rows of an operator and a version.
pub(super) fn rows_of(operator: &str, version: i64) -> &[&'static OpsetRow] {
    ROWS.get(&(operator, version)).map_or(&[], Vec::as_slice)
}
