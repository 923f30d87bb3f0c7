//! Applying the rules of a kind of operation to operations of it.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::outcome::{Inferred, ShapeError};
use super::plan::Plan;
use super::shape_call::{Call, ROLE_COUNT, ROLES};
use super::{elements, rules};
use crate::diagnostics::Code;
use crate::graph::{Graph, KindId, OperationId, TensorId};

/// The role of an attribute, by its name.
static ROLE_OF: LazyLock<FxHashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = ROLES.iter().enumerate().flat_map(|(role, names)| names.iter().map(move |name| (*name, role)));
    names.collect()
});

/// Standard fragments whose bodies in the specification violate a rule. The error is not reported, since the
/// document is not at fault.
pub(crate) const DEFECTIVE: &[(&str, Code)] = &[
    // They pool four axes with a window of two axes.
    ("avg_roi_align", Code::WindowOfSpace),
    ("max_roi_align", Code::WindowOfSpace),
];

impl Plan {
    /// The plan of a kind of operation, if there is a rule for it.
    pub(crate) fn new(graph: &Graph, kind: KindId, draft: bool) -> Option<Plan> {
        let kind = &graph.kinds[kind.index()];
        let row = graph.meaning(kind)?;
        let rule = rules::function(row.shape?);
        // Standard operations have the element types of their declarations, except in documents with registries.
        let elements = row.elements.filter(|_| !kind.standard || graph.conventions.follows);
        let follows = kind.standard && elements.is_some();
        let mut roles = [None; ROLE_COUNT];
        // In reverse order, so that the first parameter of a role takes precedence.
        for (i, param) in kind.params.iter().enumerate().rev() {
            if let Some(role) = ROLE_OF.get(graph.text_of(param.name)) {
                roles[*role] = u8::try_from(i).ok();
            }
        }
        let tensors = kind.params.iter().take_while(|param| param.tensor).count() as u8;
        let all_tensors = usize::from(tensors) == kind.params.len();
        // The element types of other operations need their rule.
        let by_item = row.is_by_item() && kind.standard && all_tensors && kind.results.len() == 1;
        Some(Plan { row, rule, roles, tensors, draft, by_item, elements, follows })
    }
}

/// Infers the shapes of an operation's results.
///
/// # Errors
///
/// The shapes of the arguments violate a rule.
pub(crate) fn infer(graph: &Graph, operation: OperationId, plan: &Plan) -> Result<Inferred, ShapeError> {
    let operation = &graph.operations[operation.index()];
    let call = Call { graph, kind: graph.kind(operation), operation, plan };
    (plan.rule)(&call)
}

/// Infers the element types and the known items of an operation's results, after their shapes were set.
pub(crate) fn infer_more(graph: &mut Graph, id: OperationId, plan: &Plan) {
    let operation = &graph.operations[id.index()];
    let is_open = |result: TensorId| plan.follows || graph.tensors[result.index()].dtype.is_none();
    let elements = plan.elements.filter(|_| graph.tensors_of(operation).any(is_open));
    if elements.is_none() && plan.row.items.is_none() {
        return;
    }
    let results: SmallVec<[TensorId; 4]> = graph.tensors_of(operation).collect();
    let call = Call { graph, kind: graph.kind(operation), operation, plan };
    let elements = elements.and_then(|rule| elements::of(rule, &call));
    let value = match (&results[..], plan.row.items) {
        ([result], Some(rule)) => call.value(rule, *result).map(|items| (*result, items)),
        _ => None,
    };
    if let Some((result, items)) = value {
        graph.values.insert(result, Arc::new(items));
        graph.tensors[result.index()].known = true;
    }
    for result in results.into_iter().filter(|_| elements.is_some()) {
        let tensor = &mut graph.tensors[result.index()];
        if tensor.dtype.is_none() || plan.follows {
            tensor.dtype = elements;
        }
    }
}
