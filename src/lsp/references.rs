//! `textDocument/references` and `textDocument/documentHighlight`: all places of a name.

use serde_json::{Value, json};

use super::params::{Answer, Params};
use super::session::{AskedText, Session};

/// Answers a request for references.
pub(super) fn references(session: &mut Session, params: Params) -> Answer {
    let with_declaration = params.is_set("/context/includeDeclaration");
    let Some(AskedText { text, analysis, span }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let index = analysis.symbols();
    let Some((occurrence, symbol)) = index.at(span.start) else { return Ok(Value::Null) };
    let places = index.of(occurrence.symbol).filter(|occurrence| with_declaration || !occurrence.defines);
    let home = with_declaration.then(|| session.home(&symbol.home)).flatten();
    let places = places.map(|occurrence| session.here(text, occurrence.span));
    Ok(places.chain(home).collect())
}

/// Kinds of highlights in the protocol.
const READ: u32 = 2;
const WRITE: u32 = 3;

/// Answers a request for the places to highlight.
pub(super) fn highlights(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, span }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let index = analysis.symbols();
    let Some((occurrence, _)) = index.at(span.start) else { return Ok(Value::Null) };
    let places = index.of(occurrence.symbol).map(|occurrence| {
        let kind = if occurrence.defines { WRITE } else { READ };
        json!({ "range": text.lines.range(occurrence.span, session.client.encoding), "kind": kind })
    });
    Ok(places.collect())
}
