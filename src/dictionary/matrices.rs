//! Matrix products (4.7 and 4.9.2 of NNEF), recurrent cells and attention.

use super::row::{Category, ElementRule, Products, Row, ShapeRule, ToOnnx, Words};
use Category::Product;
use Products::NotCounted;
use ToOnnx::{Nodes, Refused};

/// Products that NNEF has no operation for.
const fn product(name: &'static str, products: Products, onnx: Words, torch: Words) -> Row {
    Row::new(name, Product).products(products).in_onnx(onnx).in_torch(torch)
}

rows! {
    MATMUL = Row::standard("matmul", Product, ShapeRule::Matmul).products(Products::Matmul)
        .elements(ElementRule::First).translated(Nodes("`MatMul`; `Gemm` where matrices are transposed"))
        .in_onnx("MatMul").in_torch("torch.matmul torch.mm torch.bmm");
    LINEAR = Row::standard("linear", Product, ShapeRule::Linear).products(Products::Linear)
        .elements(ElementRule::First).translated(Nodes("`Gemm`, or `MatMul` and `Add`")).in_torch("nn.Linear F.linear");
    /// A product, scaled and added to an operand.
    GEMM = product("gemm", Products::Matmul, "Gemm", "torch.addmm");
    BATCHED_GEMM = product("batched_gemm", Products::Matmul, "", "torch.baddbmm");
    MATRIX_VECTOR = product("matrix_vector", Products::Matmul, "", "torch.mv");
    DOT = product("dot", Products::Matmul, "", "torch.dot");
    FUSED_MATMUL = product("fused_matmul", Products::Matmul, "com.microsoft.FusedMatMul com.microsoft.FusedGemm", "");
    MATMUL_INTEGER = product("matmul_integer", Products::Matmul, "MatMulInteger", "");
    QUANTIZED_MATMUL = product("quantized_matmul", Products::Matmul, "QLinearMatMul", "");
    BATCH_SUM_OF_PRODUCTS = product("batch_sum_of_products", NotCounted, "", "torch.addbmm");
    ADDED_MATRIX_VECTOR = product("added_matrix_vector", NotCounted, "", "torch.addmv");
    CHAIN_MATMUL = product("chain_matmul", NotCounted, "", "torch.chain_matmul torch.linalg.multi_dot torch.linalg_multi_dot");
    INNER = product("inner", NotCounted, "", "torch.inner");
    TENSORDOT = product("tensordot", NotCounted, "", "torch.tensordot");
    BILINEAR = product("bilinear", NotCounted, "", "nn.Bilinear F.bilinear");
    CONV_INTEGER = product("conv_integer", Products::ForEachResult, "ConvInteger", "");
    QLINEAR_CONV = product("qlinear_conv", Products::ForEachResult, "QLinearConv", "");
    DEFORMABLE_CONV = product("deformable_conv", Products::ForEachResult, "DeformConv", "");
    FUSED_CONV = product("fused_conv", Products::ForEachResult, "com.microsoft.FusedConv", "");
    QUANTIZED_WEIGHTS = Row::new("quantized_weights", Product).products(Products::ByAttribute)
        .in_onnx("com.microsoft.MatMulNBits com.microsoft.MatMulBnb4");
    EINSUM = Row::vendor("einsum", "tract_core_einsum tract_core_einsum_q", Product, ShapeRule::Einsum)
        .translated(Nodes("`MatMul` if it is one, otherwise `Einsum`; not of quantized operands"))
        .products(Products::Einsum).in_onnx("Einsum").in_torch("torch.einsum");
    EINSUM_PRODUCT = Row::vendor(
        "einsum_product",
        "tract_core_matmul tract_core_qmatmul",
        Product,
        ShapeRule::EinsumProduct,
    ).products(Products::AlongAxes).translated(Nodes("as `tract_core_einsum`"));
    QUANTIZED_CONV = Row::vendor("quantized_conv", "tract_core_qconv", Product, ShapeRule::Convolution)
        .products(Products::ForEachResult).translated(Refused("the operands are quantized numbers"));
    LSTM = product("lstm", Products::Recurrent, "LSTM", "nn.LSTM");
    GRU = product("gru", Products::Recurrent, "GRU", "nn.GRU");
    RNN = product("rnn", Products::Recurrent, "RNN", "nn.RNN");
    LSTM_CELL = product("lstm_cell", NotCounted, "", "nn.LSTMCell");
    GRU_CELL = product("gru_cell", NotCounted, "", "nn.GRUCell");
    RNN_CELL = product("rnn_cell", NotCounted, "", "nn.RNNCell");
    SDPA = Row::vendor("sdpa", "tract_transformers_sdpa", Product, ShapeRule::Attention)
        .products(Products::Attention)
        .translated(Nodes("`MatMul`, `Mul`, the mask by `Add`, `Trilu` and `Where`, `Softmax`, `MatMul`")).in_onnx("Attention").in_torch("F.scaled_dot_product_attention");
    CACHED_SDPA = Row::vendor(
        "cached_sdpa",
        "tract_transformers_window_kv_sdpa tract_transformers_quantized_kv_sdpa",
        Product,
        ShapeRule::Attention,
    ).products(NotCounted).translated(Refused("a model of ONNX has no state"));
    MULTIHEAD_ATTENTION = Row::new("multihead_attention", Product).products(NotCounted)
        .in_torch("nn.MultiheadAttention");
    CAUSAL_CONV = Row::vendor(
        "causal_conv1d_update",
        "tract_transformers_causal_conv1d_update tract_qwen35_causal_conv1d_update",
        Product,
        ShapeRule::WithState,
    ).products(NotCounted).translated(Nodes("`Reshape`, `Slice`, `Concat`, `Mul`, `ReduceSum`, and `Mul(x, Sigmoid(x))`"));
    GATED_DELTA = Row::vendor(
        "gdn_recurrent",
        "tract_transformers_gdn_recurrent tract_qwen35_gdn_recurrent",
        Product,
        ShapeRule::WithState,
    ).products(NotCounted).translated(Nodes("`MatMul` and the formula of the step"));
    GRU_EPILOGUE = Row::vendor("gru_epilogue", "tract_core_gru_epilogue", Category::Other, ShapeRule::LikeThird)
        .translated(Nodes("`Split` and its formula"));
    LSTM_EPILOGUE = Row::vendor("lstm_epilogue", "tract_core_lstm_epilogue", Category::Other, ShapeRule::LikeSecond)
        .translated(Nodes("`Split` and its formula"));
    SCAN = Row::vendor("scan", "tract_core_scan", Category::Other, ShapeRule::Scan).products(NotCounted)
        .elements(ElementRule::Recurrences).translated(Nodes("`Scan`, with sections as items of a new axis")).in_onnx("Scan");
    LOOP = product("loop", NotCounted, "Loop", "").drawn(Category::Other);
    SUBMODEL = Row::vendor("submodel", "tract_core_submodel", Category::Other, ShapeRule::Unknown)
        .products(NotCounted).elements(ElementRule::Unknown).translated(Refused("the other model is not read"));
}
