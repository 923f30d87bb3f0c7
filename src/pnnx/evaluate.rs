//! Evaluates expressions on tensors, which are broadcast with the last axes aligned.

use std::sync::Arc;

use super::expression_table::Op;
use super::fold::extent;
use super::number::{self, Meaning, Number};
use super::tokens::Literal;
use super::tree::{Expression, Term};
use crate::extents::Align;
use crate::source::Span;
use crate::tensor::kernels::Repeat;
use crate::tensor::usage::Usage;
use crate::tensor::{DType, Dims, Tensor, volume};

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpressionValue {
    /// A number that does not depend on an operand.
    Number(Number),
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// A list.
    List(Vec<ExpressionValue>),
}

impl ExpressionValue {
    /// The number of items.
    fn items(&self) -> u64 {
        match self {
            ExpressionValue::Number(_) => 1,
            ExpressionValue::Tensor(tensor) => tensor.len() as u64,
            ExpressionValue::List(items) => items.iter().map(ExpressionValue::items).sum(),
        }
    }
}

/// The error of an evaluation: location of the operation, and message.
pub(crate) type NoValue = (Span, String);

type Evaluated<T> = Result<T, String>;

impl Expression {
    /// Evaluates the expression within the limits of steps and items.
    ///
    /// # Errors
    ///
    /// An operand is missing, shapes are incompatible, or an operation is not defined for its operands.
    pub(crate) fn evaluate(&self, operands: &[Arc<Tensor>], usage: &Usage) -> Result<ExpressionValue, NoValue> {
        let mut machine = ExpressionMachine { operands, usage, stack: Vec::new() };
        for (_, node) in self.nodes() {
            let count = self.operands(node).len();
            machine.step(node.term, count).map_err(|message| (node.span, message))?;
        }
        let value = machine.take(1).pop();
        value.ok_or_else(|| (Span::default(), "the expression is empty".to_owned()))
    }
}

struct ExpressionMachine<'a> {
    operands: &'a [Arc<Tensor>],
    usage: &'a Usage,
    /// The values that have not been used as operands yet.
    stack: Vec<ExpressionValue>,
}

impl ExpressionMachine<'_> {
    fn step(&mut self, term: Term, count: usize) -> Evaluated<()> {
        let value = match term {
            Term::Argument(number) => {
                let found = usize::try_from(number).ok().and_then(|number| self.operands.get(number));
                let missing = || format!("@{number} is missing: {} operands are given", self.operands.len());
                ExpressionValue::Tensor(Arc::clone(found.ok_or_else(missing)?))
            }
            Term::Literal(literal) => match (literal, literal.number()) {
                (_, Some(number)) => ExpressionValue::Number(number),
                (Literal::Complex(..), None) => return Err("complex numbers are not supported".to_owned()),
                (_, None) => return Err("`None` has no value".to_owned()),
            },
            Term::List => {
                let items = self.take(count);
                if items.iter().any(|item| matches!(item, ExpressionValue::List(_))) {
                    return Err("a list in a list has no value".to_owned());
                }
                ExpressionValue::List(items)
            }
            Term::Call(op) => {
                let operands = self.take(count);
                self.call(op, &operands).map_err(|why| format!("`{}`: {why}", op.row().name))?
            }
        };
        self.usage.hold(value.items());
        self.stack.push(value);
        Ok(())
    }

    /// Removes the last `count` values from the stack.
    fn take(&mut self, count: usize) -> Vec<ExpressionValue> {
        let taken = self.stack.split_off(self.stack.len().saturating_sub(count));
        taken.iter().for_each(|value| self.usage.release(value.items()));
        taken
    }

    fn call(&self, op: Op, operands: &[ExpressionValue]) -> Evaluated<ExpressionValue> {
        let numbers: Option<Vec<Number>> = operands
            .iter()
            .map(|operand| match operand {
                ExpressionValue::Number(number) => Some(*number),
                _ => None,
            })
            .collect();
        if let Some(numbers) = numbers {
            let result = number::apply(op.meaning(), &numbers).map(ExpressionValue::Number);
            return result.ok_or_else(|| "its value for these numbers does not fit into 64 bits".to_owned());
        }
        if matches!(op.meaning(), Meaning::Size) {
            return size(operands);
        }
        let tensors = operands
            .iter()
            .map(|operand| match operand {
                ExpressionValue::Tensor(tensor) => Ok(Arc::clone(tensor)),
                ExpressionValue::Number(number) => scalar(*number).map(Arc::new),
                ExpressionValue::List(_) => Err("a list is not an operand".to_owned()),
            })
            .collect::<Evaluated<Vec<_>>>()?;
        let shape = tensors
            .iter()
            .skip(1)
            .try_fold(Dims::from_slice(tensors[0].shape()), |shape, tensor| common(&shape, tensor.shape()))?;
        let items = volume(&shape).ok_or("the result is too large")? as u64;
        if !self.usage.fits(items) || !self.usage.spend(items) {
            return Err("the tensors are larger than the limits allow".to_owned());
        }
        on_tensors(op.meaning(), &tensors, &shape).map(|tensor| ExpressionValue::Tensor(Arc::new(tensor)))
    }
}

/// The shape that two shapes are broadcast to, with the last axes aligned.
pub(crate) fn common(a: &[usize], b: &[usize]) -> Evaluated<Dims> {
    let rank = a.len().max(b.len());
    let of = |shape: &[usize], axis: usize| axis.checked_sub(rank - shape.len()).map_or(1, |axis| shape[axis]);
    let both = |axis| match (of(a, axis), of(b, axis)) {
        (1, extent) | (extent, 1) => Ok(extent),
        (x, y) if x == y => Ok(x),
        _ => Err(format!("shapes {a:?} and {b:?} do not fit together")),
    };
    (0..rank).map(both).collect()
}

fn scalar(number: Number) -> Evaluated<Tensor> {
    let tensor = match number {
        Number::Float(float) => Tensor::of(&[], vec![float]),
        Number::Int(int) => Tensor::of(&[], vec![int]),
        Number::Bool(truth) => Tensor::of(&[], vec![truth]),
    };
    tensor.map_err(|error| error.0)
}

/// All extents of a tensor, or one of them.
fn size(operands: &[ExpressionValue]) -> Evaluated<ExpressionValue> {
    let number = |extent: usize| ExpressionValue::Number(Number::Int(extent as i64));
    match operands {
        [ExpressionValue::Tensor(tensor)] => {
            Ok(ExpressionValue::List(tensor.shape().iter().map(|&extent| number(extent)).collect()))
        }
        [ExpressionValue::Tensor(tensor), ExpressionValue::Number(Number::Int(axis))] => {
            let extents: Vec<Option<i64>> = tensor.shape().iter().map(|&extent| Some(extent as i64)).collect();
            let found = extent(&extents, *axis).map(|extent| ExpressionValue::Number(Number::Int(extent)));
            found.ok_or_else(|| format!("there is no axis {axis} in the shape {:?}", tensor.shape()))
        }
        _ => Err("its operands are a tensor and the number of an axis".to_owned()),
    }
}

fn on_tensors(meaning: Meaning, operands: &[Arc<Tensor>], shape: &[usize]) -> Evaluated<Tensor> {
    let whole = operands.iter().all(|operand| !operand.dtype().is_float());
    let to = Repeat { shape, align: Align::Last };
    let [x, rest @ ..] = operands else { return Err("it has no operands".to_owned()) };
    let of = |result: Result<Tensor, crate::tensor::TensorError>| result.map_err(|error| error.0);
    let map = |f: fn(f64) -> f64| of(Tensor::of(x.shape(), floats(x).into_iter().map(f).collect::<Vec<f64>>()));
    match (meaning, rest) {
        (Meaning::Signed(_, g), []) if whole => {
            let items: Option<Vec<i64>> = integers(x)?.into_iter().map(|x| i64::try_from(g(x.into())).ok()).collect();
            of(Tensor::of(x.shape(), items.ok_or(BEYOND)?))
        }
        (Meaning::Rounded(_) | Meaning::Whole, []) if whole => of(Tensor::of(x.shape(), integers(x)?)),
        (Meaning::Float(f) | Meaning::Signed(f, _) | Meaning::Rounded(f), []) => map(f),
        (Meaning::ToFloat, []) => map(|x| x),
        (Meaning::Truth, []) => of(Tensor::of(x.shape(), floats(x).into_iter().map(|x| x != 0.0).collect())),
        (Meaning::Whole, []) => {
            let whole = |x: f64| match number::apply(Meaning::Whole, &[Number::Float(x)]) {
                Some(Number::Int(int)) => Ok(int),
                _ => Err(format!("{x} is not an integer of 64 bits")),
            };
            of(Tensor::of(x.shape(), floats(x).into_iter().map(whole).collect::<Evaluated<Vec<i64>>>()?))
        }
        (Meaning::Arithmetic(_) | Meaning::Power, [y]) if whole => {
            if matches!(meaning, Meaning::Power) && integers(y)?.iter().any(|y| *y < 0) {
                return Err("a negative power of an integer is not an integer".to_owned());
            }
            let result = |x: i64, y: i64| match number::apply(meaning, &[Number::Int(x), Number::Int(y)]) {
                Some(Number::Int(result)) => Ok(result),
                _ => Err(BEYOND),
            };
            let items: Result<Vec<i64>, _> = to.zip((&integers(x)?, x.shape()), (&integers(y)?, y.shape()), result);
            of(Tensor::of(shape, items?))
        }
        (Meaning::Floats(_) | Meaning::Arithmetic(_) | Meaning::Power, [y]) => {
            let result = |x: f64, y: f64| match meaning {
                Meaning::Floats(f) => f(x, y),
                Meaning::Arithmetic(op) => op.float(x, y),
                _ => x.powf(y),
            };
            let items: Vec<f64> = to.zip((&floats(x), x.shape()), (&floats(y), y.shape()), result);
            of(Tensor::of(shape, items))
        }
        (Meaning::Not, []) => of(Tensor::of(x.shape(), floats(x).into_iter().map(|x| x == 0.0).collect())),
        (Meaning::Bits(f), [y]) => {
            if !whole {
                return Err("its operands are integers".to_owned());
            }
            if operands.iter().all(|operand| operand.dtype() == DType::Bool) {
                let result = |x: i64, y: i64| f(x, y) == Some(1);
                let items: Vec<bool> = to.zip((&integers(x)?, x.shape()), (&integers(y)?, y.shape()), result);
                return of(Tensor::of(shape, items));
            }
            let result = |x: i64, y: i64| f(x, y).ok_or(BEYOND);
            let items: Result<Vec<i64>, _> = to.zip((&integers(x)?, x.shape()), (&integers(y)?, y.shape()), result);
            of(Tensor::of(shape, items?))
        }
        (Meaning::Logic(f), [y]) => {
            let truth = |tensor: &Tensor| floats(tensor).into_iter().map(|x| x != 0.0).collect::<Vec<bool>>();
            let items: Vec<bool> = to.zip((&truth(x), x.shape()), (&truth(y), y.shape()), f);
            of(Tensor::of(shape, items))
        }
        (Meaning::Compare(order), [y]) => {
            let items: Vec<bool> = to.zip((&floats(x), x.shape()), (&floats(y), y.shape()), order.function());
            of(Tensor::of(shape, items))
        }
        (Meaning::Select, [y, z]) => {
            let as_floats = |tensor: &Tensor| of(Tensor::of(tensor.shape(), floats(tensor)));
            let truth: Vec<bool> = floats(x).into_iter().map(|x| x != 0.0).collect();
            let chosen = to.select(&of(Tensor::of(x.shape(), truth))?, &as_floats(y)?, &as_floats(z)?);
            chosen
                .and_then(|data| Tensor::new(shape, data))
                .ok_or_else(|| "there is no operand to choose from".to_owned())
        }
        _ => Err("the number of operands differs".to_owned()),
    }
}

/// The message for results that are not 64-bit integers.
const BEYOND: &str = "a result is not an integer of 64 bits";

fn floats(tensor: &Tensor) -> Vec<f64> {
    tensor.to_scalars()
}

/// The items of a tensor of integers or logicals.
fn integers(tensor: &Tensor) -> Evaluated<Vec<i64>> {
    let converted = tensor.clone().into_type(DType::Int64).map_err(|error| error.0)?;
    converted.items::<i64>().map(<[i64]>::to_vec).ok_or_else(|| "its operands are integers".to_owned())
}
