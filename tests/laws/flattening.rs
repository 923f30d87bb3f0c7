//! The laws of flattening (2, 3, 5 to 9 of the design) as checks of any document.

use std::collections::BTreeSet;

use crate::common::{flat_text, json_text, lowering, run, tell};
use crate::documents::{Document, document};
use crate::tape::{cases, generated};
use nnef_flatten::graph::Output;
use nnef_flatten::source::Location;
use nnef_flatten::{Diagnostics, Expansion, Graph, Lower, Options, expand, parse};
use proptest::prelude::*;

/// The result of checking a law on a document: how the document breaks it, if it does.
pub type Verdict = Result<(), String>;

fn expanded(text: &str, options: &Options) -> Result<Expansion, String> {
    run(text, options).map_err(|errors| format!("refused:\n{}\n{text}", tell(&errors)))
}

fn flat(text: &str, options: &Options) -> Result<String, String> {
    expanded(text, options).map(|expansion| flat_text(&expansion.graph))
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

/// The lines in which two texts differ.
fn difference(a: &str, b: &str) -> String {
    let only = |a: &str, b: &str| {
        let lines: BTreeSet<&str> = b.lines().collect();
        a.lines().filter(|line| !lines.contains(line)).take(12).collect::<Vec<_>>().join("\n")
    };
    format!("one has\n{}\nthe other\n{}", only(a, b), only(b, a))
}

/// The operation of a line of flat text.
fn operation(line: &str) -> &str {
    line.split(" = ").nth(1).and_then(|call| call.split('(').next()).unwrap_or(line)
}

/// Law 2: lowering in two steps gives the same as lowering at once.
///
/// The texts are equal where everything is demanded. By default the first step may name a result that
/// is not needed beside one that is (`(mean, variance) = moments(..)`). As a name of the graph it is
/// kept; then the second step has some further operations, and other fresh names may get suffixes.
pub fn levels_agree(text: &str, options: &Options) -> Verdict {
    for keep_unused in [true, false] {
        let lower = |lower| {
            options.clone().with(|o| {
                o.keep_unused = keep_unused;
                o.lower = lower;
            })
        };
        let custom = flat(text, &lower(Lower::Custom))?;
        let steps = flat(&custom, &lower(Lower::All))?;
        let once = flat(text, &lower(Lower::All))?;
        let mut rest = steps.lines().map(operation);
        let agree = if keep_unused {
            steps == once
        } else {
            once.lines().map(operation).all(|line| rest.any(|other| other == line))
        };
        require(agree, || format!("in two steps and at once: {}", difference(&steps, &once)))?;
    }
    Ok(())
}

/// Law 3: flattening a flat document does not change it.
pub fn idempotent(text: &str, options: &Options) -> Verdict {
    let first = flat(text, options)?;
    let second = flat(&first, options)?;
    require(first == second, || format!("once and twice: {}", difference(&first, &second)))
}

/// Law 5: the same bytes each time.
pub fn deterministic(text: &str, options: &Options) -> Verdict {
    let (first, second) = (expanded(text, options)?.graph, expanded(text, options)?.graph);
    require(flat_text(&first) == flat_text(&second) && json_text(&first) == json_text(&second), || {
        "two runs differ".to_string()
    })
}

/// The graph is well formed.
pub fn verified(graph: &Graph) -> Verdict {
    let wrong = graph.verify();
    require(wrong.is_empty(), || wrong.join("\n"))
}

fn tensor_names(graph: &Graph) -> BTreeSet<String> {
    let tensors = graph.operations().flat_map(|operation| operation.tensors());
    tensors.map(|tensor| graph.tensor_name(tensor)).collect()
}

/// Law 6: names that the text has survive.
pub fn keeps_names(graph: &Graph, names: &[String]) -> Verdict {
    let found = tensor_names(graph);
    let lost: Vec<&String> = names.iter().filter(|name| !found.contains(*name)).collect();
    require(lost.is_empty(), || format!("lost {lost:?}"))
}

/// Law 9: every operation comes from a place in a text, through calls that start in the graph.
pub fn has_provenance(text: &str, options: &Options) -> Verdict {
    let parsed = parse("document", text.to_string(), options);
    let told = |diagnostics: Diagnostics| tell(&diagnostics.into_iter().collect::<Vec<_>>());
    let graph = expand(&parsed.document, options).map_err(told)?.graph;
    let document = &parsed.document;
    let body = text.rfind("\ngraph ").unwrap_or(0);
    let in_graph = |at: Location| document.sources().name(at.file) == "document" && body <= at.span.range().start;
    for operation in graph.operations() {
        let name = operation.name();
        let at = operation.location();
        require(at.span.start < at.span.end, || format!("`{name}` comes from nowhere"))?;
        let place = document.sources().text(at);
        let stands = place == name
            || place.chars().all(|c| !c.is_alphanumeric())
            || ["copy", "idn", "constant", "slice", "squeeze"].contains(&name);
        require(stands, || format!("`{name}` comes from `{place}`"))?;
        let mut outermost = at;
        for (fragment, at) in operation.calls() {
            let place = document.sources().text(at);
            require(place == fragment, || format!("a call stands at `{place}`"))?;
            outermost = at;
        }
        require(in_graph(outermost), || format!("the calls around `{name}` do not start in the graph"))?;
    }
    Ok(())
}

/// The JSON has the operations of the graph, in order, with their results: members of an object, which have no order.
pub fn json_agrees(graph: &Graph) -> Verdict {
    let json: serde_json::Value = serde_json::from_str(&json_text(graph)).map_err(|error| error.to_string())?;
    let operations = json["operations"].as_array().ok_or("no operations")?;
    require(operations.len() == graph.operations().len(), || "another number of operations".to_string())?;
    for (found, operation) in operations.iter().zip(graph.operations()) {
        let name = operation.name();
        require(found["name"] == name, || format!("{} instead of {name}", found["name"]))?;
        let mut expected: Vec<serde_json::Value> = operation
            .outputs()
            .map(|(_, output)| match output {
                Output::Tensor(tensor) => graph.tensor_name(*tensor).into(),
                Output::Array(tensors) => tensors.iter().map(|&tensor| graph.tensor_name(tensor)).collect(),
            })
            .collect();
        let mut outputs: Vec<serde_json::Value> =
            found["outputs"].as_object().into_iter().flatten().map(|(_, value)| value.clone()).collect();
        for results in [&mut outputs, &mut expected] {
            results.sort_by_cached_key(serde_json::Value::to_string);
        }
        require(outputs == expected, || format!("results of {name}: {outputs:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Law 7 for the marked parts of generated documents: nothing that is not demanded is emitted.
fn is_lazy(document: &Document) -> Verdict {
    let graph = expanded(&document.text, &Options::default())?.graph;
    let all = expanded(&document.text, &Options::default().with(|o| o.keep_unused = true))?.graph;
    let has = |graph: &Graph, name: &str| graph.operations().any(|operation| operation.name() == name);
    require(!has(&graph, "never") && !has(&graph, "dead"), || {
        "something was emitted that nothing demands".to_string()
    })?;
    require(!has(&all, "never"), || "a branch that is not taken was evaluated".to_string())?;
    require(all.operations().len() >= graph.operations().len(), || "demanding everything gives less".to_string())?;
    verified(&all)
}

/// Law 8: one operation less than needed is refused with the calls, and what is needed suffices.
fn keeps_budget(document: &Document) -> Verdict {
    let keep = |max_ops: u64| {
        Options::default().with(|o| {
            o.keep_unused = true;
            o.max_ops = max_ops;
        })
    };
    let needed = expanded(&document.text, &keep(1_000_000))?.graph.operations().len() as u64;
    if needed > 2 {
        let Err(errors) = run(&document.text, &keep(needed - 1)) else { return Err("beyond the budget".into()) };
        let codes = crate::common::error_codes(&errors);
        require(codes == ["E0811"] || codes == ["E0814"], || format!("refused with {codes:?}"))?;
        expanded(&document.text, &keep(needed))?;
    }
    Ok(())
}

/// Comments of annotated texts change nothing: without them the text is the flat one, and it flattens to the flat one.
#[cfg(feature = "cli")]
pub fn annotation_is_comments(text: &str) -> Verdict {
    let printed = |text: &str, words: &[std::ffi::OsString]| {
        let keywords = nnef_flatten::cli::Keywords::new(words)?;
        let mut out = Vec::new();
        let input = keywords.open(("document", text).into(), None).map_err(|refused| refused.to_string())?;
        input.print("nnef", &mut out).map_err(|refused| refused.to_string())?;
        String::from_utf8(out).map_err(|error| error.to_string())
    };
    let flat = printed(text, &[])?;
    let annotated = printed(text, &["--annotate".into()])?;
    let (lines, commented) = (flat.lines().count(), annotated.matches("  # ").count());
    require(commented > 0 && annotated.lines().count() == lines, || format!("{commented} comments:\n{annotated}"))?;
    let again = printed(&annotated, &[])?;
    require(flat == again, || format!("annotated: {}", difference(&flat, &again)))
}

pub fn verdict(result: Verdict) -> Result<(), TestCaseError> {
    result.map_err(TestCaseError::fail)
}

fn all_laws(document: &Document) -> Verdict {
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = lowering(lower);
        let graph = expanded(&document.text, &options)?.graph;
        verified(&graph)?;
        keeps_names(&graph, &document.graph_names)?;
        let outputs: Vec<String> = graph.outputs().iter().map(|&tensor| graph.tensor_name(tensor)).collect();
        require(outputs == document.outputs, || format!("outputs {outputs:?}"))?;
        json_agrees(&graph)?;
        deterministic(&document.text, &options)?;
        idempotent(&document.text, &options)?;
        has_provenance(&document.text, &options)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn documents_flatten_by_the_laws(document in generated(160, document)) {
        verdict(all_laws(&document))?;
    }

    #[cfg(feature = "cli")]
    #[test]
    fn annotations_are_comments(document in generated(160, document)) {
        verdict(annotation_is_comments(&document.text))?;
    }

    #[test]
    fn lowering_levels_agree(document in generated(160, document)) {
        verdict(levels_agree(&document.text, &Options::default()))?;
    }

    #[test]
    fn evaluation_is_lazy(document in generated(160, document)) {
        verdict(is_lazy(&document))?;
    }

    #[test]
    fn budgets_are_kept(document in generated(160, document)) {
        verdict(keeps_budget(&document))?;
    }
}

#[test]
fn unused_locals_are_emitted_on_demand() {
    let text = format!(
        "{}fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ t = exp(x); u = log(x); y = x if true else u; }}
         graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = f(x); }}",
        crate::common::HEADER
    );
    let emitted = |options: &Options| flat(&text, options).expect("a valid document");
    let lazy = emitted(&Options::default());
    assert!(!lazy.contains("exp(") && !lazy.contains("log("), "{lazy}");
    let all = emitted(&Options::default().with(|o| o.keep_unused = true));
    assert!(all.contains("y_t = exp(x);") && all.contains("y_u = log(x);"), "{all}");
}

#[test]
fn a_string_may_be_the_name_of_a_fragment_by_chance() {
    let text = format!(
        "{}fragment pi( x: tensor<scalar>, a: string ) -> ( y: tensor<scalar> );
         fragment f( x: tensor<scalar>, p: string, c: logical ) -> ( y: tensor<scalar> ) {{ y = pi(x, a = p[0] if c else p + p); }}
         graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = f(x, p = 'from', c = true); }}",
        crate::common::HEADER
    );
    let options = Options::default();
    assert!(flat(&text, &options).expect("a valid document").contains("y = pi(x, a = 'f');"));
    idempotent(&text, &options).expect("idempotent");
}
