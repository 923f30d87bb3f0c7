//! What a client can do, as it says when the session begins.

use serde_json::Value;

use super::params::Params;
use super::positions::PositionEncoding;

/// What a client can do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    /// How it counts characters.
    pub(super) encoding: PositionEncoding,
    /// Whether it asks for the edits of an action when the user has chosen it.
    pub(super) resolves_edits: bool,
    /// Whether it takes actions as objects, not only commands.
    pub(super) has_actions: bool,
    /// Whether it shows why an action is not possible.
    pub(super) shows_disabled: bool,
    /// Whether it takes edits with the version of the document.
    pub(super) versioned_edits: bool,
    /// Whether it reads texts of the server, such as the standard library, by a request.
    pub(super) reads_texts: bool,
    /// Whether it asks for findings, so that they are not sent without being asked for.
    pub(super) pulls: bool,
    /// Whether it shows texts in Markdown.
    pub(super) markdown: bool,
    /// Whether an outline may have items in items.
    pub(super) nested_symbols: bool,
    /// Whether a parameter of a signature may be a part of its text by position.
    pub(super) label_offsets: bool,
    /// The most foldings that it takes for a text.
    pub(super) most_folds: Option<u64>,
}

impl Client {
    /// The client of the parameters of `initialize`.
    pub(super) fn of(params: Params) -> Client {
        let texts = |path: &'static str| params.items(path).filter_map(Value::as_str);
        let can = "/capabilities/textDocument";
        let properties = format!("{can}/codeAction/resolveSupport/properties");
        let formats = format!("{can}/hover/contentFormat");
        let named = |path: &str, name: &str| params.items(path).filter_map(Value::as_str).any(|item| item == name);
        Client {
            encoding: PositionEncoding::agreed(texts("/capabilities/general/positionEncodings")),
            resolves_edits: named(&properties, "edit") && params.is_set(&format!("{can}/codeAction/dataSupport")),
            has_actions: params.0.pointer(&format!("{can}/codeAction/codeActionLiteralSupport")).is_some(),
            shows_disabled: params.is_set(&format!("{can}/codeAction/disabledSupport")),
            versioned_edits: params.is_set("/capabilities/workspace/workspaceEdit/documentChanges"),
            reads_texts: params.0.pointer("/capabilities/workspace/textDocumentContent").is_some(),
            pulls: params.0.pointer(&format!("{can}/diagnostic")).is_some(),
            markdown: named(&formats, "markdown"),
            nested_symbols: params.is_set(&format!("{can}/documentSymbol/hierarchicalDocumentSymbolSupport")),
            label_offsets: params
                .is_set(&format!("{can}/signatureHelp/signatureInformation/parameterInformation/labelOffsetSupport")),
            most_folds: params.0.pointer(&format!("{can}/foldingRange/rangeLimit")).and_then(Value::as_u64),
        }
    }
}
