//! Documents with tensors of many axes, and operations with many operands.

use super::{Make, document, list};

/// A document with an input `x` of as many axes.
fn ranked(axes: usize, body: &str) -> String {
    document("", body).replace("external(shape = [4])", &format!("external(shape = [{}])", ones(axes)))
}

fn ones(n: usize) -> String {
    list(n, ", ", |_| "1".into())
}

fn axes(n: usize) -> String {
    list(n, ", ", |i| i.to_string())
}

/// The documents, with as many axes.
pub const RANKS: &[(&str, Make)] = &[
    ("reduced axes", |n| ranked(n, &format!("y = sum_reduce(x, axes = [{}]);", axes(n)))),
    ("transposed axes", |n| {
        ranked(n, &format!("y = transpose(x, axes = [{}]);", list(n, ", ", |i| (n - 1 - i).to_string())))
    }),
    ("squeezed axes", |n| ranked(n, &format!("y = squeeze(x, axes = [{}]);", axes(n)))),
    ("sliced axes", |n| {
        let zeros = list(n, ", ", |_| "0".into());
        ranked(n, &format!("y = slice(x, axes = [{}], begin = [{zeros}], end = [{}]);", axes(n), ones(n)))
    }),
    ("padded axes", |n| ranked(n, &format!("y = pad(x, padding = [{}]);", list(n, ", ", |_| "(0, 0)".into())))),
    // Values have their extents each, so that as many operations as axes would take the product of both.
    ("items along many axes", |n| ranked(n, "a = relu(x); b = exp(a); c = add(a, b); y = relu(c);")),
];

/// The documents whose axes are made by an operation.
pub const MADE_RANKS: &[(&str, Make)] =
    &[("unsqueezed axes", |n| ranked(1, &format!("y = unsqueeze(x, axes = [{}]);", axes(n))))];

/// The documents, with as many operands.
pub const OPERANDS: &[(&str, Make)] = &[
    ("terms of a sum", |n| document("", &(results(n) + &format!("y = add_n([{}]);", names(n))))),
    ("parts", |n| document("", &(results(n) + &format!("y = concat([{}], axis = 0);", names(n))))),
    ("stacked parts", |n| document("", &(results(n) + &format!("y = stack([{}], axis = 0);", names(n))))),
    ("copies", |n| document("", &format!("[{0}] = copy_n(x, times = {n}); y = add_n([{0}]);", names(n)))),
];

fn names(n: usize) -> String {
    list(n, ", ", |i| format!("t{i}"))
}

fn results(n: usize) -> String {
    list(n, " ", |i| format!("t{i} = relu(x);"))
}
