//! The operations of expressions: one table for parsing, folding, evaluation, expansion, fusion, printing and
//! documentation.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::number::{self, Meaning, floor_divide, logaddexp, maximum, minimum, remainder};
use crate::graph::shapes::half_up;
use crate::tensor::kernels::{self, Kernel};

/// An operation.
#[derive(Debug)]
pub(crate) struct Operation {
    /// Its name.
    pub(crate) name: &'static str,
    /// The minimum and maximum number of operands.
    pub(crate) arity: (usize, usize),
    /// Its semantics.
    pub(crate) meaning: MeaningOf,
    /// Its counterpart in NNEF.
    pub(crate) nnef: Counterpart,
    /// The symbol and precedence in infix notation; other operations are written as calls.
    pub(crate) infix: Option<(&'static str, u8)>,
    /// Whether only templates may use it.
    pub(crate) inner: bool,
}

/// A [`Meaning`] that implements `Debug`.
#[derive(Clone, Copy)]
pub(crate) struct MeaningOf(pub(crate) Meaning);

impl std::fmt::Debug for MeaningOf {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Meaning")
    }
}

/// The counterpart of an operation in NNEF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counterpart {
    /// An operation of this name.
    Same(&'static str),
    /// An expression of other operations, including those that only templates may use.
    Template(&'static str),
    /// Like `Template`, for operands that are truth values; others have no counterpart.
    Logical(&'static str),
    /// A number that must be known during expansion.
    CompileTime,
    /// No counterpart.
    Missing,
}

/// The number of an operation in [`OPERATIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Op(u8);

impl Op {
    /// The operation with a name that texts may use.
    pub(crate) fn named(name: &str) -> Option<Op> {
        Op::find(name).filter(|op| !op.row().inner)
    }

    /// The operation with a name, including those that only templates may use.
    pub(crate) fn find(name: &str) -> Option<Op> {
        static KNOWN: OnceLock<FxHashMap<&'static str, Op>> = OnceLock::new();
        let all = || OPERATIONS.iter().map(|row| row.name).zip((0..).map(Op)).collect();
        KNOWN.get_or_init(all).get(name).copied()
    }

    /// All operations that texts may use.
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        (0..OPERATIONS.len()).map(|at| Op(at as u8)).filter(|op| !op.row().inner)
    }

    /// Its row.
    pub(crate) fn row(self) -> &'static Operation {
        &OPERATIONS[usize::from(self.0)]
    }

    /// Its semantics.
    pub(crate) fn meaning(self) -> Meaning {
        self.row().meaning.0
    }
}

const fn row(name: &'static str, arity: usize, meaning: Meaning, nnef: Counterpart) -> Operation {
    Operation { name, arity: (arity, arity), meaning: MeaningOf(meaning), nnef, infix: None, inner: false }
}

/// A function of a float, with the NNEF operation `nnef` as counterpart and its kernel.
const fn float(name: &'static str, nnef: &'static str) -> Operation {
    row(name, 1, Meaning::Float(kernel(nnef)), Counterpart::Same(nnef))
}

/// Like [`float`], for a function whose result for an integer is an integer.
const fn signed(name: &'static str, nnef: &'static str, whole: fn(i128) -> i128) -> Operation {
    row(name, 1, Meaning::Signed(kernel(nnef), whole), Counterpart::Same(nnef))
}

/// Like [`float`], for a function that removes the fraction.
const fn rounded(name: &'static str, nnef: &'static str) -> Operation {
    row(name, 1, Meaning::Rounded(kernel(nnef)), Counterpart::Same(nnef))
}

const fn kernel(name: &str) -> fn(f64) -> f64 {
    match kernels::find(name) {
        Some(Kernel::Float(_, f) | Kernel::Number(_, f, _)) => f,
        // A test checks all rows.
        _ => f64::abs,
    }
}

type Floats = fn(f64, f64) -> f64;
type Wholes = fn(i128, i128) -> Option<i128>;

const fn arithmetic(name: &'static str, f: Floats, g: Wholes, nnef: Counterpart) -> Operation {
    row(name, 2, Meaning::Arithmetic(f, g), nnef)
}

const fn bits(name: &'static str, f: fn(i64, i64) -> Option<i64>, nnef: Counterpart) -> Operation {
    row(name, 2, Meaning::Bits(f), nnef)
}

/// An operation that only templates may use: the operation `nnef` with the semantics of NNEF.
const fn inner(name: &'static str, arity: usize, meaning: Meaning, nnef: &'static str) -> Operation {
    Operation { inner: true, ..row(name, arity, meaning, Same(nnef)) }
}

impl Operation {
    const fn infix(self, symbol: &'static str, precedence: u8) -> Operation {
        Operation { infix: Some((symbol, precedence)), ..self }
    }

    const fn arity(self, least: usize, most: usize) -> Operation {
        Operation { arity: (least, most), ..self }
    }
}

/// The precedence of a sign in infix notation.
pub(crate) const SIGN: u8 = 7;

use Counterpart::{CompileTime, Logical, Missing, Same, Template};

/// All operations, sorted by name.
pub(crate) static OPERATIONS: &[Operation] = &[
    signed("abs", "abs", i128::abs),
    float("acos", "acos"),
    float("acosh", "acosh"),
    arithmetic("add", |x, y| x + y, i128::checked_add, Same("add")).infix("+", 5),
    bits("and", |x, y| Some(x & y), Logical("nnef.and(@0,@1)")).infix("&", 3),
    float("asin", "asin"),
    float("asinh", "asinh"),
    float("atan", "atan"),
    row("atan2", 2, Meaning::Floats(f64::atan2), Template(ATAN2)),
    float("atanh", "atanh"),
    rounded("ceil", "ceil"),
    float("cos", "cos"),
    float("cosh", "cosh"),
    row("div", 2, Meaning::Floats(|x, y| x / y), Same("div")).infix("/", 6),
    inner("eq", 2, Meaning::Compare(|x, y| x == y), "eq"),
    row("erf", 1, Meaning::Float(number::erf), Missing),
    float("exp", "exp"),
    row("expm1", 1, Meaning::Float(f64::exp_m1), Template("mul(tanh(mul(@0,0.5)),add(exp(@0),1.0))")),
    rounded("floor", "floor"),
    arithmetic("floor_divide", floor_divide, whole_quotient, Template(FLOOR_DIVIDE)).infix("//", 6),
    arithmetic("fmod", |x, y| x % y, i128::checked_rem, Template(FMOD)),
    inner("gt", 2, Meaning::Compare(|x, y| x > y), "gt"),
    row("int", 1, Meaning::Whole, CompileTime),
    float("log", "log"),
    row("log10", 1, Meaning::Float(f64::log10), Template("div(log(@0),2.302585092994046)")),
    row("log1p", 1, Meaning::Float(f64::ln_1p), Template(LOG1P)),
    row("logaddexp", 2, Meaning::Floats(logaddexp), Template(LOGADDEXP)),
    bits("lshift", shift_left, Missing).infix("<<", 4),
    inner("lt", 2, Meaning::Compare(|x, y| x < y), "lt"),
    arithmetic("max", maximum, |x, y| Some(if x > y { x } else { y }), Template(MAX)),
    arithmetic("maximum", maximum, |x, y| Some(if x > y { x } else { y }), Template(MAX)),
    arithmetic("min", minimum, |x, y| Some(if x < y { x } else { y }), Template(MIN)),
    arithmetic("minimum", minimum, |x, y| Some(if x < y { x } else { y }), Template(MIN)),
    arithmetic("mul", |x, y| x * y, i128::checked_mul, Same("mul")).infix("*", 6),
    inner("ne", 2, Meaning::Compare(|x, y| x != y), "ne"),
    signed("neg", "neg", |x| -x).infix("-", SIGN),
    inner("nnef.and", 2, Meaning::Bits(|x, y| Some(x & y)), "and"),
    // The second operand if the first is NaN (4.2.4), as the next one.
    inner("nnef.max", 2, Meaning::Floats(|x, y| if x > y { x } else { y }), "max"),
    inner("nnef.min", 2, Meaning::Floats(|x, y| if x < y { x } else { y }), "min"),
    inner("nnef.not", 1, Meaning::Not, "not"),
    inner("nnef.or", 2, Meaning::Bits(|x, y| Some(x | y)), "or"),
    // Halves are rounded up.
    inner("nnef.round", 1, Meaning::Float(half_up), "round"),
    // A power: that of -0 and of the negative infinity is not NaN or negative.
    inner("nnef.rsqrt", 1, Meaning::Float(|x| x.powf(-0.5)), "rsqrt"),
    inner("nnef.sqrt", 1, Meaning::Float(|x| x.powf(0.5)), "sqrt"),
    bits("or", |x, y| Some(x | y), Logical("nnef.or(@0,@1)")).infix("|", 1),
    row("pow", 2, Meaning::Power(f64::powf, number::whole_power), Same("pow")).infix("**", 8),
    float("reciprocal", "rcp"),
    arithmetic("remainder", remainder, whole_rest, Template(REMAINDER)).infix("%", 6),
    row("round", 1, Meaning::Rounded(f64::round_ties_even), Template(ROUND)),
    bits("rshift", shift_right, Missing).infix(">>", 4),
    row("rsqrt", 1, Meaning::Float(kernel("rsqrt")), Template(RSQRT)),
    inner("select", 3, Meaning::Select, "select"),
    signed("sign", "sign", i128::signum),
    float("sin", "sin"),
    float("sinh", "sinh"),
    row("size", 2, Meaning::Size, CompileTime).arity(1, 2),
    row("sqrt", 1, Meaning::Float(f64::sqrt), Template(SQRT)),
    signed("square", "sqr", |x| x * x),
    arithmetic("sub", |x, y| x - y, i128::checked_sub, Same("sub")).infix("-", 5),
    float("tan", "tan"),
    float("tanh", "tanh"),
    row("torch.bool", 1, Meaning::Truth, CompileTime),
    row("torch.float", 1, Meaning::ToFloat, CompileTime),
    row("torch.long", 1, Meaning::Whole, CompileTime),
    row("trunc", 1, Meaning::Rounded(f64::trunc), Template("select(lt(@0,0.0),ceil(@0),floor(@0))")),
    bits("xor", |x, y| Some(x ^ y), Logical(XOR)).infix("^", 2),
];

/// The arc tangent of the quotient by the size of the divisor, which has the sign of the dividend. A quotient of two
/// zeros or two infinities is replaced by that of their signs. If the divisor is negative, which includes -0, the result
/// is π or -π minus that. The reciprocal of -0 is negative, the sum with the operand of every negative number is, too.
const ATAN2: &str = "select(lt(add(reciprocal(@1),@1),0.0),\
    sub(select(lt(add(reciprocal(@0),@0),0.0),-3.141592653589793,3.141592653589793),\
    atan(select(eq(mul(@1,2.0),@1),select(ne(div(@0,abs(@1)),div(@0,abs(@1))),mul(sign(@0),abs(sign(@1))),\
    div(@0,abs(@1))),div(@0,abs(@1))))),\
    atan(select(eq(mul(@1,2.0),@1),select(ne(div(@0,abs(@1)),div(@0,abs(@1))),mul(sign(@0),abs(sign(@1))),\
    div(@0,abs(@1))),div(@0,abs(@1)))))";

/// The quotient is rounded before its fraction is removed. The reciprocal of infinite divisors is 0: the result for a
/// finite dividend is 0 or, if the signs differ, -1. Products with 0 are NaN for infinite dividends.
const FLOOR_DIVIDE: &str = "select(eq(reciprocal(@1),0.0),\
    add(select(lt(mul(sign(@0),sign(@1)),0.0),-1.0,0.0),mul(@0,0.0)),\
    select(eq(@1,0.0),div(@0,@1),floor(add(div(@0,@1),mul(@0,0.0)))))";
/// The dividend if the divisor is infinite, see [`FLOOR_DIVIDE`].
const FMOD: &str = "select(eq(reciprocal(@1),0.0),add(@0,mul(@0,0.0)),sub(@0,mul(@1,trunc(div(@0,@1)))))";
/// Like [`FMOD`], but the result has the sign of the divisor.
const REMAINDER: &str = "select(eq(reciprocal(@1),0.0),\
    add(select(lt(mul(sign(@0),sign(@1)),0.0),add(@0,@1),@0),mul(@0,0.0)),\
    sub(@0,mul(@1,floor(div(@0,@1)))))";

/// The second operand if it is NaN, which the larger one of NNEF is only as the second.
const MAX: &str = "select(ne(@1,@1),@1,nnef.max(@1,@0))";
/// Like [`MAX`].
const MIN: &str = "select(ne(@1,@1),@1,nnef.min(@1,@0))";

/// Twice the rounded half for numbers in the middle between two integers: halves of these are not in the middle.
const ROUND: &str = "select(eq(sub(@0,floor(@0)),0.5),mul(nnef.round(mul(@0,0.5)),2.0),nnef.round(@0))";

/// Zeros keep their sign, and the negative infinity becomes a finite number, whose root is NaN.
const SQRT: &str = "select(eq(@0,0.0),@0,nnef.sqrt(nnef.max(-1.0,@0)))";
/// Like [`SQRT`].
const RSQRT: &str = "select(eq(@0,0.0),reciprocal(@0),nnef.rsqrt(nnef.max(-1.0,@0)))";

/// Exactly one of the operands.
const XOR: &str = "nnef.and(nnef.or(@0,@1),nnef.not(nnef.and(@0,@1)))";

/// For small operands by the inverse hyperbolic tangent, which is precise near 0.
const LOG1P: &str = "select(lt(abs(@0),0.5),mul(2.0,atanh(div(@0,add(@0,2.0)))),log(add(@0,1.0)))";

/// The larger operand plus a correction, so that no exponential overflows; equal operands may be infinite.
const LOGADDEXP: &str = "select(eq(@0,@1),add(@0,0.6931471805599453),\
    add(nnef.max(@0,@1),log1p(exp(neg(abs(sub(@0,@1)))))))";

fn whole_quotient(x: i128, y: i128) -> Option<i128> {
    kernels::Arith::FloorDiv.exact(x, y).map(|(quotient, _)| quotient)
}

fn whole_rest(x: i128, y: i128) -> Option<i128> {
    kernels::Arith::Mod.exact(x, y).map(|(rest, _)| rest)
}

/// A left shift; none if bits would be lost.
fn shift_left(x: i64, by: i64) -> Option<i64> {
    let by = u32::try_from(by).ok().filter(|by| *by < 64)?;
    let shifted = x.wrapping_shl(by);
    (shifted >> by == x).then_some(shifted)
}

/// An arithmetic right shift; none for a negative distance.
fn shift_right(x: i64, by: i64) -> Option<i64> {
    u32::try_from(by).ok().map(|by| x >> by.min(63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_by_name() {
        assert!(OPERATIONS.is_sorted_by_key(|row| row.name));
        for row in OPERATIONS {
            assert_eq!(Op::find(row.name).unwrap().row().name, row.name);
            assert_eq!(Op::named(row.name).is_none(), row.inner);
        }
        let count = |arity: usize| Op::all().filter(|op| op.row().arity == (arity, arity)).count();
        // 29 functions, `int` and three of torch; 14 functions of two operands, five on bits.
        assert_eq!((count(1), count(2)), (29 + 4, 14 + 5));
        assert_eq!(Op::named("Add"), None);
    }

    /// The rows of the tables of `docs/pnnx.md`.
    #[test]
    fn the_documentation_has_all_operations() {
        let page = include_str!("../../docs/pnnx.md");
        for op in Op::all() {
            let row = op.row();
            let operands = match row.arity {
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} or {most}"),
            };
            let nnef = match row.nnef {
                Counterpart::Same(name) => format!("`{name}`"),
                Counterpart::Template(_) => "template".to_owned(),
                Counterpart::Logical(_) => "of truth values".to_owned(),
                Counterpart::CompileTime => "while expanding".to_owned(),
                Counterpart::Missing => "none".to_owned(),
            };
            let wanted = format!("| `{}` | {operands} | {nnef} |", row.name);
            assert!(page.contains(&wanted), "docs/pnnx.md lacks {wanted}");
            if let Counterpart::Template(text) | Counterpart::Logical(text) = row.nnef {
                let wanted = format!("| `{}` | `{text}` |", row.name);
                assert!(page.contains(&wanted), "docs/pnnx.md lacks {wanted}");
            }
        }
    }

    #[test]
    fn kernels_of_nnef_are_those_of_the_rows() {
        for row in OPERATIONS.iter().filter(|row| !row.inner) {
            let (Counterpart::Same(nnef), Meaning::Float(f) | Meaning::Signed(f, _) | Meaning::Rounded(f)) =
                (row.nnef, row.meaning.0)
            else {
                continue;
            };
            let Some(Kernel::Float(_, known) | Kernel::Number(_, known, _)) = kernels::find(nnef) else {
                panic!("{nnef} has no kernel")
            };
            assert_eq!(f(0.7).to_bits(), known(0.7).to_bits(), "{nnef}");
        }
    }
}
