//! Extents as expressions of those of blobs: lists such as `//(0w,2),*(0h,2),-1`, in which `0w` is the width of the first
//! operand. They are computed as ncnn does: functions of integers have integers, all others floats of 32 bits.

/// A number of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExtentNumber {
    Whole(i64),
    Real(f32),
}

use ExtentNumber::{Real, Whole};

impl ExtentNumber {
    fn real(self) -> f32 {
        match self {
            Whole(whole) => whole as f32,
            Real(real) => real,
        }
    }
}

/// The items of a list of expressions. `extent` is that of an operand by its number and its letter.
pub(super) fn extents(text: &str, extent: &dyn Fn(usize, char) -> Option<i64>) -> Option<Vec<i64>> {
    let mut stack: Vec<ExtentNumber> = Vec::new();
    // Functions come before their operands.
    for token in text.split(['(', ')', ',']).map(str::trim).filter(|token| !token.is_empty()).rev() {
        let number = match (blob(token), literal(token)) {
            (Some((operand, letter)), _) => Whole(extent(operand, letter)?),
            (None, Some(number)) => number,
            _ if UNARY.contains(&token) => unary(token, stack.pop()?)?,
            _ => {
                let (a, b) = (stack.pop()?, stack.pop()?);
                binary(token, a, b)?
            }
        };
        stack.push(number);
    }
    let whole = |number: ExtentNumber| match number {
        Whole(whole) => Some(whole),
        Real(real) => Some(real.trunc()).filter(|real| real.abs() < 2e9).map(|real| real as i64),
    };
    stack.into_iter().rev().map(whole).collect()
}

/// The operand and the letter of the extent of a blob.
fn blob(token: &str) -> Option<(usize, char)> {
    let mut letters = token.chars();
    let (digit, letter) = (letters.next()?.to_digit(10)?, letters.next()?);
    (letters.next().is_none() && "whdcn".contains(letter)).then_some((digit as usize, letter))
}

fn literal(token: &str) -> Option<ExtentNumber> {
    let is_number = token.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let real = || token.parse::<f32>().ok().filter(|real| is_number && real.is_finite()).map(Real);
    token.parse::<i32>().ok().map(|whole| Whole(whole.into())).or_else(real)
}

const UNARY: &[&str] =
    &["abs", "neg", "sign", "square", "trunc", "ceil", "floor", "round", "sqrt", "rsqrt", "reciprocal", "exp", "log"];

fn unary(name: &str, x: ExtentNumber) -> Option<ExtentNumber> {
    Some(match (name, x) {
        ("trunc" | "ceil" | "floor" | "round", Whole(_)) => x,
        ("abs", Whole(x)) => Whole(x.checked_abs()?),
        ("neg", Whole(x)) => Whole(x.checked_neg()?),
        ("sign", Whole(x)) => Whole(x.signum()),
        ("square", Whole(x)) => Whole(x.checked_mul(x)?),
        ("trunc", Real(x)) => rounded(x.trunc())?,
        ("ceil", Real(x)) => rounded(x.ceil())?,
        ("floor", Real(x)) => rounded(x.floor())?,
        ("round", Real(x)) => rounded(x.round())?,
        ("abs", Real(x)) => Real(x.abs()),
        ("neg", Real(x)) => Real(-x),
        ("sign", Real(x)) => Real(if x == 0.0 { 0.0 } else { x.signum() }),
        ("square", Real(x)) => Real(x * x),
        ("sqrt", x) => Real(x.real().sqrt()),
        ("rsqrt", x) => Real(1.0 / x.real().sqrt()),
        ("reciprocal", x) => Real(1.0 / x.real()),
        ("exp", x) => Real(x.real().exp()),
        ("log", x) => Real(x.real().ln()),
        _ => return None,
    })
}

fn rounded(x: f32) -> Option<ExtentNumber> {
    (x.abs() < 2e9).then_some(Whole(x as i64))
}

fn binary(name: &str, a: ExtentNumber, b: ExtentNumber) -> Option<ExtentNumber> {
    if let (Whole(a), Whole(b)) = (a, b) {
        let whole = match name {
            "+" => a.checked_add(b)?,
            "-" => a.checked_sub(b)?,
            "*" => a.checked_mul(b)?,
            "//" => a.checked_div(b)?,
            "max" => a.max(b),
            "min" => a.min(b),
            _ => return real(name, a as f32, b as f32),
        };
        return Some(Whole(whole));
    }
    real(name, a.real(), b.real())
}

fn real(name: &str, a: f32, b: f32) -> Option<ExtentNumber> {
    Some(Real(match name {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "max" => a.max(b),
        "min" => a.min(b),
        "pow" => a.powf(b),
        "fmod" => a % b,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_computed_as_ncnn_does() {
        let extent = |operand: usize, letter: char| {
            let extents = [("whc", [6, 5, 4]), ("whc", [3, 2, 1])];
            let (letters, extents) = extents.get(operand)?;
            letters.find(letter).and_then(|at| extents.get(at)).copied()
        };
        for (text, wanted) in [
            ("2,6", Some(vec![2, 6])),
            ("//(0w,2),*(0h,2),-1", Some(vec![3, 10, -1])),
            ("trunc(/(0h,2)),+(1w,1h)", Some(vec![2, 5])),
            ("-(0w,1),max(0h,1w),neg(1c)", Some(vec![5, 5, -1])),
            ("floor(*(0h,1.5))", Some(vec![7])),
            ("2w", None),
            ("//(0w,0)", None),
            ("*(0w)", None),
            ("x", None),
        ] {
            assert_eq!(extents(text, &extent), wanted, "{text}");
        }
    }
}
