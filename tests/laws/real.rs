//! The laws of flattening on real documents.

use crate::common::{RealDocument, conformance, flat_text, lowering, models, run, small_models};
use crate::flattening::{deterministic, has_provenance, idempotent, json_agrees, keeps_names, levels_agree, verified};
use nnef_flatten::{Lower, Options};

/// Checks every law on a document, unless it is refused: tells whether it was accepted.
fn laws(document: &RealDocument) -> Result<bool, String> {
    let text = &document.text;
    let Ok(expansion) = run(text, &Options::default()) else { return Ok(false) };
    let parsed = nnef_flatten::parse("document", text.clone(), &Options::default());
    // The canonical form has the names of inputs and outputs on one line.
    let printed = parsed.document.format();
    let head = printed.lines().find_map(|line| line.strip_prefix("graph ")).ok_or("no graph")?;
    let lists = head.split(['(', ')']).filter(|part| !part.contains("->")).skip(1);
    let names = lists.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
    let kept: Vec<String> = names.map(str::to_string).collect();
    keeps_names(&expansion.graph, &kept)?;
    json_agrees(&expansion.graph)?;
    let _ = flat_text(&expansion.graph);
    levels_agree(text, &Options::default())?;
    #[cfg(feature = "cli")]
    crate::flattening::annotation_is_comments(text)?;
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = lowering(lower);
        let Ok(expansion) = run(text, &options) else { continue };
        verified(&expansion.graph)?;
        idempotent(text, &options)?;
        deterministic(text, &options)?;
        has_provenance(text, &options)?;
    }
    Ok(true)
}

/// Holds models that are small enough for a test, with random data, to a law, which tells whether there are numbers. Two of
/// three have some.
pub fn of_small_models(law: impl Fn(&str) -> Result<bool, String>) {
    let (mut broken, mut silent, models) = (Vec::new(), Vec::new(), small_models());
    for model in &models {
        match law(&model.text) {
            Ok(true) => {}
            Ok(false) => silent.push(&model.name),
            Err(why) => broken.push(format!("{}: {why}", model.name)),
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(silent.len() * 3 <= models.len(), "no numbers: {silent:?}");
}

fn check(documents: &[RealDocument]) {
    let (mut accepted, mut broken) = (0, Vec::new());
    for document in documents {
        match laws(document) {
            Ok(is_accepted) => accepted += usize::from(is_accepted),
            Err(why) => broken.push(format!("== {}: {why}", document.name)),
        }
    }
    assert!(broken.is_empty(), "{} documents\n{}", broken.len(), broken.join("\n"));
    assert!(accepted > 9 && accepted * 10 >= documents.len() * 9, "{accepted} of {}", documents.len());
}

#[test]
fn models_flatten_by_the_laws() {
    check(&models());
}

#[test]
fn conformance_documents_flatten_by_the_laws() {
    let valid = |case: &crate::common::Case| case.dialect == "1.0" && case.kind == "valid";
    let documents: Vec<RealDocument> = conformance().into_iter().filter(valid).map(|case| case.document).collect();
    check(&documents);
}
