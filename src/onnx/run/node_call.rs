//! What a kernel gets: a node with the values of its operands.

use std::borrow::Cow;
use std::sync::Arc;

use super::attributes::NodeAttributes;
use super::kernels::elementwise;
use super::stored::{Stores, tensor_of};
use crate::dictionary::{Arith, Kernel};
use crate::eval::{Budget, EvalError};
use crate::extents;
use crate::graph::names::NameId;
use crate::tensor::value::RunValue;
use crate::tensor::{DType, Data, Tensor, TensorError};

/// The results of a node, one for each output that the operator has; a node may use fewer.
pub(crate) type KernelResult = Result<Vec<RunValue>, EvalError>;

/// What computes the results of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeKernel {
    /// A function for this operator.
    Own(fn(&NodeCall) -> KernelResult),
    /// What the dictionary says about each item.
    Meaning(Kernel),
    /// Arithmetic of all operands.
    All(Arith),
}

impl NodeKernel {
    /// The results of a node.
    ///
    /// # Errors
    ///
    /// The operands do not fit, or a limit is reached.
    pub(super) fn run(self, call: &NodeCall) -> KernelResult {
        match self {
            NodeKernel::Own(compute) => compute(call),
            NodeKernel::Meaning(kernel) => elementwise::meaning(call, kernel),
            NodeKernel::All(op) => elementwise::variadic(call, op),
        }
    }
}

/// A node with the values of its operands.
pub(crate) struct NodeCall<'c, 'm> {
    pub(super) attributes: NodeAttributes<'c, 'm>,
    /// The imported version of the operator set.
    pub(crate) version: i64,
    /// The operands; none for those that are left out.
    pub(super) operands: &'c [Option<RunValue>],
    pub(crate) budget: &'c Budget,
    pub(super) stores: &'c Stores,
}

/// The only result.
pub(crate) fn one(tensor: impl Into<RunValue>) -> KernelResult {
    Ok(vec![tensor.into()])
}

impl<'m> NodeCall<'_, 'm> {
    /// The name of the operator.
    pub(crate) fn name(&self) -> &'m str {
        self.attributes.node.op_type.map_or("", |name| self.attributes.names.texts.text(name))
    }

    /// The number of operands, left out ones included.
    pub(crate) fn count(&self) -> usize {
        self.operands.len()
    }

    /// The number of results that the node has.
    pub(crate) fn results(&self) -> usize {
        self.attributes.node.outputs.len()
    }

    /// Whether the node has a result and gives it a name.
    pub(crate) fn wants(&self, result: usize) -> bool {
        self.attributes.node.outputs.get(result).is_some_and(|name| *name != NameId::ROOT)
    }

    // Operands.

    /// An operand, if it is there.
    pub(crate) fn given(&self, i: usize) -> Option<&RunValue> {
        self.operands.get(i)?.as_ref()
    }

    /// An operand that must be there.
    pub(crate) fn value(&self, i: usize) -> Result<&RunValue, EvalError> {
        self.given(i).ok_or_else(|| EvalError::argument(format!("`{}` has no operand {i}", self.name())))
    }

    /// A tensor that may be left out.
    pub(crate) fn optional(&self, i: usize) -> Result<Option<&Arc<Tensor>>, EvalError> {
        match self.given(i) {
            None => Ok(None),
            Some(RunValue::Tensor(tensor)) => Ok(Some(tensor)),
            Some(other) => {
                Err(EvalError::argument(format!("operand {i} of `{}` is {}, not a tensor", self.name(), other.kind())))
            }
        }
    }

    /// A tensor.
    pub(crate) fn tensor(&self, i: usize) -> Result<&Arc<Tensor>, EvalError> {
        self.value(i)?;
        self.optional(i)?.ok_or_else(|| EvalError::argument("an operand is left out"))
    }

    /// All operands as tensors.
    pub(crate) fn tensors(&self) -> Result<Vec<&Arc<Tensor>>, EvalError> {
        (0..self.count()).map(|i| self.tensor(i)).collect()
    }

    /// The items of a sequence.
    pub(crate) fn sequence(&self, i: usize) -> Result<&Arc<Vec<RunValue>>, EvalError> {
        match self.value(i)? {
            RunValue::Sequence(items) => Ok(items),
            other => Err(EvalError::argument(format!(
                "operand {i} of `{}` is {}, not a sequence",
                self.name(),
                other.kind()
            ))),
        }
    }

    /// A tensor of integers as a list, if it is given.
    pub(crate) fn optional_list(&self, i: usize) -> Result<Option<Vec<i64>>, EvalError> {
        self.optional(i)?.map(|tensor| integers(tensor)).transpose()
    }

    /// A tensor of integers as a list.
    pub(crate) fn list(&self, i: usize) -> Result<Vec<i64>, EvalError> {
        integers(self.tensor(i)?)
    }

    /// The only item of a tensor of integers.
    pub(crate) fn single(&self, i: usize) -> Result<i64, EvalError> {
        match self.list(i)?[..] {
            [item] => Ok(item),
            ref items => Err(EvalError::shapes(format!("operand {i} has {} items, not one", items.len()))),
        }
    }

    /// The only item of a tensor of integers, if it is given.
    pub(crate) fn optional_single(&self, i: usize) -> Result<Option<i64>, EvalError> {
        self.given(i).map(|_| self.single(i)).transpose()
    }

    /// The only item of a tensor of numbers as a float, if it is given.
    pub(crate) fn single_float(&self, i: usize) -> Result<Option<f64>, EvalError> {
        let Some(tensor) = self.optional(i)? else { return Ok(None) };
        match &*floats(tensor)? {
            [item] => Ok(Some(*item)),
            items => Err(EvalError::shapes(format!("operand {i} has {} items, not one", items.len()))),
        }
    }

    // NodeAttributes.

    /// An integer attribute, if it is given.
    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>, EvalError> {
        self.attributes.read(name)
    }

    /// An integer attribute with a default.
    pub(crate) fn int_or(&self, name: &str, default: i64) -> Result<i64, EvalError> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// An integer attribute that is a truth value, with a default.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, EvalError> {
        Ok(self.int(name)?.map_or(default, |value| value != 0))
    }

    /// A float attribute with a default.
    pub(crate) fn float_or(&self, name: &str, default: f32) -> Result<f64, EvalError> {
        Ok(self.float(name)?.unwrap_or(f64::from(default)))
    }

    /// A float attribute, if it is given.
    pub(crate) fn float(&self, name: &str) -> Result<Option<f64>, EvalError> {
        Ok(self.attributes.read::<f32>(name)?.map(f64::from))
    }

    /// A list of integers, if it is given.
    pub(crate) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, EvalError> {
        self.attributes.read(name)
    }

    /// A list of floats, if it is given.
    pub(crate) fn float_list(&self, name: &str) -> Result<Option<Vec<f32>>, EvalError> {
        self.attributes.read(name)
    }

    /// A text, if it is given.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, EvalError> {
        self.attributes.read(name)
    }

    /// A text with a default.
    pub(crate) fn text_or(&self, name: &str, default: &str) -> Result<String, EvalError> {
        Ok(self.text(name)?.unwrap_or_else(|| default.to_owned()))
    }

    /// A list of texts, if it is given.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, EvalError> {
        self.attributes.read(name)
    }

    /// A tensor attribute, if it is given.
    pub(crate) fn tensor_attribute(&self, name: &str) -> Result<Option<Tensor>, EvalError> {
        let found = self.attributes.tensor(name)?;
        found.map(|found| tensor_of(found, self.stores, self.budget)).transpose()
    }

    /// Whether an attribute is given.
    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.find(name).is_some()
    }

    /// A sparse tensor attribute as a dense tensor, if it is given.
    pub(crate) fn sparse_attribute(&self, name: &str) -> Result<Option<Tensor>, EvalError> {
        let Some(found) = self.attributes.find(name) else { return Ok(None) };
        super::sparse::of_attribute(found, self.stores, self.budget)
    }
    /// The element type that an integer attribute names, if it is given.
    pub(crate) fn dtype_attribute(&self, name: &str) -> Result<Option<DType>, EvalError> {
        let Some(number) = self.int(name)? else { return Ok(None) };
        let known = i32::try_from(number).ok().and_then(super::element::dtype_of);
        known
            .map(Some)
            .ok_or_else(|| EvalError::argument(format!("`{name}` is {number}, which is not an element type")))
    }

    // Results.

    /// Checks before its allocation that the limits allow a tensor of a shape. Returns the number of its items.
    pub(crate) fn room(&self, shape: &[usize]) -> Result<usize, EvalError> {
        self.budget.extents(shape)
    }

    /// Checks before its allocation that the limits allow a tensor of new texts, which have a number of bytes together.
    pub(crate) fn texts_room(&self, shape: &[usize], bytes: usize) -> Result<usize, EvalError> {
        let count = self.room(shape)?;
        // A text has a reference of two words and two counters.
        self.budget.memory(count.saturating_mul(3).saturating_add(bytes.div_ceil(8)), "the texts of a tensor")?;
        Ok(count)
    }

    /// An axis, counted from the end if it is negative.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, EvalError> {
        extents::axis(axis, rank).ok_or_else(|| {
            EvalError::shapes(format!("axis {axis} of `{}` is not within a rank of {rank}", self.name()))
        })
    }

    /// The axes that an operand or attribute lists, in its order; all if it is left out.
    pub(crate) fn axes_or_all(&self, axes: Option<Vec<i64>>, rank: usize) -> Result<Vec<usize>, EvalError> {
        match axes {
            Some(axes) => axes.iter().map(|&axis| self.axis(axis, rank)).collect(),
            None => Ok((0..rank).collect()),
        }
    }

    /// Axes, sorted and distinct.
    pub(crate) fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, EvalError> {
        let mut found = axes.iter().map(|&axis| self.axis(axis, rank)).collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// A tensor of floats that are rounded to an element type.
    pub(crate) fn rounded(
        &self,
        dtype: DType,
        shape: &[usize],
        items: impl IntoIterator<Item = f64>,
    ) -> Result<Tensor, EvalError> {
        self.room(shape)?;
        Ok(Tensor::with(shape, Data::from_floats(dtype, items.into_iter()))?)
    }

    /// A tensor of integers that wrap to an element type.
    pub(crate) fn wrapped(
        &self,
        dtype: DType,
        shape: &[usize],
        items: impl IntoIterator<Item = i128>,
    ) -> Result<Tensor, EvalError> {
        self.room(shape)?;
        Ok(Tensor::with(shape, Data::from_wide(dtype, items.into_iter()))?)
    }

    /// A tensor with these elements.
    pub(crate) fn made(&self, shape: &[usize], data: Data) -> Result<Tensor, EvalError> {
        self.room(shape)?;
        Tensor::with(shape, data).map_err(|TensorError(message)| EvalError::shapes(message))
    }

    /// An error of operands whose shapes do not fit.
    pub(crate) fn misfit(&self, what: impl std::fmt::Display) -> EvalError {
        EvalError::shapes(format!("`{}`: {what}", self.name()))
    }

    /// An error of an operand or attribute that the operator does not take.
    pub(crate) fn refused(&self, what: impl std::fmt::Display) -> EvalError {
        EvalError::argument(format!("`{}`: {what}", self.name()))
    }
}

/// The elements of a tensor of numbers or logicals as floats.
pub(crate) fn floats(tensor: &Tensor) -> Result<Cow<'_, [f64]>, EvalError> {
    match tensor.data() {
        Data::Float64(items) => Ok(Cow::Borrowed(items)),
        Data::Float32(items) | Data::Narrow(_, items) => Ok(items.iter().map(|&item| f64::from(item)).collect()),
        Data::Text(_) | Data::Complex64(_) | Data::Complex128(_) => Err(unnumbered(tensor)),
        data => Ok((0..data.len()).map(|i| data.float(i)).collect()),
    }
}

/// The elements of a tensor of integers or logicals.
pub(crate) fn integers(tensor: &Tensor) -> Result<Vec<i64>, EvalError> {
    let data = tensor.data();
    match tensor.dtype() {
        dtype if dtype.is_integer() || dtype == DType::Bool => Ok((0..data.len()).map(|i| data.integer(i)).collect()),
        other => Err(EvalError::argument(format!("an operand has items of type {other}, not integers"))),
    }
}

/// The logicals of a tensor.
pub(crate) fn logicals(tensor: &Tensor) -> Result<&[bool], EvalError> {
    let wrong = || EvalError::argument(format!("an operand has items of type {}, not logicals", tensor.dtype()));
    tensor.items::<bool>().ok_or_else(wrong)
}

/// The texts of a tensor.
pub(crate) fn texts(tensor: &Tensor) -> Result<&[Arc<str>], EvalError> {
    match tensor.data() {
        Data::Text(items) => Ok(items),
        _ => Err(EvalError::argument(format!("an operand has items of type {}, not text", tensor.dtype()))),
    }
}

fn unnumbered(tensor: &Tensor) -> EvalError {
    EvalError::argument(format!("an operand has items of type {}, not numbers", tensor.dtype()))
}
