//! The table of kernels: one row for each operator that is evaluated.

use super::call::Kernel;
use super::kernels::{attention, constants, conv, conv_transpose, deform, layout, linear_attention, normalize, pool, quantize, recurrent, resize, sample, signal};

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
    // Constants.
    ("", "Constant", constants::constant),
    // Layout.
    ("", "Identity", layout::identity),
    ("", "Reshape", layout::reshape),
];
