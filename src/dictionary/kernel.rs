//! What element-wise operations compute, on single numbers.

/// What an element-wise operation computes. Tensors of other notations than NNEF have floats of 32 and of 64 bits.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    /// A function of a float, for 32 and for 64 bits. Integers are converted before.
    Float(fn(f32) -> f32, fn(f64) -> f64),
    /// A function of a number, for floats of 32 and of 64 bits and for integers, whose result is an integer.
    Number(fn(f32) -> f32, fn(f64) -> f64, fn(i128) -> i128),
    /// A function of two floats. Integers are converted before.
    Floats(fn(f64, f64) -> f64),
    /// Arithmetic of two numbers; that of two integers is an integer.
    Arithmetic(Arith),
    /// A comparison of two elements.
    Compare(Order),
    /// The negation of a logical.
    Not,
    /// A function of two logicals.
    Logic(fn(bool, bool) -> bool),
    /// A function of two integers or two logicals; none if it is not defined.
    Bits(fn(i64, i64) -> Option<i64>),
    /// The second operand where the first is true, else the third.
    Select,
}

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    /// The dividend minus the divisor times [`Arith::FloorDiv`].
    Mod,
    /// The quotient, rounded to a float, and then rounded down.
    FloorDiv,
    /// The remainder, computed exactly, with the sign of the divisor.
    Remainder,
    /// The quotient rounded down that [`Arith::Remainder`] belongs to.
    FloorDivide,
    /// The remainder with the sign of the dividend.
    Fmod,
    Pow,
    /// The smaller number, the first one of equal ones; NaN if one is NaN.
    Min,
    /// The larger number, the first one of equal ones; NaN if one is NaN.
    Max,
    /// The smaller number, the second one of equal ones and if one is NaN (4.2.4 of NNEF).
    MinOrSecond,
    /// The larger number, the second one of equal ones and if one is NaN (4.2.4 of NNEF).
    MaxOrSecond,
    /// The smaller number; of NaN and a number, the number.
    MinNumber,
    /// The larger number; of NaN and a number, the number.
    MaxNumber,
}

/// Floats that [`Arith`] is defined for.
pub(crate) trait Float: Sized {
    /// The result in the precision of the operands.
    fn calculate(op: Arith, a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($($float:ident),*) => {
        $(impl Float for $float {
            fn calculate(op: Arith, a: Self, b: Self) -> Self {
                match op {
                    Arith::Add => a + b,
                    Arith::Sub => a - b,
                    Arith::Mul => a * b,
                    Arith::Div => a / b,
                    Arith::Mod => a - b * (a / b).floor(),
                    Arith::FloorDiv => (a / b).floor(),
                    Arith::Remainder => {
                        let rest = a % b;
                        if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
                    }
                    Arith::FloorDivide => {
                        if b == 0.0 {
                            return a / b;
                        }
                        let rest = a % b;
                        let below = rest != 0.0 && (rest < 0.0) != (b < 0.0);
                        let quotient = (a - rest) / b - if below { 1.0 } else { 0.0 };
                        if quotient == 0.0 { (0.0 as $float).copysign(a / b) } else { quotient.round() }
                    }
                    Arith::Fmod => a % b,
                    Arith::Pow => a.powf(b),
                    Arith::Min => if b.is_nan() || b < a { b } else { a },
                    Arith::Max => if b.is_nan() || b > a { b } else { a },
                    Arith::MinOrSecond => if a < b { a } else { b },
                    Arith::MaxOrSecond => if a > b { a } else { b },
                    Arith::MinNumber => a.min(b),
                    Arith::MaxNumber => a.max(b),
                }
            }
        })*
    };
}
floats!(f32, f64);

impl Arith {
    /// The result on integers, and whether it overflows 128 bits, which is impossible for a sum, difference or product
    /// of 64-bit integers; none for divisions by zero and negative powers.
    pub(crate) fn exact(self, a: i128, b: i128) -> Option<(i128, bool)> {
        let result = match self {
            Arith::Add => a + b,
            Arith::Sub => a - b,
            Arith::Mul => a * b,
            Arith::Div => a.checked_div(b)?,
            Arith::Fmod => a.checked_rem(b)?,
            Arith::Mod | Arith::Remainder => {
                let rest = a.checked_rem(b)?;
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            Arith::FloorDiv | Arith::FloorDivide => {
                let quotient = a.checked_div(b)?;
                if quotient * b != a && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
            }
            Arith::Pow => return u32::try_from(b).ok().map(|b| a.overflowing_pow(b)),
            Arith::Min | Arith::MinOrSecond | Arith::MinNumber => a.min(b),
            Arith::Max | Arith::MaxOrSecond | Arith::MaxNumber => a.max(b),
        };
        Some((result, false))
    }

    /// The result on two floats of 64 bits.
    pub(crate) fn float(self, a: f64, b: f64) -> f64 {
        f64::calculate(self, a, b)
    }

    /// The result on integers; none where [`Arith::exact`] has none, or beyond 128 bits.
    pub(crate) fn whole(self, a: i128, b: i128) -> Option<i128> {
        self.exact(a, b).filter(|(_, overflows)| !overflows).map(|(result, _)| result)
    }

    /// Whether the operation is a division, which is not defined for integers and a divisor of 0.
    pub(crate) fn divides(self) -> bool {
        use Arith::{Div, FloorDiv, FloorDivide, Fmod, Mod, Remainder};
        matches!(self, Div | Mod | FloorDiv | Remainder | FloorDivide | Fmod)
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

    /// Whether an ordering of two operands is the one that is asked for.
    pub(crate) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        self.function()(ordering, std::cmp::Ordering::Equal)
    }
}

impl Kernel {
    /// The result on floats of 64 bits, where logicals are 0 and 1; none for operations on integers, or if the number
    /// of operands differs.
    pub(crate) fn of_floats(self, operands: &[f64]) -> Option<f64> {
        let logical = |truth: bool| f64::from(u8::from(truth));
        Some(match (self, operands) {
            (Kernel::Float(_, f) | Kernel::Number(_, f, _), [x]) => f(*x),
            (Kernel::Floats(f), [x, y]) => f(*x, *y),
            (Kernel::Arithmetic(op), [x, y]) => op.float(*x, *y),
            (Kernel::Compare(order), [x, y]) => logical(order.function()(x, y)),
            (Kernel::Not, [x]) => logical(*x == 0.0),
            (Kernel::Logic(f), [x, y]) => logical(f(*x != 0.0, *y != 0.0)),
            (Kernel::Select, [condition, x, y]) => {
                if *condition == 0.0 {
                    *y
                } else {
                    *x
                }
            }
            _ => return None,
        })
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Kernel::Arithmetic(op) => write!(f, "Arithmetic({op:?})"),
            Kernel::Compare(order) => write!(f, "Compare({order:?})"),
            Kernel::Float(..) => f.write_str("Float"),
            Kernel::Number(..) => f.write_str("Number"),
            Kernel::Floats(_) => f.write_str("Floats"),
            Kernel::Not => f.write_str("Not"),
            Kernel::Logic(_) => f.write_str("Logic"),
            Kernel::Bits(_) => f.write_str("Bits"),
            Kernel::Select => f.write_str("Select"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arith::*;

    const OF_SIGNS: [(f64, f64); 4] = [(7.0, 3.0), (-7.0, 3.0), (7.0, -3.0), (-7.0, -3.0)];

    /// Results for all signs, in both precisions, and on integers.
    #[test]
    fn remainders_and_quotients() {
        for (op, wanted) in [
            (Mod, [1.0, 2.0, -2.0, -1.0]),
            (Remainder, [1.0, 2.0, -2.0, -1.0]),
            (Fmod, [1.0, -1.0, 1.0, -1.0]),
            (FloorDiv, [2.0, -3.0, -3.0, 2.0]),
            (FloorDivide, [2.0, -3.0, -3.0, 2.0]),
        ] {
            for ((a, b), wanted) in OF_SIGNS.into_iter().zip(wanted) {
                assert_eq!(op.float(a, b), wanted, "{op:?} {a} {b}");
                assert_eq!(f32::calculate(op, a as f32, b as f32), wanted as f32, "{op:?} {a} {b}");
                assert_eq!(op.exact(a as i128, b as i128), Some((wanted as i128, false)), "{op:?} {a} {b}");
            }
            // Without a remainder.
            for (a, b) in [(6.0, 3.0), (-6.0, 3.0), (6.0, -3.0)] {
                let wanted = if matches!(op, FloorDiv | FloorDivide) { a / b } else { 0.0 };
                assert_eq!(
                    (op.float(a, b), op.whole(a as i128, b as i128)),
                    (wanted, Some(wanted as i128)),
                    "{op:?} {a} {b}"
                );
                assert_eq!(f32::calculate(op, a as f32, b as f32), wanted as f32);
            }
        }
        for op in [Div, Mod, FloorDiv, Remainder, FloorDivide, Fmod] {
            assert!(op.divides() && op.exact(1, 0).is_none(), "{op:?}");
        }
        for op in [Add, Sub, Mul, Pow, Min, Max, MinOrSecond, MaxOrSecond, MinNumber, MaxNumber] {
            assert!(!op.divides() && op.exact(1, 0).is_some(), "{op:?}");
        }
    }

    /// 1 / 0.1 is rounded to 10, although ten times the number 0.1 is more than 1.
    #[test]
    fn a_quotient_that_is_rounded_before() {
        assert_eq!((FloorDiv.float(1.0, 0.1), FloorDivide.float(1.0, 0.1)), (10.0, 9.0));
        assert_eq!((FloorDivide.float(1.0, 0.0), FloorDivide.float(-1.0, 0.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(FloorDivide.float(-0.0, 3.0).is_sign_negative() && FloorDivide.float(0.5, 3.0).is_sign_positive());
        assert_eq!(f32::calculate(FloorDivide, 1.0, 0.0), f32::INFINITY);
        assert!(f32::calculate(FloorDivide, -0.0, 3.0).is_sign_negative());
    }

    #[test]
    fn arithmetic() {
        for (op, wanted) in [(Add, 9.0), (Sub, 5.0), (Mul, 14.0), (Div, 3.5), (Pow, 49.0)] {
            assert_eq!((op.float(7.0, 2.0), f32::calculate(op, 7.0, 2.0)), (wanted, wanted as f32), "{op:?}");
        }
        for (op, wanted) in [(Add, 9), (Sub, 5), (Mul, 14), (Div, 3), (Pow, 49)] {
            assert_eq!(op.whole(7, 2), Some(wanted), "{op:?}");
        }
        assert_eq!(
            (Pow.exact(2, -1), Pow.whole(2, 200), Pow.exact(2, 200).map(|(_, overflows)| overflows)),
            (None, None, Some(true))
        );
    }

    #[test]
    fn the_smaller_and_the_larger_number() {
        for (op, smaller) in [
            (Min, true),
            (MinOrSecond, true),
            (MinNumber, true),
            (Max, false),
            (MaxOrSecond, false),
            (MaxNumber, false),
        ] {
            let wanted = if smaller { 2.0 } else { 3.0 };
            for (a, b) in [(2.0, 3.0), (3.0, 2.0)] {
                assert_eq!((op.float(a, b), f32::calculate(op, a as f32, b as f32)), (wanted, wanted as f32), "{op:?}");
                assert_eq!(op.whole(a as i128, b as i128), Some(wanted as i128));
            }
            // Of equal numbers, and with NaN before and after a number.
            let second = matches!(op, MinOrSecond | MaxOrSecond);
            let nan = |x: f64| if x.is_nan() { "NaN" } else { "number" };
            let with_nan = (nan(op.float(f64::NAN, 1.0)), nan(op.float(1.0, f64::NAN)));
            let with_nan_of_32 =
                (nan(f32::calculate(op, f32::NAN, 1.0).into()), nan(f32::calculate(op, 1.0, f32::NAN).into()));
            let wanted = match op {
                Min | Max => ("NaN", "NaN"),
                _ if second => ("number", "NaN"),
                _ => ("number", "number"),
            };
            assert_eq!((with_nan, with_nan_of_32), (wanted, wanted), "{op:?}");
            if !matches!(op, MinNumber | MaxNumber) {
                assert_eq!(op.float(0.0, -0.0).is_sign_negative(), second, "{op:?}");
                assert_eq!(f32::calculate(op, 0.0, -0.0).is_sign_negative(), second, "{op:?}");
            }
        }
    }

    #[test]
    fn orders() {
        use Order::*;
        for (order, wanted) in [
            (Less, [true, false, false]),
            (LessEqual, [true, true, false]),
            (Greater, [false, false, true]),
            (GreaterEqual, [false, true, true]),
            (Equal, [false, true, false]),
            (NotEqual, [true, false, true]),
        ] {
            let compared = [1.0, 2.0, 3.0].map(|x| order.function()(x, 2.0));
            let held = [1, 2, 3].map(|x: i32| order.holds(x.cmp(&2)));
            assert_eq!((compared, held), (wanted, wanted), "{order:?}");
            let of_floats = [1.0, 2.0, 3.0].map(|x| Kernel::Compare(order).of_floats(&[x, 2.0]) == Some(1.0));
            assert_eq!(of_floats, wanted, "{order:?}");
        }
    }

    /// Logicals are 0 and 1, and whatever is not 0 is true.
    #[test]
    fn logicals_as_floats() {
        let and = Kernel::Logic(|a, b| a && b);
        for (kernel, operands, wanted) in [
            (Kernel::Not, &[0.0][..], Some(1.0)),
            (Kernel::Not, &[2.0], Some(0.0)),
            (and, &[2.0, 1.0], Some(1.0)),
            (and, &[0.0, 1.0], Some(0.0)),
            (and, &[1.0, 0.0], Some(0.0)),
            (Kernel::Select, &[0.0, 5.0, 6.0], Some(6.0)),
            (Kernel::Select, &[2.0, 5.0, 6.0], Some(5.0)),
            (Kernel::Arithmetic(Sub), &[5.0, 2.0], Some(3.0)),
            (Kernel::Arithmetic(Sub), &[5.0], None),
            (Kernel::Select, &[1.0, 5.0], None),
            (Kernel::Bits(|a, b| Some(a & b)), &[1.0, 1.0], None),
        ] {
            assert_eq!(kernel.of_floats(operands), wanted, "{kernel:?} {operands:?}");
        }
    }

    #[test]
    fn kernels_are_shown_by_their_kind() {
        assert_eq!(
            format!("{:?} {:?}", Kernel::Arithmetic(Mod), Kernel::Compare(Order::Less)),
            "Arithmetic(Mod) Compare(Less)"
        );
        let others = [
            Kernel::Not,
            Kernel::Select,
            Kernel::Logic(|a, _| a),
            Kernel::Bits(|a, _| Some(a)),
            Kernel::Floats(|a, _| a),
        ];
        let shown = others.map(|kernel| format!("{kernel:?}"));
        assert_eq!(shown, ["Not", "Select", "Logic", "Bits", "Floats"]);
    }
}
