//! The laws for graphs whose operations on constants are folded and whose equal operations are merged.

use std::collections::BTreeMap;

use crate::common::{flat_text, lowering, run, tell};
use crate::documents::{document, document_with_loops};
use crate::drafts::in_draft;
use crate::flattening::{keeps_names, verified};
use crate::meaning::probe;
use crate::real::of_small_models;
use crate::tape::{checked, generated};
use nnef_flatten::eval::{Evaluator, Limits};
use nnef_flatten::{Dialect, Graph, Lower, Options};

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

/// The names of the document and the meaning are unchanged, and another run changes nothing. Tells whether there are numbers.
fn laws(text: &str, options: &Options, names: &[String]) -> Result<bool, String> {
    let (before, after) = (flat(text, options)?, reworked(text, options)?);
    let told = |what: &str| format!("{what}:\n{}\nwas\n{}", flat_text(&after), flat_text(&before));
    verified(&after)?;
    keeps_names(&after, names)?;
    let boundary = |graph: &Graph| -> Vec<String> {
        graph.inputs().iter().chain(graph.outputs()).map(|tensor| graph.tensor_name(*tensor)).collect()
    };
    if boundary(&before) != boundary(&after) {
        return Err(told("other inputs or outputs"));
    }
    let written = flat_text(&after);
    if flat_text(&reworked(text, options)?) != written {
        return Err(told("two runs differ"));
    }
    if flat_text(&reworked(&written, options)?) != written {
        return Err(told("once and twice"));
    }
    same_numbers(&before, &after, told)
}

/// Two graphs compute exactly the same from the same inputs, with the same random data of variables. Tells whether they do:
/// what has no value before has none after.
pub fn same_numbers(before: &Graph, after: &Graph, told: impl Fn(&str) -> String) -> Result<bool, String> {
    let evaluator = Evaluator::default().operation("probe", probe).random_variables(7);
    let given = before.random_inputs(&[], 3).map_err(|error| error.to_string())?;
    match evaluator.compare([before, after], &given, &BTreeMap::new()) {
        Ok(found) if found.largest == 0.0 => Ok(true),
        Ok(found) => Err(told(&format!("`{}` differs by {}", found.output, found.largest))),
        Err(found) => match evaluator.run(before, &given, &BTreeMap::new()) {
            Ok(_) => Err(told(&found.message)),
            Err(_) => Ok(false),
        },
    }
}

#[test]
fn documents_are_reworked_by_the_laws() {
    checked(200, generated(160, document), 2, |document| {
        let mut has_numbers = true;
        for lower in [Lower::Custom, Lower::All, Lower::None] {
            has_numbers &= laws(&document.text, &lowering(lower), &document.graph_names)?;
        }
        let all = Options::default().with(|o| o.keep_unused = true);
        has_numbers &= laws(&document.text, &all, &document.graph_names)?;
        Ok(has_numbers)
    });
}

#[test]
fn documents_with_loops_are_reworked_by_the_laws() {
    checked(200, generated(160, document_with_loops), 2, |document| {
        laws(&document.text, &lowering(Lower::All), &document.graph_names)
    });
}

#[test]
fn drafts_are_reworked_by_the_laws() {
    checked(200, generated(120, document), 4, |document| {
        let Some(text) = in_draft(&document) else { return Ok(false) };
        let draft = lowering(Lower::Custom).with(|o| o.dialect = Some(Dialect::Draft));
        laws(&text, &draft, &[])
    });
}

#[test]
fn models_are_reworked_by_the_laws() {
    of_small_models(|text| laws(text, &lowering(Lower::All), &[]));
}
