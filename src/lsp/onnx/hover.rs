//! What there is to say about a name of a model.

use super::operator::{attribute, described, function as function_named, qualified, schema, version};
use super::text::OnnxText;
use crate::dictionary::{Vocabulary, find};
use crate::lsp::analyzed::HoverText;
use crate::lsp::meaning::in_nnef;
use crate::onnx::infer::{GraphTypes, ValueType};
use crate::onnx::model::FunctionProto;
use crate::onnx::schema::{Schema, Schemas};
use crate::onnx::text::{Marked, NameRole};

/// The most operands of a node that are shown with their types.
const MOST_OPERANDS: usize = 8;

/// What there is to say about the name at an offset.
pub(super) fn hover(of: &OnnxText, offset: u32) -> Option<HoverText> {
    let names = &of.marks.names;
    let after = names.partition_point(|mark| mark.span.start <= offset);
    let mark = names.get(after.checked_sub(1)?).filter(|mark| offset <= mark.span.end)?;
    let told = |code: String, remarks: Vec<String>| Some(HoverText { span: mark.span, code, remarks });
    match mark.role {
        NameRole::Definition | NameRole::Use => told(value(of, mark), Vec::new()),
        NameRole::Operator | NameRole::Function => operator(of, mark).and_then(|(code, remarks)| told(code, remarks)),
        NameRole::Attribute => {
            let node = of.marks.operator(mark.node?)?;
            let called = names.iter().any(|other| {
                other.role == NameRole::Function && other.domain == node.domain && other.text == node.text
            });
            if called {
                return told(mark.text.clone(), vec![format!("Attribute of the function {}", node.text)]);
            }
            let schema = schema(&node.domain, &node.text, version(of.model(), function(of, mark), &node.domain))?;
            let row = schema.attributes.iter().find(|row| row.name == mark.text)?;
            told(attribute(row), vec![format!("Attribute of {}", node.text)])
        }
        NameRole::Parameter | NameRole::Reference => {
            told(format!("@{}", mark.text), vec!["Attribute of the function".to_owned()])
        }
    }
}

/// The function around a name.
pub(super) fn function<'t>(of: &'t OnnxText, mark: &Marked) -> Option<&'t FunctionProto> {
    function_of(of, mark.scope)
}

/// The function around an offset.
pub(super) fn function_at(of: &OnnxText, offset: u32) -> Option<&FunctionProto> {
    function_of(of, of.marks.scope_at(offset)?)
}

/// The function that a graph is in, or that it is.
fn function_of(of: &OnnxText, scope: usize) -> Option<&FunctionProto> {
    let index = of.marks.scopes.get(of.marks.outermost(scope))?.function?;
    of.model()?.functions.get(index)
}

/// The types of the values in a graph or a function.
fn types(of: &OnnxText, scope: usize) -> Option<&GraphTypes> {
    let found = of.marks.scopes.get(scope)?;
    let all = of.types()?;
    match (found.around, found.function) {
        (Some(around), _) => types(of, around)?.inner.get(found.place),
        (None, Some(function)) => all.functions.get(&function),
        (None, None) => Some(&all.main),
    }
}

/// The type of a value, if it is known.
pub(super) fn type_of<'t>(of: &'t OnnxText, mark: &Marked) -> Option<&'t ValueType> {
    let id = of.model()?.names.value_named(&mark.text)?;
    let mut scope = Some(mark.scope);
    // A value may be one of the graphs around.
    while let Some(at) = scope {
        if let Some(found) = types(of, at).and_then(|types| types.values.get(id)) {
            return Some(found);
        }
        scope = of.marks.scopes.get(at)?.around;
    }
    None
}

/// A value with its type and shape, as far as they are known.
fn value(of: &OnnxText, mark: &Marked) -> String {
    match type_of(of, mark) {
        Some(ty) => format!("{} {}", ty.text(), mark.text),
        None => mark.text.clone(),
    }
}

/// An operator of the standard or a function.
fn operator(of: &OnnxText, mark: &Marked) -> Option<(String, Vec<String>)> {
    if let Some(head) = function_named(&of.marks, &mark.domain, &mark.text) {
        let count = head.nodes;
        let nodes = if count == 1 { "node" } else { "nodes" };
        let remark = format!("Function of this model with {count} {nodes}");
        return Some((head.label, std::iter::once(remark).chain(here(of, mark)).collect()));
    }
    let schema = schema(&mark.domain, &mark.text, version(of.model(), function(of, mark), &mark.domain))?;
    let domain = if mark.domain.is_empty() { "ai.onnx" } else { &mark.domain };
    let old = if schema.deprecated { "; deprecated" } else { "" };
    let remark = format!("Operator of {domain} since version {}{old}", schema.version);
    let remarks = meaning(mark, schema).into_iter().chain([remark]).chain(here(of, mark)).chain(variables(schema));
    Some((described(&mark.text, schema), remarks.collect()))
}

/// What an operator computes, if the dictionary has it.
fn meaning(mark: &Marked, schema: &Schema) -> Option<String> {
    let name = qualified(&mark.domain, &mark.text);
    let row = find(Vocabulary::Foreign, &name).filter(|row| row.onnx.split_whitespace().any(|known| known == name))?;
    let operands: Vec<&str> = schema.inputs.iter().map(|input| input.name).collect();
    in_nnef(row, &operands)
}

/// The types of the operands and results of the node of an operator, if any of them is known.
fn here(of: &OnnxText, mark: &Marked) -> Option<String> {
    let node = mark.node?;
    let parts = of.marks.within(of.marks.nodes.get(node)?.span).iter().filter(|mark| mark.node == Some(node));
    let (mut operands, mut results, mut is_known) = (Vec::new(), Vec::new(), false);
    for part in parts.filter(|part| matches!(part.role, NameRole::Definition | NameRole::Use)) {
        let list = if part.role == NameRole::Definition { &mut results } else { &mut operands };
        is_known |= type_of(of, part).is_some();
        if list.len() < MOST_OPERANDS {
            list.push(value(of, part));
        } else if list.len() == MOST_OPERANDS {
            list.push("…".to_owned());
        }
    }
    is_known.then(|| format!("Here: `({}) => ({})`", operands.join(", "), results.join(", ")))
}

/// The types that the type variables of an operator stand for.
fn variables(schema: &Schema) -> Option<String> {
    let schemas = Schemas::new();
    let item = |ty: &&'static str| ty.strip_prefix("tensor(").and_then(|rest| rest.strip_suffix(')'));
    let lines = schema.variables.iter().map(|(name, set)| {
        let types: Vec<&str> = schemas.type_names(*set).collect();
        let items: Option<Vec<&str>> = types.iter().map(item).collect();
        let types = items.map_or_else(|| types.join(", "), |items| format!("tensors of {}", items.join(", ")));
        format!("{name}: {types}")
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}
