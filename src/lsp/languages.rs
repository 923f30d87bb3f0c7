//! The notations that the server knows, as a table.

use std::path::Path;

use super::analyzed::AnalyzedText;
use super::nnef::NnefText;
use super::onnx::OnnxText;
use crate::Options;
use crate::input::table::Notation;

/// A notation of texts.
#[derive(Debug)]
pub(super) struct Language {
    /// The notations of inputs that it covers.
    notations: &'static [&'static str],
    /// Its identifiers in editors.
    ids: &'static [&'static str],
    /// Analyzes a text under its name for messages.
    pub(super) analyze: fn(&str, &str, &Options) -> Box<dyn AnalyzedText>,
}

static LANGUAGES: &[Language] = &[
    Language {
        notations: &["nnef", "nnef-draft"],
        ids: &["nnef"],
        analyze: |name, text, options| Box::new(NnefText::new(name, text, options)),
    },
    Language {
        notations: &["onnxtxt"],
        ids: &["onnxtxt", "onnx-text"],
        analyze: |name, text, options| Box::new(OnnxText::new(name, text, options)),
    },
];

impl Language {
    /// The language of a text: by its identifier in the editor, else by the extension of its name; none for others.
    pub(super) fn of(id: &str, name: &str) -> Option<&'static Language> {
        let known = LANGUAGES.iter().find(|language| language.ids.contains(&id));
        known.or_else(|| {
            let notation = Notation::of_extension(Path::new(name))?.name;
            LANGUAGES.iter().find(|language| language.notations.contains(&notation))
        })
    }
}
