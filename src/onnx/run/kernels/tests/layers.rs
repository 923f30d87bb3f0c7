//! Recurrent layers, attention, signals, normalization, quantization, losses.

use super::trial::{check, results};
use crate::tests::all_near;

#[test]
fn recurrent_layers_go_both_ways() {
    // Each direction has its own weights and activation.
    let x = "float[2,1,1] x = {1,2}, float[2,1,1] w = {1,2}, float[2,1,1] r = {1,10}";
    let both = "y, h = RNN <direction = \"bidirectional\", hidden_size = 1, activations = [\"Relu\", \"Affine\"], \
                activation_alpha = [-1.0]> (x, w, r)";
    check(22, x, both, &[2, 2, 1, 1], &[1.0, 38.0, 3.0, -4.0]);
    assert_eq!(results(22, x, both)[1].to_scalars(), [3.0, 38.0]);
    let x = "float[2,1,1] x = {1,2}, float[1,1,1] w = {2}, float[1,1,1] r = {10}";
    let back = "y, h = RNN <direction = \"reverse\", hidden_size = 1, activations = [\"Relu\"]> (x, w, r)";
    check(22, x, back, &[2, 1, 1, 1], &[42.0, 4.0]);
    assert_eq!(results(22, x, back)[1].to_scalars(), [42.0]);
    let short = "y, h = RNN <hidden_size = 1, activations = [\"Affine\"], activation_alpha = [2.0]> (x, w, r, , n)";
    let one = "float[2,1,1] x = {1,2}, float[1,1,1] w = {1}, float[1,1,1] r = {1}, int32[1] n = {1}";
    check(22, one, short, &[2, 1, 1, 1], &[2.0, 0.0]);
    assert_eq!(results(22, one, short)[1].to_scalars(), [2.0]);
}

#[test]
fn gates_of_recurrent_layers() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let gru = "float[1,1,1] x = {1}, float[1,3,1] w = {1,-1,0.5}, float[1,3,1] r = {0.5,1,2}, \
               float[1,6] b = {0,0,0,0,0,1}, float[1,1,1] h = {0.5}";
    let (update, reset) = (sigmoid(1.0 + 0.25), sigmoid(-1.0 + 0.5));
    // The bias is added to the product with the state, before or behind the gate.
    for (before, state) in [(0, reset * 0.5 * 2.0 + 1.0), (1, reset * (0.5 * 2.0 + 1.0))] {
        let node = format!("y = GRU <hidden_size = 1, linear_before_reset = {before}> (x, w, r, b, , h)");
        let wanted = (1.0 - update) * (0.5 + state).tanh() + update * 0.5;
        check(22, gru, &node, &[1, 1, 1, 1], &[wanted]);
    }
    let lstm = "float[1,1,1] x = {1}, float[1,4,1] w = {1,2,3,4}, float[1,4,1] r = {0,0,0,0}, float[1,1,1] c = {0.5}";
    let cell = sigmoid(3.0) * 0.5 + sigmoid(1.0) * 4f64.tanh();
    let hidden = sigmoid(2.0) * cell.tanh();
    check(22, lstm, "y = LSTM <hidden_size = 1, layout = 1> (x, w, r, , , c, c)", &[1, 1, 1, 1], &[hidden]);
    let peepholes = "float[1,1,1] x = {1}, float[1,4,1] w = {1,2,3,4}, float[1,4,1] r = {2,-1,-2,1}, \
                     float[1,1,1] h = {-1}, float[1,1,1] c = {0.5}, float[1,3] p = {0.5,-2,1}";
    let cell = sigmoid(3.0 + 2.0 + 0.5) * 0.5 + sigmoid(1.0 - 2.0 + 0.25) * 3f64.tanh();
    let hidden = sigmoid(2.0 + 1.0 - 2.0 * cell) * cell.tanh();
    let node = "y, last, state = LSTM <hidden_size = 1> (x, w, r, , , h, c, p)";
    check(22, peepholes, node, &[1, 1, 1, 1], &[hidden]);
    assert!(all_near(&results(22, peepholes, node)[2].to_scalars(), &[cell], 1e-6));
}

#[test]
fn attention_masks_keys() {
    let q = "float[1,1,2,1] q = {0,0}, float[1,1,2,1] k = {1,2}, float[1,1,2,1] v = {2,4}, bool[2,2] m = {0,0,0,1}";
    check(24, q, "y = Attention (q, k, v)", &[1, 1, 2, 1], &[3.0, 3.0]);
    check(24, q, "y = Attention <is_causal = 1> (q, k, v)", &[1, 1, 2, 1], &[2.0, 3.0]);
    // No key is allowed for the first query.
    check(24, q, "y = Attention (q, k, v, m)", &[1, 1, 2, 1], &[0.0, 4.0]);
    let past = "y, a, b = Attention <is_causal = 1> (q, k, v, , k, v)";
    check(24, q, past, &[1, 1, 2, 1], &[8.0 / 3.0, 3.0]);
    assert_eq!(results(24, q, past)[1].to_scalars(), [1.0, 2.0, 1.0, 2.0]);
    let scores = "float[1,1,1,1] q = {1}, float[1,1,2,1] k = {0,1.0986123}, float[1,1,2,1] v = {0,4}";
    check(24, scores, "y = Attention (q, k, v)", &[1, 1, 1, 1], &[3.0]);
    check(24, scores, "y = Attention <scale = 2.0> (q, k, v)", &[1, 1, 1, 1], &[3.6]);
    let packed = "float[1,1,2] x = {1,2}, float[1,1,1] v = {7}";
    check(24, packed, "y = Attention <q_num_heads = 2, kv_num_heads = 1> (x, v, v)", &[1, 1, 2], &[7.0, 7.0]);
}

#[test]
fn states_are_carried_along() {
    let x = "float[1,2,1] q = {1,1}, float[1,2,1] k = {1,1}, float[1,2,1] v = {2,3}, \
             float[1,2,1] g = {0,0}, float[1,2,1] b = {1,0.5}";
    let linear = "y, s = LinearAttention <q_num_heads = 1, kv_num_heads = 1, update_rule = \"linear\"> (q, k, v)";
    check(27, x, linear, &[1, 2, 1], &[2.0, 5.0]);
    let delta = "y, s = LinearAttention <q_num_heads = 1, kv_num_heads = 1> (q, k, v, , g, b)";
    check(27, x, delta, &[1, 2, 1], &[2.0, 2.5]);
    let conv = "float[1,1,3] x = {1,2,3}, float[1,1,2] w = {10,1}, float[1,1,1] p = {4}";
    check(27, conv, "y, s = CausalConvWithState (x, w, , p)", &[1, 1, 3], &[41.0, 12.0, 23.0]);
    let cache = "float[1,3,1] c = {1,2,3}, float[1,2,1] u = {8,9}, int64[1] i = {2}";
    check(24, cache, "y = TensorScatter <mode = \"circular\"> (c, u, i)", &[1, 3, 1], &[9.0, 2.0, 8.0]);
    let rotated = "float[1,1,1,2] x = {1,2}, float[1,1] c = {0}, float[1,1] s = {1}, int64[1,1] p = {0}";
    check(23, rotated, "y = RotaryEmbedding (x, c, s, p)", &[1, 1, 1, 2], &[-2.0, 1.0]);
}

#[test]
fn spectra_come_back() {
    let x = "float[1,6,1] x = {1,2,3,4,5,7}";
    let half = [22.0, 0.0, -2.5, 6.0621777, -3.5, 2.5980762, -4.0, 0.0];
    check(20, x, "y = DFT <onesided = 1> (x)", &[1, 4, 2], &half);
    let back = "float[1,3,2] s = {6,0,-1.5,0.8660254,-1.5,-0.8660254}";
    check(20, back, "y = DFT <inverse = 1> (s)", &[1, 3, 2], &[1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
    let real = "float[1,3,2] s = {10,0,-2,2,-2,0}";
    check(20, real, "y = DFT <inverse = 1, onesided = 1> (s)", &[1, 4, 1], &[1.0, 2.0, 3.0, 4.0]);
    let frames = "float[1,4] x = {1,2,3,4}, int64 s = {2}, float[2] w = {1,1}";
    check(17, frames, "y = STFT (x, s, w)", &[1, 2, 2, 2], &[3.0, 0.0, -1.0, 0.0, 7.0, 0.0, -1.0, 0.0]);
    check(17, "int64 n = {4}", "y = HannWindow (n)", &[4], &[0.0, 0.5, 1.0, 0.5]);
    check(17, "int64 n = {3}", "y = BlackmanWindow <periodic = 0> (n)", &[3], &[0.0, 1.0, 0.0]);
    check(17, "int64 n = {2}", "y = HammingWindow (n)", &[2], &[4.0 / 46.0, 1.0]);
}

#[test]
fn normalized_items() {
    let x =
        "float[1,2,2] x = {1,3,2,6}, float[2] s = {1,2}, float[2] b = {0,1}, float[2] m = {1,2}, float[2] v = {4,1}";
    check(15, x, "y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v)", &[1, 2, 2], &[0.0, 1.0, 1.0, 9.0]);
    check(22, x, "y = InstanceNormalization <epsilon = 0.0> (x, s, b)", &[1, 2, 2], &[-1.0, 1.0, -1.0, 3.0]);
    check(
        21,
        x,
        "y = GroupNormalization <num_groups = 2, epsilon = 0.0> (x, s, b)",
        &[1, 2, 2],
        &[-1.0, 1.0, -1.0, 3.0],
    );
    check(17, x, "y = LayerNormalization <epsilon = 0.0> (x, s, b)", &[1, 2, 2], &[-1.0, 3.0, -1.0, 3.0]);
    let rms = "float[2] x = {1,7}, float[2] s = {1,2}";
    check(23, rms, "y = RMSNormalization <epsilon = 0.0> (x, s)", &[2], &[0.2, 2.8]);
    let norm = "float[2,2] x = {3,4,0,0}";
    check(22, norm, "y = LpNormalization (x)", &[2, 2], &[0.6, 0.8, 0.0, 0.0]);
    check(13, "float[1,1,2,1] x = {1,3}", "y = MeanVarianceNormalization (x)", &[1, 1, 2, 1], &[-1.0, 1.0]);
    let channels = "float[1,3,1] x = {1,2,3}";
    let local = "y = LRN <size = 3, alpha = 3.0, beta = 1.0, bias = 1.0> (x)";
    check(13, channels, local, &[1, 3, 1], &[1.0 / 6.0, 2.0 / 15.0, 3.0 / 14.0]);
}

#[test]
fn quantized_numbers() {
    let x = "float[3] x = {-300,2.5,3.5}, float s = {1}, uint8 z = {10}, float[2] t = {1,2}, float[2,2] m = {2,4,6,8}";
    check(21, x, "y = QuantizeLinear (x, s, z)", &[3], &[0.0, 12.0, 14.0]);
    check(21, x, "y = QuantizeLinear <output_dtype = 22> (x, s)", &[3], &[-8.0, 2.0, 4.0]);
    check(21, x, "y = QuantizeLinear <axis = 0> (m, t)", &[2, 2], &[2.0, 4.0, 3.0, 4.0]);
    let blocks = "uint8[1,4] x = {1,2,3,4}, float[1,2] s = {1,10}, uint8[1,2] z = {0,1}";
    check(21, blocks, "y = DequantizeLinear <block_size = 2> (x, s, z)", &[1, 4], &[1.0, 2.0, 20.0, 30.0]);
    check(11, "float[3] x = {0,2,-3}", "y, s, z = DynamicQuantizeLinear (x)", &[3], &[153.0, 255.0, 0.0]);
    let matrices = "uint8[1,2] a = {3,4}, uint8[2,1] b = {5,6}, uint8 z = {1}, float s = {0.5}";
    check(10, matrices, "y = MatMulInteger (a, b, z, z)", &[1, 1], &[23.0]);
    check(21, matrices, "y = QLinearMatMul (a, s, z, b, s, z, s, z)", &[1, 1], &[13.0]);
}

#[test]
fn losses_ignore_targets() {
    let x = "float[2,2] x = {-1,-2,-3,-4}, int64[2] t = {1,0}, float[2] w = {1,3}";
    check(22, x, "y = NegativeLogLikelihoodLoss (x, t)", &[], &[2.5]);
    check(22, x, "y = NegativeLogLikelihoodLoss <ignore_index = 0> (x, t, w)", &[], &[2.0]);
    check(22, x, "y = NegativeLogLikelihoodLoss <reduction = \"none\"> (x, t, w)", &[2], &[6.0, 3.0]);
    // The softmax of the items is a quarter and three quarters.
    let odds = "float[1,2] x = {0,1.0986123}, int64[1] t = {1}";
    let loss = "y, p = SoftmaxCrossEntropyLoss (x, t)";
    check(13, odds, loss, &[], &[(4.0f64 / 3.0).ln()]);
    assert!(all_near(&results(13, odds, loss)[1].to_scalars(), &[0.25f64.ln(), 0.75f64.ln()], 1e-6));
}

#[test]
fn overlapping_boxes_are_suppressed() {
    let x = "float[1,3,4] b = {0,0,1,1,0,0.1,1,1.1,0,10,1,11}, float[1,1,3] s = {0.9,0.75,0.6}, \
             int64[1] n = {3}, float[1] t = {0.5}";
    check(11, x, "y = NonMaxSuppression (b, s, n, t)", &[2, 3], &[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    check(11, x, "y = NonMaxSuppression (b, s)", &[0, 3], &[]);
}
