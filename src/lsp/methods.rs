//! The methods of the protocol that the server answers.

use serde_json::{Value, json};

use super::client::Client;
use super::params::{Answer, Params, RequestError};
use super::session::Session;
use super::texts::OpenText;
use super::{
    actions, completion, definition, diagnostics, folding, formatting, hints, hover, library_texts, outline,
    references, rename, signature,
};

/// Answers a request.
type Answering = fn(&mut Session, Params) -> Answer;

/// Requests, each with the function that answers it.
pub(super) static REQUESTS: &[(&str, Answering)] = &[
    ("textDocument/diagnostic", diagnostics::diagnostic),
    ("textDocument/hover", hover::hover),
    ("textDocument/definition", definition::definition),
    ("textDocument/references", references::references),
    ("textDocument/documentHighlight", references::highlights),
    ("textDocument/prepareRename", rename::prepare),
    ("textDocument/rename", rename::rename),
    ("textDocument/formatting", formatting::formatting),
    ("textDocument/completion", completion::completion),
    ("textDocument/signatureHelp", signature::help),
    ("textDocument/documentSymbol", outline::symbols),
    ("textDocument/foldingRange", folding::ranges),
    ("textDocument/inlayHint", hints::hints),
    ("textDocument/codeAction", actions::actions),
    ("codeAction/resolve", actions::resolve),
    ("workspace/textDocumentContent", library_texts::content),
];

/// What a notification does. Its result is a notification of the server, if there is one to send.
pub(super) type Effect = fn(&mut Session, Params) -> Result<Option<(&'static str, Value)>, RequestError>;

/// Notifications, each with what it does. Others are ignored, as the protocol has it.
pub(super) static NOTIFICATIONS: &[(&str, Effect)] = &[
    ("textDocument/didOpen", |session, params| {
        let text = OpenText::opened(params)?;
        session.texts.insert(text.uri.clone(), text);
        Ok(None)
    }),
    ("textDocument/didChange", |session, params| {
        let (uri, encoding) = (params.uri()?, session.client.encoding);
        match session.texts.get_mut(uri) {
            Some(text) => text.change(params, encoding).map(|()| None),
            None => Err(RequestError::Params(format!("{uri} is not open"))),
        }
    }),
    ("textDocument/didClose", |session, params| {
        let uri = params.uri()?;
        // What was found is forgotten, since it would not be kept up to date.
        let closed = session.texts.shift_remove(uri).is_some() && !session.client.pulls;
        Ok(closed.then(|| (PUBLISH, json!({ "uri": uri, "diagnostics": [] }))))
    }),
];

/// The notification about findings.
pub(super) const PUBLISH: &str = "textDocument/publishDiagnostics";

/// The answer to `initialize`: what the server can do.
pub(super) fn initialized(session: &mut Session, params: Params) -> Value {
    session.client = Client::of(params);
    let client = &session.client;
    let mut capabilities = json!({
        "positionEncoding": client.encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2 },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentFormattingProvider": true,
        "completionProvider": { "triggerCharacters": ["(", ",", "<", ".", "\""] },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "inlayHintProvider": true,
        "codeActionProvider": { "codeActionKinds": [actions::FIX, actions::INLINE], "resolveProvider": client.resolves_edits },
    });
    if client.pulls {
        capabilities["diagnosticProvider"] = json!({ "interFileDependencies": false, "workspaceDiagnostics": false });
    }
    if client.reads_texts {
        capabilities["workspace"] = json!({ "textDocumentContent": { "schemes": [library_texts::SCHEME] } });
    }
    json!({
        "capabilities": capabilities,
        "serverInfo": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
    })
}
