//! Numbers, read from their digits: arrays of them can be the greater part of a text.

use crate::nnef::ast::{Ast, Expr, ListRange};

/// Digits that fit into 64 bits whatever they are.
const INT_DIGITS: u32 = 18;
const MANTISSA_DIGITS: u32 = 19;

/// Powers of ten that a 64-bit float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The value of an integer literal; none where it may not fit.
pub(super) fn integer(text: &str) -> Option<i64> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.integer().filter(|_| cursor.at == text.len())
}

/// The value of a scalar literal; none where something is to be said about it.
pub(super) fn real(text: &str) -> Option<f64> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.real().filter(|_| cursor.at == text.len())
}

/// An array of numbers of one kind, from behind its opening bracket, as far as no comment stands
/// in it. Gives how many bytes it takes, the closing bracket included.
pub(super) fn array(text: &str, ast: &mut Ast) -> Option<(Expr, usize)> {
    let first = text.trim_start_matches(|c: char| c == '-' || c.is_ascii_whitespace() || c == '\x0B');
    let rest = first.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut cursor = Cursor { text, at: 0 };
    if rest.starts_with(['.', 'e', 'E']) {
        let range = cursor.items(&mut ast.scalars, Cursor::real, |value| -value)?;
        return Some((Expr::ScalarArray(range), cursor.at));
    }
    let range = cursor.items(&mut ast.ints, Cursor::integer, |value: i64| -value)?;
    Some((Expr::IntArray(range), cursor.at))
}

/// What the lexer skips.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0B | 0x0C | b'\r' | b'\n')
}

/// A place in a text. What is read is consumed, but on failure the place means nothing.
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

    /// The items of an array, added to `items`.
    fn items<T: Copy>(
        &mut self,
        items: &mut Vec<T>,
        read: impl Fn(&mut Self) -> Option<T>,
        negate: impl Fn(T) -> T,
    ) -> Option<ListRange> {
        let start = items.len();
        loop {
            self.spaces();
            let negative = self.skip(b'-');
            if negative {
                self.spaces();
            }
            let Some(value) = read(self) else { break };
            items.push(if negative { negate(value) } else { value });
            self.spaces();
            if self.skip(b']') {
                return Some(ListRange { start: start as u32, len: (items.len() - start) as u32 });
            }
            if !self.skip(b',') {
                break;
            }
        }
        items.truncate(start);
        None
    }

    /// Appends digits to a number; gives how many there are, leading zeros of the number not counted.
    fn digits(&mut self, number: &mut u64) -> u32 {
        let mut count = 0;
        loop {
            let digit = self.byte().wrapping_sub(b'0');
            if digit > 9 {
                return count;
            }
            *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += u32::from(*number != 0 || count > 0);
            self.at += 1;
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0;
        let count = self.digits(&mut value);
        (self.at > start && count <= INT_DIGITS).then_some(value as i64)
    }

    fn real(&mut self) -> Option<f64> {
        let start = self.at;
        let mut mantissa = 0;
        let mut count = self.digits(&mut mantissa);
        let mut exponent = 0i64;
        if self.at == start {
            return None;
        }
        let point = self.skip(b'.');
        if point {
            let fraction = self.at;
            let further = self.digits(&mut mantissa);
            // Zeros behind the point lead the number only where nothing else stands before it.
            count = if count == 0 { further } else { count + (self.at - fraction) as u32 };
            exponent = fraction as i64 - self.at as i64;
            if exponent == 0 {
                return None;
            }
        }
        if matches!(self.byte(), b'e' | b'E') {
            exponent = exponent.saturating_add(self.exponent()?);
        } else if !point {
            return None;
        }
        let power = POWERS.get(exponent.unsigned_abs() as usize);
        let value = match power {
            // Both numbers are exact, so one operation rounds once.
            Some(power) if count <= MANTISSA_DIGITS && mantissa < 1 << 53 => {
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
        let start = self.at;
        let mut value = 0;
        let count = self.digits(&mut value);
        if self.at == start || count > INT_DIGITS {
            return None;
        }
        Some(if negative { -(value as i64) } else { value as i64 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(text: &str) -> Option<(Vec<i64>, Vec<f64>, usize)> {
        let mut ast = Ast::default();
        let (expr, len) = array(text, &mut ast)?;
        assert!(matches!(expr, Expr::IntArray(_) | Expr::ScalarArray(_)));
        Some((ast.ints, ast.scalars, len))
    }

    #[test]
    fn arrays_end_at_their_bracket() {
        assert_eq!(packed("1, -2,- 3 ] x"), Some((vec![1, -2, -3], vec![], 11)));
        assert_eq!(packed(" \n0.5,\t-1e2]"), Some((vec![], vec![0.5, -100.0], 12)));
        let others =
            ["", "]", "1", "1,", "1,]", "1 2]", "1, 2.0]", "1.0, 2]", "1.]", "1.0e]", "1x]", "1_]", "1.5.2]", "1é]"];
        for text in others.iter().chain(&["a]", "--1]", "+1]", "9999999999999999999]", "1e999]", "1 # c\n]"]) {
            let mut ast = Ast::default();
            assert_eq!(array(text, &mut ast), None, "{text}");
            assert!(ast.ints.is_empty() && ast.scalars.is_empty(), "{text}");
        }
    }

    #[test]
    fn numbers_to_be_remarked_on_are_left() {
        assert_eq!(integer("000000000000000000000012"), Some(12));
        assert_eq!(integer("9999999999999999999"), None);
        assert_eq!(real("1."), None);
        assert_eq!(real("1e400"), None);
        assert_eq!(real("0e99999999999999999999"), None);
        assert_eq!(real("-0.0"), None);
        assert_eq!(real("0.0").map(f64::to_bits), Some(0));
    }

    proptest! {
        #[test]
        fn scalars_are_those_of_the_standard_library(
            text in "(0{0,3}[0-9]{1,20}\\.[0-9]{1,20}|[0-9]{1,4}(\\.0{0,25}[0-9]{1,6})?[eE][+-]?[0-9]{1,3}|[0-9]{1,17}\\.[0-9]{1,3})",
        ) {
            let wanted = text.parse::<f64>().expect("a number");
            prop_assert_eq!(real(&text).map(f64::to_bits), Some(wanted).filter(|v| v.is_finite()).map(f64::to_bits));
        }

        #[test]
        fn printed_scalars_are_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits).abs();
            if value.is_finite() {
                prop_assert_eq!(real(&format!("{value:?}")).map(f64::to_bits), Some(value.to_bits()));
            }
        }
    }
}
