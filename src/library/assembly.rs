//! Operators that NNEF expresses by several operations, for all notations that have them.
//!
//! A notation implements [`Assembly`] for what it adds operations with. An operator is then written once, on top of it.

pub(crate) mod einsum;
#[cfg(feature = "pnnx")]
pub(crate) mod recurrent;

use std::ops::Range;

use crate::extents::Window;
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
        self.on("reshape", x, [integers(extents.iter().copied())])
    }

    /// A tensor with its axes in another order.
    fn transposed(&mut self, x: Self::Tensor, order: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        if (0..).zip(order).all(|(i, axis)| i == *axis) {
            Ok(x)
        } else {
            self.on("transpose", x, [integers(order.iter().copied())])
        }
    }

    /// The items of a range along an axis.
    fn part_of(&mut self, x: Self::Tensor, axis: i64, range: Range<i64>) -> Result<Self::Tensor, Self::Refusal> {
        let extents = self.extents_of(x)?;
        match usize::try_from(axis).ok().and_then(|axis| extents.get(axis)) {
            Some(extent) if range == (0..*extent) => Ok(x),
            Some(extent) if 0 <= range.start && range.start < range.end && range.end <= *extent => {
                self.on("slice", x, [axis, range.start, range.end].map(|number| integers([number])))
            }
            _ => Err(self.unfit()),
        }
    }

    /// The item at a place along an axis, which stays.
    fn item_of(&mut self, x: Self::Tensor, axis: i64, at: i64) -> Result<Self::Tensor, Self::Refusal> {
        self.part_of(x, axis, at..at.saturating_add(1))
    }

    /// Indices in which negative ones count from the end.
    fn counted_from_start(&mut self, indices: Self::Tensor, extent: i64) -> Result<Self::Tensor, Self::Refusal> {
        self.formula_of(&format!("select(lt(@0,0),add(@0,{extent}),@0)"), &[indices])
    }

    /// A tensor without axes of extent 1.
    fn without_axes(&mut self, x: Self::Tensor, axes: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        if axes.is_empty() { Ok(x) } else { self.on("squeeze", x, [integers(axes.iter().copied())]) }
    }

    /// A tensor with more axes of extent 1.
    fn with_axes(
        &mut self,
        x: Self::Tensor,
        axes: impl IntoIterator<Item = i64>,
    ) -> Result<Self::Tensor, Self::Refusal> {
        let mut axes = axes.into_iter().peekable();
        if axes.peek().is_none() { Ok(x) } else { self.on("unsqueeze", x, [integers(axes)]) }
    }

    /// Tensors one after another along an axis.
    fn concatenated(&mut self, parts: &[Self::Tensor], axis: i64) -> Result<Self::Tensor, Self::Refusal> {
        match parts {
            [] => Err(self.unfit()),
            [only] => Ok(*only),
            [first, ..] => {
                let values = Value::Array(parts.iter().map(|part| Self::argument(*part)).collect());
                self.operation("concat", vec![values, Value::Int(axis)], *first)
            }
        }
    }

    /// The items of a tensor whose axes are split, ordered, and joined again.
    fn shuffled(
        &mut self,
        x: Self::Tensor,
        apart: &[i64],
        order: &[i64],
        to: &[i64],
    ) -> Result<Self::Tensor, Self::Refusal> {
        let apart = self.reshaped(x, apart)?;
        let turned = self.transposed(apart, order)?;
        self.reshaped(turned, to)
    }

    /// Softmax along axes, as a logarithm: the greatest item is subtracted first, so that no exponential overflows.
    fn log_softmax(&mut self, x: Self::Tensor, axes: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        let axes = integers(axes.iter().copied());
        let peak = self.on("max_reduce", x, [axes.clone()])?;
        let less = self.on("sub", x, [Self::argument(peak)])?;
        let weights = self.on("exp", less, [])?;
        let sum = self.on("sum_reduce", weights, [axes])?;
        let logarithm = self.on("log", sum, [])?;
        self.on("sub", less, [Self::argument(logarithm)])
    }

    /// The logarithm of the sum of exponentials along axes. The greatest item is subtracted first, unless it is infinite.
    fn log_sum_exp(&mut self, x: Self::Tensor, axes: &[i64]) -> Result<Self::Tensor, Self::Refusal> {
        let axes = integers(axes.iter().copied());
        let peak = self.on("max_reduce", x, [axes.clone()])?;
        let finite = self.formula_of("select(eq(mul(@0,0.5),@0),0.0,@0)", &[peak])?;
        let weights = self.formula_of("exp(sub(@0,@1))", &[x, finite])?;
        let sum = self.on("sum_reduce", weights, [axes])?;
        self.formula_of("add(log(@0),@1)", &[sum, finite])
    }

    /// The products of the items along an axis with a matrix, which has a row for each item of the result and as many
    /// leading axes as the tensor.
    fn weighted(&mut self, x: Self::Tensor, axis: i64, matrix: Self::Tensor) -> Result<Self::Tensor, Self::Refusal> {
        let rank = self.extents_of(x)?.len();
        if axis.saturating_add(2) == rank as i64 {
            return self.operation("matmul", [matrix, x].map(Self::argument).to_vec(), x);
        }
        let at = usize::try_from(axis).ok().filter(|at| *at < rank).ok_or_else(|| self.unfit())?;
        let mut order: Vec<i64> = (0..rank as i64).collect();
        order.swap(at, rank.saturating_sub(1));
        let turned = self.transposed(x, &order)?;
        let turned = if rank == 1 { self.with_axes(turned, [0])? } else { turned };
        let product = self.multiplied(turned, matrix, [false, true])?;
        let product = if rank == 1 { self.without_axes(product, &[0])? } else { product };
        self.transposed(product, &order)
    }

    /// The product of two tensors of equal rank along their last two axes, each of which may be transposed.
    fn multiplied(
        &mut self,
        a: Self::Tensor,
        b: Self::Tensor,
        transposed: [bool; 2],
    ) -> Result<Self::Tensor, Self::Refusal> {
        let mut more = vec![Self::argument(b)];
        if transposed.contains(&true) {
            more.extend(transposed.map(Value::Logical));
        }
        self.on("matmul", a, more)
    }
}

/// Integers as an attribute.
pub(crate) fn integers(items: impl IntoIterator<Item = i64>) -> Value {
    Value::Integers(items.into_iter().collect())
}

/// Pairs of integers as an attribute.
pub(crate) fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// The attributes of windows that a convolution has: border, padding, strides, dilations.
pub(crate) fn of_windows(border: &str, windows: &[Window]) -> [Value; 4] {
    [
        Value::String(border.into()),
        pairs(windows.iter().map(|window| window.padding)),
        integers(windows.iter().map(|window| window.stride)),
        integers(windows.iter().map(|window| window.dilation)),
    ]
}

/// The attributes of pooling with windows along the last axes of a rank: size, border, padding, strides, dilations.
pub(crate) fn of_pools(outer: usize, border: &str, windows: &[Window]) -> [Value; 5] {
    let all: Vec<Window> = std::iter::repeat_n(Window::side_by_side(1), outer).chain(windows.iter().copied()).collect();
    let [border, padding, strides, dilations] = of_windows(border, &all);
    [integers(all.iter().map(|window| window.size)), border, padding, strides, dilations]
}
