//! What there is to say about a name of a model.

use super::operator::{attribute, described, header, schema, version};
use super::text::OnnxText;
use crate::lsp::analyzed::HoverText;
use crate::onnx::infer::GraphTypes;
use crate::onnx::model::FunctionProto;
use crate::onnx::text::{Marked, NameRole};

/// What there is to say about the name at an offset.
pub(super) fn hover(of: &OnnxText, offset: u32) -> Option<HoverText> {
    let names = &of.marks.names;
    let after = names.partition_point(|mark| mark.span.start <= offset);
    let mark = names.get(after.checked_sub(1)?).filter(|mark| offset <= mark.span.end)?;
    let told = |code: String, remarks: Vec<String>| Some(HoverText { span: mark.span, code, remarks });
    match mark.role {
        NameRole::Definition | NameRole::Use => told(value(of, mark), Vec::new()),
        NameRole::Operator | NameRole::Function => {
            operator(of, mark).and_then(|(code, remark)| told(code, vec![remark]))
        }
        NameRole::Attribute => {
            let node = names.get(mark.node?)?;
            let called = names.iter().any(|other| {
                other.role == NameRole::Function && other.domain == node.domain && other.text == node.text
            });
            if called {
                return told(mark.text.clone(), vec![format!("Attribute of the function {}", node.text)]);
            }
            let schema = schema((&node.domain, &node.text), version(of.model(), function(of, mark), &node.domain))?;
            let row = schema.attributes.iter().find(|row| row.name == mark.text)?;
            told(attribute(row), vec![format!("Attribute of {}", node.text)])
        }
        NameRole::Parameter | NameRole::Reference => {
            told(format!("@{}", mark.text), vec!["Attribute of the function".to_owned()])
        }
    }
}

/// The position of the function around a name among the functions.
fn function_index(of: &OnnxText, mark: &Marked) -> Option<usize> {
    let scopes = &of.marks.scopes;
    let mut scope = mark.scope;
    while let Some(around) = scopes.get(scope)?.around {
        scope = around;
    }
    let is_function = scopes.get(scope)?.is_function;
    is_function.then(|| scopes.iter().take(scope).filter(|scope| scope.is_function).count())
}

/// The function around a name.
pub(super) fn function<'t>(of: &'t OnnxText, mark: &Marked) -> Option<&'t FunctionProto> {
    of.model()?.functions.get(function_index(of, mark)?)
}

/// The types of the values in the graph or function around a name.
fn types<'t>(of: &'t OnnxText, scope: usize, mark: &Marked) -> Option<&'t GraphTypes> {
    let found = of.marks.scopes.get(scope)?;
    let all = of.types()?;
    match (found.around, found.is_function) {
        (Some(around), _) => types(of, around, mark)?.inner.get(found.place),
        (None, true) => all.functions.get(&function_index(of, mark)?),
        (None, false) => Some(&all.main),
    }
}

/// A value with its type and shape, as far as they are known.
fn value(of: &OnnxText, mark: &Marked) -> String {
    let known = of.model().and_then(|model| {
        let id = model.names.value_named(&mark.text)?;
        let mut scope = Some(mark.scope);
        // A value may be one of the graphs around.
        while let Some(at) = scope {
            if let Some(found) = types(of, at, mark).and_then(|types| types.values.get(id)) {
                return Some(found.text());
            }
            scope = of.marks.scopes.get(at)?.around;
        }
        None
    });
    match known {
        Some(ty) => format!("{ty} {}", mark.text),
        None => mark.text.clone(),
    }
}

/// An operator of the standard or a function.
fn operator(of: &OnnxText, mark: &Marked) -> Option<(String, String)> {
    let names = of.model().map(|model| &model.names);
    let named = names.zip(of.model()).and_then(|(names, model)| {
        let text = |name: Option<crate::source::names::Name>| name.map_or("", |name| names.texts.text(name));
        model
            .functions
            .iter()
            .find(|known| text(known.name) == mark.text && text(known.domain) == mark.domain)
            .map(|found| (names, found))
    });
    if let Some((names, function)) = named {
        let count = function.nodes.len();
        let nodes = if count == 1 { "node" } else { "nodes" };
        return Some((header(names, function), format!("Function of this model with {count} {nodes}")));
    }
    let schema = schema((&mark.domain, &mark.text), version(of.model(), function(of, mark), &mark.domain))?;
    let domain = if mark.domain.is_empty() { "ai.onnx" } else { &mark.domain };
    let old = if schema.deprecated { "; deprecated" } else { "" };
    Some((described(&mark.text, schema), format!("Operator of {domain} since version {}{old}", schema.version)))
}
