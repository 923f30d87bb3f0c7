//! Blocks like those of real networks, composed of fragments.

use std::fmt::Write;

use super::{Document, SHAPE, document_of, list};

const RESIDUAL: &str = "\
fragment bn_relu( x: tensor<scalar>, mean: tensor<scalar>, var: tensor<scalar>, scale: tensor<scalar>, \
offset: tensor<scalar>, eps: scalar = 0.00001 ) -> ( y: tensor<scalar> )
{
    y = relu(offset + scale * (x - mean) / sqrt(var + eps));
}

fragment conv_bn( x: tensor<scalar>, w: tensor<scalar>, mean: tensor<scalar>, var: tensor<scalar>, \
scale: tensor<scalar>, offset: tensor<scalar>, stride: integer = 1 ) -> ( y: tensor<scalar> )
{
    c = conv(x, w, 0.0, stride = [stride, stride], padding = [(1, 1), (1, 1)], border = 'constant');
    y = bn_relu(c, mean, var, scale, offset);
}

fragment res_block( x: tensor<scalar>, w: tensor<scalar>[], p: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{
    a = conv_bn(x, w[0], p[0], p[1], p[2], p[3]);
    b = conv_bn(a, w[1], p[4], p[5], p[6], p[7]);
    y = relu(x + b);
}

";

const TRANSFORMER: &str = "\
fragment layer_norm( x: tensor<scalar>, gain: tensor<scalar>, bias: tensor<scalar>, eps: scalar = 0.00001 ) \
-> ( y: tensor<scalar> )
{
    mean = mean_reduce(x, axes = [2]);
    centered = x - mean;
    var = mean_reduce(sqr(centered), axes = [2]);
    y = centered * rsqrt(var + eps) * gain + bias;
}

fragment dense( x: tensor<scalar>, w: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = matmul(x, w) + b;
}

fragment my_gelu( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x ^ 3.0)));
}

fragment head( x: tensor<scalar>, wq: tensor<scalar>, wk: tensor<scalar>, wv: tensor<scalar>, scale: scalar ) \
-> ( y: tensor<scalar> )
{
    scores = matmul(matmul(x, wq), matmul(x, wk), transposeB = true) * scale;
    y = matmul(softmax(scores, axes = [2]), matmul(x, wv));
}

fragment attention( x: tensor<scalar>, wq: tensor<scalar>[], wk: tensor<scalar>[], wv: tensor<scalar>[], \
wo: tensor<scalar>, bo: tensor<scalar>, scale: scalar = 0.125 ) -> ( y: tensor<scalar> )
{
    heads = [for q in wq, k in wk, v in wv yield head(x, q, k, v, scale = scale)];
    y = dense(concat(heads, axis = 2), wo, bo);
}

fragment block( x: tensor<scalar>, wq: tensor<scalar>[], wk: tensor<scalar>[], wv: tensor<scalar>[], \
m: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{
    h = x + attention(layer_norm(x, m[0], m[1]), wq, wk, wv, m[2], m[3]);
    y = h + dense(my_gelu(dense(layer_norm(h, m[4], m[5]), m[6], m[7])), m[8], m[9]);
}

";

const HEADS: usize = 8;
/// Operations of a block: variables; convolutions with normalization (two operations) and relu; sum and relu.
const RESIDUAL_OPERATIONS: usize = 10 + 2 * (7 + 2) + (1 + 2);
/// Operations of a block: variables; two normalizations; heads; concatenation and projection; two layers
/// with an activation between them; sums.
const BLOCK_OPERATIONS: usize = (3 * HEADS + 10) + 2 * 9 + 11 * HEADS + (1 + 2) + (2 * 2 + 8) + 2;

/// Blocks of `operations` each, made by `block` from their number and their input.
fn blocks(
    n: usize,
    operations: usize,
    fragments: &str,
    shape: &str,
    mut block: impl FnMut(&mut String, usize) -> String,
) -> Document {
    let count = (n / operations).max(1);
    let mut body = String::new();
    let mut last = "x".to_string();
    for i in 0..count {
        let call = block(&mut body, i);
        let name = if i + 1 == count { "y".to_string() } else { format!("h{i}") };
        let _ = writeln!(body, "    {name} = {};", call.replace('@', &last));
        last = name;
    }
    document_of(shape, fragments, &body, Some(count * operations + 1), count * operations)
}

/// Declares the variable `{kind}{i}_{k}` and returns its name.
fn variable(body: &mut String, i: usize, kind: &str, k: usize, shape: &str) -> String {
    let name = format!("{kind}{i}_{k}");
    let _ = writeln!(body, "    {name} = variable<scalar>(label = 'block{i}/{kind}{k}', shape = {shape});");
    name
}

pub fn resnet(n: usize) -> Document {
    blocks(n, RESIDUAL_OPERATIONS, RESIDUAL, SHAPE, |body, i| {
        let weights: Vec<_> = (0..2).map(|k| variable(body, i, "w", k, "[8, 8, 3, 3]")).collect();
        let parameters: Vec<_> = (0..8).map(|k| variable(body, i, "p", k, "[1, 8]")).collect();
        format!("res_block(@, {}, {})", list(weights.iter()), list(parameters.iter()))
    })
}

pub fn transformer(n: usize) -> Document {
    blocks(n, BLOCK_OPERATIONS, TRANSFORMER, "[1, 16, 64]", |body, i| {
        let arrays = ["wq", "wk", "wv"].map(|kind| {
            let weights: Vec<_> = (0..HEADS).map(|h| variable(body, i, kind, h, "[1, 64, 8]")).collect();
            list(weights.iter())
        });
        let shape = |k| if [2, 6, 8].contains(&k) { "[1, 64, 64]" } else { "[1, 1, 64]" };
        let parameters: Vec<_> = (0..10).map(|k| variable(body, i, "m", k, shape(k))).collect();
        format!("block(@, {}, {})", arrays.join(", "), list(parameters.iter()))
    })
}
