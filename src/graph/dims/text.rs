//! The text of expressions: `2*S+1`, `(S+3)/4`, `min(S,4)`, `floordiv(min(S-1,T),2)`.

use super::Dim;
use super::expression::{Choice, Expression, Rounding, Variable};

/// The function that is the quotient rounded down of numbers that may be negative. The operator `/` rounds towards 0.
pub(super) const ROUNDED_DOWN: &str = "floordiv";

/// The prefix of symbols for extents of models of ONNX that nothing names, which onnx's own inference has too.
pub(crate) const UNNAMED: &str = "unk__";

/// The text of an expression. Positive terms come before negative ones, then terms with more variables come
/// first, then the order is alphabetic.
pub(super) fn expression(of: &Expression) -> String {
    if let Some(Variable::Symbol(name)) = of.polynomial().as_variable() {
        return name.to_string();
    }
    let mut terms: Vec<(usize, String, i64)> = of
        .polynomial()
        .terms()
        .iter()
        .map(|(product, value)| {
            let mut factors: Vec<String> =
                product.iter().map(|factor| variable(factor, product.len() > 1 || value.unsigned_abs() != 1)).collect();
            factors.sort_unstable();
            (product.len(), factors.join("*"), *value)
        })
        .collect();
    terms.sort_unstable_by(|a, b| (a.2 < 0).cmp(&(b.2 < 0)).then(b.0.cmp(&a.0)).then(a.1.cmp(&b.1)));
    let mut text = String::new();
    for (degree, product, value) in terms {
        if value < 0 {
            text.push('-');
        } else if !text.is_empty() {
            text.push('+');
        }
        match (degree, value.unsigned_abs()) {
            (0, size) => text.push_str(&size.to_string()),
            // `-S/2` is the quotient of `-S`.
            (1, 1) if value < 0 && product.contains('/') && text.len() == 1 => text.push_str(&format!("({product})")),
            (_, 1) => text.push_str(&product),
            (_, size) => text.push_str(&format!("{size}*{product}")),
        }
    }
    text
}

/// The text of a variable; `factor` if it is a factor of a product, which needs parentheses around a quotient.
fn variable(of: &Variable, factor: bool) -> String {
    match of {
        // A model of ONNX may name an extent by anything: `2*M+1`, `batch size`.
        Variable::Symbol(name) if !is_word(name) => format!("({name})"),
        Variable::Symbol(name) => name.to_string(),
        Variable::Quotient(Rounding::Down, sides) if !of.is_natural() => {
            format!("{ROUNDED_DOWN}({},{})", sides[0].text(), sides[1].text())
        }
        Variable::Quotient(_, sides) => {
            let text = format!("{}/{}", operand(&sides[0]), operand(&sides[1]));
            if factor { format!("({text})") } else { text }
        }
        Variable::Choice(choice, items) => {
            let name = match choice {
                Choice::Min => "min",
                Choice::Max => "max",
                Choice::Broadcast => "broadcast",
            };
            let mut items: Vec<String> = items.iter().map(Dim::text).collect();
            items.sort_unstable();
            format!("{name}({})", items.join(","))
        }
    }
}

/// An operand of a quotient, in parentheses unless it is a name or a number.
fn operand(dim: &Dim) -> String {
    let text = dim.text();
    if is_word(&text) { text } else { format!("({text})") }
}

/// Whether a text is a name or a number.
pub(super) fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
