//! Distinct items or slices of a tensor.

use super::reduce::SortKeys;
use crate::onnx::run::call::{KernelResult, NodeCall};
use crate::tensor::Tensor;

/// Distinct items, or slices along an axis: the values, their first indices, the value of each item, and counts.
pub(in crate::onnx) fn unique(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.int("axis")?.map(|axis| call.axis(axis, x.rank())).transpose()?;
    let sorted = call.flag("sorted", true)?;
    let flat = x.reshaped(&[x.len()])?;
    let (x, axis) = match axis {
        Some(axis) => (Tensor::clone(x), axis),
        None => (flat, 0),
    };
    call.room(x.shape())?;
    call.budget.product(x.len(), 64)?;
    let (count, inner) = (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>());
    let outer: usize = x.shape()[..axis].iter().product();
    let keys = SortKeys::new(&x)?;
    let compare = |a: usize, b: usize| {
        let item = |slice: usize, at: usize| (at / inner * count + slice) * inner + at % inner;
        let orders = (0..outer * inner).map(|at| keys.compare(item(a, at), item(b, at)));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| compare(*a, *b));
    // Groups of equal slices: the first index of each, and how many they are.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for slice in order {
        match groups.last_mut() {
            Some(group) if compare(group[0], slice).is_eq() => group.push(slice),
            _ => groups.push(vec![slice]),
        }
    }
    if !sorted {
        groups.sort_by_key(|group| group[0]);
    }
    let mut inverse = vec![0; count];
    for (i, group) in groups.iter().enumerate() {
        group.iter().for_each(|slice| inverse[*slice] = i as i64);
    }
    let mut along = x.places();
    along[axis] = groups.iter().map(|group| Some(group[0])).collect();
    let list = |items: Vec<i64>| Tensor::integers(&[items.len()], items);
    Ok(vec![
        x.taken(&along, 0.0).into(),
        list(groups.iter().map(|group| group[0] as i64).collect())?.into(),
        list(inverse)?.into(),
        list(groups.iter().map(|group| group.len() as i64).collect())?.into(),
    ])
}
