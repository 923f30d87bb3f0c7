//! Long documents without fragments.

use super::{Document, document};

pub fn flat(n: usize) -> Document {
    document("", &statements(n, ""), n + 1, n)
}

pub fn flatcomment(n: usize) -> Document {
    let comment = "        # this is a comment; with (some) = tokens [inside] it\n";
    document("", &statements(n, comment), n + 1, n)
}

fn statements(n: usize, comment: &str) -> String {
    let mut body = String::with_capacity(n * (32 + comment.len()));
    let (mut last, mut before) = ("x".to_string(), "x".to_string());
    for i in 0..n.saturating_sub(1) {
        let name = format!("t{i}");
        let value = match i % 6 {
            0 | 3 => format!("tanh({last})"),
            1 => format!("add({last}, {before})"),
            2 => format!("mul({last}, 0.5)"),
            4 => format!("{last} + {before}"),
            _ => format!("div({last}, {before})"),
        };
        body.push_str(&format!("    {name} = {value};\n{comment}"));
        before = std::mem::replace(&mut last, name);
    }
    body.push_str(&format!("    y = tanh({last});\n"));
    body
}

pub fn flatconv(n: usize) -> Document {
    let layers = n.saturating_sub(1).div_ceil(5);
    let mut body = String::with_capacity(n * 130);
    let mut last = "x".to_string();
    for i in 0..layers {
        let b = format!("layer{}_block{}", i / 8, i % 8);
        body.push_str(&format!(
            "    {b}_conv_weight = variable<scalar>(label = '{b}/conv/weight', shape = [8, 8, 3, 3]);\n    \
             {b}_conv_bias = variable<scalar>(label = '{b}/conv/bias', shape = [1, 8]);\n    \
             {b}_conv_out = conv({last}, {b}_conv_weight, {b}_conv_bias, stride = [1, 1], dilation = [1, 1], \
             padding = [(1, 1), (1, 1)], border = 'constant', groups = 1);\n    \
             {b}_tanh = tanh({b}_conv_out);\n    \
             {b}_out = add({b}_tanh, {b}_conv_out);\n"
        ));
        last = format!("{b}_out");
    }
    body.push_str(&format!("    y = copy({last});\n"));
    document("", &body, layers * 5 + 2, layers * 5 + 1)
}
