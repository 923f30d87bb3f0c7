//! Laying documents out anew changes nothing but their layout.
#![allow(clippy::unwrap_used, clippy::panic)]

mod corpus;

use corpus::{cases, flatten, models};
use nnef_flatten::{From, Graph, Options, parse};

/// The text of a flat graph; unlike [`corpus::text`] for any graph.
fn flat(graph: Option<Graph>) -> Option<String> {
    let mut out = Vec::new();
    graph?.write_nnef(&mut out).unwrap();
    Some(String::from_utf8(out).unwrap())
}

fn format(text: &str, options: &Options) -> Option<String> {
    let parsed = parse("test.nnef", text.to_string(), options);
    (!parsed.diagnostics.has_errors()).then(|| parsed.document.format())
}

/// Checks one document: formatting is idempotent, keeps comments and meaning.
fn check(name: &str, text: &str, options: &Options) {
    let Some(once) = format(text, options) else { return };
    let twice = format(&once, options).unwrap_or_else(|| panic!("{name}: not read again\n{once}"));
    assert_eq!(once, twice, "{name}");
    let (before, after) = (flatten(text, options), flatten(&once, options));
    assert_eq!((before.1.errors, before.1.warnings), (after.1.errors, after.1.warnings), "{name}");
    assert_eq!(flat(before.0), flat(after.0), "{name}");
}

#[test]
fn the_corpus_keeps_its_meaning() {
    for case in cases("").iter().filter(|case| case["kind"] == "valid") {
        let from = if case["dialect"] == "draft" { From::NnefDraft } else { From::Nnef };
        let options = Options { from, ..Options::default() };
        check(&case["id"].to_string(), case["source"].as_str().unwrap(), &options);
    }
}

#[test]
fn models_keep_their_meaning() {
    for (name, text) in models() {
        check(&name, &text, &Options::default());
    }
}

#[test]
fn the_draft_keeps_its_syntax() {
    let text = "# head\nversion 1.0   # the version\n\n\n# f\nfragment f(x:tensor,k:extent=1)->(y:tensor,z:tensor)\n\
                {\n  # inside\n  a = [i * 2 for i in [1,2,k] if i > 1]   # tail\n\n\n  y , z = (x + 1.0) * 2.0 , -x ;\n}\n\
                graph G( x )->( y ) { x = external( shape=[0,2] ) y, z = f(x, k = 3)\n # last\n}\n# end\n";
    let once = format(text, &Options::default()).unwrap();
    assert_eq!(once, include_str!("data/draft-formatted.nnef"), "{once}");
    check("draft", text, &Options::default());
    let blocks = text.matches('#').count();
    assert_eq!(once.matches('#').count(), blocks);
}
