//! What a rule finds: the shapes of the results, or the violation of a rule.

use smallvec::smallvec;

use super::shape::{Extent, Extents, Shape};
use crate::diagnostics::Code;

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
    pub(super) fn but(self, shape: Option<Shape>) -> Self {
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

pub(super) type RuleResult = Result<Inferred, ShapeError>;

/// All shapes are unknown.
pub(super) const UNKNOWN: RuleResult = Ok(Inferred::UNKNOWN);

/// All results have these extents.
pub(super) fn known(extents: Extents) -> RuleResult {
    Ok(Inferred::Same(Some(Shape::from(extents))))
}

/// All results have these extents, if the rank is known.
pub(super) fn same(extents: Option<Extents>) -> RuleResult {
    extents.map_or(UNKNOWN, known)
}

/// All results have this rank, if it is known, and unknown extents.
pub(super) fn of_rank(rank: Option<usize>) -> RuleResult {
    same(rank.map(|rank| smallvec![Extent::UNKNOWN; rank]))
}

/// A violation of a rule, with unknown results.
pub(super) fn refuse<T>(code: Code, message: String) -> Result<T, ShapeError> {
    Err(ShapeError { code, message, results: Inferred::UNKNOWN })
}
