//! Fragments that call themselves.

use super::literals::{names, tensors};
use super::{Document, UNARY, document, expression, scalars};

const SUM_OF: &str = "fragment sum_of( items: scalar[] ) -> ( sum: scalar )\n{\n    \
    sum = items[0] + sum_of(items = items[1:]) if length_of(items) > 0 else 0.0;\n}\n\n";
const SUM_ALL: &str = "fragment sum_all( items: tensor<scalar>[] ) -> ( y: tensor<scalar> )\n{\n    \
    y = items[0] + sum_all(items[1:]) if length_of(items) > 1 else copy(items[0]);\n}\n\n";
const TREE: &str = "fragment tree( items: tensor<scalar>[], n: integer ) -> ( y: tensor<scalar> )\n{\n    \
    y = tree(items[:n / 2], n = n / 2) + tree(items[n / 2:], n = n - n / 2) if n > 1 else copy(items[0]);\n}\n\n";

pub fn rec_scalar(n: usize) -> Document {
    let top = format!("fragment top{UNARY}\n{{\n    y = x * sum_of(items = [1.0] * {n});\n}}\n\n");
    expression(&format!("{SUM_OF}{top}"), "top(x)", 2, n)
}

pub fn rec_scalar_lit(n: usize) -> Document {
    let top = "fragment top( x: tensor<scalar>, k: scalar[] ) -> ( y: tensor<scalar> )\n{\n    \
               y = x * sum_of(items = k);\n}\n\n";
    expression(&format!("{SUM_OF}{top}"), &format!("top(x, k = {})", scalars(n)), 2, n)
}

pub fn rec_count(n: usize) -> Document {
    let rep = "fragment rep( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )\n{\n    \
               y = rep(tanh(x), n = n - 1) if n > 1 else tanh(x);\n}\n\n";
    expression(rep, &format!("rep(x, n = {n})"), n + 1, n)
}

/// A fragment that makes `n` tensors `ts` and the result `y` from them.
fn top(n: usize, y: &str) -> String {
    format!("fragment top{UNARY}\n{{\n    ts = [for i in range_of([0] * {n}) yield tanh(x)];\n    y = {y};\n}}\n\n")
}

pub fn rec_tensor(n: usize) -> Document {
    expression(&format!("{SUM_ALL}{}", top(n, "sum_all(ts)")), "top(x)", 2 * n + 1, n)
}

pub fn rec_tensor_lit(n: usize) -> Document {
    document(SUM_ALL, &format!("{}    y = sum_all({});\n", tensors(n), names(n)), 2 * n + 1, n)
}

pub fn rec_half(n: usize) -> Document {
    expression(&format!("{TREE}{}", top(n, &format!("tree(ts, n = {n})"))), "top(x)", 3 * n, n)
}
