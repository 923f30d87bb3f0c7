//! Writers of literals.

/// Appends an integer.
pub(crate) fn push_int(out: &mut String, value: i64) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Appends a scalar: the shortest text that reads back as the same value, always with a point or an exponent.
pub(crate) fn push_scalar(out: &mut String, value: f64) {
    use std::fmt::Write;
    if push_short(out, value) {
        return;
    }
    let _ = match value {
        value if value.is_nan() => write!(out, "nan"),
        value if value.is_infinite() => write!(out, "{}", if value > 0.0 { "inf" } else { "-inf" }),
        value => write!(out, "{value:?}"),
    };
}

/// The powers of ten that [`push_short`] tries.
const POWERS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// Appends a scalar with at most six decimals, like most scalars in documents; false if it has more.
///
/// Let the value be exactly the quotient of an integer below 2^53 and a power of ten, the smallest that is possible.
/// Then the digits of the integer are the shortest that read back, since reading does the same division.
fn push_short(out: &mut String, value: f64) -> bool {
    let size = value.abs();
    if !(1e-3..1e9).contains(&size) {
        return false;
    }
    for (places, power) in POWERS.iter().enumerate() {
        let digits = (size * power).round();
        if digits / power == size {
            if value < 0.0 {
                out.push('-');
            }
            let (whole, rest) = (digits as u64 / *power as u64, digits as u64 % *power as u64);
            let mut buffer = itoa::Buffer::new();
            out.push_str(buffer.format(whole));
            out.push('.');
            let rest = buffer.format(rest);
            (rest.len()..places).for_each(|_| out.push('0'));
            out.push_str(rest);
            return true;
        }
    }
    false
}

/// The number of printable ASCII characters without escapes after an opening quote. If the same quote follows,
/// they are the whole string.
pub(crate) fn plain_len(quote: u8, text: &[u8]) -> usize {
    let ends = |byte: &u8| *byte == quote || *byte == b'\\' || !(b' '..=b'~').contains(byte);
    text.iter().position(ends).unwrap_or(text.len())
}

/// Appends a string literal.
pub(crate) fn push_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    let mut rest = text;
    while let Some(at) = rest.find([quote, '\\']) {
        // The escaped character is ASCII.
        let (before, behind) = rest.split_at(at + 1);
        out.push_str(&before[..at]);
        out.push('\\');
        out.push_str(&before[at..]);
        rest = behind;
    }
    out.push_str(rest);
    out.push(quote);
}

/// The text of a scalar, as [`push_scalar`] writes it.
pub(crate) fn scalar_text(value: f64) -> String {
    let mut text = String::new();
    push_scalar(&mut text, value);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_so_that_they_read_back() {
        let cases = [
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("'\"'", "'\\'\"\\''"),
            ("\\", "'\\\\'"),
            ("a\\b\\", "'a\\\\b\\\\'"),
            ("é'é", "\"é'é\""),
        ];
        for (text, quoted) in cases {
            let mut out = String::new();
            push_string(&mut out, text);
            assert_eq!(out, quoted);
        }
    }

    #[test]
    fn short_scalars_are_spelled_as_the_long_way_spells_them() {
        let mut seed = 1u64;
        for i in 0..200_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let whole = (seed >> 33) as f64;
            let value = match i % 4 {
                0 => whole / POWERS[(i / 4 % 7) as usize],
                1 => f64::from_bits(seed),
                2 => -whole / 3.0 / POWERS[(i / 4 % 7) as usize],
                _ => f64::from((seed >> 40) as u32 as f32 / 1e4),
            };
            if value.is_finite() {
                assert_eq!(scalar_text(value), format!("{value:?}"));
            }
        }
        let exact = [0.0, -0.0, 1.0, 0.001, 0.0009, 999_999_999.0, 1e9, 0.1 + 0.2, 1.05, -2.5, 1e15, 123_456.789];
        exact.iter().for_each(|&value| assert_eq!(scalar_text(value), format!("{value:?}")));
    }
}
