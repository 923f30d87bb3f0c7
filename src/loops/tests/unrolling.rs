//! Unrolled loops: their text, and that they are equivalent to the loops.

use super::{assert_close, flat, network, read, run_with, text, told, values};
use crate::Options;
use crate::diagnostics::Diagnostics;
use crate::loops::network::{LimitKind, Network, OutputKind};
use crate::loops::ops::Op;
use crate::tensor::{DType, Data, Tensor};
use crate::{Graph, expand, parse};

pub(super) fn unroll_with(net: &Network, options: &Options) -> Result<Graph, Diagnostics> {
    let options = Options { unroll: true, ..options.clone() };
    net.unroll(&options).map(|expansion| expansion.graph)
}

/// The flat graph of a network, whose invariants were verified and whose text was read again.
pub(super) fn unrolled(net: &Network, options: &Options) -> Graph {
    let graph = unroll_with(net, options).unwrap_or_else(|found| panic!("{}", told(&found)));
    assert!(Graph::verify(&graph).is_empty(), "{:?}\n{}", Graph::verify(&graph), flat_text(&graph));
    let text = flat_text(&graph);
    let strict = crate::Options { strict: true, ..Default::default() };
    let parsed = parse("flat", text.clone(), &strict);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{}", told(&parsed.diagnostics));
    let again = expand(&parsed.document, &strict).unwrap_or_else(|found| panic!("{text}\n{}", told(&found)));
    assert_eq!(flat_text(&again.graph), text);
    for (a, b) in graph.operations.iter().zip(&again.graph.operations) {
        for (a, b) in graph.outputs_of(a).zip(again.graph.outputs_of(b)) {
            let shape = |graph: &Graph, id: crate::graph::TensorId| graph.shape(id).cloned();
            assert_eq!(shape(&graph, a.tensors()[0]), shape(&again.graph, b.tensors()[0]), "{text}");
        }
    }
    graph
}

fn flat_text(graph: &Graph) -> String {
    let mut out = Vec::new();
    graph.write_nnef(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn body(graph: &Graph) -> Vec<String> {
    let text = flat_text(graph);
    text.lines().filter(|line| line.contains(" = ")).map(|line| line.trim().trim_end_matches(';').to_owned()).collect()
}

const LIMIT: &str = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}"#;

#[test]
fn names_have_the_number_of_the_trip() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "iterator", "loop": "L", "name": "r", "input": "x"}}, {{"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "t"}},
        {{"op": "add", "name": "q", "inputs": ["s", "a"]}}, {{"op": "add", "name": "t", "inputs": ["q", "r"]}}, {{"op": "neg", "name": "r_1", "inputs": ["a"]}},
        {{"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}}"#
    );
    let graph = unrolled(&network(&text(&layers, r#""y", "r_1""#)), &Options::default());
    let found = body(&graph);
    let wanted = [
        "x = external(shape = [3, 2])",
        "v = external(shape = [2])",
        "a = external(shape = [])",
        "k = external<integer>(shape = [])",
        "r_1 = neg(a)",
        "[r_0, r_1_2, r_2] = unstack(x, axis = 0)",
        "constant = constant(shape = [2], value = [0.0])",
        "a_unsqueezed = unsqueeze(a, axes = [0])",
        "q_0 = add(constant, a_unsqueezed)",
        "t_0 = add(q_0, r_0)",
        "q_1 = add(t_0, a_unsqueezed)",
        "t_1 = add(q_1, r_1_2)",
        "q_2 = add(t_1, a_unsqueezed)",
        "t_2 = add(q_2, r_2)",
        "y = copy(t_2)",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn what_is_known_is_computed() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "recurrence", "loop": "L", "name": "p", "initial": "zero", "next": "q"}}, {{"op": "recurrence", "loop": "L", "name": "q", "initial": "one", "next": "s"}},
        {{"op": "add", "name": "s", "inputs": ["p", "q"]}}, {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "s", "length": "len"}}"#
    );
    let text = text(&layers, r#""y""#);
    let without = format!("{{\"inputs\": {{}}, {}", &text[text.find("\"constants\"").unwrap()..]);
    let graph = unrolled(&network(&without), &Options::default());
    assert_eq!(
        body(&graph),
        ["y = constant<integer>(shape = [5], value = [1, 2, 3, 0, 0])", "unused = external(shape = [1])"]
    );
}

#[test]
fn names_become_identifiers() {
    let text = r#"{"name": "my net", "inputs": {"x:0": {"dtype": "float32", "shape": [2]}, "x_0": {"dtype": "float32", "shape": [2]}},
        "constants": {}, "layers": [{"op": "add", "name": "fragment", "inputs": ["x:0", "x_0"]}, {"op": "neg", "name": "2nd", "inputs": ["fragment"]}], "outputs": ["2nd"]}"#;
    let graph = unrolled(&network(text), &Options::default());
    assert!(flat_text(&graph).contains("graph my_net(x_0_2, x_0) -> (_2nd)"), "{}", flat_text(&graph));
}

/// Networks that cannot be unrolled: the layers, and a part of the message.
const BLOCKED: &[(&str, &str)] = &[
    (
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "k"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "n"}"#,
        "the count of `L` is `k`",
    ),
    (
        r#"{"op": "recurrence", "loop": "L", "name": "s", "initial": "a", "next": "t"}, {"op": "mul", "name": "t", "inputs": ["s", "half"]}, {"op": "greater", "name": "c", "inputs": ["s", "f1"]}, {"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#,
        "the condition of `L` is `c`",
    ),
    (r#"{"op": "add", "name": "y", "inputs": ["k", "one"]}"#, "`add` of `y` is on int32 tensors"),
    (
        r#"{"op": "gather", "name": "y", "inputs": ["v", "k"]}"#,
        "`gather` of `y` is by an index that is known only at run time",
    ),
    (
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "zero"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "zero"}"#,
        "`y` is empty",
    ),
    (
        r#"{"op": "log", "name": "m", "inputs": ["f0"]}, {"op": "max", "name": "y", "inputs": ["m", "v"]}"#,
        "cannot write infinities",
    ),
    (r#"{"op": "reduce_prod", "name": "y", "inputs": ["v"]}"#, "has no counterpart"),
];

#[test]
fn what_cannot_be_flat_is_told_with_what_blocks_it() {
    for (layers, message) in BLOCKED {
        let Err(found) = unroll_with(&network(&text(layers, r#""y""#)), &Options::default()) else {
            panic!("{message}")
        };
        assert!(told(&found).starts_with("E0924") && told(&found).contains(message), "{}", told(&found));
    }
    let layers = format!(
        r#"{LIMIT}, {{"op": "iterator", "loop": "L", "name": "r", "input": "x"}}, {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "n"}}"#
    );
    let kept = network(&text(&layers, r#""y""#)).unroll(&Options::default());
    assert!(told(&kept.unwrap_err()).contains("--unroll"));
}

#[test]
fn operations_count() {
    let layers = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "big"}, {"op": "recurrence", "loop": "L", "name": "s", "initial": "v", "next": "t"},
        {"op": "neg", "name": "t", "inputs": ["s"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#;
    let text = text(layers, r#""y""#)
        .replace(r#""len": "#, r#""big": {"dtype": "int64", "data": 9223372036854775807}, "len": "#);
    let found = unroll_with(&network(&text), &Options { max_ops: 1000, ..Options::default() }).unwrap_err();
    assert!(
        told(&found).starts_with("E0811") && told(&found).contains("more than 1000 operations"),
        "{}",
        told(&found)
    );
}

/// Outputs of a loop whose condition depends on data, unrolled with predication.
const PREDICATED: &[&str] = &[
    r#"{"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#,
    r#"{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "t", "length": "eight"}"#,
    r#"{"op": "loop_output", "loop": "L", "name": "y", "kind": "reverse", "input": "t", "length": "eight"}"#,
    r#"{"op": "recurrence", "loop": "L", "name": "i", "initial": "zero", "next": "i1"}, {"op": "add", "name": "i1", "inputs": ["i", "one"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "i"}"#,
];

#[test]
fn predicated_loops_mean_the_same() {
    for outputs in PREDICATED {
        let layers = format!(
            r#"{{"op": "recurrence", "loop": "L", "name": "s", "initial": "a", "next": "t"}}, {{"op": "mul", "name": "t", "inputs": ["s", "half"]}},
            {{"op": "greater", "name": "c", "inputs": ["s", "f1"]}}, {{"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"}}, {outputs}"#
        );
        let text = text(&layers, r#""y""#).replace(r#""len": "#, r#""eight": {"dtype": "int64", "data": 8}, "len": "#);
        let net = network(&text);
        let graph = unrolled(&net, &Options { max_trips: Some(12), ..Options::default() });
        for (start, finishes) in [(100.0f32, true), (1.0, true), (-3.0, true), (130.0, true), (1e9, false)] {
            let mut inputs = values(&net);
            inputs.retain(|(name, _)| name != "a");
            inputs.push(("a".to_owned(), Tensor::scalar(crate::tensor::Data::Float32(vec![start])).unwrap()));
            let found = flat::evaluate(&graph, &inputs);
            let finished = found.iter().find(|(name, _)| name == "finished").unwrap().1.as_bool();
            assert_eq!(finished, Some(finishes), "{start}: {outputs}");
            if finishes {
                let wanted = net.evaluate(inputs, &Options::default()).unwrap();
                assert_close(&found, &wanted.outputs, &format!("{start}: {outputs}"));
            }
        }
    }
}

/// The networks of the conformance suite: the flat graph of each is equivalent.
#[test]
fn the_corpus_means_the_same_flat() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/tables/loops/loops_valid.json");
    let text = std::fs::read_to_string(path).unwrap();
    let cases = crate::source::json::parse(&text).unwrap();
    let mut flat_ones = 0;
    for case in cases.as_array().unwrap() {
        let part = |key: &str| &text[case.get(key).unwrap().at.range()];
        let net = network(part("net"));
        let mut sources = crate::source::Sources::new();
        let inputs = net.read_inputs("inputs", part("inputs").to_owned(), &mut sources).unwrap();
        let Ok(_) = unroll_with(&net, &Options::default()) else { continue };
        let graph = unrolled(&net, &Options::default());
        let wanted = net.evaluate(inputs.clone(), &Options::default()).unwrap();
        assert_close(&flat::evaluate(&graph, &inputs), &wanted.outputs, part("name"));
        flat_ones += 1;
    }
    // The others have conditions, counts or indices that are only known at run time.
    assert_eq!(flat_ones, 22);
}

#[test]
fn broken_networks_are_not_unrolled() {
    let (_, net, _) = read(&text(r#"{"op": "neg", "name": "y", "inputs": ["nope"]}"#, r#""y""#), false);
    let refused = unroll_with(&net.unwrap(), &Options::default()).err().map(|found| told(&found));
    assert!(refused.is_some_and(|told| told.contains("E0974")));
    let refused = run_with("[]", &Options::default()).err().map(|found| told(&found));
    assert!(refused.is_some_and(|told| told.contains("E0920")));
}

/// A large weight matrix is in the graph once, not once for each trip; the operand gets a new axis.
#[test]
fn large_constants_are_written_once() {
    let mut net = Network::new("weights");
    let x = net.input("x", DType::Float32, &[1, 1, 10]);
    let weights = Tensor::new([10, 10].as_slice(), Data::Float32(vec![0.25; 100])).unwrap();
    let weights = net.constant("w", weights);
    let trips = net.constant("n", Tensor::scalar(Data::Int64(vec![4])).unwrap());
    let of = net.add_loop("L");
    net.trip_limit(of, LimitKind::Count, trips);
    let state = net.recurrence(of, "s", x);
    let next = net.operation("t", Op::find("matmul").unwrap(), &[state, weights]);
    net.set_next(state, next);
    let last = net.loop_output(of, "y", OutputKind::LastValue, state, 0);
    net.mark_output(last);
    let graph = unrolled(&net, &Options::default());
    let count =
        |name: &str| graph.operations.iter().filter(|operation| graph.operation_name(operation) == name).count();
    assert_eq!((count("constant"), count("matmul")), (1, 4));
}

#[test]
fn outputs_that_are_inputs_or_repeated_are_copies() {
    let graph = unrolled(
        &network(&text(r#"{"op": "neg", "name": "y", "inputs": ["v"]}"#, r#""v", "y", "y", "v""#)),
        &Options::default(),
    );
    let outputs: Vec<String> = graph.outputs.iter().map(|output| graph.tensor_name(*output)).collect();
    assert_eq!(outputs, ["v_copy", "y", "y_copy", "v_copy_2"]);
    assert!(
        body(&graph).ends_with(
            &["y = neg(v)", "v_copy = copy(v)", "y_copy = copy(y)", "v_copy_2 = copy(v)"].map(str::to_owned)
        )
    );
    // An identity has no operation of its own, so both outputs are copies.
    let layers = r#"{"op": "neg", "name": "e", "inputs": ["v"]}, {"op": "identity", "name": "y", "inputs": ["e"]}"#;
    let graph = unrolled(&network(&text(layers, r#""y", "y""#)), &Options::default());
    let found = body(&graph);
    assert_eq!(found[found.len() - 3..], ["e = neg(v)", "y = copy(e)", "y_copy = copy(e)"]);
}
