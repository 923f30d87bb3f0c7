//! The rules of onnx.checker on models, calls and types, and the structure that flattening needs.

use bytes::Bytes;

use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::Document;
use crate::onnx::model::{AttributeValue, EncodedField, ModelProto, StringEntry, TypeForm, Wire};
use crate::onnx::protobuf::fields::{graph, sparse, tensor};
use crate::onnx::text::Production;
use crate::source::Sources;
use crate::{Lower, Options};

const HEAD: &str = "<ir_version: 10, opset_import: [\"\" : 21, \"l\" : 1]> ";

fn document(text: &str) -> Document {
    let (mut sources, options) = (Sources::new(), Options::default());
    let file = sources.add("test", text.to_owned());
    let (document, found) = Document::parse_part(&sources, file, Production::Model, &options);
    document.unwrap_or_else(|| panic!("{text}: {found}"))
}

fn codes(found: &Diagnostics) -> Vec<Code> {
    found.iter().map(|found| found.code).collect()
}

/// The findings in a model after a change, and whether they are errors by default.
fn changed(change: impl FnOnce(&mut ModelProto)) -> (Vec<Code>, bool) {
    let text = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { t = Softmax <axis: int = 0> (x) y = l.f (t, w) }
        <domain: \"l\", opset_import: [\"\" : 21]> f <k> (a, b) => (c) { c = Add (a, b) }";
    let mut document = document(&format!("{HEAD}{text}"));
    change(document.model().unwrap());
    let found = document.check(&Options::default());
    (codes(&found), found.has_errors())
}

#[test]
fn what_onnx_checker_refuses_is_an_error() {
    assert_eq!(changed(|_| {}), (vec![], false));
    let entry = || StringEntry { key: Some("author".into()), ..StringEntry::default() };
    type Change<'c> = (Code, &'c dyn Fn(&mut ModelProto));
    let changes: &[Change] = &[
        (Code::OnnxModel, &|model| model.ir_version = Some(0)),
        (Code::OnnxVersion, &|model| model.ir_version = Some(99)),
        (Code::OnnxVersion, &|model| model.opsets[1].version = Some(1 << 40)),
        (Code::OnnxNoOpset, &|model| model.opsets.truncate(1)),
        (Code::OnnxTwice, &|model| model.metadata.extend([entry(), entry()])),
        (Code::OnnxModel, &|model| model.functions[0].name = None),
        (Code::OnnxModel, &|model| model.graph.as_mut().unwrap().inputs[0].ty = None),
        (Code::OnnxModel, &|model| model.graph.as_mut().unwrap().nodes[0].attributes[0].name = None),
        (Code::OnnxModel, &|model| model.graph.as_mut().unwrap().nodes[0].op_type = None),
        (Code::OnnxAttribute, &|model| model.graph.as_mut().unwrap().nodes[0].attributes[0].kind = None),
        (Code::OnnxAttribute, &|model| model.graph.as_mut().unwrap().nodes[0].attributes[0].kind = Some(7)),
        (Code::OnnxElement, &|model| model.graph.as_mut().unwrap().initializers[0].data_type = Some(-1)),
        (Code::OnnxElement, &|model| model.graph.as_mut().unwrap().initializers[0].data_type = None),
        (Code::OnnxData, &|model| model.graph.as_mut().unwrap().initializers[0].data_type = Some(7)),
        (Code::OnnxData, &|model| model.graph.as_mut().unwrap().initializers[0].dims[0] = 3),
        (Code::OnnxTwice, &|model| {
            let function = &mut model.functions[0];
            function.outputs.push(function.outputs[0]);
        }),
        (Code::OnnxTwice, &|model| {
            let function = &mut model.functions[0];
            function.attributes.push(function.attributes[0]);
        }),
        (Code::OnnxElement, &|model| {
            let TypeForm::Tensor(tensor) = &mut model.graph.as_mut().unwrap().inputs[0].ty.as_mut().unwrap().form
            else {
                panic!()
            };
            tensor.element = None;
        }),
        (Code::OnnxAttributeType, &|model| {
            let attribute = &mut model.graph.as_mut().unwrap().nodes[0].attributes[0];
            (attribute.kind, attribute.value) = (Some(1), AttributeValue::Float(1.0));
        }),
    ];
    for (i, (code, change)) in changes.iter().enumerate() {
        let (found, is_error) = changed(change);
        assert!(found.contains(code) && is_error, "{i}: {code:?}, found {found:?}");
    }
}

#[test]
fn what_programs_do_without_is_refused_by_the_check_alone() {
    let changes: &[&dyn Fn(&mut ModelProto)] = &[
        &|model| model.graph.as_mut().unwrap().name = None,
        &|model| model.graph.as_mut().unwrap().outputs[0].ty = None,
        &|model| {
            let TypeForm::Tensor(tensor) = &mut model.graph.as_mut().unwrap().outputs[0].ty.as_mut().unwrap().form
            else {
                panic!()
            };
            tensor.shape = None;
        },
    ];
    for change in changes {
        assert_eq!(changed(change), (vec![Code::OnnxModel], true));
        let mut flattened = document(&format!("{HEAD} g (float[2] x) => (float[2] y) {{ y = Neg (x) }}"));
        change(flattened.model().unwrap());
        let found = flattened.flatten(&Options::default()).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(codes(&found), []);
    }
}

#[test]
fn a_result_that_is_left_out_is_a_warning_of_flattening() {
    let text = format!("{HEAD} g (float[2] x) => (float[2] y) {{ , m = Dropout (x) y = Neg (x) }}");
    assert_eq!(codes(&document(&text).check(&Options::default())), [Code::OnnxOperands]);
    let found = document(&text).flatten(&Options::default()).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(codes(&found), [Code::OnnxIncomplete]);
    let strict = Options { strict: true, ..Options::default() };
    let refused = document(&text).flatten(&strict).err().map(|found| codes(&found));
    assert_eq!(refused, Some(vec![Code::OnnxIncomplete]));
}

/// A field with a message.
fn field(number: u32, content: &[u8]) -> Vec<u8> {
    [&[(number << 3 | 2) as u8, content.len() as u8], content].concat()
}

#[test]
fn sparse_tensors_are_checked() {
    // Values 1 and 2 of type `number`, with indices of a type.
    let message = |indices: &[i64], kind: u8, extents: &[u8]| {
        let raw: Vec<u8> = [1.0_f32, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let values = [&b"\x08\x02\x10\x01"[..], &field(tensor::NAME, b"s"), &field(tensor::RAW_DATA, &raw)].concat();
        let width = if kind == 7 { 8 } else { 4 };
        let raw: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()[..width].to_vec()).collect();
        let indices = [&[0x08, indices.len() as u8, 0x10, kind][..], &field(tensor::RAW_DATA, &raw)].concat();
        let parts = [field(sparse::VALUES, &values), field(sparse::INDICES, &indices)].concat();
        Bytes::from([parts, field(sparse::DIMS, extents)].concat())
    };
    let found = |message: Bytes| {
        changed(|model| {
            let kept = EncodedField { number: graph::SPARSE_INITIALIZER, wire: Wire::Bytes, bytes: message.into() };
            model.graph.as_mut().unwrap().rest = Some(Box::new(vec![kept]));
        })
    };
    assert_eq!(found(message(&[1, 3], 7, &[2, 3])), (vec![], false));
    for wrong in [
        message(&[1, 3], 6, &[2, 3]),
        message(&[3, 1], 7, &[2, 3]),
        message(&[1, 6], 7, &[2, 3]),
        message(&[1], 7, &[2, 3]),
        message(&[1, 3], 7, &[]),
        Bytes::new(),
    ] {
        let (codes, is_error) = found(wrong.clone());
        assert!(codes.contains(&Code::OnnxSparse) && is_error, "{wrong:?}: {codes:?}");
    }
}

/// The findings in a model with a function: those of the check, and those with which flattening refuses it.
fn with_function(nodes: &str, function: &str) -> (Vec<Code>, Option<Vec<Code>>) {
    let text = format!(
        "{HEAD} g (float[2] x, bool c) => (float[2] y) {{ {nodes} }} <domain: \"l\", opset_import: [\"\" : 21, \"l\" : 1]> {function}"
    );
    let mut document = document(&text);
    let found = codes(&document.check(&Options::default()));
    (found, document.flatten(&Options::default()).err().map(|found| codes(&found)))
}

#[test]
fn calls_fit_the_functions() {
    let cast = "f <to> (a) => (b) { b = Cast <to: int = @to> (a) }";
    let twice = "f <to> (a) => (b) { b = l.h <to: int = @to> (a) } <domain: \"l\", opset_import: [\"\" : 21]>
        h <to> (a) => (b) { b = Cast <to: int = @to> (a) }";
    let slope = "f <slope> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) }";
    for (nodes, function, wanted, is_refused) in [
        ("y = l.f <to = 1> (x)", cast, vec![], false),
        ("y = l.f (x)", cast, vec![Code::OnnxAttributeMissing], true),
        ("y = l.f (x)", twice, vec![Code::OnnxAttributeMissing], true),
        ("y = l.f (x)", slope, vec![], false),
        ("y = l.f <leek = 0.5> (x)", slope, vec![Code::OnnxUntaken], false),
        ("y = l.e (x)", slope, vec![Code::OnnxNoFunction], false),
        ("y = l.f (x, x)", slope, vec![Code::OnnxArguments], true),
        ("y, z = l.f (x)", slope, vec![Code::OnnxArguments], true),
    ] {
        let refused = is_refused.then(|| wanted.clone());
        assert_eq!(with_function(nodes, function), (wanted, refused), "{nodes} {function}");
    }
}

#[test]
fn flattening_refuses_what_is_broken() {
    for (nodes, code) in [
        ("y = Neg (z)", Code::OnnxNoValue),
        ("y = Neg (x) y = Abs (x)", Code::OnnxTwice),
        ("t = Neg (x)", Code::OnnxNoValue),
        ("y = Add (x)", Code::OnnxOperands),
        ("y = Softmax <axis = 0, axis = 1> (x)", Code::OnnxTwice),
    ] {
        for lower in [Lower::Custom, Lower::None] {
            let options = Options { lower, ..Options::default() };
            let mut document = document(&format!("{HEAD} g (float[2] x) => (float[2] y) {{ {nodes} }}"));
            let found = document.flatten(&options).unwrap_err();
            assert!(found.iter().any(|found| found.code == code), "{nodes}: {found}");
        }
    }
    // What a later version may have passes.
    let mut document = document(
        "<ir_version: 99, opset_import: [\"\" : 999]> g (float[2] x) => (float[2] y) { t = Add (x) y = New (t) }",
    );
    assert!(document.flatten(&Options::default()).unwrap().is_empty());
    let (empty, found) = Document::decode("empty", Vec::new(), &mut Sources::new(), &Options::default());
    assert!(empty.is_none() && codes(&found) == [Code::OnnxProtobuf], "{found}");
}

#[test]
fn types_are_followed_through_calls() {
    let and = "f (a) => (b) { b = And (a, a) }";
    let same = "f (a) => (b) { b = Neg (a) }";
    let found = |nodes: &str, function: &str| with_function(nodes, function).0;
    assert_eq!(found("t = l.f (c) y = Neg (x)", and), []);
    // One finding for each operand.
    assert_eq!(found("t = l.f (x) y = Neg (x)", and), [Code::OnnxType; 2]);
    assert_eq!(found("s = Shape (x) t = l.f (s) y = Add (x, t)", same), [Code::OnnxType]);
    assert_eq!(found("t = l.f (x) y = Add (t, x)", same), []);
    // The same mistake in several calls is one finding, with the calls around it.
    let deep = "f (a) => (b) { t = l.h (a) b = l.h (a) } <domain: \"l\", opset_import: [\"\" : 21]> h (a) => (b) { b = Not (a) }";
    let text = format!(
        "{HEAD} g (float[2] x) => (bool[2] y) {{ t = l.f (x) y = l.f (x) }} <domain: \"l\", opset_import: [\"\" : 21, \"l\" : 1]> {deep}"
    );
    let found = document(&text).check(&Options::default());
    let frames: Vec<_> = found.iter().flat_map(|found| &found.expansion).map(|frame| frame.fragment.as_str()).collect();
    assert_eq!((codes(&found), frames), (vec![Code::OnnxType], vec!["l.h", "l.f"]));
}

#[test]
fn types_are_those_of_graphs_and_attributes() {
    let branch = |operator: &str| {
        format!(
            "t = If <then_branch = p () => (o) {{ o = {operator} (x) }}, else_branch = q () => (o) {{ o = {operator} (x) }}> (c)"
        )
    };
    for (nodes, wanted) in [
        (format!("{} y = Add (t, x)", branch("Abs")), vec![]),
        (format!("{} y = Add (x, t)", branch("Shape")), vec![Code::OnnxType]),
        ("t = Cast <to = 7> (x) y = Add (x, t)".to_owned(), vec![Code::OnnxType]),
        ("t = Constant <value_int = 7> () y = Add (x, t)".to_owned(), vec![Code::OnnxType]),
    ] {
        assert_eq!(with_function(&nodes, "f (a) => (b) { b = Neg (a) }").0, wanted, "{nodes}");
    }
}

/// A chain of functions that each call the next one with several combinations of types.
#[test]
fn combinations_of_types_take_linear_time() {
    let mut text =
        format!("{HEAD} g (float x, int64 i, bool c) => (float y) {{ a, b, d = l.f0 (x, i, c) y = Neg (x) }}");
    for i in 0..60 {
        let next = format!("p, q, r = l.f{0} (b, c, a) s, t, u = l.f{0} (b, a, c) v, w, z = l.f{0} (r, s, a)", i + 1);
        let body = if i == 59 { "p = Identity (a) q = Identity (b) r = Identity (c)".to_owned() } else { next };
        text.push_str(&format!(
            " <domain: \"l\", opset_import: [\"\" : 21, \"l\" : 1]> f{i} (a, b, c) => (p, q, r) {{ {body} }}"
        ));
    }
    assert_eq!(codes(&document(&text).check(&Options::default())), []);
}

#[test]
fn places_in_protobuf_name_nodes() {
    let text = "g (float[2] x, bool c) => (float[2] y) {
        [first] t = Neg (x)
        [layer_4] y = If <then_branch = p () => (o) { [inner] o = Neg (zz) }, else_branch = q () => (o) { o = Neg (t) }> (c)
    } <domain: \"l\", opset_import: [\"\" : 21]> broken (a) => (b) { [two] b = Add (a) }";
    let bytes = document(&format!("{HEAD}{text}")).to_protobuf();
    let options = Options::default();
    let (document, _) = Document::decode("test", bytes, &mut Sources::new(), &options);
    let messages: Vec<String> = document.unwrap().check(&options).iter().map(|found| found.message.clone()).collect();
    assert_eq!(
        messages,
        [
            "`Add` has 2 inputs, this node has 1 (functions[0].node[0] 'two')",
            "`zz` is not defined (graph.node[1].attribute[0].g.node[0] 'inner')",
        ]
    );
}

/// Findings of an expansion have places, too.
#[test]
fn places_of_an_expansion_name_nodes() {
    let text = "g (float[2] x) => (float[2] y) { [first] t = Neg (x) [layer] y = l.f <k = 1.5> (t) }
        <domain: \"l\", opset_import: [\"\" : 21]> f <k> (a) => (b) { [soft] b = Softmax <axis: int = @k> (a) }";
    let bytes = document(&format!("{HEAD}{text}")).to_protobuf();
    let options = Options::default();
    let (document, _) = Document::decode("test", bytes, &mut Sources::new(), &options);
    let found = document.unwrap().flatten(&options).unwrap_err();
    let message = &found.iter().next().unwrap().message;
    assert!(message.ends_with("(functions[0].node[0] 'soft')"), "{message}");
}
