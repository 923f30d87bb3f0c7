//! Writers of literals.

/// Appends an integer.
pub(crate) fn push_int(out: &mut String, value: i64) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Appends a scalar: the shortest text that reads back as the same value, always with a point or an exponent.
pub(crate) fn push_scalar(out: &mut String, value: f64) {
    match value {
        value if value.is_finite() => push_float(out, value),
        value if value.is_nan() => out.push_str("nan"),
        value => out.push_str(if value > 0.0 { "inf" } else { "-inf" }),
    }
}

/// Appends a finite float: the shortest text that reads back as the same value in its precision, always with a point or an
/// exponent. It is that of the standard library, whose way to it takes several times as long.
pub(crate) fn push_float<F: zmij::Float + Into<f64> + std::fmt::Debug>(out: &mut String, value: F) {
    use std::fmt::Write;
    let size = value.into().abs();
    let mut buffer = zmij::Buffer::new();
    // Where both write digits without an exponent.
    let fast = ((1e-4..1e12).contains(&size) || size == 0.0).then(|| buffer.format_finite(value));
    match fast.filter(|text| !may_be_between::<F>(size, text.len())) {
        Some(text) => out.push_str(text),
        None => _ = write!(out, "{value:?}"),
    }
}

/// Whether a float with a shortest text of a length may be in the middle of two such texts, of which the two ways choose
/// different ones. Then its digits end with a further 5: it is a multiple of a power of two that is not too small for so many
/// digits, and two texts are near enough to it only if they have nearly as many digits as a text can need.
fn may_be_between<F>(size: f64, len: usize) -> bool {
    let (digits, places) = if size_of::<F>() < size_of::<f64>() { (7, 14) } else { (15, 26) };
    if len <= digits {
        return false;
    }
    let (exponent, fraction) = ((size.to_bits() >> 52) as i32 - 1075, size.to_bits() | 1 << 52);
    exponent + fraction.trailing_zeros() as i32 >= -places
}

/// The number of printable ASCII characters without escapes after an opening quote. If the same quote follows,
/// they are the whole string.
pub(crate) fn plain_len(quote: u8, text: &[u8]) -> usize {
    let ends = |byte: &u8| *byte == quote || *byte == b'\\' || !(b' '..=b'~').contains(byte);
    text.iter().position(ends).unwrap_or(text.len())
}

/// Appends a string literal.
pub(crate) fn push_string(out: &mut String, text: &str) {
    // Most strings are written as they are, so all bytes are looked at without a branch for each.
    if !text.bytes().fold(false, |found, byte| found | (byte == b'\'') | (byte == b'\\')) {
        out.push('\'');
        out.push_str(text);
        return out.push('\'');
    }
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
    fn floats_are_spelled_as_the_standard_library_spells_them() {
        let spelled = |value: f64| {
            let (mut wide, mut narrow) = (String::new(), String::new());
            push_float(&mut wide, value);
            push_float(&mut narrow, value as f32);
            assert_eq!((wide, narrow), (format!("{value:?}"), format!("{:?}", value as f32)));
        };
        let mut seed = 1u64;
        for i in 0..400_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let whole = (seed >> 33) as f64;
            let value = match i % 6 {
                0 => whole / 10f64.powi((i / 5 % 20) as i32),
                1 => f64::from_bits(seed),
                2 => -whole / 3.0 / 10f64.powi((i / 5 % 9) as i32),
                3 => f64::from(f32::from_bits((seed >> 32) as u32)),
                // Many are in the middle of two decimals.
                4 => (whole as u32 >> (i / 6 % 24)) as f64 / f64::from(1u32 << (i / 6 % 32)),
                _ => 10f64.powi((i / 6 % 40) as i32 - 20),
            };
            if value.is_finite() && (value as f32).is_finite() {
                spelled(value);
            }
        }
        let exact = [0.0, -0.0, 1.0, 0.001, 1e-4, 1e-5, 9.999e-5, 1e9, 0.1 + 0.2, 1.05, -2.5, 1e12, 1e15, 1e16, 1e-300];
        exact.iter().for_each(|&value| spelled(value));
    }
}
