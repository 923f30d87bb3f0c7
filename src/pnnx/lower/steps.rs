//! What rules add besides single operations: constants, and the operators that all notations share.

use super::{Line, Lowered, Refusal, integers};
use crate::graph::standard::CONSTANT;
use crate::graph::{Primitive, Shape, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::library::build::{CAST, Results};
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
        self.within_budget(operations.unsigned_abs())
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

    fn constant(&mut self, shape: &[i64], of: Primitive, items: Value) -> Lowered<TensorId> {
        let name = self.fresh(CONSTANT);
        let results = [(name, Some(Shape::of(shape)))];
        let arguments = [integers(shape.iter().copied()), items];
        let added = self.builder.add(CONSTANT, Some(of), arguments, Results::Each(&results));
        added.map_err(|_| Refusal::UNFIT)?.first().copied().ok_or(Refusal::UNFIT)
    }

    /// Adds a constant of numbers, each of which is a function of its place.
    pub(super) fn numbers(&mut self, shape: &[i64], item: impl Fn(i64) -> f64) -> Lowered<TensorId> {
        let items: Vec<f64> = (0..self.items_of(shape)? as i64).map(item).collect();
        if !items.iter().all(|item| item.is_finite()) {
            return Err(Refusal::Because("a constant would have an item that is not a finite number".into()));
        }
        self.constant(shape, Primitive::Scalar, Value::Scalars(items.into()))
    }

    /// Adds a constant of integers, each of which is a function of its place.
    pub(super) fn indices(&mut self, shape: &[i64], item: impl Fn(i64) -> i64) -> Lowered<TensorId> {
        let items = integers((0..self.items_of(shape)? as i64).map(item));
        self.constant(shape, Primitive::Integer, items)
    }

    /// Adds an operation with several results.
    pub(super) fn add_each(&mut self, nnef: &'static str, arguments: Vec<Value>, count: usize) -> Lowered<Vec<TensorId>> {
        self.within_budget(1)?;
        let results: Vec<_> = (0..count).map(|_| (self.fresh(nnef), None)).collect();
        let added = self.builder.add(nnef, None, arguments, Results::Each(&results));
        let tensors = added.map_err(|_| Refusal::UNFIT)?;
        self.builder.infer(*tensors.first().ok_or(Refusal::UNFIT)?).map_err(|_| Refusal::UNFIT)?;
        Ok(tensors.into_vec())
    }

    /// Converts numbers to integers.
    pub(super) fn to_integers(&mut self, x: TensorId) -> Lowered<TensorId> {
        let results = [(self.fresh(CAST), None)];
        let added = self.builder.add(CAST, Some(Primitive::Integer), [Value::Tensor(x)], Results::Each(&results));
        let tensor = added.map_err(|_| Refusal::UNFIT)?.first().copied().ok_or(Refusal::UNFIT)?;
        self.builder.infer(tensor).map_err(|_| Refusal::UNFIT)?;
        Ok(tensor)
    }

    /// Items of an axis by their constant places, in their order.
    pub(super) fn taken(&mut self, x: TensorId, axis: i64, places: &[i64]) -> Lowered<TensorId> {
        let item = |at: i64| usize::try_from(at).ok().and_then(|at| places.get(at)).copied().unwrap_or(0);
        let indices = self.indices(&[places.len() as i64], item)?;
        self.add("gather", vec![Value::Tensor(x), Value::Tensor(indices), Value::Int(axis)])
    }
}
