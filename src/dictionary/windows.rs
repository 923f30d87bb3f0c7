//! Operations on windows: convolution, pooling, sampling (4.3 of NNEF), normalization of neighbourhoods (4.9.4).

use super::row::{Allowed, Category, Deviation, ElementRule, Products, Row, ShapeRule, ToOnnx, Words};
use Category::{Layout, Normalization, Product, Reduction};
use Deviation::{IgnoredBorder, NeverNormalized, OutputsFirst, PlaneIndex, SpatialOutputShape, SpatialWindows};
use ElementRule::First;
use ToOnnx::Nodes;

type Arguments = &'static [(&'static str, Allowed)];

/// The borders that read values outside of a tensor. Without a border, a sum is that with zeros around the tensor.
const FILLED: Allowed = Allowed::Words(&["constant", "replicate", "reflect", "reflect-even"], &["ignore"]);
/// All borders. A compound gives its border to the operations in its body: `max_pool` to `sample`.
const ALL: Allowed = Allowed::Words(&["ignore", "constant", "replicate", "reflect", "reflect-even"], &[]);
const ZEROS: Allowed = Allowed::Words(&["constant"], &["ignore", "replicate", "reflect", "reflect-even"]);
/// How positions of samples are found (5.1).
pub(super) const METHODS: Allowed = Allowed::Words(&["asymmetric", "symmetric", "aligned"], &[]);

const CONV_BORDERS: Arguments = &[("border", FILLED)];
const BORDERS: Arguments = &[("border", ALL)];
const TRANSPOSED: &[Deviation] = &[OutputsFirst, SpatialOutputShape];

const fn convolution(name: &'static str, shape: ShapeRule, products: Products) -> Row {
    Row::standard(name, Product, shape).products(products).arguments(CONV_BORDERS)
}

const fn pool(name: &'static str, deviations: &'static [Deviation]) -> Row {
    Row::standard(name, Reduction, ShapeRule::Pool).arguments(BORDERS).deviations(deviations)
}

const fn neighbourhood(name: &'static str) -> Row {
    Row::standard(name, Normalization, ShapeRule::LocalNormalization).deviations(&[SpatialWindows])
}

const fn twice(name: &'static str, rule: ShapeRule) -> Row {
    Row::standard(name, Layout, rule)
}

const CONV_OF_TORCH: Words = "nn.Conv1d nn.Conv2d nn.Conv3d F.conv1d F.conv2d F.conv3d";
const TRANSPOSED_OF_TORCH: Words = "nn.ConvTranspose1d nn.ConvTranspose2d nn.ConvTranspose3d F.conv_transpose1d \
    F.conv_transpose2d F.conv_transpose3d";
const MAX_POOL_OF_TORCH: Words = "nn.MaxPool1d nn.MaxPool2d nn.MaxPool3d F.max_pool1d F.max_pool2d F.max_pool3d";
const ADAPTIVE_MAX_OF_TORCH: Words = "nn.AdaptiveMaxPool1d nn.AdaptiveMaxPool2d nn.AdaptiveMaxPool3d \
    F.adaptive_max_pool1d F.adaptive_max_pool2d F.adaptive_max_pool3d";
const AVG_POOL_OF_TORCH: Words = "nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d F.avg_pool1d F.avg_pool2d F.avg_pool3d";
const ADAPTIVE_AVG_OF_TORCH: Words = "nn.AdaptiveAvgPool1d nn.AdaptiveAvgPool2d nn.AdaptiveAvgPool3d \
    F.adaptive_avg_pool1d F.adaptive_avg_pool2d F.adaptive_avg_pool3d";
const RESIZE_OF_TORCH: Words = "nn.Upsample nn.UpsamplingNearest2d nn.UpsamplingBilinear2d F.interpolate F.upsample \
    F.upsample_nearest F.upsample_bilinear";

rows! {
    CONV = convolution("conv", ShapeRule::Convolution, Products::ForEachResult).elements(First)
        .translated(Nodes("`Conv`, with `Pad` in front for borders that repeat items"))
        .in_onnx("Conv").in_torch(CONV_OF_TORCH);
    DECONV = convolution("deconv", ShapeRule::Transposed, Products::ForEachInput).elements(First)
        .deviations(TRANSPOSED).translated(Nodes("`ConvTranspose`")).in_onnx("ConvTranspose").in_torch(TRANSPOSED_OF_TORCH);
    PLANEWISE_CONV = convolution("planewise_conv", ShapeRule::Planewise, Products::ForEachResult);
    PLANEWISE_DECONV = convolution("planewise_deconv", ShapeRule::PlanewiseTransposed, Products::ForEachInput);
    SEPARABLE_CONV = convolution("separable_conv", ShapeRule::Separable, Products::SeparableResult);
    SEPARABLE_DECONV = convolution("separable_deconv", ShapeRule::SeparableTransposed, Products::SeparableInput)
        .deviations(TRANSPOSED);
    BOX = pool("box", &[SpatialWindows]).drawn(Product).elements(First)
        .translated(Nodes("`AveragePool`, and `Mul` for sums"));
    DEBOX = Row::standard("debox", Product, ShapeRule::Unpool).arguments(BORDERS).elements(First)
        .deviations(&[NeverNormalized]).translated(Nodes("`ConvTranspose` with a filter of ones"));
    AVG_POOL = pool("avg_pool", &[SpatialWindows]).translated(Nodes("`AveragePool`"))
        .in_onnx("AveragePool").in_torch(AVG_POOL_OF_TORCH);
    RMS_POOL = pool("rms_pool", &[SpatialWindows]);
    MAX_POOL = pool("max_pool", &[SpatialWindows, IgnoredBorder]).elements(First)
        .translated(Nodes("`MaxPool`, with `Pad` in front unless the border is ignored"))
        .in_onnx("MaxPool").in_torch(MAX_POOL_OF_TORCH);
    MAX_POOL_WITH_INDEX = pool("max_pool_with_index", &[SpatialWindows, IgnoredBorder, PlaneIndex])
        .translated(Nodes("`MaxPool`, and integers for places within windows"));
    ARGMAX_POOL = pool("argmax_pool", &[]).translated(Nodes("`MaxPool`, and integers for places within windows"));
    LP_POOL = Row::new("lp_pool", Reduction).in_onnx("LpPool");
    GLOBAL_AVG_POOL = Row::new("global_avg_pool", Reduction).in_onnx("GlobalAveragePool");
    GLOBAL_MAX_POOL = Row::new("global_max_pool", Reduction).in_onnx("GlobalMaxPool");
    GLOBAL_LP_POOL = Row::new("global_lp_pool", Reduction).in_onnx("GlobalLpPool");
    /// The windows follow from the extents of the result.
    ADAPTIVE_AVG_POOL = Row::new("adaptive_avg_pool", Reduction).in_torch(ADAPTIVE_AVG_OF_TORCH);
    ADAPTIVE_MAX_POOL = Row::new("adaptive_max_pool", Reduction).in_torch(ADAPTIVE_MAX_OF_TORCH);
    SAMPLE = Row::standard("sample", Layout, ShapeRule::Sample).arguments(BORDERS).translated(Nodes("`GatherElements`"));
    DESAMPLE = Row::standard("desample", Layout, ShapeRule::Desample).arguments(&[("border", ZEROS)])
        .translated(Nodes("`ScatterElements<reduction = \"add\">`"));
    NEAREST_DOWNSAMPLE = Row::standard("nearest_downsample", Reduction, ShapeRule::Downsample)
        .translated(Nodes("`Slice`"));
    AREA_DOWNSAMPLE = Row::standard("area_downsample", Reduction, ShapeRule::Downsample)
        .translated(Nodes("`AveragePool`"));
    NEAREST_UPSAMPLE = Row::standard("nearest_upsample", Layout, ShapeRule::Upsample)
        .translated(Nodes("`Resize<mode = \"nearest\">`"));
    MULTILINEAR_UPSAMPLE = Row::standard("multilinear_upsample", Layout, ShapeRule::Upsample)
        .arguments(&[("border", FILLED), ("method", METHODS)])
        .translated(Nodes("`Resize<mode = \"linear\">`; `MatMul` for other borders"));
    LINEAR_UPSAMPLE_SYMMETRIC = twice("linear_upsample2x_symmetric", ShapeRule::UpsampleLine);
    LINEAR_UPSAMPLE_ASYMMETRIC = twice("linear_upsample2x_asymmetric", ShapeRule::UpsampleLine);
    BILINEAR_UPSAMPLE_SYMMETRIC = twice("bilinear_upsample2x_symmetric", ShapeRule::UpsamplePlane);
    BILINEAR_UPSAMPLE_ASYMMETRIC = twice("bilinear_upsample2x_asymmetric", ShapeRule::UpsamplePlane);
    RESIZE = Row::vendor("resize", "tract_core_resize tract_onnx_resize", Layout, ShapeRule::Resize)
        .translated(Nodes("`Resize`"))
        .in_onnx("Resize Upsample").in_torch(RESIZE_OF_TORCH);
    LOCAL_RESPONSE_NORMALIZATION = neighbourhood("local_response_normalization")
        .translated(Nodes("`LRN` over channels, else its formula")).in_torch("nn.LocalResponseNorm F.local_response_norm");
    LOCAL_MEAN_NORMALIZATION = neighbourhood("local_mean_normalization");
    LOCAL_VARIANCE_NORMALIZATION = neighbourhood("local_variance_normalization");
    LOCAL_CONTRAST_NORMALIZATION = neighbourhood("local_contrast_normalization");
}
