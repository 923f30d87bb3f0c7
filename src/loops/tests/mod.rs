//! Networks with loops: rules, lazy evaluation, unrolling, and hostile texts.
#![allow(clippy::unwrap_used, clippy::panic)]

mod building;
mod flat;
mod generated;
mod hostile;
#[cfg(feature = "eval")]
mod law;
mod rules;
mod semantics;
mod unrolling;

use crate::Options;
use crate::diagnostics::Diagnostics;
use crate::loops::Evaluation;
use crate::loops::network::Network;
use crate::source::Sources;
use crate::tensor::Tensor;
use crate::tests::all_near;

/// The text of a network with these layers, and the inputs and constants that all examples share.
fn text(layers: &str, outputs: &str) -> String {
    format!(
        r#"{{"inputs": {{"x": {{"dtype": "float32", "shape": [3, 2]}}, "v": {{"dtype": "float32", "shape": [2]}},
            "a": {{"dtype": "float32", "shape": []}}, "k": {{"dtype": "int32", "shape": []}}}},
  "constants": {{"n": {{"dtype": "int32", "data": 3}}, "two": {{"dtype": "int32", "data": 2}},
    "zero": {{"dtype": "int32", "data": 0}}, "one": {{"dtype": "int32", "data": 1}}, "len": {{"dtype": "int32", "data": 5}},
    "z": {{"dtype": "float32", "data": [0.0, 0.0]}}, "f0": {{"dtype": "float32", "data": 0.0}},
    "f1": {{"dtype": "float32", "data": 1.0}}, "half": {{"dtype": "float32", "data": 0.5}},
    "yes": {{"dtype": "bool", "data": true}}, "no": {{"dtype": "bool", "data": false}}}},
  "layers": [{layers}], "outputs": [{outputs}]}}"#
    )
}

const INPUTS: &str = r#"{"x": [[2, 3], [5, 4], [6, 8]], "v": [1, -1], "a": 100.0, "k": 2}"#;

fn read(text: &str, strict: bool) -> (Sources, Option<Network>, Diagnostics) {
    let mut sources = Sources::new();
    let (net, diagnostics) = Network::read("test", text.to_owned(), &mut sources, strict);
    (sources, net, diagnostics)
}

/// The network of a text without errors.
fn network(text: &str) -> Network {
    let (_, net, found) = read(text, false);
    assert!(!found.has_errors(), "{}", told(&found));
    net.unwrap()
}

fn told(found: &Diagnostics) -> String {
    found.iter().map(|d| format!("{} {:?} {}\n", d.code.as_str(), d.code.rule(), d.message)).collect()
}

fn values(net: &Network) -> Vec<(String, Tensor)> {
    let mut sources = Sources::new();
    net.read_inputs("inputs", INPUTS.to_owned(), &mut sources).unwrap()
}

fn run_with(text: &str, options: &Options) -> Result<Evaluation, Diagnostics> {
    let (_, net, mut found) = read(text, options.strict);
    let Some(net) = net.filter(|_| !found.has_errors()) else { return Err(found) };
    net.evaluate(values(&net), options).map_err(|errors| {
        found.extend(errors);
        found
    })
}

fn run(text: &str) -> Result<Evaluation, Diagnostics> {
    run_with(text, &Options::default())
}

/// The only output of a network, as floats.
fn output(text: &str) -> Vec<f64> {
    let found = run(text).unwrap_or_else(|found| panic!("{}", told(&found)));
    floats(&found.outputs[0].1)
}

fn floats(tensor: &Tensor) -> Vec<f64> {
    (0..tensor.data().len()).map(|i| tensor.data().float(i)).collect()
}

/// Asserts that two lists of outputs are equal except for rounding. NaN equals NaN.
fn assert_close(found: &[(String, Tensor)], wanted: &[(String, Tensor)], what: &str) {
    for (name, wanted) in wanted {
        let (_, found) = found.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("{what}: no {name}"));
        assert_eq!(found.shape(), wanted.shape(), "{what}: shape of {name}");
        let (found, wanted) = (floats(found), floats(wanted));
        assert!(all_near(&found, &wanted, 1e-5), "{what}: {name} is {found:?}, not {wanted:?}");
    }
}
