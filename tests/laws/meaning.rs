//! Law 1: a document and its flat graph compute the same numbers. The meaning of a document is that
//! of its primitives: it is expanded with everything lowered.

use std::collections::BTreeMap;

use crate::common::{flat_text, run, tell};
use crate::documents::{document, document_with_loops};
use crate::drafts::in_draft;
use crate::flattening::{Verdict, verdict};
use crate::real::of_small_models;
use crate::tape::{cases, checked, generated};
use nnef_flatten::eval::{Call, EvalError, Evaluator};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Dialect, Lower, Options};
use proptest::prelude::*;

/// The kernel of the operation of generated documents: a function that depends on all arguments.
pub fn probe(call: &Call) -> Result<Vec<Tensor>, EvalError> {
    let (factor, shift) = (call.number("s")?, call.ints("a")?.iter().sum::<i64>() as f64);
    let x = call.tensor("x")?;
    let items = x.to_scalars().into_iter().map(|x| x * factor + shift).collect();
    Ok(vec![Tensor::scalars(x.shape(), items)?])
}

/// Compares two ways of flattening a text.
fn agree(text: &str, source: &Options, flat: &Options, tolerance: f64) -> Verdict {
    let expand =
        |options: &Options| run(text, options).map_err(|errors| format!("refused:\n{}\n{text}", tell(&errors)));
    let (source, flat) = (expand(source)?.graph, expand(flat)?.graph);
    let evaluator = Evaluator::default().operation("probe", probe).random_variables(7);
    let given = source.random_inputs(&[], 3).map_err(|error| error.to_string())?;
    let found =
        evaluator.compare([&source, &flat], &given, &BTreeMap::new()).map_err(|finding| finding.message.clone())?;
    if found.largest <= tolerance { Ok(()) } else { Err(format!("`{}` differs by {}", found.output, found.largest)) }
}

fn lowering(lower: Lower, migrate: bool) -> Options {
    Options::default().with(|o| {
        o.lower = lower;
        o.migrate = migrate;
    })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn flat_graphs_mean_what_their_sources_mean(document in generated(160, document)) {
        let (all, custom) = (lowering(Lower::All, false), lowering(Lower::Custom, false));
        verdict(agree(&document.text, &all, &custom, 1e-12))?;
    }

    #[test]
    fn loops_and_recursion_mean_what_their_sources_mean(document in generated(160, document_with_loops)) {
        let (all, custom) = (lowering(Lower::All, false), lowering(Lower::Custom, false));
        verdict(agree(&document.text, &all, &custom, 1e-12))?;
        let flat = run(&document.text, &custom).map_err(|errors| TestCaseError::fail(tell(&errors)))?.graph;
        let text = flat_text(&flat);
        prop_assert!(!text.contains("unroll"), "{}", text);
    }
}

#[test]
fn migrated_graphs_mean_what_their_drafts_mean() {
    checked(200, generated(120, document), 4, |document| {
        let Some(text) = in_draft(&document) else { return Ok(false) };
        let source = lowering(Lower::All, false).with(|o| o.dialect = Some(Dialect::Draft));
        let flat = lowering(Lower::Custom, true).with(|o| o.dialect = Some(Dialect::Draft));
        // Fragments without a body stay in the notation of the draft, which 1.0 does not read.
        if run(&text, &flat).is_err() {
            return Ok(false);
        }
        agree(&text, &source, &flat, 1e-12).map(|()| true)
    });
}

#[test]
fn models_mean_what_their_sources_mean() {
    let (all, custom) = (lowering(Lower::All, false), lowering(Lower::Custom, false));
    of_small_models(|text| agree(text, &all, &custom, 1e-9).map(|()| true));
}
