//! Statements of a graph that are like earlier ones are not checked and compiled as a whole, and
//! bodies of one operation not always entered: the outcome is the same.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{HEADER, flat_text, run};
use nnef_flatten::Options;

/// A graph with these statements between its input and its output.
fn document(statements: &str) -> String {
    format!(
        "version 1.0; extension KHR_enable_operator_expressions;
graph g( x ) -> ( y ) {{
    x = external(shape = [1, 4, 8, 8]);
{statements}
    y = copy(x);
}}"
    )
}

/// What is found in a document: codes, and where in its text.
fn findings(statements: &str, options: &Options) -> Vec<(String, String)> {
    let text = document(statements);
    let found: Vec<_> = match run(&text, options) {
        Ok(expansion) => expansion.diagnostics.into_sorted(),
        Err(found) => found,
    };
    let at = |span: nnef_flatten::source::Span| text[span.range()].to_string();
    found.into_iter().map(|finding| (finding.code.as_str().to_string(), at(finding.at.span))).collect()
}

fn codes(statements: &str) -> Vec<String> {
    findings(statements, &Options::default()).into_iter().map(|(code, _)| code).collect()
}

/// Flat statements, without those around them.
fn flat(statements: &str) -> Vec<String> {
    let expansion = run(&document(statements), &Options::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let text = flat_text(&expansion.graph);
    let lines = text.lines().map(str::trim).filter(|line| line.contains(" = "));
    lines.filter(|line| !line.starts_with("x =") && !line.starts_with("y =")).map(str::to_string).collect()
}

#[test]
fn arguments_go_to_the_parameters_that_their_names_say() {
    let one = "a = clamp(x, 0.0, 1.0); b = softmax(x, axes = [1]);";
    let like_it =
        "c = clamp(a, 2.0, 3.0); d = softmax(a, axes = [2]); e = clamp(b, a, c); f = softmax(axes = [3], x = d);";
    let lines = flat(&format!("{one} {like_it}"));
    assert_eq!(lines[2], "c = clamp(a, 2.0, 3.0);");
    assert_eq!(lines[3], "d = softmax(a, axes = [2]);");
    assert_eq!(lines[4], "e = clamp(b, a, c);");
    assert_eq!(lines[5], "f = softmax(d, axes = [3]);");
}

#[test]
fn what_is_wrong_with_one_is_found_however_many_were_right() {
    let right = "a = add(x, x); b = add(a, x); c = a + b; d = c + b;";
    let cases = [
        ("e = add(x, missing);", "missing"),
        ("e = add(x);", "add"),
        ("e = add(x, x, x);", "x"),
        ("e = add(x, 'text');", "'text'"),
        ("e = c + true;", "+"),
        ("e = c + missing;", "missing"),
        ("x = add(a, b);", "x"),
        ("y = add(a, b); y = add(a, b);", "y"),
    ];
    for (wrong, place) in cases {
        let alone = findings(&format!("{right}\n{wrong}"), &Options::default().with(|o| o.strict = true));
        assert!(alone.iter().any(|(_, at)| at == place), "{wrong}: {alone:?}");
        let later = format!("{right}\n{}\n{wrong}", "a1 = add(x, x); c1 = a + b;");
        assert_eq!(findings(&later, &Options::default().with(|o| o.strict = true)), alone, "{wrong}");
    }
}

#[test]
fn shapes_are_those_of_each() {
    let right = "a = add(x, x); b = reshape(x, shape = [1, 4, 64]); c = add(b, b);";
    assert!(codes(right).is_empty());
    assert_eq!(codes(&format!("{right} d = add(a, b);")).len(), 1, "shapes that differ");
    assert!(codes(&format!("{right} d = add(c, b);")).is_empty());
}

#[test]
fn a_warning_is_given_for_each() {
    let warned = codes("a = add(x, 1); b = add(x, 1); c = add(x, 1);");
    assert_eq!(warned.len(), 3, "{warned:?}");
}

#[test]
fn names_assigned_again_keep_their_last_tensor() {
    let lines = flat("a = exp(x); a = exp(a); a = exp(a); b = add(a, x);");
    assert_eq!(lines.len(), 4);
    assert!(lines[2].starts_with("a = exp("), "{lines:?}");
    assert_eq!(lines[3], "b = add(a, x);");
}

#[test]
fn what_an_operation_is_called_with_by_type_decides() {
    // The same operation on scalars, tensors and both, in turns.
    let lines =
        flat("a = add(x, 1.0); b = add(1.0, x); c = add(a, b); d = add(b, 2.0); e = add(3.0, d); f = add(2.0, 4.0);");
    assert_eq!(lines[3], "d = add(b, 2.0);");
    assert_eq!(lines[4], "e = add(3.0, d);");
    assert_eq!(lines[5], "f = add(2.0, 4.0);");
}

/// So many statements of a few spellings, with names of many lengths.
fn many(count: usize) -> Vec<String> {
    let name = |i: usize| format!("{}{i}", ["t", "value_", "a_longer_name"][i % 3]);
    let statement = |i: usize| {
        let (new, a, b) = (name(i), name(i - 1), name(i - 1 - i % 3));
        match i % 8 {
            0 => format!("{new} = add({a}, {b});"),
            1 => format!("{new}={a}*{b};"),
            2 => format!("{new} = relu({a});"),
            3 => format!("{new} = select({a} < {b}, {b}, 2.5);"),
            4 => format!("{new} = softmax( {a}, axes = [1] );"),
            5 => format!("{new} = variable<scalar>(label = 'v/{i}', shape = [1, 4, 8, 8]);"),
            6 => format!(
                "{new} = box({a}, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, +1)], normalize = true);"
            ),
            _ => format!("{new} = clamp(x = {a}, b = {b},\n a = -0.5);"),
        }
    };
    let first = ["t0 = relu(x);", "value_1 = relu(x);", "a_longer_name2 = relu(x);"].map(String::from);
    first.into_iter().chain((3..count).map(statement)).collect()
}

/// Statements as one text, and as one where a comment in each leaves it to be read on its own.
fn with_and_without_comments(statements: &[String]) -> [String; 2] {
    let commented = statements.iter().map(|statement| statement.replace(';', " #\n;"));
    [statements.join("\n"), commented.collect::<Vec<_>>().join("\n")]
}

#[test]
fn statements_spelled_alike_mean_what_each_means_alone() {
    let [alike, alone] = with_and_without_comments(&many(1500));
    let lines = flat(&alike);
    assert!(lines.len() > 1500);
    assert_eq!(lines, flat(&alone));
    assert_eq!(findings(&alike, &Options::default()), findings(&alone, &Options::default()));
}

/// One spelling may stand for many kinds: of logical and of scalar tensors, in turns, from the
/// beginning or from some point on.
#[test]
fn statements_spelled_alike_need_not_be_alike() {
    let turn = |i: usize, both: bool| {
        let (a, b, c) = (i * 3, i * 3 + 1, i * 3 + 2);
        let before = if i == 0 { "x".to_string() } else { format!("t{}", a - 3) };
        let copied = if both { b } else { a };
        let copies = [format!("t{a} = copy({before});"), format!("t{c} = copy(t{copied});")];
        let [first, second] = copies;
        [first, format!("t{b} = t{a} < {before};"), second]
    };
    for both in [0, 1, 250, 499] {
        let statements: Vec<String> = (0..500).flat_map(|i| turn(i, i >= both && i % 100 < 90)).collect();
        let [alike, alone] = with_and_without_comments(&statements);
        assert_eq!(flat(&alike).len(), 1500);
        assert_eq!(flat(&alike), flat(&alone));
    }
}

#[test]
fn what_is_wrong_with_one_is_found_among_many_spelled_alike() {
    let strict = Options::default().with(|o| o.strict = true);
    let cases = [
        ("add(t1491, t1491)", "add(t1491, missing)"),
        ("relu(t1", "relu(x1"),
        ("t1491 =", "t1488 ="),
        ("t1491 =", "x ="),
        ("t1491 =", "t1491 = copy(x); t1491 ="),
        ("size = [1, 1, 3, 3]", "size = [1, 1, 3]"),
        ("label = 'v/1493'", "label = 'v/1493?'"),
        ("label = 'v/1493'", "label = ''"),
        ("label = 'v/1493'", "label = 'v/1485'"),
        ("label = 'v/1493'", "label = 1"),
        ("-0.5);\nt1491", "-0.5); b1 = t1470 < t1473; b2 = add(b1, b1); b3 = relu(b1);\nt1491"),
    ];
    for (right, wrong) in cases {
        let mut statements = many(1500);
        let text = statements.join("\n").replacen(right, wrong, usize::MAX);
        statements = text.split_inclusive(';').map(|statement| statement.trim().to_string()).collect();
        let [alike, alone] = with_and_without_comments(&statements).map(|text| {
            let found = findings(&text, &strict).into_iter().map(|(code, at)| (code, at.replace(" #\n", "")));
            found.collect::<Vec<_>>()
        });
        assert!(!alone.is_empty(), "{wrong}");
        assert_eq!(alike, alone, "{wrong}");
    }
}

#[test]
fn bodies_of_one_operation_are_as_if_they_were_entered() {
    let text = format!(
        "{HEADER}
fragment soft( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar> ) {{ y = leaky_relu(x, alpha = k); }}
fragment wide( a: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = max(b, a); }}
fragment f( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> )
{{
    t = soft(x);
    s = wide(t, soft(t, k = 0.25));
    y = wide(s, w);
}}
graph g( x, w ) -> ( y )
{{
    x = external<scalar>(shape = [2, 3]);
    w = external<scalar>(shape = [1, 3]);
    h = f(x, w);
    y = f(h, w);
}}"
    );
    let expansion = run(&text, &Options::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let graph = &expansion.graph;
    let operations = graph.operations().iter().filter(|operation| graph.calls(operation).next().is_some());
    let told: Vec<String> = operations
        .map(|operation| {
            let mut told: Vec<String> = graph.tensors_of(operation).map(|tensor| graph.tensor_name(tensor)).collect();
            told.extend(graph.calls(operation).map(|(fragment, at)| format!("{fragment}@{}", at.span.start)));
            told.join(" ")
        })
        .collect();
    let of = |result: &str| {
        let f = text.find(&format!("{result} = f(")).unwrap_or_default() + result.len() + 3;
        let call = |name: &str, before: &str| (name.to_string(), text.find(before).unwrap_or_default() + before.len());
        let named = |suffix: &str, (name, at): (String, usize)| format!("{result}{suffix} {name}@{at} f@{f}");
        [
            named("_t", call("soft", "    t = ")),
            named("_soft1", call("soft", "wide(t, ")),
            named("_s", call("wide", "    s = ")),
            named("", call("wide", "    y = ")),
        ]
    };
    assert_eq!(told, [of("h"), of("y")].concat());
    let mut tensors = graph.operations().iter().flat_map(|operation| graph.tensors_of(operation));
    assert!(tensors.all(|tensor| graph.shape(tensor).is_some()));
}
