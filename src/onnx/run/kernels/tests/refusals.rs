//! Operands and attributes that do not fit are refused; nothing panics, and limits hold.

use super::trial::tried;
use crate::diagnostics::Code;
use crate::eval::Limits;

const OPERANDS: &str = "float s = {1}, float[2] v = {1,2}, float[1,2] m = {1,2}, float[1,1,2] t = {1,2}, \
     float[1,1,2,2] q = {1,2,3,4}, float[0] e = {}, float[0,1,2] n = {}, int64[2] i = {-7,9223372036854775807}, \
     int64 j = {-1}, string[1] w = {\"a\"}, uint8[1,1,2] u = {1,2}, bool[1] b = {1}";

/// All operators of the table with an operand of each kind for all operands.
#[test]
fn operators_refuse_any_operands() {
    let limits = Limits { max_items: 1 << 16, max_work: 1 << 20 };
    let (mut computed, mut refused) = (0, 0);
    for row in crate::onnx::operators::rows().iter().filter(|row| row.kernel.is_some()) {
        let (domain, name) = (row.domain, row.name);
        let prefix = if domain.is_empty() { String::new() } else { format!("{domain}.") };
        for operand in ["s", "v", "m", "t", "q", "e", "n", "i", "j", "w", "u", "b"] {
            for count in [2, 7] {
                let operands = vec![operand; count].join(", ");
                match tried(21, OPERANDS, &format!("y = {prefix}{name} ({operands})"), limits) {
                    Ok(_) => computed += 1,
                    // A limit may end what no kernel has looked at.
                    Err(error) => refused += usize::from(error.code != Code::EvalMemory),
                }
            }
        }
    }
    assert!(computed > 300 && refused > 800, "{computed} are computed, {refused} refused");
}

/// Constants are held before any node runs, so that this one would hide what kernels make of others.
#[test]
fn constants_of_huge_extents_without_items_are_refused() {
    let refused = tried(21, "float[536870912,0,536870912] z = {}", "y = Abs (z)", Limits::untrusted()).err();
    assert_eq!(refused.map(|error| error.code), Some(Code::EvalMemory));
}

#[test]
fn attributes_out_of_range_are_refused() {
    for (node, code) in [
        ("y = MaxPool <kernel_shape = [0, 0]> (q)", Code::EvalShapes),
        ("y = MaxPool <kernel_shape = [9223372036854775807, 2]> (q)", Code::EvalShapes),
        ("y = MaxPool <kernel_shape = [1, 1], pads = [9223372036854775807, 0, 0, 0]> (q)", Code::EvalArgument),
        ("y = AveragePool <kernel_shape = [1, 1], strides = [0, 1]> (q)", Code::EvalArgument),
        ("y = LpPool <kernel_shape = [1, 1], dilations = [-1, 1]> (q)", Code::EvalShapes),
        ("y = Conv <group = 0> (q, q)", Code::EvalShapes),
        ("y = ConvTranspose <strides = [2000000000, 2000000000]> (q, q)", Code::EvalMemory),
        ("y = ConvTranspose <output_padding = [9223372036854775807, 0]> (q, q)", Code::EvalShapes),
        ("y = MaxUnpool <kernel_shape = [1, 1]> (q, i)", Code::EvalShapes),
        ("y = Resize <axes = [5]> (v, , s)", Code::EvalShapes),
        ("y = LRN <size = 0> (q)", Code::EvalArgument),
        ("y = GroupNormalization <num_groups = 0> (q, v, v)", Code::EvalArgument),
        ("y = LayerNormalization <axis = 9> (v, v)", Code::EvalShapes),
        ("y = LpNormalization <p = 3> (v)", Code::EvalArgument),
        ("y = DFT <onesided = 1> (v)", Code::EvalShapes),
        ("y = HannWindow (j)", Code::EvalArgument),
        ("y = BlackmanWindow (i)", Code::EvalShapes),
        ("y = RNN <hidden_size = -1> (t, t, t)", Code::EvalShapes),
        ("y = RegexFullMatch <pattern = \"(\"> (w)", Code::EvalArgument),
        ("y = RegexFullMatch <pattern = \"((a{1000}){1000}){1000}\"> (w)", Code::EvalArgument),
        (
            "y = TfIdfVectorizer <ngram_counts = [9], ngram_indexes = [9223372036854775807], pool_int64s = [1]> (i)",
            Code::EvalArgument,
        ),
        ("y = ai.onnx.ml.TreeEnsemble <tree_roots = [4]> (m)", Code::EvalArgument),
        ("y = ai.onnx.ml.ArrayFeatureExtractor (m, i)", Code::EvalArgument),
        ("y = ai.onnx.ml.SVMRegressor <n_supports = 9223372036854775807> (m)", Code::EvalShapes),
    ] {
        let refused = tried(21, OPERANDS, node, Limits::untrusted()).err();
        assert_eq!(refused.map(|error| error.code), Some(code), "{node}");
    }
}
