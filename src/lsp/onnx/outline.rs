//! The outline of a model: its graph and its functions, the nodes in them, and the graphs in nodes.

use super::operator::qualified;
use super::text::OnnxText;
use crate::diagnostics::PlacePart;
use crate::lsp::analyzed::OutlineItem;
use crate::lsp::symbols::SymbolKind;
use crate::onnx::text::NameRole;

/// The outline of a text.
pub(super) fn outline(of: &OnnxText) -> Vec<OutlineItem> {
    let marks = &of.marks;
    let mut found: Vec<Option<OutlineItem>> = marks.scopes.iter().enumerate().map(|(at, _)| scope(of, at)).collect();
    for mark in &marks.names {
        let Some((node, NameRole::Definition, Some(PlacePart::Result(_)))) =
            mark.node.map(|node| (node, mark.role, mark.part))
        else {
            continue;
        };
        let detail = marks.operator(node).map(|operator| qualified(&operator.domain, &operator.text));
        let item = OutlineItem {
            name: mark.text.clone(),
            kind: SymbolKind::Local,
            detail: detail.unwrap_or_default(),
            span: marks.nodes.get(node).map_or(mark.span, |node| node.span).to(mark.span),
            named: mark.span,
            inner: Vec::new(),
        };
        if let Some(Some(scope)) = found.get_mut(mark.scope) {
            scope.inner.push(item);
        }
    }
    // Graphs in nodes come after those around them.
    for at in (0..found.len()).rev() {
        let Some(scope) = marks.scopes.get(at) else { continue };
        let Some((around, node)) = scope.around.zip(scope.node.and_then(|node| marks.nodes.get(node))) else {
            continue;
        };
        let inner = found.get_mut(at).and_then(Option::take);
        if let Some((Some(around), inner)) = found.get_mut(around).zip(inner) {
            // The first result of the node has the graph.
            let first = around.inner.partition_point(|item| item.span.start < node.span.start);
            match around.inner.get_mut(first) {
                Some(item) => item.inner.insert(0, inner),
                None => around.inner.push(inner),
            }
        }
    }
    found.into_iter().flatten().collect()
}

/// A graph or a function without what is in it.
fn scope(of: &OnnxText, at: usize) -> Option<OutlineItem> {
    let scope = of.marks.scopes.get(at)?;
    let name = of.source().get(scope.name.range()).unwrap_or_default().trim_matches('"');
    let shown = if name.is_empty() { "graph" } else { name };
    Some(OutlineItem {
        name: shown.to_owned(),
        kind: if scope.function.is_some() { SymbolKind::Operation } else { SymbolKind::Graph },
        detail: if scope.function.is_some() { "function" } else { "graph" }.to_owned(),
        span: scope.span.to(scope.name),
        named: scope.name,
        inner: Vec::new(),
    })
}
