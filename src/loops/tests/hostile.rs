//! Hostile texts are refused in bounded time and memory.

use super::{read, run_with, text, told, values};
use crate::Options;
use crate::loops::Network;

/// Reads, checks, evaluates and unrolls; a panic fails the test.
fn survives(text: &str) -> String {
    let options = Options {
        unroll: true,
        max_steps: 200_000,
        max_ops: 10_000,
        max_bytes: 64 << 20,
        max_trips: Some(100),
        ..Options::default()
    };
    let (_, net, mut found) = read(text, false);
    if let Some(net) = net {
        found.extend(net.check(false));
        let given = values_if(&net);
        found.extend(net.evaluate(given, &options).map_or_else(|found| found, |done| done.diagnostics));
        found.extend(net.unroll(&options).map_or_else(|found| found, |done| done.diagnostics));
    }
    told(&found)
}

fn values_if(net: &Network) -> Vec<(String, crate::tensor::Tensor)> {
    if net.inputs.len() == 4 { values(net) } else { Vec::new() }
}

#[test]
fn deep_and_large_texts() {
    for text in ["[", "{\"a\":", "[[{\"a\": "] {
        assert!(survives(&text.repeat(100_000)).contains("E0003"));
    }
    let nested = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    let deep =
        format!(r#"{{"constants": {{"c": {{"dtype": "int32", "data": {nested}}}}}, "layers": [], "outputs": ["c"]}}"#);
    assert!(survives(&deep).contains("too large"));
    let huge = r#"{"inputs": {"x": {"dtype": "float32", "shape": [100000000000, 100000000000]}}, "layers": [{"op": "add", "name": "y", "inputs": ["x", "x"]}], "outputs": ["y"]}"#;
    assert!(survives(huge).contains("too large"));
}

#[test]
fn wrong_types_everywhere() {
    let whole = text(
        r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x", "axis": 0, "reverse": false},
        {"op": "recurrence", "loop": "L", "name": "s", "initial": "z", "next": "t"}, {"op": "slice", "name": "u", "inputs": ["s"], "axes": [0], "begin": [0], "end": [2], "stride": [1]},
        {"op": "add", "name": "t", "inputs": ["u", "r"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "reverse", "input": "t", "axis": 1, "length": "len"}"#,
        r#""y""#,
    );
    let json = crate::source::json::parse(&whole).unwrap();
    let mut places = Vec::new();
    collect(&json, &mut places);
    for at in places {
        for other in
            ["null", "true", "-7", "9223372036854775807", "1e999", "\"x\"", "\"y\"", "[]", "{}", "[[], [1]]", "NaN"]
        {
            let mut changed = whole.clone();
            changed.replace_range(at.clone(), other);
            survives(&changed);
        }
    }
}

fn collect(json: &crate::source::json::Json, places: &mut Vec<std::ops::Range<usize>>) {
    places.push(json.at.range());
    for item in json.as_array().unwrap_or_default() {
        collect(item, places);
    }
    for member in json.as_object().unwrap_or_default() {
        collect(&member.value, places);
    }
}

/// Values that grow in each trip, huge counts, nested loops.
#[test]
fn growth_is_bounded() {
    let outer = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "big"}, {"op": "recurrence", "loop": "L", "name": "s", "initial": "zero", "next": "s1"},
        {"op": "add", "name": "s1", "inputs": ["s", "one"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "s", "length": "big"}"#;
    let big = r#""big": {"dtype": "int64", "data": 4611686018427387904}, "len": "#;
    let found = survives(&text(outer, r#""y""#).replace(r#""len": "#, big));
    assert!(found.contains("E0814"), "{found}");
    let wide = r#"{"op": "unsqueeze", "name": "c", "inputs": ["x"], "axes": [0, 1, 2]}, {"op": "reshape", "name": "y", "inputs": ["x"], "shape": [6, -1, -1]}"#;
    assert!(survives(&text(wide, r#""y""#)).contains("E0923"));
    let mut layers = String::new();
    let mut inner = "f0".to_owned();
    for i in 0..200 {
        layers += &format!(
            r#"{{"op": "trip_limit", "loop": "L{i}", "kind": "count", "input": "n"}}, {{"op": "recurrence", "loop": "L{i}", "name": "s{i}", "initial": "{inner}", "next": "s{i}"}}, "#
        );
        inner = format!("s{i}");
    }
    layers += r#"{"op": "neg", "name": "y", "inputs": ["v"]}"#;
    assert!(survives(&text(&layers, r#""y""#)).contains("E0003"));
}

#[test]
fn a_loop_of_a_wide_shape_is_too_large() {
    let layers = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x"},
        {"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "length": "big"}"#;
    let big = r#""big": {"dtype": "int64", "data": 4611686018427387904}, "len": "#;
    let found = run_with(&text(layers, r#""y""#).replace(r#""len": "#, big), &Options::default()).unwrap_err();
    assert!(told(&found).contains("too large"), "{}", told(&found));
}
