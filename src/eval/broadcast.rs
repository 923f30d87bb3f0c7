//! Repetition of operands to a common shape (4.2.2). The first axes stand beside each other;
//! missing ones at the end have extent 1.

use ndarray::{ArrayD, ArrayViewD, IxDyn, Zip};

use super::budget::Budget;
use super::fault::Fault;

/// The shape that two operands are repeated to.
///
/// # Errors
///
/// Two extents differ, and neither is 1.
pub(crate) fn common(name: &str, a: &[usize], b: &[usize]) -> Result<Vec<usize>, Fault> {
    let extent = |axis: usize| {
        let at = |shape: &[usize]| shape.get(axis).copied().unwrap_or(1);
        match (at(a), at(b)) {
            (1, other) | (other, 1) => Ok(other),
            (one, other) if one == other => Ok(one),
            (one, other) => {
                let message = format!(
                    "the operands of `{name}` have shapes {a:?} and {b:?}: axis {axis} has extents {one} and {other}"
                );
                Err(Fault::shapes(message))
            }
        }
    };
    (0..a.len().max(b.len())).map(extent).collect()
}

/// A view of an array that is repeated to a shape of at least its rank.
pub(crate) fn spread<'a, T>(array: &'a ArrayD<T>, shape: &[usize]) -> Result<ArrayViewD<'a, T>, Fault> {
    let own = array.ndim();
    let missing = shape.len().saturating_sub(own);
    // ndarray adds axes in front, so the array's own axes go to the end and back.
    let first: Vec<usize> =
        shape[own.min(shape.len())..].iter().chain(&shape[..own.min(shape.len())]).copied().collect();
    let order: Vec<usize> = (missing..missing + own).chain(0..missing).collect();
    match array.broadcast(IxDyn(&first)) {
        Some(wide) if own <= shape.len() => Ok(wide.permuted_axes(IxDyn(&order))),
        _ => Err(Fault::shapes(format!("shape {:?} cannot be repeated to {shape:?}", array.shape()))),
    }
}

/// Computes item by item on two operands.
pub(crate) fn map2<A, B, C>(
    name: &str,
    budget: &Budget,
    a: &ArrayD<A>,
    b: &ArrayD<B>,
    f: impl Fn(&A, &B) -> C,
) -> Result<ArrayD<C>, Fault> {
    let shape = common(name, a.shape(), b.shape())?;
    budget.room(&shape)?;
    Ok(Zip::from(&spread(a, &shape)?).and(&spread(b, &shape)?).map_collect(f))
}

/// Computes item by item on two operands with a function that is not defined everywhere.
pub(crate) fn try_map2<A, B, C>(
    name: &str,
    budget: &Budget,
    a: &ArrayD<A>,
    b: &ArrayD<B>,
    f: impl Fn(&A, &B) -> Result<C, Fault>,
) -> Result<ArrayD<C>, Fault> {
    let shape = common(name, a.shape(), b.shape())?;
    budget.room(&shape)?;
    let (a, b) = (spread(a, &shape)?, spread(b, &shape)?);
    let items: Vec<C> = a.iter().zip(b.iter()).map(|(a, b)| f(a, b)).collect::<Result<_, _>>()?;
    Ok(super::array::array(&shape, items)?)
}
