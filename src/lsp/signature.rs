//! `textDocument/signatureHelp`: the parameters of what is called, and the one that is being written.

use std::ops::Range;

use serde_json::{Value, json};

use super::params::{Answer, Params};
use super::session::{AskedText, Session};

/// Answers the request.
pub(super) fn help(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { analysis, span, .. }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let Some(found) = analysis.signature(span.start) else { return Ok(Value::Null) };
    let units = |end: usize| found.label.get(..end).unwrap_or_default().encode_utf16().count();
    let param = |range: &Range<usize>| match session.client.label_offsets {
        true => json!({ "label": [units(range.start), units(range.end)] }),
        false => json!({ "label": found.label.get(range.clone()) }),
    };
    // Clients show the first parameter as the active one if none is, so that they get none.
    let params: Vec<Value> = found.params.iter().filter(|_| found.active.is_some()).map(param).collect();
    let mut signature = json!({ "label": found.label, "parameters": params });
    if let Some(remark) = &found.remark {
        signature["documentation"] = remark.clone().into();
    }
    let active = found.active.unwrap_or_default();
    Ok(json!({ "signatures": [signature], "activeSignature": 0, "activeParameter": active }))
}

/// The places of texts that follow one another in a label, from an offset on.
pub(super) fn spans_of(label: &str, mut from: usize, texts: &[impl AsRef<str>]) -> Vec<Range<usize>> {
    let place = |text: &str| {
        let start = from + label.get(from..)?.find(text)?;
        from = start + text.len();
        Some(start..from)
    };
    texts.iter().map(AsRef::as_ref).map_while(place).collect()
}
