//! Combines two descriptions of values.

use super::facts::{TensorExtents, TensorFacts, ValueType};
use crate::graph::dims::Dim;

/// Two descriptions of one value: what the model declares, and what follows from its operators. Where they contradict
/// each other, what is declared counts.
pub(in crate::onnx) fn unified(found: ValueType, declared: ValueType) -> ValueType {
    match (found, declared) {
        (found, ValueType::Unknown) => found,
        (ValueType::Tensor(found), ValueType::Tensor(declared)) => ValueType::Tensor(unified_tensors(found, declared)),
        (ValueType::Sequence(found), ValueType::Sequence(declared)) => {
            ValueType::Sequence(Box::new(unified(*found, *declared)))
        }
        (ValueType::Optional(found), ValueType::Optional(declared)) => {
            ValueType::Optional(Box::new(unified(*found, *declared)))
        }
        (_, declared) => declared,
    }
}

fn unified_tensors(found: TensorFacts, declared: TensorFacts) -> TensorFacts {
    let shape = match (found.shape, declared.shape) {
        (Some(found), Some(declared)) if found.len() == declared.len() => Some(unified_extents(&found, &declared)),
        (found, declared) => declared.or(found),
    };
    TensorFacts { element: declared.element.or(found.element), shape, items: found.items }
}

fn unified_extents(found: &TensorExtents, declared: &TensorExtents) -> TensorExtents {
    if declared.iter().all(|extent| *extent == Dim::Unknown) || found == declared {
        return found.clone();
    }
    let pairs = found.iter().zip(declared.iter());
    pairs.map(|(found, declared)| found.clone().unify(declared.clone()).unwrap_or(declared.clone())).collect()
}

/// The description of a value that is one of two: only what both have.
pub(in crate::onnx) fn joined(a: &ValueType, b: &ValueType) -> ValueType {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => ValueType::Tensor(TensorFacts {
            element: a.element.filter(|element| b.element == Some(*element)),
            shape: joined_extents(a.shape.as_ref(), b.shape.as_ref()),
            items: joined_extents(a.items.as_ref(), b.items.as_ref()),
        }),
        (ValueType::Sequence(a), ValueType::Sequence(b)) => ValueType::Sequence(Box::new(joined(a, b))),
        (ValueType::Optional(a), ValueType::Optional(b)) => ValueType::Optional(Box::new(joined(a, b))),
        (ValueType::Other, ValueType::Other) => ValueType::Other,
        _ => ValueType::Unknown,
    }
}

fn joined_extents(a: Option<&TensorExtents>, b: Option<&TensorExtents>) -> Option<TensorExtents> {
    let (a, b) = (a?, b?);
    if a == b {
        return Some(a.clone());
    }
    let both = |(a, b): (&Dim, &Dim)| if a == b { a.clone() } else { Dim::Unknown };
    (a.len() == b.len()).then(|| a.iter().zip(b.iter()).map(both).collect())
}
