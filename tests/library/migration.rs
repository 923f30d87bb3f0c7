//! Documents of the provisional dialect as NNEF 1.0.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::corpus;
use crate::common::corpus::{Found, cases, flat, flatten};
use nnef_flatten::graph::Extent;
use nnef_flatten::{Dialect, Lower, Options};

fn options() -> Options {
    Options::default().with(|o| {
        o.dialect = Some(Dialect::Draft);
        o.migrate = true;
    })
}

fn strict() -> Options {
    Options::default().with(|o| {
        o.dialect = Some(Dialect::V1);
        o.strict = true;
    })
}

/// The statements after the inputs, and the diagnostics.
fn body(statements: &str) -> (String, Found) {
    migrated(&format!("x = external(shape = [1,4,8,8])\n{statements}"), &options())
}

fn migrated(statements: &str, options: &Options) -> (String, Found) {
    let (text, found) = flat(&format!("version 1.0\ngraph G( x ) -> ( y )\n{{\n{statements}\n}}\n"), options);
    let (_, again) = flatten(&text, &strict());
    assert_eq!(again.errors, Vec::<String>::new(), "{text}");
    let body = text.split("shape = [1, 4, 8, 8]);\n").nth(1).unwrap();
    (body.trim_end_matches("}\n").lines().map(str::trim).collect::<Vec<_>>().join("\n"), found)
}

fn errors(statements: &str, options: &Options) -> Vec<String> {
    let (graph, found) = flatten(&format!("version 1.0\ngraph G( x ) -> ( y )\n{{\n{statements}\n}}\n"), options);
    assert!(graph.is_none());
    found.errors
}

#[test]
fn operations_and_parameters_have_their_new_names() {
    for (draft, one) in [
        ("y = idn(x)", "y = copy(x);"),
        ("y = transpose(x, perm = [1,0])", "y = transpose(x, axes = [1, 0]);"),
        ("y = matmul(x, x, trA = true, trB = false)", "y = matmul(x, x, transposeA = true, transposeB = false);"),
        (
            "w = variable(shape = [4,1,3,3], label = 'w')\ny = planewise_conv(x, w, 1.0, border = 'replicate')",
            "w = variable<scalar>(shape = [4, 1, 3, 3], label = 'w');\n\
             y = conv(x, w, 1.0, border = 'replicate', groups = 0);",
        ),
        (
            "y = bilinear_upsample2x_asymmetric(x, border = 'constant')",
            "y = multilinear_upsample(x, factor = [2, 2], method = 'asymmetric', border = 'constant');",
        ),
        (
            "c = constant(shape = [1,4], value = [1.0, 2.0, 3.0, 4.0]) y = add(x, c)",
            "c = constant<scalar>(shape = [1, 4], value = [1.0, 2.0, 3.0, 4.0]);\ny = add(x, c);",
        ),
        ("c = gt(x, 0.0)\ny = select(c, x, 1.0)", "c = gt(x, 0.0);\ny = select(c, x, 1.0);"),
        ("y = max_pool(x, size = [2])", "y = max_pool(x, size = [2, 1, 1, 1]);"),
        ("y = l1_normalization(x, axes = [1], bias = 0.5)", "y = l1_normalization(x, axes = [1], bias = 0.5);"),
        ("y = l2_normalization(x, axes = [1])", "y = l2_normalization(x, axes = [1]);"),
    ] {
        let (body, found) = body(draft);
        assert_eq!(body, one);
        assert_eq!(found, Found::default());
    }
}

#[test]
fn compounds_without_a_counterpart_are_expanded() {
    let (text, _) = body("y = l2_normalization(x, axes = [1], bias = 0.5)");
    assert!(text.contains("add(y_power, 0.5)") && !text.contains("l2_"), "{text}");
    let (text, _) = body("y = logarithmic_quantize(x, 1.0, bits = 8)");
    assert!(text.contains("pow(2.0, ") && !text.contains("logarithmic"), "{text}");
}

#[test]
fn fragments_are_expanded_whatever_lower_says() {
    let source = "version 1.0\nfragment f( x: tensor ) -> ( y: tensor )\n{\n    y = -sqr(x)\n}\n\
                  graph G( x ) -> ( y )\n{\n    x = external(shape = [2])\n    y = f(x)\n}\n";
    for lower in [Lower::Custom, Lower::None, Lower::Names(vec!["sqr".into()])] {
        let (text, _) = flat(source, &options().with(|o| o.lower = lower));
        assert!(!text.contains("fragment") && text.contains("y = neg("), "{text}");
    }
    let kept = options().with(|o| o.keep = vec!["f".into()]);
    let (_, found) = flatten(source, &kept);
    assert_eq!(found.errors, ["E1104 fragment `f` stays in the notation of the provisional dialect"]);
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let kept = options().with(|o| o.keep = vec!["logarithmic_quantize".into()]);
    let source = "x = external(shape = [1,4])\ny = logarithmic_quantize(x, 1.0, bits = 8)";
    assert_eq!(errors(source, &kept), ["E1101 `logarithmic_quantize` has no counterpart in NNEF 1.0"]);
    let open = "x = external(shape = [0,4,8,8])\ny = exp(x)";
    let message = "E1103 the shape of `x` has unknown extents, which NNEF 1.0 does not support";
    assert_eq!(errors(open, &options()), [message]);
    let given = options().with(|o| o.shapes.inputs = vec![("x".into(), [1, 4, 8, 8].map(Extent::from).to_vec())]);
    assert_eq!(migrated(open, &given).0, "y = exp(x);");
    let partial = "x = external(shape = [1,4,8,8])\ny = max_pool(x, size = [1,1,2,2], padding = [(0,0)])";
    assert!(errors(partial, &options())[0].starts_with("E1102 `padding` leaves trailing axes"));
}

#[test]
fn keywords_get_other_names() {
    let source = "version 1.0\ngraph integer( yield ) -> ( version_ )\n{\n    yield = external(shape = [2])\n    \
                  version = exp(yield)\n    version_ = neg(version)\n}\n";
    let (text, found) = flat(source, &options());
    let expected = "version 1.0;\n\ngraph integer_(yield_) -> (version_)\n{\n    \
                    yield_ = external<scalar>(shape = [2]);\n    version__ = exp(yield_);\n    \
                    version_ = neg(version__);\n}\n";
    assert_eq!(text, expected);
    assert_eq!(found.warnings.len(), 3);
    assert!(flatten(&text, &strict()).0.is_some());
}

#[test]
fn external_tensors_become_inputs() {
    let source = "version 1.0\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2])\n    z = external(shape = [2])\n    \
                  y = add(x, z)\n}\n";
    let (text, _) = flat(source, &options());
    assert!(text.contains("graph G(x, z) -> (y)"), "{text}");
}

#[test]
fn without_migration_the_draft_stays_itself() {
    let source = "version 1.0\n\ngraph G(x) -> (y)\n{\n    x = external(shape = [0, 4])\n    y = idn(x)\n}\n";
    let plain = options().with(|o| o.migrate = false);
    assert_eq!(flat(source, &plain).0, source);
}

#[test]
fn valid_cases_of_the_corpus_become_valid_documents() {
    let mut count = 0;
    for case in cases("3").iter().filter(|case| case["kind"] == "valid") {
        let source = case["source"].as_str().unwrap();
        for lower in [Lower::Custom, Lower::All] {
            let (graph, found) = flatten(
                source,
                &options().with(|o| {
                    o.lower = lower;
                    o.keep_unused = true;
                }),
            );
            let Some(graph) = graph else {
                assert!(!found.errors.is_empty(), "{}", case["id"]);
                assert!(found.errors.iter().all(|error| error.starts_with("E11")), "{}: {found:?}", case["id"]);
                continue;
            };
            let text = corpus::text(&graph);
            let (_, again) = flatten(&text, &strict());
            assert_eq!(again.errors, Vec::<String>::new(), "{}\n{text}", case["id"]);
            count += 1;
        }
    }
    assert!(count >= 120, "{count}");
}

#[cfg(feature = "cli")]
#[test]
fn the_command_migrates_what_it_writes_as_nnef() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.nnef"), folder.path().join("new.nnef"));
    std::fs::write(&old, "version 1.0\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [0,2])\n    y = idn(x)\n}\n")
        .unwrap();
    let run = |args: &[&str]| {
        let output = crate::common::command::run(args);
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let (status, _, errors) = run(&[old]);
    assert!(status == Some(1) && errors.contains("E1103"), "{errors}");
    assert_eq!(run(&[old, "--input-shape", "x=1,2", "-o", new]).0, Some(0));
    assert_eq!(run(&["check", "--strict", new]).0, Some(0));
    let (status, json, _) = run(&[old, "--to", "json"]);
    assert!(status == Some(0) && json.contains("\"idn\""), "{json}");
    let (status, draft, _) = run(&[old, "--to", "nnef-draft"]);
    assert!(status == Some(0) && draft.starts_with("version 1.0\n") && draft.contains("idn(x)"), "{draft}");
    let (status, _, errors) = run(&[new, "--to", "nnef-draft"]);
    assert!(
        status == Some(2) && errors.contains("--to nnef-draft does not apply to documents of NNEF 1.0"),
        "{errors}"
    );
}

/// The draft adds extents of 1 at the end of shapes where 1.0 does not; keywords of 1.0 are names in the draft.
#[test]
fn what_1_0_cannot_read_is_refused() {
    let statements = [
        (
            "x = external(shape = [5])\nw = constant(shape = [3,5], value = [0.5])\ny = matmul(w, x)",
            "E1102 in NNEF 1.0, `matmul` multiplies shapes [3, 5] and [5]: both need the same rank, at least 2",
        ),
        (
            "x = external(shape = [1])\ny = integer(x)",
            "E1101 `integer` is a keyword of NNEF 1.0 and cannot name an operation or an argument there",
        ),
        (
            "x = external(shape = [1])\ny = foo(x, version = 3)",
            "E1101 `version` is a keyword of NNEF 1.0 and cannot name an operation or an argument there",
        ),
    ];
    for (statements, message) in statements {
        assert_eq!(errors(statements, &options()), [message], "{statements}");
    }
}
