//! Locations as the protocol has them.

use serde_json::{Value, json};

use super::library_texts::LibraryTexts;
use super::positions::Lines;
use super::session::Session;
use super::symbols::Home;
use super::texts::OpenText;
use super::uri;
use crate::source::Span;

impl Session {
    /// The location of a span of an open text.
    pub(super) fn here(&self, text: &OpenText, span: Span) -> Value {
        json!({ "uri": text.uri, "range": text.lines.range(span, self.client.encoding) })
    }

    /// The location of a declaration in another text; none if it is in no other, or that has no address.
    pub(super) fn home(&self, home: &Home) -> Option<Value> {
        match home {
            Home::Here => None,
            Home::Library(name, span) => self.in_library(name, *span),
            Home::File(name, span) => self.in_file(name, *span),
        }
    }

    /// The location of a span of a text of the program.
    pub(super) fn in_library(&self, name: &str, span: Span) -> Option<Value> {
        let library = LibraryTexts::named(name)?;
        let range = LibraryTexts::lines(library).range(span, self.client.encoding);
        Some(json!({ "uri": self.library.uri(library, &self.client)?, "range": range }))
    }

    /// The location of a span of a file of declarations that the options name.
    pub(super) fn in_file(&self, name: &str, span: Span) -> Option<Value> {
        let (_, text) = self.options.libraries.iter().find(|(known, _)| known == name)?;
        let path = std::path::absolute(name).ok()?;
        let range = Lines::new(text.clone()).range(span, self.client.encoding);
        Some(json!({ "uri": uri::of_file(&path), "range": range }))
    }
}
