//! Which operations become constants, and which remain.

use crate::eval::Limits;
use crate::graph::tests::statements;
use crate::graph::{Graph, TensorId};
use crate::{Dialect, Options, expand, parse};

fn graph(body: &str, header: &str, options: &Options) -> Graph {
    let text = format!("{header}graph G( x ) -> ( y )\n{{\nx = external(shape = [2]);\n{body}\n}}\n");
    let parsed = parse("test", text.clone(), options);
    expand(&parsed.document, options).unwrap_or_else(|errors| panic!("{errors}\n{text}")).graph
}

const V1: &str = "version 1.0;\nextension KHR_enable_operator_expressions;\n";

/// Asserts the statements of a body after folding.
fn check(body: &str, wanted: &str) {
    let mut graph = graph(body, V1, &Options::default());
    graph.fold(Limits::default(), &[], false);
    assert_eq!(graph.verify(), Vec::<String>::new(), "{body}");
    assert_eq!(statements(&graph), wanted, "{body}");
    assert_eq!(graph.fold(Limits::default(), &[], false), 0, "{body}");
}

/// The number of operations that become constants.
fn folded(body: &str) -> usize {
    graph(&format!("{body} y = relu(x);"), V1, &Options::default()).fold(Limits::default(), &[], false)
}

#[test]
fn attributes_get_known_numbers() {
    check(
        "n = constant<integer>(shape = [1], value = [2]); y = tile(x, repeats = n);",
        "n = constant<integer>(shape = [1], value = [2]); y = tile(x, repeats = [2]);",
    );
}

#[test]
fn operations_on_constants_become_constants() {
    check(
        "y = mul(x, neg(sqrt(constant(shape = [2], value = [4.0, 0.0]))));",
        "y_neg1 = constant(shape = [2], value = [-2.0, -0.0]); y = mul(x, y_neg1);",
    );
    // Equal items are written once.
    check(
        "y = add(x, neg(constant(shape = [2], value = [1.0, 1.0])));",
        "y_neg1 = constant(shape = [2], value = [-1.0]); y = add(x, y_neg1);",
    );
    check(
        "y = mul(x, add(0.1, 0.2));",
        "y_add1 = constant(shape = [], value = [0.30000000000000004]); y = mul(x, y_add1);",
    );
    // Several results, and a compound.
    check(
        "[a, b] = split(constant(shape = [4], value = [1.0, 2.0, 3.0, 4.0]), axis = 0, ratios = [1, 1]); y = add(a, x);",
        "a = constant(shape = [2], value = [1.0, 2.0]); b = constant(shape = [2], value = [3.0, 4.0]); y = add(a, x);",
    );
    check(
        "y = mul(x, l1_normalization(constant(shape = [2], value = [1.0, 3.0]), axes = [0]));",
        "y_l1_normalization1 = constant(shape = [2], value = [0.25, 0.75]); y = mul(x, y_l1_normalization1);",
    );
    // Other items than scalars.
    check(
        "y = select(not(constant<logical>(shape = [2], value = [true, false])), x, 0.0);",
        "y_not1 = constant<logical>(shape = [2], value = [false, true]); y = select(y_not1, x, 0.0);",
    );
    check(
        "y = gather(x, copy(constant<integer>(shape = [2], value = [1, 0])));",
        "y_copy1 = constant<integer>(shape = [2], value = [1, 0]); y = gather(x, y_copy1);",
    );
}

#[test]
fn names_of_the_document_remain() {
    let body = "c = constant(shape = [2], value = [4.0, 9.0]); d = sqrt(c); y = mul(x, d);";
    check(
        body,
        "c = constant(shape = [2], value = [4.0, 9.0]); d = constant(shape = [2], value = [2.0, 3.0]); y = mul(x, d);",
    );
    let body = "y = mul(x, sqrt(constant(shape = [2], value = [4.0, 9.0])));";
    let mut kept = graph(body, V1, &Options::default());
    assert_eq!(kept.fold(Limits::default(), &[], true), 1);
    assert_eq!(
        statements(&kept),
        "y_constant1 = constant(shape = [2], value = [4.0, 9.0]); y_sqrt1 = constant(shape = [2], value = [2.0, 3.0]); \
         y = mul(x, y_sqrt1);"
    );
}

#[test]
fn what_cannot_be_a_constant_remains() {
    let of = |values: &str| format!("constant(shape = [2], value = [{values}])");
    for body in [
        // Not finite.
        format!("a = rcp({});", of("0.0, 1.0")),
        format!("a = log({});", of("-1.0, 1.0")),
        // Not computed, or not from the document.
        format!("a = vendor({});", of("1.0, 2.0")),
        "a = neg(variable(shape = [2], label = 'w'));".to_owned(),
        "a = neg(x);".to_owned(),
        // Out of range.
        "a = gather(constant(shape = [2], value = [1.0, 2.0]), constant<integer>(shape = [1], value = [7]));"
            .to_owned(),
    ] {
        assert_eq!(folded(&body), 0, "{body}");
    }
    assert_eq!(folded(&format!("a = neg({});", of("1.0, 2.0"))), 1);
}

#[test]
fn sizes_and_work_have_limits() {
    let ramp = |count: usize| {
        let values: Vec<String> = (0..count).map(|i| format!("{i}.0")).collect();
        format!("constant(shape = [{count}], value = [{}])", values.join(", "))
    };
    assert_eq!(folded(&format!("a = neg({});", ramp(5000))), 1);
    assert_eq!(folded(&format!("a = tile({}, repeats = [2]);", ramp(512))), 1);
    assert_eq!(folded(&format!("a = tile({}, repeats = [2]);", ramp(513))), 0);
    assert_eq!(folded("a = neg(constant(shape = [1000, 1000], value = [1.0]));"), 1);
    assert_eq!(folded("a = neg(constant(shape = [1000, 10000], value = [1.0]));"), 0);
    // Sizes do not double along a chain.
    let doubled: Vec<String> = (1..60).map(|i| format!("t{i} = concat([t{0}, neg(t{0})], axis = 0);", i - 1)).collect();
    assert!(folded(&format!("t0 = {}; {}", ramp(2), doubled.join(" "))) < 30);
    // An operation that takes too much does not keep others from being folded.
    let square = "constant(shape = [1000, 1000], value = [1.0])";
    assert_eq!(folded(&format!("a = matmul({square}, {square}); b = neg({});", ramp(3))), 1);
    let mut graph = graph(&format!("y = add(x, neg({}));", ramp(2)), V1, &Options::default());
    assert_eq!(graph.fold(Limits { max_work: 3, ..Limits::default() }, &[], false), 0);
    assert_eq!(graph.fold(Limits::default(), &[], false), 1);
}

#[test]
fn tensors_that_are_kept_apart_are_no_constants() {
    let body = "c = constant(shape = [2], value = [4.0, 9.0]); d = sqrt(c); e = neg(d); y = mul(x, e);";
    for (name, wanted) in [("c", 0), ("d", 0), ("e", 1), ("y", 2)] {
        let mut graph = graph(body, V1, &Options::default());
        let ids = (0..graph.tensors.len()).map(|i| TensorId(i as u32));
        let apart: Vec<TensorId> = ids.filter(|id| graph.tensor_name(*id) == name).collect();
        assert_eq!(graph.fold(Limits::default(), &apart, false), wanted, "{name}");
    }
}

#[test]
fn the_draft_has_constants_of_scalars() {
    let options = Options { dialect: Some(Dialect::Draft), ..Options::default() };
    let body = "c = exp(constant(shape = [1, 2], value = [0.0, 0.0])); b = c < 2.0; y = select(b, x, c);";
    let mut graph = graph(body, "version 1.0\n", &options);
    assert_eq!(graph.fold(Limits::default(), &[], false), 1);
    assert_eq!(statements(&graph), "c = constant(shape = [1, 2], value = [1.0]) b = lt(c, 2.0) y = select(b, x, c)");
}

#[test]
fn element_types_of_registries_are_not_lost() {
    let header = "version 1.0;\nextension tract_registry tract_core;\n";
    let body = "y = mul(x, sqrt([4.0, 9.0]));";
    assert_eq!(graph(body, header, &Options::default()).fold(Limits::default(), &[], false), 0);
    assert_eq!(graph(body, V1, &Options::default()).fold(Limits::default(), &[], false), 1);
}

#[test]
fn extents_that_are_known_are_numbers() {
    let header = "version 1.0;\nextension tract_registry tract_core;\n";
    let body = "t = unsqueeze(x, axes = [1]); n = tract_core_shape_of(exp(t)); v = tract_core_cast(n, to = 'f32');
        w = tract_core_cast(n * 2, to = 'f32'); y = t * sum_reduce(v, axes = [0]) + w;";
    let mut graph = graph(body, header, &Options::default());
    assert_eq!(graph.fold(Limits::default(), &[], false), 2);
    let text = statements(&graph);
    assert!(!text.contains("shape_of") && text.contains("mul(t, 3.0)"), "{text}");
    assert!(text.contains("tract_core_cast([4, 2], to = 'f32')"), "{text}");
}

/// Bodies of scans have the element types of the registry, and each body would have the limits for itself.
#[test]
fn kept_fragments_remain() {
    let folded = |registry: &str, run: &str| {
        let text = format!(
            "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n{registry}\
             fragment step( x: tensor<scalar>, h: tensor<scalar> ) -> ( n: tensor<scalar>, o: tensor<scalar> )\n\
             {{ o = mul(x, sqrt(add(0.5, 3.5))); n = h + o; }}\n\
             graph G( x, h ) -> ( y )\n{{ x = external(shape = [3, 4]); h = external(shape = [1, 4]); y = {run}; }}\n"
        );
        let parsed = parse("test", text.clone(), &Options::default());
        let mut graph = expand(&parsed.document, &Options::default()).unwrap().graph;
        assert_eq!(graph.fragments().len(), 1, "{text}");
        let count = graph.fold(Limits::default(), &[], false);
        let mut out = Vec::new();
        graph.write_nnef(&mut out).unwrap();
        assert!(!String::from_utf8(out).unwrap().contains("constant"), "{text}");
        count
    };
    let scan = "tract_core_scan(body = 'step', scan = [('x', x, 0, 1)], full = [], state = [('h', h, 'n')], \
        output = [('o', 'full', 0, 1)], skip = 0)";
    assert_eq!(folded("extension tract_registry tract_core;\n", scan), 0);
    assert_eq!(folded("", "vendor(x, h, body = 'step')"), 0);
}
