//! Keeping the part of a graph that a cut selects.

use rustc_hash::FxHashMap;

use super::cut::{Cut, Ends, not_needed};
use super::names::Spellings;
use super::standard::UPDATE;
use super::{
    Argument, Graph, Key, Kind, Operation, OperationId, OriginId, Output, Primitive, Shape, Tensor, TensorId, Value,
    prune,
};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::Location;

/// A new input: its tensor, the shape that is written, and the type of its items.
struct NewInput {
    tensor: TensorId,
    shape: Vec<i64>,
    of: Primitive,
}

impl Graph {
    /// Keeps the part of a cut. `external` is the kind of operations that introduce inputs.
    ///
    /// # Errors
    ///
    /// A name is not that of a tensor, or the shape of a new input is not known.
    pub(crate) fn keep_part(&mut self, cut: &Cut, external: &Kind) -> Result<(), Diagnostics> {
        let at = self.operations.first().map(|operation| operation.at).unwrap_or_default();
        let each = |f: &mut dyn FnMut(&str, TensorId)| {
            let mut spellings = Spellings::new(&self.names, &self.symbols);
            self.tensors().for_each(|tensor| f(spellings.spell(self.name_of(tensor)), tensor));
        };
        let Ends { inputs, outputs } = cut.ends(at, each, |_| None)?;
        let new: Vec<TensorId> = inputs.iter().copied().filter(|input| !self.inputs.contains(input)).collect();
        let outputs = if outputs.is_empty() { self.outputs.clone() } else { outputs };
        let (needed, wanted) = self.needed_between(&new, &outputs);
        let mut found = Diagnostics::new(false);
        for &input in inputs.iter().filter(|input| !wanted[input.index()]) {
            found.report(not_needed(&self.tensor_name(input), self.place_of(input, at)));
        }
        let mut added = Vec::with_capacity(new.len());
        for &input in &new {
            match self.new_input(input) {
                Some(input) => added.push(input),
                None => {
                    let name = self.tensor_name(input);
                    let message = format!("the tensor `{name}` cannot be an input of the part: its shape is not known");
                    found.report(Diagnostic::new(Code::OptionTensor, self.place_of(input, at), message));
                }
            }
        }
        if found.has_errors() {
            return Err(found);
        }
        let rest = self.inputs.iter().copied().filter(|input| wanted[input.index()] && !inputs.contains(input));
        let all: Vec<TensorId> = inputs.iter().copied().chain(rest).collect();
        (self.inputs, self.outputs) = (all, outputs);
        self.rebuild(&added, &needed, external);
        Ok(())
    }

    /// The place of the operation that computes a tensor.
    fn place_of(&self, tensor: TensorId, at: Location) -> Location {
        self.producer(tensor).map_or(at, |producer| producer.at)
    }

    fn new_input(&self, tensor: TensorId) -> Option<NewInput> {
        let shape = self.shape(tensor).map(Shape::extents)?;
        let shape = shape.iter().map(|extent| extent.known()).collect::<Option<_>>()?;
        Some(NewInput { tensor, shape, of: self.dtype(tensor).unwrap_or(Primitive::Scalar) })
    }

    /// The operations that outputs need if new inputs are given, and the tensors that these operations and the outputs
    /// use. An update of a variable that is needed is needed, too: the next run reads it.
    fn needed_between(&self, new: &[TensorId], outputs: &[TensorId]) -> (Vec<bool>, Vec<bool>) {
        let (mut needed, mut wanted) = (vec![false; self.operations.len()], self.marked(outputs));
        let given = self.marked(new);
        let updates = self.updates_by_variable();
        let mut open = outputs.to_vec();
        while let Some(tensor) = open.pop() {
            if given[tensor.index()] {
                continue;
            }
            let producer = self.tensors[tensor.index()].producer;
            for id in producer.into_iter().chain(updates.get(&tensor).into_iter().flatten().copied()) {
                if std::mem::replace(&mut needed[id.index()], true) {
                    continue;
                }
                self.each_operand_tensor(&self.operations[id.index()], |operand| {
                    if !std::mem::replace(&mut wanted[operand.index()], true) {
                        open.push(operand);
                    }
                });
            }
        }
        (needed, wanted)
    }

    /// The updates of each variable.
    fn updates_by_variable(&self) -> FxHashMap<TensorId, Vec<OperationId>> {
        let is_update: Vec<bool> = self.kinds.iter().map(|kind| self.text_of(kind.name) == UPDATE).collect();
        let mut updates: FxHashMap<TensorId, Vec<OperationId>> = FxHashMap::default();
        for (i, operation) in self.operations.iter().enumerate() {
            if is_update[self.kind_id(operation).index()] {
                let mut variable = None;
                self.each_operand_tensor(operation, |tensor| variable = variable.or(Some(tensor)));
                variable.into_iter().for_each(|tensor| updates.entry(tensor).or_default().push(OperationId::at(i)));
            }
        }
        updates
    }

    /// Adds the operations of new inputs, and keeps the operations that are needed. What computes a new input and other
    /// results that are needed computes a tensor of another name in place of the input.
    fn rebuild(&mut self, added: &[NewInput], needed: &[bool], external: &Kind) {
        let old = self.take_operations();
        self.kinds = old.kinds.clone();
        let kind = self.standard_kind(external);
        let mut replaced: FxHashMap<TensorId, TensorId> = FxHashMap::default();
        let mut stays = false;
        for NewInput { tensor, shape, of } in added {
            self.values.remove(tensor);
            let before = self.tensors[tensor.index()].clone();
            let producer = before.producer.map(OperationId::index);
            let at = producer.map(|at| old.operations[at].at).unwrap_or_default();
            stays |= producer.is_some_and(|at| needed[at]);
            let name = self.names.sibling(before.name);
            self.tensors.push(Tensor { name, producer: None, known: false, ..before });
            replaced.insert(*tensor, TensorId(self.tensors.len() as u32 - 1));
            self.tensors[tensor.index()].known = false;
            let argument = Argument { key: Key::Param(0), value: Value::Integers(shape.as_slice().into()) };
            let dtype = (external.generic.then_some(*of), *of != Primitive::Scalar);
            self.add_operation(kind, dtype, [argument], &[Output::Tensor(tensor)], (at, OriginId::NONE));
        }
        let notes = std::mem::take(&mut self.provenance.notes);
        let moved = notes.into_iter().map(|(id, note)| (OperationId::at(id.index() + added.len()), note));
        self.provenance.notes = moved.collect();
        for operation in &old.operations {
            if old.tensors_of(operation).any(|tensor| replaced.contains_key(&tensor)) {
                self.add_renamed(&old, operation, &replaced);
            } else {
                self.add_again(&old, operation);
            }
        }
        let needed: Vec<bool> = added.iter().map(|_| true).chain(needed.iter().copied()).collect();
        prune::keep(self, &needed);
        if stays {
            self.finish_names();
        }
    }

    /// Adds an operation of another graph, with other tensors in place of some of its results.
    fn add_renamed(&mut self, old: &Graph, operation: &Operation, replaced: &FxHashMap<TensorId, TensorId>) {
        let renamed = |tensor: &TensorId| replaced.get(tensor).copied().unwrap_or(*tensor);
        let results: Vec<(bool, Vec<TensorId>)> = old
            .outputs_of(operation)
            .map(|output| (matches!(output, Output::Tensor(_)), output.tensors().iter().map(renamed).collect()))
            .collect();
        let outputs = results.iter().map(|(single, tensors)| match &tensors[..] {
            [tensor] if *single => Output::Tensor(tensor),
            tensors => Output::Array(tensors),
        });
        let outputs: Vec<Output> = outputs.collect();
        let arguments = old.arguments(operation).map(|(key, operand)| Argument { key, value: operand.to_value() });
        let source = (operation.at, operation.origin);
        self.add_operation(old.kind_id(operation), operation.type_argument(), arguments, &outputs, source);
    }
}
