//! Annotations of quantized tensors name values as texts, which stay right in copies of their graph.
#![allow(clippy::unwrap_used, clippy::panic)]

use nnef_flatten::{Options, open};

use crate::common::protobuf::{field, varint};

fn number(field: u64, number: u64) -> Vec<u8> {
    [varint(field << 3), varint(number)].concat()
}

/// An annotation of a tensor, whose scale has a name.
fn annotation(tensor: &str, scale: &str) -> Vec<u8> {
    field(14, [field(1, tensor), field(2, [field(1, "SCALE_TENSOR"), field(2, scale)].concat())].concat())
}

/// A branch that gives a value, with annotations.
fn branch(name: &str, result: &str, annotations: &[u8]) -> Vec<u8> {
    let node = field(1, [field(1, "x"), field(2, result), field(4, "Relu")].concat());
    let graph = [node, field(2, "b"), field(12, field(1, result)), annotations.to_vec()].concat();
    field(5, [field(1, name), field(6, graph), number(20, 5)].concat())
}

/// An `If` with two branches that give this value.
fn choice(result: &str, inner: &str, annotations: &[u8]) -> Vec<u8> {
    let branches = ["then_branch", "else_branch"].map(|name| branch(name, inner, annotations)).concat();
    [field(1, "c"), field(2, result), field(4, "If"), branches].concat()
}

fn import(number_of_field: u64, domain: &str, version: u64) -> Vec<u8> {
    field(number_of_field, [field(1, domain), number(2, version)].concat())
}

fn value(field_of_graph: u64, name: &str, element: u64) -> Vec<u8> {
    let shape = field(2, []);
    field(field_of_graph, [field(1, name), field(2, field(1, [number(1, element), shape].concat()))].concat())
}

/// A model that calls a function with a choice, and has a choice of its own.
fn model(calls: usize, of_function: &[u8], of_graph: &[u8]) -> Vec<u8> {
    let call = |i: usize| {
        let (from, to) = (format!("v{i}"), format!("v{}", i + 1));
        field(1, [field(1, "c"), field(1, from), field(2, to), field(4, "f"), field(7, "l")].concat())
    };
    let chosen =
        [field(1, "f"), field(4, "c"), field(4, "x"), field(5, "y"), import(9, "", 17), field(10, "l")].concat();
    let function = field(25, [chosen, field(7, choice("y", "inner", of_function))].concat());
    let own = field(1, choice("own", "\u{1}1", of_graph));
    let nodes = (0..calls).flat_map(call).collect::<Vec<_>>();
    let values = [value(11, "c", 9), value(11, "x", 1), value(11, "v0", 1), value(12, "own", 1)];
    let last = value(12, &format!("v{calls}"), 1);
    let graph = [nodes, own, field(2, "g"), values.concat(), last].concat();
    [number(1, 9), import(8, "", 17), import(8, "l", 1), field(7, graph), function].concat()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn flat(model: Vec<u8>, options: &Options) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let input = open(("m", model), options).map_err(|refused| refused.to_string())?;
    input.print("onnx", &mut out).map_err(|refused| refused.to_string())?;
    Ok(out)
}

#[test]
fn annotations_name_the_values_of_their_copy() {
    // What looks like a mark of the program is a name as any other.
    let written =
        flat(model(2, &annotation("inner", "x"), &annotation("\u{1}1", "\u{1}2")), &Options::default()).unwrap();
    assert!(!has(&written, &annotation("inner", "x")));
    for (copy, given) in [("v1_inner", "v0"), ("v2_inner", "v1")] {
        assert!(has(&written, &annotation(copy, given)), "{}", String::from_utf8_lossy(&written));
    }
    assert!(has(&written, &annotation("\u{1}1", "\u{1}2")));
}

#[test]
fn annotations_of_copies_are_charged() {
    let many = (0..2000).flat_map(|i| annotation("inner", &format!("scale{i}"))).collect::<Vec<_>>();
    let options = Options::default().with(|options| options.max_memory = 8 << 20);
    flat(model(2, &many, &[]), &options).unwrap();
    let refused = flat(model(500, &many, &[]), &options).unwrap_err();
    assert!(refused.contains("--max-memory"), "{refused}");
}
