//! `textDocument/completion`: operations, parameters and values that can stand at a position.

use serde_json::{Value, json};

use super::analyzed::{Proposal, ProposalKind};
use super::params::{Answer, Params};
use super::session::{AskedText, Session};

impl ProposalKind {
    /// Its number in the protocol.
    fn number(self) -> u32 {
        match self {
            ProposalKind::Operation => 3,
            ProposalKind::Value => 6,
            ProposalKind::Module => 9,
            ProposalKind::Parameter => 10,
            ProposalKind::Keyword => 14,
        }
    }

    /// Its place in the list: what is nearest to the position comes first.
    fn rank(self) -> u32 {
        match self {
            ProposalKind::Parameter => 0,
            ProposalKind::Value => 1,
            ProposalKind::Operation => 2,
            ProposalKind::Keyword | ProposalKind::Module => 3,
        }
    }
}

/// The most values that are proposed at once. Of longer lists, only what starts with the word that is typed is sent.
const MOST: usize = 500;

/// Answers the request.
pub(super) fn completion(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, span }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let Some(found) = analysis.completions(span.start) else { return Ok(Value::Null) };
    let range = text.lines.range(found.replaced, session.client.encoding);
    let item = |proposal: &Proposal| {
        let Proposal { label, kind, detail, insert } = proposal;
        json!({
            "label": label,
            "kind": kind.number(),
            "detail": detail,
            "sortText": format!("{}{label}", kind.rank()),
            "textEdit": { "range": range, "newText": insert.as_ref().unwrap_or(label) },
        })
    };
    let typed = text.lines.read().get(found.replaced.range()).unwrap_or_default();
    let is_long = found.proposals.len() > MOST;
    let mut values = 0;
    // A name in quotes may be typed without them.
    let starts = |label: &str| label.starts_with(typed) || label.trim_start_matches('"').starts_with(typed);
    let fits = |proposal: &&Proposal| {
        values += usize::from(proposal.kind == ProposalKind::Value && starts(&proposal.label));
        !is_long || starts(&proposal.label) && (proposal.kind != ProposalKind::Value || values <= MOST)
    };
    let items: Vec<Value> = found.proposals.iter().filter(fits).map(item).collect();
    // The editor asks again when more of the word is typed.
    Ok(json!({ "isIncomplete": items.len() < found.proposals.len(), "items": items }))
}
