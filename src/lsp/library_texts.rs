//! The texts of the program that definitions are in: the standard libraries, and registries.
//!
//! A client that reads texts by a request gets an address of the server; for others, the text is written to a file of
//! the session, which is removed at its end.

use std::cell::RefCell;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use super::params::{Answer, Params, RequestError};
use super::positions::Lines;
use super::session::Session;
use super::uri;
use crate::Dialect;
use crate::library::registries;
use crate::library::texts::{Library, standard};

/// The scheme of the addresses of these texts.
pub(super) const SCHEME: &str = "nnef-flatten";

/// The folder of the files with these texts, once there is one.
#[derive(Default)]
pub(super) struct LibraryTexts {
    folder: RefCell<Option<TempDir>>,
}

/// All texts.
fn all() -> impl Iterator<Item = &'static Library> {
    [Dialect::V1, Dialect::Draft].map(standard).into_iter().chain(registries::ALL.iter().map(|one| &one.library))
}

/// The name of the file of a text: its name in messages, without brackets and blanks.
fn file_name(library: &Library) -> String {
    format!("{}.nnef", library.file.trim_matches(['<', '>']).replace(' ', "-"))
}

impl LibraryTexts {
    /// The text with a name in messages.
    pub(super) fn named(name: &str) -> Option<&'static Library> {
        all().find(|library| library.file == name)
    }

    /// The lines of a text.
    pub(super) fn lines(library: &Library) -> Lines {
        Lines::new(library.text.to_owned())
    }

    /// The address of a text; none if its file cannot be written.
    pub(super) fn uri(&self, library: &Library, client: &Client) -> Option<String> {
        let name = file_name(library);
        if client.reads_texts {
            return Some(format!("{SCHEME}:/{name}"));
        }
        let mut folder = self.folder.borrow_mut();
        if folder.is_none() {
            *folder = tempfile::Builder::new().prefix("nnef-flatten-").tempdir().ok();
        }
        let path = folder.as_ref()?.path().join(name);
        if !path.exists() {
            fs::write(&path, library.text).ok()?;
        }
        Some(uri::of_file(&path))
    }
}

/// `workspace/textDocumentContent`: the text with an address of the server.
pub(super) fn content(_: &mut Session, params: Params) -> Answer {
    let uri = params.text("/uri")?;
    let name = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix(":/"));
    let library = name.and_then(|name| all().find(|library| file_name(library) == name));
    let text: Option<Value> = library.map(|library| json!({ "text": library.text }));
    text.ok_or_else(|| RequestError::Params(format!("{uri} is not a text of the server")))
}
