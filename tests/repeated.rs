//! Bodies that are called often: what a call gives does not depend on how many there were before.
//! From some number on, bodies are not run any more but replayed, and lists are looked at in place.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{HEADER, error_codes, flat_text, lowering, run, tell};
use nnef_flatten::{Graph, Lower, Options};

/// More calls than it takes to replay a body.
const MANY: usize = 12;

const FRAGMENTS: &str = "
fragment leaf( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = tanh(x); }
fragment scaled( x: tensor<scalar>, by: scalar = 2.0 ) -> ( y: tensor<scalar> ) { y = x * by; }
fragment pair( x: tensor<scalar>, by: scalar ) -> ( y: tensor<scalar> )
{
    t = leaf(x);
    u = scaled(t, by = by) + leaf(x);
    v = scaled(x);
    y = max(v, u);
}
fragment deep( a: tensor<scalar>, b: tensor<scalar>, by: scalar ) -> ( y: tensor<scalar> )
{
    p = pair(a, by = by);
    q = pair(b, by = 0.5);
    r = p + b * 3.0;
    y = pair(r + q, by = by);
}
fragment same<?>( x: tensor<?>, z: tensor<?> ) -> ( y: tensor<?> )
{
    w = copy(x);
    v = copy(z);
    y = copy(w);
}
fragment swapped<?>( x: tensor<?>, z: tensor<?> ) -> ( y: tensor<?> )
{
    u = same(z, x);
    y = same(u, x);
}
fragment compound( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    t = sigmoid(x);
    y = softplus(t) - silu(x);
}
fragment chosen( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    t = pair(x, by = 1.0);
    y = chosen(t, n = n - 1) if n > 0 else leaf(t);
}
fragment sum_of( items: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{
    y = items[0] + sum_of(items[1:]) if length_of(items) > 1 else copy(items[0]);
}
";

/// Calls with arguments of which some go together and others do not: then bodies have to be run.
const CALLS: &[&str] = &[
    "pair(x, by = 4.0)",
    "deep(x, z, by = 2.5)",
    "deep(x, s, by = 2.5)",
    "deep(s, x, by = 1.0)",
    "pair(3.0, by = 4.0)",
    "swapped(x, z)",
    "swapped(b, b)",
    "compound(z)",
    "chosen(x, n = 2)",
    "sum_of([x, z, s, x])",
    "scaled(leaf(x), by = 7.0)",
];

/// A graph of statements, each with a call.
fn graph(calls: &[(usize, &str)], options: &Options) -> Graph {
    let text = document(calls);
    match run(&text, options) {
        Ok(expansion) => expansion.graph,
        Err(diagnostics) => panic!("{text}\n{}", tell(&diagnostics)),
    }
}

fn document(calls: &[(usize, &str)]) -> String {
    let names: Vec<String> = calls.iter().map(|(i, _)| format!("r{i}")).collect();
    let mut text = format!("{HEADER}{FRAGMENTS}graph G( x, z, s, b ) -> ( {} )\n{{\n", names.join(", "));
    text += "x = external(shape = [2, 3]); z = external(shape = [2, 3]); s = external(shape = [1, 3]);\n";
    text += "b = external<logical>(shape = [2, 3]);\n";
    for (i, call) in calls {
        text += &format!("r{i} = {call};\n");
    }
    text + "}\n"
}

/// The statements of a flat graph that come from one of the calls, with the shapes of what they give.
fn of_call(graph: &Graph, i: usize) -> Vec<String> {
    let text = flat_text(graph);
    let own = |name: &str| name == format!("r{i}") || name.starts_with(&format!("r{i}_"));
    let shapes = graph.operations().iter().map(|operation| {
        let tensor = graph.tensors_of(operation).next();
        let name = tensor.map_or(String::new(), |tensor| graph.tensor_name(tensor));
        let dtype = tensor.map(|tensor| graph.dtype(tensor));
        let calls: Vec<&str> = graph.calls(operation).map(|(fragment, _)| fragment).collect();
        (name, format!("{:?} {dtype:?} {calls:?}", tensor.and_then(|tensor| graph.shape(tensor))))
    });
    let shapes: Vec<(String, String)> = shapes.filter(|(name, _)| own(name)).collect();
    let lines = text.lines().filter(|line| line.trim().split(" = ").next().is_some_and(own));
    lines.zip(shapes).map(|(line, (name, shape))| format!("{} {name} {shape}", line.trim())).collect()
}

#[test]
fn a_call_gives_what_it_gives_alone() {
    for options in [Options::default(), lowering(Lower::All), lowering(Lower::All).with(|o| o.strict = true)] {
        let calls: Vec<(usize, &str)> = CALLS.iter().cycle().copied().take(CALLS.len() * MANY).enumerate().collect();
        let all = graph(&calls, &options);
        for &(i, call) in &calls {
            let alone = of_call(&graph(&[(i, call)], &options), i);
            assert!(!alone.is_empty(), "{call}");
            assert_eq!(of_call(&all, i), alone, "{call}, for the {}th time", i / CALLS.len() + 1);
        }
    }
}

#[test]
fn budgets_end_where_they_ended() {
    let calls: Vec<(usize, &str)> = std::iter::repeat_n("deep(x, z, by = 2.5)", MANY).enumerate().collect();
    let text = document(&calls);
    let count = graph(&calls, &Options::default()).operations().len() as u64;
    for max_ops in [count, count - 1, count - 7, count - 40] {
        let outcome = run(&text, &Options::default().with(|o| o.max_ops = max_ops));
        match outcome {
            Ok(_) => assert_eq!(max_ops, count),
            Err(diagnostics) => assert_eq!(error_codes(&diagnostics), ["E0811"], "{max_ops}"),
        }
    }
    // Calls are within each other as deep as in the first one.
    let least = |calls: &[(usize, &str)]| {
        (0..10).find(|&max_depth| run(&document(calls), &Options::default().with(|o| o.max_depth = max_depth)).is_ok())
    };
    assert_eq!(least(&calls), least(&calls[..1]));
    assert!(least(&calls).is_some_and(|least| least > 1));
}

#[test]
fn unusual_operands_are_told_where_they_stand() {
    // The same bodies, with operands for which lists are not looked at in place.
    let refused = |body: &str, argument: &str| {
        let text = format!(
            "{HEADER}fragment f( a: integer[], n: integer ) -> ( y: integer ) {{ y = {body}; }}
             graph G( x ) -> ( y ) {{ x = external(shape = [f({argument}, n = 1)]); y = copy(x); }}"
        );
        let diagnostics = run(&text, &Options::default()).map(|_| ()).expect_err(&text);
        let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error()).expect(&text);
        let place = &text[error.at.span.start as usize..error.at.span.end as usize];
        (place.to_string(), error.message.clone())
    };
    let (place, message) = refused("a[3]", "[1, 2, 3]");
    assert_eq!((place.as_str(), message.contains("out of range")), ("3", true), "{message}");
    let (place, message) = refused("length_of(a[4:])", "[1, 2, 3]");
    assert_eq!((place.as_str(), message.contains("out of range")), ("4", true), "{message}");
    let (place, message) = refused("a[0] if a[1] > 0 else a[2 / (n - 1)]", "[1, 0, 3]");
    assert_eq!((place.as_str(), message.contains("zero")), ("/", true), "{message}");
}
