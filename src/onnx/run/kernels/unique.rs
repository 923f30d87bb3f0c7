//! Distinct items or slices of a tensor.

use std::ops::Range;

use super::reduce::SortKeys;
use crate::onnx::run::node_call::{KernelResult, NodeCall};
use crate::tensor::Tensor;

/// The units of 8 bytes that a slice takes in the lists of orders, groups and results.
const UNITS: usize = 9;

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
    // A slice takes a place in these lists also where it has no items.
    call.budget.memory(count.saturating_mul(UNITS), "the slices that are compared")?;
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| compare(*a, *b));
    // Groups of equal slices, by their places in that order: slices of a group are in the order of their indices.
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (place, slice) in order.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if compare(order[group.start], *slice).is_eq() => group.end = place + 1,
            _ => groups.push(place..place + 1),
        }
    }
    let first = |group: &Range<usize>| order[group.start];
    if !sorted {
        groups.sort_by_key(first);
    }
    let mut inverse = vec![0; count];
    for (i, group) in groups.iter().enumerate() {
        order[group.clone()].iter().for_each(|slice| inverse[*slice] = i as i64);
    }
    let mut along = x.places();
    along[axis] = groups.iter().map(|group| Some(first(group))).collect();
    let list = |items: Vec<i64>| Tensor::integers(&[items.len()], items);
    Ok(vec![
        x.taken(&along, 0.0).into(),
        list(groups.iter().map(|group| first(group) as i64).collect())?.into(),
        list(inverse)?.into(),
        list(groups.iter().map(|group| group.len() as i64).collect())?.into(),
    ])
}
