//! A document with what is known of it.

use std::cell::OnceCell;

use super::index::{NnefIndex, index};
use super::locals::LocalShapes;
use crate::input::Findings;
use crate::input::table::documents::expanded;
use crate::nnef::document::is_library;
use crate::{Document, Graph, Options};

/// A document, or a file of declarations.
pub(in crate::lsp) struct NnefText {
    pub(super) options: Options,
    pub(super) document: Document,
    pub(super) findings: Findings,
    /// The flat graph of a document without errors; it has the operations that no output needs, too.
    pub(super) graph: Option<Graph>,
    /// The flat graph with only what outputs need, if it is asked for.
    needed: OnceCell<Option<Graph>>,
    index: OnceCell<NnefIndex>,
    locals: OnceCell<LocalShapes>,
}

impl NnefText {
    /// Parses, checks and expands a text.
    pub(in crate::lsp) fn new(name: &str, text: &str, options: &Options) -> Self {
        // What no output needs is checked, too.
        let checked = options.clone().with(|options| (options.keep_unused, options.expand_loops) = (true, true));
        let (document, result) = if is_library(text) {
            // Declarations describe operations of other programs, so that the rules on documents are not theirs.
            let parsed = crate::parse_library(name, text.to_owned(), &checked);
            (parsed.document, Err(parsed.diagnostics))
        } else {
            expanded(name, text.to_owned(), &checked)
        };
        let (graph, found) = match result {
            Ok((graph, found)) => (Some(graph), found),
            Err(found) => (None, found),
        };
        let findings = Findings::new(document.sources().clone(), found);
        let (needed, index, locals) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        NnefText { options: options.clone(), document, findings, graph, needed, index, locals }
    }

    /// The text as readers have it.
    pub(super) fn source(&self) -> &str {
        self.document.sources().file(self.document.main().file).text()
    }

    /// The flat graph with only what outputs need; none if there are errors.
    pub(super) fn needed(&self) -> Option<&Graph> {
        let expand = || Some(crate::expand(&self.document, &self.options).ok()?.graph);
        self.needed.get_or_init(|| self.graph.as_ref().and_then(|_| expand())).as_ref()
    }

    /// The shapes of the locals of fragments, with the graph that has them; none if there are errors.
    pub(super) fn locals(&self) -> Option<(&LocalShapes, &Graph)> {
        let graph = self.graph.as_ref()?;
        Some((self.locals.get_or_init(|| LocalShapes::new(&self.document, graph)), graph))
    }

    /// The names of the text, with the nodes of its calls.
    pub(super) fn index(&self) -> &NnefIndex {
        self.index.get_or_init(|| index(&self.document))
    }
}
