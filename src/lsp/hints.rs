//! `textDocument/inlayHint`: types and shapes behind the names that get them.

use serde_json::{Value, json};

use super::analyzed::Hint;
use super::params::{Answer, Params};
use super::session::{AskedText, Session};

/// Hints of types in the protocol.
const TYPE: u32 = 1;

/// Answers the request.
pub(super) fn hints(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, span }) = session.asked_in(params)? else { return Ok(Value::Null) };
    let hint = |hint: Hint| {
        let position = text.lines.position(hint.offset, session.client.encoding);
        json!({ "position": position, "label": hint.label, "kind": TYPE })
    };
    Ok(analysis.hints(span).into_iter().map(hint).collect())
}
