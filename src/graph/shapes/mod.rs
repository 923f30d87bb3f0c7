//! Shape inference: a rule for each standard operation of both dialects.
//!
//! The rule of an operation computes the shapes of its results from those of its arguments, and checks that the
//! arguments are compatible. Extents and ranks can be unknown: what depends on them is unknown too, and never
//! an error. The rule of a kind of operation is looked up once, with the positions of the attributes that rules
//! use ([`Plan`]).

mod axes;
mod call;
mod convolution;
mod einsum;
mod elements;
mod elementwise;
mod layout;
mod linear;
mod pooling;
mod reduction;
mod registry;
mod roi;
mod rules;
mod sections;
mod selection;
mod shape;
mod sources;
mod stored;
#[cfg(test)]
mod tests;
mod values;
mod window;

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Graph, KindId, OperationId, TensorId};
use crate::diagnostics::Code;
use crate::dictionary::{ElementRule, Row};
use call::{Call, Extents, ROLE_COUNT, ROLES};
pub(crate) use einsum::Einsum;
pub use shape::Extent;
pub use shape::Shape;
#[cfg(feature = "eval")]
pub(crate) use values::Item;
pub(crate) use values::Items;

/// The violation of a shape rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeError {
    /// The rule.
    pub(crate) code: Code,
    /// The message.
    pub(crate) message: String,
    /// The shapes of the results that are known in spite of the error.
    pub(crate) results: Inferred,
}

impl ShapeError {
    /// Adds a shape of all results that is known in spite of the error.
    fn but(self, shape: Option<Shape>) -> Self {
        ShapeError { results: Inferred::Same(shape), ..self }
    }
}

/// The shapes of the tensors in the results of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inferred {
    /// All tensors have this shape; none if it is unknown.
    Same(Option<Shape>),
    /// The shape of each tensor.
    Each(Vec<Option<Shape>>),
}

impl Inferred {
    /// All shapes are unknown.
    pub(crate) const UNKNOWN: Inferred = Inferred::Same(None);

    /// The shape of the only tensor.
    pub(crate) fn into_first(self) -> Option<Shape> {
        match self {
            Inferred::Same(shape) => shape,
            Inferred::Each(shapes) => shapes.into_iter().next().flatten(),
        }
    }

    /// The shape of the `i`th tensor.
    pub(crate) fn get(&self, i: usize) -> Option<Shape> {
        match self {
            Inferred::Same(shape) => shape.clone(),
            Inferred::Each(shapes) => shapes.get(i).cloned().flatten(),
        }
    }
}

type RuleResult = Result<Inferred, ShapeError>;

/// All shapes are unknown.
const UNKNOWN: RuleResult = Ok(Inferred::UNKNOWN);

/// All results have these extents.
fn known(extents: Extents) -> RuleResult {
    Ok(Inferred::Same(Some(Shape::from(extents))))
}

/// All results have these extents, if the rank is known.
fn same(extents: Option<Extents>) -> RuleResult {
    extents.map_or(UNKNOWN, known)
}

/// All results have this rank, if it is known, and unknown extents.
fn of_rank(rank: Option<usize>) -> RuleResult {
    same(rank.map(|rank| smallvec![Extent::UNKNOWN; rank]))
}

/// A violation of a rule, with unknown results.
fn refuse<T>(code: Code, message: String) -> Result<T, ShapeError> {
    Err(ShapeError { code, message, results: Inferred::UNKNOWN })
}

type Rule = fn(&Call) -> RuleResult;

/// The role of an attribute, by its name.
static ROLE_OF: LazyLock<FxHashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = ROLES.iter().enumerate().flat_map(|(role, names)| names.iter().map(move |name| (*name, role)));
    names.collect()
});

/// Standard fragments whose bodies in the specification violate a rule. The error is not reported, since the
/// document is not at fault; the shapes become unknown.
pub(crate) const DEFECTIVE: &[(&str, Code)] = &[
    // They pool four axes with a window of two axes.
    ("avg_roi_align", Code::WindowOfSpace),
    ("max_roi_align", Code::WindowOfSpace),
];

/// The rules of a kind of operation, and the positions of its attributes among its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    row: &'static Row,
    rule: Rule,
    roles: [Option<u8>; ROLE_COUNT],
    tensors: u8,
    draft: bool,
    /// Whether operations of the kind are elementwise, with only tensor parameters and one result.
    by_item: bool,
    /// The rule for the element type of results without a declared one.
    elements: Option<ElementRule>,
    /// Whether that rule takes precedence over a declared element type.
    follows: bool,
}

impl Plan {
    /// Whether the result has the shape of the operands if all of them have one shape.
    pub(crate) fn is_by_item(&self) -> bool {
        self.by_item
    }

    /// Whether the element type of results follows the operands, regardless of the declaration.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

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
