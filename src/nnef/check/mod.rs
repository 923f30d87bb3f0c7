//! Checks of a document before anything is evaluated: declarations, names, arguments, types.
//!
//! Each family of rules is one module. The outcome, [`Checked`], holds side tables indexed by the
//! ids of the syntax tree: the type of every expression, what each name and call refers to.

mod bodies;
mod calls;
mod declarations;
mod document;
mod expressions;
mod fragments;
mod graph;
pub(crate) mod labels;
mod library;
mod loops;
mod operators;
pub(crate) mod positions;
mod scope;
mod state;
mod tables;

pub(crate) use fragments::Fragments;
pub(crate) use loops::iterated;
use std::rc::Rc;
pub(crate) use tables::{CallInfo, ModuleInfo, NodeInfo, NodeTable, Ref};

use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scope;
use state::BodyState;

use super::ast::{Ast, ExprId, Generic};
use super::datatypes::plural;
use super::document::{Document, ModuleId};
use super::types::{Type, Types};
use crate::core::unit::UnitId;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Primitive;
use crate::graph::standard::{EXTERNAL, METADATA_FRAGMENTS, UPDATE, VARIABLE};
use crate::graph::{Dialect, Extent};
use crate::options::{GivenShapes, Options};
use crate::source::names::{Name, Names};
use crate::source::{Location, Span};

/// A formal parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamInfo {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// Its default, an expression of the fragment's module.
    pub(crate) default: Option<ExprId>,
    /// Whether tensors occur in its type.
    pub(crate) tensor: bool,
}

/// A declared result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultInfo {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
}

/// A fragment and its signature.
#[derive(Clone, Debug)]
pub(crate) struct FragmentInfo {
    /// The module that declares it.
    pub(crate) module: ModuleId,
    /// Its position in that module.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) name: Name,
    /// Its parameters.
    pub(crate) params: Vec<ParamInfo>,
    /// Its results.
    pub(crate) results: Vec<ResultInfo>,
    /// Whether it is generic.
    pub(crate) generic: Generic,
    /// Whether it has a body.
    pub(crate) has_body: bool,
    /// Whether its body is metadata and not code.
    pub(crate) metadata: bool,
    /// Whether it has as many results as the left side of the call: an operation of a vendor, declared
    /// in a library with the single result `tensor<>[]`.
    pub(crate) open_results: bool,
}

/// A local of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// The byte offset of its name in its definition.
    pub(crate) start: u32,
    /// Whether an expression refers to it.
    pub(crate) used: bool,
}

/// The locals of a fragment's body, as positions in tables that all bodies share. Only the names of
/// locals are kept after the check.
#[derive(Clone, Copy, Debug, Default)]
struct BodyInfo {
    /// The first slot and the number of slots, in [`Checked::slot_names`].
    slots: (u32, u32),
    /// The slot of the first result, in [`Checked::result_slots`].
    results: u32,
}

/// Names that rules refer to; `None` if they occur neither in the document nor in its libraries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) external: Option<Name>,
    pub(crate) variable: Option<Name>,
    pub(crate) update: Option<Name>,
    pub(crate) label: Option<Name>,
    pub(crate) shape: Option<Name>,
    pub(crate) value: Option<Name>,
    pub(crate) metadata: [Option<Name>; METADATA_FRAGMENTS.len()],
}

impl Words {
    fn of(names: &Names) -> Self {
        Words {
            external: names.get(EXTERNAL),
            variable: names.get(VARIABLE),
            update: names.get(UPDATE),
            label: names.get("label"),
            shape: names.get("shape"),
            value: names.get("value"),
            metadata: std::array::from_fn(|i| names.get(METADATA_FRAGMENTS[i])),
        }
    }
}

/// The inputs and outputs of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphInfo {
    /// The slot of each input; `None` if it is not assigned.
    pub(crate) inputs: Vec<Option<u32>>,
    /// The slot of each output.
    pub(crate) outputs: Vec<Option<u32>>,
}

/// A document with the results of its checks.
#[derive(Debug)]
pub(crate) struct Checked<'d> {
    /// The document.
    pub(crate) document: &'d Document,
    /// All fragments; complete before bodies are checked.
    pub(crate) fragments: Rc<Fragments>,
    /// The types that occur.
    pub(crate) types: Types,
    /// Side tables by module.
    pub(crate) modules: Vec<ModuleInfo>,
    /// Side tables of the statements of the graph that are checked now.
    pub(crate) statements: ModuleInfo,
    /// The bodies of fragments that were checked.
    bodies: Vec<Option<BodyInfo>>,
    slot_names: Vec<Name>,
    result_slots: Vec<Option<u32>>,
    /// The inputs and outputs of the graph.
    pub(crate) graph: GraphInfo,
    /// Calls of `variable` whose literal label was reported already.
    pub(crate) wrong_labels: FxHashSet<Location>,
    pub(crate) words: Words,
    /// The shapes and values in the options, with the values of symbols in place of these symbols.
    pub(crate) given: GivenShapes,
    /// Values of dimension symbols in the options.
    pub(crate) symbols: FxHashMap<Name, Extent>,
    document_scope: Scope,
    standard_scope: Scope,
}

impl<'d> Checked<'d> {
    /// The fragment that a name refers to in a module. The standard library sees only its own fragments.
    pub(crate) fn find(&self, module: ModuleId, name: Name) -> Option<UnitId> {
        let found = self.document_scope.get(name).filter(|_| module != ModuleId::STANDARD);
        found.or_else(|| self.standard_scope.get(name)).map(|id| UnitId::at(id as usize))
    }

    /// A standard operation by its name.
    pub(crate) fn standard(&self, name: &str) -> Option<UnitId> {
        self.find(ModuleId::STANDARD, self.document.names().get(name)?)
    }

    /// The names of the slots of a fragment's body: parameters first, then locals and iterators in
    /// order of definition. Empty if no body was checked.
    pub(crate) fn slot_names(&self, id: UnitId) -> &[Name] {
        let (start, count) = self.bodies[id.index()].map_or((0, 0), |body| body.slots);
        &self.slot_names[start as usize..(start + count) as usize]
    }

    /// The slot of each result of a fragment's body; `None` if it is not assigned.
    pub(crate) fn result_slots(&self, id: UnitId) -> &[Option<u32>] {
        let Some(body) = self.bodies[id.index()] else { return &[] };
        let start = body.results as usize;
        &self.result_slots[start..start + self.fragment(id).results.len()]
    }

    /// The text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.document.names().text(name)
    }
}

/// Checks a document. Bodies of the standard library are checked as far as they are reachable.
pub(crate) fn check<'d>(document: &'d Document, options: &Options) -> (Checked<'d>, Diagnostics) {
    let mut checker = begin(document, options);
    if let Some(graph) = document.main().graphs.first() {
        let groups = graph.body.groups(&document.main().ast);
        groups.for_each(|group| checker.graph_statements(graph, &group));
    }
    checker.finish()
}

/// Checks everything but the graph.
pub(crate) fn begin<'d>(document: &'d Document, options: &Options) -> Checker<'d> {
    let resolved = options.shapes.resolved();
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
        diagnostics: Diagnostics::new(options.strict),
        symbols: FxHashSet::default(),
        misspelt: FxHashMap::default(),
        compared: 0,
        pending: Vec::new(),
        spare: BodyState::new(document.names().len()),
        operators_reported: false,
        flat_graph: false,
        graph: BodyState::new(document.names().len()),
    };
    if let Some(conflict) = conflict {
        let start = Location { file: document.main().file, ..Location::default() };
        checker.report(Code::OptionSymbol, start, format!("the options give {conflict}"));
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
    misspelt: FxHashMap<Name, Option<String>>,
    /// How many names were compared to find misspellings.
    compared: usize,
    /// Library fragments that are called and not checked yet.
    pending: Vec<UnitId>,
    /// An empty state for the next body: all bodies reuse its memory.
    spare: BodyState,
    /// Whether the missing extension for compound expressions was reported.
    operators_reported: bool,
    /// Whether statements of the graph must be calls with only names and literals as arguments.
    flat_graph: bool,
    /// The state of the graph's body between its groups of statements.
    graph: BodyState,
}

impl<'d> Checker<'d> {
    fn ast(&self, module: ModuleId) -> &'d Ast {
        &self.checked.module(module).ast
    }

    fn at(&self, module: ModuleId, span: Span) -> Location {
        Location::new(self.checked.module(module).file, span)
    }

    fn report(&mut self, code: Code, at: Location, message: impl Into<String>) {
        self.diagnostics.report(Diagnostic::new(code, at, message));
    }

    /// A type in the terms of the document's dialect.
    fn describe(&self, ty: Type) -> String {
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
