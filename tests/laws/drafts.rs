//! The laws on documents of the draft: the generated ones, written in its notation.

use crate::common::{error_codes, flat_text, run, tell};
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

/// What the draft lacks, comprehensions with several iterators and `in`, is refused with these codes.
const LACKING: &[&str] = &["E0214", "E0217"];

/// A document in the notation of the draft; none where it uses features that the draft does not have:
/// type arguments, `in`, and later standard operations.
pub fn in_draft(document: &Document) -> Option<String> {
    let parsed = parse("document", document.text.clone(), &Options::default());
    let printed = parsed.document.format_as(Dialect::Draft);
    let text: Vec<&str> = printed.lines().filter(|line| !line.starts_with("extension")).collect();
    let text = untyped(&text.join("\n")) + "\n";
    let is_known = match run(&text, &options(Lower::All)) {
        Ok(expansion) => expansion.diagnostics.iter().all(|warning| warning.code.as_str() != "E0401"),
        Err(errors) => {
            let codes = error_codes(&errors);
            assert!(codes.iter().all(|code| LACKING.contains(code)), "{}\n{text}", tell(&errors));
            false
        }
    };
    is_known.then_some(text)
}

fn laws(document: &Document, text: &str) -> Verdict {
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        let options = options(lower);
        let graph = run(text, &options).map_err(|errors| tell(&errors))?.graph;
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
