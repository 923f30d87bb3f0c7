//! The laws of flattening on documents that exist.

use nnef_flatten::{Lower, Options};

use crate::common::{RealDocument, conformance, flat_text, lowering, models, run};
use crate::flattening::{
    Verdict, deterministic, has_provenance, idempotent, json_agrees, keeps_names, levels_agree, verified,
};

/// Documents whose compound operations are accepted although the primitives in them do not fit
/// their shapes; lowered and written out, they are refused. The standard text itself gives the
/// pools of `avg_roi_align` and `max_roi_align` sizes of the wrong rank.
const SHAPES_DO_NOT_FIT: &[&str] = &[
    "std-avg_roi_align",
    "std-max_roi_align",
    "densenet121.khronos",
    "efficientnet_b0.khronos",
    "vgg16_bn.khronos",
    "tract-softmax-softmax-quant-expected",
    "tract-softmax-softmax-quant-model",
];

/// Checks every law; a document that is refused has none to keep.
fn laws(document: &RealDocument) -> Verdict {
    let text = &document.text;
    let Ok(expansion) = run(text, &Options::default()) else { return Ok(()) };
    let parsed = nnef_flatten::parse("document", text.clone(), &Options::default());
    let (ast, names) = (parsed.document.main(), parsed.document.names());
    let params = ast.graphs[0].params.iter().chain(&ast.graphs[0].results);
    let kept: Vec<String> = params.map(|ident| names.text(ident.name).to_string()).collect();
    keeps_names(&expansion.graph, &kept)?;
    json_agrees(&expansion.graph)?;
    let _ = flat_text(&expansion.graph);
    let lowerable = !SHAPES_DO_NOT_FIT.contains(&document.name.as_str());
    if lowerable {
        levels_agree(text)?;
    }
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = lowering(lower.clone());
        let Ok(expansion) = run(text, &options) else { continue };
        verified(&expansion.graph)?;
        if lowerable || lower != Lower::All {
            idempotent(text, &options)?;
        }
        deterministic(text, &options)?;
        has_provenance(text, &options)?;
    }
    Ok(())
}

fn check(documents: impl Iterator<Item = RealDocument>) {
    let broken: Vec<String> = documents
        .filter_map(|document| laws(&document).err().map(|why| format!("== {}: {why}", document.name)))
        .collect();
    assert!(broken.is_empty(), "{} documents\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn models_flatten_by_the_laws() {
    check(models().into_iter());
}

#[test]
fn conformance_documents_flatten_by_the_laws() {
    let valid = |case: &crate::common::Case| case.dialect == "1.0" && case.kind == "valid";
    check(conformance().into_iter().filter(valid).map(|case| case.document));
}
