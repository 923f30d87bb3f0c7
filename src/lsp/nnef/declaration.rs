//! Declarations of operations: where they are, and how they are shown.

use rustc_hash::FxHashMap;

use crate::Document;
use crate::graph::Dialect;
use crate::library::declared::Declared;
use crate::library::registries::{self, Registry};
use crate::library::texts::standard;
use crate::lsp::symbols::Home;
use crate::nnef::ast::{Fragment, Param};
use crate::nnef::document::ModuleId;
use crate::source::Span;
use crate::source::names::Name;

/// The most lines of a comment above a declaration that are told.
const MOST_LINES: usize = 8;

/// A declaration of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration<'d> {
    document: &'d Document,
    pub(super) module: ModuleId,
    /// Its position in the module.
    pub(super) position: u32,
    pub(super) fragment: &'d Fragment,
}

/// All declarations of the modules that a document sees.
fn all(document: &Document) -> impl Iterator<Item = Declaration<'_>> {
    document.module_ids().flat_map(move |module| {
        let fragments = document.module(module).fragments.iter().zip(0..);
        fragments.map(move |(fragment, position)| Declaration { document, module, position, fragment })
    })
}

/// The declarations that a document sees, by their names.
pub(super) fn declarations(document: &Document) -> FxHashMap<Name, Declaration<'_>> {
    let mut found: FxHashMap<Name, Declaration> = FxHashMap::default();
    for declared in all(document) {
        found.entry(declared.name()).and_modify(|known| *known = known.or(declared)).or_insert(declared);
    }
    found
}

impl<'d> Declaration<'d> {
    /// The declarations of a document itself, in its order.
    pub(super) fn of_main(document: &'d Document) -> impl Iterator<Item = Declaration<'d>> {
        all(document).filter(|declared| declared.is_here())
    }

    /// The declaration of an operation that a document sees.
    pub(super) fn find(document: &'d Document, name: Name) -> Option<Declaration<'d>> {
        all(document).filter(|declared| declared.name() == name).reduce(Declaration::or)
    }

    fn name(self) -> Name {
        self.fragment.name.name
    }

    /// The one that counts of two declarations with one name, of which the other one comes later: in one module the first
    /// one, otherwise that of the later module.
    fn or(self, later: Declaration<'d>) -> Declaration<'d> {
        if self.module == later.module { self } else { later }
    }

    fn text_of(self, span: Span) -> &'d str {
        let file = self.document.module(self.module).file;
        self.document.sources().file(file).text().get(span.range()).unwrap_or_default()
    }

    /// The declaration without its body, on one line.
    pub(super) fn signature(self) -> String {
        let Span { start, end } = self.fragment.span;
        let end = self.fragment.body.as_ref().map_or(end, |body| body.span.start);
        let lines = self.text_of(Span::new(start, end)).lines().map(|line| line.split('#').next().unwrap_or_default());
        let text = lines.collect::<Vec<_>>().join(" ");
        let words: Vec<&str> = text.trim_end().trim_end_matches(';').split_whitespace().collect();
        words.join(" ").replace("( ", "(").replace(" )", ")")
    }

    /// The parameters and results of the signature.
    pub(super) fn heads(self) -> String {
        let signature = self.signature();
        signature.find('(').and_then(|start| signature.get(start..)).unwrap_or_default().to_owned()
    }

    /// A parameter as it is declared, with its default.
    pub(super) fn param(self, param: &Param) -> String {
        let ast = &self.document.module(self.module).ast;
        let ty = ast.type_spans.get(param.ty.index()).copied().unwrap_or_default();
        let end = param.default.map_or(ty, |default| ast.span(default));
        self.text_of(param.name.span.to(ty).to(end)).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether it belongs to the document itself.
    pub(super) fn is_here(self) -> bool {
        self.module == self.document.main_id()
    }

    /// Where a part of the declaration is.
    pub(super) fn home(self, part: Span) -> Home {
        let file = self.document.module(self.module).file;
        let name = self.document.sources().name(file);
        if self.is_here() {
            Home::Here
        } else if self.module == ModuleId::STANDARD {
            Home::Library(standard(self.document.dialect()).file, part)
        } else if self.document.is_registry(self.module) {
            self.in_registry(part)
        } else {
            Home::File(name.to_owned(), part)
        }
    }

    /// The place of a part in the whole text of a registry, of which the document has only what it uses.
    fn in_registry(self, part: Span) -> Home {
        let name = self.document.names().text(self.name());
        let Some((declared, registry)) = registries::operations().find(|(declared, _)| declared.name == name) else {
            return Home::Here;
        };
        let start = start_of(declared, registry);
        let moved = |offset: u32| start + offset.saturating_sub(self.fragment.span.start);
        Home::Library(registry.library.file, Span::new(moved(part.start), moved(part.end)))
    }

    /// The whole text of its registry, and its start there.
    fn registry(self) -> Option<(&'d str, u32)> {
        let name = self.document.names().text(self.name());
        let is_own = self.document.is_registry(self.module);
        let (declared, registry) = registries::operations().find(|(declared, _)| is_own && declared.name == name)?;
        Some((registry.library.text, start_of(declared, registry)))
    }

    /// What the comment directly above it says.
    pub(super) fn about(self) -> Option<String> {
        let (text, start) = self.registry().unwrap_or_else(|| {
            let file = self.document.module(self.module).file;
            (self.document.sources().file(file).text(), self.fragment.span.start)
        });
        let before = text.get(..start as usize)?;
        let lines = before.get(..before.rfind('\n')?)?.lines().rev();
        let mut lines: Vec<&str> =
            lines.map_while(|line| line.trim_start().strip_prefix('#')).take(MOST_LINES).collect();
        lines.reverse();
        let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        (!text.trim().is_empty()).then_some(text)
    }

    /// The statements of its body, if they are few.
    pub(super) fn statements(self) -> Option<String> {
        let text = self.text_of(self.fragment.body.as_ref()?.span).trim();
        let inner = text.strip_prefix('{')?.strip_suffix('}')?.trim();
        let lines: Vec<&str> = inner.lines().map(str::trim).collect();
        (!lines.is_empty() && lines.len() <= MOST_LINES).then(|| lines.join("\n"))
    }

    /// What it belongs to, for readers.
    pub(super) fn origin(self) -> String {
        match (self.home(self.fragment.name.span), self.document.dialect()) {
            (Home::Here, _) => "declared in this document".to_owned(),
            (Home::Library(..), Dialect::Draft) => "operation of the provisional NNEF".to_owned(),
            (Home::Library(..), Dialect::V1) if self.module == ModuleId::STANDARD => "operation of NNEF 1.0".to_owned(),
            (Home::Library(name, _), _) => format!("operation of the registry {}", name.trim_matches(['<', '>'])),
            (Home::File(name, _), _) => format!("declared in {name}"),
        }
    }
}

/// The start of a declaration in the text of its registry.
fn start_of(declared: &Declared, registry: &Registry) -> u32 {
    (declared.text.as_ptr().addr() - registry.library.text.as_ptr().addr()) as u32
}
