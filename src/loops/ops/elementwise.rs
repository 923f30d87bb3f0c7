//! Operations on one element after the other, repeated to a common shape.

use crate::loops::network::Type;
use crate::tensor::{Data, Tensor};

use super::Attributes;

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    /// The rest has the sign of the divisor.
    Mod,
    FloorDiv,
    Pow,
    Min,
    Max,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// Logical connectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

type Outcome = Result<Data, String>;

/// A function of each float.
pub(crate) fn float(data: &Data, single: fn(f32) -> f32, double: fn(f64) -> f64) -> Outcome {
    match data {
        Data::Float32(items) => Ok(Data::Float32(items.iter().map(|&x| single(x)).collect())),
        Data::Float64(items) => Ok(Data::Float64(items.iter().map(|&x| double(x)).collect())),
        _ => Err("the operand is not of floats".to_owned()),
    }
}

/// Numbers that arithmetic is defined for.
trait Number: Copy + PartialOrd {
    const ZERO: Self;
    /// Whether a division by zero has no value.
    const WHOLE: bool;
    fn calculate(op: Arith, a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($($float:ty),*) => {
        $(impl Number for $float {
            const ZERO: Self = 0.0;
            const WHOLE: bool = false;

            fn calculate(op: Arith, a: Self, b: Self) -> Self {
                match op {
                    Arith::Add => a + b,
                    Arith::Sub => a - b,
                    Arith::Mul => a * b,
                    Arith::Div => a / b,
                    Arith::Mod => a - b * (a / b).floor(),
                    Arith::FloorDiv => (a / b).floor(),
                    Arith::Pow => a.powf(b),
                    // Unlike those of the standard library these keep a NaN.
                    Arith::Min => if a.is_nan() || a < b { a } else { b },
                    Arith::Max => if a.is_nan() || a > b { a } else { b },
                }
            }
        })*
    };
}
floats!(f32, f64);

macro_rules! integers {
    ($($int:ty),*) => {
        $(impl Number for $int {
            const ZERO: Self = 0;
            const WHOLE: bool = true;

            fn calculate(op: Arith, a: Self, b: Self) -> Self {
                match op {
                    Arith::Add => a.wrapping_add(b),
                    Arith::Sub => a.wrapping_sub(b),
                    Arith::Mul => a.wrapping_mul(b),
                    Arith::Div => a.wrapping_div(b),
                    Arith::Mod => {
                        let rest = a.wrapping_rem(b);
                        if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
                    }
                    Arith::FloorDiv => {
                        let exact = a.wrapping_rem(b) == 0;
                        let quotient = a.wrapping_div(b);
                        if !exact && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
                    }
                    Arith::Pow => u32::try_from(b).map_or(if a == 1 { 1 } else { 0 }, |b| a.wrapping_pow(b)),
                    Arith::Min => a.min(b),
                    Arith::Max => a.max(b),
                }
            }
        })*
    };
}
integers!(i32, i64);

fn calculate<T: Number>(op: Arith, a: Side<T>, b: Side<T>, shape: &[usize]) -> Result<Vec<T>, String> {
    let divides = matches!(op, Arith::Div | Arith::Mod | Arith::FloorDiv);
    if T::WHOLE && divides && b.0.contains(&T::ZERO) {
        return Err("an integer is divided by zero".to_owned());
    }
    Ok(zip(a, b, shape, |x, y| T::calculate(op, x, y)))
}

/// Arithmetic on each pair.
pub(crate) fn arithmetic(op: Arith, a: &Tensor, b: &Tensor, shape: &[usize]) -> Outcome {
    let (x, y) = (a.shape(), b.shape());
    Ok(match (a.data(), b.data()) {
        (Data::Float32(a), Data::Float32(b)) => Data::Float32(calculate(op, (a, x), (b, y), shape)?),
        (Data::Float64(a), Data::Float64(b)) => Data::Float64(calculate(op, (a, x), (b, y), shape)?),
        (Data::Int32(a), Data::Int32(b)) => Data::Int32(calculate(op, (a, x), (b, y), shape)?),
        (Data::Int64(a), Data::Int64(b)) => Data::Int64(calculate(op, (a, x), (b, y), shape)?),
        _ => return Err("the operands are not of the same numbers".to_owned()),
    })
}

fn ordered<T: Copy + PartialOrd>(order: Order, a: Side<T>, b: Side<T>, shape: &[usize]) -> Data {
    let holds: fn(T, T) -> bool = match order {
        Order::Less => |x, y| x < y,
        Order::LessEqual => |x, y| x <= y,
        Order::Greater => |x, y| x > y,
        Order::GreaterEqual => |x, y| x >= y,
        Order::Equal => |x, y| x == y,
        Order::NotEqual => |x, y| x != y,
    };
    Data::Bool(zip(a, b, shape, holds))
}

/// A comparison of each pair.
pub(crate) fn compare(order: Order, a: &Tensor, b: &Tensor, shape: &[usize]) -> Outcome {
    let (x, y) = (a.shape(), b.shape());
    Ok(match (a.data(), b.data()) {
        (Data::Float32(a), Data::Float32(b)) => ordered(order, (a, x), (b, y), shape),
        (Data::Float64(a), Data::Float64(b)) => ordered(order, (a, x), (b, y), shape),
        (Data::Int32(a), Data::Int32(b)) => ordered(order, (a, x), (b, y), shape),
        (Data::Int64(a), Data::Int64(b)) => ordered(order, (a, x), (b, y), shape),
        (Data::Bool(a), Data::Bool(b)) => ordered(order, (a, x), (b, y), shape),
        _ => return Err("the operands have different elements".to_owned()),
    })
}

/// A connective on each pair.
pub(crate) fn logic(logic: Logic, a: &Tensor, b: &Tensor, shape: &[usize]) -> Outcome {
    let (Data::Bool(x), Data::Bool(y)) = (a.data(), b.data()) else {
        return Err("the operands are not logicals".to_owned());
    };
    let connect: fn(bool, bool) -> bool = match logic {
        Logic::And => |x, y| x & y,
        Logic::Or => |x, y| x | y,
        Logic::Xor => |x, y| x ^ y,
    };
    Ok(Data::Bool(zip((x, a.shape()), (y, b.shape()), shape, connect)))
}

/// One of two, by a condition.
pub(crate) fn select(inputs: &[&Tensor], _: &Attributes, result: &Type) -> Outcome {
    let [condition, a, b] = inputs else { return Err("it takes three operands".to_owned()) };
    let Data::Bool(chosen) = condition.data() else { return Err("the condition is not logical".to_owned()) };
    let shape: Vec<usize> = result.dims.iter().flatten().copied().collect();
    let len: usize = shape.iter().product();
    let all: Vec<usize> = (0..len).collect();
    let chosen = zip((chosen, condition.shape()), (&all, &shape), &shape, |chosen, _| chosen);
    let place = |of: &Tensor| {
        let own: Vec<usize> = (0..of.data().len()).collect();
        zip((&own, of.shape()), (&all, &shape), &shape, |place, _| place)
    };
    let (mut first, second) = (a.data().pick(place(a).into_iter()), b.data().pick(place(b).into_iter()));
    // Both lie in one row, so that one pick chooses.
    first.append(&second);
    Ok(first.pick(chosen.iter().enumerate().map(|(i, &chosen)| if chosen { i } else { i + len })))
}

/// Elements and their extents.
type Side<'a, T> = (&'a [T], &'a [usize]);

/// Applies a function to the pairs of two tensors repeated to a shape.
pub(crate) fn zip<A: Copy, B: Copy, R>(a: Side<A>, b: Side<B>, shape: &[usize], f: impl Fn(A, B) -> R) -> Vec<R> {
    if a.1 == b.1 {
        return a.0.iter().zip(b.0).map(|(&x, &y)| f(x, y)).collect();
    }
    if let ([y], true) = (b.0, a.1 == shape) {
        return a.0.iter().map(|&x| f(x, *y)).collect();
    }
    if let ([x], true) = (a.0, b.1 == shape) {
        return b.0.iter().map(|&y| f(*x, y)).collect();
    }
    let len = shape.iter().product();
    let (steps_a, steps_b) = (steps(a.1, shape.len()), steps(b.1, shape.len()));
    let mut index = vec![0usize; shape.len()];
    let (mut x, mut y) = (0, 0);
    let mut out = Vec::with_capacity(len);
    for _ in 0..len {
        out.push(f(a.0[x], b.0[y]));
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            (x, y) = (x + steps_a[axis], y + steps_b[axis]);
            if index[axis] < shape[axis] {
                break;
            }
            (x, y) = (x - steps_a[axis] * shape[axis], y - steps_b[axis] * shape[axis]);
            index[axis] = 0;
        }
    }
    out
}

/// How far apart neighbours along each axis are; repeated ones are not apart.
pub(crate) fn steps(shape: &[usize], rank: usize) -> Vec<usize> {
    let mut steps = vec![0; rank];
    let mut step = 1;
    for (i, &extent) in shape.iter().enumerate().rev() {
        steps[i + rank - shape.len()] = if extent == 1 { 0 } else { step };
        step *= extent;
    }
    steps
}

/// Keeps elements of one type while changing each.
pub(crate) fn map_numbers(data: &Data, f32s: fn(f32) -> f32, f64s: fn(f64) -> f64, ints: fn(i64) -> i64) -> Outcome {
    Ok(match data {
        Data::Int32(items) => Data::Int32(items.iter().map(|&x| ints(i64::from(x)) as i32).collect()),
        Data::Int64(items) => Data::Int64(items.iter().map(|&x| ints(x)).collect()),
        other => float(other, f32s, f64s)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], items: &[i32]) -> Tensor {
        Tensor::new(shape, Data::Int32(items.to_vec())).unwrap()
    }

    #[test]
    fn operands_are_repeated_along_last_axes() {
        let (a, b) = (tensor(&[2, 1], &[10, 20]), tensor(&[3], &[1, 2, 3]));
        let sum = arithmetic(Arith::Add, &a, &b, &[2, 3]).unwrap();
        assert_eq!(sum, Data::Int32(vec![11, 12, 13, 21, 22, 23]));
        let swapped = arithmetic(Arith::Sub, &b, &a, &[2, 3]).unwrap();
        assert_eq!(swapped, Data::Int32(vec![-9, -8, -7, -19, -18, -17]));
        let empty = tensor(&[0, 3], &[]);
        assert_eq!(arithmetic(Arith::Add, &empty, &b, &[0, 3]).unwrap().len(), 0);
    }

    #[test]
    fn division_of_integers() {
        for (op, wanted) in [(Arith::Div, -2), (Arith::Mod, 1), (Arith::FloorDiv, -3)] {
            let found = arithmetic(op, &tensor(&[], &[-7]), &tensor(&[], &[2]), &[]).map(|data| data.integer(0));
            // The rest of -7 by 2 is 1, since the divisor is positive.
            let wanted = if op == Arith::FloorDiv {
                -4
            } else if op == Arith::Div {
                -3
            } else {
                wanted
            };
            assert_eq!(found, Ok(wanted), "{op:?}");
            assert!(arithmetic(op, &tensor(&[], &[1]), &tensor(&[], &[0]), &[]).is_err());
            assert!(arithmetic(op, &tensor(&[], &[i32::MIN]), &tensor(&[], &[-1]), &[]).is_ok());
        }
    }

    #[test]
    fn selection_repeats_all_three() {
        let condition = Tensor::new([2, 1].as_slice(), Data::Bool(vec![true, false])).unwrap();
        let (a, b) = (tensor(&[3], &[1, 2, 3]), tensor(&[], &[0]));
        let ty = Type { dtype: crate::tensor::DType::Int32, dims: vec![Some(2), Some(3)] };
        let found = select(&[&condition, &a, &b], &Attributes::default(), &ty).unwrap();
        assert_eq!(found, Data::Int32(vec![1, 2, 3, 0, 0, 0]));
    }
}
