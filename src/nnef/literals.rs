//! The spelling of literals.

/// Appends an integer.
pub fn push_int(out: &mut String, value: i64) {
    use std::fmt::Write;
    let _ = write!(out, "{value}");
}

/// Appends a scalar: the shortest text that reads back, always with a point or an exponent.
pub fn push_scalar(out: &mut String, value: f64) {
    use std::fmt::Write;
    let _ = match value {
        value if value.is_nan() => write!(out, "nan"),
        value if value.is_infinite() => write!(out, "{}", if value > 0.0 { "inf" } else { "-inf" }),
        value => write!(out, "{value:?}"),
    };
}

/// Appends a string literal.
pub fn push_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        if c == quote || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push(quote);
}

/// The spelling of a scalar, as [`push_scalar`] writes it.
pub fn scalar_text(value: f64) -> String {
    let mut text = String::new();
    push_scalar(&mut text, value);
    text
}
