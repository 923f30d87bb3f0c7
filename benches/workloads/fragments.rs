//! Calls of fragments.

use super::{Document, UNARY, document, doublings, expression, steps};

pub fn nest(n: usize) -> Document {
    let depth = doublings(n);
    let mut fragments = format!("fragment f0{UNARY}\n{{\n    y = tanh(x);\n}}\n\n");
    for i in 1..=depth {
        let below = i - 1;
        fragments.push_str(&format!("fragment f{i}{UNARY}\n{{\n    t = f{below}(x);\n    y = f{below}(t);\n}}\n\n"));
    }
    expression(&fragments, &format!("f{depth}(x)"), (1 << depth) + 1, 1 << depth)
}

pub fn deepcall(n: usize) -> Document {
    let mut fragments = format!("fragment f0{UNARY}\n{{\n    y = tanh(x);\n}}\n\n");
    for i in 1..=n {
        let below = i - 1;
        fragments.push_str(&format!("fragment f{i}{UNARY}\n{{\n    t = f{below}(x);\n    y = tanh(t);\n}}\n\n"));
    }
    expression(&fragments, &format!("f{n}(x)"), n + 2, n)
}

pub fn widefrag(n: usize) -> Document {
    let parameters = "( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar> )";
    let fragments: String =
        (0..n).map(|i| format!("fragment blk{i}{parameters}\n{{\n    y = tanh(x) * k;\n}}\n\n")).collect();
    let number = std::cell::Cell::new(0);
    let body = steps(n, |before| format!("blk{}({before})", number.replace(number.get() + 1)));
    document(&fragments, &body, 2 * n + 1, n)
}

pub fn onefrag(n: usize) -> Document {
    let fragment = "fragment blk( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar> )\n{\n    \
                    t = tanh(x) * k;\n    y = t + x;\n}\n\n";
    document(fragment, &steps(n, |before| format!("blk({before}, k = 0.25)")), 3 * n + 1, n)
}

pub fn bigbody(n: usize) -> Document {
    let fragment = format!("fragment blk{UNARY}\n{{\n{}}}\n\n", steps(n, |before| format!("tanh({before})")));
    expression(&fragment, "blk(x)", n + 1, n)
}
