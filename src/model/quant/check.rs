//! Checks quantizations: names of tensors (G9), algorithms, arguments.

use rustc_hash::FxHashMap;

use super::entries::{Literal, QuantArgument, QuantEntry, Quantization};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::graph::Primitive;
use crate::graph::{Extent, Graph, Shape, TensorId};
use crate::nnef::ast::{Ast, Element, Fragment, TypeSpec, TypeSpecId};
use crate::nnef::document::Document;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// Checks entries against a flat graph and the operations of its document. Returns the tensor of each entry, if the
/// graph has it.
pub(crate) fn check(
    quantization: &Quantization,
    file: FileId,
    document: &Document,
    graph: &Graph,
    diagnostics: &mut Diagnostics,
) -> Vec<Option<TensorId>> {
    let tensors = tensors(quantization, graph);
    // A fragment of a later module replaces those of earlier ones.
    let algorithms = document
        .modules()
        .iter()
        .flat_map(|module| module.fragments.iter().rev().map(|fragment| (fragment.name.name, (&module.ast, fragment))));
    let mut check = QuantizationCheck { file, document, graph, algorithms: algorithms.collect(), diagnostics };
    let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
    let mut found_tensors = Vec::with_capacity(quantization.entries.len());
    for entry in &quantization.entries {
        if let Some(first) = seen.insert(&entry.tensor, entry.tensor_at) {
            let message = format!("the quantization of `{}` is given twice", entry.tensor);
            let at = Location::new(file, entry.tensor_at);
            let found = Diagnostic::new(Code::QuantDuplicate, at, message);
            check.diagnostics.report(found.see(Location::new(file, first), "the first time"));
        }
        let tensor = tensors.get(entry.tensor.as_str()).copied().flatten();
        found_tensors.push(tensor);
        match tensor {
            Some(_) if entry.instead.as_deref() == Some("") => {}
            Some(tensor) => check.algorithm(entry, tensor),
            None => check.unknown_tensor(entry),
        }
    }
    found_tensors
}

/// The tensors with the names in the entries.
fn tensors<'q>(quantization: &'q Quantization, graph: &Graph) -> FxHashMap<&'q str, Option<TensorId>> {
    let mut found: FxHashMap<&str, Option<TensorId>> =
        quantization.entries.iter().map(|entry| (entry.tensor.as_str(), None)).collect();
    if found.is_empty() {
        return found;
    }
    let mut name = String::new();
    for (i, tensor) in graph.tensors.iter().enumerate() {
        name.clear();
        graph.names.write(&graph.symbols, tensor.name, &mut name);
        if let Some(slot) = found.get_mut(name.as_str()) {
            *slot = Some(TensorId(i as u32));
        }
    }
    found
}

struct QuantizationCheck<'a> {
    file: FileId,
    document: &'a Document,
    graph: &'a Graph,
    /// The operations that are declared.
    algorithms: FxHashMap<Name, (&'a Ast, &'a Fragment)>,
    diagnostics: &'a mut Diagnostics,
}

impl QuantizationCheck<'_> {
    /// Reports a diagnostic; `help` is called only if it is shown.
    fn report(&mut self, code: Code, at: Span, message: String, help: impl FnOnce() -> Option<String>) {
        let help = if self.diagnostics.is_frequent(code) { None } else { help() };
        let found = Diagnostic::new(code, Location::new(self.file, at), message);
        self.diagnostics.report(found.help_if(help));
    }

    /// Reports a name that is not the name of a tensor (G9).
    fn unknown_tensor(&mut self, entry: &QuantEntry) {
        let graph = self.graph;
        let help = || {
            let tensors = 0..graph.tensors.len().min(suggest::MAX_KNOWN);
            let names: Vec<String> = tensors.map(|i| graph.tensor_name(TensorId(i as u32))).collect();
            suggest::did_you_mean(&entry.tensor, names.iter().map(String::as_str))
        };
        let message = format!("the flat graph has no tensor `{}`; its quantization is left out", entry.tensor);
        self.report(Code::QuantTensor, entry.tensor_at, message, help);
    }

    fn algorithm(&mut self, entry: &QuantEntry, tensor: TensorId) {
        let document = self.document;
        let name = document.names().get(&entry.algorithm);
        let found = name.and_then(|name| self.algorithms.get(&name)).filter(|(ast, fragment)| {
            let first = fragment.params.first().map(|param| ast.type_spec(param.ty));
            matches!(first, Some(TypeSpec::Tensor(_)))
        });
        let Some(&(ast, fragment)) = found else {
            let message = format!("`{}` is not a declared operation on a tensor", entry.algorithm);
            let help = || {
                let names = document.modules().iter().flat_map(|module| &module.fragments);
                suggest::did_you_mean(&entry.algorithm, names.map(|one| document.names().text(one.name.name)))
            };
            return self.report(Code::QuantAlgorithm, entry.algorithm_at, message, help);
        };
        // The first parameter is the tensor itself.
        let params: Vec<(&str, TypeSpecId, bool)> = fragment.params[1..]
            .iter()
            .map(|param| (document.names().text(param.name.name), param.ty, param.default.is_some()))
            .collect();
        let mut problems: Vec<(Span, String, Option<String>)> = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        for argument in &entry.arguments {
            let name = argument.name.as_str();
            match params.iter().find(|(param, ..)| *param == name) {
                None => {
                    // An unknown parameter may be a misspelt one, which is then not reported as missing.
                    let near = suggest::nearest(name, params.iter().map(|(param, ..)| *param));
                    given.extend(near);
                    let help = near.map(|near| format!("did you mean `{near}`?"));
                    problems.push((argument.at, format!("`{}` has no parameter `{name}`", entry.algorithm), help));
                }
                Some(_) if given.contains(&name) => {
                    problems.push((argument.at, format!("`{name}` is given twice"), None));
                }
                Some((_, ty, _)) => {
                    given.push(name);
                    let problem = self.value(ast, *ty, argument, tensor);
                    problems.extend(problem.map(|problem| (argument.value_at, problem, None)));
                }
            }
        }
        let missing = params.iter().filter(|(param, _, default)| !default && !given.contains(param));
        let missing: Vec<String> = missing.map(|(param, ..)| format!("`{param}`")).collect();
        if !missing.is_empty() {
            let message = format!("`{}` lacks the argument {}", entry.algorithm, missing.join(", "));
            problems.push((entry.algorithm_at, message, None));
        }
        for (at, message, help) in problems {
            self.report(Code::QuantArgument, at, message, || help);
        }
    }

    /// The error in the value of an argument, if there is one.
    fn value(&self, ast: &Ast, ty: TypeSpecId, argument: &QuantArgument, tensor: TensorId) -> Option<String> {
        let (name, value) = (&argument.name, &argument.value);
        let (primitive, channels) = match ast.type_spec(ty) {
            TypeSpec::Primitive(primitive) => (primitive, false),
            TypeSpec::Tensor(Element::Of(primitive)) => (primitive, true),
            _ => return None,
        };
        let Some(extents) = extents(value).filter(|extents| channels || extents.is_empty()) else {
            let what = if channels { "an array whose rows have one length" } else { "a single value" };
            return Some(format!("`{name}` must be {what}"));
        };
        if !items(value, primitive) {
            return Some(format!("`{name}` must be of type {}", primitive.text()));
        }
        if mixes(value) {
            return Some(format!("the items of `{name}` must be of one type; write `1.0` instead of `1`"));
        }
        let shape = self.graph.shape(tensor)?;
        if fits(&extents, shape) {
            return None;
        }
        let message = format!("`{name}` has shape {extents:?}, which does not fit a tensor of shape {shape:?}");
        Some(match channel_axis(value, shape) {
            Some(axis) => format!("{message}: it is read as one value for each item along axis {axis}"),
            None => message,
        })
    }
}

/// Whether an array can be repeated to the shape of a tensor, from its first axis on.
fn fits(extents: &[usize], shape: &Shape) -> bool {
    let fits = |(&count, extent): (&usize, &Extent)| {
        count == 1 || extent.known().is_none_or(|extent| usize::try_from(extent) == Ok(count))
    };
    // More axes, even with one item each, would change the rank of the tensor.
    extents.len() <= shape.extents().len() && extents.iter().zip(shape.extents()).all(fits)
}

/// The axis that a list of values belongs to, if it does not fit the first axes of a tensor. A converter writes the
/// values of channels as a list, for any axis: it is the only axis of that extent, or else that of the channels.
pub(super) fn channel_axis(value: &Literal, shape: &Shape) -> Option<usize> {
    let extents = extents(value)?;
    let [count] = extents[..] else { return None };
    if fits(&extents, shape) {
        return None;
    }
    let has_count =
        |axis: &usize| shape.extents()[*axis].known().and_then(|extent| usize::try_from(extent).ok()) == Some(count);
    let axes: Vec<usize> = (0..shape.rank()).filter(has_count).collect();
    match axes[..] {
        [axis] => Some(axis),
        _ => axes.contains(&1).then_some(1),
    }
}

/// The shape of nested arrays; none if rows differ in length.
fn extents(value: &Literal) -> Option<Vec<usize>> {
    let Literal::Array(items) = value else { return Some(Vec::new()) };
    let mut rows = items.iter().map(extents);
    let first = rows.next().unwrap_or(Some(Vec::new()))?;
    rows.all(|row| row.as_ref() == Some(&first)).then(|| [vec![items.len()], first].concat())
}

/// Whether all items have a type. Integers are valid scalars.
fn items(value: &Literal, wanted: Primitive) -> bool {
    match (value, wanted) {
        (Literal::Array(rows), wanted) => rows.iter().all(|row| items(row, wanted)),
        (Literal::Integer(_), Primitive::Integer | Primitive::Scalar)
        | (Literal::Scalar(_), Primitive::Scalar)
        | (Literal::Logical(_), Primitive::Logical)
        | (Literal::String(_), Primitive::String) => true,
        _ => false,
    }
}

/// Whether a value contains both integers and scalars, which no array of the language does.
fn mixes(value: &Literal) -> bool {
    fn has(value: &Literal, kind: fn(&Literal) -> bool) -> bool {
        match value {
            Literal::Array(rows) => rows.iter().any(|row| has(row, kind)),
            item => kind(item),
        }
    }
    has(value, |item| matches!(item, Literal::Integer(_))) && has(value, |item| matches!(item, Literal::Scalar(_)))
}
