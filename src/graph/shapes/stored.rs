//! Shapes that depend on the data of variables: exporters store scales and sizes of a few items.

use std::sync::Arc;

use super::infer::infer;
use super::items::{Item, Items};
use super::plan::Plan;
use super::shape::Extents;
use super::shape::Shape;
use crate::graph::standard::VARIABLE;
use crate::graph::{Graph, KindId, OperationId, TensorId, Value};

/// The maximum number of items of a variable that extents depend on.
const MOST_ITEMS: i64 = 16;

impl Graph {
    /// The variables of a few items that are operands of operations whose shapes are not known, with their labels and
    /// shapes.
    pub(crate) fn variables_of_shapes(&self) -> Vec<(TensorId, &str, Vec<i64>)> {
        let mut found = Vec::new();
        for operation in &self.operations {
            if !self.tensors_of(operation).any(|tensor| self.is_open(tensor)) {
                continue;
            }
            self.each_operand_tensor(operation, |tensor| found.push(tensor));
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|tensor| self.small_variable(tensor)).collect()
    }

    fn small_variable(&self, tensor: TensorId) -> Option<(TensorId, &str, Vec<i64>)> {
        let producer = self.tensors[tensor.index()].producer?;
        let operation = &self.operations[producer.index()];
        let shape = self.shape(tensor)?.known()?;
        let items = shape.iter().try_fold(1_i64, |items, extent| items.checked_mul(*extent))?;
        let is_variable = self.kind(operation).standard && self.operation_name(operation) == VARIABLE;
        match self.attribute(operation, "label")? {
            Value::String(label) if is_variable && shape.len() < 2 && items <= MOST_ITEMS => {
                Some((tensor, label, shape))
            }
            _ => None,
        }
    }

    /// The shape of a tensor, with the extents of another one where its own are not known.
    fn completed(&self, tensor: TensorId, other: Shape) -> Shape {
        let Some(own) = self.shape(tensor).filter(|own| own.rank() == other.rank()) else { return other };
        let both = own.extents().iter().zip(other.extents());
        let extents: Extents = both.map(|(own, other)| if own.is_unknown() { other } else { own }.clone()).collect();
        Shape::from(extents)
    }

    /// Infers the shapes that are not known again, with the items of variables: `scalars` is set if they are scalars.
    pub(crate) fn infer_with(&mut self, stored: Vec<(TensorId, Vec<f64>, bool)>) {
        if stored.is_empty() {
            return;
        }
        for (tensor, items, scalars) in &stored {
            let items = items.iter().map(|item| Item::of_scalar(*item)).collect();
            self.values.extend(Items::new(items, *scalars).map(|items| (*tensor, Arc::new(items))));
        }
        let draft = self.dialect == crate::graph::Dialect::Draft;
        let plans: Vec<Option<Plan>> =
            (0..self.kinds.len() as u32).map(|kind| Plan::new(self, KindId(kind), draft)).collect();
        for i in 0..self.operations.len() {
            let operation = &self.operations[i];
            let Some(plan) = &plans[self.kind_id(operation).index()] else { continue };
            let results: Vec<TensorId> = self.tensors_of(operation).collect();
            if !results.iter().any(|result| self.is_open(*result)) {
                continue;
            }
            // Faults have been reported where the shapes were inferred first.
            let Ok(inferred) = infer(self, OperationId::at(i), plan) else { continue };
            for (place, result) in results.into_iter().enumerate() {
                if let Some(shape) = inferred.get(place).filter(|_| self.is_open(result)) {
                    let shape = self.completed(result, shape);
                    self.set_shape(result, Some(shape));
                }
            }
        }
        stored.iter().for_each(|(tensor, ..)| drop(self.values.remove(tensor)));
    }
}
