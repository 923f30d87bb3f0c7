use super::*;
use crate::onnx::protobuf::{Part, encode};

fn read(text: &str, production: Production) -> (Option<Parsed>, Diagnostics) {
    parse(FileId(0), text, production, false)
}

fn codes(text: &str, production: Production) -> Vec<Code> {
    read(text, production).1.iter().map(|found| found.code).collect()
}

fn model(text: &str) -> Model {
    match read(text, Production::Model) {
        (Some(Parsed::Model(model)), _) => *model,
        (_, found) => panic!("{text}: {found}"),
    }
}

#[test]
fn nodes_have_the_bytes_of_protobuf() {
    let (Some(Parsed::Node(node, names)), _) = read("y = Relu (x)", Production::Node) else { panic!() };
    assert_eq!(encode(&names, Part::Node(&node)).unwrap(), b"\x0a\x01x\x12\x01y\x22\x04Relu\x3a\x00");
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
    ];
    for text in texts {
        let first = model(text);
        let (printed, lost) = print(&first.names, Part::Model(&first));
        assert!(lost.wrong.is_empty(), "{:?}", lost.wrong);
        let second = model(&printed);
        assert_eq!(encode(&first.names, Part::Model(&first)), encode(&second.names, Part::Model(&second)), "{printed}");
    }
}

/// What would be read as something else is told.
#[test]
fn what_texts_cannot_say_is_told() {
    use crate::onnx::model::{Field, TypeForm, Wire};
    let (Some(Parsed::Node(node, names)), _) = read("y = Op <a = 3> (x)", Production::Node) else { panic!() };
    let lost = |change: &dyn Fn(&mut crate::onnx::model::Attribute)| {
        let mut node = node.clone();
        change(&mut node.attributes[0]);
        print(&names, Part::Node(&node)).1.wrong.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(lost(&|_| {}), [""; 0]);
    assert_eq!(
        lost(&|attribute| attribute.kind = Some(1)),
        ["the attribute `a` of type `float`, whose value is a `int`"]
    );
    let sparse = Field { number: 23, wire: Wire::Bytes, bytes: bytes::Bytes::new() };
    let found = lost(&|attribute| {
        (attribute.kind, attribute.value) = (Some(12), Default::default());
        attribute.rest = Some(Box::new(vec![sparse.clone()]));
    });
    assert_eq!(found, ["the attribute `a` without a value that a text can have"]);
    let mut graph = match read("g (opaque(d.e, n) x) => () <float[2] w = [\"location\": \"w\"]> {}", Production::Graph)
    {
        (Some(Parsed::Graph(graph, names)), _) => (graph, names),
        (_, found) => panic!("{found}"),
    };
    assert!(print(&graph.1, Part::Graph(&graph.0)).1.wrong.is_empty());
    if let Some(TypeForm::Opaque { name, .. }) = graph.0.inputs[0].ty.as_mut().map(|ty| &mut ty.form) {
        *name = None;
    }
    graph.0.initializers[0].dims[0] = -2;
    let found = print(&graph.1, Part::Graph(&graph.0)).1.wrong;
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["an opaque type whose name is no identifier", "a tensor with a negative extent"]
    );
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
