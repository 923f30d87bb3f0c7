//! The interface between kernels and the evaluator: an operation, its operands and attributes.

use std::sync::Arc;

use ndarray::{ArrayD, Axis};

use super::array::{scalars, view};
use super::budget::Budget;
use super::error::EvalError;
use super::joined::stacked;
use super::run::Run;
use crate::diagnostics::Code;
use crate::dictionary::Deviation;
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::dims::Dim;
use crate::graph::{Graph, Key, Operand, Operation, TensorId, Value};
use crate::tensor::{DType, Tensor};

/// The result of a kernel: the results of the operation, in order.
pub(crate) type KernelResult = Result<Vec<Tensor>, EvalError>;

/// Computes the results of an operation.
pub(crate) type Kernel = Arc<dyn Fn(&Call) -> KernelResult>;

/// An operation whose operands have been evaluated.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) operation: &'a Operation,
}

/// The element type of a primitive type, if tensors of this type can be evaluated.
pub(super) fn element_type(primitive: Primitive) -> Option<DType> {
    match primitive {
        Primitive::Scalar => Some(DType::Float64),
        Primitive::Integer => Some(DType::Int64),
        Primitive::Logical => Some(DType::Bool),
        Primitive::String | Primitive::Generic => None,
    }
}

impl<'a> Call<'a> {
    /// The graph that the operation belongs to.
    pub(crate) fn graph(&self) -> &'a Graph {
        self.run.graph
    }

    /// The name of the operation.
    pub fn name(&self) -> &'a str {
        self.graph().operation_name(self.operation)
    }

    /// The budget of the evaluation.
    pub(crate) fn budget(&self) -> &'a Budget {
        self.run.budget
    }

    /// Whether the operation has a deviation, in a graph with registries.
    pub(crate) fn deviates(&self, deviation: Deviation) -> bool {
        self.graph().deviates(self.graph().kind(self.operation), deviation)
    }

    /// Whether the graph is of the draft dialect, in which every shape implicitly has further trailing axes of
    /// extent 1.
    pub(crate) fn draft(&self) -> bool {
        self.graph().dialect == Dialect::Draft
    }

    /// The type argument of the operation.
    pub(crate) fn element_type(&self) -> Option<DType> {
        self.operation.dtype().and_then(element_type)
    }

    /// The results of the operation.
    pub(crate) fn outputs(&self) -> Vec<TensorId> {
        self.graph().tensors_of(self.operation).collect()
    }

    /// The argument with a name, or its default.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.graph().argument(self.operation, name).map(Operand::to_value)
    }

    /// The argument with a name, or its default, if it is not a tensor.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a Value> {
        self.graph().attribute(self.operation, name)
    }

    /// The argument with a name, or else the one at a position, since vendor operations may be undeclared or use
    /// another name.
    pub(crate) fn value_at(&self, position: usize, name: &str) -> Option<Value> {
        let arguments = || self.graph().arguments(self.operation);
        let declared = || arguments().find(|(key, _)| *key == Key::Param(position as u32));
        let positional = || arguments().filter(|(key, _)| *key == Key::Positional).nth(position);
        self.value(name).or_else(|| declared().or_else(positional).map(|(_, operand)| operand.to_value()))
    }

    fn missing(&self, name: &str) -> EvalError {
        EvalError::argument(format!("`{}` has no argument `{name}`", self.name()))
    }

    fn wrong(&self, name: &str, wanted: &str) -> EvalError {
        EvalError::argument(format!("`{name}` of `{}` must be {wanted}", self.name()))
    }

    /// Converts a value to a tensor: a number becomes a tensor of rank 0.
    pub(crate) fn tensor_of(&self, value: &Value) -> Result<Arc<Tensor>, EvalError> {
        let literal = |tensor| Ok(Arc::new(tensor));
        match value {
            Value::Tensor(tensor) => self.run.tensor(*tensor),
            Value::Scalar(item) => literal(Tensor::number(*item)),
            Value::Int(item) => literal(Tensor::integers(&[], vec![*item])?),
            Value::Logical(item) => literal(Tensor::logicals(&[], vec![*item])?),
            // Models of tract have arrays of numbers for parameters that are declared as tensors.
            Value::Integers(_) | Value::Scalars(_) | Value::Array(_) => literal(nested(value, 0)?),
            Value::Symbol(symbol) => {
                let value = |name: &str| self.run.symbols.get(name).copied();
                if let Some(value) = Dim::of_text(symbol).value(&value) {
                    return literal(Tensor::integers(&[], vec![value])?);
                }
                let message = format!("`{}` depends on `{}`, whose value is not known", self.name(), symbol);
                Err(EvalError::new(Code::EvalArgument, message))
            }
            Value::String(_) | Value::Tuple(_) => {
                Err(EvalError::argument(format!("an operand of `{}` is not a tensor", self.name())))
            }
        }
    }

    /// A tensor argument.
    pub fn tensor(&self, name: &str) -> Result<Arc<Tensor>, EvalError> {
        self.tensor_of(&self.value(name).ok_or_else(|| self.missing(name))?)
    }

    /// A tensor argument; in the draft, extended to a rank with trailing axes of extent 1.
    pub(crate) fn tensor_to(&self, name: &str, rank: usize) -> Result<Arc<Tensor>, EvalError> {
        let tensor = self.tensor(name)?;
        if !self.draft() || tensor.rank() >= rank || rank > super::MAX_RANK {
            return Ok(tensor);
        }
        Ok(Arc::new(tensor.lengthened(rank)))
    }

    /// A numeric tensor argument, converted to scalars.
    pub(crate) fn numbers(&self, name: &str) -> Result<Arc<Tensor>, EvalError> {
        self.numbers_to(name, 0)
    }

    /// A numeric tensor argument, converted to scalars; in the draft, extended to a rank. Logicals in their place, which
    /// checks allow, are 0 and 1.
    pub(crate) fn numbers_to(&self, name: &str, rank: usize) -> Result<Arc<Tensor>, EvalError> {
        let tensor = self.tensor_to(name, rank)?;
        if tensor.dtype() != DType::Float64 {
            self.budget().room(tensor.shape())?;
        }
        as_scalars(tensor)
    }

    /// A numeric tensor argument as an array.
    pub(crate) fn scalars(&self, name: &str) -> Result<ArrayD<f64>, EvalError> {
        self.scalars_to(name, 0)
    }

    /// A numeric tensor argument as an array; in the draft, extended to a rank.
    pub(crate) fn scalars_to(&self, name: &str, rank: usize) -> Result<ArrayD<f64>, EvalError> {
        let tensor = self.numbers_to(name, rank)?;
        self.budget().room(tensor.shape())?;
        Ok(scalars(&tensor))
    }

    /// Applies a function to each item of a tensor of scalars.
    pub(crate) fn mapped(&self, x: &Tensor, f: impl Fn(f64) -> f64) -> Result<Tensor, EvalError> {
        self.budget().room(x.shape())?;
        let items = x.items().unwrap_or_default();
        Ok(Tensor::of(x.shape(), items.iter().map(|&item| f(item)).collect())?)
    }

    /// A tensor argument of integers; integral scalars are accepted.
    pub(crate) fn integers(&self, name: &str) -> Result<ArrayD<i64>, EvalError> {
        let tensor = self.tensor(name)?;
        // The converted tensor, and the array.
        self.budget().room(tensor.shape())?;
        self.budget().room(tensor.shape())?;
        let tensor = Tensor::clone(&tensor).into_type(DType::Int64);
        let tensor = tensor.map_err(|error| EvalError::value(error.0))?;
        let array = view(&tensor).map(|view| view.to_owned());
        array.ok_or_else(|| self.wrong(name, "a tensor of integers"))
    }

    /// A tensor argument of logicals. Of numbers in their place, which checks allow (E0721), all except 0 are true, as
    /// for `cast` and in tract.
    pub(crate) fn logicals(&self, name: &str) -> Result<Arc<Tensor>, EvalError> {
        let tensor = self.tensor(name)?;
        if tensor.dtype() == DType::Bool {
            return Ok(tensor);
        }
        self.converted(&tensor, DType::Bool).map(Arc::new)
    }

    /// A tensor converted as by `cast` (4.5.8 and 3.3.7): scalars are truncated to integers, logicals become 0 and 1, and
    /// all numbers except 0 become true.
    pub(crate) fn converted(&self, input: &Tensor, wanted: DType) -> Result<Tensor, EvalError> {
        self.budget().room(input.shape())?;
        let whole = |item: &f64| {
            // The range includes -2^63 and excludes 2^63.
            let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(item);
            if fits { Ok(*item as i64) } else { Err(EvalError::value(format!("{item} is not an integer of 64 bits"))) }
        };
        let (shape, items) = (input.shape(), input.items::<f64>());
        Ok(match (wanted, items) {
            (DType::Int64, Some(items)) => Tensor::of(shape, items.iter().map(whole).collect::<Result<_, _>>()?)?,
            (DType::Bool, _) => Tensor::of(shape, input.to_scalars().into_iter().map(|item| item != 0.0).collect())?,
            (wanted, _) => input.clone().into_type(wanted)?,
        })
    }

    /// An argument that is an array of tensors.
    pub fn tensors(&self, name: &str) -> Result<Vec<Arc<Tensor>>, EvalError> {
        match self.value(name).ok_or_else(|| self.missing(name))? {
            Value::Array(items) => items.iter().map(|item| self.tensor_of(item)).collect(),
            Value::Integers(items) => items.iter().map(|item| self.tensor_of(&Value::Int(*item))).collect(),
            Value::Scalars(items) => items.iter().map(|item| self.tensor_of(&Value::Scalar(*item))).collect(),
            _ => Err(self.wrong(name, "an array of tensors")),
        }
    }

    /// An integer; a tensor with one integral number is accepted.
    pub(crate) fn int_of(&self, name: &str, value: &Value) -> Result<i64, EvalError> {
        let tensor = Tensor::clone(&*self.tensor_of(value)?);
        let number = tensor.len() == 1 && tensor.dtype() != DType::Bool;
        let one = tensor.into_type(DType::Int64).ok().and_then(|tensor| tensor.as_integer()).filter(|_| number);
        one.ok_or_else(|| self.wrong(name, "an integer"))
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Result<i64, EvalError> {
        self.int_of(name, &self.value(name).ok_or_else(|| self.missing(name))?)
    }

    /// An attribute that is an array of integers; empty if the operation does not have it.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, EvalError> {
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(value) => self.ints_of(name, &value),
        }
    }

    /// The integers of an array.
    pub(crate) fn ints_of(&self, name: &str, value: &Value) -> Result<Vec<i64>, EvalError> {
        match value {
            Value::Integers(items) => Ok(items.to_vec()),
            Value::Array(items) | Value::Tuple(items) => self.spliced(name, items),
            // A single axis instead of an array of axes is a common mistake.
            Value::Int(item) => Ok(vec![*item]),
            Value::Tensor(_) => match Tensor::clone(&*self.tensor_of(value)?).into_type(DType::Int64) {
                Ok(tensor) => Ok(tensor.items().unwrap_or_default().to_vec()),
                Err(_) => Err(self.wrong(name, "an array of integers")),
            },
            _ => Err(self.wrong(name, "an array of integers")),
        }
    }

    /// The integers of a list of values; arrays and tensors of rank 1 are flattened into it.
    fn spliced(&self, name: &str, items: &[Value]) -> Result<Vec<i64>, EvalError> {
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::Array(_) | Value::Integers(_) => all.extend(self.ints_of(name, item)?),
                Value::Tensor(tensor) if self.run.tensor(*tensor)?.rank() == 1 => all.extend(self.ints_of(name, item)?),
                item => all.push(self.int_of(name, item)?),
            }
        }
        Ok(all)
    }

    /// An array of non-negative integers, such as axes or extents.
    pub(crate) fn naturals(&self, name: &str) -> Result<Vec<usize>, EvalError> {
        let natural =
            |item: i64| usize::try_from(item).map_err(|_| self.wrong(name, "an array without negative items"));
        self.ints(name)?.into_iter().map(natural).collect()
    }

    /// An attribute that is an array of pairs.
    pub(crate) fn pairs(&self, name: &str) -> Result<Vec<(i64, i64)>, EvalError> {
        let wrong = || self.wrong(name, "an array of pairs");
        let pair = |item: &Value| match self.ints_of(name, item)?[..] {
            [before, after] => Ok((before, after)),
            _ => Err(wrong()),
        };
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(Value::Integers(items)) if items.is_empty() => Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(pair).collect(),
            Some(_) => Err(wrong()),
        }
    }

    /// A logical attribute; false if the operation does not have it.
    pub fn flag(&self, name: &str) -> Result<bool, EvalError> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Logical(flag)) => Ok(flag),
            Some(_) => Err(self.wrong(name, "a logical")),
        }
    }

    /// A scalar attribute; an integer or a tensor of one number is accepted.
    pub fn number(&self, name: &str) -> Result<f64, EvalError> {
        self.number_of(name, &self.value(name).ok_or_else(|| self.missing(name))?)
    }

    /// A scalar.
    pub(crate) fn number_of(&self, name: &str, value: &Value) -> Result<f64, EvalError> {
        let tensor = self.tensor_of(value)?;
        let one = tensor.to_scalars().first().copied().filter(|_| tensor.len() == 1);
        one.ok_or_else(|| self.wrong(name, "a scalar"))
    }

    /// A string attribute.
    pub fn string(&self, name: &str) -> Result<&'a str, EvalError> {
        match self.attribute(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(self.wrong(name, "a string")),
            None => Err(self.missing(name)),
        }
    }

    /// An attribute that is an axis below a rank.
    pub(crate) fn axis(&self, name: &str, rank: usize) -> Result<usize, EvalError> {
        self.check_axis(self.int(name)?, rank)
    }

    /// Checks that an axis exists: it is neither negative nor beyond the rank.
    pub(crate) fn check_axis(&self, axis: i64, rank: usize) -> Result<usize, EvalError> {
        let found = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        found.ok_or_else(|| {
            EvalError::shapes(format!("axis {axis} of `{}` is not within a rank of {rank}", self.name()))
        })
    }
}

/// A tensor converted to scalars: logicals become 0 and 1.
pub(super) fn as_scalars(tensor: Arc<Tensor>) -> Result<Arc<Tensor>, EvalError> {
    match tensor.dtype() {
        DType::Float64 => Ok(tensor),
        _ => Ok(Tensor::scalars(tensor.shape(), tensor.to_scalars())?.into()),
    }
}

/// Converts nested arrays of numbers to a tensor.
fn nested(value: &Value, depth: usize) -> Result<Tensor, EvalError> {
    match value {
        Value::Integers(items) => Ok(Tensor::integers(&[items.len()], items.to_vec())?),
        Value::Scalars(items) => Ok(Tensor::scalars(&[items.len()], items.to_vec())?),
        Value::Int(item) => Ok(Tensor::integers(&[], vec![*item])?),
        Value::Scalar(item) => Ok(Tensor::number(*item)),
        Value::Logical(item) => Ok(Tensor::logicals(&[], vec![*item])?),
        Value::Array(items) if depth < super::MAX_RANK => {
            let parts: Vec<Tensor> = items.iter().map(|item| nested(item, depth + 1)).collect::<Result<_, _>>()?;
            stacked(&parts, 0)
        }
        _ => Err(EvalError::argument("an array that is used as a tensor has an item that is not a number")),
    }
}

/// An array extended to a rank with trailing axes of extent 1.
pub(super) fn lengthened<T: Clone>(array: &ArrayD<T>, rank: usize) -> ArrayD<T> {
    let mut longer = array.clone();
    while longer.ndim() < rank {
        let last = longer.ndim();
        longer.insert_axis_inplace(Axis(last));
    }
    longer
}
