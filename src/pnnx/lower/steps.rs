//! What rules add besides single operations: constants, and the operators that all notations share.

use super::{Line, Lowered, Refusal, integers};
use crate::diagnostics::{memory_text, too_many};
use crate::graph::standard::CONSTANT;
use crate::graph::{BYTES_OF_OPERATION, Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::library::build::{CAST, Results, declared};
use crate::pnnx::item::ExpandedItem;

impl Assembly for Line<'_> {
    type Tensor = TensorId;
    type Refusal = Refusal;

    fn refusal(&self, reason: &'static str) -> Refusal {
        Refusal::Because(reason.into())
    }

    fn extents_of(&self, x: TensorId) -> Lowered<Vec<i64>> {
        self.extents(x)
    }

    fn allows(&self, operations: i64) -> Lowered<()> {
        let (made, most) = (self.builder.graph.operations.len() as u64, self.options.max_ops);
        match made.saturating_add(operations.unsigned_abs()) > most {
            true => Err(Refusal::Because(too_many("the graph", most, "operations").into())),
            false => self.has_room(operations.unsigned_abs(), BYTES_OF_OPERATION),
        }
    }

    fn argument(x: TensorId) -> Value {
        Value::Tensor(x)
    }

    fn operation(&mut self, nnef: &'static str, arguments: Vec<Value>, _: TensorId) -> Lowered<TensorId> {
        self.add(nnef, arguments)
    }

    fn formula_of(&mut self, text: &str, operands: &[TensorId]) -> Lowered<TensorId> {
        let operands: Vec<ExpandedItem> = operands.iter().copied().map(ExpandedItem::Tensor).collect();
        self.text(text, &operands)
    }
}

/// The bytes of an item of a list while it is made and copied to the graph.
const BYTES_OF_ITEM: u64 = 16;

impl Line<'_> {
    /// Refuses what would not fit the memory of the run beside the graph so far.
    fn has_room(&self, count: u64, bytes_of_each: u64) -> Lowered<()> {
        let grows = self.builder.graph.may_grow(count.saturating_mul(bytes_of_each), self.options.max_memory);
        grows.map_err(|limit| {
            let limit = memory_text(limit);
            Refusal::Because(format!("the graph takes more than {limit}; raise the limit with --max-memory").into())
        })
    }

    /// Refuses a list that would not fit the memory of the run. Whoever makes a list for the graph asks this before.
    pub(super) fn has_room_for_items(&self, count: u64) -> Lowered<()> {
        self.has_room(count, BYTES_OF_ITEM)
    }

    /// Refuses results of one operation that would not fit the memory of the run.
    pub(super) fn has_room_for_results(&self, count: usize) -> Lowered<()> {
        self.has_room(count as u64, BYTES_OF_OPERATION)
    }

    /// The number of items of a constant, within the limits of lists and memory.
    pub(super) fn items_of(&self, shape: &[i64]) -> Lowered<usize> {
        let count = self.count(shape)?;
        let count = usize::try_from(count).ok().filter(|count| (1..=self.options.max_length).contains(count));
        let count = count.ok_or_else(|| Refusal::Because("a constant would have too many items".into()))?;
        self.has_room_for_items(count as u64)?;
        Ok(count)
    }

    /// Adds a constant of numbers, each of which is a function of its place.
    pub(crate) fn numbers(&mut self, shape: &[i64], item: impl Fn(i64) -> f64) -> Lowered<TensorId> {
        let items: Vec<f64> = (0..self.items_of(shape)? as i64).map(item).collect();
        if !items.iter().all(|item| item.is_finite()) {
            return Err(Refusal::Because("a constant would have an item that is not a finite number".into()));
        }
        let arguments = vec![integers(shape.iter().copied()), Value::Scalars(items.into())];
        self.add_of(CONSTANT, Some(Primitive::Scalar), arguments)
    }

    /// Adds an operation with several results, whose elements are those of its declaration.
    pub(super) fn add_each(
        &mut self,
        nnef: &'static str,
        arguments: Vec<Value>,
        count: usize,
    ) -> Lowered<Vec<TensorId>> {
        self.allows(1)?;
        self.has_room_for_results(count)?;
        let results: Vec<_> = (0..count).map(|_| (self.fresh(nnef), None)).collect();
        let added = self.builder.add(nnef, None, arguments, Results::Each(&results));
        let tensors = added.map_err(|_| Refusal::UNFIT)?;
        for (tensor, result) in tensors.iter().zip(declared(nnef).iter().flat_map(|declared| &declared.results)) {
            if let Some(known) = self.builder.graph.tensors.get_mut(tensor.index()) {
                known.dtype = result.gives;
            }
        }
        self.builder.infer(*tensors.first().ok_or(Refusal::UNFIT)?).map_err(|_| Refusal::UNFIT)?;
        Ok(tensors.into_vec())
    }

    /// Converts numbers to integers.
    pub(super) fn cast_to_integers(&mut self, x: TensorId) -> Lowered<TensorId> {
        self.add_of(CAST, Some(Primitive::Integer), vec![Value::Tensor(x)])
    }
}
