//! Which operations are equal, and which names remain.

use crate::graph::tests::statements;
use crate::graph::{Graph, TensorId};
use crate::{Options, expand, parse};

fn graph(body: &str, outputs: &str, options: &Options) -> Graph {
    let text = format!(
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
         fragment own( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = exp(x); }}\n\
         graph G( x ) -> ( {outputs} )\n{{\nx = external(shape = [2, 4]);\n{body}\n}}\n"
    );
    let parsed = parse("test", text.clone(), options);
    expand(&parsed.document, options).unwrap_or_else(|errors| panic!("{errors}\n{text}")).graph
}

/// Asserts the statements of a body with an output `y` after merging.
fn check(body: &str, outputs: &str, wanted: &str) {
    let mut graph = graph(body, outputs, &Options::default());
    let before = graph.operations.len();
    let removed = graph.share(&[]);
    assert_eq!(before - removed, graph.operations.len(), "{body}");
    assert_eq!(graph.verify(), Vec::<String>::new(), "{body}");
    assert_eq!(statements(&graph), wanted, "{body}");
    assert_eq!(graph.share(&[]), 0, "{body}");
    assert_eq!(statements(&graph), wanted, "{body}");
}

/// Asserts how many of the operands of `concat` are merged with others.
fn merged(operands: &[&str], wanted: usize) {
    let body = format!("y = concat([{}], axis = 1);", operands.join(", "));
    assert_eq!(graph(&body, "y", &Options::default()).share(&[]), wanted, "{body}");
}

#[test]
fn equal_operations_become_one() {
    check("y = add(exp(x), exp(x));", "y", "y_exp1 = exp(x); y = add(y_exp1, y_exp1);");
    // Operations are equal if their operands are.
    check("y = add(neg(exp(x)), neg(exp(x)));", "y", "y_exp1 = exp(x); y_neg1 = neg(y_exp1); y = add(y_neg1, y_neg1);");
    // All results, also of an array.
    check(
        "[a, b] = split(x, axis = 1, ratios = [1, 1]); [c, d] = split(x, axis = 1, ratios = [1, 1]); y = add(b, d);",
        "y",
        "[a, b] = split(x, axis = 1, ratios = [1, 1]); [c, d] = split(x, axis = 1, ratios = [1, 1]); y = add(b, b);",
    );
}

#[test]
fn arguments_are_compared_with_defaults_and_by_bits() {
    merged(&["softmax(x)", "softmax(x, axes = [1])", "softmax(axes = [1], x = x)"], 2);
    merged(&["softmax(x)", "softmax(x, axes = [0])"], 0);
    merged(&["add(x, 0.0)", "add(x, 0.0)", "add(0.0, x)"], 1);
    merged(&["add(x, 0.0)", "add(x, -0.0)"], 0);
    merged(&["add(x, 1.0)", "add(x, 1)"], 0);
    let constant = |values: &str| format!("constant(shape = [1, 2], value = [{values}])");
    merged(&[&constant("1.0, 0.0"), &constant("1.0, 0.0"), &constant("1.0, -0.0"), &constant("1.0")], 1);
}

#[test]
fn only_functions_of_the_standard_are_merged() {
    merged(&["vendor_noise(x)", "vendor_noise(x)"], 0);
    merged(&["variable(shape = [2, 4], label = 'w')", "variable(shape = [2, 4], label = 'w')"], 0);
    let keep = Options { keep: vec!["own".into()], ..Options::default() };
    assert_eq!(graph("y = add(own(x), own(x));", "y", &keep).share(&[]), 0);
    assert_eq!(graph("y = add(own(x), own(x));", "y", &Options::default()).share(&[]), 1);
}

#[test]
fn names_of_the_document_remain() {
    // The first operation gets the name of a later one.
    check("y = neg(exp(x)); e = exp(x); z = neg(e);", "y, z", "e = exp(x); y = neg(e); z = neg(e);");
    // A later operation without a name is merged with a named one.
    check("e = exp(x); y = neg(exp(x));", "y", "e = exp(x); y = neg(e);");
    // Two names need two operations, but the first is used.
    check("a = exp(x); b = exp(x); y = add(a, b);", "y", "a = exp(x); b = exp(x); y = add(a, a);");
    // Outputs remain outputs, in order.
    check("a = relu(neg(x)); y = neg(x); z = neg(x);", "z, y", "y = neg(x); a = relu(y); z = neg(x);");
}

#[test]
fn an_operation_comes_from_where_its_name_does() {
    let mut graph = graph("y = neg(own(x)); e = exp(x);", "y, e", &Options::default());
    graph.share(&[]);
    let e = &graph.operations[1];
    assert_eq!(graph.tensor_name(graph.tensors_of(e).next().unwrap()), "e");
    assert_eq!(graph.calls(e).count(), 0);
}

#[test]
fn tensors_that_are_kept_apart_are_not_merged() {
    let merged = |names: &[&str]| {
        let mut graph = graph("a = exp(x); y = neg(exp(x)); z = neg(exp(x));", "y, z", &Options::default());
        let ids = (0..graph.tensors.len()).map(|i| TensorId(i as u32));
        let apart: Vec<TensorId> = ids.filter(|id| names.contains(&graph.tensor_name(*id).as_str())).collect();
        graph.share(&apart)
    };
    assert_eq!([merged(&[]), merged(&["a"]), merged(&["a", "y_exp1"]), merged(&["x"])], [2, 1, 0, 2]);
}
