//! The signs of results, as far as operations determine them.

use super::standard::CONSTANT;
use super::{Graph, Operand, Operation, Primitive, TensorId, Value};

/// The maximum number of operations that are visited for one answer.
const VISITS: u32 = 64;

/// Operations whose result is never negative or -0 for any operand.
const ALWAYS: &[&str] = &["abs", "exp", "sigmoid", "softplus", "sqr", "relu"];
/// Operations with such a result if it holds for all their operands that are tensors or numbers.
const KEEPING: &[&str] = &["add", "mul", "div", "rcp", "min", "sqrt", "rsqrt"];
/// Operations whose items are items of the first operand, or means of some.
const PASSING: &[&str] = &["mean_reduce", "reshape", "transpose", "squeeze", "unsqueeze", "slice", "tile", "copy"];
/// Reductions whose result along axes without items is not determined by their operand.
const REDUCING: &[&str] = &["sum_reduce", "max_reduce", "min_reduce"];
/// Operators of torch that stay operators, whose items are means of those of their only operand.
const KEPT: &[&str] = &["torch_mean"];

impl Graph {
    /// Whether each item of a tensor is known to be a positive number, +0 or NaN, whatever the inputs are.
    pub(crate) fn never_negative(&self, tensor: TensorId) -> bool {
        self.is_never_negative(tensor, &mut VISITS.clone())
    }

    /// [`Graph::never_negative`] with the number of visits that are left, which also limits the recursion.
    fn is_never_negative(&self, tensor: TensorId, left: &mut u32) -> bool {
        let Some(producer) = self.producer(tensor) else { return false };
        if *left == 0 || self.dtype(tensor).is_some_and(|dtype| dtype != Primitive::Scalar) {
            return false;
        }
        *left -= 1;
        if !self.kind(producer).standard {
            let mut tensors = Vec::new();
            self.each_operand_tensor(producer, |tensor| tensors.push(tensor));
            return KEPT.contains(&self.operation_name(producer))
                && matches!(tensors[..], [only] if self.is_never_negative(only, left));
        }
        let operand = |i: usize| self.argument_of(producer, i as u32);
        let mut holds = |i: usize| operand(i).is_some_and(|operand| self.operand_never_negative(operand, left));
        match self.operation_name(producer) {
            name if ALWAYS.contains(&name) => true,
            "mul" if operand(0) == operand(1) => true,
            "pow" => operand(1).and_then(number).is_some_and(|power| power % 2.0 == 0.0) || holds(0),
            // The second operand if the first one is not greater.
            "max" if operand(1).and_then(number).is_some_and(is_positive_or_zero) => true,
            "max" if operand(0).and_then(number).is_some_and(|least| least > 0.0) => true,
            "max" => holds(0) && holds(1),
            "select" => holds(1) && holds(2),
            name if KEEPING.contains(&name) => (0..self.kind(producer).params.len()).all(holds),
            name if PASSING.contains(&name) => holds(0),
            name if REDUCING.contains(&name) => self.reduces_items(producer) && holds(0),
            CONSTANT => self.attribute(producer, "value").is_some_and(|value| match value {
                Value::Scalars(items) => items.iter().copied().all(is_positive_or_zero),
                Value::Array(items) => items.iter().all(|item| number(item.into()).is_some_and(is_positive_or_zero)),
                value => number(value.into()).is_some_and(is_positive_or_zero),
            }),
            _ => false,
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
