//! A parsed document together with its libraries.

#[cfg(feature = "input")]
use super::ast::Fragment;
use super::ast::{Bytes, Module, TreePart};
use super::dialect;
use super::grammar::{self, ModuleKind};
use super::registries;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::graph::Dialect;
#[cfg(feature = "input")]
use crate::graph::standard::METADATA_FRAGMENTS;
use crate::library::registries::{BUILT_IN, Registry, find};
use crate::library::texts::standard;
use crate::options::Options;
use crate::room::{self, table_id};
#[cfg(feature = "input")]
use crate::source::facts::Facts;
use crate::source::names::Names;
use crate::source::{FileId, Location, Sources, Span, without_mark};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

table_id! {
    /// Identifies a module of a [`Document`], by its position in [`Document::modules`].
    pub(crate) ModuleId;
}

impl ModuleId {
    /// The standard library of the dialect.
    pub(crate) const STANDARD: ModuleId = ModuleId(0);
}

/// A document, its libraries, and their texts and names.
#[derive(Clone, Debug)]
pub struct Document {
    sources: Sources,
    names: Arc<Names>,
    modules: Vec<Arc<Module>>,
    dialect: Dialect,
    /// The registries that are declared.
    registries: Vec<&'static Registry>,
    /// The diagnostics of parsing, if there are errors among them.
    broken: Option<Arc<Diagnostics>>,
}

/// The result of [`parse`](crate::parse).
#[derive(Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// The document, without the parts that could not be parsed.
    pub document: Document,
    /// The errors and warnings.
    pub diagnostics: Diagnostics,
}

/// The parsed standard libraries of both dialects. They are always the same and longer than most documents, so each is
/// parsed once per process.
static STANDARD: [OnceLock<Document>; 2] = [const { OnceLock::new() }; 2];

/// The registries that a text of 1.0 or the options name, each once.
fn registries_of(dialect: Dialect, text: &str, options: &Options) -> Vec<&'static Registry> {
    if dialect != Dialect::V1 {
        return Vec::new();
    }
    let mut found = registries::named(text);
    for registry in options.libraries.iter().filter_map(registry_of) {
        if !found.iter().any(|known| known.name == registry.name) {
            found.push(registry);
        }
    }
    let built_in = find(BUILT_IN).filter(|_| !found.is_empty());
    found.extend(built_in.filter(|built_in| found.iter().all(|known| known.name != built_in.name)));
    found
}

/// The registry that an entry of [`Options::libraries`] names: the entry has no text.
fn registry_of((name, text): &(String, String)) -> Option<&'static Registry> {
    if text.is_empty() { find(name) } else { None }
}

/// Whether a text is a file of declarations: these start with a fragment, documents with a version.
pub(crate) fn is_library(text: &str) -> bool {
    let code = without_mark(text).lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    code.is_some_and(|line| line.starts_with("fragment"))
}

/// The syntax tree of a standard library, and all its names.
fn read_tree(file: FileId, tree: &[u8]) -> (Names, Module) {
    let mut bytes = Bytes::new(tree);
    let (mut names, count) = (Names::new(), u32::read(&mut bytes));
    names.reserve(count as usize);
    for _ in 0..count {
        names.intern(bytes.text());
    }
    (names, Module::stored(file, &mut bytes))
}

impl Document {
    /// A document with only the standard library of a dialect, which has no errors.
    fn new(dialect: Dialect) -> Self {
        let read = || {
            room::keep_free_memory();
            let library = standard(dialect);
            let mut sources = Sources::new();
            let file = sources.add(library.file, library.text);
            let (names, module) = read_tree(file, library.standard.as_ref().map_or(&[], |standard| standard.tree));
            let (modules, registries) = (vec![Arc::new(module)], Vec::new());
            Document { sources, names: Arc::new(names), modules, dialect, registries, broken: None }
        };
        STANDARD[usize::from(dialect == Dialect::Draft)].get_or_init(read).clone()
    }

    /// Parses a text: the standard library of its dialect, the libraries of the options, and the
    /// document itself. Names of files are for messages only.
    pub(crate) fn parse(name: &str, text: String, kind: ModuleKind, options: &Options) -> Parsed {
        let dialect = options.dialect.unwrap_or_else(|| dialect::detect(&text));
        let registries = registries_of(dialect, &text, options);
        Document::assemble(dialect, registries, options, |document, diagnostics| {
            document.read(name, text, kind, options.max_text, diagnostics);
        })
    }

    /// Only the standard library and the libraries of the options.
    pub(crate) fn of_libraries(options: &Options) -> Parsed {
        let dialect = options.dialect.unwrap_or_default();
        Document::assemble(dialect, registries_of(dialect, "", options), options, |_, _| {})
    }

    /// Reads the libraries of the options, and what comes after them.
    fn assemble(
        dialect: Dialect,
        registries: Vec<&'static Registry>,
        options: &Options,
        read: impl FnOnce(&mut Document, &mut Diagnostics),
    ) -> Parsed {
        let mut diagnostics = Diagnostics::of(options.policy());
        let mut document = Document::new(dialect);
        for (name, text) in options.libraries.iter().filter(|library| registry_of(library).is_none()) {
            document.read(name, text.clone(), ModuleKind::Library, options.max_text, &mut diagnostics);
        }
        read(&mut document, &mut diagnostics);
        if !registries.is_empty() {
            // Registries come first because others may replace them, but are parsed last, restricted to used names.
            let others = document.modules.split_off(1);
            document.read_registries(registries, &mut diagnostics);
            document.modules.extend(others);
        }
        document.broken = diagnostics.has_errors().then(|| Arc::new(diagnostics.clone()));
        Parsed { document, diagnostics }
    }

    /// Parses the declarations of registries that the document uses.
    fn read_registries(&mut self, registries: Vec<&'static Registry>, diagnostics: &mut Diagnostics) {
        for registry in &registries {
            let text = registry.used(|name| self.names.get(name).is_some());
            self.read(registry.library.file, text, ModuleKind::Library, u64::MAX, diagnostics);
        }
        self.registries = registries;
    }

    /// Whether registries are declared. Programs that read such a document know element types only at
    /// run time, and ignore arguments that an operation does not have.
    pub(crate) fn of_practice(&self) -> bool {
        !self.registries.is_empty()
    }

    /// The registries that are declared.
    pub(crate) fn registries(&self) -> &[&'static Registry] {
        &self.registries
    }

    /// Whether a module is a registry.
    pub(crate) fn is_registry(&self, id: ModuleId) -> bool {
        (1..=self.registries.len()).contains(&id.index())
    }

    fn read(
        &mut self,
        name: &str,
        text: impl Into<Cow<'static, str>>,
        kind: ModuleKind,
        max_text: u64,
        diagnostics: &mut Diagnostics,
    ) {
        let text = text.into();
        // Offsets in texts have 32 bits.
        let max_text = max_text.min(u32::MAX.into());
        if text.len() as u64 > max_text {
            let file = self.sources.add(name, "");
            diagnostics.report(Diagnostic::too_large(Location::new(file, Span::default()), max_text));
            return self.modules.push(Arc::new(Module::empty(file)));
        }
        let file = self.sources.add(name, text);
        let (text, names) = (self.sources.file(file).text(), Arc::make_mut(&mut self.names));
        let module = grammar::parse_module(file, text, self.dialect, kind, names, diagnostics);
        self.modules.push(Arc::new(module));
    }

    /// All texts, for rendering diagnostics.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Adds a text that belongs to the document, such as its quantizations, so that diagnostics can
    /// refer to it.
    pub(crate) fn add_source(
        &mut self,
        name: impl Into<String>,
        text: impl Into<Cow<'static, str>>,
    ) -> crate::source::FileId {
        self.sources.add(name, text)
    }

    /// The names of all texts.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The diagnostics of parsing, if there are errors among them.
    pub(crate) fn broken(&self) -> Option<&Diagnostics> {
        self.broken.as_deref()
    }

    /// The names, shared with values that outlive the document.
    pub(crate) fn shared_names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The dialect in which it was parsed.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The modules: the standard library, further libraries, and last the document itself.
    pub(crate) fn modules(&self) -> &[Arc<Module>] {
        &self.modules
    }

    /// The text of the fragments that are not part of the standard library or of a registry.
    #[cfg(feature = "model")]
    pub(crate) fn own_fragments(&self) -> String {
        let mut text = String::new();
        for module in &self.modules[1 + self.registries.len()..] {
            let source = self.sources.file(module.file).text();
            for fragment in &module.fragments {
                text.push_str(source.get(fragment.span.range()).unwrap_or_default());
                text.push('\n');
            }
        }
        text
    }

    /// What the document tells about itself, by what that is.
    #[cfg(feature = "input")]
    pub(crate) fn facts(&self) -> Facts {
        let (mut facts, main) = (Facts::default(), self.main());
        let text = self.sources.file(main.file).text();
        let written = |span: Span| text.get(span.range()).unwrap_or_default();
        facts.add("notation", if self.dialect == Dialect::V1 { "NNEF 1.0" } else { "NNEF, the draft of 2017" });
        facts.add_list("extensions", main.extensions.iter().map(|extension| written(extension.text).to_owned()));
        let is_metadata = |fragment: &&Fragment| METADATA_FRAGMENTS.contains(&self.names.text(fragment.name.name));
        let (metadata, fragments): (Vec<_>, Vec<_>) = main.fragments.iter().partition(is_metadata);
        let names = fragments.iter().map(|fragment| self.names.text(fragment.name.name).to_owned());
        facts.add_list("fragments", names);
        facts.add_each("metadata", metadata.iter().map(|fragment| written(fragment.span).to_owned()));
        facts
    }

    /// The ids of all modules.
    pub(crate) fn module_ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len() as u32).map(ModuleId)
    }

    /// The module of the document itself.
    pub(crate) fn main(&self) -> &Module {
        self.module(self.main_id())
    }

    /// The id of the document itself.
    pub(crate) fn main_id(&self) -> ModuleId {
        ModuleId(self.modules.len() as u32 - 1)
    }

    /// A module.
    pub(crate) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.index()]
    }

    /// The document in canonical layout, comments kept.
    pub fn format(&self) -> String {
        self.format_as(self.dialect)
    }

    /// The document in canonical layout, in the notation of another dialect. Constructs that this dialect
    /// does not have keep the notation of their own.
    pub fn format_as(&self, dialect: Dialect) -> String {
        let module = self.main();
        super::print::print_module(module, &self.names, self.sources.file(module.file).text(), dialect)
    }
}

#[cfg(test)]
mod tests;
