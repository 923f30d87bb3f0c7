//! The function of each rule for shapes that the dictionary names.

use smallvec::smallvec;

use super::outcome::{Inferred, UNKNOWN, known};
use super::plan::Rule;
use super::shape::Extent;
use super::{
    convolution, einsum, elementwise, layout, linear, pooling, reduction, registry, roi, sections, selection, sources,
};
use crate::dictionary::ShapeRule;

/// The function of a rule.
pub(super) fn function(rule: ShapeRule) -> Rule {
    match rule {
        ShapeRule::Source => sources::source,
        ShapeRule::Update => sources::update,
        ShapeRule::Copies => sources::copies,
        ShapeRule::Broadcast => elementwise::elementwise,
        ShapeRule::Sum => elementwise::sum,
        ShapeRule::Normalization => elementwise::normalization,
        ShapeRule::Convolution => |call| convolution::convolve(call, false, false),
        ShapeRule::Transposed => |call| convolution::convolve(call, false, true),
        ShapeRule::Planewise => |call| convolution::convolve(call, true, false),
        ShapeRule::PlanewiseTransposed => |call| convolution::convolve(call, true, true),
        ShapeRule::Separable => |call| convolution::separable(call, false),
        ShapeRule::SeparableTransposed => |call| convolution::separable(call, true),
        ShapeRule::Pool => pooling::pool,
        ShapeRule::Unpool => pooling::unpool,
        ShapeRule::Sample => pooling::sample,
        ShapeRule::Desample => pooling::desample,
        ShapeRule::Downsample => pooling::downsample,
        ShapeRule::Upsample => pooling::upsample,
        ShapeRule::UpsampleLine => pooling::upsample2x::<1>,
        ShapeRule::UpsamplePlane => pooling::upsample2x::<2>,
        ShapeRule::LocalNormalization => pooling::local_normalization,
        ShapeRule::Reduction => reduction::reduce,
        ShapeRule::AlongAxes => reduction::along,
        ShapeRule::Reshape => layout::reshape,
        ShapeRule::Transpose => layout::transpose,
        ShapeRule::Squeeze => layout::squeeze,
        ShapeRule::Unsqueeze => layout::unsqueeze,
        ShapeRule::Concat => sections::concat,
        ShapeRule::Split => sections::split,
        ShapeRule::Stack => sections::stack,
        ShapeRule::Unstack => sections::unstack,
        ShapeRule::Slice => selection::slice,
        ShapeRule::Tile => selection::tile,
        ShapeRule::Pad => selection::pad,
        ShapeRule::Gather => selection::gather,
        ShapeRule::Matmul => linear::matmul,
        ShapeRule::Linear => linear::linear,
        ShapeRule::Regions => roi::roi,
        ShapeRule::Unknown => |_| UNKNOWN,
        ShapeRule::Stated => registry::stated,
        ShapeRule::LikeFirst => registry::like_first,
        ShapeRule::LikeSecond => |call| Ok(Inferred::Same(call.shape(1).cloned())),
        ShapeRule::LikeThird => |call| Ok(Inferred::Same(call.shape(2).cloned())),
        ShapeRule::ShapeOf => |call| registry::vector(call.rank(0)),
        ShapeRule::Range => registry::range,
        ShapeRule::BroadcastTo => registry::broadcast_to,
        ShapeRule::EveryNth => registry::downsample,
        ShapeRule::DynamicSlice => registry::dyn_slice,
        ShapeRule::GatherNd => registry::gather_nd,
        ShapeRule::OneHot => registry::one_hot,
        ShapeRule::TopK => |call| registry::along(call, |call, _| call.number("k")),
        ShapeRule::Einsum => einsum::einsum,
        ShapeRule::EinsumProduct => einsum::product,
        ShapeRule::Stft => registry::stft,
        ShapeRule::Resize => registry::resize,
        ShapeRule::GridSample => registry::grid_sample,
        ShapeRule::Attention => registry::attention,
        ShapeRule::Cache => registry::cache,
        ShapeRule::WithState => registry::with_state,
        ShapeRule::NonZero => registry::non_zero,
        ShapeRule::Multinomial => registry::multinomial,
        ShapeRule::Suppression => |_| known(smallvec![Extent::UNKNOWN, Extent::new(3)]),
        ShapeRule::Classes => registry::classes,
        ShapeRule::Delay => |call| registry::along(call, |call, extent| extent.plus(call.number("overlap"))),
        ShapeRule::ToComplex => |call| registry::inner(call, true),
        ShapeRule::FromComplex => |call| registry::inner(call, false),
        ShapeRule::Scan => registry::scan,
    }
}
