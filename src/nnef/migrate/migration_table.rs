//! The counterparts in NNEF 1.0.5 of the operations of the provisional dialect, as data.
//!
//! Every operation of the draft is in exactly one of the two tables. Parameters that are not mentioned
//! keep their names and meanings.

/// The value of a parameter that the draft does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// An integer.
    Int(i64),
    /// An array of integers.
    Ints(&'static [i64]),
    /// A string.
    Text(&'static str),
}

/// The condition under which an argument has the same meaning in 1.0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    /// It is 0.0.
    Zero,
    /// It is 0.0 or more.
    NotNegative,
    /// Its extents are known, that is, not 0.
    KnownExtents,
    /// It has one item for each axis after the first `usize` ones, or no items. In the draft, missing
    /// items follow a rule; in 1.0, none may be missing.
    Whole(usize),
}

/// The change of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ParameterChange {
    /// It has another name.
    Rename(&'static str, &'static str),
    /// It is new, and has this value.
    Add(&'static str, Constant),
    /// It has a counterpart under a condition only.
    If(&'static str, Condition),
    /// Missing items for trailing axes are 1; the first `usize` axes have no items.
    FillOnes(&'static str, usize),
    /// The call gets a type argument, the element type of the result.
    TypeArgument,
}

use Condition::{KnownExtents, NotNegative, Whole, Zero};
use Constant::{Int, Ints, Text};
use ParameterChange::{Add, FillOnes, If, Rename, TypeArgument};

/// Operations of the draft that keep their names or become one operation, with the same changes.
#[derive(Debug)]
pub(crate) struct MigrationRow {
    /// The operations of the draft, separated by spaces.
    pub(crate) draft: &'static str,
    /// Their counterpart, where it has another name.
    pub(crate) counterpart: Option<&'static str>,
    /// The changes of parameters.
    pub(crate) steps: &'static [ParameterChange],
}

const fn same(draft: &'static str, steps: &'static [ParameterChange]) -> MigrationRow {
    MigrationRow { draft, counterpart: None, steps }
}

const fn row(draft: &'static str, counterpart: &'static str, steps: &'static [ParameterChange]) -> MigrationRow {
    MigrationRow { draft, counterpart: Some(counterpart), steps }
}

/// Windows over all axes, and windows over the spatial ones.
const POOL: &[ParameterChange] =
    &[FillOnes("size", 0), FillOnes("stride", 0), FillOnes("dilation", 0), If("padding", Whole(0))];
const CONV: &[ParameterChange] = &[FillOnes("stride", 2), FillOnes("dilation", 2), If("padding", Whole(2))];
const PLANEWISE: &[ParameterChange] =
    &[FillOnes("stride", 2), FillOnes("dilation", 2), If("padding", Whole(2)), Add("groups", Int(0))];

const SYMMETRIC: ParameterChange = Add("method", Text("symmetric"));
const ASYMMETRIC: ParameterChange = Add("method", Text("asymmetric"));

/// The operations that have a counterpart.
pub(crate) static ROWS: &[MigrationRow] = &[
    same(
        "\
         neg rcp abs sign exp log floor ceil round not add sub mul div pow lt le gt ge eq ne and or \
         select sqr sqrt rsqr rsqrt log2 min max clamp nearest_downsample area_downsample \
         nearest_upsample multilinear_upsample sum_reduce max_reduce min_reduce mean_reduce reshape split \
         concat update sigmoid relu leaky_relu elu tanh softmax softplus linear batch_normalization \
         linear_quantize copy_n add_n moments",
        &[],
    ),
    row("idn", "copy", &[]),
    same("external", &[If("shape", KnownExtents), TypeArgument]),
    same("constant variable", &[TypeArgument]),
    same("conv deconv separable_conv separable_deconv", CONV),
    row("planewise_conv", "conv", PLANEWISE),
    row("planewise_deconv", "deconv", PLANEWISE),
    same("box debox argmax_pool sample desample max_pool_with_index max_pool avg_pool rms_pool", POOL),
    // The draft shows these as special cases of the general operation (4.3.4).
    row("linear_upsample2x_symmetric", "multilinear_upsample", &[Add("factor", Ints(&[2])), SYMMETRIC]),
    row("linear_upsample2x_asymmetric", "multilinear_upsample", &[Add("factor", Ints(&[2])), ASYMMETRIC]),
    row("bilinear_upsample2x_symmetric", "multilinear_upsample", &[Add("factor", Ints(&[2, 2])), SYMMETRIC]),
    row("bilinear_upsample2x_asymmetric", "multilinear_upsample", &[Add("factor", Ints(&[2, 2])), ASYMMETRIC]),
    same("transpose", &[Rename("perm", "axes")]),
    same("matmul", &[Rename("trA", "transposeA"), Rename("trB", "transposeB")]),
    same("local_response_normalization local_mean_normalization", &[FillOnes("size", 0)]),
    // 1.0 adds the bias after the root, and has a lower bound instead of the bias under it.
    same("local_variance_normalization local_contrast_normalization", &[FillOnes("size", 0), If("bias", Zero)]),
    same("l1_normalization", &[If("bias", NotNegative)]),
    same("l2_normalization", &[If("bias", Zero)]),
];

/// The compounds without a counterpart, which are always expanded: 1.0 has operations of these
/// names that calculate something else.
pub(crate) static EXPANDED: &[&str] = &["logarithmic_quantize"];

/// The words that are names in the draft and keywords in 1.0.
pub(crate) static KEYWORDS: &[&str] = &["version", "extension", "integer", "yield"];

/// The counterpart of an operation: its name in 1.0, and the changes of its parameters.
pub(crate) fn find(draft: &str) -> Option<(&'static str, &'static [ParameterChange])> {
    let in_row = |row: &'static MigrationRow| {
        let name = row.draft.split_ascii_whitespace().find(|name| *name == draft)?;
        Some((row.counterpart.unwrap_or(name), row.steps))
    };
    ROWS.iter().find_map(in_row)
}
