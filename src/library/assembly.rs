//! Operators that NNEF expresses by several operations, for all notations that have them.
//!
//! A notation implements [`Assembly`] for what it adds operations with. An operator is then written once, on top of it.

pub(crate) mod einsum;
#[cfg(feature = "pnnx")]
pub(crate) mod recurrent;

use crate::graph::Value;

/// Adds operations to a graph.
pub(crate) trait Assembly {
    /// A tensor of the graph.
    type Tensor: Copy;
    /// Why an operator has no counterpart.
    type Refusal;

    /// A refusal with a reason.
    fn refusal(&self, reason: &'static str) -> Self::Refusal;

    /// The extents of a tensor, which have to be known.
    ///
    /// # Errors
    ///
    /// They are not known.
    fn extents_of(&self, x: Self::Tensor) -> Result<Vec<i64>, Self::Refusal>;

    /// The tensor as an argument of operations.
    fn argument(x: Self::Tensor) -> Value;

    /// Refuses a number of operations that would exceed the limit.
    ///
    /// # Errors
    ///
    /// There would be too many.
    fn allows(&self, operations: i64) -> Result<(), Self::Refusal>;

    /// Adds an operation with arguments by position, whose result has elements like those of a tensor.
    ///
    /// # Errors
    ///
    /// The operands do not fit, or there are too many operations.
    fn operation(
        &mut self,
        nnef: &'static str,
        arguments: Vec<Value>,
        like: Self::Tensor,
    ) -> Result<Self::Tensor, Self::Refusal>;

    /// Adds a formula on operands, which are broadcast already.
    ///
    /// # Errors
    ///
    /// As for operations.
    fn formula_of(&mut self, text: &str, operands: &[Self::Tensor]) -> Result<Self::Tensor, Self::Refusal>;

    /// Adds an operation on a tensor.
    ///
    /// # Errors
    ///
    /// As for operations, and so are those of the functions that follow.
    fn on(
        &mut self,
        nnef: &'static str,
        x: Self::Tensor,
        more: impl IntoIterator<Item = Value>,
    ) -> Result<Self::Tensor, Self::Refusal> {
        let arguments = std::iter::once(Self::argument(x)).chain(more).collect();
        self.operation(nnef, arguments, x)
    }

    /// The refusal of operands that do not fit the operator.
    fn unfit(&self) -> Self::Refusal {
        self.refusal("its operands do not fit each other")
    }

    /// A product of extents.
    fn count(&self, extents: &[i64]) -> Result<i64, Self::Refusal> {
        extents.iter().try_fold(1i64, |all, extent| all.checked_mul(*extent)).ok_or_else(|| self.unfit())
    }

    /// A tensor with the same items in other extents.
    fn reshaped(&mut self, x: Self::Tensor, extents: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        let own = self.extents_of(x)?;
        if own == extents {
            return Ok(x);
        }
        // An extent of 0 of the result is one of the operand in NNEF.
        if self.count(&own)? != self.count(extents)? || extents.contains(&0) {
            return Err(self.unfit());
        }
        self.on("reshape", x, [integers(extents)])
    }

    /// A tensor with its axes in another order.
    fn transposed(&mut self, x: Self::Tensor, order: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        if (0..).zip(order).all(|(i, axis)| i == *axis) { Ok(x) } else { self.on("transpose", x, [integers(order)]) }
    }

    /// The items from `begin` to `end` along an axis.
    fn part_of(
        &mut self,
        x: Self::Tensor,
        axis: usize,
        (begin, end): (i64, i64),
    ) -> Result<Self::Tensor, Self::Refusal> {
        match self.extents_of(x)?.get(axis) {
            Some(extent) if begin == 0 && end == *extent => Ok(x),
            Some(extent) if (0..end).contains(&begin) && end <= *extent => {
                self.on("slice", x, [integers(&[axis as i64]), integers(&[begin]), integers(&[end])])
            }
            _ => Err(self.unfit()),
        }
    }

    /// A tensor without axes of extent 1.
    fn without_axes(&mut self, x: Self::Tensor, axes: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        if axes.is_empty() { Ok(x) } else { self.on("squeeze", x, [integers(axes)]) }
    }

    /// A tensor with more axes of extent 1.
    fn with_more_axes(&mut self, x: Self::Tensor, axes: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        if axes.is_empty() { Ok(x) } else { self.on("unsqueeze", x, [integers(axes)]) }
    }

    /// Tensors one after another along an axis.
    fn concatenated(&mut self, parts: &[Self::Tensor], axis: usize) -> Result<Self::Tensor, Self::Refusal> {
        match parts {
            [] => Err(self.unfit()),
            [only] => Ok(*only),
            [first, ..] => {
                let values = Value::Array(parts.iter().map(|part| Self::argument(*part)).collect());
                self.operation("concat", vec![values, Value::Int(axis as i64)], *first)
            }
        }
    }

    /// The product of two tensors of equal rank along their last two axes, each of which may be transposed.
    fn multiplied(
        &mut self,
        a: Self::Tensor,
        b: Self::Tensor,
        transposed: (bool, bool),
    ) -> Result<Self::Tensor, Self::Refusal> {
        let mut more = vec![Self::argument(b)];
        if transposed != (false, false) {
            more.extend([Value::Logical(transposed.0), Value::Logical(transposed.1)]);
        }
        self.on("matmul", a, more)
    }
}

/// Integers as an attribute.
pub(crate) fn integers(items: &[i64]) -> Value {
    Value::Integers(items.into())
}
