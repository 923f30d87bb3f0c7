//! The laws on documents of the draft: the generated ones, written in its notation.

use crate::common::{flat_text, run};
use crate::documents::{Document, document};
use crate::flattening::{
    Verdict, deterministic, has_provenance, idempotent, json_agrees, keeps_names, levels_agree, verified,
};
use crate::tape::{checked, generated};
use nnef_flatten::{Dialect, Lower, Options, parse};

/// Options that read the draft and write it again.
fn options(lower: Lower) -> Options {
    Options::default().with(|o| {
        o.dialect = Some(Dialect::Draft);
        o.lower = lower;
    })
}

/// The text without type arguments and signs of defaults, and `copy` under its old name.
fn untyped(text: &str) -> String {
    text.replace("<scalar>", "").replace("<?>", "").replace("copy(", "idn(").replace("scalar = -0.5", "scalar = 0.5")
}

/// A document in the notation of the draft; none where it uses features that the draft does not have:
/// type arguments, `in`, and later standard operations.
pub fn in_draft(document: &Document) -> Option<String> {
    let parsed = parse("document", document.text.clone(), &Options::default());
    let printed = parsed.document.format_as(Dialect::Draft);
    let text: Vec<&str> = printed.lines().filter(|line| !line.starts_with("extension")).collect();
    let text = untyped(&text.join("\n")) + "\n";
    let known = run(&text, &options(Lower::All))
        .is_ok_and(|expansion| expansion.diagnostics.iter().all(|warning| warning.code.as_str() != "E0401"));
    known.then_some(text)
}

fn laws(document: &Document, text: &str) -> Verdict {
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = options(lower);
        let graph = run(text, &options).map_err(|errors| crate::common::tell(&errors))?.graph;
        verified(&graph)?;
        keeps_names(&graph, &document.graph_names)?;
        json_agrees(&graph)?;
        deterministic(text, &options)?;
        idempotent(text, &options)?;
        has_provenance(text, &options)?;
        let _ = flat_text(&graph);
    }
    levels_agree(text, &options(Lower::Custom))
}

#[test]
fn drafts_flatten_by_the_laws() {
    checked(200, generated(120, document), 4, |document| match in_draft(&document) {
        Some(text) => laws(&document, &text).map(|()| true),
        None => Ok(false),
    });
}
