use super::print::Lost;
use super::{ParsedText, Production, parse};
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::model::AttributeValue;
use crate::onnx::model::{GraphProto, ModelNames, ModelProto};
use crate::onnx::protobuf::{EncodedPart, encode};
use crate::source::FileId;

fn read(text: &str, production: Production) -> (Option<ParsedText>, Diagnostics) {
    parse(FileId(0), text, production, false)
}

/// The whole text, and what it cannot express.
fn print(names: &ModelNames, part: EncodedPart) -> (String, Lost) {
    let (text, lost) = super::print(names, part);
    (String::from_utf8(text.into_bytes().unwrap()).unwrap(), lost)
}

fn codes(text: &str, production: Production) -> Vec<Code> {
    read(text, production).1.iter().map(|found| found.code).collect()
}

fn model(text: &str) -> ModelProto {
    match read(text, Production::Model) {
        (Some(ParsedText::Model(model)), _) => *model,
        (_, found) => panic!("{text}: {found}"),
    }
}

#[test]
fn nodes_have_the_bytes_of_protobuf() {
    let (Some(ParsedText::Node(node, names)), _) = read("y = Relu (x)", Production::Node) else { panic!() };
    assert_eq!(encode(&names, EncodedPart::Node(&node)).unwrap(), b"\x0a\x01x\x12\x01y\x22\x04Relu\x3a\x00");
}

#[test]
fn texts_are_read_back_from_their_print() {
    let texts = [
        "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1], doc_string: \"a \\\"b\\\"\", metadata_props: [\"k\" : \"v\"]>
         g (float[N, ?, 3, \"a+b\"] x, seq(map(int64, float)) s) => (y, optional(float[]) \"z w\") <int64 v, float[2] w = {-nan, 1e-5}>
         { [\"a label\"] t, , u = d.e.Op:ov <a = [1, 2], b: float = 1, c = @p, g = h (i) => (o) { o = A (i) }> (x, , \"z w\")
           y = B <t = int4[3] {-1, 2, -8}, s = \"é\", e: ints = [], p = float[3]> () }
         <domain: \"l\", opset_import: [\"\" : 17]> f <p, q: float = -0> (x, y) => (z) <float m> { z = Add <q: float = @q> (x, y) }",
        "g () => () <string[2] s = {\"a\", \"\"}, complex64[1] c = {1, inf}, double d = {1e308}, uint64[1] m = {18446744073709551615}> {}",
        "g () => () <float[2] w = [\"location\": \"w.bin\", \"offset\": \"0\"]> { x = custom.Block.1.Block () }",
        "g () => () { x = pkg.torch.2.6.0+cu124.Block () y = my-set.Op:ov () z = 2.x/y.Op () }",
        "g () => () { x = Op <t = float[2] \"bn.w/é\" {1, 2}, u = float[1] float {3}, v = int64[1] \"b c\" = [\"location\": \"w\"]> () }",
        "g () => () <float[1] \"\u{10FE80}\" = {1}> { x = Op <s = \"\u{10FEFF}\"> (\"\u{10FE80}\") }",
    ];
    for text in texts {
        let first = model(text);
        let (printed, lost) = print(&first.names, EncodedPart::Model(&first));
        assert!(lost.wrong.is_empty(), "{:?}", lost.wrong);
        let second = model(&printed);
        assert_eq!(
            encode(&first.names, EncodedPart::Model(&first)),
            encode(&second.names, EncodedPart::Model(&second)),
            "{printed}"
        );
    }
}

/// Long constants are printed while the text is written, as short ones are before.
#[test]
fn texts_with_long_constants_are_the_same_for_any_number_of_threads() {
    use crate::onnx::model::{EncodedField, Wire};
    let constants = "float[3] v = {1, 2, 3}, float[0] w = {}, int64[0] i = {}, float16[0] h = {}";
    let mut first = model(&format!("g () => () <{constants}> {{ y = Op (w) }}"));
    let floats: Vec<f32> = (0..70_000_u32).map(|i| f32::from_bits(i.wrapping_mul(0x9E37_79B1))).collect();
    let ints: Vec<i64> = (0..200).map(|i| i * i * i - 1_000_000).collect();
    let raw = |bytes: Vec<u8>| Some(Box::new(vec![EncodedField { number: 9, wire: Wire::Bytes, bytes: bytes.into() }]));
    let constants = &mut first.graph.as_mut().unwrap().initializers;
    for (constant, extent) in constants.iter_mut().zip([3, 70_000, 200, 1000]) {
        constant.dims = [extent].into_iter().collect();
    }
    constants[1].rest = raw(floats.iter().flat_map(|float| float.to_le_bytes()).collect());
    constants[2].rest = raw(ints.iter().flat_map(|int| int.to_le_bytes()).collect());
    constants[3].rest = raw((0..1000_u16).flat_map(|bits| bits.to_le_bytes()).collect());
    let spelled = |float: &f32| match float {
        nan if nan.is_nan() => if nan.is_sign_negative() { "-nan" } else { "nan" }.to_owned(),
        float => format!("{float:?}"),
    };
    let list = |items: Vec<String>| format!("{{{}}}", items.join(", "));
    let wanted = [
        format!("w = {}", list(floats.iter().map(spelled).collect())),
        format!("i = {}", list(ints.iter().map(i64::to_string).collect())),
        format!("h = {}", list((0..1000).map(|bits: i32| bits.to_string()).collect())),
    ];
    let [w, i, h] = wanted.each_ref().map(String::as_str);
    let head =
        format!("g () => ()\n<float[3] v = {{1.0, 2.0, 3.0}}, float[70000] {w}, int64[200] {i}, float16[1000] {h}>");
    let whole = format!("{head}\n{{\n    y = Op (w)\n}}\n");
    assert!(model(&whole).graph.is_some());
    let (printed, lost) = super::print(&first.names, EncodedPart::Model(&first));
    let odd = floats.iter().filter(|float| float.is_nan() && float.abs().to_bits() != f32::NAN.to_bits()).count();
    assert_eq!(lost.nan_bits, odd);
    for threads in [1, 2, 3, 8] {
        let mut out = Vec::new();
        printed.write(std::num::NonZeroUsize::new(threads), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out == whole, "{threads}");
    }
}

/// What would be read as something else is reported.
#[test]
fn what_texts_cannot_say_is_told() {
    use crate::onnx::model::{EncodedField, TypeForm, Wire};
    let (Some(ParsedText::Node(node, names)), _) = read("y = Op <a = 3> (x)", Production::Node) else { panic!() };
    let lost = |change: &dyn Fn(&mut crate::onnx::model::AttributeProto)| {
        let mut node = node.clone();
        change(&mut node.attributes[0]);
        print(&names, EncodedPart::Node(&node)).1.wrong.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(lost(&|_| {}), [""; 0]);
    assert_eq!(
        lost(&|attribute| attribute.kind = Some(1)),
        ["the attribute `a` of type `float`, whose value is a `int`"]
    );
    let sparse = EncodedField { number: 23, wire: Wire::Bytes, bytes: bytes::Bytes::new().into() };
    let found = lost(&|attribute| {
        (attribute.kind, attribute.value) = (Some(12), Default::default());
        attribute.rest = Some(Box::new(vec![sparse.clone()]));
    });
    assert_eq!(found, ["the attribute `a` without a value that a text can have"]);
    let mut graph = match read("g (opaque(d.e, n) x) => () <float[2] w = [\"location\": \"w\"]> {}", Production::Graph)
    {
        (Some(ParsedText::Graph(graph, names)), _) => (graph, names),
        (_, found) => panic!("{found}"),
    };
    assert!(print(&graph.1, EncodedPart::Graph(&graph.0)).1.wrong.is_empty());
    if let Some(TypeForm::Opaque { name, .. }) = graph.0.inputs[0].ty.as_mut().map(|ty| &mut ty.form) {
        *name = None;
    }
    graph.0.initializers[0].dims[0] = -2;
    let found = print(&graph.1, EncodedPart::Graph(&graph.0)).1.wrong;
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["an opaque type whose name is not an identifier", "a tensor with a negative extent"]
    );
}

/// What a text has no place for: reported or refused.
#[test]
fn what_texts_leave_out_is_told() {
    use crate::onnx::model::{EncodedField, Fields, TypeForm, TypeProto, ValueInfo, Wire};
    let graph = |change: &dyn Fn(&mut GraphProto)| {
        let text = "g () => (float y) <float[2] w = {1, 2}, double[1] d = {1}> { y = Op <f = 1.0> (w, d) }";
        let (Some(ParsedText::Graph(mut graph, names)), _) = read(text, Production::Graph) else { panic!() };
        change(&mut graph);
        print(&names, EncodedPart::Graph(&graph))
    };
    let raw = |bytes: &[u8]| -> Fields {
        let bytes = bytes::Bytes::copy_from_slice(bytes);
        Some(Box::new(vec![EncodedField { number: 9, wire: Wire::Bytes, bytes: bytes.into() }]))
    };
    // NaNs with a payload, and those without one.
    for (bits, told) in [(0x7FC0_0001_u32, 1), (0xFFA0_0002, 1), (0x7F80_0001, 1), (0x7FC0_0000, 0), (0xFFC0_0000, 0)] {
        let bytes = [bits.to_le_bytes(), 1_f32.to_le_bytes()].concat();
        let (text, lost) = graph(&|graph| graph.initializers[0].rest = raw(&bytes));
        assert_eq!((lost.nan_bits, lost.wrong.len()), (told, 0), "{bits:x}");
        assert!(text.contains(if bits >> 31 == 0 { "{nan, 1.0}" } else { "{-nan, 1.0}" }), "{text}");
        let float = AttributeValue::Float(f32::from_bits(bits));
        assert_eq!(graph(&|graph| graph.nodes[0].attributes[0].value = float.clone()).1.nan_bits, told);
    }
    let (_, lost) = graph(&|graph| graph.initializers[1].rest = raw(&0x7FF8_0000_0000_0001_u64.to_le_bytes()));
    assert_eq!(lost.nan_bits, 1);
    // Types without an element type are left out, and so are those without a form, which have nothing to say.
    for (form, left_out) in [(TypeForm::None, 0), (TypeForm::Tensor(Default::default()), 1)] {
        let ty = Some(TypeProto { form, rest: Fields::None });
        let (text, lost) = graph(&|graph| graph.outputs[0] = ValueInfo { ty: ty.clone(), ..graph.outputs[0].clone() });
        assert_eq!((lost.left_out, lost.wrong.len()), (left_out, 0), "{text}");
        assert!(text.starts_with("g () => (y)"), "{text}");
        assert!(codes(&text, Production::Graph).is_empty());
    }
    let sparse = EncodedField { number: 15, wire: Wire::Bytes, bytes: bytes::Bytes::new().into() };
    let (_, lost) = graph(&|graph| graph.rest = Some(Box::new(vec![sparse.clone()])));
    assert_eq!(lost.wrong.into_iter().collect::<Vec<_>>(), ["a sparse constant"]);
    // External data that `data_location` does not name are not the data.
    let entry = crate::onnx::model::StringEntry { key: Some("location".into()), value: Some("w".into()), rest: None };
    let (text, lost) = graph(&|graph| graph.initializers[0].external = vec![entry.clone()]);
    assert!(text.contains("{1.0, 2.0}") && lost.left_out == 1, "{text}");
}

#[test]
fn errors_have_codes_and_do_not_hide_each_other() {
    use Production::{Graph, Model, Node};
    for (text, production, expected) in [
        ("y = Op (x z)", Node, &[Code::OnnxSyntax][..]),
        ("y = Op <a = 'b'> (x)", Node, &[Code::OnnxSyntax]),
        ("<doc: \"a\"> g () => () {}", Model, &[Code::OnnxKey]),
        ("<doc_string: \"a", Model, &[Code::OnnxString]),
        ("y = Op <a = 1e> (x)", Node, &[Code::OnnxNumber]),
        ("y = Op <a = 9223372036854775808> (x)", Node, &[Code::OnnxNumber]),
        ("y = Op <a: int = 5.0> (x)", Node, &[Code::OnnxAttribute]),
        ("g () => () <float[N] w = {1}> {}", Graph, &[Code::OnnxInitializer]),
        ("g () => () <float[2] w = {1}> {}", Graph, &[Code::OnnxElements]),
        ("g () => () <int8[1] w = {300}> {}", Graph, &[Code::OnnxNumber]),
        ("g () => () { x = A () , y = B () }", Graph, &[Code::OnnxComma]),
        ("y = a.2.6+c.Op (x)", Node, &[Code::OnnxDomain, Code::OnnxDomain]),
        ("y = a+b (x)", Node, &[Code::OnnxSyntax]),
        ("y = a..Op (x)", Node, &[Code::OnnxSyntax]),
        ("g () => () {\n x = A (1)\n y = B ()\n z = C <a> ()\n}", Graph, &[Code::OnnxSyntax, Code::OnnxSyntax]),
        ("g () => () {} g", Graph, &[Code::OnnxSyntax]),
    ] {
        assert_eq!(codes(text, production), expected, "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let nested = |depth: usize| format!("g ({}float{} x) => () {{}}", "seq(".repeat(depth), ")".repeat(depth));
    assert!(codes(&nested(40), Production::Graph).is_empty());
    assert_eq!(codes(&nested(15_000), Production::Graph), [Code::TooDeep]);
    let depth = 10_000;
    let graphs = format!("g () => () {{{}{}}}", "y = If <b = h () => () {".repeat(depth), "}> ()".repeat(depth));
    assert_eq!(codes(&graphs, Production::Graph), [Code::TooDeep]);
}
