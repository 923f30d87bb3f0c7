//! `textDocument/codeAction` and `codeAction/resolve`: a finding is solved, or a call is replaced by the statements that it
//! stands for.

use serde_json::{Value, json};

use super::analyzed::{ExpandableCall, Replacement};
use super::params::{Answer, Params, RequestError};
use super::session::{AskedText, Session};
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// The kind of the action that expands a call, in the protocol.
pub(super) const INLINE: &str = "refactor.inline";

/// The kind of actions that solve findings.
pub(super) const FIX: &str = "quickfix";

/// Answers with the actions that are possible at a range.
pub(super) fn actions(session: &mut Session, params: Params) -> Answer {
    let wanted = |kind: &str| {
        let mut only = params.items("/context/only").filter_map(Value::as_str).peekable();
        only.peek().is_none()
            || only.any(|only| kind.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let Some(asked) = session.asked_in(params)? else { return Ok(Value::Null) };
    if !session.client.has_actions {
        return Ok(json!([]));
    }
    let call = asked.analysis.call_at(asked.span).filter(|_| wanted(INLINE));
    let mut actions: Vec<Value> = call.and_then(|call| session.expansion(&asked, &call)).into_iter().collect();
    if wanted(FIX) {
        actions.extend(session.fixes(&asked));
    }
    Ok(actions.into())
}

impl Session {
    /// The actions that solve the findings at a span.
    fn fixes(&self, asked: &AskedText) -> Vec<Value> {
        let (findings, file) = asked.analysis.findings();
        let here = findings.diagnostics.iter().filter(|found| found.at.file == file);
        let near = here.filter(|found| found.at.span.start <= asked.span.end && asked.span.start <= found.at.span.end);
        let action = |found: &Diagnostic| {
            let fix = found.fix.as_ref()?;
            let replacement = Replacement { span: fix.span, text: fix.replacement.clone() };
            Some(json!({
                "title": found.help.as_ref().unwrap_or(&found.message),
                "kind": FIX,
                "isPreferred": fix.certain,
                "diagnostics": [self.finding(asked.text, findings, file, found)],
                "edit": self.workspace_edit(asked.text, &[replacement]),
            }))
        };
        near.filter_map(action).collect()
    }

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
