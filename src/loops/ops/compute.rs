//! Functions of one number, matrix products and reductions.

use super::Attributes;
use super::elementwise::{map_numbers, steps};
use super::types::{axis_of, reduced_axes};
use crate::loops::network::Type;
use crate::tensor::{DType, Data, Tensor};

type Outcome = Result<Data, String>;

fn only<'a>(inputs: &[&'a Tensor]) -> Result<&'a Tensor, String> {
    inputs.first().copied().ok_or_else(|| "an operand is missing".to_owned())
}

pub(crate) fn identity(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    Ok(only(inputs)?.data().clone())
}

pub(crate) fn negate(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    map_numbers(only(inputs)?.data(), |x| -x, |x| -x, i64::wrapping_neg)
}

pub(crate) fn absolute(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    map_numbers(only(inputs)?.data(), f32::abs, f64::abs, i64::wrapping_abs)
}

pub(crate) fn sign(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    let single = |x: f32| if x == 0.0 { x } else { x.signum() };
    let double = |x: f64| if x == 0.0 { x } else { x.signum() };
    map_numbers(only(inputs)?.data(), single, double, i64::signum)
}

pub(crate) fn square(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    map_numbers(only(inputs)?.data(), |x| x * x, |x| x * x, |x| x.wrapping_mul(x))
}

pub(crate) fn relu(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    let single = |x: f32| if x < 0.0 { 0.0 } else { x };
    let double = |x: f64| if x < 0.0 { 0.0 } else { x };
    map_numbers(only(inputs)?.data(), single, double, |x| x.max(0))
}

/// Elements of the same type, by a function of floats.
fn by_floats(inputs: &[&Tensor], f: impl Fn(f64) -> f64) -> Outcome {
    let x = only(inputs)?;
    Ok(Data::from_floats(x.dtype(), (0..x.data().len()).map(|i| f(x.data().float(i)))))
}

pub(crate) fn leaky_relu(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let alpha = attributes.alpha.unwrap_or(0.01);
    by_floats(inputs, |x| if x < 0.0 { alpha * x } else { x })
}

pub(crate) fn clamp(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let (low, high) = (attributes.low.unwrap_or(f64::NEG_INFINITY), attributes.high.unwrap_or(f64::INFINITY));
    by_floats(inputs, |x| {
        if x < low {
            low
        } else if x > high {
            high
        } else {
            x
        }
    })
}

pub(crate) fn negation(inputs: &[&Tensor], _: &Attributes, _: &Type) -> Outcome {
    match only(inputs)?.data() {
        Data::Bool(items) => Ok(Data::Bool(items.iter().map(|x| !x).collect())),
        _ => Err("the operand is not logical".to_owned()),
    }
}

pub(crate) fn cast(inputs: &[&Tensor], _: &Attributes, result: &Type) -> Outcome {
    let x = only(inputs)?.data();
    Ok(match (x.dtype().is_float(), result.dtype) {
        // Integers go through no float, which could not hold them all.
        (false, DType::Int64) => Data::Int64((0..x.len()).map(|i| x.integer(i)).collect()),
        (false, DType::Int32) => Data::Int32((0..x.len()).map(|i| x.integer(i) as i32).collect()),
        (_, dtype) => Data::from_floats(dtype, (0..x.len()).map(|i| x.float(i))),
    })
}

/// Where the matrices of a batch start and how they are walked.
struct Matrices {
    batches: Vec<usize>,
    /// From row to row, and from column to column.
    steps: (usize, usize),
}

impl Matrices {
    /// Matrices of a tensor whose batches are repeated to a shape.
    fn new(of: &Tensor, transposed: bool, left: bool, batch: &[usize]) -> Matrices {
        let shape = of.shape();
        let (inner, matrix) = match shape {
            [_] if left => (0, (0, 1)),
            [_] => (0, (1, 0)),
            _ => {
                let columns = shape[shape.len() - 1];
                (shape.len() - 2, if transposed { (1, columns) } else { (columns, 1) })
            }
        };
        let size: usize = shape[inner..].iter().product();
        let steps = steps(&shape[..inner], batch.len());
        let count: usize = batch.iter().product();
        let place = |mut i: usize| {
            let mut at = 0;
            for (axis, &extent) in batch.iter().enumerate().rev() {
                at += i % extent * steps[axis];
                i /= extent;
            }
            at * size
        };
        Matrices { batches: (0..count).map(place).collect(), steps: matrix }
    }
}

trait Ring: Copy + Default {
    fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! rings {
    ($($ty:ty: $f:expr),*) => {
        $(impl Ring for $ty {
            fn add_product(self, a: Self, b: Self) -> Self {
                let f: fn($ty, $ty, $ty) -> $ty = $f;
                f(self, a, b)
            }
        })*
    };
}
rings!(
    f32: |sum, a, b| sum + a * b,
    f64: |sum, a, b| sum + a * b,
    i32: |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)),
    i64: |sum, a, b| sum.wrapping_add(a.wrapping_mul(b))
);

fn product<T: Ring>(a: (&[T], &Matrices), b: (&[T], &Matrices), extents: [usize; 3]) -> Vec<T> {
    let [rows, inner, columns] = extents;
    let mut out = Vec::with_capacity(a.1.batches.len() * rows * columns);
    for (&left, &right) in a.1.batches.iter().zip(&b.1.batches) {
        for row in 0..rows {
            for column in 0..columns {
                let mut sum = T::default();
                for k in 0..inner {
                    let x = a.0[left + row * a.1.steps.0 + k * a.1.steps.1];
                    let y = b.0[right + k * b.1.steps.0 + column * b.1.steps.1];
                    sum = sum.add_product(x, y);
                }
                out.push(sum);
            }
        }
    }
    out
}

pub(crate) fn matmul(inputs: &[&Tensor], attributes: &Attributes, result: &Type) -> Outcome {
    let [a, b] = inputs else { return Err("it takes two operands".to_owned()) };
    let (x, y) = (a.shape(), b.shape());
    let (vectors, mut batch) =
        ((x.len() == 1, y.len() == 1), result.dims.iter().flatten().copied().collect::<Vec<_>>());
    let columns = if vectors.1 { 1 } else { batch.pop().unwrap_or(1) };
    let rows = if vectors.0 { 1 } else { batch.pop().unwrap_or(1) };
    let inner = match x {
        [inner] => *inner,
        _ if attributes.transpose_a => x[x.len() - 2],
        _ => x[x.len() - 1],
    };
    let left = Matrices::new(a, attributes.transpose_a, true, &batch);
    let right = Matrices::new(b, attributes.transpose_b, false, &batch);
    let extents = [rows, inner, columns];
    Ok(match (a.data(), b.data()) {
        (Data::Float32(x), Data::Float32(y)) => Data::Float32(product((x, &left), (y, &right), extents)),
        (Data::Float64(x), Data::Float64(y)) => Data::Float64(product((x, &left), (y, &right), extents)),
        (Data::Int32(x), Data::Int32(y)) => Data::Int32(product((x, &left), (y, &right), extents)),
        (Data::Int64(x), Data::Int64(y)) => Data::Int64(product((x, &left), (y, &right), extents)),
        _ => return Err("the operands are not of the same numbers".to_owned()),
    })
}

/// The places of the elements that each element of a reduction is made of.
fn groups(x: &Tensor, axes: Option<Vec<i64>>) -> Result<Vec<Vec<usize>>, String> {
    let shape = x.shape();
    let axes = reduced_axes(axes, shape.len())?;
    let kept: usize = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).product();
    let mut groups = vec![Vec::new(); kept];
    for place in 0..x.data().len() {
        let (mut rest, mut group, mut scale) = (place, 0, 1);
        for axis in (0..shape.len()).rev() {
            if !axes.contains(&axis) {
                group += rest % shape[axis] * scale;
                scale *= shape[axis];
            }
            rest /= shape[axis];
        }
        groups[group].push(place);
    }
    Ok(groups)
}

/// Joins the elements of each group, one after the other, in their own precision.
fn fold(inputs: &[&Tensor], attributes: &Attributes, start: f64, f: impl Fn(f64, f64) -> f64) -> Outcome {
    let x = only(inputs)?;
    let groups = groups(x, attributes.any_axes())?;
    let narrow = |value: f64| if x.dtype() == DType::Float32 { f64::from(value as f32) } else { value };
    let one = |group: &Vec<usize>| group.iter().fold(start, |sum, &place| narrow(f(sum, x.data().float(place))));
    Ok(Data::from_floats(x.dtype(), groups.iter().map(one)))
}

/// The same for integers, which floats could not hold.
fn fold_whole(inputs: &[&Tensor], attributes: &Attributes, start: i64, f: fn(i64, i64) -> i64) -> Outcome {
    let x = only(inputs)?;
    let groups = groups(x, attributes.any_axes())?;
    let one = |group: &Vec<usize>| group.iter().fold(start, |sum, &place| f(sum, x.data().integer(place)));
    let items = groups.iter().map(one);
    Ok(match x.dtype() {
        DType::Int32 => Data::Int32(items.map(|item| item as i32).collect()),
        _ => Data::Int64(items.collect()),
    })
}

macro_rules! reduction {
    ($name:ident, $float:expr, $float_start:expr, $whole:expr, $whole_start:expr) => {
        pub(crate) fn $name(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
            if only(inputs)?.dtype().is_integer() {
                fold_whole(inputs, attributes, $whole_start, $whole)
            } else {
                fold(inputs, attributes, $float_start, $float)
            }
        }
    };
}
reduction!(reduce_sum, |a, b| a + b, 0.0, i64::wrapping_add, 0);
reduction!(reduce_prod, |a, b| a * b, 1.0, i64::wrapping_mul, 1);
reduction!(reduce_max, |a, b| if a.is_nan() || a > b { a } else { b }, f64::NEG_INFINITY, i64::max, i64::MIN);
reduction!(reduce_min, |a, b| if a.is_nan() || a < b { a } else { b }, f64::INFINITY, i64::min, i64::MAX);

pub(crate) fn reduce_mean(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let x = only(inputs)?;
    let groups = groups(x, attributes.any_axes())?;
    let mean = |group: &Vec<usize>| group.iter().map(|&i| x.data().float(i)).sum::<f64>() / group.len() as f64;
    Ok(Data::from_floats(x.dtype(), groups.iter().map(mean)))
}

fn logical(inputs: &[&Tensor], attributes: &Attributes, any: bool) -> Outcome {
    let x = only(inputs)?;
    let groups = groups(x, attributes.any_axes())?;
    let truth = |&place: &usize| x.data().float(place) != 0.0;
    let one = |group: &Vec<usize>| if any { group.iter().any(truth) } else { group.iter().all(truth) };
    Ok(Data::Bool(groups.iter().map(one).collect()))
}

pub(crate) fn reduce_any(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    logical(inputs, attributes, true)
}

pub(crate) fn reduce_all(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    logical(inputs, attributes, false)
}

/// The first place along the axis whose element no other one beats.
fn extreme(inputs: &[&Tensor], attributes: &Attributes, beats: fn(f64, f64) -> bool) -> Outcome {
    let x = only(inputs)?;
    let axis = attributes.any_axes().and_then(|axes| axes.first().copied()).unwrap_or(0);
    let groups = groups(x, Some(vec![axis]))?;
    let best = |group: &Vec<usize>| {
        let better = |best: usize, i: usize| beats(x.data().float(group[i]), x.data().float(group[best]));
        (0..group.len()).fold(0, |best, i| if better(best, i) { i } else { best }) as i64
    };
    Ok(Data::Int64(groups.iter().map(best).collect()))
}

pub(crate) fn argmax(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    extreme(inputs, attributes, |new, best| new > best)
}

pub(crate) fn argmin(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    extreme(inputs, attributes, |new, best| new < best)
}

pub(crate) fn softmax(inputs: &[&Tensor], attributes: &Attributes, _: &Type) -> Outcome {
    let x = only(inputs)?;
    let axes = attributes.any_axes().unwrap_or_else(|| vec![-1]);
    let axes = axes.iter().map(|&axis| axis_of(axis, x.shape().len())).collect::<Result<Vec<_>, _>>()?;
    let mut out = vec![0.0; x.data().len()];
    for group in groups(x, Some(axes.iter().map(|&axis| axis as i64).collect()))? {
        let most = group.iter().map(|&i| x.data().float(i)).fold(f64::NEG_INFINITY, f64::max);
        group.iter().for_each(|&i| out[i] = (x.data().float(i) - most).exp());
        let sum: f64 = group.iter().map(|&i| out[i]).sum();
        group.iter().for_each(|&i| out[i] /= sum);
    }
    Ok(Data::from_floats(x.dtype(), out.into_iter()))
}
