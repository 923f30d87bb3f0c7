//! `textDocument/documentSymbol`: the outline of a text.

use serde_json::{Value, json};

use super::analyzed::OutlineItem;
use super::params::{Answer, Params};
use super::session::{AskedText, Session};
use super::symbols::SymbolKind;

impl SymbolKind {
    /// Its number in the protocol.
    fn number(self) -> u32 {
        match self {
            SymbolKind::Graph => 2,
            SymbolKind::Operation => 12,
            SymbolKind::Local | SymbolKind::Parameter => 13,
            SymbolKind::Extent => 14,
        }
    }
}

/// Answers the request.
pub(super) fn symbols(session: &mut Session, params: Params) -> Answer {
    let Some(asked) = session.asked(params)? else { return Ok(Value::Null) };
    let items = asked.analysis.outline();
    if session.client.nested_symbols {
        return Ok(items.iter().map(|item| nested(session, &asked, item)).collect());
    }
    let mut found = Vec::new();
    items.iter().for_each(|item| flat(session, &asked, item, None, &mut found));
    Ok(found.into())
}

/// An item with those in it.
fn nested(session: &Session, asked: &AskedText, item: &OutlineItem) -> Value {
    let range = |span| asked.text.lines.range(span, session.client.encoding);
    let mut symbol = json!({
        "name": item.name,
        "kind": item.kind.number(),
        "range": range(item.span),
        "selectionRange": range(item.named),
    });
    if !item.detail.is_empty() {
        symbol["detail"] = item.detail.clone().into();
    }
    if !item.inner.is_empty() {
        symbol["children"] = item.inner.iter().map(|inner| nested(session, asked, inner)).collect();
    }
    symbol
}

/// An item and those in it, one after the other, each with the name of what it is in.
fn flat(session: &Session, asked: &AskedText, item: &OutlineItem, around: Option<&str>, found: &mut Vec<Value>) {
    found.push(json!({
        "name": item.name,
        "kind": item.kind.number(),
        "location": session.here(asked.text, item.span),
        "containerName": around,
    }));
    item.inner.iter().for_each(|inner| flat(session, asked, inner, Some(&item.name), found));
}
