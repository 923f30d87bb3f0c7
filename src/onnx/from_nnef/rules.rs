//! The translation of each NNEF operation to ONNX: by the dictionary, with functions where a formula is not enough.
//! `docs/nnef-to-onnx.md` has the same table.

use super::translated_call::{TranslatedCall, Translation};
use super::value::ModelValue;
use super::{arrange, convolution, normalize, padding, places, pool, registry, resample};
#[cfg(test)]
use crate::dictionary::ToOnnx;
use crate::dictionary::{self, Row, elementwise, layouts, matrices, reductions, vendors, windows};
use crate::graph::{Graph, Kind};

/// Adds the nodes of an operation and returns its results.
pub(super) type Function = fn(&mut TranslatedCall) -> Translation<Vec<ModelValue>>;

/// The functions of meanings that are [`ToOnnx::Nodes`].
const FUNCTIONS: &[(&Row, Function)] = &[
    (&elementwise::ADD_N, arrange::add_n),
    (&elementwise::COPY_N, arrange::copy_n),
    (&elementwise::PRELU, normalize::prelu),
    (&reductions::SOFTMAX, |call| normalize::along(call, "Softmax", 0)),
    (&matrices::MATMUL, convolution::matmul),
    (&matrices::LINEAR, convolution::linear),
    (&windows::CONV, convolution::conv),
    (&windows::DECONV, convolution::deconv),
    (&windows::BOX, pool::box_filter),
    (&windows::AVG_POOL, |call| pool::boxed(call, true)),
    (&windows::AREA_DOWNSAMPLE, pool::area_downsample),
    (&windows::DEBOX, pool::debox),
    (&windows::MAX_POOL, pool::max_pool),
    (&windows::MAX_POOL_WITH_INDEX, places::max_pool_with_index),
    (&windows::ARGMAX_POOL, places::argmax_pool),
    (&windows::SAMPLE, places::sample),
    (&windows::DESAMPLE, places::desample),
    (&windows::NEAREST_DOWNSAMPLE, resample::nearest_downsample),
    (&windows::NEAREST_UPSAMPLE, resample::nearest_upsample),
    (&windows::MULTILINEAR_UPSAMPLE, resample::multilinear_upsample),
    (&reductions::BATCH_NORMALIZATION, normalize::batch_normalization),
    (&windows::LOCAL_RESPONSE_NORMALIZATION, normalize::local_response),
    (&reductions::ARGMAX_REDUCE, |call| arrange::extreme(call, "ArgMax", false)),
    (&reductions::ARGMIN_REDUCE, |call| arrange::extreme(call, "ArgMin", false)),
    (&layouts::RESHAPE, arrange::reshape),
    (&layouts::SQUEEZE, arrange::squeeze),
    (&layouts::UNSQUEEZE, arrange::unsqueeze),
    (&layouts::TRANSPOSE, arrange::transpose),
    (&layouts::SPLIT, arrange::split),
    (&layouts::CONCAT, arrange::concat),
    (&layouts::STACK, arrange::stack),
    (&layouts::UNSTACK, arrange::unstack),
    (&layouts::SLICE, arrange::slice),
    (&layouts::PAD, padding::pad_operation),
    (&layouts::GATHER, arrange::gather),
    (&elementwise::CAST, arrange::cast),
    (&reductions::SOFTMAX_OF_TRACT, |call| normalize::along(call, "Softmax", 1)),
    (&reductions::LOG_SOFTMAX, |call| normalize::along(call, "LogSoftmax", 1)),
    (&reductions::MEAN_VARIANCE_NORMALIZATION, normalize::mean_variance),
    (&reductions::LAST_MAX, |call| arrange::extreme(call, "ArgMax", true)),
    (&reductions::LAST_MIN, |call| arrange::extreme(call, "ArgMin", true)),
    (&reductions::TOP_K, registry::arrange::top_k),
    (&reductions::RMS_NORM, registry::items::rms_norm),
    (&reductions::LRN, registry::items::lrn),
    (&reductions::MASKED_SOFTMAX, registry::attention::masked_softmax),
    (&layouts::TILE, arrange::tile),
    (&layouts::SHAPE_OF, registry::arrange::shape_of),
    (&layouts::BROADCAST, registry::arrange::broadcast),
    (&layouts::EVERY_NTH, registry::arrange::every_nth),
    (&layouts::DYN_SLICE, registry::arrange::dyn_slice),
    (&layouts::TRILU, registry::arrange::trilu),
    (&layouts::TAKE, registry::places::take),
    (&layouts::GATHER_ELEMENTS, registry::places::gather_elements),
    (&layouts::GATHER_ND, registry::places::gather_nd),
    (&layouts::SCATTER_ELEMENTS, registry::places::scatter_elements),
    (&layouts::SCATTER_ND, registry::places::scatter_nd),
    (&layouts::ONE_HOT, registry::places::one_hot),
    (&layouts::NON_ZERO, registry::arrange::non_zero),
    (&elementwise::BIT_AND, |call| registry::items::bits(call, "BitwiseAnd", "And")),
    (&elementwise::BIT_OR, |call| registry::items::bits(call, "BitwiseOr", "Or")),
    (&elementwise::BIT_XOR, |call| registry::items::bits(call, "BitwiseXor", "Xor")),
    (&elementwise::BIT_NOT, |call| registry::items::bits(call, "BitwiseNot", "Not")),
    (&elementwise::SHIFT_LEFT_WRAPPED, registry::items::shift_left),
    (&elementwise::SHIFT_RIGHT_WRAPPED, registry::items::shift_right),
    (&elementwise::IS_INF, registry::items::is_inf),
    (&elementwise::GELU_BY_TANH, registry::items::gelu_by_tanh),
    (&matrices::EINSUM, registry::einsum::einsum),
    (&matrices::EINSUM_PRODUCT, registry::einsum::product),
    (&matrices::SDPA, registry::attention::sdpa),
    (&matrices::GRU_EPILOGUE, registry::recurrent::gru),
    (&matrices::LSTM_EPILOGUE, registry::recurrent::lstm),
    (&reductions::EXP_UNIT_NORM, registry::running::unit_norm),
    (&reductions::EXP_MEAN_NORM, registry::running::mean_norm),
    (&matrices::SCAN, registry::scan::scan),
    (&matrices::CAUSAL_CONV, registry::recurrent::causal_conv),
    (&matrices::GATED_DELTA, registry::recurrent::gated_delta),
    (&vendors::NON_MAX_SUPPRESSION, registry::suppression::non_max_suppression),
    (&vendors::TYPED_CAST, registry::arrange::cast),
    (&vendors::RANGE, registry::arrange::range),
    (&vendors::FFT, registry::signal::fft),
    (&vendors::STFT, registry::signal::stft),
    (&vendors::ROPE, registry::attention::apply_rope),
    (&windows::RESIZE, registry::resample::resize),
    (&vendors::GRID_SAMPLE, registry::resample::grid_sample),
];

/// The function of a meaning that is [`ToOnnx::Nodes`].
pub(super) fn function(row: &Row) -> Option<Function> {
    FUNCTIONS.iter().find(|(known, _)| std::ptr::eq(*known, row)).map(|(_, function)| *function)
}

/// The meaning of a kind of operation that ONNX can express, or of which it is known why it cannot.
pub(super) fn find(graph: &Graph, kind: &Kind) -> Option<&'static Row> {
    graph.meaning(kind).filter(|row| row.to_onnx.is_some())
}

/// The names of the standard operations with a rule, which must not be expanded.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let known = dictionary::all().filter(|row| row.to_onnx.is_some());
    known.flat_map(|row| row.standard.split_ascii_whitespace())
}

/// The rule as it is written in the documentation.
#[cfg(test)]
fn described(to_onnx: ToOnnx) -> String {
    match to_onnx {
        ToOnnx::Formula(_, formula) => format!("`{formula}`"),
        ToOnnx::Choice(flag, set, unset) => format!("`{unset}`; `{set}` if `{flag}`"),
        ToOnnx::Nodes(what) | ToOnnx::Source(what) => what.to_owned(),
        ToOnnx::Refused(why) => format!("refused: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::is_table_of;

    /// The table of the documentation.
    fn table() -> String {
        let known = || dictionary::all().filter_map(|row| Some((row, row.to_onnx?)));
        let names = |words: &'static str, row: &'static Row, to_onnx| {
            let differs = row.onnx_differs.map_or("", |differs| differs.text);
            let line = move |name| format!("| `{name}` | {} | {differs} |\n", described(to_onnx));
            words.split(' ').filter(|name| !name.is_empty()).map(line).collect::<String>()
        };
        let is_standard = |row: &Row| !row.standard.is_empty();
        let standard = known().filter(|(row, _)| is_standard(row)).map(|(row, to_onnx)| names(row.name, row, to_onnx));
        let others =
            known().map(|(row, to_onnx)| names(row.vendor, row, to_onnx) + &names(row.converters, row, to_onnx));
        let rows: String = standard.chain(others).collect();
        format!("| NNEF | ONNX | differs where |\n|---|---|---|\n{rows}")
    }

    #[test]
    fn the_documentation_has_the_rules() {
        is_table_of("nnef-to-onnx.md", &table());
    }

    #[test]
    fn every_primitive_has_a_rule() {
        let text = include_str!("../../library/std/nnef-1.0.nnef");
        let mut known = 0;
        for (at, _) in text.match_indices("\nfragment ") {
            let rest = &text[at + "\nfragment ".len()..];
            let name = &rest[..rest.find(['<', '(']).unwrap()];
            let end = rest.find([';', '{']).unwrap();
            let primitive = rest[end..].starts_with(';');
            assert!(names().any(|known| known == name) || !primitive, "{name}");
            known += 1;
        }
        assert_eq!(known, 119);
    }

    #[test]
    fn functions_are_those_that_the_dictionary_names() {
        let by_nodes = |row: &Row| matches!(row.to_onnx, Some(ToOnnx::Nodes(_)));
        for row in dictionary::all() {
            assert_eq!(function(row).is_some(), by_nodes(row), "{}", row.name);
        }
    }
}
