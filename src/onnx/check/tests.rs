mod rules;

use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::Document;
use crate::onnx::text::Production;
use crate::source::Sources;
use crate::{Lower, Options};

const HEAD: &str = "<ir_version: 10, opset_import: [\"\" : 21, \"l\" : 1]> ";

fn checked(text: &str) -> Diagnostics {
    let (mut sources, options) = (Sources::new(), Options::default());
    let file = sources.add("test", text.to_owned());
    let (document, found) = Document::parse_part(&sources, file, Production::Model, &options);
    document.unwrap_or_else(|| panic!("{text}: {found}")).check(&options)
}

fn codes(text: &str) -> Vec<Code> {
    checked(text).iter().map(|found| found.code).collect()
}

/// The findings in the nodes of a graph with a float `x`, an integer `i` and a truth value `c`.
fn in_nodes(nodes: &str) -> Vec<Code> {
    codes(&format!("{HEAD} g (float[2] x, int64[2] i, bool c) => (float[2] y) {{ {nodes} }}"))
}

#[test]
fn a_right_model_has_no_findings() {
    assert_eq!(in_nodes("t = Add (x, x) y = Clip (t, , x)"), []);
    assert_eq!(
        in_nodes("y = If <then_branch = p () => (o) { o = Neg (x) }, else_branch = q () => (n) { n = Abs (x) }> (c)"),
        []
    );
    assert_eq!(in_nodes("y = other.Op <anything = 1> (x, , x)").first(), Some(&Code::OnnxNoOpset));
    assert_eq!(in_nodes("y = l.Op <anything = 1> (x, , x)"), []);
}

#[test]
fn models_have_all_parts() {
    let found = codes("g (float x) => (float y) { y = l.Op (x) }");
    assert_eq!(found, [Code::OnnxModel, Code::OnnxModel, Code::OnnxNoOpset]);
}

#[test]
fn values_are_defined_once_and_before_they_are_used() {
    for (nodes, code) in [
        ("y = Add (x, z)", Code::OnnxNoValue),
        ("y = Neg (t) t = Neg (x)", Code::OnnxNoValue),
        ("t = Neg (x)", Code::OnnxNoValue),
        ("y = Neg (x) y = Abs (x)", Code::OnnxTwice),
        ("y = Softmax <axis = 0, axis = 1> (x)", Code::OnnxTwice),
        ("y = If <then_branch = p () => (x) { }, else_branch = q () => (n) { n = Abs (x) }> (c)", Code::OnnxNoValue),
        (
            "y = If <then_branch = p () => (o) { x = Abs (x) o = Neg (x) }, else_branch = q () => (n) { n = Abs (x) }> (c)",
            Code::OnnxTwice,
        ),
    ] {
        assert_eq!(in_nodes(nodes), [code], "{nodes}");
    }
    let found = checked(&format!("{HEAD} g (float[2] input) => (float[2] y) {{ y = Neg (inpt) }}"));
    assert_eq!(found.iter().next().unwrap().help.as_deref(), Some("did you mean `input`?"));
}

#[test]
fn initializers_are_values_or_defaults_of_inputs() {
    let model = |inputs: &str, constants: &str| {
        codes(&format!("{HEAD} g ({inputs}) => (float[2] y) <{constants}> {{ y = Add (x, w) }}"))
    };
    assert_eq!(model("float[2] x", "float[2] w = {1, 2}"), []);
    assert_eq!(model("float[2] x, float[2] w", "float[2] w = {1, 2}"), []);
    assert_eq!(model("float[2] x", "float[2] w = {1, 2}, float[2] w = {1, 2}"), [Code::OnnxTwice]);
    let elsewhere = |at: &str| model("float[2] x", &format!("float[2] w = [\"location\": \"{at}\"]"));
    assert_eq!(elsewhere("data/w.bin"), []);
    for at in ["../w.bin", "a/../../w", "/etc/passwd", "C:w", "..\\\\w"] {
        assert_eq!(elsewhere(at), [Code::OnnxExternal], "{at}");
    }
}

/// Wherever a constant tensor is, checking and flattening refuse data outside the folder of the model.
#[test]
fn data_outside_are_refused_everywhere() {
    const DATA: &str = "[\"location\": \"w\", \"location\": \"../w.bin\"]";
    let function = |head: &str, body: &str| {
        let call = "{ y = l.f (x) }";
        format!(
            "{HEAD} g (float[2] x) => (float[2] y) {call} <domain: \"l\", opset_import: [\"\" : 21]> f {head} (a) => (b) {{ {body} }}"
        )
    };
    let graph = |nodes: &str| format!("{HEAD} g (float[2] x, bool c) => (float[2] y) {{ {nodes} }}");
    let branch = format!("p () => (o) <float[2] w = {DATA}> {{ o = Neg (w) }}");
    let constant = format!("Constant <value = float[2] = {DATA}> ()");
    for text in [
        format!("{HEAD} g (float[2] x) => (float[2] y) <float[2] w = {DATA}> {{ y = Add (x, w) }}"),
        graph(&format!("y = If <then_branch = {branch}, else_branch = {branch}> (c)")),
        graph(&format!("y = {constant}")),
        graph(&format!("y = l.Op <all = [float[2] = {DATA}]> (x)")),
        function("", &format!("b = {constant}")),
        function("", &format!("b = If <then_branch = {branch}, else_branch = {branch}> (a)")),
        function(&format!("<k: tensor = float[2] = {DATA}>"), "b = Constant <value: tensor = @k> ()"),
        function(&format!("<k: graph = {branch}>"), "b = If <then_branch: graph = @k, else_branch: graph = @k> (a)"),
    ] {
        let found = checked(&text);
        assert!(found.iter().any(|found| found.code == Code::OnnxExternal), "{text}: {found}");
        for lower in [Lower::Custom, Lower::None] {
            let (mut sources, options) = (Sources::new(), Options { lower, ..Options::default() });
            let (document, _) = Document::parse("test", text.as_str(), &mut sources, &options);
            let found = document.unwrap().flatten(&options).unwrap_err();
            assert!(found.iter().all(|found| found.code == Code::OnnxExternal), "{text}: {found}");
        }
    }
    // A part of a model.
    let (mut sources, options) = (Sources::new(), Options::default());
    let file = sources.add("test", format!("y = {constant}"));
    let (document, _) = Document::parse_part(&sources, file, Production::Node, &options);
    let found = document.unwrap().flatten(&options).unwrap_err();
    assert!(found.iter().all(|found| found.code == Code::OnnxExternal), "{found}");
}

/// Sparse constants stay encoded.
#[test]
fn data_of_sparse_constants_outside_are_refused() {
    let location = b"\x0a\x08location\x12\x05../w\x21";
    let message = |number: u8, content: &[u8]| [&[number << 3 | 2, content.len() as u8], content].concat();
    let tensor = message(13, location);
    let sparse = message(2, &tensor);
    let graph = message(15, &sparse);
    let (mut sources, options) = (Sources::new(), Options::default());
    let (document, _) = Document::decode("test", message(7, &graph), &mut sources, &options);
    let found = document.unwrap().flatten(&options).unwrap_err();
    let messages: Vec<_> = found.iter().map(|found| &found.message).collect();
    assert_eq!(
        messages,
        ["the data of `` are at `../w!`, outside the folder of the model (graph.sparse_initializer[0])"]
    );
}

#[test]
fn operators_are_those_of_the_imported_version() {
    for (nodes, code) in [
        ("y = Neq (x)", Code::OnnxOperator),
        ("y = Swish (x)", Code::OnnxOperator),
        ("y = Upsample (x, x)", Code::OnnxOperator),
        ("y = ai.onnx.ml.Normalizer (x)", Code::OnnxNoOpset),
        ("y = Add (x)", Code::OnnxOperands),
        ("y = Add (x, x, x)", Code::OnnxOperands),
        ("y = Add (, x)", Code::OnnxOperands),
        ("y, z = Neg (x)", Code::OnnxOperands),
        ("y = Softmax <axes = 1> (x)", Code::OnnxNoAttribute),
        ("y = Softmax <axis: int = @axis> (x)", Code::OnnxNoReference),
        ("y = Concat (x, x)", Code::OnnxAttributeMissing),
        ("y = Concat <axis = 0.5> (x, x)", Code::OnnxAttributeType),
    ] {
        assert_eq!(in_nodes(nodes), [code], "{nodes}");
    }
}

#[test]
fn types_are_followed() {
    for nodes in
        ["y = Add (x, i)", "t = Neg (i) y = Add (x, t)", "b = And (x, c) y = Neg (x)", "s = Shape (x) y = Add (x, s)"]
    {
        assert_eq!(in_nodes(nodes), [Code::OnnxType], "{nodes}");
    }
    // The output is declared as a float.
    assert_eq!(in_nodes("y = Neg (i)"), [Code::OnnxType]);
    assert_eq!(in_nodes("t = Cast <to = 1> (i) y = Add (x, t)"), []);
}

#[test]
fn functions_are_checked_by_themselves() {
    let function = |body: &str| {
        codes(&format!(
            "{HEAD} g (float[2] x) => (float[2] y) {{ y = l.f (x) }} <domain: \"l\", opset_import: [\"\" : 21]> f <k> (a) => (b) {{ {body} }}"
        ))
    };
    assert_eq!(function("b = Softmax <axis: int = @k> (a)"), []);
    assert_eq!(function("b = Softmax <axis: int = @l> (a)"), [Code::OnnxNoReference]);
    assert_eq!(function("b = Neg (x)"), [Code::OnnxNoValue]);
    assert_eq!(function("t = Neg (a)"), [Code::OnnxNoValue]);
}

#[test]
fn places_in_protobuf_are_fields() {
    let (mut sources, options) = (Sources::new(), Options::default());
    let text = format!("{HEAD} g (float[2] x) => (float[2] y) {{ t = Neg (x) y = Add (t) }}");
    let file = sources.add("test", text);
    let (document, _) = Document::parse_part(&sources, file, Production::Model, &options);
    let bytes = document.unwrap().to_protobuf();
    let (document, _) = Document::decode("test", bytes, &mut sources, &options);
    let found = document.unwrap().check(&options);
    let message = &found.iter().next().unwrap().message;
    assert_eq!(message, "`Add` has 2 inputs, this node has 1 (graph.node[1])");
}
