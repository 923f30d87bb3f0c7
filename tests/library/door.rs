//! The door of the library: every notation has the same verbs, and findings are returned once.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::path::Path;

use nnef_flatten::diagnostics::Code;
use nnef_flatten::input::{Given, Refusal};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options, open};

const NNEF: &str = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = mul(x, 2.0); }";
const DRAFT: &str = "version 1.0\ngraph G( x ) -> ( y ) { x = external(shape = [2]) y = mul(x, 2.0) }";
const LOOPS: &str = r#"{"inputs": {"x": {"dtype": "float32", "shape": [2]}},
        "layers": [{"op": "add", "name": "y", "inputs": ["x", "x"]}], "outputs": ["y"]}"#;
const ONNXTXT: &str = "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] x) => (float[2] y) { y = Add (x, x) }";
const PNNX: &str = "7767517\n3 2\npnnx.Input in 0 1 x #x=(2)f32\n\
    pnnx.Expression e 1 1 x y expr=mul(@0,2)\npnnx.Output out 1 0 y\n";

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let mut onnx = Vec::new();
    open(("m", ONNXTXT), &Options::default()).unwrap().print("onnx", &mut onnx).unwrap();
    vec![
        ("nnef", NNEF.into()),
        ("nnef-draft", DRAFT.into()),
        ("loops", LOOPS.into()),
        ("onnx", onnx),
        ("onnxtxt", ONNXTXT.into()),
        ("pnnx", PNNX.into()),
    ]
}

#[test]
fn every_notation_is_recognized_checked_flattened_and_printed() {
    let options = Options::default();
    for (notation, bytes) in inputs() {
        let fresh = || open((notation, bytes.clone()), &options).unwrap();
        assert_eq!(fresh().notation(), notation);
        let found = fresh().check().unwrap();
        assert!(!found.has_errors(), "{notation}: {found}");
        for (graph, found) in [fresh().flatten(), fresh().graph()].map(|result| result.expect(notation)) {
            assert!(!found.has_errors(), "{notation}: {found}");
            assert_eq!(graph.outputs().len(), 1, "{notation}");
        }
        for to in ["json", "svg", "dot"] {
            let mut out = Vec::new();
            fresh().print(to, &mut out).expect(notation);
            assert!(!out.is_empty());
        }
    }
}

#[test]
fn every_notation_is_evaluated() {
    let x = Tensor::scalars(&[2], vec![0.5, 1.5]).unwrap();
    for (notation, bytes) in inputs() {
        let result = open((notation, bytes), &Options::default()).unwrap().evaluate(&[("x".to_owned(), x.clone())]);
        let (outputs, _) = result.expect(notation);
        assert_eq!(outputs.len(), 1);
        assert_eq!(outputs[0].1.to_scalars(), [1.0, 3.0], "{notation}");
    }
}

/// Models of ONNX, too, which are not flattened for it.
#[test]
fn values_and_shapes_of_options_hold_when_an_input_is_evaluated() {
    let nnef = "version 1.0; graph G( x, r ) -> ( y )
        { x = external(shape = [2]); r = external(shape = [2]); y = mul(x, r); }";
    let onnx = "<ir_version: 10, opset_import: [\"\" : 21]>
        g (float[N] x, float[N] r) => (float[N] y) { y = Mul (x, r) }";
    let tensor = |items: &[f64]| Tensor::scalars(&[items.len()], items.to_vec()).unwrap();
    for text in [nnef, onnx] {
        let bound = open(("m", text), &Options::default()).unwrap().bind("r", tensor(&[3.0, 4.0]));
        let (outputs, _) = bound.evaluate(&[("x".to_owned(), tensor(&[1.0, 2.0]))]).unwrap();
        assert_eq!(outputs[0].1.to_scalars(), [3.0, 8.0]);
    }
    let sized = Options::default().with(|options| options.shapes.symbols = vec![("N".to_owned(), 3.into())]);
    let given = ["x", "r"].map(|name| (name.to_owned(), tensor(&[1.0, 2.0])));
    let refused = open(("m", onnx), &sized).unwrap().evaluate(&given).err().unwrap();
    assert!(refused.to_string().contains("axis 0 of input `x` has extent 2, the model 3"), "{refused}");
}

#[test]
fn findings_are_returned_once_with_their_texts() {
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]; y = mul(z, 2.0); }";
    let fresh = || open(("broken", text), &Options::default()).unwrap();
    let found = fresh().check().unwrap();
    let Err(Refusal::Found(refused)) = fresh().flatten() else { panic!("it is not refused") };
    let wanted = "broken:1:62: E0206: expected `)` or `,`, found `;`\nbroken:1:72: E0606: `z` is not defined";
    for found in [&found, &*refused] {
        assert_eq!(found.to_string(), wanted);
    }
}

#[test]
fn evaluation_returns_what_checking_finds() {
    let text =
        "version 1.0; extension acme_writer; graph G( x ) -> ( y ) { x = external(shape = [2]); y = mul(x, 2.0); }";
    let fresh = || open(("warned", text), &Options::default()).unwrap();
    let codes =
        |found: &nnef_flatten::input::Findings| found.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>();
    let (outputs, found) =
        fresh().evaluate(&[("x".to_owned(), Tensor::scalars(&[2], vec![1.0, 2.0]).unwrap())]).unwrap();
    assert_eq!((outputs.len(), codes(&found)), (1, vec![Code::UnknownExtension]));
    assert_eq!(codes(&fresh().check().unwrap()), codes(&found));
}

#[test]
fn other_formats_and_unknown_names_are_refused_without_command_lines() {
    let refused = |given: Given| open(given, &Options::default()).err().expect("refused");
    for bytes in [&b"\x93NUMPY\x01\0"[..], b"", b"<!DOCTYPE html>", b"\xFD7zXZ\0", b"PK\x03\x04"] {
        let Refusal::Found(found) = refused(Given::from(("x", bytes))) else { panic!() };
        let found: Vec<_> = found.diagnostics.iter().collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, Code::ForeignInput);
        assert!(!found[0].to_string().contains("nnef-flatten"), "{}", found[0]);
    }
    assert!(matches!(refused(Given::from(("x", NNEF)).notation("caffe")), Refusal::Unfit(_)));
    assert!(matches!(refused(Given::from(Path::new("no such file"))), Refusal::Io { .. }));
    let printed = open(("x", NNEF), &Options::default()).unwrap().print("caffe", &mut Vec::new());
    assert!(matches!(printed, Err(Refusal::Unfit(_))));
}

#[test]
fn options_that_do_not_apply_to_networks_are_refused() {
    let options = Options::default().with(|options| options.lower = Lower::None);
    let refused = open(("net", LOOPS), &options).unwrap().flatten();
    let Err(Refusal::Found(found)) = refused else { panic!("{refused:?}") };
    assert!(found.diagnostics.iter().any(|found| found.code == Code::OptionOfDocuments), "{found}");
}

#[test]
fn models_are_read_with_their_data_within_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let text = "version 1.0; graph G( x ) -> ( y ) \
        { x = external(shape = [2]); w = variable(shape = [2], label = 'w'); y = mul(x, w); }";
    std::fs::write(folder.path().join("graph.nnef"), text).unwrap();
    std::fs::write(folder.path().join("w.dat"), Tensor::scalars(&[2], vec![2.0, 4.0]).unwrap().to_dat().unwrap())
        .unwrap();
    let x = ("x".to_owned(), Tensor::scalars(&[2], vec![1.0, 1.0]).unwrap());
    let (outputs, _) = open(folder.path(), &Options::default()).unwrap().evaluate(&[x]).unwrap();
    assert_eq!(outputs[0].1.to_scalars(), [2.0, 4.0]);
    let mut model = Vec::new();
    open(folder.path(), &Options::default()).unwrap().print("onnxtxt", &mut model).unwrap();
    assert!(String::from_utf8(model).unwrap().contains("Mul (x, w)"));
    assert!(!open(folder.path(), &Options::untrusted()).unwrap().check().unwrap().has_errors());
    for i in 0..10_000 {
        std::fs::write(folder.path().join(i.to_string()), "").unwrap();
    }
    assert!(!open(folder.path(), &Options::default()).unwrap().check().unwrap().has_errors());
    let untrusted = open(folder.path(), &Options::untrusted()).unwrap().check();
    let Err(Refusal::Found(found)) = untrusted else { panic!("too many files") };
    assert!(found.diagnostics.iter().any(|found| found.code == Code::ModelLimit), "{found}");
}

#[test]
fn tensors_are_found_by_their_names() {
    let text = "version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
        fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { long = exp(x); y = long * log(long) + long; }
        graph G( x ) -> ( y ) { x = external(shape = [2]); u = f(x); v = f(u); y = f(v); }";
    let (graph, _) = open(("paths", text), &Options::default()).unwrap().flatten().unwrap();
    assert!(graph.tensors().any(|tensor| graph.tensor_name(tensor).starts_with("u_long")));
    for tensor in graph.tensors() {
        assert_eq!(graph.tensor(&graph.tensor_name(tensor)), Some(tensor));
    }
    assert_eq!(graph.tensor("w"), None);
}
