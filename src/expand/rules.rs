//! Rules on the flat graph: labels, extents, constants, updates (G1 to G7).

use rustc_hash::{FxHashMap, FxHashSet};

use super::trace;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::{Graph, Operand, Operation, OperationId, TensorId, Value};
use crate::nnef::check::Checked;
use crate::nnef::check::labels::label_problem;
use crate::nnef::dialect::Dialect;
use crate::nnef::standard::{CONSTANT, EXTERNAL, UPDATE, VARIABLE};

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
    labels: FxHashMap<String, (OperationId, Vec<i64>)>,
    updated: FxHashSet<TensorId>,
    current: OperationId,
}

/// Checks a graph.
pub fn check<'a>(checked: &'a Checked<'a>, graph: &'a Graph, diagnostics: &'a mut Diagnostics) {
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
        labels: FxHashMap::default(),
        updated: FxHashSet::default(),
        current: OperationId::at(0),
    };
    for (i, operation) in graph.operations.iter().enumerate() {
        check.current = OperationId::at(i);
        by_kind[graph.kind_id(operation).index()].unwrap_or(&[]).iter().for_each(|rule| rule(&mut check, operation));
    }
}

/// Adds the calls around an operation to a diagnostic.
pub(crate) fn with_origin(graph: &Graph, operation: &Operation, mut diagnostic: Diagnostic) -> Diagnostic {
    let mut chain = Vec::new();
    let mut next = operation.origin;
    while let Some(origin) = graph.origin(next) {
        chain.push(origin);
        next = origin.parent;
    }
    trace::attach(&mut diagnostic, chain.len(), |i| (graph.text_of(chain[i].fragment).to_string(), chain[i].at));
    diagnostic
}

impl Check<'_> {
    fn report(&mut self, operation: &Operation, code: Code, message: String) {
        let diagnostic = Diagnostic::new(code, operation.at, message);
        self.diagnostics.report(with_origin(self.graph, operation, diagnostic));
    }

    fn shape(&self, operation: &Operation) -> Option<Vec<i64>> {
        self.graph.attribute(operation, "shape").and_then(Value::as_integers).map(<[i64]>::to_vec)
    }

    /// G4: extents are positive; the draft has 0 for an extent of an external that is not known.
    fn extents(&mut self, operation: &Operation) {
        let open = self.draft && self.graph.operation_name(operation) == EXTERNAL;
        let Some(shape) = self.shape(operation) else { return };
        if let Some(extent) = shape.iter().find(|&&extent| extent < i64::from(!open)) {
            self.report(operation, Code::BadExtent, format!("extent {extent} in shape {shape:?} is not positive"));
        }
    }

    fn label_text(&self, operation: &Operation) -> Option<String> {
        match self.graph.attribute(operation, "label") {
            Some(Value::String(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// G1 and G2
    fn label(&mut self, operation: &Operation) {
        if self.checked.wrong_labels.contains(&operation.at) {
            return;
        }
        let problem =
            self.label_text(operation).and_then(|label| label_problem(&label, self.checked.document.dialect()));
        if let Some((code, message)) = problem {
            self.report(operation, code, message);
        }
    }

    /// G3: variables of one label share their data, so they have one shape. Labels are file
    /// names: the 1.0 text compares them without regard to case.
    fn shared_label(&mut self, operation: &Operation) {
        let (Some(label), Some(shape)) = (self.label_text(operation), self.shape(operation)) else { return };
        let key = if self.draft { label.clone() } else { label.to_lowercase() };
        let Some((first, other)) = self.labels.get(&key) else {
            self.labels.insert(key, (self.current, shape));
            return;
        };
        if *other != shape {
            let message = format!("label '{label}' has shape {shape:?} here and {other:?} before");
            let see = self.graph.operations[first.index()].at;
            let diagnostic = Diagnostic::new(Code::SharedLabel, operation.at, message).see(see, "the other variable");
            self.diagnostics.report(with_origin(self.graph, operation, diagnostic));
        }
    }

    /// G5: one value for each item, or one for all.
    fn constant_length(&mut self, operation: &Operation) {
        let count = match self.graph.attribute(operation, "value") {
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
        let Some(Operand::Tensor(target)) = self.graph.argument(operation, "variable") else { return };
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
