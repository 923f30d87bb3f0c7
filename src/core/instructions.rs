//! The instructions on compile-time values: slots, operators, subscripts.

use super::arithmetic;
use super::budget::{Failure, Outcome};
use super::builtins;
use super::list::List;
use super::machine::Machine;
use super::program::Conversion;
use super::slots::Slot;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::operators::{BinaryOp, Builtin, UnaryOp};

impl Machine {
    /// Converts a value to the structure that a parameter declares.
    pub(super) fn conform(&self, value: Value, conversion: Conversion) -> Outcome<Value> {
        let meter = Some(&self.budget.meter);
        match (value, conversion) {
            (value, Conversion::Known(numbers, then)) => match self.known_numbers(value, numbers) {
                tensor @ Value::Tensor(_) => Ok(tensor),
                value => self.conform(value, self.program.conversions[then as usize]),
            },
            (Value::Array(list), Conversion::Array(Some(of_items))) => {
                let of_items = self.program.conversions[of_items as usize];
                let items: Outcome<Vec<Value>> =
                    list.to_values().into_iter().map(|item| self.conform(item, of_items)).collect();
                Ok(Value::Array(List::from_values(items?, meter)))
            }
            (Value::Array(list), Conversion::Tuple(wanted)) => {
                if list.len() == wanted as usize {
                    return Ok(Value::Tuple(list));
                }
                let message = format!("expected a tuple of {wanted} items, this array has {}", list.len());
                Err(Failure::new(Code::LengthMismatch, message).label(format!("an array of {} items", list.len())))
            }
            (Value::Int(i), Conversion::Scalar) => Ok(Value::Scalar(i as f64)),
            (value @ Value::Array(_), _) => Ok(value),
            (value, Conversion::Array(_)) => Ok(Value::Array(List::from_values(vec![value], meter))),
            (value, _) => Ok(value),
        }
    }

    /// Pushes the value of a slot. If a deferred block computes the value, runs that block and then this
    /// instruction again.
    #[inline]
    pub(super) fn load(&mut self, slot: u32) {
        let value = match self.slots.get(slot) {
            Slot::Ready(Value::Tensor(tensor)) => Value::Tensor(*tensor),
            Slot::Ready(value) => value.clone(),
            &mut Slot::Deferred(block) => {
                let block = block as usize;
                let entry = self.program.blocks[block].entry;
                let again = std::mem::replace(&mut self.pc, entry) - 1;
                return self.force(again);
            }
            // Unreachable: the compiler emits no load of a slot that has no value.
            Slot::Empty => Value::Logical(false),
        };
        self.stack.push(value);
    }

    /// Starts a deferred block, which names its tensors as outside of all loops of its body.
    #[inline(never)]
    fn force(&mut self, again: u32) {
        let outside = self.iterations.path_outside(self.frames.len() as u32);
        let frame = self.frame();
        let path = frame.path;
        frame.path = outside.unwrap_or(path);
        self.forces.push((again, path));
    }

    pub(super) fn unary(&mut self, op: UnaryOp) -> Outcome<()> {
        let value = self.pop();
        if matches!(value, Value::Tensor(_)) {
            let tensor = self.emit_operator(op.info().tensor, &[value])?;
            self.stack.push(tensor);
            return Ok(());
        }
        self.stack.push(arithmetic::unary(op, &value)?);
        Ok(())
    }

    /// Applies a binary operator. If an operand turns out to be a tensor, adds the corresponding operation to
    /// the graph.
    pub(super) fn binary(&mut self, op: BinaryOp) -> Outcome<()> {
        if let [.., a, b] = &self.stack[..]
            && let Some(value) = arithmetic::of_numbers(op, a, b)
        {
            self.replace_top(2, value);
            return Ok(());
        }
        let b = self.pop();
        let a = self.pop();
        let tensors = matches!(a, Value::Tensor(_)) || matches!(b, Value::Tensor(_));
        let value = match op.info().tensor.filter(|_| tensors) {
            Some(name) => self.emit_operator(name, &[a, b])?,
            None => arithmetic::binary(op, &a, &b, &self.budget)?,
        };
        self.stack.push(value);
        Ok(())
    }

    pub(super) fn condition(&mut self, take: bool) -> Outcome<bool> {
        match self.stack.last() {
            Some(&Value::Logical(holds)) => {
                if take {
                    self.drop_top();
                }
                Ok(holds)
            }
            Some(Value::Tensor(_) | Value::Symbol(_)) => {
                let message = "this condition is not known while expanding";
                Err(Failure::new(Code::NotCompileTime, message).help("the operation `select` decides by tensor values"))
            }
            other => {
                let found = other.map_or("nothing", Value::kind);
                let message = format!("the condition is {found}, not a logical");
                Err(Failure::new(Code::DynamicType, message).label(format!("this is {found}")))
            }
        }
    }

    pub(super) fn short_circuit(&mut self, to: u32, on: bool) -> Outcome<()> {
        if self.condition(false)? == on {
            self.pc = to;
        } else {
            self.drop_top();
        }
        Ok(())
    }

    pub(super) fn collect(&mut self, count: u32) -> Outcome<List> {
        self.budget.allow(count as usize, u64::from(count) * 24)?;
        let items = self.stack.split_off(self.stack.len() - count as usize);
        Ok(List::from_values(items, Some(&self.budget.meter)))
    }

    pub(super) fn index(&mut self) -> Outcome<()> {
        let index = self.pop();
        let base = self.pop();
        let item = match base {
            Value::Tensor(tensor) => self.index_tensor(tensor, &index)?,
            base => arithmetic::index(&base, &index)?,
        };
        self.stack.push(item);
        Ok(())
    }

    pub(super) fn slice(&mut self, begin: bool, end: bool) -> Outcome<()> {
        let end = end.then(|| self.pop());
        let begin = begin.then(|| self.pop());
        match self.stack.last_mut() {
            Some(&mut Value::Tensor(tensor)) => {
                self.drop_top();
                let part = self.slice_tensor(tensor, begin.as_ref(), end.as_ref())?;
                self.stack.push(part);
                Ok(())
            }
            Some(base) => arithmetic::slice(base, begin.as_ref(), end.as_ref()),
            // Unreachable: the compiler balances pushes and pops.
            None => Ok(()),
        }
    }

    pub(super) fn builtin(&mut self, function: Builtin) -> Outcome<()> {
        let value = self.pop();
        let result = match (&value, function) {
            (_, Builtin::ShapeOf) => self.shape_of(&value)?,
            _ => builtins::apply(function, &value, &self.budget)?,
        };
        self.stack.push(result);
        Ok(())
    }

    pub(super) fn unpack(&mut self, count: u32) -> Outcome<()> {
        let value = self.pop();
        let (Value::Array(list) | Value::Tuple(list)) = &value else {
            let message = format!("the left side has {count} names, the value is {}", value.kind());
            return Err(Failure::new(Code::StructureMismatch, message).label(format!("{count} names")));
        };
        if list.len() != count as usize {
            let message = format!("the left side has {count} names, the value has {} items", list.len());
            return Err(Failure::new(Code::LengthMismatch, message).label(format!("{count} names")));
        }
        for i in (0..list.len()).rev() {
            self.stack.extend(list.get(i));
        }
        Ok(())
    }
}
