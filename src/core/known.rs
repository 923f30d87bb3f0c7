//! Tensors with known items, given for numbers: the static type decides, so that they are these numbers (3.3.3).

use super::budget::{Failure, Outcome};
use super::list::List;
use super::machine::Machine;
use super::value::Value;
use super::wanted::WantedNumbers;
use crate::diagnostics::Code;
use crate::graph::operators::BinaryOp;
use crate::graph::shapes::{Item, Items};
use crate::graph::{Extent, Primitive, TensorId};
use crate::room::with_stack;

impl Machine {
    /// Replaces tensors whose items are known by their items. Other tensors stay.
    pub(super) fn known_numbers(&self, value: Value, wanted: WantedNumbers) -> Value {
        match value {
            Value::Tensor(tensor) => self.items_of(tensor, wanted).unwrap_or(Value::Tensor(tensor)),
            Value::Array(list) if wanted.depth > 0 => {
                let below = WantedNumbers { depth: wanted.depth - 1, ..wanted };
                let number = |item| with_stack(|| self.known_numbers(item, below));
                let items = list.to_values().into_iter().map(number).collect();
                Value::Array(List::from_values(items, Some(&self.budget.meter)))
            }
            value => value,
        }
    }

    /// The items of a tensor, nested by its shape; a tensor of one item can be a number, too.
    fn items_of(&self, tensor: TensorId, wanted: WantedNumbers) -> Option<Value> {
        let known = self.graph.values.get(&tensor).filter(|items| items.is_whole())?;
        let of = wanted.of.or(self.graph.dtype(tensor));
        let mut items: Vec<Value> = known.items.iter().map(|item| number(item, known, of)).collect::<Option<_>>()?;
        let shape = self.graph.shape(tensor)?.extents();
        match (wanted.depth, shape) {
            (_, []) => items.pop(),
            (0, [extent]) if *extent == Extent::ONE => items.pop(),
            (depth, shape) if shape.len() <= usize::from(depth) => {
                // From the innermost axis outwards.
                for extent in shape[1..].iter().rev() {
                    let extent = usize::try_from(extent.known()?).ok().filter(|extent| *extent > 0)?;
                    let row = |row: &[Value]| Value::Array(List::from_values(row.to_vec(), None));
                    items = items.chunks(extent).map(row).collect();
                }
                Some(Value::Array(List::from_values(items, Some(&self.budget.meter))))
            }
            _ => None,
        }
    }

    /// Joins or repeats arrays. A tensor in the place of one is not added.
    pub(super) fn join(&mut self, op: BinaryOp) -> Outcome<()> {
        let operands = &self.stack[self.stack.len().saturating_sub(2)..];
        if operands.iter().any(|operand| matches!(operand, Value::Tensor(_))) {
            let does = if op == BinaryOp::Add { "joins" } else { "repeats" };
            let message = format!("`{}` {does} arrays here; the items of this tensor are not known", op.info().text);
            let failure = Failure::new(Code::NotCompileTime, message);
            return Err(failure.help("give an array; or declare the parameter as a tensor to compute with its items"));
        }
        self.binary(op)
    }
}

/// An item as a number of a type; none if it is not known, or not of that type.
fn number(item: &Item, items: &Items, of: Option<Primitive>) -> Option<Value> {
    match of {
        Some(Primitive::Scalar) => item.scalar().map(Value::Scalar),
        Some(Primitive::Logical) => item.dim().known().map(|item| Value::Logical(item != 0)),
        Some(Primitive::Integer) => integer(item),
        Some(Primitive::String) => None,
        Some(Primitive::Generic) | None if items.scalars => item.scalar().map(Value::Scalar),
        Some(Primitive::Generic) | None => integer(item),
    }
}

fn integer(item: &Item) -> Option<Value> {
    item.dim().known().map(Value::Int)
}
