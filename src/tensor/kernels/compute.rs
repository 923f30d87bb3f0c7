//! Element-wise kernels of the dictionary, applied to tensors.

use super::number::Number;
use super::repeat::{self, Repeat};
use crate::dictionary::{Arith, Kernel};
use crate::tensor::{Data, Tensor};

impl Kernel {
    /// Computes the elements of the result.
    ///
    /// # Errors
    ///
    /// The number or the types of operands do not match the operation, or an integer is divided by zero.
    pub(crate) fn compute(self, operands: &[&Tensor], to: Repeat) -> Result<Data, String> {
        let found = match (self, operands) {
            (Kernel::Number(_, _, whole), [x]) if x.dtype().is_integer() => match x.data() {
                Data::Int32(items) => Some(Data::Int32(items.iter().map(|&x| whole(x.into()) as i32).collect())),
                Data::Int64(items) => Some(Data::Int64(items.iter().map(|&x| whole(x.into()) as i64).collect())),
                _ => None,
            },
            (Kernel::Float(single, double) | Kernel::Number(single, double, _), [x]) => match x.data() {
                Data::Float32(items) => Some(Data::Float32(items.iter().map(|&x| single(x)).collect())),
                Data::Float64(items) => Some(Data::Float64(items.iter().map(|&x| double(x)).collect())),
                _ => None,
            },
            (Kernel::Not, [x]) => x.items().map(|items| Data::Bool(items.iter().map(|x: &bool| !x).collect())),
            (Kernel::Arithmetic(op), [a, b]) => {
                same_type!(a, b, [Float32, Float64, Int32, Int64], x, y => arithmetic(op, x, y, to)?)
            }
            (Kernel::Compare(order), [a, b]) => {
                same_type!(a, b, [Float32, Float64, Int32, Int64, Bool], x, y => Data::Bool(to.zip(x, y, order.function())))
            }
            (Kernel::Floats(f), [a, b]) => match (a.data(), b.data()) {
                (Data::Float64(x), Data::Float64(y)) => Some(Data::Float64(to.zip((x, a.shape()), (y, b.shape()), f))),
                _ => None,
            },
            (Kernel::Logic(connect), [a, b]) => same_type!(a, b, [Bool], x, y => Data::Bool(to.zip(x, y, connect))),
            _ => None,
        };
        found.ok_or_else(|| "the operands are not of the types that the operation has".to_owned())
    }
}

fn arithmetic<T: Number>(op: Arith, a: repeat::Side<T>, b: repeat::Side<T>, to: Repeat) -> Result<Data, String> {
    if T::WHOLE && op.divides() && b.0.contains(&T::default()) {
        return Err("an integer is divided by zero".to_owned());
    }
    // Of the operations that are most common, each has a loop of its own, which does not choose for each item.
    macro_rules! items {
        ($($op:ident),*) => {
            match op {
                $(Arith::$op => to.zip(a, b, |x, y| T::calculate(Arith::$op, x, y)),)*
                _ => to.zip(a, b, |x, y| T::calculate(op, x, y)),
            }
        };
    }
    Ok(T::pack(items!(Add, Sub, Mul, Div, Min, Max)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::Align;
    use Kernel::Arithmetic;

    fn tensor(shape: &[usize], items: &[i32]) -> Tensor {
        Tensor::new(shape, Data::Int32(items.to_vec())).unwrap()
    }

    fn to(shape: &[usize]) -> Repeat<'_> {
        Repeat { shape, align: Align::Last }
    }

    #[test]
    fn operands_are_repeated_along_last_axes() {
        let (a, b) = (tensor(&[2, 1], &[10, 20]), tensor(&[3], &[1, 2, 3]));
        let sum = Arithmetic(Arith::Add).compute(&[&a, &b], to(&[2, 3])).unwrap();
        assert_eq!(sum, Data::Int32(vec![11, 12, 13, 21, 22, 23]));
        let swapped = Arithmetic(Arith::Sub).compute(&[&b, &a], to(&[2, 3])).unwrap();
        assert_eq!(swapped, Data::Int32(vec![-9, -8, -7, -19, -18, -17]));
        let empty = tensor(&[0, 3], &[]);
        assert_eq!(Arithmetic(Arith::Add).compute(&[&empty, &b], to(&[0, 3])).unwrap().len(), 0);
    }

    #[cfg(feature = "eval")]
    #[test]
    fn operands_are_repeated_along_first_axes() {
        let (a, b) = (tensor(&[2], &[10, 20]), tensor(&[2, 3], &[1, 2, 3, 4, 5, 6]));
        let to = Repeat { shape: &[2, 3], align: Align::First };
        let sum = Arithmetic(Arith::Add).compute(&[&a, &b], to).unwrap();
        assert_eq!(sum, Data::Int32(vec![11, 12, 13, 24, 25, 26]));
    }

    #[test]
    fn division_of_integers() {
        // The remainder of -7 by 2 is 1, since the divisor is positive.
        for (op, wanted) in [(Arith::Div, -3), (Arith::Mod, 1), (Arith::FloorDiv, -4)] {
            let compute = |a, b| Arithmetic(op).compute(&[&tensor(&[], &[a]), &tensor(&[], &[b])], to(&[]));
            assert_eq!(compute(-7, 2), Ok(Data::Int32(vec![wanted])), "{op:?}");
            assert!(compute(1, 0).is_err());
            assert!(compute(i32::MIN, -1).is_ok());
        }
    }

    #[test]
    fn integers_wrap_around() {
        let compute = |op, a, b| i32::calculate(op, a, b);
        assert_eq!(compute(Arith::Add, i32::MAX, 1), i32::MIN);
        assert_eq!(compute(Arith::Div, i32::MIN, -1), i32::MIN);
        assert_eq!(compute(Arith::Pow, 3, 100), 3i32.wrapping_pow(100));
        assert_eq!((compute(Arith::Pow, 1, -1), compute(Arith::Pow, -1, -1)), (1, 0));
        assert_eq!(i64::calculate(Arith::Mul, i64::MAX, i64::MAX), 1);
    }

    #[test]
    fn selection_repeats_all_three() {
        let condition = Tensor::new(&[2, 1], Data::Bool(vec![true, false])).unwrap();
        let (a, b) = (tensor(&[3], &[1, 2, 3]), tensor(&[], &[0]));
        let found = to(&[2, 3]).select(&condition, &a, &b).unwrap();
        assert_eq!(found, Data::Int32(vec![1, 2, 3, 0, 0, 0]));
        assert_eq!(to(&[2]).select(&condition, &a, &condition), None);
    }
}
