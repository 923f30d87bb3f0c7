//! `textDocument/definition`: where a name is given its meaning, also in libraries.

use serde_json::Value;

use super::params::{Answer, Params};
use super::session::{AskedText, Session};

/// Answers the request.
pub(super) fn definition(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, span }) = session.asked_at(params)? else { return Ok(Value::Null) };
    let index = analysis.symbols();
    let Some((occurrence, symbol)) = index.at(span.start) else { return Ok(Value::Null) };
    let here = index.definition(&occurrence).map(|span| session.here(text, span));
    Ok(here.or_else(|| session.home(&symbol.home)).unwrap_or_default())
}
