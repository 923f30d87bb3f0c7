//! Products of matrices (H11).

use super::call::{Call, Extents, Role};
use super::elementwise::broadcast;
use super::shape::Extent;
use super::{RuleResult, ShapeError, UNKNOWN, known, refuse};
use crate::diagnostics::Code;

const CODE: Code = Code::MatmulShapes;

/// The shape of a product, batched over all but the last two axes.
fn product(name: &str, a: &[Extent], b: &[Extent], transpose: [Option<bool>; 2]) -> Result<Extents, ShapeError> {
    if a.len() != b.len() || a.len() < 2 {
        return refuse(
            CODE,
            format!("`{name}` multiplies shapes {a:?} and {b:?}: both need the same rank, at least 2"),
        );
    }
    let batch = a.len() - 2;
    // The rows and columns of a matrix once it is transposed.
    let matrix = |extents: &[Extent], transpose: Option<bool>| match transpose {
        Some(false) => [extents[batch].clone(), extents[batch + 1].clone()],
        Some(true) => [extents[batch + 1].clone(), extents[batch].clone()],
        None => [Extent::UNKNOWN; 2],
    };
    let ([rows, a_inner], [b_inner, columns]) = (matrix(a, transpose[0]), matrix(b, transpose[1]));
    if a_inner.unify(&b_inner).is_none() {
        let items = format!("rows of {a_inner:?} items with columns of {b_inner:?}");
        return refuse(CODE, format!("`{name}` multiplies {items} (shapes {a:?} and {b:?})"));
    }
    let mut extents = broadcast(name, &a[..batch], &b[..batch]).map_err(|error| ShapeError { code: CODE, ..error })?;
    extents.extend([rows, columns]);
    Ok(extents)
}

/// A product of matrices.
pub(crate) fn matmul(call: &Call) -> RuleResult {
    let (Some(a), Some(b)) = (call.extents_to(0, 2), call.extents_to(1, 2)) else { return UNKNOWN };
    known(product(call.name(), &a, &b, [Role::TransposeA, Role::TransposeB].map(|role| call.flag(role)))?)
}

/// A product with a transposed filter, and a bias.
pub(crate) fn linear(call: &Call) -> RuleResult {
    let (Some(input), Some(filter)) = (call.extents_to(0, 2), call.extents_to(1, 2)) else { return UNKNOWN };
    let output = product(call.name(), &input, &filter, [Some(false), Some(true)])?;
    let Some(bias) = call.extents(2) else { return UNKNOWN };
    known(broadcast(call.name(), &output, bias)?)
}
