//! The memory that the tensors between operations take, if these run one after another in the order of the graph.

use super::amount::Amount;
use super::elements::amount_of_bytes;
use super::extents::items_or_unknown;
use crate::graph::{Graph, Operation, Primitive, TensorId};

/// The largest sum of the bytes of tensors that are needed at the same time. A tensor is needed from its operation to
/// the last one that takes it, an output up to the end; each has memory of its own. Weights and constants do not
/// count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    /// The bytes. If symbols decide when most memory is needed, they are those of a time at which much is.
    pub(crate) bytes: Amount,
    /// The first result of the operation that runs at that time; none without an operation.
    pub(crate) at: Option<TensorId>,
    /// The number of tensors of unknown size, which do not count.
    pub(crate) unknown: u64,
}

/// The bytes of a tensor. A number of NNEF has four bytes, a logical has one.
pub(super) fn bytes(graph: &Graph, tensor: TensorId) -> Amount {
    let items = items_or_unknown(graph, tensor);
    let implied = || match graph.dtype(tensor) {
        Some(Primitive::Logical) => items.clone(),
        _ => items.times(&Amount::from(4)),
    };
    graph.element_type(tensor).and_then(|element| amount_of_bytes(element, &items)).unwrap_or_else(implied)
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
        let mut held =
            HeldMemory { bytes: Amount::default(), unknown: 0, sizes: vec![Amount::default(); graph.tensors.len()] };
        let mut highest = Highest::default();
        inputs(graph).for_each(|tensor| held.begin(graph, tensor, &last));
        for (i, operation) in graph.operations.iter().enumerate() {
            graph.each_result(operation, |tensor| held.begin(graph, tensor, &last));
            highest.reach(&held.bytes, || graph.tensors_of(operation).next());
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
        let Highest { mut bytes, at, is_unsure } = highest;
        if is_unsure || held.unknown > 0 {
            bytes.add(&Amount::unknown());
        }
        Peak { bytes, at, unknown: held.unknown }
    }
}

/// The time at which most memory is needed.
#[derive(Default)]
struct Highest {
    bytes: Amount,
    at: Option<TensorId>,
    /// Whether the values of symbols decide that.
    is_unsure: bool,
}

impl Highest {
    fn reach(&mut self, bytes: &Amount, at: impl FnOnce() -> Option<TensorId>) {
        if self.bytes.covers(bytes) {
            return;
        }
        let is_higher = bytes.covers(&self.bytes);
        self.is_unsure |= !is_higher;
        if is_higher || bytes.of_ones() > self.bytes.of_ones() {
            (self.bytes, self.at) = (bytes.clone(), at());
        }
    }
}

/// The memory of the tensors that are needed at some time.
struct HeldMemory {
    bytes: Amount,
    /// The number of tensors of unknown size.
    unknown: u64,
    /// The bytes of each tensor that was needed so far.
    sizes: Vec<Amount>,
}

impl HeldMemory {
    /// A tensor is needed from now on, if it is needed at all.
    fn begin(&mut self, graph: &Graph, tensor: TensorId, last: &[LastUse]) {
        let Some(LastUse::Operation(_) | LastUse::End) = last.get(tensor.index()) else { return };
        let size = bytes(graph, tensor);
        let mut sum = self.bytes.clone();
        sum.add(&size);
        match self.sizes.get_mut(tensor.index()).filter(|_| !sum.is_least()) {
            Some(known) => (*known, self.bytes) = (size, sum),
            None => self.unknown = self.unknown.saturating_add(1),
        }
    }

    /// A tensor is no longer needed.
    fn end(&mut self, tensor: TensorId) {
        if let Some(size) = self.sizes.get(tensor.index()) {
            self.bytes.subtract(size);
        }
    }
}
