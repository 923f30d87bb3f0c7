//! Tests of the statistics of graphs.

use super::*;
use crate::{Options, expand, parse};

fn stats(body: &str) -> Stats {
    let options = Options::default();
    let text = format!("version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [1,3,8,8]); {body} }}");
    let parsed = parse("test", text, &options);
    Stats::new(&expand(&parsed.document, &options).unwrap().graph, Setting::without_data(NNEF))
}

#[test]
fn products_are_counted() {
    let conv = stats("f = variable(shape = [4,3,3,3], label = 'f'); y = conv(x, f);");
    assert_eq!((conv.parameters, conv.bytes, conv.multiply_adds), (108, 432, 4 * 64 * 27));
    let linear =
        stats("f = variable(shape = [5,192], label = 'f'); z = reshape(x, shape = [1,192]); y = linear(z, f, 0.0);");
    assert_eq!((linear.multiply_adds, linear.total()), (5 * 192, 4));
    assert_eq!(stats("y = matmul(x, x);").multiply_adds, 3 * 8 * 8 * 8);
    assert_eq!(stats("y = matmul(x, x, transposeA = true);").multiply_adds, 3 * 8 * 8 * 8);
    let deconv = stats("f = variable(shape = [3,4,3,3], label = 'f'); y = deconv(x, f);");
    assert_eq!(deconv.multiply_adds, 3 * 64 * 36);
}

#[test]
fn huge_shapes_do_not_overflow() {
    assert_eq!(product(&[i64::MAX, i64::MAX]), u64::MAX);
    assert_eq!(product(&[i64::MAX, 0]), 0);
}

#[test]
fn tables_are_aligned() {
    let after = stats("y = relu(x);");
    let lines: Vec<String> = after.to_text(None).lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()));
    assert_eq!(grouped(1_234_567), "1 234 567");
}
