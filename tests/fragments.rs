//! Fragments that differ in nothing but names: what comes of them does not depend on how they are
//! spelled.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{HEADER, flat_text, lowering};
use nnef_flatten::{Lower, Options, check, expand, parse};

/// A document with these fragments, and a graph that gives `y` from `x`.
fn document(fragments: &[String], graph: &str) -> String {
    let fragments = fragments.join("\n");
    format!(
        "{HEADER}{fragments}\ngraph net( x ) -> ( y )\n{{\n    x = external<scalar>(shape = [1, 2, 4, 4]);\n{graph}\n}}\n"
    )
}

/// The same text with other white space in each fragment, so that no two are spelled alike.
fn unlike(fragments: &[String]) -> Vec<String> {
    let space = |index: usize, place: usize| if index >> place & 1 == 1 { "\t" } else { " " };
    let other = |(index, text): (usize, &String)| {
        let mut parts = text.split(' ').enumerate();
        let first = parts.next().map_or(String::new(), |(_, part)| part.to_owned());
        parts.fold(first, |text, (i, part)| text + if i < 6 { space(index, i - 1) } else { " " } + part)
    };
    fragments.iter().enumerate().map(other).collect()
}

/// All that comes of a text.
fn outcome(text: &str, options: &Options) -> String {
    let parsed = parse("document", text.to_owned(), options);
    let found = |found: nnef_flatten::Diagnostics| {
        found.into_sorted().iter().map(|finding| format!("{finding:?}\n")).collect::<String>()
    };
    let checked = found(check(&parsed.document, options));
    let expanded = match expand(&parsed.document, options) {
        Ok(expansion) => {
            let mut places = Vec::new();
            expansion.graph.write_source_map(parsed.document.sources(), &mut places).expect("in memory");
            let places = String::from_utf8(places).expect("text");
            format!("{}\n{places}\n{}", flat_text(&expansion.graph), found(expansion.diagnostics))
        }
        Err(diagnostics) => found(diagnostics),
    };
    let read = found(parsed.diagnostics);
    format!("{read}\n{checked}\n{expanded}\n{}", parsed.document.format()).replace('\t', " ")
}

/// Compares what comes of fragments; tells the outcome.
fn same(fragments: &[String], graph: &str, options: &Options) -> String {
    let text = document(fragments, graph);
    let others = document(&unlike(fragments), graph);
    let found = outcome(&text, options);
    assert_eq!(found, outcome(&others, options), "{text}");
    found
}

/// Fragments `f0`, `f1` and so on, `@` in the text standing for the one before.
fn chain(count: usize, head: &str, body: &str) -> Vec<String> {
    let text = |i: usize| format!("fragment f{i}{head} {{ {} }}", body.replace('@', &format!("f{}", i - 1)));
    let first = format!("fragment f0{head} {{ {} }}", body.replace('@', "tanh"));
    [first].into_iter().chain((1..count).map(text)).collect()
}

const HEAD: &str = "( x: tensor<scalar> ) -> ( y: tensor<scalar> )";

#[test]
fn chains_give_what_they_gave() {
    let options = [
        Options::default(),
        lowering(Lower::All),
        lowering(Lower::None),
        lowering(Lower::Names(vec!["f3".to_owned()])),
        Options::default().with(|o| o.keep = vec!["f2".to_owned()]),
        Options::default().with(|o| o.strict = true),
        Options::default().with(|o| o.max_depth = 3),
        Options::default().with(|o| o.max_ops = 3),
        Options::default().with(|o| o.keep_unused = true),
    ];
    let bodies = ["t = @(x); y = exp(t);", "y = @(x) + @(exp(@(x)));", "u = @(x); y = x - [1.0, 2.0];", "y = @(@(x));"];
    for body in bodies {
        let fragments = chain(6, HEAD, body);
        for options in &options {
            same(&fragments, "    a = f5(x);\n    b = f3(a);\n    y = f5(b);", options);
        }
    }
    let found = same(&chain(4, HEAD, "t = @(x); y = exp(t);"), "    y = f3(x);", &Options::default());
    for line in ["y_t_t_t_t = tanh(x);", "y_t_t_t = exp(y_t_t_t_t);", "y = exp(y_t);"] {
        assert!(found.contains(line), "{found}");
    }
}

#[test]
fn names_of_any_length_move_what_stands_behind() {
    let name = |i: usize| "abc".repeat(i % 5 + 1) + &i.to_string();
    let text =
        |i: usize| format!("fragment {}{HEAD} {{ t = {}(x); y = t + {}(t); }}", name(i), name(i - 1), name(i - 1));
    let mut fragments = vec![format!("fragment {}{HEAD} {{ y = matmul(x, [[1.0]]); }}", name(0))];
    fragments.extend((1..7).map(text));
    let found = same(&fragments, &format!("    y = {}(x);", name(6)), &Options::default());
    assert!(found.contains("expansion: [TraceFrame"), "{found}");
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    let right = chain(6, HEAD, "t = @(x); y = exp(t);");
    let graph = "    y = f5(x);";
    let more = [
        "fragment f3( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); y = exp(t); }",
        "fragment tanh( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); y = exp(t); }",
        "fragment variable( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); y = exp(t); }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f9(x); y = exp(t); }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); y = exp(u); }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<logical> ) { t = f2(x); y = exp(t); }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); y = exp(t) }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x); }",
        "fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = f2(x = x); y = exp(t); }",
    ];
    for text in more {
        for at in 3..=right.len() {
            let mut fragments = right.clone();
            fragments.insert(at, text.to_owned());
            same(&fragments, graph, &Options::default());
        }
    }
    let calls = ["y = f4(x, x);", "y = f4();", "y = f4(z = x);", "y = f44(x);", "(y, z) = f4(x);", "y = f4(1);"];
    for call in calls {
        same(&right, &format!("    {call}"), &Options::default());
    }
    let silly = chain(6, HEAD, "t = @(x); y = exp(t, t);");
    same(&silly, graph, &Options::default());
    let unequal = chain(
        6,
        "( x: tensor<scalar>, k: integer = 0 ) -> ( y: tensor<scalar> )",
        "t = @(x); n = 1 / k; y = exp(t) * n;",
    );
    same(&unequal, graph, &Options::default());
}

#[test]
fn what_is_called_again_and_again_gives_what_it_gave() {
    let bodies = ["t = @(x); y = @(t);", "y = @(@(@(x)));", "t = @(x); y = t + [1.0, 2.0];", "y = @(x) * 0.5 + @(x);"];
    for body in bodies {
        let fragments = chain(5, HEAD, body);
        same(&fragments, "    a = f4(x);\n    b = f3(a);\n    c = f4(b);\n    y = f3(c);", &Options::default());
        same(&fragments, "    a = f4(x);\n    y = matmul(f4(a), f2(a));", &lowering(Lower::All));
    }
    let mut fragments = chain(5, HEAD, "t = @(x); y = @(t);");
    fragments[0] = fragments[0].replace("tanh(x)", "matmul(x, [[1.0]])");
    same(&fragments, "    a = f3(x);\n    y = f4(a);", &Options::default());
}

#[test]
fn a_fragment_that_a_string_names_has_a_body_of_its_own() {
    let fragments = chain(6, HEAD, "t = @(x); y = exp(t);");
    let found = same(&fragments, "    y = custom(x, body = 'f4');", &Options::default());
    assert!(found.contains("fragment f4( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{"), "{found}");
}

#[test]
fn recursion_is_told_from_calls_of_others() {
    let mut fragments = chain(5, HEAD, "t = @(x); y = exp(t);");
    fragments[0] = fragments[0].replace("tanh", "f4");
    let options = Options::default().with(|o| o.max_depth = 20);
    let found = same(&fragments, "    y = f3(x);", &options);
    assert!(found.contains("nested deeper than 20"), "{found}");
}

#[test]
fn several_results_and_several_names_are_kept_apart() {
    let head = "( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar>, z: tensor<scalar> )";
    let text = |i: usize| format!("fragment f{i}{head} {{ (a, b) = f{}(x); y = a * k; z = g(b); }}", i - 1);
    let mut fragments =
        vec![format!("fragment g{HEAD} {{ y = relu(x); }}"), format!("fragment f0{head} {{ y = x * k; z = exp(x); }}")];
    fragments.extend((1..6).map(text));
    same(&fragments, "    (a, b) = f5(x, k = 2.0);\n    (c, d) = f4(a);\n    y = c + b * d;", &Options::default());
}
