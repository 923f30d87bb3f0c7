//! Matrix products (4.7 and 4.9.2 of NNEF), recurrent cells and attention.

use super::row::{Category, ElementRule, Products, Row, ShapeRule, ToOnnx, Words};
use Category::Product;
use Products::NotCounted;
use ToOnnx::Nodes;

const PRODUCTS_OF_ONNX: Words =
    "MatMul MatMulInteger QLinearMatMul Gemm com.microsoft.FusedMatMul com.microsoft.FusedGemm";
const PRODUCTS_OF_TORCH: Words = "torch.matmul torch.mm torch.bmm torch.addmm torch.baddbmm torch.mv torch.dot";
const OTHERS_OF_TORCH: Words = "torch.addbmm torch.addmv torch.chain_matmul torch.inner torch.linalg.multi_dot \
    torch.linalg_multi_dot torch.tensordot nn.Bilinear F.bilinear";

rows! {
    MATMUL = Row::standard("matmul", Product, ShapeRule::Matmul).products(Products::Matmul)
        .elements(ElementRule::First).translated(Nodes("`MatMul`; `Gemm` where matrices are transposed"))
        .in_onnx(PRODUCTS_OF_ONNX).in_torch(PRODUCTS_OF_TORCH);
    LINEAR = Row::standard("linear", Product, ShapeRule::Linear).products(Products::Linear)
        .elements(ElementRule::First).translated(Nodes("`Gemm`, or `MatMul` and `Add`")).in_torch("nn.Linear F.linear");
    /// Products of other forms.
    PRODUCT = Row::new("product", Product).products(NotCounted).in_torch(OTHERS_OF_TORCH);
    QUANTIZED_WEIGHTS = Row::new("quantized_weights", Product).products(Products::ByAttribute)
        .in_onnx("com.microsoft.MatMulNBits com.microsoft.MatMulBnb4");
    EINSUM = Row::vendor("einsum", "tract_core_einsum tract_core_einsum_q", Product, ShapeRule::Einsum)
        .products(Products::Einsum).in_onnx("Einsum").in_torch("torch.einsum");
    EINSUM_PRODUCT = Row::vendor(
        "einsum_product",
        "tract_core_matmul tract_core_qmatmul",
        Product,
        ShapeRule::EinsumProduct,
    ).products(Products::AlongAxes);
    QUANTIZED_CONV = Row::vendor("quantized_conv", "tract_core_qconv", Product, ShapeRule::Convolution)
        .products(Products::ForEachResult);
    RECURRENT = Row::new("recurrent", Product).products(Products::Recurrent).in_onnx("LSTM GRU RNN")
        .in_torch("nn.LSTM nn.GRU nn.RNN");
    RECURRENT_CELL = Row::new("recurrent_cell", Product).products(NotCounted)
        .in_torch("nn.LSTMCell nn.GRUCell nn.RNNCell");
    SDPA = Row::vendor("sdpa", "tract_transformers_sdpa", Product, ShapeRule::Attention)
        .products(Products::Attention).in_onnx("Attention").in_torch("F.scaled_dot_product_attention");
    CACHED_SDPA = Row::vendor(
        "cached_sdpa",
        "tract_transformers_window_kv_sdpa tract_transformers_quantized_kv_sdpa",
        Product,
        ShapeRule::Attention,
    ).products(NotCounted);
    MULTIHEAD_ATTENTION = Row::new("multihead_attention", Product).products(NotCounted)
        .in_torch("nn.MultiheadAttention");
    CAUSAL_CONV = Row::vendor(
        "causal_conv1d_update",
        "tract_transformers_causal_conv1d_update tract_qwen35_causal_conv1d_update",
        Product,
        ShapeRule::WithState,
    ).products(NotCounted);
    GATED_DELTA = Row::vendor(
        "gdn_recurrent",
        "tract_transformers_gdn_recurrent tract_qwen35_gdn_recurrent",
        Product,
        ShapeRule::WithState,
    ).products(NotCounted);
    GRU_EPILOGUE = Row::vendor("gru_epilogue", "tract_core_gru_epilogue", Category::Other, ShapeRule::LikeThird);
    LSTM_EPILOGUE = Row::vendor("lstm_epilogue", "tract_core_lstm_epilogue", Category::Other, ShapeRule::LikeSecond);
    SCAN = Row::vendor("scan", "tract_core_scan", Category::Other, ShapeRule::Scan).products(NotCounted)
        .elements(ElementRule::Recurrences).in_onnx("Loop Scan");
    SUBMODEL = Row::vendor("submodel", "tract_core_submodel", Category::Other, ShapeRule::Unknown)
        .products(NotCounted).elements(ElementRule::Unknown);
}
