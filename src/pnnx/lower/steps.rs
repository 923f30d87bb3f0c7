//! What rules add besides single operations: constants, and the operators that all notations share.

use super::{Line, Lowered, Refusal, integers};
use crate::diagnostics::too_many;
use crate::graph::standard::CONSTANT;
use crate::graph::{Primitive, TensorId, Value};
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
        let (made, most) = (self.builder.graph.operations().len() as u64, self.options.max_ops);
        match made.saturating_add(operations.unsigned_abs()) > most {
            true => Err(Refusal::Because(too_many("the graph", most, "operations").into())),
            false => Ok(()),
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

impl Line<'_> {
    /// The number of items of a constant, within the limit of lists.
    pub(super) fn items_of(&self, shape: &[i64]) -> Lowered<usize> {
        let count = self.count(shape)?;
        let count = usize::try_from(count).ok().filter(|count| (1..=self.options.max_length).contains(count));
        count.ok_or_else(|| Refusal::Because("a constant would have too many items".into()))
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
