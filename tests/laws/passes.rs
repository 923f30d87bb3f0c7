//! The laws for graphs whose operations on constants are folded and whose equal operations are merged.

use std::collections::BTreeMap;

use crate::common::{flat_text, lowering, run, small_models, tell};
use crate::documents::{document, document_with_loops};
use crate::drafts::in_draft;
use crate::flattening::{Verdict, keeps_names, verified};
use crate::meaning::probe;
use crate::tape::{cases, generated};
use nnef_flatten::eval::{Evaluator, Limits};
use nnef_flatten::{Dialect, Graph, Lower, Options};
use proptest::prelude::*;

/// The flat graph of a text.
pub fn flat(text: &str, options: &Options) -> Result<Graph, String> {
    let expansion = run(text, options).map_err(|errors| format!("refused:\n{}\n{text}", tell(&errors)))?;
    Ok(expansion.graph)
}

/// The graph of a text after both passes.
fn reworked(text: &str, options: &Options) -> Result<Graph, String> {
    let mut graph = flat(text, options)?;
    graph.fold(Limits::default(), &[], options.keep_unused);
    graph.share(&[]);
    Ok(graph)
}

/// The names of the document and the meaning are unchanged, and another run changes nothing.
fn laws(text: &str, options: &Options, names: &[String]) -> Verdict {
    let (before, after) = (flat(text, options)?, reworked(text, options)?);
    let fail = |what: &str| Err(format!("{what}:\n{}\nwas\n{}", flat_text(&after), flat_text(&before)));
    verified(&after)?;
    keeps_names(&after, names)?;
    let boundary = |graph: &Graph| -> Vec<String> {
        graph.inputs().iter().chain(graph.outputs()).map(|tensor| graph.tensor_name(*tensor)).collect()
    };
    if boundary(&before) != boundary(&after) {
        return fail("other inputs or outputs");
    }
    let written = flat_text(&after);
    if flat_text(&reworked(text, options)?) != written {
        return fail("two runs differ");
    }
    if flat_text(&reworked(&written, options)?) != written {
        return fail("once and twice");
    }
    same_numbers(&before, &after, fail)
}

/// Two graphs compute exactly the same from the same inputs, with the same random data of variables.
pub fn same_numbers(before: &Graph, after: &Graph, fail: impl Fn(&str) -> Verdict) -> Verdict {
    let evaluator = Evaluator::default().operation("probe", probe).random_variables(7);
    let given = before.random_inputs(&[], 3).map_err(|error| error.to_string())?;
    match evaluator.compare([before, after], &given, &BTreeMap::new()) {
        Ok(found) if found.largest == 0.0 => Ok(()),
        Ok(found) => fail(&format!("`{}` differs by {}", found.output, found.largest)),
        // What has no value before has none after.
        Err(found) => match evaluator.run(before, &given, &BTreeMap::new()) {
            Ok(_) => fail(&found.message),
            Err(_) => Ok(()),
        },
    }
}

/// A verdict as the result of a property.
pub fn verdict(result: Verdict) -> Result<(), TestCaseError> {
    result.map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn documents_are_reworked_by_the_laws(document in generated(160, document)) {
        for lower in [Lower::Custom, Lower::All, Lower::None] {
            verdict(laws(&document.text, &lowering(lower), &document.graph_names))?;
        }
        let all = Options::default().with(|o| o.keep_unused = true);
        verdict(laws(&document.text, &all, &document.graph_names))?;
    }

    #[test]
    fn documents_with_loops_are_reworked_by_the_laws(document in generated(160, document_with_loops)) {
        verdict(laws(&document.text, &lowering(Lower::All), &document.graph_names))?;
    }

    #[test]
    fn drafts_are_reworked_by_the_laws(document in generated(120, document)) {
        if let Some(text) = in_draft(&document) {
            let draft = lowering(Lower::Custom).with(|o| o.dialect = Some(Dialect::Draft));
            verdict(laws(&text, &draft, &[]))?;
        }
    }
}

/// Models small enough for a test, with random data.
#[test]
fn models_are_reworked_by_the_laws() {
    let small = small_models().into_iter();
    let broken: Vec<String> = small
        .filter_map(|model| {
            let why = laws(&model.text, &lowering(Lower::All), &[]).err();
            why.map(|why| format!("{}: {why}", model.name))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
