//! The table of operators.

use super::row::{InferRule, OperatorRow};
use crate::dictionary::elementwise as m;
use crate::eval::kernels::{MEAN, SUM};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::rules::elementwise::{broadcasting, same};
use crate::onnx::infer::rules::{
    arithmetic, arrange, attention, cast, elementwise, image, learning, loss, matrix, misfits, normalize, optional,
    reduce, select, sequence, signal, source, text, training, window,
};
use crate::onnx::run::kernels as k;

const fn onnx(name: &'static str, types: InferRule) -> OperatorRow {
    OperatorRow::new("", name, types)
}

const fn learning_row(name: &'static str, types: InferRule) -> OperatorRow {
    OperatorRow::new("ai.onnx.ml", name, types)
}

const fn preview(name: &'static str, types: InferRule) -> OperatorRow {
    OperatorRow::new("ai.onnx.preview", name, types)
}

const fn training_row(name: &'static str, types: InferRule) -> OperatorRow {
    OperatorRow::new("ai.onnx.preview.training", name, types)
}

/// No rule: inference visits the graphs of operators with graphs itself, and does not follow values of maps.
fn not_followed(_: &mut InferCall) -> Option<()> {
    None
}

/// All operators of the standard domains, in alphabetic order in each.
pub(super) static OPERATORS: &[OperatorRow] = &[
    onnx("Abs", same).means(&m::ABS),
    onnx("Acos", same).means(&m::ACOS),
    onnx("Acosh", same).means(&m::ACOSH),
    onnx("Add", broadcasting).refuses(misfits::broadcast).means(&m::ADD),
    onnx("AffineGrid", image::affine_grid).refuses(misfits::arrange::affine_grid).runs(k::sample::affine_grid),
    onnx("And", broadcasting).refuses(misfits::broadcast).means(&m::AND),
    onnx("ArgMax", reduce::arg).refuses(misfits::arg).runs(|call| k::reduce::arg(call, true)),
    onnx("ArgMin", reduce::arg).refuses(misfits::arg).runs(|call| k::reduce::arg(call, false)),
    onnx("Asin", same).means(&m::ASIN),
    onnx("Asinh", same).means(&m::ASINH),
    onnx("Atan", same).means(&m::ATAN),
    onnx("Atanh", same).means(&m::ATANH),
    onnx("Attention", attention::attention).refuses(misfits::attention::attention).runs(k::attention::attention),
    onnx("AveragePool", window::pool).refuses(misfits::window::pool).runs(k::pool::average_pool),
    onnx("BatchNormalization", normalize::batch)
        .refuses(misfits::normalize::batch)
        .runs(k::normalize::batch_normalization),
    onnx("Bernoulli", source::typed_like).refuses(misfits::element_named),
    onnx("BitCast", cast::cast).refuses(misfits::sources::bit_cast).runs(k::cast::bit_cast),
    onnx("BitShift", broadcasting).refuses(misfits::broadcast).runs(k::elementwise::shift),
    onnx("BitwiseAnd", broadcasting).refuses(misfits::broadcast).means(&m::BIT_AND),
    onnx("BitwiseNot", same).runs(|call| k::elementwise::number(call, |x| x, |x| !x)),
    onnx("BitwiseOr", broadcasting).refuses(misfits::broadcast).means(&m::BIT_OR),
    onnx("BitwiseXor", broadcasting).refuses(misfits::broadcast).means(&m::BIT_XOR),
    onnx("BlackmanWindow", source::window)
        .refuses(misfits::sources::window)
        .runs(|call| k::signal::window(call, |angle| 0.42 - 0.5 * angle.cos() + 0.08 * (2.0 * angle).cos())),
    onnx("Cast", cast::cast).refuses(misfits::element_named).valued(cast::cast_items).runs(k::cast::cast),
    onnx("CastLike", cast::cast_like).valued(cast::cast_items).runs(k::cast::cast_like),
    onnx("CausalConvWithState", window::causal_conv)
        .refuses(misfits::window::causal_conv)
        .runs(k::linear_attention::causal_conv),
    onnx("Ceil", same).means(&m::CEIL),
    onnx("Celu", same).runs(k::elementwise::celu),
    onnx("CenterCropPad", arrange::center_crop_pad)
        .refuses(misfits::arrange::center_crop_pad)
        .runs(k::sample::center_crop_pad),
    onnx("Clip", same).runs(k::elementwise::clip),
    onnx("Col2Im", arrange::col2im).refuses(misfits::arrange::col2im).runs(k::conv_transpose::col2im),
    onnx("Compress", select::compress).refuses(misfits::arrange::compress).runs(k::index::compress),
    onnx("Concat", arrange::concat)
        .refuses(misfits::arrange::concat)
        .valued(arrange::concat_items)
        .runs(k::layout::concat),
    onnx("ConcatFromSequence", sequence::concat).runs(k::sequence::concat),
    onnx("Constant", source::constant).valued(source::constant_items).runs(k::constants::constant),
    onnx("ConstantOfShape", source::constant_of_shape)
        .refuses(misfits::sources::constant_of_shape)
        .valued(source::filled_items)
        .runs(k::constants::constant_of_shape),
    onnx("Conv", window::conv).refuses(misfits::window::conv).runs(k::conv::conv),
    onnx("ConvInteger", window::conv).refuses(misfits::window::conv_integer).runs(k::conv::conv_integer),
    onnx("ConvTranspose", window::conv_transpose)
        .refuses(misfits::window::conv_transpose)
        .runs(k::conv_transpose::conv_transpose),
    onnx("Cos", same).means(&m::COS),
    onnx("Cosh", same).means(&m::COSH),
    onnx("CumProd", same)
        .refuses(misfits::cumulative)
        .runs(|call| k::reduce::cumulative(call, 1, |a, b| a * b, i128::wrapping_mul)),
    onnx("CumSum", same)
        .refuses(misfits::cumulative)
        .runs(|call| k::reduce::cumulative(call, 0, |a, b| a + b, i128::wrapping_add)),
    onnx("DFT", signal::dft).refuses(misfits::sources::dft).runs(k::signal::dft),
    onnx("DeformConv", window::conv).refuses(misfits::window::deform_conv).runs(k::deform::deform_conv),
    onnx("DepthToSpace", arrange::depth_to_space)
        .refuses(misfits::arrange::depth_to_space)
        .runs(k::layout::depth_to_space),
    onnx("DequantizeLinear", normalize::dequantize).runs(k::quantize::dequantize),
    onnx("Det", matrix::det).refuses(misfits::matrix::det).runs(k::linear::determinant),
    onnx("Div", broadcasting).refuses(misfits::broadcast).means(&m::DIV),
    onnx("Dropout", elementwise::all_same).refuses(misfits::normalize::dropout).runs(k::elementwise::dropout),
    onnx("DynamicQuantizeLinear", normalize::dynamic_quantize).runs(k::quantize::dynamic_quantize),
    onnx("Einsum", matrix::einsum).refuses(misfits::einsum).runs(k::einsum::einsum),
    onnx("Elu", same).runs(k::elementwise::elu),
    onnx("Equal", broadcasting).refuses(misfits::broadcast).means(&m::EQ),
    onnx("Erf", same).means(&m::ERF),
    onnx("Exp", same).means(&m::EXP),
    onnx("Expand", arrange::expand)
        .refuses(misfits::arrange::expand)
        .valued(arithmetic::expanded)
        .runs(k::layout::expand),
    onnx("EyeLike", source::typed_like).refuses(misfits::sources::eye_like).runs(k::constants::eye_like),
    onnx("Flatten", arrange::flatten)
        .refuses(misfits::arrange::flatten)
        .valued(arithmetic::same_items)
        .runs(k::layout::flatten),
    onnx("Floor", same).means(&m::FLOOR),
    onnx("GRU", attention::recurrent).refuses(misfits::attention::recurrent).runs(k::recurrent::gru),
    onnx("Gather", select::gather).refuses(misfits::items::gather).valued(select::gather_items).runs(k::index::gather),
    onnx("GatherElements", select::gather_elements)
        .refuses(misfits::items::gather_elements)
        .runs(k::index::gather_elements),
    onnx("GatherND", select::gather_nd).refuses(misfits::items::gather_nd).runs(k::index::gather_nd),
    onnx("Gelu", same).runs(k::elementwise::gelu),
    onnx("Gemm", matrix::gemm).refuses(misfits::matrix::gemm).runs(k::linear::gemm),
    onnx("GlobalAveragePool", reduce::global).refuses(misfits::window::global).runs(k::pool::global_average_pool),
    onnx("GlobalLpPool", reduce::global).refuses(misfits::window::global).runs(k::pool::global_lp_pool),
    onnx("GlobalMaxPool", reduce::global).refuses(misfits::window::global).runs(k::pool::global_max_pool),
    onnx("Greater", broadcasting).refuses(misfits::broadcast).means(&m::GT),
    onnx("GreaterOrEqual", broadcasting).refuses(misfits::broadcast).means(&m::GE),
    onnx("GridSample", image::grid_sample).refuses(misfits::arrange::grid_sample).runs(k::sample::grid_sample),
    onnx("GroupNormalization", same).runs(k::normalize::group_normalization),
    onnx("HammingWindow", source::window)
        .refuses(misfits::sources::window)
        .runs(|call| k::signal::window(call, |angle| 25.0 / 46.0 - 21.0 / 46.0 * angle.cos())),
    onnx("HannWindow", source::window)
        .refuses(misfits::sources::window)
        .runs(|call| k::signal::window(call, |angle| 0.5 - 0.5 * angle.cos())),
    onnx("HardSigmoid", same).runs(k::elementwise::hard_sigmoid),
    onnx("HardSwish", same).runs(k::elementwise::hard_swish),
    onnx("Hardmax", same).refuses(misfits::softmax).runs(k::reduce::hardmax),
    onnx("Identity", elementwise::identity).valued(arithmetic::same_items).runs(k::layout::identity),
    onnx("If", not_followed).refuses(misfits::control::branches),
    onnx("ImageDecoder", image::image_decoder).refuses(misfits::sources::vector),
    onnx("InstanceNormalization", same)
        .refuses(misfits::normalize::instance)
        .runs(k::normalize::instance_normalization),
    onnx("IsInf", same).runs(k::elementwise::is_infinite),
    onnx("IsNaN", same).runs(|call| k::elementwise::truths(call, f64::is_nan)),
    onnx("LRN", same).runs(k::pool::local_response),
    onnx("LSTM", attention::recurrent).refuses(misfits::attention::recurrent).runs(k::recurrent::lstm),
    onnx("LayerNormalization", normalize::layer)
        .refuses(misfits::normalize::over_axes)
        .runs(k::normalize::layer_normalization),
    onnx("LeakyRelu", same).runs(k::elementwise::leaky_relu),
    onnx("Less", broadcasting).refuses(misfits::broadcast).means(&m::LT),
    onnx("LessOrEqual", broadcasting).refuses(misfits::broadcast).means(&m::LE),
    onnx("LinearAttention", attention::linear_attention)
        .refuses(misfits::attention::linear_attention)
        .runs(k::linear_attention::linear_attention),
    onnx("Log", same).means(&m::LOG),
    onnx("LogSoftmax", same).refuses(misfits::softmax).runs(k::reduce::log_softmax),
    onnx("Loop", not_followed).refuses(misfits::control::repeated),
    onnx("LpNormalization", same).refuses(misfits::normalize::over_axes).runs(k::normalize::lp_normalization),
    onnx("LpPool", window::pool).refuses(misfits::window::pool).runs(k::pool::lp_pool),
    onnx("MatMul", matrix::matmul).refuses(misfits::matrix::matmul).runs(k::linear::matmul),
    onnx("MatMulInteger", matrix::matmul).refuses(misfits::matrix::matmul).runs(k::quantize::matmul_integer),
    onnx("Max", broadcasting).refuses(misfits::broadcast).means_of_all(&m::MAXIMUM),
    onnx("MaxPool", window::pool).refuses(misfits::window::pool).runs(k::pool::max_pool),
    onnx("MaxRoiPool", window::max_roi_pool).refuses(misfits::window::max_roi_pool).runs(k::sample::max_roi_pool),
    onnx("MaxUnpool", window::unpool).refuses(misfits::window::unpool).runs(k::pool::max_unpool),
    onnx("Mean", broadcasting).refuses(misfits::broadcast).runs(k::elementwise::mean),
    onnx("MeanVarianceNormalization", same).runs(k::normalize::mean_variance),
    onnx("MelWeightMatrix", source::mel_weights).refuses(misfits::sources::mel_weights).runs(k::signal::mel_weights),
    onnx("Min", broadcasting).refuses(misfits::broadcast).means_of_all(&m::MINIMUM),
    onnx("Mish", same).means(&m::MISH),
    onnx("Mod", broadcasting).refuses(misfits::broadcast).valued(arithmetic::modulo).runs(k::elementwise::modulo),
    onnx("Mul", broadcasting).refuses(misfits::broadcast).means(&m::MUL),
    onnx("Multinomial", source::multinomial).refuses(misfits::sources::multinomial),
    onnx("Neg", same).means(&m::NEG),
    onnx("NegativeLogLikelihoodLoss", loss::loss)
        .refuses(misfits::normalize::likelihood)
        .runs(k::loss::negative_log_likelihood),
    onnx("NonMaxSuppression", select::non_max_suppression)
        .refuses(misfits::window::non_max_suppression)
        .runs(k::suppression::non_max_suppression),
    onnx("NonZero", select::non_zero).runs(k::index::non_zero),
    onnx("Not", same).means(&m::NOT),
    onnx("OneHot", source::one_hot).refuses(misfits::items::one_hot).runs(k::index::one_hot),
    onnx("Optional", optional::optional).runs(k::sequence::optional),
    onnx("OptionalGetElement", optional::get_element).runs(k::sequence::element),
    onnx("OptionalHasElement", sequence::scalar).runs(k::sequence::has_element),
    onnx("Or", broadcasting).refuses(misfits::broadcast).means(&m::OR),
    onnx("PRelu", same).runs(k::elementwise::prelu),
    onnx("Pad", arrange::pad).refuses(misfits::arrange::pad).runs(k::layout::pad),
    onnx("Pow", broadcasting).refuses(misfits::broadcast).runs(k::elementwise::power),
    onnx("QLinearConv", window::quantized_conv).refuses(misfits::window::quantized_conv).runs(k::conv::qlinear_conv),
    onnx("QLinearMatMul", matrix::quantized_matmul)
        .refuses(misfits::matrix::quantized_matmul)
        .runs(k::quantize::qlinear_matmul),
    onnx("QuantizeLinear", normalize::quantize).runs(k::quantize::quantize),
    onnx("RMSNormalization", same).refuses(misfits::normalize::over_axes).runs(k::normalize::rms_normalization),
    onnx("RNN", attention::recurrent).refuses(misfits::attention::recurrent).runs(k::recurrent::rnn),
    onnx("RandomNormal", source::random).refuses(misfits::element_named),
    onnx("RandomNormalLike", source::typed_like).refuses(misfits::element_named),
    onnx("RandomUniform", source::random).refuses(misfits::element_named),
    onnx("RandomUniformLike", source::typed_like).refuses(misfits::element_named),
    onnx("Range", source::range).refuses(misfits::sources::range).valued(source::range_items).runs(k::constants::range),
    onnx("Reciprocal", same).means(&m::RCP),
    onnx("ReduceL1", reduce::reduce).refuses(misfits::reduced).runs(|call| k::reduce::reduce(call, 18, &k::reduce::L1)),
    onnx("ReduceL2", reduce::reduce).refuses(misfits::reduced).runs(|call| k::reduce::reduce(call, 18, &k::reduce::L2)),
    onnx("ReduceLogSum", reduce::reduce)
        .refuses(misfits::reduced)
        .runs(|call| k::reduce::reduce(call, 18, &k::reduce::LOG_OF_SUM)),
    onnx("ReduceLogSumExp", reduce::reduce)
        .refuses(misfits::reduced)
        .runs(|call| k::reduce::reduce(call, 18, &k::reduce::LOG_OF_EXPONENTIALS)),
    onnx("ReduceMax", reduce::reduce).refuses(misfits::reduced).valued(reduce::max).runs(k::reduce::max),
    onnx("ReduceMean", reduce::reduce).refuses(misfits::reduced).runs(|call| k::reduce::reduce(call, 18, &MEAN)),
    onnx("ReduceMin", reduce::reduce).refuses(misfits::reduced).valued(reduce::min).runs(k::reduce::min),
    onnx("ReduceProd", reduce::reduce)
        .refuses(misfits::reduced)
        .valued(|call| reduce::whole(call, Dim::times, Some(Dim::Int(1))))
        .runs(|call| k::reduce::reduce(call, 18, &k::reduce::PRODUCT)),
    onnx("ReduceSum", reduce::reduce)
        .refuses(misfits::reduced)
        .valued(|call| reduce::whole(call, Dim::plus, Some(Dim::Int(0))))
        .runs(|call| k::reduce::reduce(call, 13, &SUM)),
    onnx("ReduceSumSquare", reduce::reduce)
        .refuses(misfits::reduced)
        .runs(|call| k::reduce::reduce(call, 18, &k::reduce::SUM_OF_SQUARES)),
    onnx("RegexFullMatch", same).runs(k::text::regex_full_match),
    onnx("Relu", same).means(&m::RECTIFY),
    onnx("Reshape", arrange::reshape)
        .refuses(misfits::arrange::reshape)
        .valued(arithmetic::same_items)
        .runs(k::layout::reshape),
    onnx("Resize", image::resize).refuses(misfits::arrange::resize).runs(k::resize::resize),
    onnx("ReverseSequence", same).refuses(misfits::arrange::reverse_sequence).runs(k::layout::reverse_sequence),
    onnx("RoiAlign", window::roi_align).refuses(misfits::window::roi_align).runs(k::sample::roi_align),
    onnx("RotaryEmbedding", same).refuses(misfits::attention::rotary).runs(k::attention::rotary_embedding),
    onnx("Round", same).means(&m::ROUND_EVEN),
    onnx("STFT", signal::stft).refuses(misfits::sources::stft).runs(k::signal::stft),
    onnx("Scan", not_followed),
    onnx("Scatter", same).refuses(misfits::items::scatter_elements).runs(k::index::scatter_elements),
    onnx("ScatterElements", same).refuses(misfits::items::scatter_elements).runs(k::index::scatter_elements),
    onnx("ScatterND", same).runs(k::index::scatter_nd),
    onnx("Selu", same).runs(k::elementwise::selu),
    onnx("SequenceAt", sequence::at).runs(k::sequence::at),
    onnx("SequenceConstruct", sequence::construct).runs(k::sequence::construct),
    onnx("SequenceEmpty", sequence::empty).refuses(misfits::element_named).runs(k::sequence::empty),
    onnx("SequenceErase", elementwise::identity).runs(k::sequence::erase),
    onnx("SequenceInsert", sequence::insert).runs(k::sequence::insert),
    onnx("SequenceLength", sequence::scalar).runs(k::sequence::length),
    onnx("SequenceMap", not_followed),
    onnx("Shape", source::shape).valued(source::shape_items).runs(k::layout::shape),
    onnx("Shrink", same).runs(k::elementwise::shrink),
    onnx("Sigmoid", same).means(&m::SIGMOID),
    onnx("Sign", same).means(&m::SIGN),
    onnx("Sin", same).means(&m::SIN),
    onnx("Sinh", same).means(&m::SINH),
    onnx("Size", sequence::scalar).valued(source::size_items).runs(k::layout::size),
    onnx("Slice", select::slice).refuses(misfits::items::slice).valued(select::slice_items).runs(k::layout::slice),
    onnx("Softmax", same).refuses(misfits::softmax).runs(k::reduce::softmax),
    onnx("SoftmaxCrossEntropyLoss", loss::loss).refuses(misfits::normalize::loss).runs(k::loss::softmax_cross_entropy),
    onnx("Softplus", same).means(&m::STABLE_SOFTPLUS),
    onnx("Softsign", same).means(&m::SOFTSIGN),
    onnx("SpaceToDepth", arrange::space_to_depth)
        .refuses(misfits::arrange::space_to_depth)
        .runs(k::layout::space_to_depth),
    onnx("Split", arrange::split).refuses(misfits::arrange::split).valued(arrange::split_items).runs(k::layout::split),
    onnx("SplitToSequence", sequence::split).refuses(misfits::items::split_to_sequence).runs(k::sequence::split),
    onnx("Sqrt", same).means(&m::ROOT),
    onnx("Squeeze", arrange::squeeze)
        .refuses(misfits::arrange::squeeze)
        .valued(arithmetic::same_items)
        .runs(k::layout::squeeze),
    onnx("StringConcat", broadcasting).refuses(misfits::broadcast).runs(k::text::string_concat),
    onnx("StringNormalizer", text::normalize)
        .refuses(misfits::sources::string_normalizer)
        .runs(k::text::string_normalizer),
    onnx("StringSplit", text::split).runs(k::text::string_split),
    onnx("Sub", broadcasting).refuses(misfits::broadcast).means(&m::SUB),
    onnx("Sum", broadcasting).refuses(misfits::broadcast).means_of_all(&m::ADD),
    onnx("SwiGLU", same).refuses(misfits::gated).runs(k::elementwise::gated),
    onnx("Swish", same).runs(k::elementwise::swish),
    onnx("Tan", same).means(&m::TAN),
    onnx("Tanh", same).means(&m::TANH),
    onnx("TensorScatter", same).refuses(misfits::items::tensor_scatter).runs(k::index::tensor_scatter),
    onnx("TfIdfVectorizer", text::tf_idf).refuses(misfits::sources::tf_idf).runs(k::text::tf_idf),
    onnx("ThresholdedRelu", same).runs(k::elementwise::thresholded_relu),
    onnx("Tile", arrange::tile).refuses(misfits::arrange::tile).runs(k::layout::tile),
    onnx("TopK", select::top_k).refuses(misfits::items::top_k).runs(k::reduce::top),
    onnx("Transpose", arrange::transpose).refuses(misfits::arrange::transpose).runs(k::layout::transpose),
    onnx("Trilu", same).refuses(misfits::matrix::trilu).runs(k::layout::triangle),
    onnx("Unique", select::unique).refuses(misfits::items::unique).runs(k::unique::unique),
    onnx("Unsqueeze", arrange::unsqueeze)
        .refuses(misfits::arrange::unsqueeze)
        .valued(arithmetic::same_items)
        .runs(k::layout::unsqueeze),
    onnx("Upsample", image::resize).refuses(misfits::arrange::resize).runs(k::resize::upsample),
    onnx("Where", broadcasting).refuses(misfits::broadcast).means(&m::SELECT),
    onnx("Xor", broadcasting).refuses(misfits::broadcast).means(&m::XOR),
    learning_row("ArrayFeatureExtractor", learning::array_feature_extractor)
        .runs(k::ml::features::array_feature_extractor),
    learning_row("Binarizer", same).runs(k::ml::features::binarizer),
    learning_row("CastMap", learning::cast_map).runs(k::ml::maps::cast_map),
    learning_row("CategoryMapper", learning::category_mapper).runs(k::ml::labels::category_mapper),
    learning_row("DictVectorizer", learning::dict_vectorizer).runs(k::ml::maps::dict_vectorizer),
    learning_row("FeatureVectorizer", learning::feature_vectorizer).runs(k::ml::features::feature_vectorizer),
    learning_row("Imputer", same).runs(k::ml::features::imputer),
    learning_row("LabelEncoder", learning::label_encoder).runs(k::ml::labels::label_encoder),
    learning_row("LinearClassifier", learning::classifier).runs(k::ml::linear::linear_classifier),
    learning_row("LinearRegressor", |call| learning::regressed(call, call.int_or("targets", 1)))
        .runs(k::ml::linear::linear_regressor),
    learning_row("Normalizer", same).runs(k::ml::features::normalizer),
    learning_row("OneHotEncoder", learning::one_hot).runs(k::ml::labels::one_hot_encoder),
    learning_row("SVMClassifier", learning::support_classifier).runs(k::ml::svm::svm_classifier),
    learning_row("SVMRegressor", |call| learning::regressed(call, 1)).runs(k::ml::svm::svm_regressor),
    learning_row("Scaler", same).runs(k::ml::features::scaler),
    learning_row("TreeEnsemble", learning::tree_regressor).runs(k::ml::trees::ensemble),
    learning_row("TreeEnsembleClassifier", learning::classifier).runs(k::ml::trees::classifier),
    learning_row("TreeEnsembleRegressor", learning::tree_regressor).runs(k::ml::trees::regressor),
    learning_row("ZipMap", learning::zip_map).runs(k::ml::maps::zip_map),
    preview("FlexAttention", attention::flex_attention).refuses(misfits::attention::flex_attention),
    training_row("Adagrad", training::one_state),
    training_row("Adam", |call| training::optimizer(call, 4)),
    training_row("Gradient", training::gradient),
    training_row("Momentum", training::one_state),
];
