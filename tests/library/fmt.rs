//! Formatting changes nothing but the layout of a document.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::corpus::{cases, flatten};
use crate::common::{RealDocument, models};
use nnef_flatten::{Dialect, Graph, Lower, Options, parse};

/// The formatted text of a flat graph. It may contain fragments that are kept verbatim.
fn flat(graph: Option<Graph>, options: &Options) -> Option<String> {
    let mut out = Vec::new();
    graph?.write_nnef(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    Some(format(&text, options).unwrap_or(text))
}

fn format(text: &str, options: &Options) -> Option<String> {
    let parsed = parse("test.nnef", text.to_string(), options);
    (!parsed.diagnostics.has_errors()).then(|| parsed.document.format())
}

/// Checks one document: formatting is idempotent, keeps comments and meaning. Tells whether it is read at all.
fn check(name: &str, text: &str, options: &Options) -> bool {
    let Some(once) = format(text, options) else { return false };
    let twice = format(&once, options).unwrap_or_else(|| panic!("{name}: not read again\n{once}"));
    assert_eq!(once, twice, "{name}");
    assert_eq!(once.matches('#').count(), text.matches('#').count(), "{name}: comments");
    let (before, after) = (flatten(text, options), flatten(&once, options));
    assert_eq!((before.1.errors, before.1.warnings), (after.1.errors, after.1.warnings), "{name}");
    assert_eq!(flat(before.0, options), flat(after.0, options), "{name}");
    true
}

#[test]
fn the_corpus_keeps_its_meaning() {
    let valid: Vec<_> = cases("").into_iter().filter(|case| case["kind"] == "valid").collect();
    for case in &valid {
        let dialect = if case["dialect"] == "draft" { Dialect::Draft } else { Dialect::V1 };
        let options = Options::default().with(|o| o.dialect = Some(dialect));
        let is_read = check(&case["id"].to_string(), case["source"].as_str().unwrap(), &options);
        assert!(is_read, "{} is not read", case["id"]);
    }
    assert!(valid.len() > 280, "{} documents", valid.len());
}

#[test]
fn models_keep_their_meaning() {
    let (mut compared, models) = (0, models());
    let all = models.len();
    for RealDocument { name, text } in models {
        compared += usize::from(check(&name, &text, &Options::default()));
    }
    assert!(compared * 10 >= all * 9, "{compared} of {all}");
}

/// What this program writes needs no formatting: heads, long statements, several results, kept fragments.
#[test]
fn flat_text_is_formatted() {
    let written = |text: &str, options: &Options| {
        let mut out = Vec::new();
        if let Some(graph) = flatten(text, options).0 {
            graph.write_nnef(&mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    };
    let check = |name: &str, text: &str, options: &Options| {
        let flat = written(text, options);
        if flat.is_empty() {
            return 0;
        }
        let again = format(&flat, &Options::default()).unwrap_or_else(|| panic!("{name}: not read again\n{flat}"));
        assert_eq!(flat, again, "{name}");
        1
    };
    let mut compared = 0;
    let v1 = Options::default().with(|o| o.dialect = Some(Dialect::V1));
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = v1.clone().with(|o| o.lower = lower.clone());
        for case in cases("").iter().filter(|case| case["kind"] == "valid" && case["dialect"] != "draft") {
            compared += check(&case["id"].to_string(), case["source"].as_str().unwrap(), &options);
        }
        for RealDocument { name, text } in models() {
            compared += check(&name, &text, &options);
        }
    }
    assert!(compared > 600, "{compared} texts");
    let inputs = (0..30).map(|i| format!("input{i}")).collect::<Vec<_>>().join(", ");
    let sources = (0..30).map(|i| format!("input{i} = external(shape = [2,3]);")).collect::<String>();
    let fragment = "fragment f(x:tensor<scalar>,k:integer=1)->(y:tensor<scalar>){y=x+1.0;#of f\n}";
    let text = format!(
        "version 1.0; extension KHR_enable_fragment_definitions  KHR_enable_operator_expressions; {fragment} \
         graph G({inputs})->(y, a, z) {{ {sources} y, a = moments(concat([{inputs}], axis = 1), axes = [0]); z = f(input1); }}"
    );
    for lower in [Lower::Custom, Lower::None] {
        let options = v1.clone().with(|o| o.lower = lower);
        let flat = written(&text, &options);
        assert!(flat.contains("(y, a) = moments("), "{flat}");
        assert_eq!(format(&flat, &options).unwrap(), flat);
    }
}

#[test]
fn the_draft_keeps_its_syntax() {
    let text = "# head\nversion 1.0   # the version\n\n\n# f\nfragment f(x:tensor,k:extent=1)->(y:tensor,z:tensor)\n\
                {\n  # inside\n  a = [i * 2 for i in [1,2,k] if i > 1]   # tail\n\n\n  y , z = (x + 1.0) * 2.0 , -x ;\n}\n\
                graph G( x )->( y ) { x = external( shape=[0,2] ) y, z = f(x, k = 3)\n # last\n}\n# end\n";
    let once = format(text, &Options::default()).unwrap();
    assert_eq!(once, include_str!("../data/draft-formatted.nnef"), "{once}");
    assert!(check("draft", text, &Options::default()));
    let blocks = text.matches('#').count();
    assert_eq!(once.matches('#').count(), blocks);
}

/// Statements of thousands of nodes among short ones.
#[test]
fn long_statements_are_laid_out_alike_wherever_they_stand() {
    let head = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n\
                extension flatten_loops;\n";
    let names = (0..2100).map(|i| format!("t{i}")).collect::<Vec<_>>().join(", ");
    let numbers = (0..1100).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let kinds = format!(
        "f<scalar>([{names}], a = [{numbers}], b = ([1, 2], [0.5, 1.5], 'text', true, -n, !(c && d)), \
         e = a + b * 2 if c else g(x)[1:], h = [for i in [1, 2, 3], j in xs if i > 1 yield k[i][:j][i:j] * length_of(xs)])"
    );
    let statements = [
        format!("y = {kinds};"),
        format!(
            "y, rest = with s: tensor<scalar> = {kinds}, i = 1 for t : xs, u : zs while i < 3 do..(k -> 4) \
             {{ v = f(s, t); yield v; }} while i > 1;"
        ),
    ];
    let fragment = "fragment first( x: tensor<scalar>, xs: integer[] = [7, 8] ) -> ( y: tensor<scalar> )\n{\n    \
                    y = g([x, x], z = [for i in xs yield (i, [0.25, 0.5])]) if xs[0] > 1 else h(x, 'a')[1:2];\n}\n\n";
    for statement in statements {
        let graph = format!("graph G( x ) -> ( y )\n{{\n    {statement}\n    z = g(y, [1, 2]);\n}}\n");
        let alone = format(&format!("{head}\n{graph}"), &Options::default()).expect(&graph[..200]);
        let behind = format(&format!("{head}\n{fragment}{graph}"), &Options::default()).unwrap();
        let body = |text: &str| text[text.find("graph G").unwrap()..].to_string();
        assert_eq!(body(&alone), body(&behind));
        assert!(body(&alone).contains("k[i][:j][i:j] * length_of(xs)"), "{}", body(&alone));
    }
}
