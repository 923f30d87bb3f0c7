//! The examples of the provisional text, chapter 3, and the rules that only it has.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::corpus::{flat, flatten};
use nnef_flatten::{Dialect, Options};

fn options(strict: bool) -> Options {
    Options::default().with(|o| {
        o.dialect = Some(Dialect::Draft);
        o.migrate = true;
        o.strict = strict;
    })
}

/// Flattens a document and compares the statements of the graph. Gives the warnings.
fn runs(fragments: &str, statements: &str, expected: &str, strict: bool) -> Vec<String> {
    let source =
        format!("version 1.0\n{fragments}\ngraph G( x ) -> ( y )\n{{\nx = external(shape = [2,3])\n{statements}\n}}\n");
    let (text, found) = flat(&source, &options(strict));
    let body = text.split("shape = [2, 3]);\n").nth(1).unwrap().trim_end_matches("}\n");
    assert_eq!(body.lines().map(str::trim).collect::<Vec<_>>().join("\n"), expected);
    found.warnings
}

fn refused(fragments: &str, statements: &str) -> Vec<String> {
    let source =
        format!("version 1.0\n{fragments}\ngraph G( x ) -> ( y )\n{{\nx = external(shape = [2,3])\n{statements}\n}}\n");
    let (graph, found) = flatten(&source, &options(true));
    assert!(graph.is_none());
    found.errors.into_iter().map(|error| error[..5].to_string()).collect()
}

const FOO_BAR: &str = "fragment foo( input: tensor, size: extent[] = [1] ) -> ( output: tensor )
{
    output = box(input, size = size)
}
fragment bar( input: tensor, alpha: scalar = 0.5 ) -> ( output: tensor, extra: tensor[] )
{
    output = leaky_relu(input, alpha = alpha)
    extra = [input]
}";

/// 3.2.2. As printed, `extra` is an array and `2` is not a scalar. Both break later rules of the
/// specification, so the default mode gives warnings and `--strict` refuses it.
#[test]
fn foo_and_bar() {
    let graph = "graph barfoo( input ) -> ( output )
{
    input = external(shape = [1,10])
    intermediate, extra = bar(input, alpha = 2)
    output = foo(intermediate, size = [3,5])
}";
    let source = format!("version 1.0\n{FOO_BAR}\n{graph}\n");
    let (text, found) = flat(&source, &options(false));
    let expected = "version 1.0;\n\ngraph barfoo(input) -> (output)\n{\n    \
                    input = external<scalar>(shape = [1, 10]);\n    \
                    intermediate = leaky_relu(input, alpha = 2.0);\n    \
                    output = box(intermediate, size = [3, 5]);\n}\n";
    assert_eq!(text, expected);
    let codes: Vec<&str> = found.warnings.iter().map(|warning| &warning[..5]).collect();
    assert_eq!(codes, ["E0730", "E0608"]);
    assert!(flatten(&source, &options(true)).0.is_none());
    let mended = source.replace("alpha = 2)", "alpha = 2.0)").replace("extra = bar", "[extra] = bar");
    let (text, found) = flat(&mended, &options(true));
    assert!(text.contains("extra = copy(input);") && found.warnings.is_empty(), "{text}");
}

/// 3.2.4
#[test]
fn a_document_with_fragments() {
    let fragments = "fragment foo( input: tensor, flag: logical ) -> ( output: tensor )
{
    output = relu(input) if flag else input
}
fragment bar( input: tensor, param: scalar ) -> ( output: tensor )
{
    output = input * param
}";
    let statements = "hidden = foo(x, flag = true)\ny = bar(hidden, param = 3.14)";
    let warnings = runs(fragments, statements, "hidden = relu(x);\ny = mul(hidden, 3.14);", true);
    assert!(warnings.is_empty());
}

/// 3.3.3: `sum_of` passes an attribute by position, which only tensors may be.
#[test]
fn recursion() {
    let fragments = "fragment sum_of( items: scalar[] ) -> ( sum: scalar )
{
    sum = items[0] + sum_of(items[1:]) if length_of(items) > 0 else 0.0
}
fragment f( x: tensor ) -> ( y: tensor )
{
    y = x * sum_of(items = [1.0, 2.0, 4.5])
}";
    let warnings = runs(fragments, "y = f(x)", "y = mul(x, 7.5);", false);
    assert_eq!(warnings, ["E0408 attribute `items` must be given by name"]);
    let named = fragments.replace("sum_of(items[1:])", "sum_of(items = items[1:])");
    assert!(runs(&named, "y = f(x)", "y = mul(x, 7.5);", true).is_empty());
}

#[test]
fn chaining() {
    let fragments = "fragment two( x: tensor ) -> ( a: tensor, b: tensor )
{
    a = exp(x)
    b = log(x)
}
fragment join( t: (tensor, tensor) ) -> ( y: tensor )
{
    y = t[0] + t[1]
}
fragment f( x: tensor ) -> ( y: tensor )
{
    y = join(two(x))
}
fragment g( x: tensor ) -> ( y: tensor )
{
    y = neg(two(x)[1])
}";
    let chained = "y_two1_a = exp(x);\ny_two1_b = log(x);\ny = add(y_two1_a, y_two1_b);";
    runs(fragments, "y = f(x)", chained, true);
    runs(fragments, "y = g(x)", "y_two1_b = log(x);\ny = neg(y_two1_b);", false);
}

#[test]
fn arrays_and_comprehensions() {
    let fragments = "fragment f( x: tensor, a: scalar[], b: scalar[] ) -> ( y: tensor )
{
    c = [a[i] * b[i] for i in range_of(a)]
    d = [i for i in c if i > 3.0]
    p, q = (d + [0.5] * 2)[1], a[1:]
    y = x * p + q[0]
}";
    let expected = "y_mul1 = mul(x, 10.0);\ny = add(y_mul1, 2.0);";
    runs(fragments, "y = f(x, a = [1.0, 2.0, 2.0], b = [3.0, 4.0, 5.0])", expected, true);
}

/// `shape_of` gives at least two extents; those of a number are 1.
#[test]
fn shapes() {
    let fragments = "fragment f( x: tensor ) -> ( y: tensor )
{
    s = shape_of(x) + shape_of(1.0)
    y = reshape(x, shape = s)
}";
    runs(fragments, "y = f(x)", "y = reshape(x, shape = [2, 3, 1, 1]);", true);
    let line = "v = variable(shape = [5], label = 'v')\ny = f(v)";
    let expected = "v = variable<scalar>(shape = [5], label = 'v');\ny = reshape(v, shape = [5, 1, 1, 1]);";
    runs(fragments, line, expected, true);
}

#[test]
fn data_types_are_told_apart() {
    assert_eq!(refused("", "y = select(x, x, x)"), ["E0729"]);
    assert_eq!(refused("", "y = sample(x, x, size = [1,2])"), ["E0729"]);
    assert_eq!(refused("", "c = lt(x, 0.0)\ny = exp(c)"), ["E0729"]);
    assert_eq!(refused("", "c = lt(x, 0.0)\nd = transpose(c, perm = [1,0])\ny = exp(d)"), ["E0729"]);
    assert_eq!(refused("", "c = lt(x, 0.0)\ny = concat([c, x], axis = 0)"), ["E0706"]);
    // Through fragments, whose tensors have no declared data-type.
    let fragments = "fragment f( x: tensor ) -> ( y: tensor )\n{\n    y = x < 0.0\n}";
    assert_eq!(refused(fragments, "c = f(x)\ny = exp(c)"), ["E0729"]);
    runs(
        fragments,
        "c = f(x)\nn = not(c)\ny = select(n, x, 0.0)",
        "c = lt(x, 0.0);\nn = not(c);\ny = select(n, x, 0.0);",
        true,
    );
    let pool = "i = argmax_pool(x, size = [1,2])\ny = sample(x, i, size = [1,2])";
    let expected = "i = argmax_pool(x, size = [1, 2]);\ny = sample(x, i, size = [1, 2]);";
    runs("", pool, expected, true);
    runs("", "t = not(true)\ny = select(t, x, 0.0)", "t = not(true);\ny = select(t, x, 0.0);", true);
}

#[test]
fn extents_are_no_tensors() {
    assert_eq!(refused("", "y = add(x, 1)"), ["E0723"]);
    let f = "fragment f( a: tensor ) -> ( y: tensor )\n{\n    y = a\n}";
    assert_eq!(refused(f, "y = f(1)"), ["E0723"]);
    assert_eq!(refused(f, "y = f('text')"), ["E0701"]);
    let r = "fragment f( a: tensor ) -> ( y: tensor )\n{\n    y = 1\n}";
    assert_eq!(refused(r, "y = f(x)"), ["E0723"]);
    let o = "fragment f( a: tensor ) -> ( y: tensor )\n{\n    y = a + 1\n}";
    assert_eq!(refused(o, "y = f(x)"), ["E0724"]);
}

#[test]
fn graphs_are_flat_and_fragments_have_bodies() {
    assert_eq!(refused("", "y = reshape(x, shape = [3, -1])"), ["E0205"]);
    assert_eq!(refused("", "y = mul(x, -1.0)"), ["E0205"]);
    assert_eq!(refused("fragment f( x: tensor ) -> ( y: tensor );", "y = f(x)"), ["E0221"]);
    let exponent = "w = constant(shape = [2], value = [1e-3, 2.5E-1])\ny = mul(x, w)";
    let expected = "w = constant<scalar>(shape = [2], value = [0.001, 0.25]);\ny = mul(x, w);";
    runs("", exponent, expected, true);
}
