//! Arithmetic and comparisons of two elements.

use super::super::Element;

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    /// The remainder, which has the sign of the divisor.
    Mod,
    FloorDiv,
    Pow,
    Min,
    Max,
}

impl Arith {
    /// The result on integers, and whether it overflows 128 bits, which is impossible for a sum, difference or product
    /// of 64-bit integers; none for divisions by zero and negative powers.
    pub(crate) fn exact(self, a: i128, b: i128) -> Option<(i128, bool)> {
        let result = match self {
            Arith::Add => a + b,
            Arith::Sub => a - b,
            Arith::Mul => a * b,
            Arith::Div => a.checked_div(b)?,
            Arith::Mod => {
                let rest = a.checked_rem(b)?;
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            Arith::FloorDiv => {
                let quotient = a.checked_div(b)?;
                if quotient * b != a && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
            }
            Arith::Pow => return u32::try_from(b).ok().map(|b| a.overflowing_pow(b)),
            Arith::Min => a.min(b),
            Arith::Max => a.max(b),
        };
        Some((result, false))
    }

    /// Whether the operation is a division, which is not defined for integers and a divisor of 0.
    pub(crate) fn divides(self) -> bool {
        matches!(self, Arith::Div | Arith::Mod | Arith::FloorDiv)
    }
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

impl Order {
    /// The comparison as a function.
    pub(crate) fn function<T: PartialOrd>(self) -> fn(T, T) -> bool {
        match self {
            Order::Less => |x, y| x < y,
            Order::LessEqual => |x, y| x <= y,
            Order::Greater => |x, y| x > y,
            Order::GreaterEqual => |x, y| x >= y,
            Order::Equal => |x, y| x == y,
            Order::NotEqual => |x, y| x != y,
        }
    }
}

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
                match op {
                    Arith::Add => a + b,
                    Arith::Sub => a - b,
                    Arith::Mul => a * b,
                    Arith::Div => a / b,
                    Arith::Mod => a - b * (a / b).floor(),
                    Arith::FloorDiv => (a / b).floor(),
                    Arith::Pow => a.powf(b),
                    // Unlike the functions of the standard library, these propagate NaN.
                    Arith::Min => if a.is_nan() || a < b { a } else { b },
                    Arith::Max => if a.is_nan() || a > b { a } else { b },
                }
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
