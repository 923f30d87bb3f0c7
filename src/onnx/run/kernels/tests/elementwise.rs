//! Functions of numbers, logic, bits and comparisons.

use super::trial::{check, refused, results, tried};
use crate::diagnostics::Code;
use crate::eval::Limits;
use crate::tensor::DType;

#[test]
fn functions_of_a_number() {
    let x = "float[3] x = {-1.5, 0.5, 2.5}";
    for (node, wanted) in [
        ("Abs (x)", [1.5, 0.5, 2.5]),
        ("Round (x)", [-2.0, 0.0, 2.0]),
        ("Sign (x)", [-1.0, 1.0, 1.0]),
        ("Relu (x)", [0.0, 0.5, 2.5]),
        ("LeakyRelu <alpha = 0.1> (x)", [-0.15, 0.5, 2.5]),
        ("Elu (x)", [-0.77687, 0.5, 2.5]),
        ("Celu <alpha = 2.0> (x)", [-1.05527, 0.5, 2.5]),
        ("Selu (x)", [-1.36581, 0.525351, 2.626753]),
        ("HardSigmoid (x)", [0.2, 0.6, 1.0]),
        ("HardSwish (x)", [-0.375, 0.291667, 2.291667]),
        ("Gelu (x)", [-0.100211, 0.345731, 2.484476]),
        ("Gelu <approximate = \"tanh\"> (x)", [-0.100428, 0.345714, 2.484916]),
        ("Mish (x)", [-0.2981, 0.375245, 2.471392]),
        ("Softplus (x)", [0.201413, 0.974077, 2.578889]),
        ("Shrink <lambd = 1.0, bias = 0.5> (x)", [-1.0, 0.0, 2.0]),
        ("Swish <alpha = 2.0> (x)", [-0.071139, 0.365529, 2.483268]),
        ("ThresholdedRelu (x)", [0.0, 0.0, 2.5]),
        ("Clip <min = -1.0> (x)", [-1.0, 0.5, 2.5]),
    ] {
        let version = if node.starts_with("Clip") { 6 } else { 28 };
        check(version, x, &format!("y = {node}"), &[3], &wanted);
    }
}

#[test]
fn integers_wrap_and_divisions_truncate() {
    let x = "int8[3] x = {-7, 100, 7}, int8[3] z = {2, 100, -2}";
    for (node, wanted) in [
        ("Add (x, z)", [-5.0, -56.0, 5.0]),
        ("Mul (x, z)", [-14.0, 16.0, -14.0]),
        ("Div (x, z)", [-3.0, 1.0, -3.0]),
        ("Mod (x, z)", [1.0, 0.0, -1.0]),
        ("Mod <fmod = 1> (x, z)", [-1.0, 0.0, 1.0]),
        ("Max (x, z)", [2.0, 100.0, 7.0]),
        ("BitwiseXor (x, z)", [-5.0, 0.0, -7.0]),
        ("BitwiseNot (x)", [6.0, -101.0, -8.0]),
    ] {
        check(28, x, &format!("y = {node}"), &[3], &wanted);
    }
    let error = tried(14, "int32[1] x = {1}, int32[1] z = {0}", "y = Div (x, z)", Limits::default()).unwrap_err();
    assert!(error.message.contains("not defined"), "{}", error.message);
    check(14, "uint64[1] x = {18446744073709551615}", "y = Mul (x, x)", &[1], &[1.0]);
}

#[test]
fn powers_have_the_type_of_the_base() {
    let found = &results(15, "int32[2] x = {2, 3}, float[2] p = {3, 0.5}", "y = Pow (x, p)")[0];
    assert_eq!((found.dtype(), found.to_scalars()), (DType::Int32, vec![8.0, 1.0]));
    check(15, "int64[3] x = {2, -1, 3}, int64[3] p = {-1, -3, 4}", "y = Pow (x, p)", &[3], &[0.0, -1.0, 81.0]);
}

#[test]
fn remainders_of_floats() {
    let inf = "float[4] x = {-0.0, 5, 5, -7.5}, float[4] z = {2, 3, -3, 2}";
    check(28, inf, "y = Mod (x, z)", &[4], &[0.0, 2.0, -1.0, 0.5]);
    check(28, inf, "y = Mod <fmod = 1> (x, z)", &[4], &[0.0, 2.0, 2.0, -1.5]);
}

#[test]
fn shifts_keep_the_sign() {
    let x = "int8[4] x = {-8, 64, 1, -1}, int8[4] s = {1, 1, 8, 9}";
    check(28, x, "y = BitShift <direction = \"RIGHT\"> (x, s)", &[4], &[-4.0, 32.0, 0.0, -1.0]);
    check(28, x, "y = BitShift <direction = \"LEFT\"> (x, s)", &[4], &[-16.0, -128.0, 0.0, 0.0]);
}

#[test]
fn operands_are_broadcast_along_the_last_axes() {
    let x = "float[2,1] x = {1, 2}, float[3] z = {10, 20, 30}";
    check(14, x, "y = Add (x, z)", &[2, 3], &[11.0, 21.0, 31.0, 12.0, 22.0, 32.0]);
    check(13, x, "y = Sum (x, z, x)", &[2, 3], &[12.0, 22.0, 32.0, 14.0, 24.0, 34.0]);
    check(13, x, "y = Mean (x, z)", &[2, 3], &[5.5, 10.5, 15.5, 6.0, 11.0, 16.0]);
    let early = "float[2,2] x = {1, 2, 3, 4}, float[2] z = {10, 20}";
    check(6, early, "y = Add <axis = 0, broadcast = 1> (x, z)", &[2, 2], &[11.0, 12.0, 23.0, 24.0]);
    let channels = "float[1,2,2] x = {-1, 2, -3, -4}, float[2] s = {10, 100}";
    check(6, channels, "y = PRelu (x, s)", &[1, 2, 2], &[-10.0, 2.0, -300.0, -400.0]);
    let chosen = "bool[2,1] c = {1, 0}, float[3] x = {1, 2, 3}, float z = {9}";
    check(16, chosen, "y = Where (c, x, z)", &[2, 3], &[1.0, 2.0, 3.0, 9.0, 9.0, 9.0]);
    assert_eq!(refused(14, "float[2] x = {1, 2}, float[3] z = {1, 2, 3}", "y = Add (x, z)"), Some(Code::EvalShapes));
}

#[test]
fn comparisons_of_all_types() {
    check(19, "string[2] x = {\"a\", \"b\"}, string z = {\"b\"}", "y = Equal (x, z)", &[2], &[0.0, 1.0]);
    let wide = "uint64[2] x = {18446744073709551615, 1}, uint64 z = {18446744073709551614}";
    check(13, wide, "y = Greater (x, z)", &[2], &[1.0, 0.0]);
    let nothing = "float[3] x = {nan, 1, inf}, float z = {1}";
    check(16, nothing, "y = LessOrEqual (x, z)", &[3], &[0.0, 1.0, 0.0]);
    check(20, nothing, "y = IsInf <detect_positive = 0> (x)", &[3], &[0.0; 3]);
    check(20, nothing, "y = IsNaN (x)", &[3], &[1.0, 0.0, 0.0]);
    check(7, "bool[2] x = {1, 0}, bool z = {1}", "y = Xor (x, z)", &[2], &[0.0, 1.0]);
}

#[test]
fn limits_have_an_order_and_gates_no_broadcasting() {
    let x = "float[3] x = {-2, 0, 2}, float low = {1}, float high = {-1}";
    check(13, x, "y = Clip (x, low, high)", &[3], &[-1.0; 3]);
    check(13, "int32[2] x = {5, -5}, int32 low = {0}", "y = Clip (x, low)", &[2], &[5.0, 0.0]);
    check(28, "float[1] x = {1}, float[1] z = {2}", "y = SwiGLU (x, z)", &[1], &[1.462117]);
    assert_eq!(refused(28, "float[1] x = {1}, float[2] z = {2, 3}", "y = SwiGLU (x, z)"), Some(Code::EvalShapes));
}

#[test]
fn nothing_is_dropped() {
    let found = results(13, "float[2] x = {1, 2}", "y, m = Dropout (x)");
    assert_eq!((found[0].to_scalars(), found[1].to_scalars()), (vec![1.0, 2.0], vec![1.0, 1.0]));
    let trains = "float[1] x = {1}, float r = {0.5}, bool t = {1}";
    assert_eq!(refused(13, trains, "y = Dropout (x, r, t)"), Some(Code::NotEvaluated));
}
