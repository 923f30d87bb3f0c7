//! The table of kernels: one row for each operator that is evaluated.

use super::call::Kernel;
use super::kernels::{attention, constants, conv, conv_transpose, deform, layout, linear_attention, loss, ml, normalize, pool, quantize, recurrent, resize, sample, signal, suppression, text};

/// The kernels by domain and operator.
pub(super) static KERNELS: &[(&str, &str, Kernel)] = &[
    // Convolution.
    ("", "Conv", conv::conv),
    ("", "ConvInteger", conv::conv_integer),
    ("", "QLinearConv", conv::qlinear_conv),
    ("", "ConvTranspose", conv_transpose::conv_transpose),
    ("", "Col2Im", conv_transpose::col2im),
    ("", "DeformConv", deform::deform_conv),
    // Pooling.
    ("", "MaxPool", pool::max_pool),
    ("", "AveragePool", pool::average_pool),
    ("", "LpPool", pool::lp_pool),
    ("", "GlobalMaxPool", pool::global_max_pool),
    ("", "GlobalAveragePool", pool::global_average_pool),
    ("", "GlobalLpPool", pool::global_lp_pool),
    ("", "MaxUnpool", pool::max_unpool),
    ("", "LRN", pool::local_response),
    // Resampling.
    ("", "Resize", resize::resize),
    ("", "Upsample", resize::upsample),
    ("", "GridSample", sample::grid_sample),
    ("", "AffineGrid", sample::affine_grid),
    ("", "RoiAlign", sample::roi_align),
    ("", "MaxRoiPool", sample::max_roi_pool),
    ("", "CenterCropPad", sample::center_crop_pad),
    ("", "ImageScaler", sample::image_scaler),
    // Quantization.
    ("", "QuantizeLinear", quantize::quantize),
    ("", "DequantizeLinear", quantize::dequantize),
    ("", "DynamicQuantizeLinear", quantize::dynamic_quantize),
    ("", "MatMulInteger", quantize::matmul_integer),
    ("", "QLinearMatMul", quantize::qlinear_matmul),
    // Recurrent layers.
    ("", "RNN", recurrent::rnn),
    ("", "GRU", recurrent::gru),
    ("", "LSTM", recurrent::lstm),
    // Attention.
    ("", "Attention", attention::attention),
    ("", "RotaryEmbedding", attention::rotary_embedding),
    ("", "LinearAttention", linear_attention::linear_attention),
    ("", "CausalConvWithState", linear_attention::causal_conv),
    ("", "TensorScatter", linear_attention::tensor_scatter),
    // Signals.
    ("", "DFT", signal::dft),
    ("", "STFT", signal::stft),
    ("", "HannWindow", signal::hann),
    ("", "HammingWindow", signal::hamming),
    ("", "BlackmanWindow", signal::blackman),
    ("", "MelWeightMatrix", signal::mel_weights),
    // Normalization.
    ("", "BatchNormalization", normalize::batch_normalization),
    ("", "InstanceNormalization", normalize::instance_normalization),
    ("", "GroupNormalization", normalize::group_normalization),
    ("", "LayerNormalization", normalize::layer_normalization),
    ("", "RMSNormalization", normalize::rms_normalization),
    ("", "LpNormalization", normalize::lp_normalization),
    ("", "MeanVarianceNormalization", normalize::mean_variance),
    // Losses and suppression.
    ("", "NegativeLogLikelihoodLoss", loss::negative_log_likelihood),
    ("", "SoftmaxCrossEntropyLoss", loss::softmax_cross_entropy),
    ("", "NonMaxSuppression", suppression::non_max_suppression),
    // Text.
    ("", "StringConcat", text::string_concat),
    ("", "RegexFullMatch", text::regex_full_match),
    ("", "StringSplit", text::string_split),
    ("", "StringNormalizer", text::string_normalizer),
    ("", "TfIdfVectorizer", text::tf_idf),
    // Classical models.
    ("ai.onnx.ml", "ArrayFeatureExtractor", ml::features::array_feature_extractor),
    ("ai.onnx.ml", "Binarizer", ml::features::binarizer),
    ("ai.onnx.ml", "CategoryMapper", ml::labels::category_mapper),
    ("ai.onnx.ml", "FeatureVectorizer", ml::features::feature_vectorizer),
    ("ai.onnx.ml", "Imputer", ml::features::imputer),
    ("ai.onnx.ml", "LabelEncoder", ml::labels::label_encoder),
    ("ai.onnx.ml", "LinearClassifier", ml::linear::linear_classifier),
    ("ai.onnx.ml", "LinearRegressor", ml::linear::linear_regressor),
    ("ai.onnx.ml", "Normalizer", ml::features::normalizer),
    ("ai.onnx.ml", "OneHotEncoder", ml::labels::one_hot_encoder),
    ("ai.onnx.ml", "SVMClassifier", ml::svm::svm_classifier),
    ("ai.onnx.ml", "SVMRegressor", ml::svm::svm_regressor),
    ("ai.onnx.ml", "Scaler", ml::features::scaler),
    ("ai.onnx.ml", "TreeEnsemble", ml::trees::ensemble),
    ("ai.onnx.ml", "TreeEnsembleClassifier", ml::trees::classifier),
    ("ai.onnx.ml", "TreeEnsembleRegressor", ml::trees::regressor),
    // Constants.
    ("", "Constant", constants::constant),
    // Layout.
    ("", "Identity", layout::identity),
    ("", "Reshape", layout::reshape),
];
