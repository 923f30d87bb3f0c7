//! Unrolling `tract_core_scan`: results, reasons why a scan is kept, and equal outputs.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use crate::common::corpus::{Found, flat, flatten};
use crate::common::{RealDocument, models, repository};
use nnef_flatten::eval::Evaluator;
use nnef_flatten::graph::{Extent, KeptFragment};
use nnef_flatten::model::{Limits, Model};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options};

const SUM: &str = "version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension tract_registry tract_core;
fragment step( x_t: tensor<scalar>, h: tensor<scalar> ) -> ( h_next: tensor<scalar>, twice: tensor<scalar> )
{
    h_next = x_t + h;
    twice = h_next * 2.0;
}
graph G( x, h0 ) -> ( all, last )
{
    x = external(shape = [SHAPE]);
    h0 = external(shape = [1, 4]);
    (all, last) = tract_core_scan(body = 'step', scan = [('x_t', x, 0, CHUNK)], full = [],
        state = [('h', h0, 'h_next')], output = [('twice', 'full', 0, 1), ('h_next', 'last', 0, 1)], skip = 0);
}
";

fn sum(shape: &str, chunk: &str) -> String {
    SUM.replace("SHAPE", shape).replace("CHUNK", chunk)
}

fn unroll() -> Options {
    Options::default().with(|o| o.unroll = true)
}

/// The statements of a flat text.
fn statements(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

#[test]
fn a_scan_becomes_its_steps() {
    let (text, _) = flat(&sum("3, 4", "1"), &unroll());
    assert!(!text.contains("fragment"), "{text}");
    let wanted = [
        "x = external(shape = [3, 4]);",
        "h0 = external(shape = [1, 4]);",
        "all_trip1_x_t = slice(x, axes = [0], begin = [0], end = [1]);",
        "all_trip1_h_next = add(all_trip1_x_t, h0);",
        "all_trip1_twice = mul(all_trip1_h_next, 2.0);",
        "all_trip2_x_t = slice(x, axes = [0], begin = [1], end = [2]);",
        "all_trip2_h_next = add(all_trip2_x_t, all_trip1_h_next);",
        "all_trip2_twice = mul(all_trip2_h_next, 2.0);",
        "all_trip3_x_t = slice(x, axes = [0], begin = [2], end = [3]);",
        "last = add(all_trip3_x_t, all_trip2_h_next);",
        "all_trip3_twice = mul(last, 2.0);",
        "all = concat([all_trip1_twice, all_trip2_twice, all_trip3_twice], axis = 0);",
    ];
    assert_eq!(statements(&text), wanted);
}

#[test]
fn chunks_are_taken_from_either_end() {
    let (text, _) = flat(&sum("6, 4", "-2"), &unroll());
    let slices: Vec<&str> = statements(&text).into_iter().filter(|line| line.contains("slice")).collect();
    let wanted = [
        "all_trip1_x_t = slice(x, axes = [0], begin = [4], end = [6]);",
        "all_trip2_x_t = slice(x, axes = [0], begin = [2], end = [4]);",
        "all_trip3_x_t = slice(x, axes = [0], begin = [0], end = [2]);",
    ];
    assert_eq!(slices, wanted);
}

#[test]
fn a_single_step_needs_no_cutting() {
    let (text, _) = flat(&sum("1, 4", "1"), &unroll());
    assert_eq!(statements(&text)[2..], ["last = add(x, h0);", "all = mul(last, 2.0);"]);
}

#[test]
fn without_unroll_it_stays() {
    let (graph, found) = flatten(&sum("3, 4", "1"), &Options::default());
    assert!(matches!(graph.unwrap().fragments()[..], [KeptFragment::Flat(..)]));
    assert!(!found.warnings.iter().any(|warning| warning.starts_with("E0975")));
}

/// The diagnostic about the scan.
fn about_scan(found: &Found) -> &str {
    let mut all = found.errors.iter().chain(&found.warnings);
    all.find(|finding| finding.starts_with("E097")).unwrap_or_else(|| panic!("{found:?}"))
}

#[test]
fn an_open_extent_keeps_it() {
    let open =
        sum("S, 4", "1").replace("extension tract_registry", "extension tract_symbol S; extension tract_registry");
    let (graph, found) = flatten(&open, &unroll());
    assert!(matches!(graph.unwrap().fragments()[..], [KeptFragment::Flat(..)]));
    assert_eq!(about_scan(&found), "E0975 this scan is not unrolled: the extent of `x` along axis 0 is not known");
    let (graph, found) = flatten(&open, &unroll().with(|o| o.flat = true));
    assert!(graph.is_none());
    assert_eq!(about_scan(&found), "E0976 this scan cannot be made flat: the extent of `x` along axis 0 is not known");
    let given = unroll().with(|o| {
        o.flat = true;
        o.shapes.inputs = vec![("x".to_owned(), [2, 4].map(Extent::from).to_vec())];
    });
    assert!(flat(&open, &given).0.contains("all_trip2_x_t"));
}

#[test]
fn it_stays_where_that_is_asked_for() {
    for keep in ["step", "tract_core_scan"] {
        let (graph, _) = flatten(&sum("3, 4", "1"), &unroll().with(|o| o.keep = vec![keep.to_owned()]));
        assert_eq!(graph.unwrap().fragments().len(), 1, "{keep}");
    }
    let (graph, found) = flatten(&sum("3, 4", "1"), &Options::default().with(|o| o.flat = true));
    assert!(graph.is_none() && about_scan(&found).starts_with("E0976"), "{found:?}");
    let skips = sum("3, 4", "1").replace("skip = 0", "skip = 1");
    assert!(about_scan(&flatten(&skips, &unroll()).1).starts_with("E0975"));
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let valid = sum("4, 4", "1");
    let (scan, state) = ("('x_t', x, 0, 1)", "('h', h0, 'h_next')");
    let malformed = |argument: &str| format!("`{argument}` of `tract_core_scan` is malformed");
    let without = |what: &str| format!("the body of this scan has no {what}");
    for (from, to, message) in [
        ("body = 'step'", "body = 'stop'", "there is no fragment `stop` for the body of this scan".to_owned()),
        ("body = 'step'", "body = 7", malformed("body")),
        (scan, "('x', x, 0, 1)", without("parameter `x`")),
        (scan, "('x_t', x, 0, 0)", malformed("scan")),
        (
            scan,
            "('x_t', x, 0, 3)",
            "the scanned inputs of a scan do not have the same number of whole steps".to_owned(),
        ),
        (scan, "('x_t', x, 2, 1)", "`x` of shape [4, 4] is scanned along axis 2".to_owned()),
        (scan, "('x_t', x, -1, 1)", malformed("scan")),
        (scan, "('x_t', 1.0, 0, 1)", "what is scanned for `x_t` is not a tensor".to_owned()),
        (scan, "('x_t', x)", malformed("scan")),
        (
            "scan = [('x_t', x, 0, 1)], full = []",
            "scan = [], full = [('x_t', x)]",
            "a scan without scanned inputs does not say how many steps it has".to_owned(),
        ),
        (state, "('g', h0, 'h_next')", without("parameter `g`")),
        (state, "('h', h0, 'next')", without("result `next`")),
        (
            "state = [('h', h0, 'h_next')]",
            "state = []",
            "this scan has no argument for the parameter `h` of its body".to_owned(),
        ),
        ("state = [('h', h0, 'h_next')]", "state = 1", malformed("state")),
        ("'full', 0, 1)", "'most', 0, 1)", malformed("output")),
        (
            "'last', 0, 1)]",
            "'last', 0, 1), ('twice', 'last', 0, 1)]",
            "the left side has 2 names, the scan 3 outputs".to_owned(),
        ),
        ("('twice', 'full'", "('thrice', 'full'", without("result `thrice`")),
    ] {
        assert!(valid.contains(from), "{from}");
        let (graph, found) = flatten(&valid.replace(from, to), &unroll());
        assert!(graph.is_none(), "{to}");
        assert_eq!(about_scan(&found), format!("E0977 {message}"), "{to}");
    }
}

/// Exporters write the names of their tensors for those of parameters, dots included.
#[test]
fn names_in_strings_may_have_other_characters() {
    let dotted = sum("3, 4", "1").replace("('x_t', x", "('x.t', x").replace("'h_next'", "'h.next'");
    assert!(flat(&dotted, &unroll()).0.contains("all_trip3_x_t"));
}

#[test]
fn early_models_have_no_chunk_in_outputs() {
    let short = sum("3, 4", "1").replace("'full', 0, 1)", "'full', 0)").replace("'last', 0, 1)", "'last', 0)");
    assert_eq!(flat(&short, &unroll()).0, flat(&sum("3, 4", "1"), &unroll()).0);
}

#[test]
fn steps_count_against_the_budget() {
    let (graph, found) = flatten(&sum("1000000000000, 4", "1"), &unroll().with(|o| o.max_ops = 1000));
    assert!(graph.is_none());
    assert!(found.errors.iter().any(|error| error.starts_with("E0811")), "{found:?}");
}

/// A body that runs itself is endless like a fragment that calls itself.
#[test]
fn endless_recursion_is_told() {
    let text = "version 1.0;\nextension KHR_enable_fragment_definitions;\n\
        fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    \
        y = tract_core_scan(body = 'f', scan = [('x', x, 0, 1)], full = [], state = [], output = [('y', 'full', 0, 1)]);\n}\n\
        graph G( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = f(x);\n}\n";
    let (graph, found) = flatten(text, &unroll().with(|o| o.max_depth = 1000));
    assert!(graph.is_none());
    assert!(found.errors.iter().any(|error| error.starts_with("E0801")), "{found:?}");
}

/// Scans of real exporters: no fragment is left except for metadata, and the outputs are those of the
/// scans.
#[test]
fn models_are_unrolled_and_mean_the_same() {
    let mut unrolled = 0;
    for RealDocument { name, text } in models() {
        if !text.contains("tract_core_scan") {
            continue;
        }
        let (kept, _) = flatten(&text, &Options::default().with(|o| o.lower = Lower::All));
        let (graph, found) = flatten(&text, &unroll());
        let (kept, graph) = (kept.unwrap(), graph.unwrap());
        let stays = found.warnings.iter().any(|warning| warning.starts_with("E0975"));
        assert_eq!(stays, ["S, ", "[S"].iter().any(|open| text.contains(open)), "{name}");
        if stays {
            continue;
        }
        let metadata = |fragment: &KeptFragment| matches!(fragment, KeptFragment::Verbatim(text) if text.contains("tract_core_properties"));
        assert!(graph.fragments().iter().all(metadata), "{name}");
        // The evaluator does not know all operations of this model.
        if name != "tract-gru-epilogue" {
            let evaluator = Evaluator::default().random_variables(5);
            let given = kept.random_inputs(&[], 1).unwrap();
            let apart = evaluator.compare([&kept, &graph], &given, &BTreeMap::new()).unwrap();
            assert!(apart.largest < 1e-9, "{name}: {apart:?}");
        }
        unrolled += 1;
    }
    assert!(unrolled >= 1);
}

/// A small model gives the outputs that numpy computed.
#[test]
fn a_model_gives_what_was_recorded() {
    let folder = repository("tests/networks/gru");
    let text = std::fs::read_to_string(folder.join("graph.nnef")).unwrap();
    let graph = flatten(&text, &unroll().with(|o| o.flat = true)).0.unwrap();
    let recorded = Tensor::from_npz(&std::fs::read(folder.join("io.npz")).unwrap()).unwrap();
    let is_input = |name: &str| graph.inputs().iter().any(|input| graph.tensor_name(*input) == name);
    let given: Vec<_> = recorded.iter().filter(|(name, _)| is_input(name)).cloned().collect();
    let model = Model::open(&folder, &Limits::default()).unwrap();
    let evaluation = Evaluator::default().run(&graph, &given, &model.variables()).unwrap();
    for (name, found) in &evaluation.outputs {
        let (_, wanted) = recorded.iter().find(|(other, _)| other == name).unwrap();
        assert!(found.difference(wanted).unwrap() < 1e-5, "{name}");
    }
}

/// The body of a scan is compiled when the scan is reached, in the middle of a long statement.
#[test]
fn scans_in_a_long_statement_become_their_steps() {
    let scan = "tract_core_scan(body = 'step', scan = [('x_t', x, 0, 1)], full = [], state = [('h', h0, 'h_next')], \
                output = [('h_next', 'last', 0, 1)], skip = 0)";
    let (head, _) = SUM.split_once("graph G").unwrap();
    let terms = " + h0".repeat(3000);
    let text = format!(
        "{head}graph G( x, h0 ) -> ( y )\n{{\n    x = external(shape = [3, 4]);\n    h0 = external(shape = [1, 4]);\n    \
         y = h0{terms} + {scan}{terms} + {scan}{terms};\n}}\n"
    );
    let (text, _) = flat(&text, &unroll());
    assert!(!text.contains("fragment"), "{}", &text[..200]);
    let found = statements(&text);
    let of = |operation: &str| found.iter().filter(|line| line.contains(&format!(" = {operation}("))).count();
    // Three trips of each scan take a slice and add it, and the scans themselves are added.
    assert_eq!((of("slice"), of("add")), (6, 9000 + 6 + 2));
}
