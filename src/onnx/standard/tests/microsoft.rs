//! Laws of the bodies of the operators of onnxruntime. tests/interop/contrib_operators.py compares them with onnxruntime.

use super::{BodyTable, codes, lowering};
use crate::diagnostics::Code;
use crate::onnx::Document;
use crate::onnx::schema::{MICROSOFT_DOMAIN, SchemaLookup, Schemas};
use crate::onnx::standard::microsoft::TABLE;
use crate::source::Sources;
use crate::tests::is_table_of;
use crate::{Lower, Options};

/// A call of each operator: its name, inputs, results and the call without its domain. `#` stands for what the graph
/// defines in front of the call.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("SimplifiedLayerNormalization", "float[2,3,4] x, float[4] s", "float[2,3,4] y = <axis = -1> (x, s)"),
    (
        "Attention",
        "float[2,3,4] x, float[4,12] w, float[12] b, int32[2] m",
        "float[2,3,4] y = <num_heads = 2, unidirectional = 1> (x, w, b, m)",
    ),
    (
        "Attention",
        "float[2,3,4] x, float[4,12] w, float[2,2,2,5,2] p",
        "float[2,3,4] y, float[2,2,2,8,2] q = <num_heads = 2> (x, w, , , p)",
    ),
    ("BiasAdd", "float[2,3,4] x, float[4] b, float[2,3,4] s", "float[2,3,4] y = (x, b, s)"),
    ("BiasDropout", "float[3,4] x, float[4] b, float[3,4] r", "float[3,4] y, bool[3,4] m = (x, b, r)"),
    ("BiasGelu", "float[3,4] x, float[4] b", "float[3,4] y = (x, b)"),
    ("BiasSplitGelu", "float[2,3,4] x, float[4] b", "float[2,3,2] y = (x, b)"),
    ("CDist", "float[3,4] a, float[5,4] b", "float[3,5] y = <metric = \"euclidean\"> (a, b)"),
    ("DequantizeLinear", "uint16[3,4] x, float[4] s, uint16[4] z", "float[3,4] y = <axis = 1> (x, s, z)"),
    (
        "DynamicQuantizeLSTM",
        "float[3,1,4] x, int8[2,4,20] w, int8[2,5,20] r, float[2,40] b, float[2] s, int8[2] z",
        "float[3,2,1,5] y, float[2,1,5] h, float[2,1,5] c = <hidden_size = 5, direction = \"bidirectional\"> (x, w, r, b, , , , , s, z, s, z)",
    ),
    ("DynamicQuantizeMatMul", "float[3,4] a, int8[4,5] b, float[5] s", "float[3,5] y = (a, b, s)"),
    (
        "EmbedLayerNormalization",
        "int32[2,3] i, float[7,4] w, float[5,4] p, float[4] g, float[4] b, int32[2,3] m",
        "float[2,3,4] y, int32[2] n = (i, , w, p, , g, b, m)",
    ),
    ("ExpandDims", "float[3,4] x", "# axis = Constant <value = int32 {1}> () | float[3,1,4] y = (x, axis)"),
    ("FastGelu", "float[3,4] x, float[4] b", "float[3,4] y = (x, b)"),
    (
        "FusedConv",
        "float[1,2,5,5] x, float[3,2,3,3] w, float[3] b, float[1,3,5,5] z",
        "float[1,3,5,5] y = <activation = \"LeakyRelu\", activation_params = [0.1], pads = [1,1,1,1]> (x, w, b, z)",
    ),
    ("FusedGemm", "float[3,4] a, float[5,4] b", "float[3,5] y = <activation = \"Relu\", transB = 1> (a, b)"),
    ("FusedMatMul", "float[2,6,3,4] a, float[2,6,5,4] b", "float[2,6,3,5] y = <transB = 1, alpha = 0.5> (a, b)"),
    (
        "GatherBlockQuantized",
        "uint8[6,16] d, int64[2,3] i, float[6,2] s, uint8[6,1] z",
        "float[2,3,32] y = <bits = 4, block_size = 16> (d, i, s, z)",
    ),
    ("GatherND", "float[3,4] x, int32[2,1] i", "float[2,4] y = (x, i)"),
    ("Gelu", "float[3,4] x", "float[3,4] y = (x)"),
    ("GridSample", "float[1,2,4,5] x, float[1,3,3,2] g", "float[1,2,3,3] y = <mode = \"bicubic\"> (x, g)"),
    (
        "GroupQueryAttention",
        "float[1,1,32] q, float[1,1,16] k, float[1,1,16] v, float[1,1,3,16] pk, float[1,1,3,16] pv, float[8,8] c, float[8,8] s",
        "# n = Constant <value = int32[1] {3}> () t = Constant <value = int32 {4}> () | float[1,1,32] y, float[1,1,4,16] nk, float[1,1,4,16] nv = <num_heads = 2, kv_num_heads = 1, do_rotary = 1, smooth_softmax = 1> (q, k, v, pk, pv, n, t, c, s)",
    ),
    ("Inverse", "float[2,3,3] x", "float[2,3,3] y = (x)"),
    (
        "MatMulBnb4",
        "float[3,32] a, uint8[32] b, float[4] m",
        "float[3,2] y = <K = 32, N = 2, block_size = 16, quant_type = 1> (a, b, m)",
    ),
    ("MatMulInteger16", "int16[3,4] a, int16[4,5] b", "int32[3,5] y = (a, b)"),
    ("MatMulIntegerToFloat", "uint8[3,4] a, int8[4,5] b, float s, float[5] t", "float[3,5] y = (a, b, s, t)"),
    (
        "MatMulNBits",
        "float[3,40] a, uint8[5,3,8] b, float[5,3] s, uint8[5,2] z",
        "float[3,5] y = <K = 40, N = 5, bits = 4, block_size = 16> (a, b, s, z)",
    ),
    ("MulInteger", "uint8[3] a, uint8 z, uint8[3] b", "int32[3] y = (a, z, b)"),
    (
        "MultiHeadAttention",
        "float[2,3,8] q, float[2,5,8] k, float[2,5,8] v, float[24] b, int32[2,5] m",
        "float[2,3,8] y = <num_heads = 2> (q, k, v, b, m)",
    ),
    ("NhwcMaxPool", "uint8[1,4,4,2] x", "uint8[1,2,2,2] y = <kernel_shape = [2,2], strides = [2,2]> (x)"),
    ("Pad", "float[3] x", "# pads = Constant <value = int64[2] {1, 2}> () | float[6] y = (x, pads)"),
    (
        "QAttention",
        "uint8[2,3,4] x, int8[4,12] w, float[12] b, float s, float t",
        "float[2,3,4] y = <num_heads = 2> (x, w, b, s, t)",
    ),
    (
        "QEmbedLayerNormalization",
        "int32[2,3] i, uint8[7,4] w, uint8[5,4] p, uint8[4] g, uint8[4] b, float s, uint8 z",
        "float[2,3,4] y, int32[2] n = (i, , w, p, , g, b, , s, s, , s, s, z, z, , z, z)",
    ),
    (
        "QGemm",
        "uint8[3,4] a, float s, uint8 z, uint8[4,5] b, int32[5] c",
        "float[3,5] y = <alpha = 0.5> (a, s, z, b, s, z, c)",
    ),
    ("QLinearAdd", "uint8[3,4] a, float s, uint8 z, uint8[4] b", "uint8[3,4] y = (a, s, z, b, s, z, s, z)"),
    (
        "QLinearAveragePool",
        "uint8[1,4,4,2] x, float s, uint8 z",
        "uint8[1,3,3,2] y = <kernel_shape = [2,2], channels_last = 1> (x, s, z, s, z)",
    ),
    ("QLinearConcat", "int8[3,4] a, float s, int8 z, int8[3,2] b", "int8[3,6] y = <axis = 1> (s, z, a, s, z, b, s, z)"),
    (
        "QLinearConv",
        "uint8[1,5,5,2] x, float s, uint8 z, uint8[3,2,3,3] w",
        "uint8[1,3,3,3] y = <channels_last = 1> (x, s, z, w, s, z, s, z)",
    ),
    ("QLinearGlobalAveragePool", "uint8[1,2,4,4] x, float s, uint8 z", "uint8[1,2,1,1] y = (x, s, z, s, z)"),
    ("QLinearLeakyRelu", "int8[3] x, float s, int8 z", "int8[3] y = <alpha = 0.2> (x, s, z, s, z)"),
    ("QLinearMul", "uint8[3,4] a, float s, uint8 z, uint8[4] b", "uint8[3,4] y = (a, s, z, b, s, z, s, z)"),
    ("QLinearReduceMean", "uint8[3,4] x, float s, uint8 z", "uint8[3] y = <axes = [1], keepdims = 0> (x, s, z, s, z)"),
    ("QLinearSigmoid", "uint8[3] x, float s, uint8 z", "uint8[3] y = (x, s, z, s, z)"),
    ("QLinearSoftmax", "uint8[2,3,4] x, float s, uint8 z", "uint8[2,3,4] y = <opset = 12, axis = 1> (x, s, z, s, z)"),
    ("QLinearWhere", "bool[3] c, uint8[3] x, float s, uint8 z, uint8[3] w", "uint8[3] y = (c, x, s, z, w, s, z, s, z)"),
    ("QuantizeLinear", "float[3,4] x, float s, int16 z", "int16[3,4] y = (x, s, z)"),
    ("QuickGelu", "float[3,4] x", "float[3,4] y = <alpha = 1.5> (x)"),
    (
        "Range",
        "float[1] x",
        "# a = Constant <value = int64 {1}> () b = Constant <value = int64 {5}> () | int64[4] y = (a, b)",
    ),
    ("ReduceSumInteger", "uint8[3,4] x", "int32[3,1] y = <axes = [1], keepdims = 1> (x)"),
    (
        "RotaryEmbedding",
        "float[2,3,16] x, float[9,2] c, float[9,2] s",
        "# p = Constant <value = int64[1] {2}> () | float[2,3,16] y = <num_heads = 2, rotary_embedding_dim = 4, interleaved = 1> (x, p, c, s)",
    ),
    (
        "SkipLayerNormalization",
        "float[2,3,4] x, float[3,4] s, float[4] g, float[4] b, float[4] c",
        "float[2,3,4] y, float[2,3,1] m, float[2,3,1] v, float[2,3,4] t = (x, s, g, b, c)",
    ),
    ("SkipSimplifiedLayerNormalization", "float[2,3,4] x, float[2,3,4] s, float[4] g", "float[2,3,4] y = (x, s, g)"),
    ("TorchEmbedding", "float[5,4] w", "# i = Constant <value = int64[2] {1, 3}> () | float[2,4] y = (w, i)"),
    ("TransposeMatMul", "float[4,3] a, float[4,5] b", "float[3,5] y = <transA = 1> (a, b)"),
    ("Trilu", "float[3,4] x", "float[3,4] y = <upper = 0> (x)"),
    ("Unique", "float[4] x", "float[N] y, int64[4] i, int64[N] c = (x)"),
];

/// Operators whose bodies need a later version of the standard operator set than 13.
const LATER: &[(&str, i64)] = &[("GridSample", 16), ("Trilu", 14)];

fn model(version: i64, (name, inputs, call): (&str, &str, &str)) -> String {
    let (before, call) = call.strip_prefix("# ").and_then(|call| call.split_once(" | ")).unwrap_or(("", call));
    let (results, call) = call.split_once(" = ").unwrap();
    let names: Vec<&str> = results.split(", ").map(|result| result.rsplit(' ').next().unwrap()).collect();
    let domain = if name == "SimplifiedLayerNormalization" { "" } else { "com.microsoft." };
    format!(
        "<ir_version: 10, opset_import: [\"\" : {version}, \"com.microsoft\" : 1]>\n\
         g ({inputs}) => ({results}) {{ {before} {} = {domain}{name} {call} }}",
        names.join(", ")
    )
}

fn parsed(text: String, options: &Options) -> Document {
    let (document, found) = Document::parse("test", text.clone(), &mut Sources::new(), options);
    document.unwrap_or_else(|| panic!("{text}: {found}"))
}

#[test]
fn every_operator_has_a_schema_a_template_and_a_sample() {
    for row in TABLE {
        assert!(matches!(Schemas::new().find(row.domain, row.name, 1), SchemaLookup::Schema(_)), "{}", row.name);
        let body = BodyTable::Functions.body(row.domain, row.name, row.version);
        assert!(body.is_some_and(|body| body.template.is_some()), "{} has no template", row.name);
        assert!(SAMPLES.iter().any(|sample| sample.0 == row.name), "{} has no sample", row.name);
    }
    let of_domain =
        |domain: &str| TABLE.iter().filter(|row| row.domain == domain).map(|row| row.name).collect::<Vec<_>>();
    assert!(of_domain(MICROSOFT_DOMAIN).is_sorted());
    assert_eq!(of_domain(""), ["SimplifiedLayerNormalization"]);
}

#[test]
fn bodies_consist_of_standard_operators_and_have_the_declared_shapes() {
    for sample in SAMPLES {
        let first = LATER.iter().find(|row| row.0 == sample.0).map_or(13, |row| row.1);
        for version in [first, 17, 18, 20, 21, 23] {
            let (text, options) = (model(version, *sample), lowering(Lower::All));
            let mut document = parsed(text.clone(), &options);
            let found = document.check(&options);
            assert!(!found.has_errors(), "{text}: {found}");
            let warnings = document.flatten(&options).unwrap_or_else(|found| panic!("{text}: {found}"));
            assert!(codes(&warnings).is_empty(), "{text}: {warnings}");
            let (found, flat) = (document.check(&options), document.to_text(false).unwrap().0);
            assert!(!found.has_errors(), "{text}: {found}\n{flat}");
            assert!(!flat.contains("com.microsoft.") && !flat.contains("Simplified"), "{text}\n{flat}");
        }
    }
}

#[cfg(feature = "input")]
#[test]
fn operators_compute_what_their_bodies_compute() {
    use crate::eval::compare;
    use crate::input::model_run::random_inputs;
    use crate::input::settings::Settings;

    let settings = Settings::new(&Options::default());
    for sample in SAMPLES {
        for version in
            [13, 21].into_iter().filter(|version| LATER.iter().all(|row| row.0 != sample.0 || row.1 <= *version))
        {
            let (text, options) = (model(version, *sample), lowering(Lower::All));
            let source = parsed(text.clone(), &options);
            let mut flat = source.copy();
            flat.flatten(&options).unwrap();
            let inputs = random_inputs(&source, &[], 1, &settings).unwrap();
            let outputs = |of: &Document| of.run_tensors(&inputs, (settings.evaluation, &settings.options));
            let wanted = outputs(&source).unwrap_or_else(|found| panic!("{text}: {}", found.message));
            let found = outputs(&flat).unwrap_or_else(|found| panic!("{text}: {}", found.message));
            let largest = compare(&wanted, &found, |_| f64::INFINITY).unwrap().largest;
            assert!(largest <= 1e-5, "{text}: {largest}");
        }
    }
}

#[test]
fn names_select_operators_of_one_domain() {
    let text = "<ir_version: 10, opset_import: [\"\" : 20, \"com.microsoft\" : 1]>\n\
                g (float[2] x) => (float[2] y) { a = com.microsoft.Gelu (x) b = Gelu (a) y = com.microsoft.QuickGelu (b) }";
    let lowered = |name: &str| {
        let options = lowering(Lower::Names(vec![name.to_owned()]));
        let mut document = parsed(text.to_owned(), &options);
        document.flatten(&options).unwrap();
        document.to_text(false).unwrap().0
    };
    let gelu = lowered("com.microsoft.Gelu");
    assert!(
        gelu.contains("a = Gelu (x)") && gelu.contains("b = Gelu (a)") && gelu.contains("com.microsoft.QuickGelu"),
        "{gelu}"
    );
    assert!(!lowered("QuickGelu").contains("QuickGelu"));
}

#[test]
fn what_has_no_body_stays_with_a_warning() {
    let text = "<ir_version: 10, opset_import: [\"\" : 20, \"com.microsoft\" : 1, \"com.microsoft.nchwc\" : 1]>\n\
                g (float[2] x) => (float[2] y) { a = com.microsoft.nchwc.ReorderInput (x) y = com.microsoft.New (a) }";
    let options = lowering(Lower::All);
    let mut document = parsed(text.to_owned(), &options);
    assert_eq!(codes(&document.flatten(&options).unwrap()), [Code::OperatorStays, Code::OperatorStays]);
    assert_eq!(codes(&document.check(&Options::default())), [Code::OnnxVendor]);
    let text = document.to_text(false).unwrap().0;
    assert!(text.contains("a = com.microsoft.nchwc.ReorderInput (x)"), "{text}");
    assert!(text.contains("y = com.microsoft.New (a)"), "{text}");
}

/// A body that converts to a type that is not known takes `CastLike`, which is new in version 15.
#[test]
fn bodies_have_no_operators_of_later_versions() {
    let lowered = |version: i64| {
        let text = format!(
            "<ir_version: 7, opset_import: [\"\" : {version}, \"com.microsoft\" : 1, \"u\" : 1]>\n\
             g (float[2, 3] x, float[3] w) => (float[2, 3] y) {{ a = u.Own (x) y = com.microsoft.SkipLayerNormalization (a, a, w) }}"
        );
        let options = lowering(Lower::All);
        let mut document = parsed(text, &options);
        let warnings = codes(&document.flatten(&options).unwrap());
        (document.to_text(false).unwrap().0, warnings)
    };
    let (text, warnings) = lowered(14);
    assert!(text.contains("SkipLayerNormalization") && warnings == [Code::OperatorStays], "{text} {warnings:?}");
    // What type `CastLike` gives is not known, so that it stays.
    let (text, warnings) = lowered(15);
    assert!(
        text.contains("CastLike") && !text.contains("Skip") && warnings == [Code::OperatorStays],
        "{text} {warnings:?}"
    );
}

#[test]
fn the_documentation_lists_the_operators() {
    let mut table = "| Operator | Operands |\n|---|---|\n".to_owned();
    for row in TABLE {
        let SchemaLookup::Schema(schema) = Schemas::new().find(row.domain, row.name, 1) else { panic!("{}", row.name) };
        let operands: Vec<&str> = schema.inputs.iter().map(|input| input.name).collect();
        let domain = if row.domain.is_empty() { "ai.onnx" } else { row.domain };
        table += &format!("| `{domain}.{}` | {} |\n", row.name, operands.join(", "));
    }
    is_table_of("vendor-operators.md", &table);
}
