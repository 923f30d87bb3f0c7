//! Long or deep expressions.

use super::{Document, expression};

/// `n` times `term`, joined by `operator`.
fn chain(term: &str, operator: &str, n: usize) -> String {
    vec![term; n].join(operator)
}

/// `open` n times, `middle`, `close` n times.
fn nested(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

pub fn chain_add(n: usize) -> Document {
    expression("", &chain("x", " + ", n), n, n)
}

pub fn chain_scalar(n: usize) -> Document {
    expression("", &format!("x * ({})", chain("1.0", " + ", n)), 2, n)
}

pub fn chain_mixed(n: usize) -> Document {
    let terms = ["x", "x * 2.0", "x / 3.0", "x ^ 2.0"];
    let mut text = String::new();
    for i in 0..n {
        if i > 0 {
            text.push_str([" + ", " - "][i % 2]);
        }
        text.push_str(terms[i % 4]);
    }
    let products = (0..n).filter(|i| i % 4 != 0).count();
    expression("", &text, products + n, n)
}

pub fn paren(n: usize) -> Document {
    expression("", &format!("tanh({})", nested("(", "x", ")", n)), 2, n)
}

pub fn parenadd(n: usize) -> Document {
    expression("", &nested("(x + ", "x", ")", n), n + 1, n)
}

pub fn callnest(n: usize) -> Document {
    expression("", &nested("tanh(", "x", ")", n), n + 1, n)
}

pub fn arrnest(n: usize) -> Document {
    let ty = format!("scalar{}", "[]".repeat(n));
    let prim = format!("fragment prim( x: tensor<scalar>, k: {ty} ) -> ( y: tensor<scalar> );\n\n");
    expression(&prim, &format!("prim(x, k = {})", nested("[", "1.0", "]", n)), 2, n)
}

pub fn selectchain(n: usize) -> Document {
    let selects: String = (0..n).map(|i| format!("{i}.0 if {i} > {} else ", n + 1)).collect();
    expression("", &format!("x * ({selects}0.5)"), 2, n)
}
