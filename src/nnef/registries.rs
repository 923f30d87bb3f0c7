//! The registries that a document names: `extension tract_registry NAME;`. `--fragments NAME` declares the same
//! operations without it.

use super::dialect::skip_trivia;
use crate::library::registries::{Registry, find};
use crate::source::without_mark;

pub(crate) use crate::library::registries::REGISTRY_EXTENSION;

/// Other extensions of documents with registries; `tract_assert` contains any text.
pub(super) const KNOWN_EXTENSIONS: &[&str] = &[
    "tract_symbol",
    "tract_assert",
    "tract_pulse_streaming_symbol",
    "tract_nnef_ser_version",
    "tract_nnef_format_version",
];

/// Whether the first word of a directive is an extension of documents with registries.
pub(crate) fn is_extension(word: &str) -> bool {
    word == REGISTRY_EXTENSION || KNOWN_EXTENSIONS.contains(&word)
}

/// The registries that the head of a text names, each once.
pub(crate) fn named(text: &str) -> Vec<&'static Registry> {
    let mut found: Vec<&'static Registry> = Vec::new();
    let mut rest = without_mark(text);
    let mut keyword = "version";
    while let Some((words, after)) = directive(rest)
        && words.first() == Some(&keyword)
    {
        if let ["extension", REGISTRY_EXTENSION, name, ..] = words[..] {
            let registry = find(name);
            found.extend(registry.filter(|registry| !found.iter().any(|known| known.name == registry.name)));
        }
        (rest, keyword) = (after, "extension");
    }
    found
}

/// The words of a directive without comments, and the text after its semicolon.
fn directive(mut text: &str) -> Option<(Vec<&str>, &str)> {
    let mut words = Vec::new();
    loop {
        text = skip_trivia(text);
        if let Some(rest) = text.strip_prefix(';') {
            return Some((words, rest));
        }
        let end = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, ';' | '#' | '\x0B'))?;
        words.push(&text[..end]);
        text = &text[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_names_registries() {
        let text = "# a\nversion 1.0;\nextension tract_symbol S;\nextension tract_assert S >= 1;\n# b\n\
            extension tract_registry # a; comment\n tract_onnx;\
            extension tract_registry tract_core;extension  tract_registry\npulse ;\n\
            extension tract_registry tract_core;\nextension tract_registry other;\ngraph G( x ) -> ( y ) { }";
        let names: Vec<&str> = named(text).iter().map(|registry| registry.name).collect();
        assert_eq!(names, ["tract_onnx", "tract_core", "tract_pulse"]);
        assert!(named("graph G").is_empty() && named("version 1.0").is_empty());
    }
}
