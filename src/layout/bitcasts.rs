//! Removes reshapes and transposes that move nothing.
//!
//! Operations are defined on row-major order, whatever the layouts of the tensors. Along a chain of reshapes and
//! transposes, the pass expresses each tensor as a layout of the memory of the chain's first tensor, the root. If
//! that layout is row-major, the tensor is the root or a reshape of it; if it is a permutation, one transpose of it.
//! Declared layouts determine which operations move data; a tensor whose declared layout differs from its root's is
//! kept.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::axes::permuted_axes;
use crate::Graph;
use crate::graph::standard::COPY;
use crate::graph::{Argument, Dialect, Key, Kind, Operation, Output, TensorId, Value};
use crate::library::build::declared;
use crate::tensor::{ArrayShape, DType, ElementType};

/// The maximum number of rounds: operations joined in one round may turn out to be bitcasts in the next. Usually two.
const MAX_ROUNDS: usize = 8;

/// The movements in a graph before and after the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// The number of `reshape`, `transpose`, `squeeze` and `unsqueeze` operations before and after.
    pub(crate) operations: (usize, usize),
    /// The size of the results of operations that move items, before and after: four bytes for an item.
    pub(crate) moved: (u64, u64),
}

impl Removed {
    /// The message for the user.
    pub(crate) fn told(&self) -> String {
        let ((before, after), (moved, moves)) = (self.operations, self.moved);
        format!("reshapes and transposes: {before} before, {after} after; bytes moved: {moved} before, {moves} after")
    }
}

/// A tensor as a layout of the memory of another tensor, its root.
#[derive(Clone)]
struct View {
    root: TensorId,
    /// The shape of the tensor, with the layout of the root's memory.
    shape: ArrayShape,
}

/// The replacement of an operation.
enum Change {
    Keep,
    /// The result is replaced by another tensor.
    Alias(TensorId),
    /// The result is a copy of another tensor: it is an output, or has another layout.
    Copy(TensorId),
    Reshape(TensorId, Vec<i64>),
    Transpose(TensorId, Vec<i64>),
}

impl Graph {
    /// Removes reshapes and transposes that move nothing, and joins chains of others. Inputs and outputs are kept;
    /// intermediate tensors of removed operations are removed with their names.
    pub(crate) fn remove_bitcasts(&mut self) -> Removed {
        let mut removed = Removed::default();
        (removed.operations.0, removed.moved.0) = self.movements();
        for _ in 0..MAX_ROUNDS {
            let changes = changes(self);
            if self.dialect != Dialect::V1 || changes.iter().all(|change| matches!(change, Change::Keep)) {
                break;
            }
            rewrite(self, &changes);
            self.drop_unused_movements();
        }
        (removed.operations.1, removed.moved.1) = self.movements();
        removed
    }

    /// The number of rearranging operations, and the bytes that they move.
    fn movements(&self) -> (usize, u64) {
        let (mut count, mut bytes) = (0, 0u64);
        for operation in self.operations.iter().filter(|operation| rearranges(self, operation)) {
            count += 1;
            let Some((operand, result)) = sides(self, operation) else { continue };
            let array = |tensor| self.array_of(tensor, ElementType::from(DType::Float32));
            let (Some(from), Some(to)) = (array(operand), array(result)) else { continue };
            let free = match permuted_axes(self, operation, from.rank()) {
                Some(axes) => from.transpose_is_bitcast(&to, &axes),
                None => from.reshape_is_bitcast(&to),
            };
            bytes = bytes.saturating_add(if free == Ok(true) { 0 } else { to.element_bytes().unwrap_or(0) });
        }
        (count, bytes)
    }

    /// Removes rearranging operations whose results nothing uses.
    fn drop_unused_movements(&mut self) {
        let mut used = self.marked(&self.outputs);
        let mut needed = vec![true; self.operations.len()];
        for (needed, operation) in needed.iter_mut().zip(&self.operations).rev() {
            *needed = !rearranges(self, operation) || self.tensors_of(operation).any(|tensor| used[tensor.index()]);
            if *needed {
                self.operands_of(operation)
                    .for_each(|value| value.each_tensor(&mut |tensor| used[tensor.index()] = true));
            }
        }
        crate::graph::prune::keep(self, &needed);
    }
}

fn rearranges(graph: &Graph, operation: &Operation) -> bool {
    let standard = graph.kind(operation).standard;
    standard && ["reshape", "transpose", "squeeze", "unsqueeze"].contains(&graph.operation_name(operation))
}

/// The operand and the result.
fn sides(graph: &Graph, operation: &Operation) -> Option<(TensorId, TensorId)> {
    let Value::Tensor(operand) = graph.operands_of(operation).next()?.to_value() else { return None };
    Some((operand, graph.tensors_of(operation).next()?))
}

/// A view of a tensor whose root is the tensor itself; none if its shape is unknown or it is empty.
fn view(graph: &Graph, tensor: TensorId) -> Option<View> {
    let sizes: Option<Vec<u64>> = graph.shape(tensor)?.known()?.iter().map(|size| u64::try_from(*size).ok()).collect();
    let sizes = sizes.filter(|sizes| !sizes.contains(&0))?;
    let shape = ArrayShape::new(ElementType::from(DType::Float32), &sizes);
    shape.elements().ok()?;
    Some(View { root: tensor, shape })
}

fn sizes(shape: &ArrayShape) -> Vec<u64> {
    shape.dims().iter().filter_map(|dimension| dimension.size()).collect()
}

fn changes(graph: &Graph) -> Vec<Change> {
    // For each tensor, its views: of the root of its chain, and of the last tensor in the chain whose items were moved.
    let mut views: Vec<Vec<View>> = vec![Vec::new(); graph.tensors.len()];
    let outputs: FxHashSet<TensorId> = graph.outputs.iter().copied().collect();
    let change = |operation: &Operation| {
        let sides = sides(graph, operation).filter(|_| rearranges(graph, operation));
        let Some((operand, result)) = sides else { return Change::Keep };
        let before = &views[operand.index()];
        let before = if before.is_empty() { Vec::from_iter(view(graph, operand)) } else { before.clone() };
        let Some(own) = view(graph, result) else { return Change::Keep };
        let after = |before: View| {
            let shape = match permuted_axes(graph, operation, before.shape.rank()) {
                Some(axes) => before.shape.permuted(&axes).ok(),
                None => before.shape.align_layout(&sizes(&own.shape)).ok().flatten(),
            };
            Some(View { root: before.root, shape: shape? })
        };
        let mut after: Vec<View> = before.into_iter().filter_map(after).collect();
        if let Some(change) = free(graph, operation, operand, result, outputs.contains(&result), &after, &own) {
            views[result.index()] = after;
            return change;
        }
        let change = transposed(graph, operation, operand, &after);
        after.truncate(1);
        after.push(own);
        views[result.index()] = after;
        change
    };
    graph.operations.iter().map(change).collect()
}

/// The replacement of an operation that moves nothing; none if it moves items.
fn free(
    graph: &Graph,
    operation: &Operation,
    operand: TensorId,
    result: TensorId,
    is_output: bool,
    after: &[View],
    own: &View,
) -> Option<Change> {
    let found = after.iter().find(|view| view.shape.reshape_is_bitcast(&own.shape) == Ok(true))?;
    let root = view(graph, found.root)?;
    let other = graph.layout(result).is_some_and(|layout| graph.layout(found.root) != Some(layout));
    Some(match (root.shape == own.shape, other || is_output) {
        (true, false) => Change::Alias(found.root),
        (true, true) => Change::Copy(found.root),
        (false, _) if operand == found.root && graph.operation_name(operation) != "transpose" => Change::Keep,
        (false, _) => Change::Reshape(found.root, sizes(&own.shape).iter().map(|size| *size as i64).collect()),
    })
}

/// The replacement of an operation that moves items: a single transpose of a root, if that is equivalent.
fn transposed(graph: &Graph, operation: &Operation, operand: TensorId, after: &[View]) -> Change {
    for found in after {
        let root = view(graph, found.root);
        if let Some(Ok(Some(axes))) = root.map(|root| root.shape.deduce_transpose(&found.shape)) {
            return match operand == found.root && graph.operation_name(operation) == "transpose" {
                true => Change::Keep,
                false => Change::Transpose(found.root, axes.iter().map(|&axis| axis as i64).collect()),
            };
        }
    }
    Change::Keep
}

/// Applies the changes.
fn rewrite(graph: &mut Graph, changes: &[Change]) {
    let kinds: [Option<Kind>; 3] =
        [COPY, "reshape", "transpose"].map(|name| Some(declared(name)?.kind(graph.symbols_mut())));
    let old = graph.take_operations();
    graph.kinds = old.kinds.clone();
    let id = |graph: &mut Graph, at: usize| kinds[at].as_ref().map(|kind| graph.standard_kind(kind));
    let mut alias: Vec<TensorId> = (0..graph.tensors.len()).map(|at| TensorId(at as u32)).collect();
    for (operation, change) in old.operations.iter().zip(changes) {
        let outputs: Vec<Output> = old.outputs_of(operation).collect();
        let made = match change {
            Change::Keep => None,
            Change::Alias(root) => {
                // Nothing uses the result any more; `drop_unused_movements` removes the operation.
                old.tensors_of(operation).for_each(|tensor| alias[tensor.index()] = alias[root.index()]);
                None
            }
            Change::Copy(root) => id(graph, 0).map(|kind| (kind, root, None)),
            Change::Reshape(root, shape) => id(graph, 1).map(|kind| (kind, root, Some(shape))),
            Change::Transpose(root, axes) => id(graph, 2).map(|kind| (kind, root, Some(axes))),
        };
        let source = (operation.at, operation.origin);
        let (kind, arguments) = match made {
            Some((kind, root, list)) => {
                let root = Value::Tensor(alias[root.index()]);
                let list = list.map(|list| Value::Integers(Arc::from(list.as_slice())));
                let values = std::iter::once(root).chain(list);
                (kind, (0..).zip(values).map(|(i, value)| Argument { key: Key::Param(i), value }).collect())
            }
            None => {
                let argument = |(key, value): (Key, crate::graph::Operand)| {
                    let mut value = value.to_value();
                    value.map_tensors(&mut |tensor| alias[tensor.index()]);
                    Argument { key, value }
                };
                (old.kind_id(operation), old.arguments(operation).map(argument).collect::<Vec<_>>())
            }
        };
        graph.add_operation(kind, operation.type_argument(), arguments, &outputs, source);
    }
}
