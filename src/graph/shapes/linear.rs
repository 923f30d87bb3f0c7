//! Matrix products (H11).

use std::borrow::Cow;

use super::elementwise::broadcast;
use super::outcome::{Inferred, RuleResult, ShapeError, UNKNOWN, known, refuse};
use super::shape::{Extent, Extents, Shape};
use super::shape_call::{Call, Role};
use crate::diagnostics::Code;

const CODE: Code = Code::MatmulShapes;

/// The shape of a matrix product, batched over all axes except the last two.
fn product(name: &str, a: &[Extent], b: &[Extent], transpose: [Option<bool>; 2]) -> Result<Extents, ShapeError> {
    if a.len() != b.len() || a.len() < 2 {
        return refuse(
            CODE,
            format!("`{name}` multiplies shapes {a:?} and {b:?}: both need the same rank, at least 2"),
        );
    }
    let batch = a.len() - 2;
    let unknown = Extent::UNKNOWN;
    let ([rows, a_inner], [b_inner, columns]) =
        (rows_and_columns(&a[batch..], transpose[0], &unknown), rows_and_columns(&b[batch..], transpose[1], &unknown));
    if a_inner.unify(b_inner).is_none() {
        let items = format!("rows of {a_inner:?} items with columns of {b_inner:?}");
        return refuse(CODE, format!("`{name}` multiplies {items} (shapes {a:?} and {b:?})"));
    }
    let mut extents = broadcast(name, &a[..batch], &b[..batch]).map_err(|error| ShapeError { code: CODE, ..error })?;
    extents.push(rows.clone());
    extents.push(columns.clone());
    Ok(extents)
}

/// The numbers of rows and columns after an optional transposition; unknown if it is not known whether to transpose.
fn rows_and_columns<'e>(extents: &'e [Extent], transpose: Option<bool>, unknown: &'e Extent) -> [&'e Extent; 2] {
    match (transpose, extents) {
        (Some(false), [rows, columns]) => [rows, columns],
        (Some(true), [columns, rows]) => [rows, columns],
        _ => [unknown; 2],
    }
}

impl<'a> Call<'a> {
    /// The extents of the `i`th tensor argument; in the draft, at least two.
    fn matrix(&self, i: u32) -> Option<Cow<'a, [Extent]>> {
        let extents = self.extents(i)?;
        Some(if self.endless() { Cow::Owned(self.extended(extents, 2).into_vec()) } else { Cow::Borrowed(extents) })
    }
}

/// A matrix product.
pub(crate) fn matmul(call: &Call) -> RuleResult {
    let (Some(a), Some(b)) = (call.matrix(0), call.matrix(1)) else { return UNKNOWN };
    known(product(call.name(), &a, &b, [Role::TransposeA, Role::TransposeB].map(|role| call.flag(role)))?)
}

/// A matrix product with a transposed filter, plus a bias.
pub(crate) fn linear(call: &Call) -> RuleResult {
    let (Some(input), Some(filter)) = (call.matrix(0), call.matrix(1)) else { return UNKNOWN };
    let output = product(call.name(), &input, &filter, [Some(false), Some(true)])?;
    let Some(bias) = call.extents(2) else { return UNKNOWN };
    let extents = match broadcast(call.name(), &output, bias) {
        Ok(extents) => extents,
        // Whatever the bias should be, the product has a shape.
        Err(error) if bias.len() <= output.len() => {
            return Err(ShapeError { results: Inferred::Same(Some(Shape::new(&output))), ..error });
        }
        Err(error) => return Err(error),
    };
    if let [items] = bias
        && items.known() != Some(1)
        && !call.graph.conventions.follows
    {
        // The first axes of operands are aligned with each other.
        let message = format!("the bias has shape {bias:?}: it is added along the batch; one along channels is [1, C]");
        let results = Inferred::Same(Some(Shape::new(&extents)));
        return Err(ShapeError { code: Code::BiasAlongBatch, message, results });
    }
    known(extents)
}
