//! Reductions (4.4 of NNEF), and normalizations by them (4.9.4).

use super::row::{Category, Deviation, ElementRule, ItemRule, Operands, Row, ShapeRule, SignRule, ToOnnx, Words};
use Category::{Activation, Normalization, Reduction};
use ElementRule::First;
use Operands::{Logicals, Numbers, Real};
use ToOnnx::Nodes;

const fn reduction(name: &'static str) -> Row {
    Row::standard(name, Reduction, ShapeRule::Reduction)
}

const fn along(name: &'static str, category: Category) -> Row {
    Row::standard(name, category, ShapeRule::AlongAxes)
}

const fn vendor(name: &'static str, vendor: Words, category: Category) -> Row {
    Row::vendor(name, vendor, category, ShapeRule::LikeFirst)
}

const BATCH_OF_TORCH: Words = "nn.BatchNorm1d nn.BatchNorm2d nn.BatchNorm3d F.batch_norm";
const INSTANCE_OF_TORCH: Words = "nn.InstanceNorm1d nn.InstanceNorm2d nn.InstanceNorm3d F.instance_norm";

rows! {
    SUM_REDUCE = reduction("sum_reduce").elements(First).items(ItemRule::SumOfAll).deviations(&[Deviation::WholeMean])
        .translated(ToOnnx::Choice("normalize", "ReduceMean(input, axes)", "ReduceSum(input, axes)"))
        .in_onnx("ReduceSum").in_torch("torch.sum").sign(SignRule::FirstReduced);
    MEAN_REDUCE = reduction("mean_reduce").elements(First).deviations(&[Deviation::WholeMean])
        .formula(Real, "ReduceMean(input, axes)").in_onnx("ReduceMean").in_torch("torch.mean").sign(SignRule::First);
    MAX_REDUCE = reduction("max_reduce").elements(First).items(ItemRule::GreatestOfAll)
        .formula(Numbers, "ReduceMax(input, axes)").in_onnx("ReduceMax").in_torch("torch.amax torch.max").sign(SignRule::FirstReduced);
    MIN_REDUCE = reduction("min_reduce").elements(First).items(ItemRule::LeastOfAll)
        .formula(Numbers, "ReduceMin(input, axes)").in_onnx("ReduceMin").in_torch("torch.amin torch.min").sign(SignRule::FirstReduced);
    ANY_REDUCE = reduction("any_reduce").formula(Logicals, "ReduceMax(input, axes)");
    ALL_REDUCE = reduction("all_reduce").formula(Logicals, "ReduceMin(input, axes)");
    ARGMAX_REDUCE = reduction("argmax_reduce").translated(Nodes("`ArgMax`, of one axis that is made of several"))
        .in_onnx("ArgMax").in_torch("torch.argmax");
    ARGMIN_REDUCE = reduction("argmin_reduce").translated(Nodes("`ArgMin`, of one axis that is made of several"))
        .in_onnx("ArgMin").in_torch("torch.argmin");
    LAST_MAX = Row::vendor("last_max", "tract_core_argmax_reduce_last", Reduction, ShapeRule::Reduction)
        .translated(Nodes("`ArgMax` of the last index"));
    LAST_MIN = Row::vendor("last_min", "tract_core_argmin_reduce_last", Reduction, ShapeRule::Reduction)
        .translated(Nodes("`ArgMin` of the last index"));
    PRODUCT_REDUCE = Row::vendor("product_reduce", "tract_core_product_reduce", Reduction, ShapeRule::Reduction)
        .items(ItemRule::ProductOfAll).formula(Numbers, "ReduceProd(input, axes)").in_onnx("ReduceProd").in_torch("torch.prod");
    REDUCE_L1 = Row::new("reduce_l1", Reduction).in_onnx("ReduceL1");
    REDUCE_L2 = Row::new("reduce_l2", Reduction).in_onnx("ReduceL2");
    REDUCE_SUM_SQUARE = Row::new("reduce_sum_square", Reduction).in_onnx("ReduceSumSquare");
    REDUCE_LOG_SUM = Row::new("reduce_log_sum", Reduction).in_onnx("ReduceLogSum");
    LOG_SUM_EXP = Row::new("log_sum_exp", Reduction).in_onnx("ReduceLogSumExp").in_torch("torch.logsumexp");
    /// A norm of any order.
    NORM = Row::new("norm", Reduction).in_torch("torch.norm");
    VARIANCE = Row::new("variance", Reduction).in_torch("torch.var");
    STANDARD_DEVIATION = Row::new("standard_deviation", Reduction).in_torch("torch.std");
    CUMSUM = Row::new("cumsum", Reduction).in_onnx("CumSum").in_torch("torch.cumsum");
    CUMPROD = Row::new("cumprod", Reduction).in_onnx("CumProd").in_torch("torch.cumprod");
    MOMENTS = reduction("moments");
    TOP_K = Row::vendor("top_k", "tract_core_topk", Reduction, ShapeRule::TopK)
        .translated(Nodes("`TopK`")).in_onnx("TopK").in_torch("torch.topk");

    SOFTMAX = along("softmax", Activation).translated(Nodes("`Softmax`; `Exp`, `ReduceSum`, `Div` along several axes"))
        .in_onnx("Softmax").in_torch("nn.Softmax nn.Softmax2d F.softmax");
    SOFTMAX_OF_TRACT = vendor("softmax_of_tract", "tract_core_softmax", Activation).translated(Nodes("`Softmax`"));
    LOG_SOFTMAX = vendor("log_softmax", "tract_core_log_softmax", Activation).translated(Nodes("`LogSoftmax`"))
        .in_onnx("LogSoftmax").in_torch("nn.LogSoftmax F.log_softmax");
    MASKED_SOFTMAX = vendor("masked_softmax", "tract_transformers_scaled_masked_softmax", Category::Other)
        .translated(Nodes("`Mul`, `Add` or `Where`, `Softmax`"));
    L1_NORMALIZATION = along("l1_normalization", Normalization);
    L2_NORMALIZATION = along("l2_normalization", Normalization).in_torch("F.normalize");
    BATCH_NORMALIZATION = Row::standard("batch_normalization", Normalization, ShapeRule::Normalization)
        .translated(Nodes("`BatchNormalization`, or its formula")).in_onnx("BatchNormalization").in_torch(BATCH_OF_TORCH);
    MEAN_VARIANCE_NORMALIZATION = Row::converter("mean_variance_normalization", "mean_variance_normalization", Normalization).translated(Nodes("`ReduceMean` and its formula"));
    RMS_NORM = vendor("rms_norm", "tract_core_rms_norm tract_transformers_rms_norm", Normalization)
        .translated(Nodes("`ReduceMean` and its formula"))
        .in_onnx("RMSNormalization").in_torch("nn.RMSNorm F.rms_norm");
    LAYER_NORMALIZATION = Row::new("layer_normalization", Normalization).in_onnx("LayerNormalization")
        .in_torch("nn.LayerNorm F.layer_norm");
    GROUP_NORMALIZATION = Row::new("group_normalization", Normalization).in_onnx("GroupNormalization")
        .in_torch("nn.GroupNorm F.group_norm");
    INSTANCE_NORMALIZATION = Row::new("instance_normalization", Normalization).in_onnx("InstanceNormalization")
        .in_torch(INSTANCE_OF_TORCH);
    LRN = vendor("lrn", "tract_onnx_lrn", Category::Other).translated(Nodes("`LRN`, or its formula"));
    EXP_UNIT_NORM = vendor("exp_unit_norm", "tract_extra_exp_unit_norm", Category::Other)
        .translated(Nodes("`Scan`, whose state is the mean"));
    EXP_MEAN_NORM = vendor("exp_mean_norm", "tract_extra_exp_mean_norm", Category::Other)
        .translated(Nodes("`Scan`, whose state is the mean"));
}
