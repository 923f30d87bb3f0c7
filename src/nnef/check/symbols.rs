//! The symbols in the shapes of inputs.

use rustc_hash::FxHashSet;

use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{Ast, Call, Expr, Ident};
use crate::nnef::document::Document;
use crate::options::DeclaredSymbols;
use crate::source::names::Name;

/// The name of the argument of `external` with the shape.
const SHAPE: &str = "shape";

/// The symbols in the shapes of the inputs of the graph of a document: of `external`, and of operations of vendors that
/// define a parameter of the graph.
pub(super) fn of_inputs(document: &Document) -> Vec<DeclaredSymbols> {
    let ast = &document.main().ast;
    let text = |name| document.names().text(name).to_owned();
    let graph = document.main().graphs.first();
    let inputs: FxHashSet<Name> = graph.into_iter().flat_map(|graph| &graph.params).map(|input| input.name).collect();
    let assignments = graph.into_iter().flat_map(|graph| &graph.body.assignments);
    let mut found = Vec::new();
    for statement in assignments {
        let Expr::Call(call) = ast.expr(statement.value) else { continue };
        let call = ast.call(call);
        let Some(target) = ast.name(statement.target) else { continue };
        let is_external = document.names().text(call.name.name) == EXTERNAL;
        let is_input = is_external || inputs.contains(&target);
        if let Some(symbols) = shape(document, ast, &call, is_external).filter(|_| is_input) {
            found.push((text(target), symbols));
        }
    }
    found
}

/// The symbols in the array of the shape of an input. An array of a vendor that has no name may be one of tensors.
fn shape(document: &Document, ast: &Ast, call: &Call, by_position: bool) -> Option<Vec<Option<String>>> {
    let named = |name: Ident| document.names().text(name.name) == SHAPE;
    let is_shape = |name: Option<Ident>| name.map_or(by_position, named);
    let argument = ast.arguments(call).iter().find(|argument| is_shape(argument.name))?;
    let Expr::Array(items) = ast.expr(argument.value) else { return None };
    let symbol = |item: &_| ast.name(*item).map(|name| document.names().text(name).to_owned());
    Some(ast.items(items).iter().map(symbol).collect())
}
