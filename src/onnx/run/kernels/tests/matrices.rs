//! Products of matrices.

use super::trial::{check, refused};
use crate::diagnostics::Code;

const X: &str = "float[2,2] a = {1, 2, 3, 4}, float[2,2] b = {5, 6, 7, 8}, float[2] v = {1, -1}";

#[test]
fn vectors_are_rows_and_columns() {
    check(13, X, "y = MatMul (a, b)", &[2, 2], &[19.0, 22.0, 43.0, 50.0]);
    check(13, X, "y = MatMul (v, b)", &[2], &[-2.0, -2.0]);
    check(13, X, "y = MatMul (a, v)", &[2], &[-1.0, -1.0]);
    check(13, X, "y = MatMul (v, v)", &[], &[2.0]);
    let stacks = "float[2,1,2] a = {1, 2, 3, 4}, float[2,1] b = {1, 10}";
    check(13, stacks, "y = MatMul (a, b)", &[2, 1, 1], &[21.0, 43.0]);
    check(13, "uint32[1,1] a = {4294967295}", "y = MatMul (a, a)", &[1, 1], &[1.0]);
    assert_eq!(refused(13, stacks, "y = MatMul (b, b)"), Some(Code::EvalShapes));
}

#[test]
fn scaled_products() {
    check(13, X, "y = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (a, b, v)", &[2, 2], &[10.5, 9.5, 21.5, 24.5]);
    check(11, "float[2,2,2] x = {1, 2, 3, 4, 0, 1, 1, 0}", "y = Det (x)", &[2], &[-2.0, -1.0]);
}

#[test]
fn sums_of_products_by_names() {
    for (equation, operands, shape, wanted) in [
        ("ij,jk", "a, b", &[2, 2][..], &[19.0, 22.0, 43.0, 50.0][..]),
        ("ij->ji", "a", &[2, 2], &[1.0, 3.0, 2.0, 4.0]),
        ("ii->i", "a", &[2], &[1.0, 4.0]),
        ("ii", "a", &[], &[5.0]),
        ("...j,j->...", "a, v", &[2], &[-1.0, -1.0]),
        // Axes of a result that is not written are in the order of their letters.
        ("j,ik", "v, a", &[2, 2, 2], &[1.0, 2.0, -1.0, -2.0, 3.0, 4.0, -3.0, -4.0]),
    ] {
        check(12, X, &format!("y = Einsum <equation = \"{equation}\"> ({operands})"), shape, wanted);
    }
    let constants = format!("{X}, float[3] three = {{1, 2, 3}}");
    for (equation, operands, code) in [
        ("ij", "a, b", Code::EvalShapes),
        ("i->", "a", Code::EvalShapes),
        ("ij,j", "a, b", Code::EvalShapes),
        ("ij,j", "a, three", Code::EvalShapes),
        ("ij,jk->iz", "a, b", Code::EvalArgument),
        ("ij,jk->ii", "a, b", Code::EvalArgument),
        ("i1,jk", "a, b", Code::EvalArgument),
    ] {
        let node = format!("y = Einsum <equation = \"{equation}\"> ({operands})");
        assert_eq!(refused(12, &constants, &node), Some(code), "{equation} {operands}");
    }
}
