//! The memory that the tensors between operations take, if these run one after another in the order of the graph.

use super::elements::bytes_of;
use super::extents::items;
use crate::graph::{Graph, Operation, Primitive, TensorId};

/// The largest sum of the bytes of tensors that are needed at the same time. A tensor is needed from its operation to the
/// last one that takes it, an output up to the end; each has memory of its own. Weights and constants do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    /// The bytes.
    pub(crate) bytes: u64,
    /// The first result of the operation that runs at that time; none without an operation.
    pub(crate) at: Option<TensorId>,
    /// The number of tensors of unknown size, which do not count.
    pub(crate) unknown: u64,
}

/// The bytes of a tensor of known size. A number of NNEF has four bytes, a logical has one.
pub(super) fn bytes(graph: &Graph, tensor: TensorId) -> Option<u64> {
    let items = items(graph, tensor)?;
    let implied = match graph.dtype(tensor) {
        Some(Primitive::Logical) => items,
        _ => items.saturating_mul(4),
    };
    Some(graph.element_type(tensor).and_then(|element| bytes_of(element, items)).unwrap_or(implied))
}

/// When a tensor is needed for the last time.
#[derive(Clone, Copy)]
enum LastUse {
    /// By the operation with this index.
    Operation(usize),
    /// At the end.
    End,
    /// Its memory is free, or it does not count.
    Past,
}

/// The inputs that no operation introduces.
fn inputs(graph: &Graph) -> impl Iterator<Item = TensorId> {
    let is_given = move |tensor: &TensorId| graph.tensors.get(tensor.index()).is_some_and(|of| of.producer.is_none());
    graph.inputs.iter().copied().filter(is_given)
}

impl Peak {
    /// The peak of a graph; `counts` tells which operations have results that count.
    pub(super) fn of(graph: &Graph, counts: impl Fn(&Operation) -> bool) -> Peak {
        let mut last = vec![LastUse::Past; graph.tensors.len()];
        let mut note = |tensor: TensorId, at: LastUse| {
            if let Some(last) = last.get_mut(tensor.index()) {
                *last = at;
            }
        };
        for (i, operation) in graph.operations.iter().enumerate() {
            if counts(operation) {
                graph.each_result(operation, |tensor| note(tensor, LastUse::Operation(i)));
            }
        }
        inputs(graph).for_each(|tensor| note(tensor, LastUse::Operation(0)));
        for (i, operation) in graph.operations.iter().enumerate() {
            graph.each_operand_tensor(operation, |tensor| {
                if let Some(last @ LastUse::Operation(_)) = last.get_mut(tensor.index()) {
                    *last = LastUse::Operation(i);
                }
            });
        }
        for output in &graph.outputs {
            if let Some(last @ LastUse::Operation(_)) = last.get_mut(output.index()) {
                *last = LastUse::End;
            }
        }
        Peak::run(graph, last)
    }

    fn run(graph: &Graph, mut last: Vec<LastUse>) -> Peak {
        let mut held = HeldMemory { bytes: 0, unknown: 0, sizes: vec![0; graph.tensors.len()] };
        let mut highest = (0, None);
        inputs(graph).for_each(|tensor| held.begin(graph, tensor, &last));
        for (i, operation) in graph.operations.iter().enumerate() {
            graph.each_result(operation, |tensor| held.begin(graph, tensor, &last));
            if held.bytes > highest.0 {
                highest = (held.bytes, graph.tensors_of(operation).next());
            }
            let mut end = |tensor: TensorId| {
                if let Some(last) = last.get_mut(tensor.index())
                    && matches!(last, LastUse::Operation(at) if *at == i)
                {
                    *last = LastUse::Past;
                    held.end(tensor);
                }
            };
            graph.each_operand_tensor(operation, &mut end);
            graph.each_result(operation, &mut end);
        }
        Peak { bytes: highest.0, at: highest.1, unknown: held.unknown }
    }
}

/// The memory of the tensors that are needed at some time.
struct HeldMemory {
    bytes: u64,
    /// The number of tensors of unknown size.
    unknown: u64,
    /// The bytes of each tensor that was needed so far.
    sizes: Vec<u64>,
}

impl HeldMemory {
    /// A tensor is needed from now on, if it is needed at all.
    fn begin(&mut self, graph: &Graph, tensor: TensorId, last: &[LastUse]) {
        let Some(LastUse::Operation(_) | LastUse::End) = last.get(tensor.index()) else { return };
        match (bytes(graph, tensor), self.sizes.get_mut(tensor.index())) {
            (Some(bytes), Some(size)) => {
                *size = bytes;
                self.bytes = self.bytes.saturating_add(bytes);
            }
            _ => self.unknown = self.unknown.saturating_add(1),
        }
    }

    /// A tensor is no longer needed.
    fn end(&mut self, tensor: TensorId) {
        self.bytes = self.bytes.saturating_sub(self.sizes.get(tensor.index()).copied().unwrap_or(0));
    }
}
