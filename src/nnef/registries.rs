//! Built-in declarations of the operations of registries that exporters use.
//!
//! A document names registries with `extension tract_registry NAME;`, and `--fragments NAME` declares
//! the same operations without it.

use std::sync::OnceLock;

use super::dialect::skip_trivia;
use crate::source::without_mark;

/// The extension that names a registry.
pub(crate) const REGISTRY_EXTENSION: &str = "tract_registry";

/// Other extensions of documents with registries; `tract_assert` contains any text.
const KNOWN_EXTENSIONS: &[&str] = &[
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

/// A registry: declarations of operations.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Its name.
    pub(crate) name: &'static str,
    /// Another name for it.
    alias: Option<&'static str>,
    /// The name of its text in messages.
    pub(crate) file: &'static str,
    /// The declarations.
    pub(crate) text: &'static str,
    /// The declarations one by one with the names of their operations; the text is divided once per process.
    declarations: OnceLock<Vec<(&'static str, &'static str)>>,
}

impl Registry {
    /// The declarations, each with the name of its operation.
    fn declarations(&self) -> &[(&'static str, &'static str)] {
        self.declarations.get_or_init(|| {
            let parts = self.text.split("\nfragment ").skip(1);
            // A declaration has a semicolon only at its end.
            parts.filter_map(|part| Some((part.split(['(', '<']).next()?, part.split_inclusive(';').next()?))).collect()
        })
    }

    /// The declarations of the operations that are used: a document uses few of them.
    pub(crate) fn used(&self, is_used: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for (_, declaration) in self.declarations().iter().filter(|(name, _)| is_used(name)) {
            text.push_str("fragment ");
            text.push_str(declaration);
            text.push('\n');
        }
        text
    }
}

macro_rules! registries {
    ($($name:literal $alias:expr;)*) => {
        /// All registries.
        pub(crate) static ALL: [Registry; [$($name),*].len()] = [
            $(Registry {
                name: $name,
                alias: $alias,
                file: concat!("<", $name, ">"),
                text: include_str!(concat!("std/registries/", $name, ".nnef")),
                declarations: OnceLock::new(),
            }),*
        ];
    };
}

registries! {
    "tract_nnef" None;
    "tract_core" None;
    "tract_transformers" None;
    "tract_onnx" None;
    "tract_extra" None;
    "tract_pulse" Some("pulse");
    "tract_resource" None;
}

/// The registry that tract always has: operations that it adds to those of the standard.
pub(crate) const BUILT_IN: &str = "tract_nnef";

/// The registry of a name.
pub(crate) fn find(name: &str) -> Option<&'static Registry> {
    ALL.iter().find(|registry| registry.name == name || registry.alias == Some(name))
}

/// Whether a name is that of a registry.
pub(crate) fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// The names of the operations of all registries, each with its registry.
pub(crate) fn operations() -> impl Iterator<Item = (&'static str, &'static Registry)> {
    ALL.iter().flat_map(|registry| registry.declarations().iter().map(move |(name, _)| (*name, registry)))
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

    #[test]
    fn operations_are_declared_once() {
        let mut names: Vec<&str> = operations().map(|(name, _)| name).collect();
        assert!(names.len() > 80 && names.contains(&"tract_core_einsum"), "{names:?}");
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn only_what_is_used_is_declared() {
        let core = find("tract_core").unwrap();
        let text = core.used(|name| ["tract_core_erf", "tract_core_einsum"].contains(&name));
        assert_eq!(text.matches("fragment").count(), 2, "{text}");
        assert!(text.contains("-> ( result: tensor<> );\n"), "{text}");
        let all: String = ALL.iter().map(|registry| registry.used(|_| true)).collect();
        assert_eq!(all.matches("fragment ").count(), operations().count());
    }
}
