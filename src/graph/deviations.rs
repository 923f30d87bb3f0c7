//! Deviations: standard operations that mean something else in documents with tract's registries.
//!
//! tract 0.23.9 reads some operations of the standard differently than the standard defines them. In a document
//! with a registry they mean what tract computes: the rules for shapes and the evaluator look here, and
//! `nnef/standardize` translates the operations for notations without registries. The rows are facts about tract;
//! `tests/interop/registry_standard.py` compares each of them with it. What is not listed is equal, or tract refuses it.
//!
//! Not followed are approximations: tract's `sigmoid` and `tanh` of NaN are numbers, and reductions skip NaN.

use super::{Graph, Kind};

/// What is different about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// The filter of a transposed convolution has the axes (output channels, input channels per group, …), and 0
    /// groups are as many as output channels.
    OutputsFirst,
    /// `output_shape` has the spatial extents only; with any other length it is ignored.
    SpatialOutputShape,
    /// Size and padding count along spatial axes only: windows have extent 1 along batch and channels.
    SpatialWindows,
    /// A constant border is ignored: the maximum is that of the items within the input, or the least float of 32 bits.
    IgnoredBorder,
    /// Indices are those of items in the spatial plane of the input, not of items in the window.
    PlaneIndex,
    /// `normalize` is ignored.
    NeverNormalized,
    /// The border `replicate` is written `replicated`.
    Replicated,
    /// Of NaN and a number, the number is the result.
    NumberBeforeNan,
    /// The square root of IEEE 754, which differs from a power at −∞ and −0.
    SquareRoot,
    /// A mean of integers is an integer, rounded towards 0.
    WholeMean,
    /// The range from 0 to 0 is empty, and a negative stride walks backwards over the range from `begin` to `end`.
    CutFirst,
}

use Deviation::{
    CutFirst, IgnoredBorder, NeverNormalized, NumberBeforeNan, OutputsFirst, PlaneIndex, Replicated,
    SpatialOutputShape, SpatialWindows, SquareRoot, WholeMean,
};

/// The deviations, each with the names of its operations.
pub(crate) const TABLE: &[(Deviation, &str)] = &[
    (OutputsFirst, "deconv separable_deconv"),
    (SpatialOutputShape, "deconv separable_deconv"),
    (SpatialWindows, "box avg_pool rms_pool max_pool max_pool_with_index"),
    (SpatialWindows, "local_response_normalization local_mean_normalization"),
    (SpatialWindows, "local_variance_normalization local_contrast_normalization"),
    (IgnoredBorder, "max_pool max_pool_with_index"),
    (PlaneIndex, "max_pool_with_index"),
    (NeverNormalized, "debox"),
    (Replicated, "pad"),
    (NumberBeforeNan, "min max"),
    (SquareRoot, "sqrt rsqrt"),
    (WholeMean, "sum_reduce mean_reduce"),
    (CutFirst, "slice"),
];

/// The deviations of compounds that no longer compute what their definitions say: they are not expanded.
const WITHOUT_DEFINITION: &[Deviation] = &[PlaneIndex, NumberBeforeNan, SquareRoot];

/// The spelling of the border `replicate` in [`Deviation::Replicated`].
pub(crate) const REPLICATED: &str = "replicated";

/// Whether a standard operation has a deviation.
pub(crate) fn has(deviation: Deviation, name: &str) -> bool {
    TABLE.iter().any(|(of, names)| *of == deviation && names.split_ascii_whitespace().any(|known| known == name))
}

/// Whether a compound cannot be expanded in documents with registries.
pub(crate) fn has_no_definition(name: &str) -> bool {
    WITHOUT_DEFINITION.iter().any(|deviation| has(*deviation, name))
}

impl Graph {
    /// Whether operations of a kind have a deviation in this graph.
    #[inline]
    pub(crate) fn deviates(&self, kind: &Kind, deviation: Deviation) -> bool {
        self.conventions.deviates && kind.standard && has(deviation, self.text_of(kind.name))
    }
}
