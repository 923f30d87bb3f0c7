//! Models of ONNX with long lists.

use super::{Make, list};

/// The models, in the text notation.
pub const MODELS: &[(&str, Make)] = &[
    ("inputs of a function", |n| {
        let formals = list(n, ", ", |i| format!("float a{i}"));
        let nodes = list(n, " ", |i| format!("t{i} = Neg (a{i})"));
        function(&format!("({formals}) => (b)"), &format!("{nodes} b = Neg (t0)"), &call("y", "", "x", n))
    }),
    ("outputs of a function", |n| {
        let nodes = list(n, " ", |i| format!("t{i} = Neg (a) b{i} = Neg (t{i})"));
        let results = list(n, ", ", |i| format!("b{i}"));
        function(&format!("(a) => ({results})"), &nodes, &call(&outputs(n), "", "x", 1))
    }),
    ("inputs that are outputs", |n| {
        let names = list(n, ", ", |i| format!("a{i}"));
        function(&format!("({names}) => ({names})"), "", &call(&outputs(n), "", "x", n))
    }),
    ("attributes of a function", |n| {
        let names = list(n, ", ", |i| format!("p{i}"));
        let given = list(n, ", ", |i| format!("p{i} = 1"));
        function(&format!("<{names}> (a) => (b)"), &references(n, "p"), &call("y", &given, "x", 1))
    }),
    ("defaults of a function", |n| {
        let defaults = list(n, ", ", |i| format!("p{i}: int = 1"));
        function(&format!("<{defaults}> (a) => (b)"), &references(n, "p"), &call("y", "", "x", 1))
    }),
    ("references to no attribute", |n| {
        let names = list(n, ", ", |i| format!("p{i}"));
        function(&format!("<{names}> (a) => (b)"), &references(n, "q"), &call("y", "", "x", 1))
    }),
    ("results of a branch", |n| {
        let nodes = list(n, " ", |i| format!("u{i} = Neg (x)"));
        let branch = format!("t () => ({}) {{ {nodes} }}", list(n, ", ", |i| format!("u{i}")));
        let known = "c = Constant <value = bool {1}> ()";
        model("", &format!("{known} {} = If <then_branch = {branch}, else_branch = {branch}> (c)", outputs(n)))
    }),
    ("state of a loop", |n| {
        let formals = list(n, ", ", |i| format!("float[1] s{i} = {{1}}"));
        let results = list(n, ", ", |i| format!("s{i}"));
        let body = format!("b (int64 i, bool c, {formals}) => (c, {results}) {{ }}");
        let trips = "m = Constant <value_int = 2> ()";
        model("", &format!("{trips} {} = Loop <body = {body}> (m, , {})", outputs(n), list(n, ", ", |_| "x".into())))
    }),
    ("extents of an input", |n| {
        let branch = "t () => (u) { u = Neg (z) }";
        let inputs = format!(", bool c, float[{}] z", list(n, ", ", |_| "1".into()));
        model(&inputs, &format!("v = If <then_branch = {branch}, else_branch = {branch}> (c) y = Neg (x)"))
    }),
    ("types that a function notes", |n| {
        let types = list(n, ", ", |i| format!("float[2] t{i}"));
        let nodes = list(n, " ", |i| format!("t{i} = Neg (a)"));
        function(
            &format!("(a) => (b) <float[2] a, {types}>"),
            &format!("{nodes} b = Neg (t0)"),
            "y = l.f (x) z = l.f (x)",
        )
    }),
    ("inputs with defaults", |n| model(&list(n, "", |i| format!(", float[1] a{i} = {{1}}")), "y = Neg (x)")),
];

const IMPORTS: &str = "opset_import: [\"\" : 17, \"l\" : 1]";

/// A model whose graph has the input `x` and the output `y`.
pub fn model(inputs: &str, nodes: &str) -> String {
    format!("<ir_version: 8, {IMPORTS}> g (float[2] x{inputs}) => (float[2] y) {{ {nodes} }}")
}

/// A model with a function `l.f`.
fn function(signature: &str, body: &str, call: &str) -> String {
    format!("{} <domain: \"l\", {IMPORTS}> f {signature} {{ {body} }}", model("", call))
}

fn call(results: &str, attributes: &str, operand: &str, operands: usize) -> String {
    let attributes = if attributes.is_empty() { String::new() } else { format!("<{attributes}>") };
    format!("{results} = l.f {attributes} ({})", list(operands, ", ", |_| operand.into()))
}

/// As many results, of which the first one is `y`.
fn outputs(n: usize) -> String {
    list(n, ", ", |i| format!("y{i}")).replacen("y0", "y", 1)
}

/// A node whose attributes refer to those of the function.
fn references(n: usize, prefix: &str) -> String {
    format!("b = l.k <{}> (a)", list(n, ", ", |i| format!("p{i}: int = @{prefix}{i}")))
}

/// Models that are simplified.
pub const SIMPLIFIED: &[(&str, Make)] = &[
    ("identities in a row", |n| chain(n, |i| format!("t{} = Identity (t{i})", i + 1))),
    ("casts in a row", |n| {
        chain(n, |i| format!("t{} = Cast <to = {}> (t{i})", i + 1, if i % 2 == 0 { 11 } else { 1 }))
    }),
    ("minus signs in a row", |n| chain(n, |i| format!("t{} = Neg (t{i})", i + 1))),
    ("states that do not change", |n| {
        let states = |name: &str| list(n, ", ", |i| format!("float[2] {name}{i}"));
        let names = |name: &str| list(n, ", ", |i| format!("{name}{i}"));
        let nodes = list(n, " ", |i| format!("w{i} = Identity (v{i})"));
        let body = format!(
            "b (int64 i, bool c, {}, float[2] u) => (bool d, {}, float[2] s) {{ d = Identity (c) {nodes} s = Add (u, v0) }}",
            states("v"),
            states("w")
        );
        let first = list(n, ", ", |_| "x".to_owned());
        model("", &format!("k = Shape (x) {}, y = Loop (k, , {first}, x) <body = {body}>", names("r")))
    }),
];

/// Nodes of which each has the result of the one before it.
fn chain(n: usize, node: impl Fn(usize) -> String) -> String {
    model("", &format!("t0 = Neg (x) {} y = Neg (t{n})", list(n, " ", node)))
}
