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
