//! Rules on the flat graph: labels, extents, constants, updates (G1 to G7), values (H16), and graphs that a flat text
//! cannot express (A1, D1, I4).

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::values::{self, Limit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::origin::with_origin;
use crate::graph::standard::{CONSTANT, EXTERNAL, UPDATE, VARIABLE};
use crate::graph::{Graph, Operand, Operation, TensorId, Value};
use crate::nnef::check::Checked;
use crate::nnef::check::labels::label_problem;
use crate::nnef::document::ModuleId;
use crate::room::with_stack;
use crate::source::Location;
use crate::source::literals::scalar_text;
use crate::source::names::Name;

/// A rule on the operations of one name.
type ExpansionRule = for<'a> fn(&mut RuleCheck<'a>, &'a Operation);

/// The rules by operation.
const RULES: &[(&str, &[ExpansionRule])] = &[
    (EXTERNAL, &[extents, input]),
    (VARIABLE, &[extents, label, shared_label]),
    (CONSTANT, &[extents, constant_length]),
    (UPDATE, &[update]),
];

struct RuleCheck<'a> {
    checked: &'a Checked<'a>,
    graph: &'a Graph,
    diagnostics: &'a mut Diagnostics,
    draft: bool,
    inputs: FxHashSet<TensorId>,
    /// The first variable of each label.
    labels: FxHashMap<Cow<'a, str>, &'a Operation>,
    updated: FxHashSet<TensorId>,
    /// The calls whose values were reported; calls in bodies are expanded many times.
    valued: FxHashSet<Location>,
}

/// Checks a graph.
pub(crate) fn check<'a>(checked: &'a Checked<'a>, graph: &'a Graph, diagnostics: &'a mut Diagnostics) {
    let by_kind: Vec<Option<&[ExpansionRule]>> = graph
        .kinds
        .iter()
        .map(|kind| {
            let name = graph.text_of(kind.name);
            RULES.iter().find(|(of, _)| kind.standard && *of == name).map(|(_, rules)| *rules)
        })
        .collect();
    let mut check = RuleCheck {
        checked,
        graph,
        diagnostics,
        draft: graph.dialect == Dialect::Draft,
        inputs: graph.inputs.iter().copied().collect(),
        labels: FxHashMap::default(),
        updated: FxHashSet::default(),
        valued: FxHashSet::default(),
    };
    let limits: Vec<Vec<Limit>> = graph.kinds.iter().map(|kind| values::limits(graph, kind)).collect();
    for operation in &graph.operations {
        let kind = graph.kind_id(operation).index();
        by_kind[kind].unwrap_or(&[]).iter().for_each(|rule| rule(&mut check, operation));
        limits[kind].iter().for_each(|limit| check.value(operation, *limit));
    }
    non_finite(&mut check);
    undeclared(&mut check);
    replaced(&mut check);
    hidden(&mut check);
}

impl<'a> RuleCheck<'a> {
    fn report(&mut self, operation: &Operation, code: Code, message: String) {
        let diagnostic = Diagnostic::new(code, operation.at, message);
        self.diagnostics.report(with_origin(self.graph, operation, diagnostic));
    }

    /// H16: an argument has a value that the operation takes.
    fn value(&mut self, operation: &Operation, limit: Limit) {
        let Some(found) = values::check(self.graph, operation, limit, self.draft) else { return };
        // A compound of the standard gives its argument to several operations: the call outside of the standard counts.
        let standard = self.checked.document.module(ModuleId::STANDARD).file;
        let mut places = std::iter::once(operation.at).chain(self.graph.calls(operation).map(|(_, at)| at));
        if self.valued.insert(places.find(|at| at.file != standard).unwrap_or(operation.at)) {
            self.diagnostics.report(with_origin(self.graph, operation, found));
        }
    }

    fn shape(&self, operation: &Operation) -> Option<&'a [i64]> {
        attribute(self.graph, operation, self.checked.words.shape).and_then(Value::as_integers)
    }

    fn label_text(&self, operation: &Operation) -> Option<&'a str> {
        match attribute(self.graph, operation, self.checked.words.label) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// G4: extents are positive. In the draft, 0 is an unknown extent of an `external`.
fn extents<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    let external = check.graph.operation_name(operation) == EXTERNAL;
    let open = check.draft && external;
    let Some(shape) = check.shape(operation) else { return };
    if let Some(extent) = shape.iter().find(|&&extent| extent < i64::from(!open)) {
        let message = format!("extent {extent} in shape {shape:?} is not positive");
        let mut diagnostic = Diagnostic::new(Code::BadExtent, operation.at, message).label(format!("shape {shape:?}"));
        if let Some(tensor) = check.graph.tensors_of(operation).next().filter(|_| external) {
            let name = check.graph.tensor_name(tensor);
            diagnostic = diagnostic.help(format!("if it is not known, give it: `--input-shape {name}=…`"));
        }
        check.diagnostics.report(with_origin(check.graph, operation, diagnostic));
    }
}

/// I4: the result of `external` is an input. If its name is assigned twice, the last tensor is the input.
fn input<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    let graph = check.graph;
    let tensor = graph.tensors_of(operation).next();
    if let Some(tensor) = tensor.filter(|tensor| !check.draft && !check.inputs.contains(tensor)) {
        let name = graph.tensor_name(tensor);
        check.report(operation, Code::ExternalNotInput, format!("`{name}` is external but not an input of the graph"));
    }
}

/// L2: values are finite, since the language has no literal for others. One that the text writes is reported there.
fn non_finite(check: &mut RuleCheck) {
    let graph = check.graph;
    if check.diagnostics.iter().any(|known| known.code == Code::NonFiniteLiteral) {
        return;
    }
    for operation in &graph.operations {
        let values = graph.operands_of(operation).filter_map(Operand::value);
        if let Some(value) = values.filter_map(non_finite_in).next() {
            let (value, name) = (scalar_text(value), graph.operation_name(operation));
            let message = format!("an argument of `{name}` is computed as {value}, which has no literal");
            check.report(operation, Code::NonFiniteValue, message);
        }
    }
}

/// The first value that is not finite among the scalars of a value.
fn non_finite_in(value: &Value) -> Option<f64> {
    match value {
        Value::Scalar(item) => Some(*item).filter(|item| !item.is_finite()),
        Value::Scalars(items) => items.iter().copied().find(|item| !item.is_finite()),
        Value::Array(items) | Value::Tuple(items) => with_stack(|| items.iter().find_map(non_finite_in)),
        _ => None,
    }
}

/// A1: no tensor has the name of an undeclared operation, whose calls would be calls of the tensor.
fn undeclared(check: &mut RuleCheck) {
    let graph = check.graph;
    let mut names: FxHashSet<Name> = graph.kinds.iter().filter(|kind| !kind.declared).map(|kind| kind.name).collect();
    if names.is_empty() {
        return;
    }
    let tensors = graph.tensors.iter().filter_map(|tensor| graph.names.user_name(tensor.name));
    let tensors: FxHashSet<Name> = tensors.filter(|name| names.contains(name)).collect();
    names.retain(|name| tensors.contains(name));
    for operation in &graph.operations {
        let kind = graph.kind(operation);
        if !kind.declared && names.remove(&kind.name) {
            let name = graph.text_of(kind.name);
            check.report(
                operation,
                Code::CallsLocalName,
                format!("`{name}` is a tensor of the graph, not an operation"),
            );
        }
    }
}

/// D1: the graph does not have both a standard operation and its replacement, which have the same name in
/// the flat text. The standard one comes from the body of a standard compound, where the replacement is not visible.
fn replaced(check: &mut RuleCheck) {
    let graph = check.graph;
    let of_library = |standard: bool| graph.kinds.iter().filter(move |kind| kind.declared && kind.standard == standard);
    let replacements: FxHashSet<Name> = of_library(false).map(|kind| kind.name).collect();
    let mut names: FxHashSet<Name> = of_library(true).map(|kind| kind.name).collect();
    names.retain(|name| replacements.contains(name));
    if names.is_empty() {
        return;
    }
    let of = |standard| graph.operations.iter().filter(move |operation| graph.kind(operation).standard == standard);
    let used: FxHashSet<Name> = of(false).map(|operation| graph.kind(operation).name).collect();
    for operation in of(true) {
        let name = graph.kind(operation).name;
        if used.contains(&name) && names.remove(&name) {
            let name = graph.text_of(name);
            let message =
                format!("this is the standard `{name}`, and the flat graph also has an operation that replaces it");
            let help = format!("rename the replacement, or keep what expands to `{name}` with `--keep`");
            let diagnostic = Diagnostic::new(Code::BesideReplacement, operation.at, message).help(help);
            check.diagnostics.report(with_origin(graph, operation, diagnostic));
        }
    }
}

/// I6: no value is spelled like a tensor that is defined before it. In a fragment, `inf` or a dimension symbol means the
/// value whatever the names of the graph are; in the flat text it would mean the tensor.
fn hidden(check: &mut RuleCheck) {
    let graph = check.graph;
    let mut words: FxHashSet<Name> = FxHashSet::default();
    graph.each_word(|word| words.extend(graph.symbols.get(word)));
    if words.is_empty() {
        return;
    }
    let mut defined: FxHashSet<Name> = FxHashSet::default();
    for operation in &graph.operations {
        let mut found = None;
        for value in graph.operands_of(operation).filter_map(Operand::value) {
            value.each_word(&mut |word| {
                found = found.or(graph.symbols.get(word).filter(|name| defined.contains(name)));
            });
        }
        if let Some(name) = found {
            let name = graph.text_of(name);
            let message = format!("the value `{name}` would denote the tensor `{name}` in the flat graph");
            let diagnostic = Diagnostic::new(Code::HiddenByTensor, operation.at, message).help("rename the tensor");
            check.diagnostics.report(with_origin(graph, operation, diagnostic));
        }
        let results = graph.tensors_of(operation).map(|tensor| graph.tensors[tensor.index()].name);
        defined.extend(results.filter_map(|id| graph.names.user_name(id)).filter(|name| words.contains(name)));
    }
}

/// G1 and G2: labels of variables, as far as they were not checked as literals.
fn label<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    if check.checked.wrong_labels.contains(&operation.at) {
        return;
    }
    let dialect = check.checked.document.dialect();
    if let Some((code, message)) = check.label_text(operation).and_then(|label| label_problem(label, dialect)) {
        check.report(operation, code, message);
    }
}

/// G3: variables of one label share their data, so they have one shape. Labels are file
/// names: the 1.0 text compares them without regard to case.
fn shared_label<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    let (Some(label), Some(shape)) = (check.label_text(operation), check.shape(operation)) else { return };
    let first = match check.labels.entry(same_case(label, check.draft)) {
        Entry::Occupied(first) => *first.get(),
        Entry::Vacant(entry) => {
            entry.insert(operation);
            return;
        }
    };
    if let Some(other) = check.shape(first).filter(|other| *other != shape) {
        let message = format!("label '{label}' has shape {shape:?} and, before, {other:?}");
        let diagnostic = Diagnostic::new(Code::SharedLabel, operation.at, message)
            .label(format!("this has shape {shape:?}"))
            .see(first.at, format!("this has shape {other:?}"));
        check.diagnostics.report(with_origin(check.graph, operation, diagnostic));
    }
}

/// G5: one value for each item, or one for all.
fn constant_length<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    let count = match attribute(check.graph, operation, check.checked.words.value) {
        Some(Value::Integers(items)) => items.len(),
        Some(Value::Scalars(items)) => items.len(),
        Some(Value::Array(items)) => items.len(),
        _ => return,
    };
    let Some(shape) = check.shape(operation) else { return };
    let volume = shape.iter().try_fold(1i64, |volume, &extent| volume.checked_mul(extent));
    if count != 1 && volume != i64::try_from(count).ok() {
        let volume = volume.map_or("too many".to_string(), |volume| volume.to_string());
        let message = format!("a constant of shape {shape:?} has {volume} items, {count} values are given");
        check.report(operation, Code::ConstantLength, message);
    }
}

/// G6 and G7: only variables are updated, each at most once.
fn update<'a>(check: &mut RuleCheck<'a>, operation: &'a Operation) {
    let target = check.checked.words.variable.and_then(|variable| check.graph.argument_named(operation, variable));
    let Some(Operand::Tensor(target)) = target else { return };
    let producer = check.graph.tensors[target.index()].producer;
    let variable = producer
        .is_some_and(|producer| check.graph.operation_name(&check.graph.operations[producer.index()]) == VARIABLE);
    let name = check.graph.tensor_name(target);
    if !variable {
        check.report(operation, Code::UpdateTarget, format!("`{name}` is updated, but it is not a variable"));
    } else if !check.updated.insert(target) {
        check.report(operation, Code::UpdatedTwice, format!("variable `{name}` is updated twice"));
    }
}

fn attribute<'g>(graph: &'g Graph, operation: &Operation, name: Option<Name>) -> Option<&'g Value> {
    graph.argument_named(operation, name?)?.value()
}

/// A label in the letter case for comparison. The draft is case-sensitive.
fn same_case(label: &str, draft: bool) -> Cow<'_, str> {
    if draft || label.bytes().fold(true, |plain, byte| plain & byte.is_ascii() & !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(label);
    }
    Cow::Owned(label.to_lowercase())
}

#[cfg(test)]
mod tests;
