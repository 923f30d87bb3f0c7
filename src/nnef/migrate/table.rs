//! What became of the operations of the provisional dialect in NNEF 1.0.5, as data.
//!
//! Every operation of the draft is in exactly one of the two tables. Parameters that
//! are not mentioned keep their names, and with them their meaning.

/// A value that the draft leaves unsaid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// An integer.
    Int(i64),
    /// An array of integers.
    Ints(&'static [i64]),
    /// A string.
    Text(&'static str),
}

/// Under which condition an argument means the same in 1.0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    /// It is 0.0.
    Zero,
    /// It is 0.0 or more.
    NotNegative,
    /// Its extents are known, that is, not 0.
    KnownExtents,
    /// It has one item for each axis after the first `usize` ones, or none: in the draft the
    /// rest follows a rule, in 1.0 there must be no rest.
    Whole(usize),
}

/// What happens to a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// It has another name.
    Rename(&'static str, &'static str),
    /// It is new, and has this value.
    Add(&'static str, Constant),
    /// It has a counterpart under a condition only.
    If(&'static str, Condition),
    /// Items for trailing axes may be missing and stand for 1; the first `usize` axes have none.
    FillOnes(&'static str, usize),
    /// A call says what the items of the result are.
    TypeArgument,
}

use Condition::{KnownExtents, NotNegative, Whole, Zero};
use Constant::{Int, Ints, Text};
use Step::{Add, FillOnes, If, Rename, TypeArgument};

/// A row: the operation, its counterpart, and its parameters where they differ.
#[derive(Debug)]
pub(crate) struct Row {
    /// The operation of the draft.
    pub(crate) draft: &'static str,
    /// Its counterpart.
    pub(crate) counterpart: &'static str,
    /// What happens to parameters.
    pub(crate) steps: &'static [Step],
}

const fn row(draft: &'static str, counterpart: &'static str, steps: &'static [Step]) -> Row {
    Row { draft, counterpart, steps }
}

/// Windows over all axes, and windows over the spatial ones.
const POOL: &[Step] = &[FillOnes("size", 0), FillOnes("stride", 0), FillOnes("dilation", 0), If("padding", Whole(0))];
const CONV: &[Step] = &[FillOnes("stride", 2), FillOnes("dilation", 2), If("padding", Whole(2))];
const PLANEWISE: &[Step] =
    &[FillOnes("stride", 2), FillOnes("dilation", 2), If("padding", Whole(2)), Add("groups", Int(0))];

/// The operations that have a counterpart.
pub(crate) static ROWS: &[Row] = &[
    row("external", "external", &[If("shape", KnownExtents), TypeArgument]),
    row("constant", "constant", &[TypeArgument]),
    row("variable", "variable", &[TypeArgument]),
    row("idn", "copy", &[]),
    row("neg", "neg", &[]),
    row("rcp", "rcp", &[]),
    row("abs", "abs", &[]),
    row("sign", "sign", &[]),
    row("exp", "exp", &[]),
    row("log", "log", &[]),
    row("floor", "floor", &[]),
    row("ceil", "ceil", &[]),
    row("round", "round", &[]),
    row("not", "not", &[]),
    row("add", "add", &[]),
    row("sub", "sub", &[]),
    row("mul", "mul", &[]),
    row("div", "div", &[]),
    row("pow", "pow", &[]),
    row("lt", "lt", &[]),
    row("le", "le", &[]),
    row("gt", "gt", &[]),
    row("ge", "ge", &[]),
    row("eq", "eq", &[]),
    row("ne", "ne", &[]),
    row("and", "and", &[]),
    row("or", "or", &[]),
    row("select", "select", &[]),
    row("sqr", "sqr", &[]),
    row("sqrt", "sqrt", &[]),
    row("rsqr", "rsqr", &[]),
    row("rsqrt", "rsqrt", &[]),
    row("log2", "log2", &[]),
    row("min", "min", &[]),
    row("max", "max", &[]),
    row("clamp", "clamp", &[]),
    row("conv", "conv", CONV),
    row("deconv", "deconv", CONV),
    row("box", "box", POOL),
    row("debox", "debox", POOL),
    row("argmax_pool", "argmax_pool", POOL),
    row("sample", "sample", POOL),
    row("desample", "desample", POOL),
    row("nearest_downsample", "nearest_downsample", &[]),
    row("area_downsample", "area_downsample", &[]),
    row("nearest_upsample", "nearest_upsample", &[]),
    row("multilinear_upsample", "multilinear_upsample", &[]),
    // The draft shows these as special cases of the general operation (4.3.4).
    row(
        "linear_upsample2x_symmetric",
        "multilinear_upsample",
        &[Add("factor", Ints(&[2])), Add("method", Text("symmetric"))],
    ),
    row(
        "linear_upsample2x_asymmetric",
        "multilinear_upsample",
        &[Add("factor", Ints(&[2])), Add("method", Text("asymmetric"))],
    ),
    row(
        "bilinear_upsample2x_symmetric",
        "multilinear_upsample",
        &[Add("factor", Ints(&[2, 2])), Add("method", Text("symmetric"))],
    ),
    row(
        "bilinear_upsample2x_asymmetric",
        "multilinear_upsample",
        &[Add("factor", Ints(&[2, 2])), Add("method", Text("asymmetric"))],
    ),
    row("sum_reduce", "sum_reduce", &[]),
    row("max_reduce", "max_reduce", &[]),
    row("min_reduce", "min_reduce", &[]),
    row("mean_reduce", "mean_reduce", &[]),
    row("reshape", "reshape", &[]),
    row("transpose", "transpose", &[Rename("perm", "axes")]),
    row("split", "split", &[]),
    row("concat", "concat", &[]),
    row("matmul", "matmul", &[Rename("trA", "transposeA"), Rename("trB", "transposeB")]),
    row("update", "update", &[]),
    row("sigmoid", "sigmoid", &[]),
    row("relu", "relu", &[]),
    row("leaky_relu", "leaky_relu", &[]),
    row("elu", "elu", &[]),
    row("tanh", "tanh", &[]),
    row("softmax", "softmax", &[]),
    row("softplus", "softplus", &[]),
    row("linear", "linear", &[]),
    row("planewise_conv", "conv", PLANEWISE),
    row("planewise_deconv", "deconv", PLANEWISE),
    row("separable_conv", "separable_conv", CONV),
    row("separable_deconv", "separable_deconv", CONV),
    row("max_pool_with_index", "max_pool_with_index", POOL),
    row("max_pool", "max_pool", POOL),
    row("avg_pool", "avg_pool", POOL),
    row("rms_pool", "rms_pool", POOL),
    row("local_response_normalization", "local_response_normalization", &[FillOnes("size", 0)]),
    row("local_mean_normalization", "local_mean_normalization", &[FillOnes("size", 0)]),
    // 1.0 adds the bias after the root, and has a lower bound instead of the bias under it.
    row("local_variance_normalization", "local_variance_normalization", &[FillOnes("size", 0), If("bias", Zero)]),
    row("local_contrast_normalization", "local_contrast_normalization", &[FillOnes("size", 0), If("bias", Zero)]),
    row("l1_normalization", "l1_normalization", &[If("bias", NotNegative)]),
    row("l2_normalization", "l2_normalization", &[If("bias", Zero)]),
    row("batch_normalization", "batch_normalization", &[]),
    row("linear_quantize", "linear_quantize", &[]),
    row("copy_n", "copy_n", &[]),
    row("add_n", "add_n", &[]),
    row("moments", "moments", &[]),
];

/// The compounds without a counterpart, which are always expanded: 1.0 has operations of these
/// names that calculate something else.
pub(crate) static EXPANDED: &[&str] = &["logarithmic_quantize"];

/// The words that are names in the draft and keywords in 1.0.
pub(crate) static KEYWORDS: &[&str] = &["version", "extension", "integer", "yield"];

/// The row of an operation.
pub(crate) fn find(draft: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.draft == draft)
}
