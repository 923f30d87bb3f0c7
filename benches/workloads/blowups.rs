//! Short documents with large or endless results.

use super::{Document, SHAPE, UNARY, document_of, doublings, expression};

/// A fragment that doubles `first` and uses the length of the result.
fn doubled(first: &str, n: usize) -> Document {
    let depth = doublings(n);
    let doublings: String = (0..depth).map(|i| format!("    a{} = a{i} + a{i};\n", i + 1)).collect();
    let y = format!("x * (1.0 if length_of(a{depth}) > 3 else 2.0)");
    let top = format!("fragment top{UNARY}\n{{\n    a0 = {first};\n{doublings}    y = {y};\n}}\n\n");
    expression(&top, "top(x)", 2, 1 << depth)
}

pub fn arraybomb(n: usize) -> Document {
    doubled("[1.0]", n)
}

pub fn strbomb(n: usize) -> Document {
    doubled("'x'", n)
}

pub fn repbomb(n: usize) -> Document {
    let y = "x * (1.0 if length_of(a) > 3 else 2.0)";
    let top = format!("fragment top{UNARY}\n{{\n    a = [1.0] * {n};\n    y = {y};\n}}\n\n");
    expression(&top, "top(x)", 2, n)
}

fn endless(body: &str, n: usize) -> Document {
    let fragment = format!("fragment f{UNARY}\n{{\n{body}}}\n\n");
    document_of(SHAPE, &fragment, "    y = f(x);\n", None, n)
}

pub fn infinite(n: usize) -> Document {
    endless("    y = f(x);\n", n)
}

pub fn infinite_grow(n: usize) -> Document {
    endless("    t = tanh(x);\n    y = f(t);\n", n)
}
