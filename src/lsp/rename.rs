//! `textDocument/prepareRename` and `textDocument/rename`.

use serde_json::{Value, json};

use super::analyzed::Replacement;
use super::params::{Answer, Params, RequestError};
use super::session::{AskedText, Session};
use super::symbols::{Home, Occurrence, Symbol};
use super::texts::OpenText;

/// The name at the position, if it can be renamed.
fn renamed<'s>(asked: &AskedText<'s>) -> Result<Option<(Occurrence, &'s Symbol)>, RequestError> {
    let Some((occurrence, symbol)) = asked.analysis.symbols().at(asked.span.start) else { return Ok(None) };
    let why = match symbol.home {
        Home::Here => symbol.fixed,
        Home::Library(..) | Home::File(..) => Some("it is declared in another file"),
    };
    match why {
        Some(why) => Err(RequestError::Failed(format!("`{}` cannot be renamed: {why}", symbol.name))),
        None => Ok(Some((occurrence, symbol))),
    }
}

/// Answers whether the name at a position can be renamed, and what would be replaced.
pub(super) fn prepare(session: &mut Session, params: Params) -> Answer {
    let Some(asked) = session.asked_at(params)? else { return Ok(Value::Null) };
    let Some((occurrence, symbol)) = renamed(&asked)? else { return Ok(Value::Null) };
    let range = asked.text.lines.range(occurrence.span, session.client.encoding);
    Ok(json!({ "range": range, "placeholder": symbol.name }))
}

/// Answers with the edits that give all occurrences of a name another one.
pub(super) fn rename(session: &mut Session, params: Params) -> Answer {
    let name = params.text("/newName")?;
    let Some(asked) = session.asked_at(params)? else { return Ok(Value::Null) };
    let Some((occurrence, symbol)) = renamed(&asked)? else { return Ok(Value::Null) };
    let index = asked.analysis.symbols();
    let spelled = asked.analysis.spelled(symbol, name).map_err(RequestError::Failed)?;
    if name != symbol.name && index.clash(symbol, name).is_some() {
        return Err(RequestError::Failed(format!("there is a `{name}` already")));
    }
    let replacement = |occurrence: &Occurrence| Replacement { span: occurrence.span, text: spelled.clone() };
    let edits: Vec<Replacement> = index.of(occurrence.symbol).map(replacement).collect();
    Ok(session.workspace_edit(asked.text, &edits))
}

impl Session {
    /// Replacements in a text as edits of the protocol.
    pub(super) fn edits(&self, text: &OpenText, replacements: &[Replacement]) -> Vec<Value> {
        let edit = |one: &Replacement| json!({ "range": text.lines.range(one.span, self.client.encoding), "newText": one.text });
        replacements.iter().map(edit).collect()
    }

    /// Replacements in a text as an edit of the workspace.
    pub(super) fn workspace_edit(&self, text: &OpenText, replacements: &[Replacement]) -> Value {
        let edits = self.edits(text, replacements);
        if self.client.versioned_edits {
            let document = json!({ "uri": text.uri, "version": text.version });
            return json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] });
        }
        let mut changes = serde_json::Map::new();
        changes.insert(text.uri.clone(), edits.into());
        json!({ "changes": changes })
    }
}
