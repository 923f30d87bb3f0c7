//! Operations of tract's registries and operators of ONNX that belong to none of the other families.

use super::row::{Category, ElementRule, ItemRule, Row, ShapeRule, ToOnnx, Words};
use Category::{Activation, Elementwise, Other};
use ElementRule::{DatumType, DatumTypeOrFirst, Unknown, Values, Widest};

const fn other(name: &'static str, vendor: Words, shape: ShapeRule) -> Row {
    Row::vendor(name, vendor, Other, shape)
}

rows! {
    TYPED_EXTERNAL = Row::vendor("typed_external", "tract_core_external", Category::Port, ShapeRule::Stated)
        .elements(DatumType).translated(ToOnnx::Source("an input of the graph"));
    RANDOM = other("random", "tract_onnx_random", ShapeRule::Stated).elements(DatumType)
        .translated(ToOnnx::Refused("its numbers are those of a generator of tract"));
    /// If the type is missing, it is in graph.quant: a quantized type.
    TYPED_CAST = Row::vendor("typed_cast", "tract_core_cast", Elementwise, ShapeRule::LikeFirst)
        .elements(ElementRule::To).items(ItemRule::Cast).translated(ToOnnx::Nodes("`Cast`"));
    RANGE = Row::vendor("range", "tract_core_range", Category::Data, ShapeRule::Range).elements(Widest)
        .items(ItemRule::Range).translated(ToOnnx::Nodes("`Range`")).in_onnx("Range");
    FFT = other("fft", "tract_core_fft", ShapeRule::LikeFirst).translated(ToOnnx::Nodes("`DFT`; the inverse times the number of items"));
    STFT = other("stft", "tract_core_stft", ShapeRule::Stft)
        .translated(ToOnnx::Nodes("`STFT` along the second of three axes, otherwise `Gather`, `Mul` and `DFT`"));
    GRID_SAMPLE = other("grid_sample", "tract_core_grid_sample tract_onnx_grid_sample", ShapeRule::GridSample)
        .translated(ToOnnx::Nodes("`GridSample`"));
    ROPE = other("rope", "tract_transformers_apply_rope", ShapeRule::LikeFirst)
        .translated(ToOnnx::Nodes("`Split`, `Neg`, `Concat`, `Mul`, `Add`"));
    KV_CACHE = other("kv_cache", "tract_transformers_dyn_kv_cache", ShapeRule::Cache).elements(DatumTypeOrFirst)
        .translated(ToOnnx::Refused("a model of ONNX has no state"));
    QUANTIZED_KV_CACHE = other("quantized_kv_cache", "tract_transformers_quantized_dyn_kv_cache", ShapeRule::Cache)
        .translated(ToOnnx::Refused("a model of ONNX has no state"));
    DIRECT_LOOKUP = other("direct_lookup", "tract_onnx_ml_direct_lookup", ShapeRule::LikeFirst).elements(Values)
        .translated(ToOnnx::Refused("its operators are those of another domain"));
    REVERSE_LOOKUP = other("reverse_lookup", "tract_onnx_ml_reverse_lookup", ShapeRule::LikeFirst)
        .translated(ToOnnx::Refused("its operators are those of another domain"));
    PULSE_MASK = other("pulse_mask", "tract_pulse_mask tract_pulse_pulse_pad", ShapeRule::LikeFirst)
        .translated(ToOnnx::Refused("a model of ONNX has no state"));
    DELAY = other("delay", "tract_pulse_delay", ShapeRule::Delay).translated(ToOnnx::Refused("a model of ONNX has no state"));
    MULTINOMIAL = other("multinomial", "tract_onnx_multinomial", ShapeRule::Multinomial)
        .translated(ToOnnx::Refused("its numbers are those of a generator of tract"));
    NON_MAX_SUPPRESSION = other("non_max_suppression", "tract_onnx_non_max_suppression", ShapeRule::Suppression)
        .in_onnx("NonMaxSuppression")
        .translated(ToOnnx::Nodes("`NonMaxSuppression`; a `max_output_boxes_per_class` of 0 stands for all boxes"));
    CLASSIFIER = other("classifier", "tract_onnx_ml_tree_ensemble_classifier", ShapeRule::Classes)
        .translated(ToOnnx::Refused("its operators are those of another domain"));
    TO_COMPLEX = other("to_complex", "tract_core_inner_dim_to_complex", ShapeRule::ToComplex)
        .translated(ToOnnx::Refused("its operators have no complex numbers"));
    FROM_COMPLEX = other("from_complex", "tract_core_complex_to_inner_dim", ShapeRule::FromComplex)
        .translated(ToOnnx::Refused("its operators have no complex numbers"));
    RESOURCE = other("resource", "tract_resource_get", ShapeRule::Unknown).elements(Unknown)
        .translated(ToOnnx::Refused("resources are given to tract when it loads the model"));

    QUANTIZE = Row::new("quantize", Category::Quantization).in_onnx("QuantizeLinear");
    DEQUANTIZE = Row::new("dequantize", Category::Quantization).in_onnx("DequantizeLinear");
    DYNAMIC_QUANTIZE = Row::new("dynamic_quantize", Category::Quantization).in_onnx("DynamicQuantizeLinear");
    CELU = Row::new("celu", Activation).in_onnx("Celu").in_torch("nn.CELU F.celu");
    THRESHOLDED_RELU = Row::new("thresholded_relu", Activation).in_onnx("ThresholdedRelu");
    THRESHOLD = Row::new("threshold", Activation).in_torch("nn.Threshold F.threshold");
    HARD_SHRINK = Row::new("hard_shrink", Activation).in_torch("nn.Hardshrink F.hardshrink");
    SOFT_SHRINK = Row::new("soft_shrink", Activation).in_torch("nn.Softshrink F.softshrink");
    MEAN = Row::new("mean", Elementwise).in_onnx("Mean");
}
