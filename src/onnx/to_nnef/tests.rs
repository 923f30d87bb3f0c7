//! Translated models compute what the models compute.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use crate::Options;
use crate::eval::{Budget, Evaluator, Limits};
use crate::onnx::Document;
use crate::onnx::run::{Interpreter, Stores};
use crate::source::Sources;
use crate::tensor::value::RunValue;
use crate::tensor::{DType, Data, Tensor};
use crate::tests::all_near;

/// The document of a graph in an operator set.
fn document(version: i64, graph: &str) -> Document {
    let text = format!("<ir_version: 10, opset_import: [\"\" : {version}]>\n{graph}");
    let (mut sources, options) = (Sources::new(), Options::default());
    let (document, found) = Document::parse("test", text, &mut sources, &options);
    document.unwrap_or_else(|| panic!("{graph}: {:?}", found.iter().map(|found| &found.message).collect::<Vec<_>>()))
}

/// Values for an input: numbers between -2 and 2, or small integers.
fn value(shape: &[usize], dtype: DType, seed: usize) -> Tensor {
    let count = shape.iter().product();
    let number = |i: usize| ((i * 7919 + seed * 104_729 + 13) % 41) as f64 / 10.0 - 2.0;
    let data = match dtype {
        DType::Bool => Data::Bool((0..count).map(|i| number(i) > 0.0).collect()),
        dtype if dtype.is_integer() => Data::from_wide(dtype, (0..count).map(|i| i128::from((i * 5 + seed) as u8 % 3))),
        dtype => Data::from_floats(dtype, (0..count).map(number)),
    };
    Tensor::new(shape, data).unwrap()
}

/// The inputs of a document, with values.
fn inputs(document: &mut Document) -> Vec<(String, Tensor)> {
    use crate::onnx::model::{Extent, TypeForm};
    let model = document.model().unwrap();
    let graph = model.graph.as_ref().unwrap();
    let constant = |name| graph.initializers.iter().any(|constant| constant.name == name);
    let read = |(i, input): (usize, &crate::onnx::model::ValueInfo)| {
        let Some(TypeForm::Tensor(ty)) = input.ty.as_ref().map(|ty| &ty.form) else { panic!() };
        let extent = |extent| if let Extent::Value(value) = extent { value as usize } else { panic!() };
        let shape: Vec<usize> = ty.shape.as_ref().unwrap().dims.iter().map(|dim| extent(dim.extent)).collect();
        let dtype = crate::onnx::run::dtype_of(ty.element.unwrap()).unwrap();
        (model.names.text(input.name.unwrap()).to_owned(), value(&shape, dtype, i))
    };
    graph.inputs.iter().filter(|input| !constant(input.name)).enumerate().map(read).collect()
}

/// The outputs of a model.
fn run(document: &mut Document, inputs: &[(String, Tensor)]) -> Vec<Arc<Tensor>> {
    let options = Options::default();
    let (stores, budget) = (Stores::new(None), Budget::new(Limits::default()));
    let model = document.model().unwrap();
    let given = inputs
        .iter()
        .map(|(name, value)| (model.names.value_named(name).unwrap(), RunValue::Tensor(Arc::new(value.clone()))));
    let given: Vec<_> = given.collect();
    let interpreter = Interpreter::new(model, &stores, &budget, &options).unwrap_or_else(|_| panic!());
    let outputs = interpreter.run(given).unwrap_or_else(|failure| panic!("the model cannot be run: {failure:?}"));
    let tensor = |value| if let RunValue::Tensor(tensor) = value { tensor } else { panic!() };
    outputs.into_iter().map(tensor).collect()
}

/// Translates a graph and compares what both compute. Returns the text of the translation.
fn agrees(version: i64, graph: &str) -> String {
    agree(graph, &|| document(version, graph))
}

/// [`agrees`] for a document that a function makes.
fn agree(graph: &str, document: &dyn Fn() -> Document) -> String {
    let mut model = document();
    let given = inputs(&mut model);
    let wanted = run(&mut model, &given);
    let options = Options::default();
    let translated = document().translate(&options, Limits::default());
    let (flat, variables, _) = translated
        .unwrap_or_else(|found| panic!("{graph}: {:?}", found.iter().map(|found| &found.message).collect::<Vec<_>>()));
    let mut text = Vec::new();
    flat.write_nnef(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let renamed = flat.inputs.iter().zip(given).map(|(input, (_, value))| (flat.tensor_name(*input), value));
    let given: Vec<(String, Tensor)> = renamed.collect();
    let found = Evaluator::with_limits(Limits::default()).run(&flat, &given, &variables);
    let found = found.unwrap_or_else(|error| panic!("{text}\n{}", error.message));
    assert_eq!(found.outputs.len(), wanted.len(), "{text}");
    for ((name, found), wanted) in found.outputs.iter().zip(&wanted) {
        assert_eq!(found.shape(), wanted.shape(), "{name} of {text}");
        let tolerance = if wanted.dtype().is_float() { 1e-4 } else { 0.0 };
        let pair = (found.to_scalars(), wanted.to_scalars());
        assert!(all_near(&pair.0, &pair.1, tolerance), "{name}: {pair:?} of {text}");
    }
    text
}

/// The messages of a refused translation.
fn refused(version: i64, graph: &str, options: &Options) -> Vec<String> {
    match document(version, graph).translate(options, Limits::default()) {
        Ok(_) => panic!("{graph} is translated"),
        Err(found) => found.iter().map(|found| found.message.clone()).collect(),
    }
}

/// Bodies of graphs with the inputs `x` (2×3×4), `w` (4), `i` (2×3, integers) and `c` (2×3×4, logicals).
const BODIES: &[&str] = &[
    // Item by item.
    "y = Add (x, w)",
    "a = Abs (x) y = Sqrt (a)",
    "y = Where (c, x, w)",
    "a = Cast <to = 7> (x) b = Cast <to = 1> (i) y = Cast <to = 1> (a)",
    "k = Constant <value_float = 0.5> () y = Clip (x, , k)",
    "k = Constant <value_float = -0.5> () y = Max (x, w, k)",
    "k = Constant <value_int = 2> () y = Mod (i, k)",
    "y = Mod <fmod = 1> (x, w)",
    "k = Constant <value_float = 3.0> () y = Pow (x, k)",
    "y = Celu <alpha = 0.5> (x)",
    "y = Selu (x)",
    "y = Gelu <approximate = \"tanh\"> (x)",
    "y = Gelu (x)",
    "y = HardSwish (x)",
    "y = Mish (x)",
    "y = PRelu (x, w)",
    "y = Softplus (x)",
    "y = Sum (x, w, w)",
    "y = Mean (x, w)",
    "a = IsNaN (x) b = Not (a) y = And (b, c)",
    "y = BitwiseNot (i)",
    "y = Xor (c, c)",
    "u = Cast <to = 12> (i) k = BitShift <direction = \"LEFT\"> (u, u) y = Cast <to = 7> (k)",
    "u = Cast <to = 12> (i) k = BitShift <direction = \"RIGHT\"> (u, u) y = Cast <to = 7> (k)",
    "y = CastLike (i, w)",
    "y = Clip (x)",
    "k = Constant <value_float = -0.5> () l = Constant <value_float = 0.5> () y = Clip (x, k, l)",
    "y = Dropout (x)",
    "y = Elu <alpha = 0.5> (x)",
    "y = HardSigmoid <alpha = 0.3, beta = 0.4> (x)",
    "a = Log (x) y = IsInf (a)",
    "k = Constant <value_float = 0.0> () a = Div (x, k) y = IsInf <detect_negative = 0> (a)",
    "y = LeakyRelu <alpha = 0.2> (x)",
    "y = Min (x, w)",
    "y = Max (x)",
    "y = Max (i, i)",
    "y = Mean (x)",
    "y = Pow (x, w)",
    "y = Shrink <bias = 0.2, lambd = 0.7> (x)",
    "y = Sum (x)",
    "y = ThresholdedRelu <alpha = 0.65> (x)",
    // Shapes.
    "s = Shape (x) y = Expand (w, s)",
    "k = Constant <value_ints = [0, -1]> () y = Reshape (x, k)",
    "y = Flatten <axis = -1> (x)",
    "y = Transpose (x)",
    "y = Transpose <perm = [0, 2, 1]> (x)",
    "k = Constant <value_ints = [-1, 0]> () y = Unsqueeze (x, k)",
    "y = Concat <axis = -1> (x, x)",
    "a, b = Split <axis = 1, num_outputs = 2> (x) y = Concat <axis = 1> (b, a)",
    "s = Constant <value_ints = [5, 1, 3, 4]> () a = Expand (w, s) y = Identity (a)",
    "k = Constant <value_ints = [1, 2, 3]> () y = Tile (x, k)",
    "k = Constant <value_ints = [0, 1, -1, 0, 2, 1]> () y = Pad (x, k)",
    "k = Constant <value_ints = [0, 1, 1, 0, 1, 2]> () y = Pad <mode = \"reflect\"> (x, k)",
    "k = Constant <value_ints = [0, 1, 1, 0, 1, 2]> () y = Pad <mode = \"edge\"> (x, k)",
    "k = Constant <value_ints = [0, 1, 1, 0, 1, 2]> () y = Pad <mode = \"wrap\"> (x, k)",
    "k = Constant <value_ints = [0, 0, 1, 0, 0, -1]> () v = Constant <value_float = 9.0> () y = Pad (x, k, v)",
    "k = Constant <value_ints = [1, 2]> () a = Constant <value_ints = [-1]> () y = Pad (x, k, , a)",
    "k = Constant <value_ints = [1, 4, 2, 3]> () a = Reshape (x, k) y = DepthToSpace <blocksize = 2> (a)",
    "k = Constant <value_ints = [1, 4, 2, 3]> () a = Reshape (x, k) y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (a)",
    "k = Constant <value_ints = [1, 1, 4, 6]> () a = Reshape (x, k) y = SpaceToDepth <blocksize = 2> (a)",
    "y = Size (x)",
    "y = Shape <start = 1, end = 3> (x)",
    "s = Constant <value_ints = [1, 3]> () a, b = Split <axis = 2> (x, s) y = Concat <axis = -1> (b, a)",
    "a = Unsqueeze (x, o) y = Squeeze (a)",
    "a = Unsqueeze (x, o) y = Squeeze (a, o)",
    "y = Flatten <axis = 0> (x)",
    "k = Constant <value_ints = [6, -1]> () y = Reshape <allowzero = 1> (x, k)",
    // Selection.
    "s = Constant <value_ints = [-1, 0]> () e = Constant <value_ints = [-9, 9]> () a = Constant <value_ints = [2, 1]> ()
     t = Constant <value_ints = [-1, 2]> () y = Slice (x, s, e, a, t)",
    "y = Gather <axis = 1> (x, i)",
    "k = Constant <value_ints = [-1, 0]> () y = Gather <axis = 2> (x, k)",
    "k = Constant <value_int = -1> () y = Gather <axis = 1> (x, k)",
    "a = GatherElements <axis = 1> (i, i) y = Cast <to = 1> (a)",
    "d = Constant <value_int = 4> () v = Constant <value_floats = [0.5, 2.0]> () y = OneHot <axis = 0> (i, d, v)",
    "k = Constant <value_ints = [2]> () v, t = TopK <axis = 1> (x, k) q = Cast <to = 1> (t) y = Add (v, q)",
    "y = Trilu <upper = 0> (x)",
    "k = Constant <value_int = 1> () y = Trilu (x, k)",
    "k = Constant <value: tensor = bool[3] {1, 0, 1}> () y = Compress <axis = 1> (x, k)",
    "k = Constant <value: tensor = bool[5] {0, 1, 1, 0, 1}> () y = Compress (x, k)",
    "a = Flatten (x) e = EyeLike <k = 1> (a) y = Add (a, e)",
    "k = Constant <value_ints = [1, 2, 3, 4]> () a = Reshape (x, k) g = Constant <value: tensor = float[1,2,2,2] {-1, 0.5, 0.25, 0, 1, -0.5, 0, 0.75}> () y = GridSample (a, g)",
    "k = Constant <value: tensor = int64[2,2] {0, 1, 1, 2}> () y = GatherND (x, k)",
    "y = Gather (w, i)",
    "k = Constant <value: tensor = int64[1,2,1] {0, 2}> () u = Constant <value: tensor = float[1,2,1] {9, 8}> () y = ScatterElements <axis = 1> (x, k, u)",
    "k = Constant <value: tensor = int64[1,1] {1}> () u = Slice (x, o, p) y = ScatterND (x, k, u)",
    "k = Constant <value_ints = [1]> () v, t = TopK <axis = 2> (x, k) q = Cast <to = 1> (t) y = Add (v, q)",
    "k = Constant <value_ints = [2]> () v, t = TopK <axis = 1, largest = 0> (x, k) y = Identity (v)",
    "a = Constant <value_float = 0.0> () b = Constant <value_float = 2.0> () d = Constant <value_float = 0.5> () r = Range (a, b, d) y = Add (r, w)",
    "d = Constant <value_int = 4> () v = Constant <value_floats = [0.5, 2.0]> () y = OneHot (i, d, v)",
    // Reductions.
    "y = ReduceSum (x)",
    "k = Constant <value_ints = [-1]> () y = ReduceMean <keepdims = 0> (x, k)",
    "k = Constant <value_ints = [1]> () y = ReduceL2 (x, k)",
    "k = Constant <value_ints = [0, 2]> () y = ReduceLogSumExp (x, k)",
    "k = Constant <value_ints = [1]> () y = ReduceProd (x, k)",
    "k = Constant <value_ints = [1]> () y = ReduceMax (c, k)",
    "y = ArgMax <axis = 2, keepdims = 0> (x)",
    "y = ArgMin <axis = 1, select_last_index = 1> (x)",
    "y = Softmax (x)",
    "y = LogSoftmax <axis = 1> (x)",
    "y = Hardmax <axis = 1> (x)",
    "k = Constant <value_int = 1> () y = CumSum <exclusive = 1, reverse = 1> (x, k)",
    "y = LpNormalization <axis = 1> (x)",
    "y = LpNormalization <p = 1> (x)",
    "k = Constant <value_int = 2> () y = CumSum (x, k)",
    "y = GlobalMaxPool (x)",
    "y = GlobalLpPool <p = 1> (x)",
    "y = ReduceL1 <keepdims = 0> (x)",
    "a = Exp (x) y = ReduceLogSum (a)",
    "y = ReduceMin (x)",
    "k = Constant <value_ints = [1]> () y = ReduceMin (c, k)",
    "y = ReduceSumSquare <keepdims = 0> (x)",
    "y = ReduceSum <noop_with_empty_axes = 1> (x)",
    "y = ArgMax <axis = 1, select_last_index = 1> (x)",
    "y = ArgMin <axis = 0> (x)",
    "y = Softmax <axis = 1> (x)",
    // Products.
    "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (x, t)",
    "y = MatMul (x, w)",
    "a = Flatten (x) t = Transpose (a) y = Gemm <alpha = 0.5, transA = 1, transB = 1> (t, a)",
    "y = Einsum <equation = \"bij,bkj->bik\"> (x, x)",
    "y = Einsum <equation = \"...j,j\"> (x, w)",
    "y = Einsum <equation = \"bij->jb\"> (x)",
    "y = Einsum <equation = \"i,j->ij\"> (w, w)",
    "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (w, t)",
    "a = Flatten (x) t = Transpose (a) k = Constant <value_floats = [1.0, 2.0]> () y = Gemm <beta = 2.0> (a, t, k)",
    "a = Cast <to = 2> (i) t = Transpose (a) y = MatMulInteger (a, t)",
    "a = Cast <to = 2> (i) t = Transpose (a) z = Constant <value: tensor = uint8 {1}> () y = MatMulInteger (a, t, z, z)",
    // Normalizations.
    "y = LayerNormalization (x, w)",
    "y = RMSNormalization (x, w)",
    "s = Constant <value_floats = [1.0, 2.0, 3.0]> () y = InstanceNormalization (x, s, s)",
    "s = Constant <value_floats = [1.0, 2.0, 3.0]> () y = GroupNormalization <num_groups = 3> (x, s, s)",
    "m = Constant <value_floats = [0.1, 0.2, 0.3]> () v = Constant <value_floats = [1.0, 2.0, 3.0]> ()
     y = BatchNormalization (x, v, m, m, v)",
    "y = LRN <size = 3> (x)",
    "a = Slice (x, o, p) q = Squeeze (a, o) y = LayerNormalization <axis = 1> (x, q, q)",
    // Windows.
    "y = MaxPool <kernel_shape = [2], pads = [1, 0], ceil_mode = 1, strides = [2]> (x)",
    "y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1, ceil_mode = 1, strides = [2]> (x)",
    "y = AveragePool <kernel_shape = [3], auto_pad = \"SAME_LOWER\"> (x)",
    "y = LpPool <kernel_shape = [2], p = 2> (x)",
    "y = GlobalAveragePool (x)",
    "y = MaxPool <kernel_shape = [3], auto_pad = \"SAME_UPPER\"> (x)",
    "y = MaxPool <kernel_shape = [2], dilations = [2]> (x)",
    "f = Constant <value: tensor = float[3,1,2] {1, 2, 3, 4, 5, 6}> () b = Constant <value_floats = [1.0, 2.0, 3.0]> () y = Conv <group = 3> (x, f, b)",
    "f = Constant <value: tensor = float[3,1,2] {1, 2, 3, 4, 5, 6}> () y = ConvTranspose <output_shape = [8], strides = [2]> (x, f)",
    "t = Slice (x, o, p) y = Conv <pads = [1, 1], kernel_shape = [4]> (x, t)",
    "t = Slice (x, o, p) r = Transpose <perm = [1, 0, 2]> (t) y = ConvTranspose <strides = [2], output_padding = [1]> (x, r)",
    // Resampling and recurrent layers.
    "k = Constant <value_floats = [1.0, 1.0, 2.0]> () y = Resize <mode = \"nearest\", nearest_mode = \"floor\", coordinate_transformation_mode = \"asymmetric\"> (x, , k)",
    "k = Constant <value_ints = [2, 3, 7]> () y = Resize <mode = \"linear\"> (x, , , k)",
    "k = Constant <value_ints = [2, 5, 4]> () y = Resize <mode = \"cubic\"> (x, , , k)",
    "k = Constant <value_ints = [2, 3, 8]> () y = Resize <mode = \"nearest\"> (x, , , k)",
    "k = Constant <value_ints = [2, 3, 7]> () y = Resize <mode = \"linear\", coordinate_transformation_mode = \"align_corners\"> (x, , , k)",
    // Quantization.
    "s = Constant <value_float = 0.1> () z = Constant <value: tensor = uint8 {128}> () q = QuantizeLinear (x, s, z)
     y = DequantizeLinear (q, s, z)",
    "s = Constant <value_floats = [0.1371, 0.1713, 0.2317]> () z = Constant <value: tensor = int8[3] {0, 1, 2}> () q = QuantizeLinear <axis = 1> (x, s, z) y = DequantizeLinear <axis = 1> (q, s, z)",
    "k = Constant <value_ints = [1, 1, 2, 3]> () a = Reshape (i, k) u = Cast <to = 2> (a) f = Constant <value: tensor = uint8[1,1,1,2] {1, 2}> () y = ConvInteger (u, f)",
    "s = Constant <value_float = 0.1371> () z = Constant <value: tensor = uint8 {128}> () q = QuantizeLinear (x, s, z) t = Transpose <perm = [0, 2, 1]> (q) r = QLinearMatMul (q, s, z, t, s, z, s, z) y = DequantizeLinear (r, s, z)",
    "s = Constant <value_float = 0.1371> () z = Constant <value: tensor = uint8 {128}> () q = QuantizeLinear (x, s, z) f = Constant <value: tensor = uint8[1,3,1] {129, 130, 127}> () r = QLinearConv (q, s, z, f, s, z, s, z) y = DequantizeLinear (r, s, z)",
    // Control flow and sequences.
    "k = Constant <value_int = 3> () y = Loop (k, , x) <body = b (int64 n, bool t, float[2,3,4] a) => (bool u, float[2,3,4] d) { u = Identity (t) d = Add (a, w) }>",
    "z = ReduceSum <keepdims = 0> (x) k = Constant <value_float = 1.0> () t = Greater (z, k)
     y = If (t) <then_branch = a () => (float[2,3,4] m) { m = Neg (x) }, else_branch = b () => (float[2,3,4] n) { n = Abs (x) }>",
    "s = SplitToSequence <axis = 1> (x) l = SequenceLength (s) k = Constant <value_int = 1> () a = SequenceAt (s, k)
     y = ConcatFromSequence <axis = 1> (s)",
    "s = SequenceConstruct (x, x) k = Constant <value_int = 0> () t = SequenceInsert (s, x, k) u = SequenceErase (t, k) y = SequenceAt (u, k)",
    "s = SequenceEmpty () t = SequenceInsert (s, x) y = ConcatFromSequence <axis = 0, new_axis = 1> (t)",
    "k = Constant <value_ints = [1, 2]> () s = SplitToSequence <axis = 1> (x, k) y = ConcatFromSequence <axis = 1> (s)",
    "s = SplitToSequence <axis = 1, keepdims = 0> (x) y = ConcatFromSequence <axis = 0> (s)",
    "s = SequenceConstruct (x) y = SequenceLength (s)",
    "k = Constant <value_int = 3> () z, y = Loop (k, , w) <body = b (int64 n, bool t, float[4] a) => (bool u, float[4] d, float[4] e) { u = Identity (t) d = Add (a, w) e = Mul (d, a) }>",
    "a = Slice (x, o, p) q = Squeeze (a, o) z, y = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] v) => (float[4] r, float[4] m) { r = Add (s, v) m = Mul (r, v) }> (w, q)",
    "a = Slice (x, o, p) q = Squeeze (a, o) z, y = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1], body = b (float[4] s, float[4] v) => (float[4] r, float[4] m) { r = Add (s, v) m = Mul (r, v) }> (w, q)",
    // Bodies of compounds.
    "y = MeanVarianceNormalization <axes = [0, 2]> (x)",
    "a = Unsqueeze (x, o) y = Attention (a, a, a)",
];

/// Operators that are functions of items.
const OF_ITEMS: &[&str] = &[
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Erf",
    "Exp",
    "Floor",
    "Log",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softsign",
    "Tan",
    "Tanh",
];

/// Operators that are functions of pairs of numbers, and of pairs of integers.
const OF_PAIRS: &[(&str, &str)] = &[
    ("Div", "x, w"),
    ("Equal", "x, w"),
    ("Greater", "x, w"),
    ("GreaterOrEqual", "x, w"),
    ("Less", "x, w"),
    ("LessOrEqual", "x, w"),
    ("Mul", "x, w"),
    ("Sub", "x, w"),
    ("BitwiseAnd", "i, i"),
    ("BitwiseOr", "i, i"),
    ("BitwiseXor", "i, i"),
    ("Or", "c, c"),
];

#[test]
fn operators_compute_the_same() {
    let differs = |body: &&String| {
        let head = "g (float[2,3,4] x, float[4] w, int64[2,3] i, bool[2,3,4] c) => (y)\n";
        let graph = format!("{head}<int64[1] o = {{0}}, int64[1] p = {{1}}>\n{{ {body} }}");
        std::panic::catch_unwind(|| agrees(23, &graph)).is_err()
    };
    let of_items = OF_ITEMS.iter().map(|operator| format!("y = {operator} (x)"));
    let of_pairs = OF_PAIRS.iter().map(|(operator, operands)| format!("y = {operator} ({operands})"));
    let bodies: Vec<String> = BODIES.iter().map(|body| (*body).to_owned()).chain(of_items).chain(of_pairs).collect();
    let found: Vec<&String> = bodies.iter().filter(differs).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn recurrent_layers_are_their_steps() {
    for (call, gates, state) in [
        ("LSTM <hidden_size = 2, direction = \"bidirectional\">", 8, 2),
        ("GRU <hidden_size = 2, direction = \"bidirectional\", linear_before_reset = 1>", 6, 1),
        ("GRU <hidden_size = 2, direction = \"bidirectional\">", 6, 1),
        ("RNN <hidden_size = 2, direction = \"bidirectional\", activations = [\"Relu\", \"Tanh\"]>", 2, 1),
    ] {
        let results = if state == 2 { "y, h, k" } else { "y, h" };
        let graph = format!(
            "g (float[3,2,4] x, float[2,{gates},4] w, float[2,{gates},2] r, float[2,{}] b) => ({results})\n\
             {{ {results} = {call} (x, w, r, b) }}",
            2 * gates
        );
        agrees(22, &graph);
    }
}

#[test]
fn maxima_of_integers_are_integers() {
    let window = "kernel_shape = [1, 3], dilations = [1, 2], pads = [2, 0, 0, 2], strides = [3, 3]";
    let text = agrees(12, &format!("g (int8[1,1,3,5] x) => (y) {{ y = MaxPool <{window}> (x) }}"));
    assert!(text.contains("y = cast<integer>("), "{text}");
}

#[test]
fn texts_name_what_is_used() {
    let head = "g (float[2,3] x) => (y)";
    let plain = agrees(22, &format!("{head} {{ y = Relu (x) }}"));
    assert!(plain.contains("y = relu(x);") && !plain.contains("extension"), "{plain}");
    let registry = agrees(22, &format!("{head} {{ y = Erf (x) }}"));
    assert!(
        registry.contains("extension tract_registry tract_core;") && registry.contains("tract_core_erf(x)"),
        "{registry}"
    );
}

/// Bodies of graphs with an input `x` (1×2×2×3), and what is in the text of each.
const PLAIN: &[(&str, &[&str])] = &[
    ("y = Relu (x)", &["y = relu(x);"]),
    ("y = Max (x, x)", &["y = max(x, x);"]),
    ("a = Abs (x) b = Sqrt (x) y = Add (a, b)", &["b = sqrt(x);"]),
    (
        "l = Constant <value_float = 0.0> () h = Constant <value_float = 6.0> () y = Clip (x, l, h)",
        &["y = clamp(x, 0.0, 6.0);"],
    ),
    ("l = Constant <value_float = 0.0> () y = Clip (x, l)", &["y = max(0.0, x);"]),
    ("a = Sigmoid (x) y = Mul (a, x)", &["{\n    x = external(shape = [1, 2, 2, 3]);\n    y = silu(x);\n}"]),
    (
        "k = Constant <value_float = 1.702> () a = Mul (k, x) b = Sigmoid (a) y = Mul (x, b)",
        &["{\n    x = external(shape = [1, 2, 2, 3]);\n    y = gelu(x);\n}"],
    ),
    (
        "k = Constant <value_float = 1.702> () a = Mul (x, k) b = Sigmoid (a) d = Mul (x, b) y = Add (d, a)",
        &["d = gelu(x);", "a = mul(x, 1.702);"],
    ),
    (
        "k = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> () y = Resize (x, , k)",
        &["y = nearest_upsample(x, factor = [2, 2]);"],
    ),
    (
        "k = Constant <value_floats = [1.0, 1.0, 2.0, 3.0]> () y = Resize <coordinate_transformation_mode = \"asymmetric\", \
         nearest_mode = \"floor\"> (x, , k)",
        &["y = nearest_upsample(x, factor = [2, 3]);"],
    ),
    (
        "k = Constant <value_floats = [1.0, 1.0, 0.5, 1.0]> () y = Resize <coordinate_transformation_mode = \"asymmetric\", \
         nearest_mode = \"floor\"> (x, , k)",
        &["y = nearest_downsample(x, factor = [2, 1]);"],
    ),
    (
        "k = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> () y = Resize <mode = \"linear\"> (x, , k)",
        &["y = multilinear_upsample(x, factor = [2, 2], method = 'symmetric', border = 'replicate');"],
    ),
    (
        "k = Constant <value_ints = [1, 2, 4, 3]> () y = Resize <mode = \"linear\", \
         coordinate_transformation_mode = \"align_corners\"> (x, , , k)",
        &["y = multilinear_upsample(x, factor = [2, 1], method = 'aligned', border = 'replicate');"],
    ),
    (
        "y = LayerNormalization (x, w)",
        &[
            "(y_moments1, y_moments2) = moments(x, axes = [3]);",
            "    w = constant(shape = [1, 1, 1, 3]",
            "y = batch_normalization(x, y_moments1, y_moments2, 0.0, w, ",
        ],
    ),
    ("y = InstanceNormalization (x, c, c)", &["    c = constant(shape = [1, 2], ", "moments(x, axes = [2, 3])"]),
    ("y = GroupNormalization <num_groups = 1> (x, c, c)", &["    c = constant(shape = [1, 2, 1, 1], "]),
    ("y = LRN <size = 2, alpha = 0.5> (x)", &["y = local_response_normalization(x, size = [1, 2, 1, 1], "]),
    ("y = MatMul (x, m)", &["    m = variable(shape = [1, 1, 3, 3], label = 'm');", "y = matmul(x, m);"]),
    ("a = MatMul (x, m) b = Add (a, w) d = Mul (w, w) y = Mul (b, d)", &["    m = variable(", "    w = constant("]),
];

#[test]
fn what_is_written_is_what_one_would_write() {
    let constants = "float[3] w = {0.5, -1, 2}, float[2] c = {0.5, 2}, float[3,3] m = {1, 2, 3, 4, 5, 6, 7, 8, 9}";
    for (body, wanted) in PLAIN {
        let text = agrees(21, &format!("g (float[1,2,2,3] x) => (y) <{constants}> {{ {body} }}"));
        for wanted in *wanted {
            assert!(text.contains(wanted), "{body} has no {wanted}\n{text}");
        }
    }
}

/// Strict translations are exact, also where an operand is NaN, infinite or a zero.
#[test]
fn strict_translations_have_formulas() {
    let strict = Options::default().with(|options| options.strict = true);
    let graph = "g (float[7] x, float[7] z) => (a, b, c, d) <float l = {0}, float h = {6}> \
                 { a = Relu (x) b = Max (x, z) c = Sqrt (x) d = Clip (x, l, h) }";
    let items = vec![f32::NAN, f32::NEG_INFINITY, -0.0, 0.0, f32::INFINITY, -1.0, 2.0];
    let tensor = |items: Vec<f32>| Tensor::new(&[7], Data::Float32(items)).unwrap();
    let given = [("x".to_owned(), tensor(items)), ("z".to_owned(), tensor(vec![1.0; 7]))];
    let wanted = run(&mut document(21, graph), &given);
    let (flat, variables, _) = document(21, graph).translate(&strict, Limits::default()).unwrap();
    let found = Evaluator::with_limits(Limits::default()).run(&flat, &given, &variables).unwrap();
    assert_eq!(found.outputs.len(), wanted.len());
    for ((name, found), wanted) in found.outputs.iter().zip(&wanted) {
        assert_eq!(found.shape(), wanted.shape(), "{name}");
        let same = |(a, b): (&f64, &f64)| (*a as f32).to_bits() == (*b as f32).to_bits() || a.is_nan() && b.is_nan();
        let (found, wanted) = (found.to_scalars(), wanted.to_scalars());
        assert!(found.iter().zip(&wanted).all(same), "{name}: {found:?}, {wanted:?}");
    }
}

#[test]
fn integers_are_written_exactly() {
    for dtype in ["int32", "uint32", "int64", "uint64"] {
        let graph = format!(
            "g ({dtype}[3] x) => (y, z, u) <{dtype} c = {{1791095845}}, {dtype}[1] d = {{16777217}}> \
             {{ y = Add (x, c)  z = Mul (x, d)  u = Less (x, c) }}"
        );
        let text = agrees(18, &graph);
        assert!(text.contains("add(x, 1791095845)") && text.contains("mul(x, 16777217)"), "{text}");
    }
}

#[test]
fn what_has_no_counterpart_is_told() {
    let options = Options::default();
    let told = |graph: &str, options: &Options| refused(22, graph, options);
    let found = told("g (float[2,3] x, string[1] s) => (y, z) { y = Det (x) z = Det (x) }", &options);
    assert!(found.iter().any(|message| message.contains("the input `s`")), "{found:?}");
    assert_eq!(found.iter().filter(|message| message.contains("`Det` of")).count(), 2, "{found:?}");
    let found = told("g (float[N,3] x) => (y) { y = Relu (x) }", &options);
    assert!(found[0].contains("--input-shape x="), "{found:?}");
    let found = told("g (float[2,3] x) => (y) { y = Erf (x) }", &options.clone().with(|options| options.strict = true));
    assert!(found[0].contains("`tract_core_erf`"), "{found:?}");
}

#[test]
fn names_become_identifiers() {
    let text =
        agrees(22, "g (float[2] \"a.b\", float[2] \"a b\") => (\"graph\") { \"graph\" = Add (\"a.b\", \"a b\") }");
    assert!(text.contains("graph model(a_b, a_b_2) -> (graph_)"), "{text}");
    // Labels have the slashes and dots that identifiers lack.
    let constant = |name: &str| format!("float[9] \"{name}\" = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}");
    let [a, b] = ["/enc.0/w", "enc.0/W"].map(constant);
    let graph = format!("g (float[9] x) => (y) <{a}, {b}> {{ t = Add (x, \"/enc.0/w\") y = Mul (t, \"enc.0/W\") }}");
    let text = agrees(22, &graph);
    for wanted in [
        "_enc_0_w = variable(shape = [9], label = 'enc.0/w');",
        "enc_0_W = variable(shape = [9], label = 'enc.0/W_2');",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
}

/// Extents are any numbers, and become memory only where the limits are asked: by `room`, `filled` and `zeros` of the
/// emitter. Lists with an item for each axis are made by `for_axes`.
#[test]
fn rules_make_nothing_of_extents_themselves() {
    let rules = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/onnx/to_nnef/rules");
    for file in std::fs::read_dir(rules).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let lists = text.lines().filter(|line| {
            let lists =
                line.split("vec![").skip(1).any(|rest| rest.split(']').next().is_some_and(|list| list.contains("; ")));
            lists || line.contains("Data::zeros(") || line.contains(".repeat(") || line.contains("with_capacity(extent")
        });
        assert_eq!(lists.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", path.display());
    }
}

/// A limit that stops several nodes is told once, and not as if there was no operation for them.
#[test]
fn limits_are_told_once() {
    let constants = "<float[2] v = {0.0, 1.0}, int64 k = {17179869184}>";
    let nodes = "{ y = OneHot (i, k, v) z = OneHot <axis = 0> (i, k, v) }";
    let graph = format!("g (int64[2] i) => (float[A, B] y, float[C, D] z) {constants} {nodes}");
    let found = document(25, &graph).translate(&Options::default(), Limits::default()).map(drop).unwrap_err();
    let told: Vec<_> = found.iter().map(|found| (found.code, found.message.contains("is not translated"))).collect();
    assert_eq!(told, [(crate::diagnostics::Code::EvalMemory, true)]);
}

/// Constants that are read when they are needed are those that are in memory.
#[test]
fn long_constants_are_translated() {
    let items = |count: usize| (0..count).map(|i| format!("{}.25", i as i64 % 7 - 3)).collect::<Vec<_>>().join(", ");
    let constants = format!("<float[300] b = {{{}}}, float[4, 300] m = {{{}}}>", items(300), items(1200));
    for body in [
        "y = MatMul (x, m)",
        "p = MatMul (x, m) y = Add (p, b)",
        "p = MatMul (x, m) q = Add (b, p) y = Mul (q, b)",
        "p = MatMul (x, m) n = Cast <to = 10> (b) a = Cast <to = 1> (n) y = Add (p, a)",
        "k = Constant <value_ints = [2, 0]> () y = Gather (m, k)",
        "k = Constant <value_ints = [4, 300]> () r = Reshape (m, k) p = MatMul (x, r) y = Add (p, b)",
    ] {
        let graph = format!("g (float[2, 4] x) => (float[R, S] y) {constants} {{ {body} }}");
        agrees(21, &graph);
    }
}

/// The text of ONNX has no sparse constants, so the message of one is appended to that of a model.
#[test]
fn sparse_constants_are_translated() {
    use crate::onnx::protobuf::push_packed;
    let field = |number: u64, payload: &[u8]| {
        let mut bytes = Vec::new();
        push_packed(&mut bytes, number << 3 | 2);
        push_packed(&mut bytes, payload.len() as u64);
        [bytes, payload.to_vec()].concat()
    };
    let raw: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|item| item.to_le_bytes()).collect();
    let places: Vec<u8> = [1i64, 4].iter().flat_map(|item| item.to_le_bytes()).collect();
    let values = [&[0x08, 2, 0x10, 1][..], &field(8, b"s"), &field(9, &raw)].concat();
    let indices = [&[0x08, 2, 0x10, 7][..], &field(9, &places)].concat();
    let sparse = [field(1, &values), field(2, &indices), vec![0x18, 6]].concat();
    let graph = "g (float[6] x) => (float[6] y) { y = Add (x, s) }";
    let text = agree(graph, &|| {
        let bytes = [document(21, graph).to_protobuf(), field(7, &field(15, &sparse))].concat();
        Document::decode("m", bytes, &mut Sources::new(), &Options::default()).0.unwrap()
    });
    assert!(text.contains("[0.0, 1.5, 0.0, 0.0, -2.0, 0.0]"), "{text}");
}
