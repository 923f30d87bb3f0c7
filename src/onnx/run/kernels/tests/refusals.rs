//! Operands and attributes that do not fit are refused; nothing panics, and limits hold.

use super::trial::tried;
use crate::eval::Limits;

const OPERANDS: &str = "float s = {1}, float[2] v = {1,2}, float[1,2] m = {1,2}, float[1,1,2] t = {1,2}, \
     float[1,1,2,2] q = {1,2,3,4}, float[0] e = {}, float[0,1,2] n = {}, int64[2] i = {-7,9223372036854775807}, \
     int64 j = {-1}, float[536870912,0,536870912] z = {}, \
     string[1] w = {\"a\"}, uint8[1,1,2] u = {1,2}, bool[1] b = {1}";

/// All operators of the table with an operand of each kind for all operands.
#[test]
fn operators_refuse_any_operands() {
    let limits = Limits { max_items: 1 << 16, max_work: 1 << 20 };
    for row in crate::onnx::operators::rows().iter().filter(|row| row.kernel.is_some()) {
        let (domain, name) = (row.domain, row.name);
        let prefix = if domain.is_empty() { String::new() } else { format!("{domain}.") };
        for operand in ["s", "v", "m", "t", "q", "e", "n", "i", "j", "w", "u", "b", "z"] {
            for count in [2, 7] {
                let operands = vec![operand; count].join(", ");
                let _ = tried(21, OPERANDS, &format!("y = {prefix}{name} ({operands})"), limits);
            }
        }
    }
}

#[test]
fn attributes_out_of_range_are_refused() {
    for node in [
        "y = MaxPool <kernel_shape = [0, 0]> (q)",
        "y = MaxPool <kernel_shape = [9223372036854775807, 2]> (q)",
        "y = MaxPool <kernel_shape = [1, 1], pads = [9223372036854775807, 0, 0, 0]> (q)",
        "y = AveragePool <kernel_shape = [1, 1], strides = [0, 1]> (q)",
        "y = LpPool <kernel_shape = [1, 1], dilations = [-1, 1]> (q)",
        "y = Conv <group = 0> (q, q)",
        "y = ConvTranspose <strides = [2000000000, 2000000000]> (q, q)",
        "y = ConvTranspose <output_padding = [9223372036854775807, 0]> (q, q)",
        "y = MaxUnpool <kernel_shape = [1, 1]> (q, i)",
        "y = Resize <axes = [5]> (v, , s)",
        "y = LRN <size = 0> (q)",
        "y = GroupNormalization <num_groups = 0> (q, v, v)",
        "y = LayerNormalization <axis = 9> (v, v)",
        "y = LpNormalization <p = 3> (v)",
        "y = DFT <onesided = 1> (v)",
        "y = HannWindow (j)",
        "y = BlackmanWindow (i)",
        "y = RNN <hidden_size = -1> (t, t, t)",
        "y = RegexFullMatch <pattern = \"(\"> (w)",
        "y = RegexFullMatch <pattern = \"((a{1000}){1000}){1000}\"> (w)",
        "y = TfIdfVectorizer <ngram_counts = [9], ngram_indexes = [9223372036854775807], pool_int64s = [1]> (i)",
        "y = ai.onnx.ml.TreeEnsemble <tree_roots = [4]> (m)",
        "y = ai.onnx.ml.ArrayFeatureExtractor (m, i)",
        "y = ai.onnx.ml.SVMRegressor <n_supports = 9223372036854775807> (m)",
    ] {
        assert!(tried(21, OPERANDS, node, Limits::untrusted()).is_err(), "{node}");
    }
}
