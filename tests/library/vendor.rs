//! Declarations of vendors, given beside the document.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::corpus;
use crate::common::corpus::{flat, flatten};
use crate::common::{RealDocument, models};
use nnef_flatten::{Dialect, Options, expand, parse};

fn with(libraries: &[&str]) -> Options {
    let name = |i| format!("library{i}.nnef");
    Options::default()
        .with(|o| o.libraries = libraries.iter().enumerate().map(|(i, text)| (name(i), (*text).to_string())).collect())
}

fn graph(statements: &str) -> String {
    format!("version 1.0;\n\ngraph G(x) -> (y)\n{{\n    x = external(shape = [2]);\n{statements}}}\n")
}

#[test]
fn declared_operations_are_checked_and_not_copied() {
    let library = "fragment acme_scale( x: tensor<scalar>, by: scalar = 2.0 ) -> ( y: tensor<scalar> );";
    let options = with(&[library]).with(|o| o.strict = true);
    let source = graph("    y = acme_scale(x, by = 3.0);\n");
    assert_eq!(flat(&source, &options), (source.clone(), corpus::Found::default()));
    let (_, found) = flatten(&graph("    y = acme_scale(x, to = 3.0);\n"), &options);
    assert_eq!(found.errors, ["E0405 `acme_scale` has no parameter `to`"]);
    let (_, found) = flatten(&graph("    c = x > 0.0;\n    y = acme_scale(c);\n"), &with(&[library]));
    assert!(found.warnings.iter().any(|warning| warning.starts_with("E0721 ")), "{found:?}");
}

#[test]
fn a_library_replaces_a_standard_operation() {
    let library = "fragment relu( x: tensor<scalar>, cap: scalar = 6.0 ) -> ( y: tensor<scalar> );";
    let source = graph("    y = relu(x, cap = 1.0);\n");
    assert_eq!(flat(&source, &with(&[library]).with(|o| o.strict = true)).0, source);
    let body = "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = max(x, 0.5); }";
    let (text, found) = flat(&graph("    y = relu(x);\n"), &with(&[body]));
    assert_eq!(text, graph("    y = max(x, 0.5);\n"));
    assert_eq!(found, corpus::Found::default());
}

#[test]
fn later_files_win_and_use_earlier_ones() {
    let first = "fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n\
                 fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = exp(x); }";
    let second = "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = a(a(x)); }";
    let (text, _) = flat(&graph("    y = b(x);\n"), &with(&[first, second]));
    assert_eq!(text, graph("    y_a1 = a(x);\n    y = a(y_a1);\n"));
}

#[test]
fn mistakes_are_reported_in_their_file() {
    for (library, code, line) in [
        ("\nfragment a( x: tensor<scalar> -> ( y: tensor<scalar> );", "E0209", 2),
        ("fragment a( x: tensor<scalar> )\n-> ( x: tensor<scalar> );", "E0302", 2),
        ("fragment a( x: tensor<scalar>,\nk: integer = 1.0 ) -> ( y: tensor<scalar> );", "E0305", 2),
        ("fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = exp(z);\n}", "E0606", 3),
    ] {
        let options = with(&[library]);
        let parsed = parse("main.nnef", graph("    y = exp(x);\n"), &options);
        let mut found: Vec<_> = parsed.diagnostics.iter().cloned().collect();
        found.extend(nnef_flatten::check(&parsed.document, &options));
        let sources = parsed.document.sources();
        let told: Vec<_> = found
            .iter()
            .map(|f| (f.code.as_str(), sources.name(f.at.file).to_string(), sources.start(f.at).line))
            .collect();
        assert!(told.contains(&(code, "library0.nnef".to_string(), line)), "{library}: {told:?}");
    }
}

#[test]
fn the_left_side_counts_open_results() {
    let library = "fragment acme_cut( x: tensor<> ) -> ( parts: tensor<>[] );";
    for line in ["    y = acme_cut(x);\n", "    (y, z) = acme_cut(x);\n", "    [y, z] = acme_cut(x);\n"] {
        assert_eq!(flat(&graph(line), &with(&[library])).0, graph(line));
    }
}

#[test]
fn drafts_have_libraries_too() {
    let library = "fragment acme( x: tensor, k: extent ) -> ( y: tensor );";
    let source = "version 1.0\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2])\n    y = acme(x, k = 2)\n}\n";
    let options = with(&[library]).with(|o| {
        o.strict = true;
        o.dialect = Some(Dialect::Draft);
    });
    assert!(flat(source, &options).0.contains("y = acme(x, k = 2)\n"));
}

#[test]
fn registries_cover_the_models() {
    let (mut count, models) = (0, models());
    let all = models.len();
    for RealDocument { name, text } in models {
        let parsed = parse(&name, text, &Options::default());
        let Ok(expansion) = expand(&parsed.document, &Options::default()) else { continue };
        let graph = &expansion.graph;
        let undeclared = graph.operations().filter(|operation| !operation.is_declared());
        let undeclared = undeclared.map(|operation| operation.name());
        assert_eq!(undeclared.filter(|name| name.starts_with("tract_")).collect::<Vec<_>>(), [""; 0], "{name}");
        let flat = corpus::text(&expansion.graph);
        assert!(!flat.contains("fragment tract_core_") || flat.contains("fragment tract_core_properties"), "{name}");
        count += 1;
    }
    assert!(count * 10 >= all * 9, "{count} of {all}");
}
