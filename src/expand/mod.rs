//! Expansion: from a checked document to a flat graph.

mod alike;
pub mod arithmetic;
mod builtins;
mod calls;
mod code;
mod columns;
mod compile;
mod compile_call;
mod compile_expr;
mod compile_loop;
mod compile_parts;
mod compile_plain;
mod compound;
mod constants;
mod datatypes;
mod demand;
mod emission;
mod frame;
mod fused;
mod implied;
mod instructions;
mod iteration;
mod kept;
pub mod list;
mod looping;
mod lowering;
mod machine;
mod release;
mod replay;
mod routine;
mod rules;
mod scan;
mod shapes;
mod statements;
mod trace;
pub mod value;

use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::{Graph, TensorId, prune};
use crate::migrate::{self, Blocked};
use crate::nnef::ast::{Ast, Expr, ExprId, GraphDecl, Ident, UnaryOp};
use crate::nnef::check::{self, Checked};
use crate::nnef::document::{Document, ModuleId};
use crate::nnef::statements::Chunk;
use crate::options::Options;
use crate::source::Location;
pub(crate) use emission::kind_of;
use list::List;
use machine::{Machine, State};
pub(crate) use rules::with_origin;
use value::Value;

/// A flat graph, and the warnings met on the way.
#[derive(Debug)]
pub struct Expansion {
    /// The graph.
    pub graph: Graph,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// Checks and expands a document.
pub(crate) fn expand(document: &Document, options: &Options) -> Result<Expansion, Diagnostics> {
    let Some(graph) = document.as_read().graphs.first().filter(|_| !document.is_broken()) else {
        return Err(check::check(document, options).1);
    };
    let mut more = migrate::always_expanded(document, options);
    let mut whole = false;
    loop {
        let Statements { checked, mut diagnostics, outcome } = statements(document, graph, options, (&more, whole));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let outcome = outcome.and_then(|machine| finish(&checked, machine, graph, options, &mut diagnostics));
        match outcome {
            Ok(None) => {
                whole = true;
                continue;
            }
            Ok(Some((_, blocked)))
                if !diagnostics.has_errors() && expandable(&checked, options, &blocked, &mut more) =>
            {
                continue;
            }
            Ok(Some((flat, blocked))) if !diagnostics.has_errors() && blocked.is_empty() => {
                return Ok(Expansion { graph: flat, diagnostics });
            }
            Ok(Some((_, blocked))) => blocked.into_iter().for_each(|blocked| diagnostics.report(blocked.diagnostic)),
            Err(stopped) => {
                diagnostics.extend(stopped.found);
                diagnostics.report(*stopped.diagnostic);
            }
        }
        return Err(diagnostics);
    }
}

/// Why an expansion stopped, and what was found before.
struct Stopped {
    found: Diagnostics,
    diagnostic: Box<Diagnostic>,
}

/// What comes of the statements of a graph: what the checks say, and how far the expansion came.
struct Statements<'d> {
    checked: Checked<'d>,
    diagnostics: Diagnostics,
    outcome: Result<State, Stopped>,
}

/// Checks, compiles and runs the statements of the graph, some at a time: what is known of them
/// is needed no longer than until the next ones. When something is wrong, only the checks go on.
fn statements<'d>(
    document: &'d Document,
    graph: &GraphDecl,
    options: &Options,
    (more, whole): (&[String], bool),
) -> Statements<'d> {
    let mut checker = check::begin(document, options, whole);
    let mut flat = Graph::new(graph.name.name, Arc::clone(document.shared_names()));
    flat.dialect = document.dialect();
    let mut machine = Machine::new(&checker.checked, options, more, flat);
    machine.start(document.as_read().file, Vec::new());
    let mut outcome = Ok(machine.pause());
    let mut left = graph.body.reassigned().clone();
    let (mut reader, mut chunk) = (graph.body.reader(), Chunk::default());
    while checker.next_statements(graph, &mut reader, &mut chunk) {
        checker.graph_statements(graph, &mut chunk);
        if checker.diagnostics.has_errors() {
            continue;
        }
        outcome = outcome.and_then(|state| {
            let mut machine = Machine::resume(&checker.checked, state);
            match machine.run_statements(&chunk, checker.graph_slots(), &mut left) {
                Ok(()) => Ok(machine.pause()),
                Err(diagnostic) => Err(Stopped { found: machine.shapes.take(), diagnostic }),
            }
        });
    }
    let (checked, diagnostics) = checker.finish();
    Statements { checked, diagnostics, outcome }
}

/// Notes compounds that stand in the way of a migration, for another try with them expanded.
/// Without them there are fewer reasons each time, so the tries come to an end.
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

/// From the end of the statements to the finished graph; nothing where fragments stay of which
/// no nodes are there.
fn finish(
    checked: &Checked,
    state: State,
    declared: &GraphDecl,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Option<(Graph, Vec<Blocked>)>, Stopped> {
    let document = checked.document;
    let mut machine = Machine::resume(checked, state);
    diagnostics.extend(machine.shapes.take());
    let stopped = |diagnostic| Stopped { found: Diagnostics::new(options.strict), diagnostic };
    let inputs = tensors(&machine, document, &declared.params, &checked.graph.inputs).map_err(stopped)?;
    let outputs = tensors(&machine, document, &declared.results, &checked.graph.outputs).map_err(stopped)?;
    let mut graph = machine.into_graph();
    (graph.inputs, graph.outputs) = (inputs, outputs);
    if !options.keep_unused {
        prune::prune(&mut graph);
    }
    kept::demand_input(checked, &mut graph);
    graph.finish_names();
    datatypes::check(checked, &mut graph, diagnostics);
    if !kept::keep(checked, &mut graph, options, diagnostics).map_err(stopped)? {
        return Ok(None);
    }
    let mut blocked = Vec::new();
    if options.migrate && graph.dialect == Dialect::Draft {
        migrate::fragments(&graph, document, diagnostics);
        blocked = migrate::migrate(&mut graph, document, diagnostics);
    }
    rules::check(checked, &graph, diagnostics);
    Ok(Some((graph, blocked)))
}

/// The tensors that inputs or outputs stand for.
fn tensors(
    machine: &Machine,
    document: &Document,
    idents: &[Ident],
    slots: &[Option<u32>],
) -> Result<Vec<TensorId>, Box<Diagnostic>> {
    let tensor = |(ident, slot): (&Ident, &Option<u32>)| {
        slot.and_then(|slot| machine.tensor_in(slot)).ok_or_else(|| {
            let at = Location::new(document.as_read().file, ident.span);
            let message = format!("`{}` is no tensor in the end", document.names().text(ident.name));
            Box::new(Diagnostic::new(Code::DynamicType, at, message))
        })
    };
    idents.iter().zip(slots).map(tensor).collect()
}

/// The value of a literal that has no parts.
fn simple_literal(checked: &Checked, ast: &Ast, expr: Expr) -> Option<Value> {
    Some(match expr {
        Expr::Int(i) => Value::Int(i),
        Expr::Scalar(s) => Value::Scalar(s),
        Expr::Logical(b) => Value::Logical(b),
        Expr::String(name) => Value::String(List::from_text(checked.text(name), None)),
        Expr::IntArray(range) => Value::Array(List::of_ints(&ast.ints[range.range()])),
        Expr::ScalarArray(range) => Value::Array(List::of_scalars(&ast.scalars[range.range()])),
        Expr::Numbers(numbers) => Value::Array(List::of_numbers(&ast.numbers[numbers.index()])),
        _ => return None,
    })
}

/// The value of a literal, as defaults are.
fn literal(checked: &Checked, module: ModuleId, id: ExprId) -> Value {
    constant(checked, &checked.module(module).ast, id)
}

/// The value of an expression that consists of literals.
fn constant(checked: &Checked, ast: &Ast, id: ExprId) -> Value {
    if let Some(value) = simple_literal(checked, ast, ast.expr(id)) {
        return value;
    }
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match ast.expr(id) {
        Expr::Unary { op: UnaryOp::Minus, operand } => match constant(checked, ast, operand) {
            Value::Int(i) => Value::Int(i.wrapping_neg()),
            Value::Scalar(s) => Value::Scalar(-s),
            other => other,
        },
        Expr::Unary { operand, .. } => constant(checked, ast, operand),
        Expr::Array(items) | Expr::Tuple(items) => {
            let values = ast.items(items).iter().map(|&item| constant(checked, ast, item)).collect();
            let list = List::from_values(values, None);
            if matches!(ast.expr(id), Expr::Tuple(_)) { Value::Tuple(list) } else { Value::Array(list) }
        }
        Expr::Name(name) => Value::symbol(checked.text(name)),
        _ => Value::Array(List::from_values(Vec::new(), None)),
    })
}
