//! Arithmetic of elements of tensors.

use super::super::Element;
use crate::dictionary::{Arith, Float};

/// Element types that arithmetic is defined for.
pub(crate) trait Number: Element + PartialOrd + Default {
    /// The neutral element of products.
    const ONE: Self;
    /// The neutral element of maxima.
    const LEAST: Self;
    /// The neutral element of minima.
    const GREATEST: Self;
    /// Whether it is an integer type, for which division by zero is not defined.
    const WHOLE: bool;

    /// The result in the precision of the operands: integers wrap around.
    fn calculate(op: Arith, a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($($float:ident),*) => {
        $(impl Number for $float {
            const ONE: Self = 1.0;
            const LEAST: Self = $float::NEG_INFINITY;
            const GREATEST: Self = $float::INFINITY;
            const WHOLE: bool = false;

            fn calculate(op: Arith, a: Self, b: Self) -> Self {
                <$float as Float>::calculate(op, a, b)
            }
        })*
    };
}
floats!(f32, f64);

macro_rules! integers {
    ($($int:ident),*) => {
        $(impl Number for $int {
            const ONE: Self = 1;
            const LEAST: Self = $int::MIN;
            const GREATEST: Self = $int::MAX;
            const WHOLE: bool = true;

            fn calculate(op: Arith, a: Self, b: Self) -> Self {
                // A negative power of 1 is 1; that of other integers is truncated to 0.
                op.exact(a.into(), b.into()).map_or($int::from(a == 1), |(result, _)| result as $int)
            }
        })*
    };
}
integers!(i32, i64);
