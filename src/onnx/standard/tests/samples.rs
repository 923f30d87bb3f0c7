//! A call of each operator with a body.

/// A graph with a call.
pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) graph: &'static str,
}

const fn sample(name: &'static str, graph: &'static str) -> Sample {
    Sample { name, graph }
}

/// All samples: at least one for each operator.
pub(super) const SAMPLES: &[Sample] = &[
    sample("AffineGrid", "(float[2,2,3] t, int64[4] s) => (float[2,5,6,2] y) { y = AffineGrid (t, s) }"),
    sample(
        "AffineGrid",
        "(float[2,3,4] t, int64[5] s) => (float[2,4,5,6,3] y) { y = AffineGrid <align_corners = 1> (t, s) }",
    ),
    sample(
        "Attention",
        "(float[1,4,3,8] q, float[1,2,5,8] k, float[1,2,5,6] v) => (float[1,4,3,6] y) { y = Attention <is_causal = 1> (q, k, v) }",
    ),
    sample(
        "Attention",
        "(float16[1,3,32] q, float16[1,5,16] k, float16[1,5,16] v, bool[3,7] m, float16[1,2,2,8] pk, float16[1,2,2,8] pv) => (float16[1,3,32] y, float16[1,2,7,8] nk, float16[1,2,7,8] nv, float16[1,4,3,7] w) { y, nk, nv, w = Attention <q_num_heads = 4, kv_num_heads = 2, softcap = 2.0, softmax_precision = 1, qk_matmul_output_mode = 3> (q, k, v, m, pk, pv) }",
    ),
    sample(
        "Attention",
        "(float[1,B,C,8] q, float[1,D,E,8] k, float[1,D,E,8] v, float[C,E] m) => (float[1,B,C,8] y) { y = Attention (q, k, v, m) }",
    ),
    sample("Bernoulli", "(double[3] x) => (bool[3] y) { y = Bernoulli <dtype = 9, seed = 1.0> (x) }"),
    sample("BlackmanWindow", "(int64 n) => (float[N] y) { y = BlackmanWindow (n) }"),
    sample("CastLike", "(float[3] x, float16[1] t) => (float16[3] y) { y = CastLike (x, t) }"),
    sample(
        "CausalConvWithState",
        "(float[2,3,5] x, float[3,1,4] w) => (float[2,3,5] y, float[2,3,3] s) { y, s = CausalConvWithState <activation = \"silu\"> (x, w) }",
    ),
    sample(
        "CausalConvWithState",
        "(float[2,3,5] x, float[3,1,4] w, float[3] b, float[2,3,3] p) => (float[2,3,5] y, float[2,3,3] s) { y, s = CausalConvWithState (x, w, b, p) }",
    ),
    sample("Celu", "(float[3] x) => (float[3] y) { y = Celu <alpha = 2.0> (x) }"),
    sample("CenterCropPad", "(float[4,6] x, int32[1] s) => (float[4,9] y) { y = CenterCropPad <axes = [-1]> (x, s) }"),
    sample("CenterCropPad", "(float[4,6] x, int64[2] s) => (float[3,9] y) { y = CenterCropPad (x, s) }"),
    sample("Clip", "(float[3] x, float a, float b) => (float[3] y) { y = Clip (x, a, b) }"),
    sample("Clip", "(bfloat16[3] x, bfloat16 b) => (bfloat16[3] y) { y = Clip (x, , b) }"),
    sample("Clip", "(int32[3] x) => (int32[3] y) { y = Clip (x) }"),
    sample(
        "DepthToSpace",
        "(float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (x) }",
    ),
    sample(
        "DynamicQuantizeLinear",
        "(float[3] x) => (uint8[3] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }",
    ),
    sample("Elu", "(double[3] x) => (double[3] y) { y = Elu (x) }"),
    sample(
        "FlexAttention",
        "(float[1,4,3,8] q, float[1,2,5,8] k, float[1,2,5,8] v) => (float[1,4,3,8] y) { y = ai.onnx.preview.FlexAttention <prob_mod = m (float[1,4,3,5] p) => (float[1,4,3,5] o) { o = Neg (p) }> (q, k, v) }",
    ),
    sample("Gelu", "(float16[3] x) => (float16[3] y) { y = Gelu (x) }"),
    sample("Gelu", "(float[3] x) => (float[3] y) { y = Gelu <approximate = \"tanh\"> (x) }"),
    sample("GreaterOrEqual", "(float[3] a, float[3] b) => (bool[3] y) { y = GreaterOrEqual (a, b) }"),
    sample(
        "GroupNormalization",
        "(float16[2,4,3] x, float16[4] s, float16[4] b) => (float16[2,4,3] y) { y = GroupNormalization <num_groups = 4> (x, s, b) }",
    ),
    sample("HammingWindow", "(int32 n) => (double[N] y) { y = HammingWindow <output_datatype = 11> (n) }"),
    sample("HannWindow", "(int64 n) => (float16[N] y) { y = HannWindow <periodic = 0, output_datatype = 10> (n) }"),
    sample("HardSigmoid", "(float[3] x) => (float[3] y) { y = HardSigmoid (x) }"),
    sample("HardSwish", "(float[3] x) => (float[3] y) { y = HardSwish (x) }"),
    sample(
        "LayerNormalization",
        "(float16[2,3] x, float16[3] s, float16[3] b) => (float16[2,3] y, float[2,1] m, float[2,1] i) { y, m, i = LayerNormalization (x, s, b) }",
    ),
    sample(
        "LayerNormalization",
        "(float[2,3] x, float[2,3] s) => (float[2,3] y) { y = LayerNormalization <axis = 0> (x, s) }",
    ),
    sample("LeakyRelu", "(float[3] x) => (float[3] y) { y = LeakyRelu (x) }"),
    sample("LessOrEqual", "(float[3] a, float[3] b) => (bool[3] y) { y = LessOrEqual (a, b) }"),
    sample(
        "LinearAttention",
        "(float[1,3,8] q, float[1,3,8] k, float[1,3,8] v, float[1,3,2] g, float[1,3,2] b) => (float[1,3,8] y, float[1,2,4,4] s) { y, s = LinearAttention <q_num_heads = 2, kv_num_heads = 2> (q, k, v, , g, b) }",
    ),
    sample(
        "LinearAttention",
        "(float16[1,3,8] q, float16[1,3,4] k, float16[1,3,4] v, float[1,1,4,4] p) => (float16[1,3,8] y, float[1,1,4,4] s) { y, s = LinearAttention <q_num_heads = 2, kv_num_heads = 1, update_rule = \"linear\"> (q, k, v, p) }",
    ),
    sample("LogSoftmax", "(float[2,3] x) => (float[2,3] y) { y = LogSoftmax (x) }"),
    sample(
        "MeanVarianceNormalization",
        "(float[2,3,4,5] x) => (float[2,3,4,5] y) { y = MeanVarianceNormalization (x) }",
    ),
    sample("Mish", "(float[3] x) => (float[3] y) { y = Mish (x) }"),
    sample(
        "NegativeLogLikelihoodLoss",
        "(float[2,5] x, int64[2] t, float[5] w) => (float y) { y = NegativeLogLikelihoodLoss <ignore_index = 1> (x, t, w) }",
    ),
    sample(
        "NegativeLogLikelihoodLoss",
        "(float[2,5,3] x, int32[2,3] t) => (float[2,3] y) { y = NegativeLogLikelihoodLoss <reduction = \"none\"> (x, t) }",
    ),
    sample("PRelu", "(float[2,3] x, float[3] s) => (float[2,3] y) { y = PRelu (x, s) }"),
    sample("RMSNormalization", "(float16[2,3] x, float[3] s) => (float[2,3] y) { y = RMSNormalization (x, s) }"),
    sample("Range", "(int16 a, int16 b, int16 c) => (int16[N] y) { y = Range (a, b, c) }"),
    sample("Range", "(float a, float b, float c) => (float[N] y) { y = Range (a, b, c) }"),
    sample("ReduceL1", "(float[2,3] x, int64[1] a) => (float[2,1] y) { y = ReduceL1 (x, a) }"),
    sample("ReduceL2", "(int32[2,3] x) => (int32 y) { y = ReduceL2 <keepdims = 0> (x) }"),
    sample("ReduceLogSum", "(float[2,3] x) => (float y) { p = Exp (x) y = ReduceLogSum <keepdims = 0> (p) }"),
    sample("ReduceLogSumExp", "(float[2,3] x) => (float y) { y = ReduceLogSumExp <keepdims = 0> (x) }"),
    sample("ReduceSumSquare", "(float[2,3] x) => (float y) { y = ReduceSumSquare <keepdims = 0> (x) }"),
    sample("Relu", "(int32[3] x) => (int32[3] y) { y = Relu (x) }"),
    sample(
        "RotaryEmbedding",
        "(float[2,4,3,8] x, float[9,4] c, float[9,4] s, int64[2,3] p) => (float[2,4,3,8] y) { y = RotaryEmbedding <interleaved = 1> (x, c, s, p) }",
    ),
    sample(
        "RotaryEmbedding",
        "(float[2,3,32] x, float[2,3,2] c, float[2,3,2] s) => (float[2,3,32] y) { y = RotaryEmbedding <num_heads = 4, rotary_embedding_dim = 4> (x, c, s) }",
    ),
    sample("Selu", "(float[3] x) => (float[3] y) { y = Selu (x) }"),
    sample(
        "SequenceMap",
        "(seq(float[N]) x, float[3] t) => (seq(float[N]) y) { y = SequenceMap <body = m (float[N] a, float[3] b) => (float[N] c) { c = Add (a, b) }> (x, t) }",
    ),
    sample("Shrink", "(int32[3] x) => (int32[3] y) { y = Shrink <lambd = 1.5> (x) }"),
    sample("Softmax", "(float[2,3] x) => (float[2,3] y) { y = Softmax (x) }"),
    sample(
        "SoftmaxCrossEntropyLoss",
        "(float[2,5,3] x, int64[2,3] t) => (float y, float[2,5,3] p) { y, p = SoftmaxCrossEntropyLoss <ignore_index = 1> (x, t) }",
    ),
    sample("Softplus", "(float[3] x) => (float[3] y) { y = Softplus (x) }"),
    sample("Softsign", "(float[3] x) => (float[3] y) { y = Softsign (x) }"),
    sample("SpaceToDepth", "(float[1,2,4,6] x) => (float[1,8,2,3] y) { y = SpaceToDepth <blocksize = 2> (x) }"),
    sample("SwiGLU", "(float[3] a, float[3] b) => (float[3] y) { y = SwiGLU (a, b) }"),
    sample("Swish", "(float[3] x) => (float[3] y) { y = Swish (x) }"),
    sample("ThresholdedRelu", "(float[3] x) => (float[3] y) { y = ThresholdedRelu (x) }"),
];
