//! Built-in declarations of the operations of registries that exporters use.

use super::declared::Declared;
use super::read::texts;
use super::texts::Library;

/// A registry: declarations of operations.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Its name.
    pub(crate) name: &'static str,
    /// Another name for it.
    alias: Option<&'static str>,
    /// The declarations.
    pub(crate) library: Library,
}

impl Registry {
    /// The declarations of the operations that are used: a document uses few of them.
    pub(crate) fn used(&self, is_used: impl Fn(&str) -> bool) -> String {
        let mut used = String::new();
        for (_, text) in texts(self.library.text).filter(|(name, _)| is_used(name)) {
            used.push_str(text);
            used.push('\n');
        }
        used
    }
}

macro_rules! registries {
    ($($name:literal $alias:expr;)*) => {
        /// All registries.
        pub(crate) static ALL: [Registry; [$($name),*].len()] = [
            $(Registry {
                name: $name,
                alias: $alias,
                library: Library::new(
                    concat!("<", $name, ">"),
                    include_str!(concat!("std/registries/", $name, ".nnef")),
                    None,
                ),
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

/// The extension that names a registry.
pub(crate) const REGISTRY_EXTENSION: &str = "tract_registry";

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

/// The declarations of all registries, each with its registry.
pub(crate) fn operations() -> impl Iterator<Item = (&'static Declared, &'static Registry)> {
    ALL.iter().flat_map(|registry| registry.library.declarations().map(move |declared| (declared, registry)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_declared_once() {
        let mut names: Vec<&str> = operations().map(|(declared, _)| declared.name).collect();
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
