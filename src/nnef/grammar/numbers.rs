//! Fast parsing of numbers: arrays of numbers can be most of a text.

use std::sync::Arc;

use crate::nnef::ast::{Ast, Expr, MANY, Numbers};

/// Numbers of digits that always fit into 64 bits, signed and unsigned.
const INT_DIGITS: usize = 18;
const MANTISSA_DIGITS: usize = 19;

/// Powers of ten that a 64-bit float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The factor by which a number grows when a number of digits is appended.
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The value and the number of the digits at the start of eight bytes, the first in the lowest byte.
///
/// Numbers have few digits, and how many varies, so the branch that leaves a loop over the digits would
/// often be mispredicted.
#[inline(always)]
fn eight(word: u64) -> (u64, usize) {
    let digits = word ^ 0x3030_3030_3030_3030;
    let others = (((digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    // Shifts leading zeros in and the other bytes out; in two steps, as a shift by 64 is not allowed.
    let digits = digits << (32 - 4 * count) << (32 - 4 * count);
    let pairs = (digits.wrapping_mul(10)).wrapping_add(digits >> 8);
    let (low, high) = (pairs & 0x0000_00ff_0000_00ff, (pairs >> 16) & 0x0000_00ff_0000_00ff);
    let value = low.wrapping_mul(100 + (1_000_000 << 32)).wrapping_add(high.wrapping_mul(1 + (10_000 << 32)));
    (value >> 32, count)
}

/// The number at the start of a text, and its length in bytes; `None` if a diagnostic is needed for it.
pub(super) fn literal(text: &str) -> Option<(Expr, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    let digits = cursor.digits();
    let expr = match cursor.byte() {
        b'.' | b'e' | b'E' => Expr::Scalar(cursor.real_after(digits)?),
        _ => Expr::Int(cursor.integer_of(digits)?),
    };
    Some((expr, cursor.at))
}

/// An array of numbers of one kind without comments, after its opening bracket, and its length in bytes
/// with the closing bracket.
pub(super) fn array(text: &str, ast: &mut Ast) -> Option<(Expr, usize)> {
    let first = text.trim_start_matches(|c: char| c == '-' || c.is_ascii_whitespace() || c == '\x0B');
    let rest = first.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut cursor = Cursor { text, at: 0 };
    let array = match rest.starts_with(['.', 'e', 'E']) {
        true => cursor.array::<f64>(ast)?,
        false => cursor.array::<i64>(ast)?,
    };
    Some((array, cursor.at))
}

/// An item type of arrays of numbers.
trait NumberItem: Copy + Default {
    /// Reads a number without a sign.
    fn read(cursor: &mut Cursor) -> Option<Self>;
    fn negated(self) -> Self;
    /// The table of the numbers of short arrays.
    fn table(ast: &mut Ast) -> &mut Vec<Self>;
    fn shared(items: Arc<[Self]>) -> Numbers;
    /// The array of the numbers of the table from a position on.
    fn array(ast: &mut Ast, start: usize) -> Expr;
}

macro_rules! number {
    ($number:ty, $read:ident, $table:ident, $shared:ident, $array:ident) => {
        impl NumberItem for $number {
            fn read(cursor: &mut Cursor) -> Option<Self> {
                cursor.$read()
            }

            fn negated(self) -> Self {
                -self
            }

            fn table(ast: &mut Ast) -> &mut Vec<Self> {
                &mut ast.$table
            }

            fn shared(items: Arc<[Self]>) -> Numbers {
                Numbers::$shared(items)
            }

            fn array(ast: &mut Ast, start: usize) -> Expr {
                ast.$array(start)
            }
        }
    };
}

number!(i64, integer, ints, Ints, int_array);
number!(f64, real, scalars, Scalars, scalar_array);

/// Whether a byte is white space, which the lexer skips.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0B | 0x0C | b'\r' | b'\n')
}

/// Digits that were read: the position of the first one, how many there are, and their value, which wraps on overflow.
#[derive(Clone, Copy)]
struct Digits {
    start: usize,
    count: usize,
    value: u64,
}

/// A position in a text, which advances by what is read. After a failure it is unspecified.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl Cursor<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.byte() == byte;
        self.at += usize::from(found);
        found
    }

    fn spaces(&mut self) {
        while is_space(self.byte()) {
            self.at += 1;
        }
    }

    /// Reads an array after its opening bracket, with the closing one.
    fn array<T: NumberItem>(&mut self, ast: &mut Ast) -> Option<Expr> {
        let start = T::table(ast).len();
        for _ in 1..MANY {
            match self.item() {
                Some((item, end)) => {
                    T::table(ast).push(item);
                    if end {
                        return Some(T::array(ast, start));
                    }
                }
                None => {
                    T::table(ast).truncate(start);
                    return None;
                }
            }
        }
        let items = self.many(&T::table(ast)[start..]);
        T::table(ast).truncate(start);
        Some(ast.shared_array(T::shared(items?)))
    }

    /// The items of a long array, of which the first ones are read already. The others are counted before
    /// they are read, so that they are written to their final memory.
    fn many<T: NumberItem>(&mut self, first: &[T]) -> Option<Arc<[T]>> {
        let rest = &self.text[self.at..];
        let commas = rest[..rest.find(']')?].bytes().filter(|byte| *byte == b',').count();
        let mut all: Arc<[T]> = std::iter::repeat_n(T::default(), first.len() + commas + 1).collect();
        let (before, rest) = Arc::get_mut(&mut all)?.split_at_mut(first.len());
        before.copy_from_slice(first);
        for (i, place) in rest.iter_mut().enumerate() {
            let (item, end) = self.item()?;
            if end != (i == commas) {
                return None;
            }
            *place = item;
        }
        Some(all)
    }

    /// Reads an item and the separator after it. Returns the item, and whether the closing bracket followed.
    #[inline(always)]
    fn item<T: NumberItem>(&mut self) -> Option<(T, bool)> {
        self.spaces();
        let negative = self.byte() == b'-';
        if negative {
            self.at += 1;
            self.spaces();
        }
        let value = T::read(self)?;
        self.spaces();
        let end = match self.byte() {
            b',' => false,
            b']' => true,
            _ => return None,
        };
        self.at += 1;
        Some((if negative { value.negated() } else { value }, end))
    }

    #[inline(always)]
    fn digits(&mut self) -> Digits {
        let (start, mut value) = (self.at, 0);
        let count = self.append(&mut value);
        Digits { start, count, value }
    }

    /// Appends digits to a number, which wraps on overflow. Returns the number of digits.
    #[inline(always)]
    fn append(&mut self, number: &mut u64) -> usize {
        let start = self.at;
        while let Some(word) = self.text.as_bytes().get(self.at..).and_then(<[u8]>::first_chunk) {
            let (value, count) = eight(u64::from_le_bytes(*word));
            *number = number.wrapping_mul(TENS[count]).wrapping_add(value);
            self.at += count;
            if count < 8 {
                return self.at - start;
            }
        }
        loop {
            let digit = self.byte().wrapping_sub(b'0');
            if digit > 9 {
                return self.at - start;
            }
            *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let digits = self.digits();
        self.integer_of(digits)
    }

    /// The integer that consists of these digits.
    fn integer_of(&self, Digits { start, count, value }: Digits) -> Option<i64> {
        let fits = count <= INT_DIGITS || self.significant(start) <= INT_DIGITS;
        (count > 0 && fits).then_some(value as i64)
    }

    /// The number of digits from a position on, without leading zeros.
    #[cold]
    fn significant(&self, start: usize) -> usize {
        let digits = self.text[start..self.at].trim_start_matches(['0', '.']);
        digits.bytes().filter(u8::is_ascii_digit).count()
    }

    fn real(&mut self) -> Option<f64> {
        let digits = self.digits();
        self.real_after(digits)
    }

    /// Reads the rest of a real number after its first digits.
    fn real_after(&mut self, Digits { start, mut count, value: mut mantissa }: Digits) -> Option<f64> {
        let mut exponent = 0i64;
        if count == 0 {
            return None;
        }
        let point = self.byte() == b'.';
        if point {
            self.at += 1;
            let further = self.append(&mut mantissa);
            if further == 0 {
                return None;
            }
            count += further;
            exponent = -(further as i64);
        }
        let exact = count <= MANTISSA_DIGITS || self.significant(start) <= MANTISSA_DIGITS;
        if matches!(self.byte(), b'e' | b'E') {
            exponent = exponent.saturating_add(self.exponent()?);
        } else if !point {
            return None;
        }
        let power = POWERS.get(exponent.unsigned_abs() as usize);
        let value = match power {
            // Both numbers are exact, so one operation rounds once.
            Some(power) if exact && mantissa < 1 << 53 => {
                if exponent < 0 {
                    mantissa as f64 / power
                } else {
                    mantissa as f64 * power
                }
            }
            _ => self.text[start..self.at].parse().ok()?,
        };
        value.is_finite().then_some(value)
    }

    fn exponent(&mut self) -> Option<i64> {
        self.at += 1;
        let negative = self.skip(b'-');
        if !negative {
            self.skip(b'+');
        }
        let Digits { start, count, value } = self.digits();
        if count == 0 || (count > INT_DIGITS && self.significant(start) > INT_DIGITS) {
            return None;
        }
        Some(if negative { -(value as i64) } else { value as i64 })
    }
}

#[cfg(test)]
mod tests;
