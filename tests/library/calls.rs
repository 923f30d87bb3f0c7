//! Calls of fragments: the result of a call depends on its arguments, not on earlier calls of the body
//! or on similar fragments; limits end the expansion at the same place.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

use crate::common::{HEADER, error_codes, flat_text, lowering, outcome, run, tell};
use nnef_flatten::{Graph, Lower, Options};

const MANY: usize = 6;
const FRAGMENTS: &str = "
fragment leaf( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = tanh(x); }
fragment scaled( x: tensor<scalar>, by: scalar = 2.0 ) -> ( y: tensor<scalar> ) { y = x * by; }
fragment pair( x: tensor<scalar>, by: scalar ) -> ( y: tensor<scalar> )
{ t = leaf(x); y = max(scaled(x), scaled(t, by = by) + leaf(x)); }
fragment deep( a: tensor<scalar>, b: tensor<scalar>, by: scalar ) -> ( y: tensor<scalar> )
{ y = pair(pair(a, by = by) + b * 3.0 + pair(b, by = 0.5), by = by); }
fragment same<?>( x: tensor<?>, z: tensor<?> ) -> ( y: tensor<?> ) { w = copy(x); v = copy(z); y = copy(w); }
fragment compound( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = sigmoid(x); y = softplus(t) - silu(x); }
fragment chosen( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{ t = pair(x, by = 1.0); y = chosen(t, n = n - 1) if n > 0 else leaf(t); }
fragment sum_of( items: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{ y = items[0] + sum_of(items[1:]) if length_of(items) > 1 else copy(items[0]); }
fragment ranked( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x if length_of(shape_of(x)) > 2 else leaf(x); }
";

/// Calls with operands of several kinds: tensors of one or of two shapes, logical ones, numbers.
const CALLS: &[&str] = &[
    "pair(x, by = 4.0)",
    "deep(x, z, by = 2.5)",
    "deep(x, s, by = 2.5)",
    "deep(s, x, by = 1.0)",
    "pair(3.0, by = 4.0)",
    "same(x, z)",
    "same(b, b)",
    "compound(z)",
    "chosen(x, n = 2)",
    "sum_of([x, z, s, x])",
    "scaled(leaf(x), by = 7.0)",
    "ranked(x) * 0.25",
    "add_n([for i in range_of([1, 2]) yield chosen(x, n = i)])",
    "matmul(x, z, transposeB = true) + 1.0",
];

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

/// A graph of statements, each with a call.
fn graph(calls: &[(usize, &str)], options: &Options) -> Graph {
    let text = document(calls);
    run(&text, options).unwrap_or_else(|found| panic!("{text}\n{}", tell(&found))).graph
}

/// The statements of a flat graph that come from one of the calls: their text, the shapes and types
/// of their results, and the calls that they come from.
fn of_call(graph: &Graph, i: usize) -> Vec<String> {
    let text = flat_text(graph);
    let own = |name: &str| name == format!("r{i}") || name.starts_with(&format!("r{i}_"));
    let known = graph.operations().map(|operation| {
        let tensor = operation.tensors().next();
        let name = tensor.map_or(String::new(), |tensor| graph.tensor_name(tensor));
        let dtype = tensor.map(|tensor| graph.dtype(tensor));
        let calls: Vec<&str> = operation.calls().map(|(fragment, _)| fragment).collect();
        (name, format!("{:?} {dtype:?} {calls:?}", tensor.and_then(|tensor| graph.shape(tensor))))
    });
    let known: Vec<(String, String)> = known.filter(|(name, _)| own(name)).collect();
    let lines = text.lines().filter(|line| line.trim().split(" = ").next().is_some_and(own));
    lines.zip(known).map(|(line, (name, known))| format!("{} {name} {known}", line.trim())).collect()
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
fn budgets_end_with_the_same_message() {
    let calls: Vec<(usize, &str)> = std::iter::repeat_n("deep(x, z, by = 2.5)", MANY).enumerate().collect();
    let text = document(&calls);
    let count = graph(&calls, &Options::default()).operations().len() as u64;
    let limited = |max_ops| run(&text, &Options::default().with(|o| o.max_ops = max_ops)).map(|_| ());
    assert!(limited(count).is_ok());
    for max_ops in [count - 1, count - 7, count - 40] {
        let message = format!("E0811 the flat graph has more than {max_ops} operations");
        assert_eq!(tell(&limited(max_ops).expect_err("too many operations")), message);
    }
    // Repeated calls are nested as deep as the first one.
    let least = |calls: &[(usize, &str)]| {
        (0..10).find(|&max_depth| run(&document(calls), &Options::default().with(|o| o.max_depth = max_depth)).is_ok())
    };
    assert_eq!(least(&calls), least(&calls[..1]));
    assert!(least(&calls).is_some_and(|least| least > 1));
}

#[test]
fn unusual_operands_are_reported_where_they_stand() {
    let refused = |body: &str, argument: &str| {
        let text = format!(
            "{HEADER}fragment f( a: integer[], n: integer ) -> ( y: integer ) {{ y = {body}; }}
             graph G( x ) -> ( y ) {{ x = external(shape = [f({argument}, n = 1)]); y = copy(x); }}"
        );
        let found = run(&text, &Options::default()).map(|_| ()).expect_err(&text);
        let error = found.iter().find(|found| found.is_error()).map(|found| found.at.span.range());
        (text[error.unwrap_or_default()].to_string(), tell(&found))
    };
    let cases = [
        ("a[3]", "[1, 2, 3]", "3", "out of range"),
        ("length_of(a[4:])", "[1, 2, 3]", "4", "out of range"),
        ("a[0] if a[1] > 0 else a[2 / (n - 1)]", "[1, 0, 3]", "/", "zero"),
    ];
    for (body, argument, place, message) in cases {
        let (at, told) = refused(body, argument);
        assert!(at == place && told.contains(message), "{body}: {told} at {at}");
    }
}

/// Each call whose operands do not fit is an error.
#[test]
fn shapes_are_those_of_the_operands() {
    let calls: Vec<(usize, &str)> = (0..MANY).map(|i| (i, ["matmul(x, x)", "pair(x, by = 1.0)"][i % 2])).collect();
    let found = run(&document(&calls), &Options::default()).map(|_| ()).expect_err("2 x 3 by 2 x 3");
    assert_eq!(error_codes(&found), ["E1011"; MANY / 2]);
}

#[test]
fn consequences_of_an_error_are_not_reported() {
    let wrong = [(0, "pair(x, by = 1.0)"), (1, "matmul(x, z) + 1.0"), (2, "deep(r1, z, by = 1.0)"), (3, "leaf(r2)")];
    let found = run(&document(&wrong), &lowering(Lower::All).with(|o| o.keep_unused = true)).map(|_| ());
    assert_eq!(found.expect_err("2 x 3 by 2 x 3").iter().filter(|found| found.is_error()).count(), 1);
}

/// The calls that each operation of a body comes from, the innermost first.
#[test]
fn operations_know_their_calls() {
    let text = document(&[(0, "pair(x, by = 4.0)"), (1, "pair(r0, by = 4.0)")]);
    let told = outcome(&text, &Options::default());
    for result in ["r0", "r1"] {
        let outer = text.find(&format!("{result} = pair(")).unwrap_or_default() + result.len() + 3;
        let inner = text.find("t = leaf(x)").unwrap_or_default() + 4;
        let chain = |name: &str, start: usize| {
            format!(" {name}@Location {{ file: FileId(1), span: Span {{ start: {start}, end: {} }} }}", start + 4)
        };
        let calls = chain("leaf", inner) + &chain("pair", outer);
        assert_eq!(told.matches(&calls).count(), 1, "{calls}\n{told}");
    }
}

/// A document of fragments `f0`, `f1` and so on, `@` in a body standing for the one before, and a graph.
fn chain(count: usize, head: &str, body: &str, graph: &str) -> String {
    let called = |i: usize| if i == 0 { "tanh".to_string() } else { format!("f{}", i - 1) };
    let fragment = |i: usize| format!("fragment f{i}{head} {{ {} }}\n", body.replace('@', &called(i)));
    let fragments: String = (0..count).map(fragment).collect();
    format!("{HEADER}{fragments}graph net( x ) -> ( y ) {{ x = external<scalar>(shape = [1, 2, 4, 4]); {graph} }}\n")
}

const HEAD: &str = "( x: tensor<scalar> ) -> ( y: tensor<scalar> )";

#[test]
fn fragments_that_differ_in_names_are_themselves() {
    let text = chain(4, HEAD, "t = @(x); y = exp(t);", "a = f3(x); y = f1(a);");
    let told = |options: Options| outcome(&text, &options);
    let all = told(Options::default());
    for line in ["a_t_t_t_t = tanh(x);", "a_t_t_t = exp(a_t_t_t_t);", "a = exp(a_t);", "y = exp(y_t);"] {
        assert!(all.contains(line), "{all}");
    }
    let none = told(lowering(Lower::None));
    assert!(none.contains("a = f3(x);") && none.contains("t = f0(x);\n    y = exp(t);"), "{none}");
    let one = told(lowering(Lower::Names(vec!["f3".to_owned()])));
    assert!(one.contains("a_t = f2(x);") && one.contains("a = exp(a_t);") && one.contains("y = f1(a);"), "{one}");
    let kept = told(Options::default().with(|o| o.keep = vec!["f1".to_owned()]));
    assert!(kept.contains("a_t_t = f1(x);") && kept.contains("y = f1(a);"), "{kept}");
    assert!(told(Options::default().with(|o| o.max_depth = 3)).contains("nested deeper than 3"));
    assert!(told(Options::default().with(|o| o.max_ops = 3)).contains("more than 3 operations"));
}

#[test]
fn errors_in_one_of_many_fragments_are_reported_there() {
    let cases = [
        ("f3", "twice", "-> ( y: tensor<scalar> ) { t = f2(x); y = exp(t); }"),
        ("g", "`u`", "-> ( y: tensor<scalar> ) { t = f2(x); y = exp(u); }"),
        ("g", "`y`", "-> ( y: tensor<scalar> ) { t = f2(x); }"),
        ("g", "logical", "-> ( y: tensor<logical> ) { t = f2(x); y = exp(t); }"),
        ("g", "f9", "-> ( y: tensor<scalar> ) { t = f9(x); y = exp(t); }"),
        ("g", "expected", "-> ( y: tensor<scalar> ) { t = f2(x); y = exp(t) }"),
    ];
    let right = chain(6, HEAD, "t = @(x); y = exp(t);", "y = f5(x);");
    for (name, message, rest) in cases {
        let wrong = format!("fragment {name}( x: tensor<scalar> ) {rest}");
        let text = right.replace("graph net", &format!("{wrong}\ngraph net"));
        let found = run(&text, &Options::default().with(|o| o.strict = true)).map(|_| ()).expect_err(rest);
        let start = text.rfind(&wrong).unwrap_or_default();
        let inside = start..start + wrong.len();
        assert!(found.iter().any(|found| inside.contains(&found.at.span.range().start)), "{rest}: {found:?}");
        assert!(tell(&found).contains(message), "{rest}: {}", tell(&found));
    }
}

#[test]
fn fragments_are_told_apart() {
    let chained = |graph: &str| chain(5, HEAD, "t = @(x); y = exp(t);", graph);
    // Recursion through all of them.
    let told = outcome(&chained("y = f3(x);").replace("tanh", "f4"), &Options::default().with(|o| o.max_depth = 20));
    assert!(told.contains("nested deeper than 20"), "{told}");
    // One that is named in a string is kept.
    let told = outcome(&chained("y = custom(x, body = 'f4');"), &Options::default());
    assert!(told.contains("fragment f4(x: tensor<scalar>) -> (y: tensor<scalar>)\n{"), "{told}");
    // Several results go to several names.
    let head = "( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar>, z: tensor<scalar> )";
    let text = chain(3, head, "(a, b) = @(x); y = a * k; z = relu(b);", "(a, b) = f2(x, k = 2.0); y = a + b;");
    let told = outcome(&text.replace("tanh(x)", "(copy(x), exp(x))"), &Options::default());
    for line in ["a = mul(", "b = relu(", "y = add(a, b);"] {
        assert!(told.contains(line), "{told}");
    }
}

/// A graph that calls a fragment of these declarations.
fn calling(fragments: &str, call: &str) -> String {
    format!("{HEADER}{fragments}graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = {call}; }}\n")
}

/// The code with which a text is refused.
fn refusal(text: &str) -> String {
    let found = run(text, &Options::default()).expect_err("it does not end");
    found.iter().last().map_or(String::new(), |finding| finding.code.as_str().to_owned())
}

#[test]
fn slots_of_open_calls_count_as_memory() {
    let params: String = (0..100).map(|i| format!(", p{i}: integer")).collect();
    let passed: String = (0..100).map(|i| format!(", p{i} = p{i}")).collect();
    let given: String = (0..100).map(|i| format!(", p{i} = {i}")).collect();
    let fragment = format!(
        "fragment f( x: tensor<scalar>{params} ) -> ( y: tensor<scalar> ) {{ z = f(x{passed}); y = z + x; }}\n"
    );
    assert_eq!(refusal(&calling(&fragment, &format!("f(x{given})"))), "E0813");
}

#[test]
fn calls_that_add_nothing_end_with_the_budget() {
    let mut fragments = "fragment f0( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x; }\n".to_owned();
    for i in 1..=40 {
        let body = format!("y = f{0}(f{0}(x));", i - 1);
        fragments += &format!("fragment f{i}( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {body} }}\n");
    }
    assert_eq!(refusal(&calling(&fragments, "f40(x)")), "E0814");
}
