//! Comprehensions.

use super::{Document, UNARY, document, expression, scalars, steps};

const OVER_SCALARS: &str = "( x: tensor<scalar>, k: scalar[] ) -> ( y: tensor<scalar> )";

/// A fragment that makes a list `ts` of tensors and concatenates it.
fn concatenated(parameters: &str, list: &str) -> String {
    format!("fragment top{parameters}\n{{\n    ts = {list};\n    y = concat(ts, axis = 1);\n}}\n\n")
}

/// A fragment that makes a list `v` of scalars and a constant of it.
fn constant(n: usize, list: &str) -> String {
    format!(
        "fragment top{OVER_SCALARS}\n{{\n    v = {list};\n    \
         y = x + constant<scalar>(shape = [{n}], value = v);\n}}\n\n"
    )
}

/// A call of that fragment with `n` scalars.
fn call(n: usize) -> String {
    format!("top(x, k = {})", scalars(n))
}

pub fn tensor(n: usize) -> Document {
    expression(&concatenated(OVER_SCALARS, "[for a in k yield tanh(x * a)]"), &call(n), 2 * n + 2, n)
}

pub fn range(n: usize) -> Document {
    let top = concatenated(UNARY, &format!("[for i in range_of([0] * {n}) yield tanh(x)]"));
    expression(&top, "top(x)", n + 2, n)
}

pub fn scalar(n: usize) -> Document {
    expression(&constant(n, "[for a in k yield a * 2.0 + 1.0]"), &call(n), 3, n)
}

pub fn index(n: usize) -> Document {
    expression(&constant(n, "[for i in range_of(k) yield k[i] * 2.0]"), &call(n), 3, n)
}

pub fn nest(n: usize) -> Document {
    let columns = n.isqrt().max(1);
    let rows = (n / columns).max(1);
    let row = format!("concat([for j in range_of([0] * {columns}) yield x * scalar(i * j)], axis = 1)");
    let top = concatenated(UNARY, &format!("[for i in range_of([0] * {rows}) yield {row}]"));
    expression(&top, "top(x)", rows * columns + rows + 2, rows * columns)
}

pub fn filter(n: usize) -> Document {
    let top = concatenated(UNARY, &format!("[for i in range_of([0] * {n}) if i < {} yield tanh(x)]", n / 2));
    expression(&top, "top(x)", n / 2 + 2, n)
}

pub fn graph(n: usize) -> Document {
    let body = steps(n, |before| format!("concat([for a in [1.0, 2.0] yield {before} * a], axis = 1)"));
    document("", &body, 3 * n + 1, n)
}
