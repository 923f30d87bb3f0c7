//! Expressions as texts: `2*S+1`, `(S+3)/4`, `min(S,4)`.

use super::Dim;
use super::table::{Atom, AtomId, ExprId, Table};

/// The text of an expression: terms with more variables come first, then in the order of their texts,
/// and positive ones before negative ones.
pub(super) fn expression(table: &Table, id: ExprId) -> String {
    let mut terms: Vec<(usize, String, i64)> = table
        .expr(id)
        .0
        .iter()
        .map(|(product, value)| {
            let mut factors: Vec<String> = product
                .iter()
                .map(|atom| variable(table, *atom, product.len() > 1 || value.unsigned_abs() != 1))
                .collect();
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
            (_, 1) => text.push_str(&product),
            (_, size) => text.push_str(&format!("{size}*{product}")),
        }
    }
    text
}

/// The text of a variable, which may be one of several factors.
fn variable(table: &Table, atom: AtomId, factor: bool) -> String {
    let list = |name: &str, items: &[Dim]| {
        let mut items: Vec<String> = items.iter().map(|item| number(table, *item)).collect();
        items.sort_unstable();
        format!("{name}({})", items.join(","))
    };
    match table.atom_of(atom) {
        None => "?".to_owned(),
        Some(Atom::Symbol(name)) => name.to_string(),
        Some(Atom::Quotient(a, b)) => {
            let text = format!("{}/{}", operand(table, *a), operand(table, *b));
            if factor { format!("({text})") } else { text }
        }
        Some(Atom::Min(items)) => list("min", items),
        Some(Atom::Max(items)) => list("max", items),
        Some(Atom::Broadcast(items)) => list("broadcast", items),
    }
}

fn number(table: &Table, dim: Dim) -> String {
    match dim {
        Dim::Int(value) => value.to_string(),
        Dim::Expr(id) => expression(table, id),
        Dim::Unknown => "?".to_owned(),
    }
}

/// A side of a quotient, in parentheses where it is more than a name or a number.
fn operand(table: &Table, dim: Dim) -> String {
    let text = number(table, dim);
    let simple = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if simple { text } else { format!("({text})") }
}
