//! Loops whose conditions depend on tensors: trips that are not active leave the state, and fill what is collected.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use crate::common::corpus::flatten;
use nnef_flatten::eval::Evaluator;
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Options, expand, parse};

fn document(statements: &str, outputs: &str) -> String {
    format!(
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
         extension flatten_loops;\ngraph G( x ) -> ( {outputs} )\n{{\n    x = external(shape = []);\n{statements}\n}}\n"
    )
}

/// The outputs for a number.
fn computed(statements: &str, outputs: &str, x: f64) -> Vec<Vec<f64>> {
    let options = Options::default().with(|options| options.unroll = true);
    let parsed = parse("g.nnef", document(statements, outputs), &options);
    let graph = expand(&parsed.document, &options).unwrap_or_else(|found| panic!("{found:?}")).graph;
    let inputs = [("x".to_owned(), Tensor::scalars(&[], vec![x]).unwrap())];
    let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new()).unwrap();
    found.outputs.iter().map(|(_, tensor)| tensor.to_scalars()).collect()
}

/// The codes of the errors of a document.
fn refused(statements: &str) -> Vec<String> {
    let (_, found) = flatten(&document(statements, "r"), &Options::default());
    found.errors.iter().map(|error| error.chars().take(5).collect()).collect()
}

#[test]
fn numbers_and_truth_values_are_collected() {
    let body = "    r, all, counts, flags = with s = x while s < 10.0 do..(3) { yield s * 2.0, s, 7, true; };
    a = stack(all, axis = 0);
    b = stack([for c in counts yield c + select(x < 0.0, 1, 0)], axis = 0);
    f = stack([for c in flags yield c && x > 0.0], axis = 0);";
    let found = computed(body, "r, a, b, f", 4.0);
    // 4 and 8 are less than 10; the third trip is not active.
    assert_eq!(found[0], [16.0]);
    assert_eq!(found[1], [4.0, 8.0, 0.0]);
    assert_eq!(found[2], [7.0, 7.0, 0.0]);
    assert_eq!(found[3], [1.0, 1.0, 0.0]);
    assert_eq!(computed(body, "r, a, b, f", 10.0)[..2], [vec![10.0], vec![0.0, 0.0, 0.0]]);
}

#[test]
fn lists_of_tensors_are_collected() {
    let body = "    r, all = with s = x while s < 10.0 do..(2) { yield s * 2.0, [s, s + 1.0]; };
    a = stack([for pair in all yield pair[0] + pair[1]], axis = 0);";
    assert_eq!(computed(body, "r, a", 6.0), [vec![12.0], vec![13.0, 0.0]]);
    assert_eq!(computed(body, "r, a", 2.0), [vec![8.0], vec![5.0, 9.0]]);
}

#[test]
fn lists_are_states() {
    let body = "    r = with s = [x, 1.0] while s[0] < 10.0 do..(3) { yield [s[0] * 2.0, s[1] + 1.0]; };
    a = copy(r[0]);
    b = copy(r[1]);";
    assert_eq!(computed(body, "a, b", 4.0), [vec![16.0], vec![3.0]]);
}

#[test]
fn what_depends_on_tensors_is_refused() {
    for (statements, code) in [
        ("    n = cast<integer>(x);\n    r = with s = x do..(n) exp(s);", "E0932"),
        ("    r = with s = x while 'yes' do..(2) exp(s);", "E0934"),
        ("    r = with s = x while s < 1.0 do exp(s);", "E0924"),
        ("    r = with s = x for t : x do add(s, t);", "E0712"),
        ("    r = with s = x for t : 3 do add(s, x);", "E0712"),
    ] {
        assert_eq!(refused(statements), [code], "{statements}");
    }
}
