//! A parsed document together with the libraries it is read against.

use super::ast::{Fragment, Module};
use super::dialect::{self, Dialect};
use super::grammar::{self, ModuleKind};
use super::names::Names;
use crate::diagnostics::Diagnostics;
use crate::options::{From, Options};
use crate::source::Sources;
use std::sync::Arc;

/// Identifies a module of a [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub(crate) u32);

impl ModuleId {
    /// The standard library of the dialect.
    pub const STANDARD: ModuleId = ModuleId(0);

    /// The position in [`Document::modules`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A document, its libraries, and their texts and names.
#[derive(Debug)]
pub struct Document {
    sources: Sources,
    names: Arc<Names>,
    pub(crate) modules: Vec<Module>,
    dialect: Dialect,
    broken: bool,
}

/// What [`parse`](crate::parse) gives.
#[derive(Debug)]
pub struct Parsed {
    /// The document; with holes where the text could not be read.
    pub document: Document,
    /// What was found wrong.
    pub diagnostics: Diagnostics,
}

/// The standard libraries, by dialect.
const STANDARD: &[(Dialect, &str, &str)] = &[
    (Dialect::V1, "<standard library>", include_str!("std/nnef-1.0.nnef")),
    (Dialect::Draft, "<draft standard library>", include_str!("std/nnef-draft.nnef")),
];

/// Names that the expansion may need although no text has them.
const IMPLIED_NAMES: &[&str] = &[super::standard::UNUSED_INPUT, super::standard::TRIP];

/// The state of reading.
struct Reader {
    sources: Sources,
    names: Names,
    modules: Vec<Module>,
    dialect: Dialect,
}

impl Reader {
    fn read(&mut self, name: &str, text: String, kind: ModuleKind, diagnostics: &mut Diagnostics) {
        let file = self.sources.add(name, text);
        let text = self.sources.file(file).text();
        let module = grammar::parse_module(file, text, self.dialect, kind, &mut self.names, diagnostics);
        self.modules.push(module);
    }
}

impl Document {
    /// Reads a text: the standard library of its dialect, the libraries of the options, and the
    /// document itself. Names of files are for messages only.
    pub(crate) fn parse(name: &str, text: String, kind: ModuleKind, options: &Options) -> Parsed {
        let dialect = match options.from {
            From::Auto => dialect::detect(&text),
            From::Nnef => Dialect::V1,
            From::NnefDraft => Dialect::Draft,
        };
        let mut diagnostics = Diagnostics::new(options.strict);
        let mut reader = Reader { sources: Sources::new(), names: Names::new(), modules: Vec::new(), dialect };
        IMPLIED_NAMES.iter().for_each(|name| {
            reader.names.intern(name);
        });
        for (_, name, text) in STANDARD.iter().filter(|(of, ..)| *of == dialect) {
            reader.read(name, (*text).to_string(), ModuleKind::Library, &mut diagnostics);
        }
        for (name, text) in &options.libraries {
            reader.read(name, text.clone(), ModuleKind::Library, &mut diagnostics);
        }
        reader.read(name, text, kind, &mut diagnostics);
        let Reader { sources, names, modules, dialect } = reader;
        let broken = diagnostics.has_errors();
        Parsed { document: Document { sources, names: Arc::new(names), modules, dialect, broken }, diagnostics }
    }

    /// All texts, for rendering diagnostics.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The names of all texts.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether it has holes where the text could not be read.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// The names, to be kept by what outlives the document.
    pub(crate) fn shared_names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The dialect in which it was read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The modules: the standard library, further libraries, and last the document itself.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The module of the document itself.
    pub fn main(&self) -> &Module {
        &self.modules[self.main_id().index()]
    }

    /// The id of the document itself.
    pub fn main_id(&self) -> ModuleId {
        ModuleId(self.modules.len() as u32 - 1)
    }

    /// A module.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.index()]
    }

    /// A fragment of a module.
    pub(crate) fn fragment(&self, module: ModuleId, index: u32) -> &Fragment {
        &self.modules[module.index()].fragments[index as usize]
    }

    /// The document in canonical layout, comments kept.
    pub fn format(&self) -> String {
        let module = self.main();
        super::print::print_module(module, &self.names, self.sources.file(module.file).text(), self.dialect)
    }
}
