//! Operations that compute item by item (4.2), and casts (4.5.8).
//!
//! Arithmetic on integers alone gives integers; where an integer meets a scalar, it counts as one.

use ndarray::ArrayD;

use super::array::{pack, scalars, view};
use super::broadcast::{common, map2, spread, try_map2};
use super::call::{Call, Outcome};
use super::fault::Fault;
use crate::tensor::{DType, Element, Tensor};

/// A function of one real number.
pub(crate) type Unary = fn(f64) -> f64;

/// The functions of one real number, which are the operations of these names.
pub(crate) const UNARY: &[(&str, Unary)] = &[
    ("rcp", |x| 1.0 / x),
    ("exp", f64::exp),
    ("log", f64::ln),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("asinh", f64::asinh),
    ("acosh", f64::acosh),
    ("atanh", f64::atanh),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    // The text says so, so halves go up, also below 0.
    ("round", |x| (x + 0.5).floor()),
    // Compounds (4.2.4, 4.9.1), as their definitions have them.
    ("sqr", |x| x.powf(2.0)),
    ("sqrt", |x| x.powf(0.5)),
    ("rsqr", |x| x.powf(-2.0)),
    ("rsqrt", |x| x.powf(-0.5)),
    ("log2", |x| x.ln() / 2f64.ln()),
    ("sigmoid", sigmoid),
    ("relu", |x| if x > 0.0 { x } else { 0.0 }),
    ("gelu", |x| x * sigmoid(1.702 * x)),
    ("silu", |x| x * sigmoid(x)),
    ("softplus", |x| (x.exp() + 1.0).ln()),
];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// An operation of one operand and one real function.
pub(crate) fn unary(call: &Call) -> Outcome {
    let Some((_, f)) = UNARY.iter().find(|(name, _)| *name == call.name()) else {
        return Err(Fault::argument(format!("`{}` is no function of one number", call.name())));
    };
    apply(call, *f)
}

/// Applies a function to the one operand of an operation.
pub(crate) fn apply(call: &Call, f: impl Fn(f64) -> f64) -> Outcome {
    let x = call.scalars("x")?;
    call.budget().room(x.shape())?;
    Ok(vec![pack(x.mapv(f))?])
}

/// The same items.
pub(crate) fn copy(call: &Call) -> Outcome {
    let x = call.tensor("x")?;
    call.budget().room(x.shape())?;
    Ok(vec![Tensor::clone(&x)])
}

/// `-x`, `|x|` and the sign of x keep integers integers.
fn signed(call: &Call, scalar: impl Fn(f64) -> f64, integer: impl Fn(i64) -> Option<i64>) -> Outcome {
    let x = call.tensor("x")?;
    let Some(items) = x.items::<i64>() else { return apply(call, scalar) };
    call.budget().room(x.shape())?;
    let items: Option<Vec<i64>> = items.iter().map(|item| integer(*item)).collect();
    let items = items.ok_or_else(|| overflow(call))?;
    Ok(vec![Tensor::integers(x.shape(), items)?])
}

fn overflow(call: &Call) -> Fault {
    Fault::value(format!("`{}` on integers leaves the range of 64 bits", call.name()))
}

/// `-x`
pub(crate) fn neg(call: &Call) -> Outcome {
    signed(call, |x| -x, i64::checked_neg)
}

/// `|x|`
pub(crate) fn abs(call: &Call) -> Outcome {
    signed(call, f64::abs, i64::checked_abs)
}

/// -1, 0 or 1; what is no number stays so.
pub(crate) fn sign(call: &Call) -> Outcome {
    let scalar = |x: f64| {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x * 0.0
        }
    };
    signed(call, scalar, |x| Some(x.signum()))
}

/// `!x`
pub(crate) fn not(call: &Call) -> Outcome {
    let x = call.logicals("x")?;
    call.budget().room(x.shape())?;
    Ok(vec![pack(x.mapv(|item| !item))?])
}

/// Two operands of numbers.
enum Operands {
    Integers(ArrayD<i64>, ArrayD<i64>),
    Scalars(ArrayD<f64>, ArrayD<f64>),
}

fn operands(call: &Call) -> Result<Operands, Fault> {
    match (view(&*call.tensor("x")?), view(&*call.tensor("y")?)) {
        (Some(x), Some(y)) => Ok(Operands::Integers(x.to_owned(), y.to_owned())),
        _ => Ok(Operands::Scalars(call.scalars("x")?, call.scalars("y")?)),
    }
}

/// Arithmetic: the function of scalars, and that of integers where both operands are.
fn arithmetic(call: &Call, scalar: fn(f64, f64) -> f64, integer: fn(i64, i64) -> Option<i64>) -> Outcome {
    let (name, budget) = (call.name(), call.budget());
    Ok(vec![match operands(call)? {
        Operands::Scalars(x, y) => pack(map2(name, budget, &x, &y, |x, y| scalar(*x, *y))?)?,
        Operands::Integers(x, y) => {
            let checked = |x: &i64, y: &i64| integer(*x, *y).ok_or_else(|| undefined(call, *x, *y));
            pack(try_map2(name, budget, &x, &y, checked)?)?
        }
    }])
}

fn undefined(call: &Call, x: i64, y: i64) -> Fault {
    Fault::value(format!("`{}` of the integers {x} and {y} is no integer of 64 bits", call.name()))
}

/// `x + y`
pub(crate) fn add(call: &Call) -> Outcome {
    arithmetic(call, |x, y| x + y, i64::checked_add)
}

/// `x - y`
pub(crate) fn sub(call: &Call) -> Outcome {
    arithmetic(call, |x, y| x - y, i64::checked_sub)
}

/// `x * y`
pub(crate) fn mul(call: &Call) -> Outcome {
    arithmetic(call, |x, y| x * y, i64::checked_mul)
}

/// `x / y`; integers are truncated.
pub(crate) fn div(call: &Call) -> Outcome {
    arithmetic(call, |x, y| x / y, i64::checked_div)
}

/// `x ^ y`
pub(crate) fn pow(call: &Call) -> Outcome {
    arithmetic(call, f64::powf, |x, y| x.checked_pow(u32::try_from(y).ok()?))
}

/// The lesser one: x where x < y, else y (4.2.4).
pub(crate) fn min(call: &Call) -> Outcome {
    arithmetic(call, |x, y| if x < y { x } else { y }, |x, y| Some(x.min(y)))
}

/// The greater one: x where x > y, else y (4.2.4).
pub(crate) fn max(call: &Call) -> Outcome {
    arithmetic(call, |x, y| if x > y { x } else { y }, |x, y| Some(x.max(y)))
}

/// A comparison; logicals can be equal or not.
fn compare(call: &Call, scalar: fn(&f64, &f64) -> bool, integer: fn(&i64, &i64) -> bool) -> Outcome {
    let (name, budget) = (call.name(), call.budget());
    Ok(vec![pack(match operands(call)? {
        Operands::Scalars(x, y) => map2(name, budget, &x, &y, scalar)?,
        Operands::Integers(x, y) => map2(name, budget, &x, &y, integer)?,
    })?])
}

/// `x < y`
pub(crate) fn lt(call: &Call) -> Outcome {
    compare(call, f64::lt, i64::lt)
}

/// `x <= y`
pub(crate) fn le(call: &Call) -> Outcome {
    compare(call, f64::le, i64::le)
}

/// `x > y`
pub(crate) fn gt(call: &Call) -> Outcome {
    compare(call, f64::gt, i64::gt)
}

/// `x >= y`
pub(crate) fn ge(call: &Call) -> Outcome {
    compare(call, f64::ge, i64::ge)
}

/// `x == y`
pub(crate) fn eq(call: &Call) -> Outcome {
    match (call.tensor("x")?.dtype(), call.tensor("y")?.dtype()) {
        (DType::Bool, DType::Bool) => logical(call, |x, y| x == y),
        _ => compare(call, f64::eq, i64::eq),
    }
}

/// `x != y`
pub(crate) fn ne(call: &Call) -> Outcome {
    match (call.tensor("x")?.dtype(), call.tensor("y")?.dtype()) {
        (DType::Bool, DType::Bool) => logical(call, |x, y| x != y),
        _ => compare(call, f64::ne, i64::ne),
    }
}

fn logical(call: &Call, f: fn(bool, bool) -> bool) -> Outcome {
    let (x, y) = (call.logicals("x")?, call.logicals("y")?);
    Ok(vec![pack(map2(call.name(), call.budget(), &x, &y, |x, y| f(*x, *y))?)?])
}

/// `x && y`
pub(crate) fn and(call: &Call) -> Outcome {
    logical(call, |x, y| x && y)
}

/// `x || y`
pub(crate) fn or(call: &Call) -> Outcome {
    logical(call, |x, y| x || y)
}

/// One of two values for each item (4.2.3).
pub(crate) fn select(call: &Call) -> Outcome {
    let condition = call.logicals("condition")?;
    let (a, b) = (call.tensor("true_value")?, call.tensor("false_value")?);
    chosen(call, &condition, &a, &b)
}

/// The items of two tensors, as a condition says.
pub(crate) fn chosen(call: &Call, condition: &ArrayD<bool>, a: &Tensor, b: &Tensor) -> Outcome {
    let shape = common(call.name(), &common(call.name(), condition.shape(), a.shape())?, b.shape())?;
    call.budget().room(&shape)?;
    fn pick<T: Element>(
        condition: &ArrayD<bool>,
        a: &ArrayD<T>,
        b: &ArrayD<T>,
        shape: &[usize],
    ) -> Result<Tensor, Fault> {
        let (condition, a, b) = (spread(condition, shape)?, spread(a, shape)?, spread(b, shape)?);
        let choose = |condition: &bool, a: &T, b: &T| if *condition { *a } else { *b };
        Ok(pack(ndarray::Zip::from(&condition).and(&a).and(&b).map_collect(choose))?)
    }
    if let (Some(a), Some(b)) = (view::<i64>(a), view::<i64>(b)) {
        return Ok(vec![pick(condition, &a.to_owned(), &b.to_owned(), &shape)?]);
    }
    Ok(vec![match (view::<bool>(a), view::<bool>(b)) {
        (Some(a), Some(b)) => pick(condition, &a.to_owned(), &b.to_owned(), &shape)?,
        (None, None) => pick(condition, &scalars(a), &scalars(b), &shape)?,
        _ => return Err(Fault::argument(format!("`{}` chooses between logicals and numbers", call.name()))),
    }])
}

/// The same values as another type: integers are cut off towards 0, logicals are 0 and 1, and all
/// but 0 is true (4.5.8 and 3.3.7).
pub(crate) fn cast(call: &Call) -> Outcome {
    let input = call.tensor("input")?;
    let wanted = call.element_type();
    let wanted = wanted.ok_or_else(|| Fault::argument("it is not known what type to cast to".to_string()))?;
    convert(call, &input, wanted).map(|tensor| vec![tensor])
}

/// The conversion of [`cast`].
pub(crate) fn convert(call: &Call, input: &Tensor, wanted: DType) -> Result<Tensor, Fault> {
    call.budget().room(input.shape())?;
    let whole = |item: &f64| {
        // 2^63 is the first number beyond the range, and -2^63 the last within it.
        let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(item);
        if fits { Ok(*item as i64) } else { Err(Fault::value(format!("{item} is no integer of 64 bits"))) }
    };
    let (shape, items) = (input.shape(), input.items::<f64>());
    Ok(match (wanted, items) {
        (DType::Int64, Some(items)) => Tensor::of(shape, items.iter().map(whole).collect::<Result<_, _>>()?)?,
        (DType::Bool, _) => Tensor::of(shape, input.to_scalars().into_iter().map(|item| item != 0.0).collect())?,
        (wanted, _) => input.clone().into_type(wanted)?,
    })
}
