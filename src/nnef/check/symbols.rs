//! The symbols in the shapes of inputs.

use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{Ast, Call, Expr, Ident};
use crate::nnef::document::Document;
use crate::options::DeclaredSymbols;

/// The name of the argument of `external` with the shape.
const SHAPE: &str = "shape";

/// The symbols in the shapes of the inputs of the graph of a document.
pub(super) fn of_inputs(document: &Document) -> Vec<DeclaredSymbols> {
    let ast = &document.main().ast;
    let text = |name| document.names().text(name).to_owned();
    let assignments = document.main().graphs.first().into_iter().flat_map(|graph| &graph.body.assignments);
    let mut found = Vec::new();
    for statement in assignments {
        let Expr::Call(call) = ast.expr(statement.value) else { continue };
        let call = ast.call(call);
        if document.names().text(call.name.name) == EXTERNAL
            && let (Some(target), Some(symbols)) = (ast.name(statement.target), shape(document, ast, &call))
        {
            found.push((text(target), symbols));
        }
    }
    found
}

/// The symbols in the array of the shape of an input.
fn shape(document: &Document, ast: &Ast, call: &Call) -> Option<Vec<Option<String>>> {
    let named = |name: Ident| document.names().text(name.name) == SHAPE;
    let argument = ast.arguments(call).iter().find(|argument| argument.name.is_none_or(named))?;
    let Expr::Array(items) = ast.expr(argument.value) else { return None };
    let symbol = |item: &_| ast.name(*item).map(|name| document.names().text(name).to_owned());
    Some(ast.items(items).iter().map(symbol).collect())
}
