//! Types of expressions, as the checks find them.

use super::text::NnefText;
use crate::nnef::ast::ExprId;
use crate::nnef::check;
use crate::nnef::types::Type;

/// The type of an expression of the text; none if it is not known.
pub(super) fn type_of(of: &NnefText, id: ExprId) -> Option<String> {
    let document = &of.document;
    let graph = document.main().graphs.first();
    let mut checker = check::begin(document, &of.options);
    let mut in_graph = false;
    for group in graph.into_iter().flat_map(|graph| graph.body.groups(&document.main().ast).map(move |g| (graph, g))) {
        let (graph, group) = group;
        // The side tables of a group are gone with the next one.
        checker.graph_statements(graph, &group);
        if group.nodes.contains(&id.index()) {
            in_graph = true;
            break;
        }
    }
    let checked = &checker.checked;
    let tables = match in_graph {
        true => Some(&checked.statements),
        false => {
            checked.modules.get(document.main_id().index()).filter(|_| id.index() < document.main().fragment_nodes())
        }
    };
    let ty = tables?.nodes[id].ty;
    (ty != Type::Unknown).then(|| checked.types.describe(ty))
}
