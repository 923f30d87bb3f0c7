//! Tensors whose items are known after expansion, such as extents: where an operation takes them as an attribute, the
//! numbers themselves are written, and the operations that computed them go if nothing else uses them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::shapes::{Item, Items};
use super::{Graph, Key, Operand, Operation, Primitive, Shape, TensorId, Value, prune};
use crate::dictionary::layouts;

/// Standard operations that take a number in place of a tensor of one item; in documents of registries, which have no
/// operation for constants, known scalars are written there.
const ARITHMETIC: &[&str] = &["add", "sub", "mul", "div", "pow", "min", "max"];

impl Graph {
    /// Writes known items of tensors where operations take them. Returns how many tensors were replaced.
    ///
    /// Operations that only computed such tensors are removed, unless `keep_unused`. In graphs with operations of
    /// registries, which have no operation for constants, that includes tensors that the document names.
    pub(crate) fn write_known(&mut self, keep_unused: bool) -> usize {
        if self.values.is_empty() {
            return 0;
        }
        let known: FxHashMap<TensorId, Value> =
            self.values.iter().filter_map(|(tensor, items)| Some((*tensor, self.literal(*tensor, items)?))).collect();
        let mut replaced = vec![false; self.tensors.len()];
        let changed: Vec<Option<Vec<Value>>> =
            self.operations.iter().map(|operation| self.with_known(operation, &known, &mut replaced)).collect();
        let count = self.replace(changed, &known, &replaced, keep_unused);
        count + if keep_unused { 0 } else { self.write_extents() }
    }

    /// Drops tensors, if nothing uses them, with what only computed these.
    pub(crate) fn drop_unused(&mut self, tensors: &[TensorId]) {
        if tensors.is_empty() {
            return;
        }
        let droppable = self.marked(tensors);
        prune::prune_except(self, &droppable);
    }

    /// Replaces arguments, and drops what only computed the replaced tensors. Returns how many were replaced.
    fn replace(
        &mut self,
        changed: Vec<Option<Vec<Value>>>,
        known: &FxHashMap<TensorId, Value>,
        replaced: &[bool],
        keep_unused: bool,
    ) -> usize {
        let count = replaced.iter().filter(|replaced| **replaced).count();
        if count == 0 {
            return 0;
        }
        self.rewrite_arguments(changed);
        if !keep_unused {
            let droppable = |tensor: TensorId| self.conventions.follows && known.contains_key(&tensor);
            let droppable: Vec<bool> = (0..self.tensors.len() as u32).map(|i| droppable(TensorId(i))).collect();
            prune::prune_except(self, &droppable);
        }
        count
    }

    /// Writes known extents as lists where operations of registries take them as tensors: a list of integers has the
    /// type of extents there.
    fn write_extents(&mut self) -> usize {
        if !self.conventions.follows {
            return 0;
        }
        let extents = self.tensors_of_extents();
        let known: FxHashMap<TensorId, Value> = self
            .values
            .iter()
            .filter(|(tensor, _)| extents[tensor.index()])
            .filter_map(|(tensor, items)| Some((*tensor, self.literal(*tensor, items)?)))
            .collect();
        let mut replaced = vec![false; self.tensors.len()];
        let changed = self.operations.iter().map(|operation| {
            let taken = |operand: Operand| match operand {
                Operand::Tensor(tensor) => known.get(&tensor).cloned(),
                _ => None,
            };
            let kind = self.kind(operation);
            if kind.standard || !kind.declared || self.tensors_of(operation).any(|tensor| extents[tensor.index()]) {
                return None;
            }
            let mut values = Vec::new();
            let mut any = false;
            for (_, operand) in self.arguments(operation) {
                let found = taken(operand);
                if found.is_some() {
                    operand.each_tensor(&mut |tensor| replaced[tensor.index()] = true);
                    any = true;
                }
                values.push(found.unwrap_or_else(|| operand.to_value()));
            }
            any.then_some(values)
        });
        let changed: Vec<Option<Vec<Value>>> = changed.collect();
        self.replace(changed, &known, &replaced, false)
    }

    /// Whether each tensor has extents: results of `tract_core_shape_of`, and of standard operations on nothing else.
    fn tensors_of_extents(&self) -> Vec<bool> {
        let is_shape: Vec<bool> =
            self.kinds.iter().map(|kind| self.meaning(kind) == Some(&layouts::SHAPE_OF) && !kind.standard).collect();
        let mut extents = vec![false; self.tensors.len()];
        for operation in &self.operations {
            let kind = self.kind_id(operation).index();
            let (mut all, mut any) = (self.kinds[kind].standard, false);
            self.each_operand_tensor(operation, |tensor| {
                all &= extents[tensor.index()];
                any = true;
            });
            if is_shape[kind] || all && any {
                self.tensors_of(operation).for_each(|tensor| extents[tensor.index()] = true);
            }
        }
        extents
    }

    /// The items of a tensor as a literal: a number for a tensor of rank 0, else an array; none if an item is unknown.
    fn literal(&self, tensor: TensorId, items: &Items) -> Option<Value> {
        let rank = self.shape(tensor)?.rank();
        if !items.is_whole() || rank > 1 || self.dtype(tensor) == Some(Primitive::Logical) {
            return None;
        }
        let value = if items.scalars {
            let scalars = items.items.iter().map(Item::scalar).collect::<Option<Vec<f64>>>()?;
            if scalars.iter().any(|scalar| !scalar.is_finite()) {
                return None;
            }
            if rank == 0 { Value::Scalar(*scalars.first()?) } else { Value::Scalars(scalars.into()) }
        } else {
            let numbers = items.items.iter().map(|item| item.dim().known()).collect::<Option<Vec<i64>>>()?;
            if rank == 0 { Value::Int(*numbers.first()?) } else { Value::Integers(numbers.into()) }
        };
        Some(value)
    }

    /// The arguments of an operation with known items in place of tensors; none if none is replaced.
    fn with_known(
        &self,
        operation: &Operation,
        known: &FxHashMap<TensorId, Value>,
        replaced: &mut [bool],
    ) -> Option<Vec<Value>> {
        let kind = self.kind(operation);
        let mut tensors = 0;
        self.each_operand_tensor(operation, |_| tensors += 1);
        if tensors == 0 || self.tensors_of(operation).all(|tensor| known.contains_key(&tensor)) {
            return None;
        }
        let arithmetic = self.conventions.follows && kind.standard && ARITHMETIC.contains(&self.text_of(kind.name));
        let rank = self.tensors_of(operation).next().and_then(|result| self.shape(result)).map(Shape::rank);
        let wide = rank.is_some_and(|rank| rank > 1);
        let mut any = false;
        let mut values = Vec::new();
        for (key, operand) in self.arguments(operation) {
            let is_tensor = match key {
                Key::Param(param) => kind.params[param as usize].tensor,
                Key::Positional | Key::Named(_) => true,
            };
            let found = match is_tensor {
                false => attribute(operand, known),
                true if arithmetic && tensors > 1 => number(operand, known, wide),
                true => None,
            };
            if found.is_some() {
                operand.each_tensor(&mut |tensor| {
                    replaced[tensor.index()] |= known.contains_key(&tensor);
                    tensors -= 1;
                });
                any = true;
            }
            values.push(found.unwrap_or_else(|| operand.to_value()));
        }
        any.then_some(values)
    }
}

/// An attribute with known items in place of tensors; none if that changes nothing.
fn attribute(operand: Operand, known: &FxHashMap<TensorId, Value>) -> Option<Value> {
    match operand {
        Operand::Tensor(tensor) => known.get(&tensor).cloned(),
        Operand::Tensors(tensors) => array(tensors.iter().map(|tensor| item(&Value::Tensor(*tensor), known)).collect()),
        Operand::Value(Value::Array(items)) => {
            let with_tensors = items.iter().any(|item| matches!(item, Value::Tensor(_)));
            let items = with_tensors.then(|| items.iter().map(|value| item(value, known)).collect())?;
            array(items)
        }
        Operand::Value(_) => None,
    }
}

/// An item of an array, in which a tensor is one number.
fn item(value: &Value, known: &FxHashMap<TensorId, Value>) -> Option<Value> {
    let Value::Tensor(tensor) = value else { return Some(value.clone()) };
    match known.get(tensor)? {
        Value::Integers(items) => <[i64; 1]>::try_from(&items[..]).ok().map(|[item]| Value::Int(item)),
        Value::Scalars(items) => <[f64; 1]>::try_from(&items[..]).ok().map(|[item]| Value::Scalar(item)),
        number => Some(number.clone()),
    }
}

/// An array of items, if all of them are known; numbers of one type are packed.
fn array(items: Option<Vec<Value>>) -> Option<Value> {
    let items = items?;
    let integers: Option<Arc<[i64]>> =
        items.iter().map(|item| if let Value::Int(item) = item { Some(*item) } else { None }).collect();
    Some(integers.map_or_else(|| Value::Array(items.into()), Value::Integers))
}

/// A known scalar in place of a tensor operand. The type of integers in such a place is not known. A tensor of rank 1
/// may only be replaced if the result gets its rank from the other operand.
fn number(operand: Operand, known: &FxHashMap<TensorId, Value>, wide: bool) -> Option<Value> {
    let Operand::Tensor(tensor) = operand else { return None };
    match known.get(&tensor)? {
        Value::Scalar(scalar) => Some(Value::Scalar(*scalar)),
        Value::Scalars(items) if wide && items.len() == 1 => items.first().copied().map(Value::Scalar),
        _ => None,
    }
}
