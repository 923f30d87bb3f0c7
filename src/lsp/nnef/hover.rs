//! What there is to say about a name of a document.

use super::declaration::Declaration;
use super::expansion::{stands_for, statements};
use super::locals::MOST_SHAPES;
use super::text::NnefText;
use super::types::type_of;
use crate::dictionary::{Vocabulary, find};
use crate::graph::{Extent, Graph, TensorId};
use crate::lsp::analyzed::HoverText;
use crate::lsp::meaning::formula;
use crate::lsp::symbols::{Occurrence, Symbol, SymbolKind};
use crate::nnef::ast::{Expr, ExprId};

/// The most statements of an expansion that are shown.
const MOST_STATEMENTS: usize = 12;

/// What there is to say about the name at an offset.
pub(super) fn hover(of: &NnefText, offset: u32) -> Option<HoverText> {
    let (occurrence, symbol) = of.index().symbols.at(offset)?;
    let told = |code: String, remarks: Vec<String>| Some(HoverText { span: occurrence.span, code, remarks });
    match symbol.kind {
        SymbolKind::Operation => {
            let declared = Declaration::find(&of.document, of.document.names().get(&symbol.name)?)?;
            let mut remarks: Vec<String> = declared.about().or_else(|| meaning(of, &declared)).into_iter().collect();
            remarks.push(capitalized(&declared.origin()));
            // What is declared here is near.
            let body = declared.statements().filter(|_| !declared.is_here());
            remarks.extend(body.map(|body| format!("Its body:\n```nnef\n{body}\n```")));
            remarks.extend(expansion(of, &occurrence));
            told(declared.signature(), remarks)
        }
        SymbolKind::Parameter => parameter(of, &occurrence, symbol).and_then(|code| told(code, Vec::new())),
        SymbolKind::Local => local(of, &occurrence, symbol).and_then(|(code, remarks)| told(code, remarks)),
        SymbolKind::Graph => {
            let count = of.needed().map(|graph| format!("{} operations when it is flat", graph.operations.len()));
            told(format!("graph {}", symbol.name), count.into_iter().collect())
        }
        SymbolKind::Extent => told(symbol.name.clone(), vec!["A symbol that stands for an extent".to_owned()]),
    }
}

/// What an operation without a body computes, if it has a formula in NNEF.
fn meaning(of: &NnefText, declared: &Declaration) -> Option<String> {
    let names = of.document.names();
    let fragment = declared.fragment;
    let row = find(Vocabulary::Vendor, names.text(fragment.name.name)).filter(|_| fragment.body.is_none())?;
    let operands: Vec<&str> = fragment.params.iter().map(|param| names.text(param.name.name)).collect();
    formula(row, &operands)
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What a call at an occurrence of an operation expands to.
fn expansion(of: &NnefText, occurrence: &Occurrence) -> Option<String> {
    let call = *of.index().calls.get(&occurrence.span.start)?;
    let span = of.document.main().ast.span(call);
    let graph = of.needed()?;
    let mut found = stands_for(of, graph, span);
    let graph = match found.is_empty() {
        // No output needs it.
        true => {
            let all = of.graph.as_ref()?;
            found = stands_for(of, all, span);
            all
        }
        false => graph,
    };
    let count = found.len();
    let shown = statements(graph, found.into_iter().take(MOST_STATEMENTS));
    let shown: Vec<&str> = shown.lines().map(str::trim_start).collect();
    match count {
        0 => None,
        1 => Some(format!("One operation here:\n```nnef\n{}\n```", shown.join("\n"))),
        _ => {
            let more = count.checked_sub(MOST_STATEMENTS).filter(|more| *more > 0);
            let more = more.map(|more| format!("\n# and {more} more")).unwrap_or_default();
            Some(format!("Expands to {count} operations here:\n```nnef\n{}{more}\n```", shown.join("\n")))
        }
    }
}

/// A parameter as it is declared.
fn parameter(of: &NnefText, occurrence: &Occurrence, symbol: &Symbol) -> Option<String> {
    let name = of.document.names().get(&symbol.name)?;
    let main = of.document.main();
    // In the fragment itself, or in a call that names it.
    let own = symbol.body.and_then(|body| main.fragments.get(body as usize));
    let inside =
        own.filter(|fragment| fragment.span.start <= occurrence.span.start && occurrence.span.end <= fragment.span.end);
    let callee = || {
        let named = |id: &&ExprId| {
            let Expr::Call(call) = main.ast.expr(**id) else { return false };
            let call = main.ast.call(call);
            main.ast
                .arguments(&call)
                .iter()
                .any(|argument| argument.name.is_some_and(|name| name.span == occurrence.span))
        };
        let call = of.index().calls.values().find(named)?;
        let Expr::Call(call) = main.ast.expr(*call) else { return None };
        Declaration::find(&of.document, main.ast.call(call).name.name)
    };
    let declared = match inside {
        Some(fragment) => Declaration::find(&of.document, fragment.name.name)?,
        None => callee()?,
    };
    let param = declared.fragment.params.iter().find(|param| param.name.name == name)?;
    Some(declared.param(param))
}

/// The type of a local, and the shapes that it has.
fn local(of: &NnefText, occurrence: &Occurrence, symbol: &Symbol) -> Option<(String, Vec<String>)> {
    let main = of.document.main();
    let in_graph = symbol.body.is_some_and(|body| body as usize >= main.fragments.len());
    if let Some(graph) = of.graph.as_ref().filter(|_| in_graph)
        && let Some(tensor) = graph.tensor(&symbol.name)
    {
        return Some((described(graph, tensor, &symbol.name), Vec::new()));
    }
    let index = &of.index().symbols;
    let defined = index.definition(occurrence).and_then(|span| of.index().values.get(&span.start)).copied();
    let target = defined.and_then(|value| type_of(of, value));
    let name = of.document.names().get(&symbol.name)?;
    let results = main.fragments.get(symbol.body? as usize).map_or(&[][..], |fragment| &fragment.results);
    let code = match (results.iter().find(|result| result.name.name == name), target) {
        (Some(result), _) => {
            let span = main.ast.type_spans.get(result.ty.index())?;
            format!("{}: {}", symbol.name, of.source().get(span.range())?)
        }
        (None, Some(ty)) => format!("{}: {ty}", symbol.name),
        (None, None) => symbol.name.clone(),
    };
    let shapes = defined.and_then(|value| shapes(of, symbol, value));
    Some((code, shapes.into_iter().collect()))
}

/// A tensor of the graph: its element type and its shape.
fn described(graph: &Graph, tensor: TensorId, name: &str) -> String {
    let element = graph.dtype(tensor).map_or("", |element| element.text());
    format!("{name}: tensor<{element}>{}", shape(graph, tensor))
}

/// The shape of a tensor, if its rank is known.
pub(super) fn extents(graph: &Graph, tensor: TensorId) -> Option<String> {
    let extents = graph.shape(tensor)?.extents().iter().map(Extent::to_string).collect::<Vec<_>>();
    Some(format!("[{}]", extents.join(", ")))
}

fn shape(graph: &Graph, tensor: TensorId) -> String {
    extents(graph, tensor).unwrap_or_else(|| ", shape not known".to_owned())
}

/// The shapes that a local of a fragment has in the calls of the graph.
fn shapes(of: &NnefText, symbol: &Symbol, value: ExprId) -> Option<String> {
    let (locals, graph) = of.locals()?;
    let found = locals.of(&of.document, symbol, value);
    let listed = |(tensor, count): &(TensorId, usize)| {
        let shape = shape(graph, *tensor);
        if *count > 1 { format!("{shape} ({count} times)") } else { shape }
    };
    let more = if found.len() > MOST_SHAPES { ", …" } else { "" };
    let shown: Vec<String> = found.iter().take(MOST_SHAPES).map(listed).collect();
    (!shown.is_empty()).then(|| format!("In the calls of the graph: {}{more}", shown.join(", ")))
}
