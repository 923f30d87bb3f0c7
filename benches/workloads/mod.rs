//! Synthetic documents of any size, for benchmarks and their tests.
//!
//! Every document is plain NNEF 1.0 with fragment definitions and operator expressions. Its
//! expected operations are those after full lowering, `external` and `variable` among them.
#![allow(dead_code)] // Each program that includes this module uses only a part of it.

mod blowups;
mod comprehensions;
mod expressions;
mod flat;
mod fragments;
mod literals;
mod networks;
mod recursion;

/// A document of a workload.
pub struct Document {
    /// The text.
    pub text: String,
    /// The operations of its flat graph; none if the document is to be refused.
    pub operations: Option<usize>,
    /// The actual size, where the requested one was rounded.
    pub size: usize,
}

/// The family of a workload: the part of the program that it stresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Long documents without fragments.
    Flat,
    /// Calls of fragments.
    Fragments,
    /// Fragments that call themselves.
    Recursion,
    /// Comprehensions.
    Comprehensions,
    /// Long or deep expressions.
    Expressions,
    /// Large literals.
    Literals,
    /// Short documents with large or endless results.
    Blowups,
    /// Blocks like those of real networks.
    Networks,
}

/// A kind of document.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// Its family.
    pub family: Family,
    /// The contents of a document of size `n`.
    pub what: &'static str,
    /// Makes a document with about `n` operations or items.
    pub make: fn(usize) -> Document,
}

/// All workloads.
#[rustfmt::skip]
pub const ALL: &[Workload] = &[
    row("flat", Family::Flat, flat::flat, "n short operations and operators"),
    row("flatconv", Family::Flat, flat::flatconv, "n assignments as exporters write them, some 120 bytes each"),
    row("flatcomment", Family::Flat, flat::flatcomment, "flat with a comment line for each operation"),
    row("biglit", Family::Literals, literals::biglit, "a constant of n scalars"),
    row("bigint", Family::Literals, literals::bigint, "an attribute of n integers"),
    row("bigconcat", Family::Literals, literals::bigconcat, "a concatenation of n tensors, by name"),
    row("nest", Family::Fragments, fragments::nest, "fragments that call the one below twice, n leaves"),
    row("deepcall", Family::Fragments, fragments::deepcall, "n fragments, each calls the one below once"),
    row("widefrag", Family::Fragments, fragments::widefrag, "n fragments of two operations, each called once"),
    row("onefrag", Family::Fragments, fragments::onefrag, "one fragment of three operations, called n times"),
    row("bigbody", Family::Fragments, fragments::bigbody, "one fragment of n operations, called once"),
    row("rec_scalar", Family::Recursion, recursion::rec_scalar, "a sum of n scalars by recursion over items[1:]"),
    row("rec_scalar_lit", Family::Recursion, recursion::rec_scalar_lit, "the same over a literal"),
    row("rec_count", Family::Recursion, recursion::rec_count, "recursion that counts down from n"),
    row("rec_tensor", Family::Recursion, recursion::rec_tensor, "a sum of n tensors by recursion over items[1:]"),
    row("rec_tensor_lit", Family::Recursion, recursion::rec_tensor_lit, "the same over a literal of names"),
    row("rec_half", Family::Recursion, recursion::rec_half, "a sum of n tensors by recursion over both halves"),
    row("compr_tensor", Family::Comprehensions, comprehensions::tensor, "n tensors from a literal of n scalars"),
    row("compr_range", Family::Comprehensions, comprehensions::range, "n tensors from range_of"),
    row("compr_scalar", Family::Comprehensions, comprehensions::scalar, "n scalars by arithmetic"),
    row("compr_index", Family::Comprehensions, comprehensions::index, "n scalars by subscripts"),
    row("compr_nest", Family::Comprehensions, comprehensions::nest, "n tensors from a comprehension in another"),
    row("compr_if", Family::Comprehensions, comprehensions::filter, "n / 2 tensors through a condition"),
    row("graphcompr", Family::Comprehensions, comprehensions::graph, "n statements with a comprehension each"),
    row("chain_add", Family::Expressions, expressions::chain_add, "x + x + …, n tensors"),
    row("chain_scalar", Family::Expressions, expressions::chain_scalar, "1.0 + 1.0 + …, n scalars"),
    row("chain_mixed", Family::Expressions, expressions::chain_mixed, "n terms with operators of all precedences"),
    row("paren", Family::Expressions, expressions::paren, "n pairs of parentheses"),
    row("parenadd", Family::Expressions, expressions::parenadd, "(x + (x + …)), n levels"),
    row("callnest", Family::Expressions, expressions::callnest, "tanh(tanh(…)), n levels"),
    row("arrnest", Family::Expressions, expressions::arrnest, "[[[…]]], n levels"),
    row("selectchain", Family::Expressions, expressions::selectchain, "a if … else b if … else …, n selects"),
    row("arraybomb", Family::Blowups, blowups::arraybomb, "an array doubled until it has n items"),
    row("strbomb", Family::Blowups, blowups::strbomb, "a string doubled until it has n characters"),
    row("repbomb", Family::Blowups, blowups::repbomb, "an array repeated n times"),
    row("infinite", Family::Blowups, blowups::infinite, "endless recursion; refused"),
    row("infinite_grow", Family::Blowups, blowups::infinite_grow, "endless recursion with operations; refused"),
    row("resnet", Family::Networks, networks::resnet, "residual blocks of convolutions, n operations"),
    row("transformer", Family::Networks, networks::transformer, "transformer blocks of eight heads, n operations"),
];

const fn row(name: &'static str, family: Family, make: fn(usize) -> Document, what: &'static str) -> Workload {
    Workload { name, family, what, make }
}

/// The workload of a name.
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.name == name)
}

const HEADER: &str =
    "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n\n";
const SHAPE: &str = "[1, 8, 16, 16]";
/// The head of a fragment from one tensor to one tensor, after its name.
const UNARY: &str = "( x: tensor<scalar> ) -> ( y: tensor<scalar> )";

/// A document from its declarations and the body of its graph, which goes from `x` to `y`.
fn document(declarations: &str, body: &str, operations: usize, size: usize) -> Document {
    document_of(SHAPE, declarations, body, Some(operations), size)
}

fn document_of(shape: &str, declarations: &str, body: &str, operations: Option<usize>, size: usize) -> Document {
    let mut text = String::with_capacity(declarations.len() + body.len() + 300);
    text.push_str(HEADER);
    text.push_str(declarations);
    text.push_str("graph net( x ) -> ( y )\n{\n    x = external<scalar>(shape = ");
    text.push_str(shape);
    text.push_str(");\n");
    text.push_str(body);
    text.push_str("}\n");
    Document { text, operations, size }
}

/// A document whose graph is `y = expression`.
fn expression(declarations: &str, expression: &str, operations: usize, size: usize) -> Document {
    document(declarations, &format!("    y = {expression};\n"), operations, size)
}

/// The text of `n` items between brackets.
fn list<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    use std::fmt::Write;
    let mut text = String::from("[");
    for (i, item) in items.enumerate() {
        let _ = write!(text, "{}{item}", if i > 0 { ", " } else { "" });
    }
    text.push(']');
    text
}

/// A literal of `n` scalars.
fn scalars(n: usize) -> String {
    list((0..n).map(|i| format!("{:?}", (i % 1000) as f64 * if i % 4 == 0 { 1.0 } else { 0.25 })))
}

/// Statements `t0`, `t1`, … up to `y`, each made from the name before it.
fn steps(n: usize, statement: impl Fn(&str) -> String) -> String {
    let mut body = String::new();
    let mut before = "x".to_string();
    for i in 0..n {
        let name = if i + 1 == n { "y".to_string() } else { format!("t{i}") };
        body.push_str(&format!("    {name} = {};\n", statement(&before)));
        before = name;
    }
    body
}

/// The exponent of the power of two nearest to `n`.
fn doublings(n: usize) -> usize {
    (n.max(1) as f64).log2().round() as usize
}
