//! `textDocument/codeAction` and `codeAction/resolve`: a call is replaced by the statements that it stands for.

use serde_json::{Value, json};

use super::analyzed::ExpandableCall;
use super::params::{Answer, Params, RequestError};
use super::session::{AskedText, Session};
use crate::source::Span;

/// The kind of the action in the protocol.
pub(super) const INLINE: &str = "refactor.inline";

/// Answers with the actions that are possible at a range.
pub(super) fn actions(session: &mut Session, params: Params) -> Answer {
    let wanted = |kind: &str| {
        let mut only = params.items("/context/only").filter_map(Value::as_str).peekable();
        only.peek().is_none()
            || only.any(|only| kind.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let Some(asked) = session.asked_in(params)? else { return Ok(Value::Null) };
    let call = asked.analysis.call_at(asked.span).filter(|_| session.client.has_actions && wanted(INLINE));
    Ok(call.and_then(|call| session.expansion(&asked, &call)).into_iter().collect())
}

impl Session {
    /// The action that expands a call; none if it is not possible and the client does not show that.
    fn expansion(&self, asked: &AskedText, call: &ExpandableCall) -> Option<Value> {
        let title = format!("Expand this call of `{}`", call.operation);
        let disabled = |why: &str| {
            let disabled = json!({ "title": title, "kind": INLINE, "disabled": { "reason": why } });
            self.client.shows_disabled.then_some(disabled)
        };
        if let Some(why) = &call.disabled {
            return disabled(why);
        }
        if self.client.resolves_edits {
            let data = json!({
                "textDocument": { "uri": asked.text.uri }, "version": asked.text.version,
                "span": [call.span.start, call.span.end],
            });
            return Some(json!({ "title": title, "kind": INLINE, "data": data }));
        }
        match asked.analysis.expansion(call) {
            Ok(edits) => {
                let edit = self.workspace_edit(asked.text, &edits);
                Some(json!({ "title": title, "kind": INLINE, "edit": edit }))
            }
            Err(why) => disabled(&why),
        }
    }
}

/// Answers with an action and its edit.
pub(super) fn resolve(session: &mut Session, params: Params) -> Answer {
    let Some(data) = params.0.get("data").map(Params) else { return Ok(params.0.clone()) };
    let number = |path: &str| data.get(path, |value| u32::try_from(value.as_u64()?).ok());
    let span = Span::new(number("/span/0")?, number("/span/1")?);
    let Some(AskedText { text, analysis, .. }) = session.asked(data)? else { return Ok(Value::Null) };
    if data.0.get("version").and_then(Value::as_i64) != text.version {
        return Err(RequestError::Changed);
    }
    let call = analysis.call_at(span).filter(|call| call.span == span).ok_or(RequestError::Changed)?;
    let edits = analysis.expansion(&call).map_err(RequestError::Failed)?;
    let mut action = params.0.clone();
    if let Some(fields) = action.as_object_mut() {
        fields.insert("edit".to_owned(), session.workspace_edit(text, &edits));
    }
    Ok(action)
}
