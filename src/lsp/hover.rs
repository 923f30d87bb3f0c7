//! `textDocument/hover`: type and shape of a tensor, the signature of an operation, and what a call expands to.

use serde_json::{Value, json};

use super::analyzed::HoverText;
use super::params::{Answer, Params};
use super::session::{AskedText, Session};

/// Answers the request.
pub(super) fn hover(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, span }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let Some(found) = analysis.hover(span.start) else { return Ok(Value::Null) };
    let contents = match session.client.markdown {
        true => json!({ "kind": "markdown", "value": markdown(&found, analysis.language()) }),
        false => json!({ "kind": "plaintext", "value": plain(&found) }),
    };
    Ok(json!({ "contents": contents, "range": text.lines.range(found.span, session.client.encoding) }))
}

fn markdown(found: &HoverText, language: &str) -> String {
    // A fence that is longer than any run of the same character in the code.
    let runs = found.code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(runs.max(2) + 1);
    let mut parts = vec![format!("{fence}{language}\n{}\n{fence}", found.code)];
    parts.extend(found.remarks.iter().cloned());
    parts.join("\n\n")
}

fn plain(found: &HoverText) -> String {
    let mut parts = vec![found.code.clone()];
    parts.extend(found.remarks.iter().map(|remark| remark.replace("```nnef\n", "").replace("\n```", "")));
    parts.join("\n\n")
}
