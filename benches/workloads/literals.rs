//! Large literals.

use super::{Document, document, expression, list, scalars};

pub fn biglit(n: usize) -> Document {
    let body = format!("    c = constant<scalar>(shape = [{n}], value = {});\n    y = x + c;\n", scalars(n));
    document("", &body, 3, n)
}

pub fn bigint(n: usize) -> Document {
    let prim = "fragment prim( x: tensor<scalar>, k: integer[] ) -> ( y: tensor<scalar> );\n\n";
    expression(prim, &format!("prim(x, k = {})", list(0..n)), 2, n)
}

pub fn bigconcat(n: usize) -> Document {
    let body = format!("{}    y = concat({}, axis = 1);\n", tensors(n), names(n));
    document("", &body, n + 2, n)
}

/// `n` tensors `t0`, `t1`, ….
pub fn tensors(n: usize) -> String {
    (0..n).map(|i| format!("    t{i} = tanh(x);\n")).collect()
}

/// The array of these tensors.
pub fn names(n: usize) -> String {
    list((0..n).map(|i| format!("t{i}")))
}
