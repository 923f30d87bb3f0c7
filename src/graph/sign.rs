//! The signs of results, as far as operations determine them.

use super::{Graph, Operand, Operation, Primitive, TensorId, Value};
use crate::dictionary::{self, SignRule, Vocabulary};

/// The maximum number of operations that are visited for one answer.
const VISITS: u32 = 64;

impl Graph {
    /// Whether each item of a tensor is known to be a positive number, +0 or NaN, whatever the inputs are.
    pub(crate) fn never_negative(&self, tensor: TensorId) -> bool {
        self.is_never_negative(tensor, &mut VISITS.clone())
    }

    /// [`Graph::never_negative`] with the number of visits that are left, which also limits the recursion.
    fn is_never_negative(&self, tensor: TensorId, left: &mut u32) -> bool {
        let Some(producer) = self.maker(tensor) else { return false };
        if *left == 0 || self.dtype(tensor).is_some_and(|dtype| dtype != Primitive::Scalar) {
            return false;
        }
        *left -= 1;
        let kind = self.kind(producer);
        if !kind.standard {
            // Operators of torch that stay operators.
            let row = dictionary::find(Vocabulary::Foreign, self.operation_name(producer));
            let mut tensors = Vec::new();
            self.each_operand_tensor(producer, |tensor| tensors.push(tensor));
            return row.is_some_and(|row| row.sign == Some(SignRule::First))
                && matches!(tensors[..], [only] if self.is_never_negative(only, left));
        }
        let Some(rule) = self.meaning(kind).and_then(|row| row.sign) else { return false };
        let operand = |i: usize| self.argument_of(producer, i as u32);
        let mut holds = |i: usize| operand(i).is_some_and(|operand| self.operand_never_negative(operand, left));
        match rule {
            SignRule::Always => true,
            SignRule::Operands => (0..kind.params.len()).all(holds),
            SignRule::First => holds(0),
            SignRule::FirstReduced => self.reduces_items(producer) && holds(0),
            SignRule::Product => operand(0) == operand(1) || holds(0) && holds(1),
            SignRule::Power => operand(1).and_then(number).is_some_and(|power| power % 2.0 == 0.0) || holds(0),
            // The second operand if the first one is not greater.
            SignRule::Larger => {
                operand(1).and_then(number).is_some_and(is_positive_or_zero)
                    || operand(0).and_then(number).is_some_and(|least| least > 0.0)
                    || holds(0) && holds(1)
            }
            SignRule::Branches => holds(1) && holds(2),
            SignRule::Constant => self.attribute(producer, "value").is_some_and(|value| match value {
                Value::Scalars(items) => items.iter().copied().all(is_positive_or_zero),
                Value::Array(items) => items.iter().all(|item| number(item.into()).is_some_and(is_positive_or_zero)),
                value => number(value.into()).is_some_and(is_positive_or_zero),
            }),
        }
    }

    fn operand_never_negative(&self, operand: Operand, left: &mut u32) -> bool {
        match operand {
            Operand::Tensor(tensor) => self.is_never_negative(tensor, left),
            operand => number(operand).is_some_and(is_positive_or_zero),
        }
    }

    /// Whether a reduction has at least one item along each of its axes.
    fn reduces_items(&self, reduction: &Operation) -> bool {
        let (Some(Operand::Tensor(input)), Some(Value::Integers(axes))) =
            (self.argument(reduction, "input"), self.attribute(reduction, "axes"))
        else {
            return false;
        };
        self.shape(input).is_some_and(|shape| {
            axes.iter().all(|axis| {
                let extent = usize::try_from(*axis).ok().and_then(|axis| shape.extents().get(axis));
                extent.and_then(|extent| extent.known()).is_some_and(|extent| extent > 0)
            })
        })
    }
}

fn number(operand: Operand) -> Option<f64> {
    match operand.value()? {
        Value::Scalar(number) => Some(*number),
        _ => None,
    }
}

fn is_positive_or_zero(number: f64) -> bool {
    number >= 0.0 && number.is_sign_positive()
}
