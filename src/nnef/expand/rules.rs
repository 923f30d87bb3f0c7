//! Rules on the flat graph: labels, extents, constants, updates (G1 to G7).

use std::borrow::Cow;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::origin::with_origin;
use crate::graph::standard::{CONSTANT, EXTERNAL, UPDATE, VARIABLE};
use crate::graph::{Graph, Operand, Operation, OperationId, TensorId, Value};
use crate::nnef::check::Checked;
use crate::nnef::check::labels::label_problem;
use crate::source::names::Name;

/// A rule on the operations of one name.
type Rule = fn(&mut Check, &Operation);

/// The rules by operation.
const RULES: &[(&str, &[Rule])] = &[
    (EXTERNAL, &[|check, operation| check.extents(operation)]),
    (
        VARIABLE,
        &[
            |check, operation| check.extents(operation),
            |check, operation| check.label(operation),
            |check, operation| check.shared_label(operation),
        ],
    ),
    (CONSTANT, &[|check, operation| check.extents(operation), |check, operation| check.constant_length(operation)]),
    (UPDATE, &[|check, operation| check.update(operation)]),
];

struct Check<'a> {
    checked: &'a Checked<'a>,
    graph: &'a Graph,
    diagnostics: &'a mut Diagnostics,
    draft: bool,
    labels: Labels,
    updated: FxHashSet<TensorId>,
    current: OperationId,
}

/// Checks a graph.
pub(crate) fn check<'a>(checked: &'a Checked<'a>, graph: &'a Graph, diagnostics: &'a mut Diagnostics) {
    let by_kind: Vec<Option<&[Rule]>> = graph
        .kinds
        .iter()
        .map(|kind| {
            let name = graph.text_of(kind.name);
            RULES.iter().find(|(of, _)| kind.standard && *of == name).map(|(_, rules)| *rules)
        })
        .collect();
    let mut check = Check {
        checked,
        graph,
        diagnostics,
        draft: graph.dialect == Dialect::Draft,
        labels: Labels::default(),
        updated: FxHashSet::default(),
        current: OperationId::at(0),
    };
    for (i, operation) in graph.operations.iter().enumerate() {
        check.current = OperationId::at(i);
        by_kind[graph.kind_id(operation).index()].unwrap_or(&[]).iter().for_each(|rule| rule(&mut check, operation));
    }
}

/// The first variable of each label. There may be as many as operations, so texts are not kept: the
/// graph has them.
#[derive(Debug, Default)]
struct Labels {
    /// By the hashes of labels.
    known: FxHashMap<u64, OperationId>,
    /// Those whose hash is that of another label.
    others: FxHashMap<String, OperationId>,
}

impl Labels {
    /// The variable that had a label first, if there was one before. `is_label` tells whether a
    /// variable has it.
    fn first(
        &mut self,
        label: &str,
        variable: OperationId,
        is_label: impl Fn(OperationId) -> bool,
    ) -> Option<OperationId> {
        let first = *self.known.entry(FxBuildHasher.hash_one(label)).or_insert(variable);
        if first == variable {
            return None;
        }
        if is_label(first) {
            return Some(first);
        }
        let first = *self.others.entry(label.to_string()).or_insert(variable);
        (first != variable).then_some(first)
    }
}

impl<'a> Check<'a> {
    fn report(&mut self, operation: &Operation, code: Code, message: String) {
        let diagnostic = Diagnostic::new(code, operation.at, message);
        self.diagnostics.report(with_origin(self.graph, operation, diagnostic));
    }

    fn shape(&self, operation: &Operation) -> Option<&'a [i64]> {
        attribute(self.graph, operation, self.checked.words.shape).and_then(Value::as_integers)
    }

    fn label_text(&self, operation: &Operation) -> Option<&'a str> {
        text(self.graph, operation, self.checked.words.label)
    }

    /// G4: extents are positive; the draft has 0 for an extent of an external that is not known.
    fn extents(&mut self, operation: &Operation) {
        let open = self.draft && self.graph.operation_name(operation) == EXTERNAL;
        let Some(shape) = self.shape(operation) else { return };
        if let Some(extent) = shape.iter().find(|&&extent| extent < i64::from(!open)) {
            self.report(operation, Code::BadExtent, format!("extent {extent} in shape {shape:?} is not positive"));
        }
    }

    /// G1 and G2
    fn label(&mut self, operation: &Operation) {
        if self.checked.wrong_labels.contains(&operation.at) {
            return;
        }
        let dialect = self.checked.document.dialect();
        if let Some((code, message)) = self.label_text(operation).and_then(|label| label_problem(label, dialect)) {
            self.report(operation, code, message);
        }
    }

    /// G3: variables of one label share their data, so they have one shape. Labels are file
    /// names: the 1.0 text compares them without regard to case.
    fn shared_label(&mut self, operation: &Operation) {
        let (Some(label), Some(shape)) = (self.label_text(operation), self.shape(operation)) else { return };
        let (graph, draft, word) = (self.graph, self.draft, self.checked.words.label);
        let key = same_case(label, draft);
        let is_label = |other: OperationId| {
            let other = text(graph, &graph.operations[other.index()], word);
            other.is_some_and(|other| same_case(other, draft) == key)
        };
        let first = self.labels.first(&key, self.current, is_label);
        let Some(first) = first.map(|first| &graph.operations[first.index()]) else { return };
        if let Some(other) = self.shape(first).filter(|other| *other != shape) {
            let message = format!("label '{label}' has shape {shape:?} here and {other:?} before");
            let diagnostic =
                Diagnostic::new(Code::SharedLabel, operation.at, message).see(first.at, "the other variable");
            self.diagnostics.report(with_origin(graph, operation, diagnostic));
        }
    }

    /// G5: one value for each item, or one for all.
    fn constant_length(&mut self, operation: &Operation) {
        let count = match attribute(self.graph, operation, self.checked.words.value) {
            Some(Value::Integers(items)) => items.len(),
            Some(Value::Scalars(items)) => items.len(),
            Some(Value::Array(items)) => items.len(),
            _ => return,
        };
        let Some(shape) = self.shape(operation) else { return };
        let volume = shape.iter().try_fold(1i64, |volume, &extent| volume.checked_mul(extent));
        if count != 1 && volume != i64::try_from(count).ok() {
            let volume = volume.map_or("too many".to_string(), |volume| volume.to_string());
            let message = format!("a constant of shape {shape:?} has {volume} items, {count} values are given");
            self.report(operation, Code::ConstantLength, message);
        }
    }

    /// G6 and G7: a variable is updated, and once.
    fn update(&mut self, operation: &Operation) {
        let target = self.checked.words.variable.and_then(|variable| self.graph.argument_named(operation, variable));
        let Some(Operand::Tensor(target)) = target else { return };
        let producer = self.graph.tensors[target.index()].producer;
        let variable = producer
            .is_some_and(|producer| self.graph.operation_name(&self.graph.operations[producer.index()]) == VARIABLE);
        let name = self.graph.tensor_name(target);
        if !variable {
            self.report(operation, Code::UpdateTarget, format!("`{name}` is updated, but it is no variable"));
        } else if !self.updated.insert(target) {
            self.report(operation, Code::UpdatedTwice, format!("variable `{name}` is updated twice"));
        }
    }
}

fn attribute<'g>(graph: &'g Graph, operation: &Operation, name: Option<Name>) -> Option<&'g Value> {
    graph.argument_named(operation, name?)?.value()
}

fn text<'g>(graph: &'g Graph, operation: &Operation, name: Option<Name>) -> Option<&'g str> {
    match attribute(graph, operation, name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// A label in the case in which labels are compared. The draft tells cases apart.
fn same_case(label: &str, draft: bool) -> Cow<'_, str> {
    if draft || label.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(label);
    }
    Cow::Owned(label.to_lowercase())
}

#[cfg(test)]
mod tests;
