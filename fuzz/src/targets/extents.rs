//! Models of ONNX whose texts are short and whose extents and counts are from 2^16 to 2^62: checked, translated to NNEF,
//! folded and run as input of unknown origin, they take no more memory than that may. What is allocated is counted,
//! whether it is used or not.

use peak_alloc::PeakAlloc;

use crate::shared::choices;
use crate::tape::Tape;
use nnef_flatten::{Options, open};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What inputs of unknown origin may take, see `SECURITY.md`.
const MOST: usize = 256 << 20;

/// Once in a process, the library asks the system for so many bytes, to know whether it has addresses; it uses none of them.
const ASKED: usize = 4 << 30;

/// Nodes that make values of given extents: `@` is an extent, `#` half of it, `x` an input and `k` a constant with it.
const NODES: &[&str] = &[
    "y = Expand (x, k)",
    "y = Tile (x, k)",
    "y = ConstantOfShape (k)",
    "y = RandomNormal <shape = [@]> ()",
    "y = RandomUniformLike (x)",
    "y = Bernoulli (x)",
    "y = EyeLike (x)",
    "y = Trilu (x)",
    "y = OneHot (i, s, v)",
    "y = Range (o, s, l)",
    "y = HannWindow (s)",
    "y = MelWeightMatrix (s, s, l, f, g)",
    "y = Pad (x, p)",
    "y = Pad <mode = \"reflect\"> (x, p)",
    "y = Compress (x, b)",
    "y = NonZero (x)",
    "y = CumSum (x, o)",
    "y = Hardmax (x)",
    "y = ReverseSequence (x, i)",
    "y = TopK (x, k)",
    "y, z = Split <num_outputs = #> (x)",
    "y, z = Split <axis = 1, num_outputs = 2> (x)",
    "q = SplitToSequence <axis = 0> (x)\n y = SequenceAt (q, l)",
    "q = SplitToSequence <axis = 1, keepdims = 0> (x)\n y = ConcatFromSequence <axis = 0, new_axis = 1> (q)",
    "c = ConstantOfShape (k)\n q = SplitToSequence <axis = 0> (c)\n y = SequenceLength (q)",
    "c = ConstantOfShape (k)\n y = CastLike (c, t)",
    "c = Expand (t, k)\n y = StringConcat (c, c)",
    "c = Expand (t, k)\n y, z = StringSplit <delimiter = \"b\"> (c)",
    "c = Expand (t, k)\n y = RegexFullMatch <pattern = \"(a|b)*c\"> (c)",
    "y = Resize <mode = \"linear\"> (w, , , r)",
    "y = Resize <mode = \"cubic\"> (w, , , r)",
    "y = Resize <mode = \"nearest\"> (w, , , r)",
    "y = DFT (w, s)",
    "y = STFT (w, l, , s)",
    "y = MaxPool <kernel_shape = [@, 2]> (w)",
    "y = AveragePool <kernel_shape = [@, 2], pads = [#, 0, #, 0], count_include_pad = 1> (w)",
    "y = DepthToSpace <blocksize = #> (w)",
    "y = Col2Im (x, r, i)",
    "y = AffineGrid (w, r)",
    "y = GroupNormalization <num_groups = #> (w, h, h)",
    "y = RoiAlign <output_height = @> (w, x, i)",
    "y = ConvTranspose <strides = [@, 1]> (w, w)",
    "y = Einsum <equation = \"ij,jk,kl->il\"> (x, x, x)",
    "y = ScatterND (x, j, u)",
    "y = Attention <q_num_heads = @, kv_num_heads = @> (a, a, a)",
    "y = TfIdfVectorizer <max_gram_length = @, max_skip_count = @, min_gram_length = 1, mode = \"TF\", \
     ngram_counts = [0], ngram_indexes = [@], pool_int64s = [3]> (i)",
    "y = Loop <body = n (int64 trip, bool ok, float[A] e) => (bool more, float[B] made) \
     { more = Identity (ok) made = Concat <axis = 0> (e, e) }> (s, , h)",
    "y, z = Loop <body = n (int64 trip, bool ok, string[1] e) => (bool more, string[1] made, string[1] kept) \
     { more = Identity (ok) made = StringConcat (e, t) kept = Identity (made) }> (s, , t)",
    "y = Scan <num_scan_inputs = 1, body = n (float[A] e) => (float[A] made) { made = Relu (e) }> (x)",
    "q = SplitToSequence <axis = 0> (h)\n \
     m = SequenceMap <body = n (float[1] e) => (float[A] made) { made = Expand (e, k) }> (q)\n y = SequenceAt (m, o)",
];

/// An extent or a count.
fn extent(tape: &mut Tape) -> i64 {
    (1 << (16 + tape.below(47))) - [0, 1, 3][tape.below(3)]
}

/// A model of a few nodes; each may have the result of the one before it in place of `x`.
fn model(tape: &mut Tape) -> String {
    let (first, second) = (extent(tape), extent(tape));
    let second = if tape.chance(8) { 2 } else { second };
    let mut nodes = String::new();
    let mut before = "x".to_owned();
    for place in 0..1 + tape.below(3) {
        let [whole, half] = [first.to_string(), (first / 2).to_string()];
        let node = tape.pick(NODES).replace('@', &whole).replace('#', &half);
        // The names that a node defines have its place.
        for line in node.lines() {
            let (results, call) = line.split_once(" = ").unwrap_or((line, ""));
            let mut call = call.replace("(x", &format!("({before}"));
            for name in ["q", "c", "m"] {
                call = call.replace(&format!("({name},"), &format!("({name}{place},"));
                call = call.replace(&format!("({name})"), &format!("({name}{place})"));
                call = call.replace(&format!(" {name})"), &format!(" {name}{place})"));
            }
            let results: Vec<String> = results.split(", ").map(|name| format!("{}{place}", name.trim())).collect();
            nodes += &format!(" {} = {call}\n", results.join(", "));
        }
        before = format!("y{place}");
    }
    let constants = format!(
        "int64[1] k = {{{first}}}, int64 s = {{{first}}}, int64 o = {{0}}, int64 l = {{1}}, \
         int64[4] r = {{1, 1, {first}, 2}}, int64[4] p = {{0, 0, {first}, 1}}, bool[2] b = {{1, 0}}, \
         int64[2] i = {{1, 2}}, float[2] v = {{0.0, 1.0}}, float f = {{0.0}}, float g = {{8000.0}}, \
         string[1] t = {{\"{}\"}}, float[4] h = {{1.0, 2.0, 3.0, 4.0}}, int64[1, 2] j = {{0, 1}}, float[1] u = {{1.0}}",
        "ab".repeat(200)
    );
    let inputs = format!("float[{first}, {second}] x, float[1, {second}, {first}, 2] w, float[1, 2, {first}] a");
    let (output, last) = *tape.pick(&[("float", "ReduceSum <keepdims = 0>"), ("int64[R]", "Shape")]);
    let head = format!("<ir_version: 11, opset_import: [\"\": 23]>\ng ({inputs}) => ({output} y)\n<{constants}>");
    format!("{head}\n{{\n{nodes} y = {last} ({before})\n}}\n")
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let text = model(&mut choices(bytes));
    let options = Options::untrusted();
    let opened = || open(("fuzz.onnxtxt", text.as_bytes()), &options).expect("a text of ONNX");
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let _ = opened().check();
    let _ = opened().print("nnef", &mut std::io::sink());
    let _ = opened().fold(true).print("onnx", &mut std::io::sink());
    let _ = opened().evaluate(&[]);
    let taken = ALLOCATED.peak_usage().saturating_sub(before);
    let taken = if taken >= ASKED { taken - ASKED } else { taken };
    assert!(taken < MOST, "{} MiB are allocated for\n{text}", taken >> 20);
}
