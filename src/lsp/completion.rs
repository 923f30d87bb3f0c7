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
    Ok(found.proposals.iter().map(item).collect())
}
