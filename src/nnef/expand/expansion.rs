//! The steps of an expansion: statements are checked, compiled and run, and the graph is completed.

use std::rc::Rc;

use super::expander::Expander;
use super::independent::Failures;
use super::{constants, datatypes, kept, named, rules};
use crate::core::machine::Machine;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::{Dialect, Graph, KeptFragment, TensorId, prune, windows};
use crate::nnef::ast::{GraphDecl, Ident};
use crate::nnef::check::Checked;
use crate::nnef::document::Document;
use crate::nnef::migrate::Blocked;
use crate::nnef::{check, migrate};
use crate::options::{Lower, Options};
use crate::source::Location;

/// A flat graph, and the warnings of its expansion.
#[derive(Debug)]
#[non_exhaustive]
pub struct Expansion {
    /// The graph.
    pub graph: Graph,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// Checks and expands a document.
pub(crate) fn expand(document: &Document, options: &Options) -> Result<Expansion, Diagnostics> {
    let Some(graph) = document.main().graphs.first().filter(|_| document.broken().is_none()) else {
        return Err(why_not(document, options));
    };
    let mut more = migrate::always_expanded(document, options);
    loop {
        let (checked, mut diagnostics, expanded) = statements(document, graph, options, &more);
        named::check(&checked, graph, options, &mut diagnostics);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let finish = |expander: Expander| finish(&checked, expander.machine, graph, options, &mut diagnostics);
        match expanded.and_then(finish) {
            Ok((_, blocked)) if !diagnostics.has_errors() && expandable(&checked, options, &blocked, &mut more) => {
                continue;
            }
            Ok((flat, blocked)) if !diagnostics.has_errors() && blocked.is_empty() => {
                errors_of_kept(document, options, &flat)?;
                return Ok(Expansion { graph: flat, diagnostics });
            }
            Ok((_, blocked)) => blocked.into_iter().for_each(|blocked| diagnostics.report(blocked.diagnostic)),
            Err(found) => diagnostics.extend(*found),
        }
        return Err(diagnostics);
    }
}

/// Refuses under `--strict` what a reader of the output finds when it expands the fragments that are kept with their bodies.
fn errors_of_kept(document: &Document, options: &Options, flat: &Graph) -> Result<(), Diagnostics> {
    let is_copied = |fragment: &KeptFragment| matches!(fragment, KeptFragment::Verbatim(_));
    if !options.strict
        || options.lower == Lower::Custom && options.keep.is_empty()
        || !flat.fragments.iter().any(is_copied)
    {
        return Ok(());
    }
    let mut options = Options { lower: Lower::Custom, keep: Vec::new(), ..options.clone() };
    options.internal.shown = None;
    expand(document, &options).map(drop)
}

/// The errors of a document that cannot be expanded because it has syntax errors or no graph.
fn why_not(document: &Document, options: &Options) -> Diagnostics {
    let mut diagnostics = document.broken().cloned().unwrap_or_else(|| Diagnostics::of(options.policy()));
    diagnostics.extend(check::check(document, options).1);
    if !diagnostics.has_errors() {
        let at = Location { file: document.main().file, ..Location::default() };
        diagnostics.report(Diagnostic::new(Code::NoGraph, at, "there is no graph to expand"));
    }
    diagnostics
}

/// The errors of an expansion, and the diagnostics before them.
type Failed = Box<Diagnostics>;

/// Checks, compiles and runs the statements of the graph in groups, because their side tables are
/// needed only for a group. After an error of the checks only these continue. Returns the results of the
/// checks, and the expander or its errors.
fn statements<'d>(
    document: &'d Document,
    graph: &GraphDecl,
    options: &Options,
    more: &[String],
) -> (Checked<'d>, Diagnostics, Result<Expander, Failed>) {
    let mut checker = check::begin(document, options);
    let mut expander = Expander::of_graph(&checker.checked, options, more, graph.name.name);
    let mut failures = Failures::new(options.policy());
    let mut left = graph.reassigned.clone();
    for group in graph.body.groups(&document.main().ast) {
        checker.graph_statements(graph, &group);
        if checker.diagnostics.has_errors() {
            continue;
        }
        expander.expand_group(&checker.checked, &group, checker.graph_slots(), &mut left, &mut failures);
    }
    let expanded = match failures.found.has_errors() {
        false => Ok(expander),
        true => {
            let mut found = expander.machine.shapes.take();
            // What was made so far is memory that diagnostics may take.
            drop(expander);
            found.extend(failures.found);
            Err(found.into())
        }
    };
    let symbols = checker.symbols.clone();
    let (checked, mut diagnostics) = checker.finish();
    named::check_symbols(&checked, &symbols, options, &mut diagnostics);
    (checked, diagnostics, expanded)
}

/// Adds the compounds that block a migration to `more`, for another attempt with them expanded.
/// Returns whether there are new ones. There are finitely many compounds, so the attempts end.
fn expandable(checked: &Checked, options: &Options, blocked: &[Blocked], more: &mut Vec<String>) -> bool {
    let before = more.len();
    for Blocked { operation, .. } in blocked {
        let compound = checked.standard(operation).is_some_and(|id| checked.fragment(id).has_body);
        if compound && !options.keep.contains(operation) && !more.contains(operation) {
            more.push(operation.clone());
        }
    }
    more.len() > before
}

/// Completes the graph after the last statement.
fn finish(
    checked: &Checked,
    mut machine: Machine,
    declared: &GraphDecl,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<(Graph, Vec<Blocked>), Failed> {
    let document = checked.document;
    diagnostics.extend(machine.shapes.take());
    let stopped = |diagnostic: Box<Diagnostic>| {
        let mut found = Diagnostics::of(options.policy());
        found.report(*diagnostic);
        Box::new(found)
    };
    let inputs = tensors(&machine, document, &declared.params, &checked.graph.inputs).map_err(stopped)?;
    let outputs = tensors(&machine, document, &declared.results, &checked.graph.outputs).map_err(stopped)?;
    let units = Rc::clone(&machine.units);
    let mut graph = machine.into_graph();
    (graph.inputs, graph.outputs) = (inputs, outputs);
    if !options.keep_unused {
        prune::prune(&mut graph);
    }
    kept::demand_input(checked, &units, &mut graph);
    graph.finish_names();
    datatypes::check(checked, &mut graph, diagnostics);
    constants::convert(&mut graph, checked.words.value, diagnostics);
    if options.strict {
        // The printed bodies that have such windows violate a rule; the text that is written does not.
        windows::complete(&mut graph);
    }
    kept::keep(checked, &units, &mut graph, options, diagnostics).map_err(stopped)?;
    for fragment in &graph.fragments {
        if let KeptFragment::Flat(_, body) = fragment {
            rules::check(checked, body, diagnostics);
        }
    }
    let mut blocked = Vec::new();
    if options.migrate && graph.dialect == Dialect::Draft {
        migrate::fragments(&graph, document, diagnostics);
        blocked = migrate::migrate(&mut graph, document, diagnostics);
    }
    rules::check(checked, &graph, diagnostics);
    Ok((graph, blocked))
}

/// The tensors of inputs or outputs.
pub(super) fn tensors(
    machine: &Machine,
    document: &Document,
    idents: &[Ident],
    slots: &[Option<u32>],
) -> Result<Vec<TensorId>, Box<Diagnostic>> {
    let tensor = |(ident, slot): (&Ident, &Option<u32>)| {
        slot.and_then(|slot| machine.tensor_in(slot)).ok_or_else(|| {
            let at = Location::new(document.main().file, ident.span);
            let message = format!("the value of `{}` is not a tensor", document.names().text(ident.name));
            Box::new(Diagnostic::new(Code::DynamicType, at, message).label("not a tensor"))
        })
    };
    idents.iter().zip(slots).map(tensor).collect()
}
