//! A call of the graph, replaced by the statements of its body. Calls in its arguments and in its body stay calls.

use rustc_hash::FxHashSet;

use super::declaration::Declaration;
use super::text::NnefText;
use crate::diff::diff;
use crate::graph::{Operation, TensorId};
use crate::input::table::documents::expanded;
use crate::lsp::analyzed::{ExpandableCall, Replacement};
use crate::nnef::ast::{Assignment, Expr, ExprId};
use crate::nnef::document::ModuleId;
use crate::source::{Location, Span};
use crate::{Graph, Lower, Options};

pub(super) use crate::write::nnef_statements as statements;

/// The most statements that a call is replaced by.
const MOST: usize = 20_000;

/// The call at a span of the graph, if what it calls has a body: the innermost one.
pub(super) fn call_at(of: &NnefText, span: Span) -> Option<ExpandableCall> {
    let main = of.document.main();
    let around = |id: &&ExprId| {
        let call = main.ast.span(**id);
        call.start <= span.start && span.end <= call.end
    };
    let has_body = |id: &&ExprId| callee(of, **id).is_some_and(|declared| declared.fragment.body.is_some());
    let size = |id: &&ExprId| main.ast.span(**id).end - main.ast.span(**id).start;
    let id = *of.index().calls.values().filter(around).filter(has_body).min_by_key(size)?;
    let declared = callee(of, id)?;
    let span = main.ast.span(id);
    let disabled = match (statement(of, span), &of.graph) {
        (None, _) => Some("it is in a fragment: what it expands to depends on the call of the fragment"),
        (_, None) => Some("the document has errors"),
        _ => None,
    };
    let operation = of.document.names().text(declared.fragment.name.name).to_owned();
    Some(ExpandableCall { operation, span, disabled: disabled.map(str::to_owned) })
}

/// The declaration of what a call refers to.
fn callee(of: &NnefText, id: ExprId) -> Option<Declaration<'_>> {
    let ast = &of.document.main().ast;
    let Expr::Call(call) = ast.expr(id) else { return None };
    Declaration::find(&of.document, ast.call(call).name.name)
}

/// The statement of the graph around a span.
fn statement(of: &NnefText, span: Span) -> Option<&Assignment> {
    let graph = of.document.main().graphs.first()?;
    let statements = &graph.body.assignments;
    let after = statements.partition_point(|statement| statement.span.start <= span.start);
    statements.get(after.checked_sub(1)?).filter(|statement| span.end <= statement.span.end)
}

/// The place of the name of what a call refers to.
fn name_of(of: &NnefText, id: ExprId) -> Span {
    let ast = &of.document.main().ast;
    if let Expr::Call(call) = ast.expr(id) { ast.call(call).name.span } else { Span::default() }
}

/// The operations of a graph that a part of the graph's body stands for.
fn produced<'g>(of: &NnefText, graph: &'g Graph, part: Span) -> Vec<&'g Operation> {
    let main = of.document.main();
    let within = |at: Location| at.file == main.file && part.start <= at.span.start && at.span.end <= part.end;
    let of_part =
        |operation: &&Operation| within(graph.calls(operation).last().map_or(operation.location(), |(_, at)| at));
    graph.operations.iter().filter(of_part).collect()
}

/// The operations of a graph that a call stands for, without those of its arguments: in a fragment, in all calls of it.
pub(super) fn stands_for<'g>(of: &NnefText, graph: &'g Graph, call: Span) -> Vec<&'g Operation> {
    let file = of.document.main().file;
    // The place of an operation or a call is the name of what is called.
    let is_here = |at: Location| at.file == file && at.span.start == call.start;
    let of_call =
        |operation: &&Operation| is_here(operation.location()) || graph.calls(operation).any(|(_, at)| is_here(at));
    graph.operations.iter().filter(of_call).collect()
}

/// The replacements that expand a call.
///
/// # Errors
///
/// Why it cannot be expanded.
pub(super) fn expansion(of: &NnefText, call: &ExpandableCall) -> Result<Vec<Replacement>, String> {
    if let Some(why) = &call.disabled {
        return Err(why.clone());
    }
    let statement = statement(of, call.span).ok_or("it is not in the graph")?;
    let main = of.document.main();
    let whole = main.ast.span(statement.value) == call.span;
    let replaced = if whole { statement.span } else { call.span };
    if main.comments.iter().any(|comment| replaced.start <= comment.start && comment.end <= replaced.end) {
        return Err("a comment in it would be lost".to_owned());
    }
    let id = *of.index().calls.values().find(|id| main.ast.span(**id) == call.span).ok_or("it is not a call")?;
    let standard = callee(of, id).is_some_and(|declared| declared.module == ModuleId::STANDARD);
    let within = Options { lower: Lower::None, ..of.options.clone() };
    // Where a body asks for shapes that calls which stay do not tell, all calls are expanded.
    let full = Options { lower: if standard { Lower::All } else { of.options.lower.clone() }, ..of.options.clone() };
    for (only, options) in [(true, within), (false, full)] {
        // What no output needs is expanded, too, if it is this call.
        for keep_unused in [false, true] {
            let after = Options { keep_unused: keep_unused || options.keep_unused, ..options.clone() };
            let before = after.clone().with(|options| options.internal.only_call = only.then_some(call.span.start));
            let Ok(flat) = crate::expand(&of.document, &before) else { continue };
            let found = produced(of, &flat.graph, replaced);
            if found.is_empty() {
                continue;
            }
            if found.len() > MOST {
                return Err(format!("it stands for more than {MOST} operations"));
            }
            let is_call = |operation: &&Operation| {
                operation.location() == Location::new(main.file, name_of(of, id))
                    && flat.graph.calls(operation).next().is_none()
            };
            if found.iter().any(is_call) {
                return Err("in this document it is not what its body says".to_owned());
            }
            let edited = |arguments: &[Span]| {
                let edits = edits(of, (&flat.graph, &found, arguments), (statement, call.span, whole))?;
                verified(of, &edits, &flat.graph, &after).map(|()| edits)
            };
            // What an argument stands for takes its place where its text cannot, as with the names of a comprehension.
            return edited(&arguments(of, id)).or_else(|_| edited(&[]));
        }
    }
    Err("it stands for no operation".to_owned())
}

/// The arguments of a call, and the items of those that are arrays or tuples, in the order of the text.
fn arguments(of: &NnefText, id: ExprId) -> Vec<Span> {
    let ast = &of.document.main().ast;
    let Expr::Call(call) = ast.expr(id) else { return Vec::new() };
    let mut open: Vec<ExprId> = ast.arguments(&ast.call(call)).iter().map(|argument| argument.value).collect();
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        match ast.expr(id) {
            Expr::Array(items) | Expr::Tuple(items) => open.extend(ast.items(items)),
            _ => found.push(ast.span(id)),
        }
    }
    found.sort_unstable();
    found
}

/// The replacements: statements instead of a statement, or before it with the name of their result instead of the call.
/// The arguments whose spans are given are statements as they are written.
fn edits(
    of: &NnefText,
    (graph, found, arguments): (&Graph, &[&Operation], &[Span]),
    (statement, call, whole): (&Assignment, Span, bool),
) -> Result<Vec<Replacement>, String> {
    let mut lines = String::new();
    let mut written = FxHashSet::default();
    for argument in arguments {
        let operations = produced(of, graph, *argument);
        let Ok(value) = result(graph, &operations) else { continue };
        let text = of.source().get(argument.range()).unwrap_or_default();
        lines += &format!("{} = {text};\n", graph.tensor_name(value));
        written.extend(operations.into_iter().map(std::ptr::from_ref));
    }
    lines += &statements(
        graph,
        found.iter().copied().filter(|operation| !written.contains(&std::ptr::from_ref(*operation))),
    );
    let indent = indentation(of.source(), statement.span.start);
    let lines: Vec<&str> = lines.lines().map(str::trim_start).collect();
    let text = lines.join(&format!("\n{indent}"));
    if whole {
        return Ok(vec![Replacement { span: statement.span, text }]);
    }
    let name = graph.tensor_name(result(graph, found)?);
    let before = Span::new(statement.span.start, statement.span.start);
    let text = format!("{text}\n{indent}");
    Ok(vec![Replacement { span: before, text }, Replacement { span: call, text: name }])
}

/// The white space before a statement on its line.
fn indentation(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// The only tensor of some operations that others, or the outputs of the graph, take.
fn result(graph: &Graph, found: &[&Operation]) -> Result<TensorId, String> {
    let inside = |operation: &Operation| found.iter().any(|one| std::ptr::eq(*one, operation));
    let mut made = vec![false; graph.tensors.len()];
    for tensor in found.iter().flat_map(|operation| graph.tensors_of(operation)) {
        made[tensor.index()] = true;
    }
    let mut taken: Vec<TensorId> = graph.outputs().iter().copied().filter(|tensor| made[tensor.index()]).collect();
    for operation in &graph.operations {
        let mut operands = Vec::new();
        graph.each_operand_tensor(operation, |tensor| operands.extend(made[tensor.index()].then_some(tensor)));
        if !operands.is_empty() && !inside(operation) {
            taken.extend(operands);
        }
    }
    taken.sort_unstable();
    taken.dedup();
    match taken[..] {
        [tensor] => Ok(tensor),
        _ => Err("its value is not a single tensor".to_owned()),
    }
}

/// Checks that the text with the replacements means the same: it has the same operations, up to inner names.
fn verified(of: &NnefText, edits: &[Replacement], before: &Graph, options: &Options) -> Result<(), String> {
    let mut text = of.source().to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.range(), &edit.text);
    }
    let (_, result) = expanded("expanded", text, options);
    match result {
        Ok((after, _)) if diff(before, &after).is_equal() => Ok(()),
        _ => Err("its statements cannot stand in its place".to_owned()),
    }
}
