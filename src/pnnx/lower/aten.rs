//! Operators for which pnnx has no name of torch: they keep that of the library below it, `aten::NAME`, and their
//! operands have no names.
//!
//! `aten::NAME` is the operator of torch with that name, of one of its modules, whose rule reads its operands by name.

use super::{KINDS, Line};
use crate::dictionary::{self, Vocabulary};
use crate::pnnx::expression_table::Op;
use crate::pnnx::model::Role;

/// What the names of torch may begin with.
const MODULES: [&str; 3] = ["torch.", "F.", "Tensor."];

/// The operators with more than one operand: the name, the kind if it has another name than that, and the names of the
/// operands by position.
const SIGNATURES: &[(&str, &str, &[&str])] = &[
    ("__and__", "torch.bitwise_and", &["input", "other"]),
    ("__lshift__", "torch.bitwise_left_shift", &["input", "other"]),
    ("__or__", "torch.bitwise_or", &["input", "other"]),
    ("__rshift__", "torch.bitwise_right_shift", &["input", "other"]),
    ("__xor__", "torch.bitwise_xor", &["input", "other"]),
    ("_log_softmax", "F.log_softmax", &["input", "dim", "half_to_float"]),
    ("_softmax", "F.softmax", &["input", "dim", "half_to_float"]),
    (
        "_transformer_encoder_layer_fwd",
        "aten::_transformer_encoder_layer_fwd",
        &[
            "input",
            "embed_dim",
            "num_heads",
            "qkv_weight",
            "qkv_bias",
            "proj_weight",
            "proj_bias",
            "use_gelu",
            "norm_first",
            "eps",
            "norm_weight_1",
            "norm_bias_1",
            "norm_weight_2",
            "norm_bias_2",
            "ffn_weight_1",
            "ffn_bias_1",
            "ffn_weight_2",
            "ffn_bias_2",
            "mask",
            "mask_type",
        ],
    ),
    ("_unsafe_view", "Tensor.view", &["input", "shape"]),
    ("adaptive_avg_pool1d", "", &["input", "output_size"]),
    ("adaptive_avg_pool2d", "", &["input", "output_size"]),
    ("adaptive_avg_pool3d", "", &["input", "output_size"]),
    ("adaptive_max_pool1d", "", &["input", "output_size"]),
    ("adaptive_max_pool2d", "", &["input", "output_size"]),
    ("adaptive_max_pool3d", "", &["input", "output_size"]),
    ("add", "", &["input", "other", "alpha"]),
    ("addcdiv", "", &["input", "tensor1", "tensor2", "value"]),
    ("addcmul", "", &["input", "tensor1", "tensor2", "value"]),
    ("addmm", "", &["input", "mat1", "mat2", "beta", "alpha"]),
    ("addmv", "", &["input", "mat", "vec", "beta", "alpha"]),
    ("addr", "", &["input", "vec1", "vec2", "beta", "alpha"]),
    ("affine_grid_generator", "F.affine_grid", &["theta", "size", "align_corners"]),
    ("all", "", &["input", "dim", "keepdim"]),
    ("alpha_dropout", "", &["input", "p", "training"]),
    ("amax", "", &["input", "dim", "keepdim"]),
    ("amin", "", &["input", "dim", "keepdim"]),
    ("aminmax", "", &["input", "dim", "keepdim"]),
    ("any", "", &["input", "dim", "keepdim"]),
    ("argmax", "", &["input", "dim", "keepdim"]),
    ("argmin", "", &["input", "dim", "keepdim"]),
    ("argsort", "", &["input", "dim", "descending"]),
    ("avg_pool1d", "", &["input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]),
    (
        "avg_pool2d",
        "",
        &["input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"],
    ),
    (
        "avg_pool3d",
        "",
        &["input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"],
    ),
    ("baddbmm", "", &["input", "batch1", "batch2", "beta", "alpha"]),
    (
        "batch_norm",
        "",
        &["input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps", "cudnn_enabled"],
    ),
    ("bilinear", "", &["input1", "input2", "weight", "bias"]),
    ("binary_cross_entropy", "", &["input", "target", "weight", "reduction"]),
    ("binary_cross_entropy_with_logits", "", &["input", "target", "weight", "pos_weight", "reduction"]),
    ("bmm", "", &["input", "mat2"]),
    ("broadcast_tensors", "", &["tensors"]),
    ("broadcast_to", "", &["input", "size"]),
    ("cat", "", &["tensors", "dim"]),
    ("cdist", "", &["x1", "x2", "p", "compute_mode"]),
    ("celu", "", &["input", "alpha"]),
    ("channel_shuffle", "", &["input", "groups"]),
    ("chunk", "", &["input", "chunks", "dim"]),
    ("clamp", "", &["input", "min", "max"]),
    ("clamp_max", "", &["input", "max"]),
    ("clamp_min", "", &["input", "min"]),
    ("clip", "", &["input", "min", "max"]),
    ("clone", "", &["input", "memory_format"]),
    ("col2im", "F.fold", &["input", "output_size", "kernel_size", "dilation", "padding", "stride"]),
    ("constant_pad_nd", "F.pad", &["input", "pad", "value"]),
    ("contiguous", "", &["input", "memory_format"]),
    ("conv1d", "", &["input", "weight", "bias", "stride", "padding", "dilation", "groups"]),
    ("conv2d", "", &["input", "weight", "bias", "stride", "padding", "dilation", "groups"]),
    ("conv3d", "", &["input", "weight", "bias", "stride", "padding", "dilation", "groups"]),
    ("conv_transpose1d", "", &["input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"]),
    ("conv_transpose2d", "", &["input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"]),
    ("conv_transpose3d", "", &["input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"]),
    ("copy", "", &["input", "src", "non_blocking"]),
    ("cosine_embedding_loss", "", &["input1", "input2", "target", "margin", "reduction"]),
    ("cosine_similarity", "", &["x1", "x2", "dim", "eps"]),
    ("count_nonzero", "", &["input", "dim"]),
    ("cross", "", &["input", "other", "dim"]),
    (
        "cross_entropy_loss",
        "F.cross_entropy",
        &["input", "target", "weight", "reduction", "ignore_index", "label_smoothing"],
    ),
    ("cummax", "", &["input", "dim"]),
    ("cummin", "", &["input", "dim"]),
    ("cumprod", "", &["input", "dim", "dtype"]),
    ("cumsum", "", &["input", "dim", "dtype"]),
    ("diag", "", &["input", "diagonal"]),
    ("diag_embed", "", &["input", "offset", "dim1", "dim2"]),
    ("diagonal", "", &["input", "offset", "dim1", "dim2"]),
    ("diff", "", &["input", "n", "dim", "prepend", "append"]),
    ("div", "", &["input", "other", "rounding_mode"]),
    ("dot", "", &["input", "tensor"]),
    ("dropout", "", &["input", "p", "training"]),
    ("dstack", "", &["tensors"]),
    ("einsum", "", &["equation", "operands", "path"]),
    ("elu", "", &["input", "alpha", "scale", "input_scale"]),
    ("embedding", "", &["weight", "input", "padding_idx", "scale_grad_by_freq", "sparse"]),
    (
        "embedding_bag",
        "",
        &[
            "weight",
            "input",
            "offsets",
            "scale_grad_by_freq",
            "mode",
            "sparse",
            "per_sample_weights",
            "include_last_offset",
            "padding_idx",
        ],
    ),
    ("empty_like", "", &["input", "dtype", "layout", "device", "pin_memory", "memory_format"]),
    ("expand", "", &["input", "shape", "implicit"]),
    ("expand_as", "", &["input", "other"]),
    ("feature_alpha_dropout", "", &["input", "p", "training"]),
    ("fill", "", &["input", "value"]),
    ("flatten", "", &["input", "start_dim", "end_dim"]),
    ("flip", "", &["input", "dims"]),
    ("float_power", "", &["input", "exponent"]),
    ("full_like", "", &["input", "fill_value", "dtype", "layout", "device", "pin_memory", "memory_format"]),
    ("gather", "", &["input", "dim", "index", "sparse_grad"]),
    ("gelu", "", &["input", "approximate"]),
    ("glu", "", &["input", "dim"]),
    ("group_norm", "", &["input", "num_groups", "weight", "bias", "eps", "cudnn_enabled"]),
    ("hardshrink", "", &["input", "lambd"]),
    ("hardtanh", "", &["input", "min_val", "max_val"]),
    ("heaviside", "", &["input", "values"]),
    ("hinge_embedding_loss", "", &["input", "target", "margin", "reduction"]),
    ("hstack", "", &["tensors"]),
    ("huber_loss", "", &["input", "target", "reduction", "delta"]),
    ("im2col", "F.unfold", &["input", "kernel_size", "dilation", "padding", "stride"]),
    ("index", "", &["input", "indices"]),
    ("index_add", "", &["input", "dim", "index", "source", "alpha"]),
    ("index_copy", "", &["input", "dim", "index", "source"]),
    ("index_fill", "", &["input", "dim", "index", "value"]),
    ("index_put", "", &["input", "indices", "values", "accumulate"]),
    ("index_reduce", "", &["input", "dim", "index", "source", "reduce", "include_self"]),
    ("index_select", "", &["input", "dim", "index"]),
    ("inner", "", &["input", "other"]),
    (
        "instance_norm",
        "",
        &[
            "input",
            "weight",
            "bias",
            "running_mean",
            "running_var",
            "use_input_stats",
            "momentum",
            "eps",
            "cudnn_enabled",
        ],
    ),
    ("kl_div", "", &["input", "target", "reduction", "log_target"]),
    ("kthvalue", "", &["input", "k", "dim", "keepdim"]),
    ("l1_loss", "", &["input", "target", "reduction"]),
    ("layer_norm", "", &["input", "normalized_shape", "weight", "bias", "eps", "cudnn_enabled"]),
    ("leaky_relu", "", &["input", "negative_slope"]),
    ("lerp", "", &["input", "end", "weight"]),
    ("linalg_cross", "torch.linalg.cross", &["input", "other", "dim"]),
    ("linalg_diagonal", "torch.linalg.diagonal", &["A", "offset", "dim1", "dim2"]),
    ("linalg_multi_dot", "torch.linalg.multi_dot", &["tensors"]),
    ("linalg_norm", "torch.linalg.norm", &["input", "ord", "dim", "keepdim", "dtype"]),
    ("linalg_vector_norm", "torch.linalg.vector_norm", &["input", "ord", "dim", "keepdim", "dtype"]),
    ("linear", "", &["input", "weight", "bias"]),
    ("linspace", "", &["start", "end", "steps", "dtype", "layout", "device", "pin_memory"]),
    ("log_softmax", "", &["input", "dim", "dtype"]),
    ("logcumsumexp", "", &["input", "dim"]),
    ("logit", "", &["input", "eps"]),
    ("logsumexp", "", &["input", "dim", "keepdim"]),
    ("margin_ranking_loss", "", &["input1", "input2", "target", "margin", "reduction"]),
    ("masked_fill", "", &["input", "mask", "value"]),
    ("max", "", &["input", "dim", "keepdim"]),
    ("max_pool1d", "", &["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"]),
    ("max_pool2d", "", &["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"]),
    ("max_pool3d", "", &["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"]),
    ("mean", "", &["input", "dim", "keepdim", "dtype"]),
    ("median", "", &["input", "dim", "keepdim"]),
    ("meshgrid", "", &["tensors", "indexing"]),
    ("min", "", &["input", "dim", "keepdim"]),
    ("mm", "", &["input", "mat2"]),
    ("movedim", "", &["input", "source", "destination"]),
    ("mse_loss", "", &["input", "target", "reduction"]),
    ("multi_margin_loss", "", &["input", "target", "p", "margin", "weight", "reduction"]),
    ("mv", "", &["input", "vec"]),
    ("nan_to_num", "", &["input", "nan", "posinf", "neginf"]),
    ("narrow", "", &["input", "dim", "start", "length"]),
    ("new_empty", "", &["input", "size", "dtype", "layout", "device", "pin_memory"]),
    ("new_full", "", &["input", "size", "fill_value", "dtype", "layout", "device", "pin_memory"]),
    ("new_ones", "", &["input", "size", "dtype", "layout", "device", "pin_memory"]),
    ("new_zeros", "", &["input", "size", "dtype", "layout", "device", "pin_memory"]),
    ("nll_loss", "", &["input", "target", "weight", "reduction", "ignore_index"]),
    ("nll_loss2d", "F.nll_loss", &["input", "target", "weight", "reduction", "ignore_index"]),
    ("nll_loss_nd", "F.nll_loss", &["input", "target", "weight", "reduction", "ignore_index"]),
    ("norm", "", &["input", "p", "dim", "keepdim", "dtype"]),
    ("one_hot", "", &["input", "num_classes"]),
    ("ones_like", "", &["input", "dtype", "layout", "device", "pin_memory", "memory_format"]),
    ("outer", "", &["input", "vec2"]),
    ("pad", "", &["input", "pad", "mode", "value"]),
    ("pairwise_distance", "", &["x1", "x2", "p", "eps", "keepdim"]),
    ("permute", "", &["input", "dims"]),
    ("pixel_shuffle", "", &["input", "upscale_factor"]),
    ("pixel_unshuffle", "", &["input", "downscale_factor"]),
    ("poisson_nll_loss", "", &["input", "target", "log_input", "full", "eps", "reduction"]),
    ("pow", "", &["input", "exponent"]),
    ("prelu", "", &["input", "weight"]),
    ("prod", "", &["input", "dim", "keepdim", "dtype"]),
    ("quantile", "", &["input", "q", "dim", "keepdim", "interpolation"]),
    ("reflection_pad1d", "nn.ReflectionPad1d", &["input", "padding"]),
    ("reflection_pad2d", "nn.ReflectionPad2d", &["input", "padding"]),
    ("reflection_pad3d", "nn.ReflectionPad3d", &["input", "padding"]),
    ("repeat", "", &["input", "sizes"]),
    ("repeat_interleave", "", &["input", "repeats", "dim", "output_size"]),
    ("replication_pad1d", "nn.ReplicationPad1d", &["input", "padding"]),
    ("replication_pad2d", "nn.ReplicationPad2d", &["input", "padding"]),
    ("replication_pad3d", "nn.ReplicationPad3d", &["input", "padding"]),
    ("reshape", "", &["input", "shape"]),
    ("rms_norm", "", &["input", "normalized_shape", "weight", "eps"]),
    ("roll", "", &["input", "shifts", "dims"]),
    ("rot90", "", &["input", "k", "dims"]),
    ("round", "", &["input", "decimals"]),
    ("rrelu", "", &["input", "lower", "upper", "training"]),
    (
        "scaled_dot_product_attention",
        "",
        &["query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"],
    ),
    ("scatter", "", &["input", "dim", "index", "src"]),
    ("scatter_add", "", &["input", "dim", "index", "src"]),
    ("scatter_reduce", "", &["input", "dim", "index", "src", "reduce", "include_self"]),
    ("select", "", &["input", "dim", "index"]),
    ("select_scatter", "", &["input", "src", "dim", "index"]),
    ("slice", "", &["input", "dim", "start", "end", "step"]),
    ("slice_scatter", "", &["input", "src", "dim", "start", "end", "step"]),
    ("smooth_l1_loss", "", &["input", "target", "reduction", "beta"]),
    ("soft_margin_loss", "", &["input", "target", "reduction"]),
    ("softmax", "", &["input", "dim", "dtype"]),
    ("softplus", "", &["input", "beta", "threshold"]),
    ("softshrink", "", &["input", "lambd"]),
    ("sort", "", &["input", "dim", "descending"]),
    ("split", "", &["input", "split_size_or_sections", "dim"]),
    ("split_with_sizes", "torch.split", &["input", "split_size_or_sections", "dim"]),
    ("squeeze", "", &["input", "dim"]),
    ("stack", "", &["tensors", "dim"]),
    ("std", "", &["input", "dim", "unbiased", "keepdim"]),
    ("std_mean", "", &["input", "dim", "unbiased", "keepdim"]),
    ("sub", "", &["input", "other", "alpha"]),
    ("sum", "", &["input", "dim", "keepdim", "dtype"]),
    ("take", "", &["input", "index"]),
    ("take_along_dim", "", &["input", "indices", "dim"]),
    ("tensor_split", "", &["input", "indices", "dim"]),
    ("tensordot", "", &["input", "other", "dims_self", "dims_other"]),
    ("threshold", "", &["input", "threshold", "value"]),
    ("tile", "", &["input", "dims"]),
    ("topk", "", &["input", "k", "dim", "largest", "sorted"]),
    ("transpose", "", &["input", "dim0", "dim1"]),
    ("tril", "", &["input", "diagonal"]),
    ("triplet_margin_loss", "", &["anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction"]),
    ("triu", "", &["input", "diagonal"]),
    ("type_as", "", &["input", "other"]),
    ("unbind", "", &["input", "dim"]),
    ("unflatten", "", &["input", "dim", "sizes"]),
    ("unfold", "Tensor.unfold", &["input", "dimension", "size", "step"]),
    ("unsafe_chunk", "torch.chunk", &["input", "chunks", "dim"]),
    ("unsafe_split", "torch.split", &["input", "split_size_or_sections", "dim"]),
    ("unsqueeze", "", &["input", "dim"]),
    ("var", "", &["input", "dim", "unbiased", "keepdim"]),
    ("var_mean", "", &["input", "dim", "unbiased", "keepdim"]),
    ("vdot", "", &["input", "tensor"]),
    ("view", "", &["input", "shape"]),
    ("vstack", "", &["tensors"]),
    ("where", "", &["condition", "input", "other"]),
    ("zero", "Tensor.zero", &["input"]),
];

/// The names of the operands of operators without a signature.
const OPERANDS: &[&str] = &["input", "other"];

/// Whether there is a rule for a kind of operators.
fn has_rule(kind: &str) -> bool {
    let name = MODULES.iter().find_map(|module| kind.strip_prefix(module));
    KINDS.iter().any(|kinds| kinds.contains(&kind))
        || dictionary::find(Vocabulary::Torch, kind).is_some_and(|row| row.function().is_some())
        || name.and_then(Op::named).is_some_and(|op| op.row().row.is_some())
}

/// The kind of operators of torch for a name, and the names of its operands.
fn of_torch(name: &str) -> Option<(String, &'static [&'static str])> {
    let found = SIGNATURES.iter().find(|(known, ..)| *known == name).map(|(_, kind, names)| (*kind, *names));
    let (kind, names) = found.unwrap_or(("", OPERANDS));
    if !kind.is_empty() {
        return Some((kind.to_owned(), names));
    }
    // Modules of torch are words in front of a name.
    let inner = ["fft_", "linalg_", "special_"].iter().find_map(|module| name.strip_prefix(module));
    let inner = inner.and_then(|rest| Some(format!("torch.{}.{rest}", name.strip_suffix(rest)?.trim_end_matches('_'))));
    let spelled = inner.into_iter().chain(MODULES.map(|module| format!("{module}{name}")));
    let mut spelled = spelled.filter(|kind| has_rule(kind));
    spelled.next().map(|kind| (kind, names))
}

/// The kind whose rule applies to an operator. Operands without names get those of the signature.
pub(super) fn kind(line: &mut Line) -> String {
    let kind = line.operator.kind.as_str();
    let Some(name) = kind.strip_prefix("aten::") else { return kind.to_owned() };
    // What is computed in place has the result as another operator.
    let in_place = || name.strip_suffix('_').filter(|name| !name.ends_with('_'));
    let Some((found, names)) = of_torch(name).or_else(|| of_torch(in_place()?)) else { return kind.to_owned() };
    let is_named = line.operator.params(Role::Argument).next().is_some();
    if !is_named && line.operands.len() <= names.len() {
        for (operand, name) in line.operands.iter_mut().zip(names) {
            operand.name = (*name).to_owned();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rules_or_operations() {
        assert!(SIGNATURES.is_sorted_by_key(|(name, ..)| name));
        for (name, ..) in SIGNATURES {
            let (kind, _) = of_torch(name).unwrap_or_else(|| panic!("{name}"));
            assert!(has_rule(&kind), "{name}: {kind}");
        }
        for (name, kind) in [
            ("relu", "torch.relu"),
            ("silu", "F.silu"),
            ("sigmoid", "torch.sigmoid"),
            ("maximum", "torch.maximum"),
            ("fft_fft", "torch.fft.fft"),
            ("t", "torch.t"),
        ] {
            assert_eq!(of_torch(name).map(|(kind, _)| kind).as_deref(), Some(kind));
        }
    }
}
