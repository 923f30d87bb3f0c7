//! The laws of the rules: what each leaves computes the same numbers, bit by bit, on edge values.

use super::RULES;
use crate::tensor::Tensor;
use crate::{Graph, Options, open};

/// Statements for each rule, which make `y` of `x`.
const CASES: &[(&str, &str)] = &[
    ("identity", "a = copy(x); y = neg(a);"),
    ("identity", "a = neg(x); y = copy(a);"),
    ("mul-1", "a = mul(1.0, x); y = neg(a);"),
    ("mul-1", "c = constant(shape = [2, 3], value = [1.0]); a = mul(x, c); y = neg(a);"),
    ("div-1", "a = div(x, 1.0); y = neg(a);"),
    ("pow-1", "a = pow(x, 1.0); y = neg(a);"),
    ("sub-0", "a = sub(x, 0.0); y = neg(a);"),
    ("add-0", "a = add(-0.0, x); y = neg(a);"),
    ("and-true", "c = gt(x, 0.0); a = and(true, c); y = select(a, x, 2.0);"),
    ("or-false", "c = gt(x, 0.0); a = or(c, false); y = select(a, x, 2.0);"),
    ("same-operands", "a = max(x, x); b = min(a, a); y = neg(b);"),
    ("undone", "a = neg(x); b = neg(a); y = exp(b);"),
    ("undone", "c = gt(x, 0.0); d = not(c); e = not(d); y = select(e, x, 2.0);"),
    ("repeated", "a = relu(x); b = relu(a); c = floor(b); d = floor(c); y = neg(d);"),
    ("repeated", "a = round(x); b = round(a); c = sign(b); d = sign(c); y = neg(d);"),
    ("repeated", "a = ceil(x); b = ceil(a); c = abs(b); d = abs(c); y = neg(d);"),
    ("single-operand", "a = concat([x], axis = 0); y = neg(a);"),
    ("where-known", "a = select(false, 2.0, x); y = neg(a);"),
    ("where-equal", "c = gt(x, 0.0); a = select(c, x, x); y = neg(a);"),
    ("slice-all", "a = slice(x, axes = [0, 1], begin = [0, 0], end = [0, 3]); y = neg(a);"),
    ("pad-nothing", "a = pad(x, padding = [(0, 0), (0, 0)]); y = neg(a);"),
    ("tile", "a = tile(x, repeats = [1, 1]); y = neg(a);"),
    ("split", "[a] = split(x, axis = 1, ratios = [1]); y = neg(a);"),
    ("transpose", "a = transpose(x, axes = [0, 1]); y = neg(a);"),
    ("reshape", "a = reshape(x, shape = [2, 3]); y = neg(a);"),
    ("squeeze", "a = squeeze(x, axes = []); y = neg(a);"),
    ("unsqueeze", "a = unsqueeze(x, axes = []); y = neg(a);"),
];

/// What is left alone: it changes something, at least for one operand.
const LEFT: &[&str] = &[
    "a = add(x, 0.0); y = neg(a);",
    "a = sub(x, -0.0); y = neg(a);",
    "a = sub(1.0, x); y = neg(a);",
    "a = div(1.0, x); y = neg(a);",
    "c = constant(shape = [2, 3, 2], value = [1.0]); a = mul(x, c); y = neg(a);",
    "c = variable(shape = [2, 3], label = 'c'); y = mul(x, c);",
    "a = slice(x, axes = [1], begin = [2], end = [0], stride = [-1]); y = neg(a);",
    "a = exp(x); y = log(a);",
    // The sum of one item begins with a zero.
    "a = add_n([x]); y = neg(a);",
    "a = abs(x); b = neg(a); y = abs(b);",
    "y = copy(x);",
];

fn graph(statements: &str) -> Graph {
    let text = format!("version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [2, 3]); {statements} }}");
    open(("test", text), &Options::default()).unwrap().flatten().unwrap().0
}

/// The bits of the output.
fn output(graph: &Graph, items: &[f64]) -> Vec<u64> {
    let mut text = Vec::new();
    graph.write_nnef(&mut text).unwrap();
    let x = Tensor::scalars(&[2, 3], items.to_vec()).unwrap();
    let (outputs, _) = open(("flat", text), &Options::default()).unwrap().evaluate(&[("x".into(), x)]).unwrap();
    assert_eq!(outputs[0].0, "y");
    outputs[0].1.to_scalars().into_iter().map(f64::to_bits).collect()
}

#[test]
fn every_rule_keeps_numbers_bit_by_bit() {
    for (rule, statements) in CASES {
        let source = graph(statements);
        let mut simple = graph(statements);
        let applied = simple.simplify(&|name| name == *rule, &[]);
        assert!(applied.iter().any(|(name, count)| name == rule && *count > 0), "{rule}: {applied:?}\n{simple}");
        assert!(simple.operations().len() < source.operations().len(), "{rule}\n{simple}");
        for items in
            [[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-45], [0.5, -0.5, 1.5, -2.5, 3.4e38, -1e-40]]
        {
            assert_eq!(output(&simple, &items), output(&source, &items), "{rule}\n{simple}");
        }
        assert!(simple.simplify(&|_| true, &[]).is_empty(), "{rule}\n{simple}");
    }
}

#[test]
fn every_rule_has_a_case() {
    for rule in RULES {
        assert!(CASES.iter().any(|case| case.0 == rule.name), "{}", rule.name);
    }
}

/// A rule has the name of one for models that does the same, whose row has the reason.
#[cfg(feature = "cli")]
#[test]
fn rules_are_those_of_models() {
    for rule in RULES {
        let own = crate::onnx::RULES.iter().find(|row| row.name == rule.name);
        assert!(own.is_some_and(|row| !row.merges), "{}", rule.name);
    }
}

#[test]
fn only_what_is_exact_is_done() {
    for statements in LEFT {
        let mut simple = graph(statements);
        assert_eq!(simple.simplify(&|_| true, &[]), [], "{statements}");
    }
}

#[test]
fn ends_keep_their_names() {
    let mut simple = graph("a = copy(x); b = mul(a, 1.0); y = copy(b);");
    simple.simplify(&|_| true, &[]);
    // The output is the input: one copy stays.
    assert_eq!(simple.to_string().matches("copy(x)").count(), 1, "{simple}");
    let mut simple = graph("a = exp(x); b = copy(a); y = copy(b);");
    simple.simplify(&|_| true, &[]);
    assert!(simple.to_string().contains("y = exp(x);"), "{simple}");
}
