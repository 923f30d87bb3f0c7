//! The operations of a dialect, usually NNEF 1.0, as kinds of a graph.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::Diagnostics;
use crate::graph::{Dialect, Graph, Kind, Primitive};
use crate::nnef::check::{self, Checked};
use crate::nnef::compile::units;
use crate::nnef::document::Document;
use crate::nnef::lexer::SPELLED;
use crate::nnef::types::{Element, Type};
use crate::options::Options;
use crate::source::names::Names;

/// A text as an identifier of 1.0: not a keyword, and without characters that names do not have.
pub(crate) fn identifier(text: &str) -> String {
    let allowed = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let mut text: String = text.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
        text.insert(0, '_');
    }
    if SPELLED.iter().any(|(spelling, _)| *spelling == text) {
        text.push('_');
    }
    text
}

/// The name of an operation of the standard library of 1.0, if there is one.
pub(crate) fn standard_name(name: &str) -> Option<&'static str> {
    static NAMES: OnceLock<FxHashSet<&'static str>> = OnceLock::new();
    let declared = |line: &'static str| line.strip_prefix("fragment ")?.split(['<', '(']).next().map(str::trim);
    let names = || include_str!("../std/nnef-1.0.nnef").lines().filter_map(declared).collect();
    NAMES.get_or_init(names).get(name).copied()
}

/// The declarations of a dialect.
pub(crate) struct Target {
    document: Document,
    options: Options,
}

/// An operation of 1.0.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The operation, with the names of the graph.
    pub(crate) kind: Kind,
    /// The primitive types of the parameters, or of the elements of tensor parameters.
    pub(crate) takes: Vec<Option<Primitive>>,
    /// The element types of the results.
    pub(crate) gives: Vec<Option<Primitive>>,
}

impl Target {
    /// The standard library of 1.0.
    pub(crate) fn new() -> Self {
        Target::of(Dialect::V1)
    }

    /// The standard library of a dialect.
    pub(crate) fn of(dialect: Dialect) -> Self {
        let options = Options { dialect: Some(dialect), ..Options::default() };
        // An empty library, so that only the standard library is declared.
        let document = crate::parse_library("<migration>", String::new(), &options).document;
        Target { document, options }
    }

    /// The declarations by name.
    pub(crate) fn declarations(&self) -> Declarations<'_> {
        let (checked, _): (Checked, Diagnostics) = check::check(&self.document, &self.options);
        Declarations { checked, known: FxHashMap::default() }
    }
}

/// The declarations of 1.0, with the names of a graph.
pub(crate) struct Declarations<'d> {
    checked: Checked<'d>,
    known: FxHashMap<&'static str, Option<Declared>>,
}

impl Declarations<'_> {
    /// An operation of 1.0.
    pub(crate) fn find(&mut self, operation: &'static str, graph: &mut Graph) -> Option<&Declared> {
        let checked = &self.checked;
        self.known.entry(operation).or_insert_with(|| declared(checked, operation, graph.symbols_mut())).as_ref()
    }
}

fn declared(checked: &Checked, operation: &str, names: &mut Names) -> Option<Declared> {
    let id = checked.standard(operation)?;
    let mut kind = units::unit(checked, checked.fragment(id)).kind();
    let mut rename = |name: &mut crate::source::names::Name| *name = names.intern(checked.text(*name));
    rename(&mut kind.name);
    kind.params.iter_mut().for_each(|param| rename(&mut param.name));
    kind.results.iter_mut().for_each(&mut rename);
    let takes = |ty: Type| match ty {
        Type::Primitive(of) | Type::Tensor(Element::Of(of)) => Some(of),
        _ => None,
    };
    let fragment = checked.fragment(id);
    let gives = fragment.results.iter().map(|result| takes(result.ty)).collect();
    let takes = fragment.params.iter().map(|param| takes(param.ty)).collect();
    Some(Declared { kind, takes, gives })
}
