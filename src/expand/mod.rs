//! Expansion: from a checked document to a flat graph.

pub mod arithmetic;
mod builtins;
mod calls;
mod code;
mod compile;
mod compile_expr;
mod constants;
mod demand;
mod kept;
pub mod list;
mod lowering;
mod machine;
mod rules;
mod trace;
pub mod value;

use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::{Graph, TensorId, prune};
use crate::nnef::ast::{Expr, ExprId, GraphDecl, Ident, UnaryOp};
use crate::nnef::check::{self, Checked};
use crate::nnef::document::{Document, ModuleId};
use crate::options::Options;
use crate::source::Location;
use compile::{Compiler, Mode};
use list::List;
use machine::Machine;
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
    let (checked, mut diagnostics) = check::check(document, options);
    let Some(graph) = document.main().graphs.first().filter(|_| !document.is_broken() && !diagnostics.has_errors()) else {
        return Err(diagnostics);
    };
    match expand_graph(&checked, graph, options, &mut diagnostics) {
        Ok(flat) if !diagnostics.has_errors() => Ok(Expansion { graph: flat, diagnostics }),
        Ok(_) => Err(diagnostics),
        Err(diagnostic) => {
            diagnostics.report(*diagnostic);
            Err(diagnostics)
        }
    }
}

fn expand_graph(
    checked: &Checked,
    declared: &GraphDecl,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, Box<Diagnostic>> {
    let document = checked.document;
    let flat = Graph::new(declared.name.name, Arc::clone(document.shared_names()));
    let mut machine = Machine::new(checked, options, flat);
    let compiler = Compiler::new(
        checked,
        &machine.lowering,
        &mut machine.program,
        &mut machine.graph.names,
        document.main_id(),
        Mode::Graph,
    );
    let body = compiler.graph(declared);
    machine.run(&body, Vec::new())?;
    let tensors = |machine: &Machine, idents: &[Ident]| {
        idents.iter().map(|ident| named_tensor(machine, document, ident)).collect::<Result<Vec<TensorId>, _>>()
    };
    machine.graph.inputs = tensors(&machine, &declared.params)?;
    machine.graph.outputs = tensors(&machine, &declared.results)?;
    let mut graph = machine.graph;
    if !options.keep_unused {
        prune::prune(&mut graph);
    }
    kept::demand_input(checked, &mut graph);
    graph.finish_names();
    rules::check(checked, &graph, diagnostics);
    kept::keep(checked, &mut graph, options)?;
    Ok(graph)
}

fn named_tensor(machine: &Machine, document: &Document, ident: &Ident) -> Result<TensorId, Box<Diagnostic>> {
    machine.bound.get(&ident.name).copied().ok_or_else(|| {
        let at = Location::new(document.main().file, ident.span);
        let message = format!("`{}` is no tensor in the end", document.names().text(ident.name));
        Box::new(Diagnostic::new(Code::DynamicType, at, message))
    })
}

/// The value of a literal, as defaults are.
fn literal(checked: &Checked, module: ModuleId, id: ExprId) -> Value {
    let ast = &checked.document.module(module).ast;
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match ast.expr(id) {
        Expr::Int(i) => Value::Int(i),
        Expr::Scalar(s) => Value::Scalar(s),
        Expr::Logical(b) => Value::Logical(b),
        Expr::String(name) => Value::String(List::from_text(checked.text(name), None)),
        Expr::IntArray(range) => Value::Array(List::from_ints(ast.ints[range.range()].iter().copied(), None)),
        Expr::ScalarArray(range) => Value::Array(List::from_scalars(ast.scalars[range.range()].iter().copied(), None)),
        Expr::Unary { op: UnaryOp::Minus, operand } => match literal(checked, module, operand) {
            Value::Int(i) => Value::Int(i.wrapping_neg()),
            Value::Scalar(s) => Value::Scalar(-s),
            other => other,
        },
        Expr::Unary { operand, .. } => literal(checked, module, operand),
        Expr::Array(items) | Expr::Tuple(items) => {
            let values = ast.items(items).iter().map(|&item| literal(checked, module, item)).collect();
            let list = List::from_values(values, None);
            if matches!(ast.expr(id), Expr::Tuple(_)) { Value::Tuple(list) } else { Value::Array(list) }
        }
        Expr::Name(name) => Value::symbol(checked.text(name)),
        _ => Value::Array(List::from_values(Vec::new(), None)),
    })
}
