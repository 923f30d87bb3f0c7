//! `textDocument/formatting`: the text in canonical layout.

use serde_json::{Value, json};

use super::params::{Answer, Params, RequestError};
use super::session::{AskedText, Session};

/// Answers the request.
pub(super) fn formatting(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, .. }) = session.asked(params)? else { return Ok(Value::Null) };
    let formatted = analysis.formatted().map_err(RequestError::Failed)?;
    if formatted == text.lines.read() {
        return Ok(json!([]));
    }
    Ok(json!([{ "range": text.lines.whole(session.client.encoding), "newText": formatted }]))
}
