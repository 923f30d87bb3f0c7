//! Signs of zeros, numbers that are not finite, and operands without items: what translations and other programs compute.

use super::trial::{check, results};

/// Compares the only item of the first result of a node: it is zero, and has a sign.
fn zero(version: i64, constants: &str, node: &str, is_negative: bool) {
    let found = &results(version, constants, node)[0];
    let item = found.data().float(0);
    assert_eq!((found.len(), item, item.is_sign_negative()), (1, 0.0, is_negative), "{node}");
}

#[test]
fn sums_have_the_sign_of_their_zeros() {
    let x = "float[1] x = {-0.0}, float[1] scale = {1.0}";
    zero(12, x, "y = Celu (x)", false);
    zero(6, x, "y = Selu <gamma = -1.0> (x)", false);
    zero(23, x, "y = RMSNormalization (x, scale)", true);
    let image = "float[1,1,1,1] x = {-0.0}, float[1,1,1,2] grid = {0.5, 0.5}, float[1,1,1,2] middle = {0.0, 0.0}";
    zero(20, image, "y = GridSample (x, grid)", false);
    zero(20, image, "y = GridSample <mode = \"nearest\"> (x, middle)", true);
    zero(19, image, "y = AveragePool <kernel_shape = [1, 1]> (x)", true);
    let padded = "y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (x)";
    zero(19, image, padded, false);
    let regions = "float[1,1,1,1] x = {-0.0}, float[1,4] rois = {0, 0, 1, 1}, int64[1] batch = {0}";
    zero(16, regions, "y = RoiAlign (x, rois, batch)", false);
    zero(13, "float[1,1] x = {2.0}, int64[1] t = {0}", "y = SoftmaxCrossEntropyLoss (x, t)", true);
}

#[test]
fn what_is_not_finite_stays() {
    let gemm = "float[1,1] a = {2.0}, float[1,1] b = {3.0}, float[1] c = {nan}";
    check(13, gemm, "y = Gemm <beta = 0.0> (a, b, c)", &[1, 1], &[6.0]);
    check(17, "int64 n = {1}", "y = HannWindow <periodic = 0> (n)", &[1], &[f64::NAN]);
    let layer = "float[1,1,1] x = {1.0}, float[1,1,1] w = {nan}, float[1,1,1] r = {0.0}";
    check(22, layer, "y = RNN <hidden_size = 1, clip = 1.5> (x, w, r)", &[1, 1, 1, 1], &[f64::NAN]);
}

#[test]
fn no_items_need_no_scale() {
    let none = "float[0,2] x = {}, int8[0,2] q = {}, float[0] scale = {}";
    check(21, none, "y = QuantizeLinear <axis = 0> (x, scale)", &[0, 2], &[]);
    check(21, none, "y = DequantizeLinear <axis = 0> (q, scale)", &[0, 2], &[]);
}
