//! Shapes that depend on the data of variables: exporters store scales and sizes of a few items.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::infer::infer;
use super::items::{Item, Items};
use super::plan::Plan;
use super::shape::Extents;
use super::shape::Shape;
use super::shape_call::Call;
use crate::graph::standard::VARIABLE;
use crate::graph::{Graph, KindId, OperationId, TensorId, Value};

/// The maximum number of items of a variable that extents depend on.
const MOST_ITEMS: i64 = 64;

impl Graph {
    /// The variables of a few items that operations whose shapes are not known depend on, directly or by operations on
    /// a few items, with their labels and shapes.
    pub(crate) fn variables_of_shapes(&self) -> Vec<(TensorId, &str, Vec<i64>)> {
        let mut waiting = Vec::new();
        for operation in &self.operations {
            if self.tensors_of(operation).any(|tensor| self.is_open(tensor)) {
                self.each_operand_tensor(operation, |tensor| waiting.push(tensor));
            }
        }
        let of_items: Vec<bool> =
            self.kinds.iter().map(|kind| self.meaning(kind).is_some_and(|row| row.items.is_some())).collect();
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(tensor) = waiting.pop() {
            if !seen.insert(tensor) {
                continue;
            }
            found.extend(self.small_variable(tensor));
            let small = self.shape(tensor).is_none_or(|shape| shape.rank() < 2);
            let Some(producer) = self.tensors[tensor.index()].producer.filter(|_| small) else { continue };
            let operation = &self.operations[producer.index()];
            if of_items[self.kind_id(operation).index()] {
                self.each_operand_tensor(operation, |tensor| waiting.push(tensor));
            }
        }
        found.sort_unstable();
        found
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

    /// Infers the shapes and the items that are not known again, with the items of variables: `scalars` is set if they are scalars.
    pub(crate) fn infer_with(&mut self, stored: Vec<(TensorId, Vec<f64>, bool)>) {
        if stored.is_empty() {
            return;
        }
        for (tensor, items, scalars) in &stored {
            let items = items.iter().map(|item| Item::of_scalar(*item)).collect();
            self.values.extend(Items::new(items, *scalars).map(|items| (*tensor, Arc::new(items))));
        }
        self.infer_again();
        // The variables stay, since they have data.
        stored.iter().for_each(|(tensor, ..)| drop(self.values.remove(tensor)));
    }

    /// Infers the shapes and the items that are not known again.
    pub(crate) fn infer_again(&mut self) {
        let draft = self.dialect == crate::graph::Dialect::Draft;
        let plans: Vec<Option<Plan>> =
            (0..self.kinds.len() as u32).map(|kind| Plan::new(self, KindId(kind), draft)).collect();
        for i in 0..self.operations.len() {
            let Some(plan) = &plans[self.kind_id(&self.operations[i]).index()] else { continue };
            let id = OperationId::at(i);
            self.complete_shapes(id, plan);
            self.complete_items(id, plan);
        }
    }

    /// Infers the shapes of the results of an operation that are not known.
    fn complete_shapes(&mut self, id: OperationId, plan: &Plan) {
        let results: Vec<TensorId> = self.tensors_of(&self.operations[id.index()]).collect();
        if !results.iter().any(|result| self.is_open(*result)) {
            return;
        }
        // Faults have been reported where the shapes were inferred first.
        let Ok(inferred) = infer(self, id, plan) else { return };
        for (place, result) in results.into_iter().enumerate() {
            if let Some(shape) = inferred.get(place).filter(|_| self.is_open(result)) {
                let shape = self.completed(result, shape);
                self.set_shape(result, Some(shape));
            }
        }
    }

    /// Infers the items of the only result of an operation, if none were known.
    fn complete_items(&mut self, id: OperationId, plan: &Plan) -> Option<()> {
        let operation = &self.operations[id.index()];
        let results: SmallVec<[TensorId; 2]> = self.tensors_of(operation).collect();
        let &[result] = &results[..] else { return None };
        if self.values.contains_key(&result) {
            return None;
        }
        let call = Call { graph: self, kind: self.kind(operation), operation, plan };
        let items = call.value(plan.row.items?, result)?;
        self.values.insert(result, Arc::new(items));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, expand, parse};

    #[test]
    fn shapes_follow_from_data_through_operations() {
        let text = "version 1.0;\nextension tract_registry tract_core;
            graph G(x) -> (y, z)\n{
                x = tract_core_external(shape = [2, 3, 4], datum_type = 'f32');
                r = variable<integer>(label = 'r', shape = [3]);
                n = tract_core_cast(mul(tract_core_shape_of(x), r), to = 'tdim');
                b = variable<scalar>(label = 'b', shape = [5]);
                t = tile(x, repeats = [1, 2, 1]);
                y = reshape(t, shape = n);
                z = tract_core_shape_of(y);
            }";
        let options = Options::default();
        let mut graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
        let variables: Vec<_> = graph.variables_of_shapes().iter().map(|(tensor, ..)| *tensor).collect();
        // `b` decides no shape.
        assert_eq!(variables.iter().map(|tensor| graph.tensor_name(*tensor)).collect::<Vec<_>>(), ["r"]);
        graph.infer_with(vec![(variables[0], vec![1.0, 2.0, 1.0], false)]);
        let shape = |graph: &crate::graph::Graph, at: usize| format!("{:?}", graph.shape(graph.outputs[at]).unwrap());
        assert_eq!((shape(&graph, 0), shape(&graph, 1)), ("[2, 6, 4]".to_owned(), "[3]".to_owned()));
        assert!(!graph.values.contains_key(&variables[0]));
        assert_eq!(graph.values[&graph.outputs[1]].items.len(), 3);
    }
}
