//! Implied operations, which are not calls in the source: operators on tensors, subscripts of tensors,
//! constants, and copies for names of the graph.

use smallvec::SmallVec;

use super::budget::{Failure, Outcome};
use super::constant::{flatten, pack};
use super::machine::Machine;
use super::program::{Hint, Site};
use super::slots::Slot;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::standard;
use crate::graph::{self, Key, TensorId};
use crate::source::Span;
use crate::source::names::Name;

/// A range of `slice` without items, whatever the extent is.
const EMPTY: (i64, i64) = (1, 1);

impl Machine {
    /// A site for an implied standard operation.
    pub(super) fn implied(&mut self, name: &str, span: Span, hint: Hint, generic: Option<Primitive>) -> Outcome<Site> {
        let Some(unit) = self.units.standard(name) else {
            let message = format!("the dialect has no operation `{name}`");
            return Err(Failure::new(Code::NotCompileTime, message).label(format!("needs `{name}`")));
        };
        Ok(Site { generic, ..Site::new(Some(unit), self.units.get(unit).name, span, hint) })
    }

    /// Adds the operation of an operator with tensor operands to the graph.
    pub(super) fn emit_operator(&mut self, name: &str, operands: &[Value]) -> Outcome<Value> {
        let span = self.here();
        let site = self.implied(name, span, Hint::None, None)?;
        let mut arguments: SmallVec<[(Key, graph::Value); 4]> = SmallVec::new();
        for (i, operand) in operands.iter().enumerate() {
            arguments.push((Key::Param(i as u32), operand.freeze(&self.budget)?));
        }
        self.emit_with(&site, &arguments)
    }

    /// Adds an implied operation to the graph, with arguments by parameter name.
    pub(super) fn emit_named(&mut self, site: &Site, named: &[(&str, graph::Value)]) -> Outcome<Value> {
        let params = site.unit.map_or(&[][..], |unit| &self.units.get(unit).params);
        let place = |name: &str| params.iter().position(|param| self.units.text(param.name) == name);
        let keyed = |(name, value): &(&str, graph::Value)| Some((Key::Param(place(name)? as u32), value.clone()));
        let arguments: SmallVec<[(Key, graph::Value); 4]> = named.iter().filter_map(keyed).collect();
        self.emit_with(site, &arguments)
    }

    /// `t[i]`: a slice with that item, whose axis is then removed.
    pub(super) fn index_tensor(&mut self, tensor: TensorId, index: &Value) -> Outcome<Value> {
        let Value::Int(i) = index else {
            return Err(Failure::new(
                Code::NotCompileTime,
                "a tensor is subscripted by integers that are known while expanding",
            ));
        };
        // An end of 0 stands for the extent.
        let end = if *i == -1 { 0 } else { i.saturating_add(1) };
        let part = self.slice_axis(tensor, *i, end)?.freeze(&self.budget)?;
        let (span, dtype) = (self.here(), self.graph.tensors[tensor.index()].dtype);
        let site = self.implied(standard::SQUEEZE, span, Hint::None, dtype)?;
        let axes = graph::Value::Integers([0].into());
        self.emit_named(&site, &[("input", part), ("axes", axes)])
    }

    /// `t[begin:end]`
    pub(super) fn slice_tensor(
        &mut self,
        tensor: TensorId,
        begin: Option<&Value>,
        end: Option<&Value>,
    ) -> Outcome<Value> {
        let bound = |value: Option<&Value>| match value {
            None => Ok(0),
            Some(Value::Int(i)) => Ok(*i),
            Some(_) => Err(Failure::new(
                Code::NotCompileTime,
                "the ends of a range are integers that are known while expanding",
            )),
        };
        // In `slice`, an end of 0 stands for the extent: here it is an end that is written.
        let (begin, end) = match (bound(begin)?, end.is_some(), bound(end)?) {
            (0, true, 0) => EMPTY,
            (begin, true, 0) => {
                let message = format!("axis 0 has nothing from {begin} to 0 in steps of 1");
                return Err(Failure::new(Code::SliceRange, message));
            }
            (begin, _, end) => (begin, end),
        };
        self.slice_axis(tensor, begin, end)
    }

    fn slice_axis(&mut self, tensor: TensorId, begin: i64, end: i64) -> Outcome<Value> {
        let (span, dtype) = (self.here(), self.graph.tensors[tensor.index()].dtype);
        let site = self.implied(standard::SLICE, span, Hint::None, dtype)?;
        let ints = |i: i64| graph::Value::Integers([i].into());
        let named =
            [("input", graph::Value::Tensor(tensor)), ("axes", ints(0)), ("begin", ints(begin)), ("end", ints(end))];
        self.emit_named(&site, &named)
    }

    /// Turns an array of numbers into a constant tensor; other values are unchanged.
    pub(crate) fn as_tensor(&mut self, value: Value) -> Outcome<Value> {
        let Value::Array(list) = &value else { return Ok(value) };
        match self.sites.literals.get(&list.identity()) {
            Some((_, tensor)) => Ok(Value::Tensor(*tensor)),
            None => self.constant(&value, Hint::None),
        }
    }

    fn constant(&mut self, value: &Value, hint: Hint) -> Outcome<Value> {
        let Some((shape, items)) = flatten(value, &self.budget)? else {
            let message =
                "an array that is used as a tensor has rows of different length, or items that are not numbers";
            return Err(Failure::new(Code::DynamicType, message).label("not the items of a tensor"));
        };
        let (data, dtype) = pack(&items);
        let span = self.here();
        let mut site = self.implied(standard::CONSTANT, span, hint, dtype)?;
        site.explicit = dtype != Some(Primitive::Scalar);
        let shape = graph::Value::Integers(shape.into());
        let value = self.emit_named(&site, &[("shape", shape), ("value", data)])?;
        if let Value::Tensor(tensor) = value {
            self.graph.tensors[tensor.index()].literal = true;
        }
        Ok(value)
    }

    /// Pops a value and binds a name of the graph to it. A tensor with a generated name is renamed; a tensor
    /// that already has a name of the document, or a number, is copied; an array of numbers becomes a constant.
    pub(super) fn bind(&mut self, binding: u32) -> Outcome<()> {
        let binding = self.program.bindings[binding as usize];
        let value = self.pop();
        let keeps_name = self.graph.names.is_user(binding.id);
        let tensor = match &value {
            Value::Tensor(tensor) if !keeps_name => Some(*tensor),
            Value::Tensor(tensor) => Some(self.bind_tensor(binding.id, binding.name, *tensor)?),
            Value::Int(_) | Value::Scalar(_) | Value::Logical(_) => {
                Some(self.copy(&value, Hint::Named(binding.id), literal_type(&value))?)
            }
            Value::Array(list) if !list.is_empty() && flatten(&value, &self.budget)?.is_some() => {
                let Value::Tensor(tensor) = self.constant(&value, Hint::Named(binding.id))? else { return Ok(()) };
                self.sites.literals.insert(list.identity(), (value.clone(), tensor));
                Some(tensor)
            }
            _ => None,
        };
        if let (Some(tensor), false) = (tensor, matches!(value, Value::Tensor(_))) {
            self.sites.bound.insert(binding.slot, tensor);
        }
        let value = match (&value, tensor) {
            (Value::Tensor(_), Some(tensor)) => Value::Tensor(tensor),
            _ => value,
        };
        *self.slots.get(binding.slot) = Slot::Ready(value);
        Ok(())
    }

    fn bind_tensor(&mut self, id: NameId, name: Name, tensor: TensorId) -> Outcome<TensorId> {
        let current = self.graph.tensors[tensor.index()].name;
        if current == id {
            return Ok(tensor);
        }
        if !self.graph.names.is_user(current) {
            self.graph.names.rename(current, name);
            return Ok(tensor);
        }
        let dtype = self.graph.tensors[tensor.index()].dtype;
        self.copy(&Value::Tensor(tensor), Hint::Named(id), dtype)
    }

    fn copy(&mut self, value: &Value, hint: Hint, dtype: Option<Primitive>) -> Outcome<TensorId> {
        let span = self.here();
        let name = if self.units.standard(standard::COPY).is_some() { standard::COPY } else { "idn" };
        let site = self.implied(name, span, hint, dtype)?;
        let argument = value.freeze(&self.budget)?;
        match self.emit_with(&site, &[(Key::Param(0), argument)])? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Failure::new(Code::DynamicType, "a copy is a tensor")),
        }
    }
}

fn literal_type(value: &Value) -> Option<Primitive> {
    match value {
        Value::Int(_) => Some(Primitive::Integer),
        Value::Scalar(_) => Some(Primitive::Scalar),
        Value::Logical(_) => Some(Primitive::Logical),
        _ => None,
    }
}
