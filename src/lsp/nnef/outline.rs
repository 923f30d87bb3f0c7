//! The outline of a document: fragments and graphs, and what is assigned in them.

use super::declaration::Declaration;
use super::text::NnefText;
use crate::lsp::analyzed::OutlineItem;
use crate::lsp::symbols::SymbolKind;
use crate::nnef::ast::{Body, Expr, ExprId};

/// The outline of a text.
pub(super) fn outline(of: &NnefText) -> Vec<OutlineItem> {
    let main = of.document.main();
    let text = |name| of.document.names().text(name).to_owned();
    let fragments = Declaration::of_main(&of.document).map(|declared| {
        let fragment = declared.fragment;
        OutlineItem {
            name: text(fragment.name.name),
            kind: SymbolKind::Operation,
            detail: declared.heads(),
            span: fragment.span.to(fragment.name.span),
            named: fragment.name.span,
            inner: fragment.body.iter().flat_map(|body| assigned(of, body)).collect(),
        }
    });
    let graphs = main.graphs.iter().map(|graph| OutlineItem {
        name: text(graph.name.name),
        kind: SymbolKind::Graph,
        detail: "graph".to_owned(),
        span: graph.span.to(graph.name.span),
        named: graph.name.span,
        inner: assigned(of, &graph.body),
    });
    let mut found: Vec<OutlineItem> = fragments.chain(graphs).collect();
    found.sort_by_key(|item| item.span.start);
    found
}

/// What the statements of a body assign, with what they call.
fn assigned(of: &NnefText, body: &Body) -> Vec<OutlineItem> {
    let ast = &of.document.main().ast;
    let mut found: Vec<OutlineItem> = Vec::new();
    for statement in &body.assignments {
        let detail = called(of, statement.value).unwrap_or_default();
        let first = found.len();
        ast.each_target(statement.target, |id, name| {
            let named = ast.span(id);
            found.push(OutlineItem {
                name: of.document.names().text(name).to_owned(),
                kind: SymbolKind::Local,
                detail: detail.clone(),
                span: statement.span.to(named),
                named,
                inner: Vec::new(),
            });
        });
        found.get_mut(first..).unwrap_or_default().sort_by_key(|item| item.named);
    }
    found
}

/// The name of the operation that an expression calls.
fn called(of: &NnefText, value: ExprId) -> Option<String> {
    let ast = &of.document.main().ast;
    let Expr::Call(call) = ast.expr(value) else { return None };
    Some(of.document.names().text(ast.call(call).name.name).to_owned())
}
