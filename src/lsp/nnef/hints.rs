//! Types and shapes behind the names of tensors.

use super::hover::extents;
use super::text::NnefText;
use crate::graph::{Graph, TensorId};
use crate::lsp::analyzed::Hint;
use crate::lsp::symbols::{Occurrence, Symbol, SymbolKind};
use crate::source::Span;

/// The types and shapes of the tensors that are assigned in a span: in fragments those that have one shape in all calls.
pub(super) fn hints(of: &NnefText, within: Span) -> Vec<Hint> {
    let Some(graph) = &of.graph else { return Vec::new() };
    let hint = |(occurrence, symbol): (&Occurrence, &Symbol)| {
        if !occurrence.defines || symbol.kind != SymbolKind::Local {
            return None;
        }
        let tensor = tensor(of, graph, occurrence, symbol)?;
        Some(Hint { offset: occurrence.span.end, label: label(graph, tensor)? })
    };
    of.index().symbols.within(within).filter_map(hint).collect()
}

/// The tensor that a name gets.
fn tensor(of: &NnefText, graph: &Graph, occurrence: &Occurrence, symbol: &Symbol) -> Option<TensorId> {
    let value = *of.index().values.get(&occurrence.span.start)?;
    let main = of.document.main();
    if let Some(body) = (symbol.body? as usize).checked_sub(main.fragments.len()) {
        // A name that is assigned again stands for several tensors.
        let name = of.document.names().get(&symbol.name)?;
        let is_again = main.graphs.get(body)?.reassigned.contains_key(&name);
        return if is_again { None } else { graph.tensor(&symbol.name) };
    }
    let (locals, _) = of.locals()?;
    match locals.of(&of.document, symbol, value) {
        [(tensor, _)] => Some(*tensor),
        _ => None,
    }
}

/// As in `: scalar[2, 3]`; none if nothing is known.
fn label(graph: &Graph, tensor: TensorId) -> Option<String> {
    let element = graph.dtype(tensor).map(|element| element.text());
    let shape = extents(graph, tensor);
    if element.is_none() && shape.is_none() {
        return None;
    }
    Some(format!(": {}{}", element.unwrap_or_default(), shape.unwrap_or_default()))
}
