//! The state of the checks, and their order.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::checked::{Checked, GraphInfo};
use super::scope::Scope;
use super::state::BodyState;
use super::symbols;
use super::tables::ModuleInfo;
use super::words::Words;
use crate::core::unit::UnitId;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::{Dialect, Primitive};
use crate::nnef::ast::Ast;
use crate::nnef::datatypes::plural;
use crate::nnef::document::{Document, ModuleId};
use crate::nnef::types::{Type, Types};
use crate::options::{GivenShapes, Options};
use crate::source::names::Name;
use crate::source::{Location, Span};

/// Checks a document. Bodies of the standard library are checked as far as they are reachable.
pub(crate) fn check<'d>(document: &'d Document, options: &Options) -> (Checked<'d>, Diagnostics) {
    let mut checker = begin(document, options);
    if let Some(graph) = document.main().graphs.first() {
        let groups = graph.body.groups(&document.main().ast);
        groups.for_each(|group| checker.graph_statements(graph, &group));
    }
    checker.finish()
}

/// The shapes that options give to the inputs of a document, with what they say about its symbols; or what contradicts.
fn given(document: &Document, shapes: &GivenShapes) -> Result<GivenShapes, (Code, String)> {
    let graph = document.main().graphs.first();
    let inputs = graph.into_iter().flat_map(|graph| &graph.params);
    let inputs: Vec<&str> = inputs.map(|input| document.names().text(input.name)).collect();
    let shapes = shapes.of_inputs(&inputs).map_err(|message| (Code::OptionInput, message))?;
    let resolved = shapes.with_implied(&symbols::of_inputs(document)).resolved();
    resolved.map_err(|conflict| (Code::OptionSymbol, conflict))
}

/// Checks everything but the graph.
pub(crate) fn begin<'d>(document: &'d Document, options: &Options) -> Checker<'d> {
    let resolved = match options.shapes.inputs.is_empty() {
        true => options.shapes.resolved().map_err(|conflict| (Code::OptionSymbol, conflict)),
        false => given(document, &options.shapes),
    };
    let conflict = resolved.as_ref().err().cloned();
    let given = resolved.unwrap_or_default();
    let mut checked = Checked {
        document,
        fragments: Rc::default(),
        types: Types::default(),
        modules: Vec::new(),
        statements: ModuleInfo::default(),
        bodies: Vec::new(),
        slot_names: Vec::new(),
        result_slots: Vec::new(),
        graph: GraphInfo::default(),
        wrong_labels: FxHashSet::default(),
        words: Words::of(document.names()),
        symbols: given
            .symbols
            .iter()
            .filter_map(|(name, value)| Some((document.names().get(name)?, value.clone())))
            .collect(),
        given,
        document_scope: Scope::default(),
        standard_scope: Scope::default(),
    };
    for id in document.module_ids() {
        let mut tables = ModuleInfo::default();
        tables.reset(0..checked.module(id).fragment_nodes());
        checked.modules.push(tables);
    }
    let mut checker = Checker {
        checked,
        diagnostics: Diagnostics::of(options.policy()),
        symbols: FxHashSet::default(),
        misspelt: FxHashMap::default(),
        compared: 0,
        pending: Vec::new(),
        spare: BodyState::new(document.names().len()),
        operators_reported: false,
        flat_graph: false,
        graph: BodyState::new(document.names().len()),
    };
    if let Some((code, conflict)) = conflict {
        let start = Location { file: document.main().file, ..Location::default() };
        checker.report(code, start, format!("the options give {conflict}"));
    }
    checker.document_rules();
    checker.declarations();
    checker.fragment_bodies();
    for (input, i) in document.main().graphs.iter().take(1).flat_map(|graph| &graph.params).zip(0..) {
        checker.graph.declared.insert(input.name, i);
    }
    checker
}

/// The state of the checks.
pub(crate) struct Checker<'d> {
    pub(crate) checked: Checked<'d>,
    pub(crate) diagnostics: Diagnostics,
    /// Dimension symbols declared by extensions.
    pub(crate) symbols: FxHashSet<Name>,
    /// Undeclared operations, each with the known operation whose name it probably misspells.
    pub(super) misspelt: FxHashMap<Name, Option<String>>,
    /// How many names were compared to find misspellings.
    pub(super) compared: usize,
    /// Library fragments that are called and not checked yet.
    pub(super) pending: Vec<UnitId>,
    /// An empty state for the next body: all bodies reuse its memory.
    pub(super) spare: BodyState,
    /// Whether the missing extension for compound expressions was reported.
    pub(super) operators_reported: bool,
    /// Whether statements of the graph must be calls with only names and literals as arguments.
    pub(super) flat_graph: bool,
    /// The state of the graph's body between its groups of statements.
    pub(super) graph: BodyState,
}

impl<'d> Checker<'d> {
    pub(super) fn ast(&self, module: ModuleId) -> &'d Ast {
        &self.checked.module(module).ast
    }

    pub(super) fn at(&self, module: ModuleId, span: Span) -> Location {
        Location::new(self.checked.module(module).file, span)
    }

    pub(super) fn report(&mut self, code: Code, at: Location, message: impl Into<String>) {
        self.diagnostics.report(Diagnostic::new(code, at, message));
    }

    /// A type in the terms of the document's dialect.
    pub(super) fn describe(&self, ty: Type) -> String {
        let text = self.checked.types.describe(ty);
        if self.checked.document.dialect() != Dialect::Draft {
            return text;
        }
        let data_types = [Primitive::Scalar, Primitive::Logical, Primitive::Integer];
        let text = data_types.iter().fold(text.replace("tensor<?>", "tensor"), |text, &data_type| {
            text.replace(&format!("tensor<{}>", data_type.text()), &format!("tensor of {}", plural(data_type)))
        });
        text.replace(Primitive::Integer.text(), "extent")
    }
}
