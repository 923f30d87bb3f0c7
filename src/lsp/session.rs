//! The state of a session: the client, the open texts, and the options.

use indexmap::IndexMap;

use super::analyzed::AnalyzedText;
use super::client::Client;
use super::library_texts::LibraryTexts;
use super::params::{Params, RequestError};
use super::texts::OpenText;
use crate::Options;
use crate::source::Span;

/// The state of a session.
pub(super) struct Session {
    pub(super) options: Options,
    pub(super) client: Client,
    pub(super) texts: IndexMap<String, OpenText>,
    pub(super) library: LibraryTexts,
}

/// A text that a request is about, with what is known of it, and the span that the request names.
pub(super) struct AskedText<'s> {
    pub(super) text: &'s OpenText,
    pub(super) analysis: &'s dyn AnalyzedText,
    pub(super) span: Span,
}

impl Session {
    pub(super) fn new(options: Options) -> Self {
        Session { options, client: Client::default(), texts: IndexMap::new(), library: LibraryTexts::default() }
    }

    /// The open text with an address.
    pub(super) fn text(&self, uri: &str) -> Result<&OpenText, RequestError> {
        self.texts.get(uri).ok_or_else(|| RequestError::Params(format!("{uri} is not open")))
    }

    /// The text of a request that has only an address; none in an unknown notation.
    pub(super) fn asked(&self, params: Params) -> Result<Option<AskedText<'_>>, RequestError> {
        let text = self.text(params.uri()?)?;
        let analysis = text.analysis(&self.options);
        Ok(analysis.map(|analysis| AskedText { text, analysis, span: Span::default() }))
    }

    /// The text of a request about a position; none in an unknown notation.
    pub(super) fn asked_at(&self, params: Params) -> Result<Option<AskedText<'_>>, RequestError> {
        let position = params.position("/position")?;
        let asked = self.asked(params)?;
        Ok(asked.map(|asked| {
            let offset = asked.text.lines.offset(position, self.client.encoding);
            AskedText { span: Span::new(offset, offset), ..asked }
        }))
    }

    /// The text of a request about a range; none in an unknown notation.
    pub(super) fn asked_in(&self, params: Params) -> Result<Option<AskedText<'_>>, RequestError> {
        let range = params.range("/range")?;
        let asked = self.asked(params)?;
        Ok(asked.map(|asked| {
            let [start, end] = range.map(|position| asked.text.lines.offset(position, self.client.encoding));
            AskedText { span: Span::new(start, end), ..asked }
        }))
    }
}
