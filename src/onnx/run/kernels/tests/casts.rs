//! Conversions between element types.

use super::trial::{check, refused, results, words};
use crate::diagnostics::Code;

/// `TensorProto.DataType` of some types.
const INT8: i32 = 3;
const TEXT: i32 = 8;
const BOOL: i32 = 9;
const FLOAT16: i32 = 10;
const E4M3FN: i32 = 17;
const E4M3FNUZ: i32 = 18;
const E5M2: i32 = 19;
const INT4: i32 = 22;
const E8M0: i32 = 24;

#[test]
fn numbers_are_rounded_truncated_or_wrapped() {
    let x = "float[4] x = {-1.5, 300, 70000, 0.1}";
    for (to, saturates, wanted) in [
        (FLOAT16, 1, [-1.5, 300.0, f64::INFINITY, 0.099976]),
        (E4M3FN, 1, [-1.5, 288.0, 448.0, 0.1015625]),
        (E4M3FN, 0, [-1.5, 288.0, f64::NAN, 0.1015625]),
        (E4M3FNUZ, 1, [-1.5, 240.0, 240.0, 0.1015625]),
        (E5M2, 1, [-1.5, 320.0, 57344.0, 0.09375]),
        (E5M2, 0, [-1.5, 320.0, f64::INFINITY, 0.09375]),
        (BOOL, 1, [1.0, 1.0, 1.0, 1.0]),
        (6, 1, [-1.0, 300.0, 70000.0, 0.0]),
    ] {
        check(24, x, &format!("y = Cast <to = {to}, saturate = {saturates}> (x)"), &[4], &wanted);
    }
    let wide = "int32[3] x = {200, -9, 7}";
    check(24, wide, &format!("y = Cast <to = {INT8}> (x)"), &[3], &[-56.0, -9.0, 7.0]);
    check(24, wide, &format!("y = Cast <to = {INT4}> (x)"), &[3], &[-8.0, 7.0, 7.0]);
}

#[test]
fn powers_of_two_are_rounded_as_asked() {
    let x = "float[4] x = {3, 2.5, 4, 0}";
    let least = 2f64.powi(-127);
    for (mode, wanted) in
        [("up", [4.0, 4.0, 4.0, least]), ("down", [2.0, 2.0, 4.0, least]), ("nearest", [4.0, 2.0, 4.0, least])]
    {
        let node = format!("y = Cast <to = {E8M0}, round_mode = \"{mode}\"> (x)");
        check(24, x, &node, &[4], &wanted);
        assert_eq!(results(24, x, &node)[0].to_scalars(), wanted, "{mode}");
    }
    assert_eq!(refused(24, x, "y = Cast <to = 24, round_mode = \"sideways\"> (x)"), Some(Code::EvalArgument));
}

#[test]
fn texts_are_read_and_written() {
    let x = "string[4] x = {\"3.5\", \"1e2\", \"-INF\", \"NaN\"}";
    check(19, x, "y = Cast <to = 1> (x)", &[4], &[3.5, 100.0, f64::NEG_INFINITY, f64::NAN]);
    check(19, "string[1] x = {\"18446744073709551615\"}", "y = Cast <to = 13> (x)", &[1], &[18446744073709551615.0]);
    assert_eq!(refused(19, "string[1] x = {\"hello\"}", "y = Cast <to = 1> (x)"), Some(Code::EvalValue));
    let node = format!("y = Cast <to = {TEXT}> (x)");
    let found = &results(19, "float[4] x = {0.1, 1e-5, 16777216, inf}", &node)[0];
    assert_eq!(words(found), ["0.1", "1e-05", "16777216.0", "inf"]);
    assert_eq!(words(&results(19, "int64[2] x = {-3, 7}", &node)[0]), ["-3", "7"]);
}

#[test]
fn bits_are_read_as_another_type() {
    check(26, "float[2] x = {1, -0.0}", "y = BitCast <to = 12> (x)", &[2], &[1065353216.0, 2147483648.0]);
    let found = &results(26, "float[2] x = {0.1, -0.0}", "y = BitCast <to = 12> (x)")[0];
    assert_eq!(found.to_scalars(), [1036831949.0, 2147483648.0]);
    check(26, "uint8[1] x = {255}", "y = BitCast <to = 3> (x)", &[1], &[-1.0]);
    assert_eq!(refused(26, "float[2] x = {1, 2}", "y = BitCast <to = 3> (x)"), Some(Code::EvalVariable));
    check(24, "float[1] x = {1.75}, int32 z = {0}", "y = CastLike (x, z)", &[1], &[1.0]);
}
