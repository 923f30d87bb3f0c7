//! Categories of operations, with their colours: one table for all pictures.

/// A family of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Category {
    /// Inputs and outputs of the graph.
    Port,
    /// Variables and constants.
    Data,
    /// Products with weights.
    Product,
    /// Normalization.
    Normalization,
    /// Non-linear functions.
    Activation,
    /// Pooling and reductions.
    Reduction,
    /// Element-wise arithmetic.
    Elementwise,
    /// Changes of shape and order.
    Layout,
    /// Concatenation and selection.
    Selection,
    /// Quantization.
    Quantization,
    /// Anything else.
    Other,
}

/// The style of a category.
#[derive(Debug)]
pub(crate) struct Style {
    /// The category.
    pub(crate) category: Category,
    /// Its name, a class of the style sheet.
    pub(crate) class: &'static str,
    /// Background and accent on a light page.
    pub(crate) light: (&'static str, &'static str),
    /// Background and accent on a dark page.
    pub(crate) dark: (&'static str, &'static str),
    /// The operations that belong to it.
    pub(crate) operations: &'static [&'static str],
}

macro_rules! styles {
    ($($category:ident $class:literal $fill:literal $line:literal $dark:literal $dark_line:literal [$($operation:literal)*])*) => {
        &[$(Style {
            category: Category::$category,
            class: $class,
            light: ($fill, $line),
            dark: ($dark, $dark_line),
            operations: &[$($operation),*],
        }),*]
    };
}

/// The table, in the order of [`Category`].
pub(crate) const STYLES: &[Style] = styles! {
    Port "port" "#eef1f5" "#64748b" "#27303d" "#94a3b8" ["external"]
    Data "data" "#f6f1ea" "#a1845c" "#332c22" "#c9a877" ["variable" "constant" "initializer" "range" "update" "constant_of_shape"]
    Product "product" "#eaf1fd" "#3b76d6" "#1d2c47" "#6ea3f5" [
        "conv" "deconv" "separable_conv" "separable_deconv" "planewise_conv" "planewise_deconv" "linear" "matmul"
        "einsum" "box" "debox" "rnn_step" "lstm_step" "gru_step" "sdpa" "scaled_dot_product_attention"
        "gemm" "conv_transpose" "attention" "lstm" "gru" "rnn" "conv_integer" "mat_mul_integer" "qlinear_conv"
        "qlinear_mat_mul" "bmm" "addmm" "multihead_attention"
    ]
    Normalization "normalization" "#f3eefb" "#8456c5" "#2d2340" "#b08be6" [
        "batch_normalization" "l1_normalization" "l2_normalization" "local_contrast_normalization"
        "local_mean_normalization" "local_response_normalization" "local_variance_normalization" "layer_norm"
        "rms_norm" "layer_normalization" "group_normalization" "instance_normalization" "batch_norm" "group_norm"
        "instance_norm"
    ]
    Activation "activation" "#fdf0ea" "#d26a2e" "#3b261a" "#f0975f" [
        "relu" "relu6" "prelu" "leaky_relu" "elu" "selu" "gelu" "gelu_approximate" "silu" "sigmoid" "softabs" "softmax"
        "softplus" "tanh" "hard_swish" "hard_sigmoid" "mish" "softsign" "erf" "log_softmax"
        "thresholded_relu" "celu" "swish"
    ]
    Reduction "reduction" "#e7f5f2" "#1f8a76" "#17312c" "#4fbfa9" [
        "max_pool" "avg_pool" "rms_pool" "max_pool_with_index" "argmax_pool" "sum_reduce" "mean_reduce" "max_reduce"
        "min_reduce" "argmax_reduce" "argmin_reduce" "any_reduce" "all_reduce" "moments" "area_downsample"
        "nearest_downsample" "avg_roi_pool" "max_roi_pool" "avg_roi_align" "max_roi_align" "sum_of_squares_reduce"
        "product_reduce" "cumsum" "topk" "average_pool" "global_average_pool" "global_max_pool" "reduce_mean" "reduce_sum"
        "reduce_max" "reduce_min" "reduce_prod" "reduce_l1" "reduce_l2" "arg_max" "arg_min" "lp_pool"
        "reduce_sum_square" "reduce_log_sum" "reduce_log_sum_exp" "torch_sum" "torch_mean" "torch_norm"
        "adaptive_avg_pool" "adaptive_max_pool"
    ]
    Elementwise "elementwise" "#edf6e7" "#5b8f2e" "#22301a" "#8fc35f" [
        "add" "sub" "mul" "div" "pow" "exp" "log" "log2" "sin" "cos" "tan" "sinh" "cosh" "asin" "acos" "atan" "asinh"
        "acosh" "atanh" "abs" "sign" "rcp" "neg" "floor" "ceil" "round" "sqr" "sqrt" "rsqr" "rsqrt" "min" "max" "lt"
        "gt" "le" "ge" "eq" "ne" "and" "or" "not" "idn" "clamp" "add_n" "xor" "copy" "square" "recip" "round_even"
        "logical_not" "iff" "cast" "cast_like"
        "reciprocal" "equal" "greater" "less" "greater_or_equal" "less_or_equal" "clip" "sum" "mean" "identity" "mod"
    ]
    Layout "layout" "#f0f2f4" "#7b8794" "#282d34" "#a3aebb" [
        "reshape" "squeeze" "unsqueeze" "transpose" "pad" "tile" "slice" "split" "unstack" "shape_of" "copy_n"
        "multilinear_upsample" "nearest_upsample" "desample" "sample" "roi_resample" "broadcast" "expand" "flatten"
        "linear_upsample2x_symmetric" "linear_upsample2x_asymmetric" "bilinear_upsample2x_symmetric"
        "bilinear_upsample2x_asymmetric" "resize" "dyn_slice" "strided_slice" "trilu" "upcast" "chunk"
        "shape" "size" "view" "permute" "unbind" "tensor_split" "depth_to_space" "space_to_depth"
    ]
    Selection "selection" "#e9eefb" "#5360c4" "#222848" "#8d98ee" [
        "concat" "stack" "select" "gather" "gather_elements" "gather_nd" "scatter" "scatter_elements" "scatter_nd"
        "one_hot" "non_zero" "where" "cat" "embedding"
    ]
    Quantization "quantization" "#fbeef4" "#c14d87" "#3a2030" "#e98bb8" [
        "linear_quantize" "min_max_linear_quantize" "zero_point_linear_quantize" "logarithmic_quantize" "quantize"
        "dequantize" "quantize_linear_u8" "dequantize_linear_f32" "quantize_linear" "dequantize_linear"
        "dynamic_quantize_linear"
    ]
    Other "other" "#ffffff" "#8a94a3" "#20252c" "#8a94a3" []
};

/// Prefixes that exporters and converters put before names of operations.
const PREFIXES: &[&str] =
    &["tract_core_", "tract_transformers_", "tract_onnx_", "tract_", "nn_", "F_", "torch_", "Tensor_"];
/// Suffixes of the modules of torch.
const SUFFIXES: &[&str] = &["1d", "2d", "3d"];

/// The category of an operation.
pub(crate) fn of(operation: &str) -> Category {
    let known = |name: &str| {
        let has = |style: &&Style| style.operations.iter().any(|known| is_same(known, name));
        STYLES.iter().find(has).map(|style| style.category)
    };
    // ONNX has domains before the names of operators.
    let bare = operation.rsplit('.').next().unwrap_or(operation);
    let bare = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)).unwrap_or(bare);
    let bare = SUFFIXES.iter().find_map(|suffix| bare.strip_suffix(suffix)).unwrap_or(bare);
    known(operation).or_else(|| known(bare)).unwrap_or(Category::Other)
}

/// Whether two names are equal but for case and underscores: `max_pool` is `MaxPool` in ONNX.
fn is_same(a: &str, b: &str) -> bool {
    plain(a).eq(plain(b))
}

fn plain(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

/// The style of a category.
pub(crate) fn style(category: Category) -> &'static Style {
    &STYLES[category as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_nothing_twice() {
        let mut names: Vec<String> = Vec::new();
        for (i, row) in STYLES.iter().enumerate() {
            assert_eq!(row.category as usize, i);
            names.extend(row.operations.iter().map(|name| String::from_utf8(plain(name).collect()).unwrap()));
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// The relative luminance of a colour `#rrggbb`, as WCAG defines it.
    fn luminance(color: &str) -> f64 {
        let channel = |i: usize| f64::from(u8::from_str_radix(&color[i..i + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5))
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn texts_and_lines_can_be_seen() {
        let css = include_str!("page/page.css");
        for (mode, dark) in [false, true].into_iter().enumerate() {
            let color = |name: &str| css.split(&format!("{name}: ")).nth(mode + 1).unwrap().get(..7).unwrap();
            let fills = STYLES.iter().map(|style| if dark { style.dark.0 } else { style.light.0 });
            let grounds = ["--page", "--bar", "--group", "--group-even", "--closed"].map(color);
            for (ground, text) in
                fills.chain(grounds).flat_map(|of| ["--text", "--note", "--key"].map(|t| (of, color(t))))
            {
                assert!(contrast(ground, text) >= 4.5, "{text} on {ground}: {}", contrast(ground, text));
            }
            let grounds = ["--page", "--group", "--group-even"].map(color);
            for (ground, line) in grounds.iter().flat_map(|of| ["--line", "--tip"].map(|t| (*of, color(t)))) {
                assert!(contrast(ground, line) >= 3.0, "{line} on {ground}: {}", contrast(ground, line));
            }
            for name in ["--text", "--note", "--key", "--line", "--tip"].into_iter().filter(|_| !dark) {
                assert!(include_str!("svg.css").contains(color(name)), "{name}: pages and SVG differ");
            }
        }
    }

    #[test]
    fn vendors_names_are_known_by_what_they_end_with() {
        assert_eq!(of("conv"), Category::Product);
        assert_eq!(of("tract_core_softmax"), Category::Activation);
        assert_eq!(of("tract_core_external"), Category::Port);
        assert_eq!(of("no_such"), Category::Other);
        assert_eq!([of("QLinearConv"), of("TopK")], [Category::Product, Category::Reduction]);
        assert_eq!(
            [of("nn_Conv2d"), of("F_relu"), of("nn_ReLU")],
            [Category::Product, Category::Activation, Category::Activation]
        );
        assert_eq!([of("torch_mean"), of("Mean")], [Category::Reduction, Category::Elementwise]);
        assert_eq!(of("com.microsoft.MatMul"), Category::Product);
    }
}
