//! Parses a text: with the reader of flat statements, and again without it after an error.

use chumsky::inspector::SimpleState;

use super::build::Build;
use super::flat::Lists;
use super::run::ParserRun;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::graph::Dialect;
use crate::nnef::ast::{Ast, Module, Targets};
use crate::nnef::lexer::Lexer;
use crate::source::names::Names;
use crate::source::{FileId, Location, Span};

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleKind {
    /// A version, extensions, fragments, and one graph.
    Document,
    /// Fragments only.
    Library,
}

/// Parses a text. Reports all syntax errors, and returns the parts that could be parsed.
pub(crate) fn parse_module(
    file: FileId,
    text: &str,
    dialect: Dialect,
    kind: ModuleKind,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Module {
    if u32::try_from(text.len().saturating_add(names.bytes())).is_err() {
        let at = Location::new(file, Span::default());
        diagnostics.report(Diagnostic::new(Code::TooLarge, at, "the text is larger than 4 GB"));
        return Module::empty(file);
    }
    names.reserve(text.len().min(ROOM) / BYTES_PER_NAME);
    let mut read = |flat: bool| read(file, text, dialect, kind, flat, names, diagnostics.policy());
    let semicolons = dialect.rules().semicolons;
    let (mut module, mut found) = read(semicolons);
    if semicolons && found.has_errors() {
        (module, found) = read(false);
    }
    diagnostics.extend(found);
    module
}

/// Parses a text, with or without the reader of flat statements. With it, parsing stops after an error,
/// and the result only states that the text has errors.
pub(super) fn read(
    file: FileId,
    text: &str,
    dialect: Dialect,
    kind: ModuleKind,
    flat: bool,
    names: &mut Names,
    policy: Policy,
) -> (Module, Diagnostics) {
    let mut build = Build::new(text, dialect.rules(), names);
    build.ast = Ast::with_room(text.len().min(ROOM) / BYTES_PER_NODE);
    let mut run = ParserRun {
        lexer: Lexer::new(text, file, dialect, policy),
        flat,
        lists: Lists::default(),
        in_graph: false,
        targets: Targets::default(),
        kind,
        module: Module::empty(file),
        diagnostics: Diagnostics::of(policy),
        state: SimpleState(build),
    };
    if flat || run.lex_all() {
        run.items();
    }
    let Build { ast, tokens, .. } = run.state.0;
    let mut found = run.lexer.diagnostics;
    found.extend(run.diagnostics);
    (Module { ast, comments: tokens.comments, ..run.module }, found)
}

/// The number of bytes of flat text for each new name: about one statement.
pub(super) const BYTES_PER_NAME: usize = 32;

/// The number of bytes of flat text for each node.
const BYTES_PER_NODE: usize = 8;

/// The maximum size of a text for which memory is reserved at the start. Reserved memory that is not used
/// is never touched and costs nothing; growing costs a copy.
pub(super) const ROOM: usize = 1 << 28;
