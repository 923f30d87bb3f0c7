//! Convolution, pooling, resampling.

use super::trial::{check, results};

const X: &str = "float[1,1,3,3] x = {1,2,3,4,5,6,7,8,9}, float[1,1,2,2] w = {1,0,0,1}";

#[test]
fn convolutions_of_all_paddings() {
    check(22, X, "y = Conv (x, w)", &[1, 1, 2, 2], &[6.0, 8.0, 12.0, 14.0]);
    check(22, X, "y = Conv <strides = [2,2], pads = [1,0,0,1]> (x, w)", &[1, 1, 2, 2], &[2.0, 0.0, 12.0, 6.0]);
    let same = [6.0, 8.0, 3.0, 12.0, 14.0, 6.0, 7.0, 8.0, 9.0];
    check(22, X, "y = Conv <auto_pad = \"SAME_UPPER\"> (x, w)", &[1, 1, 3, 3], &same);
    check(22, X, "y = Conv <dilations = [2,2]> (x, w)", &[1, 1, 1, 1], &[10.0]);
    let groups = "float[1,2,2] x = {1,2,3,4}, float[2,1,1] w = {2,3}, float[2] b = {0,1}";
    check(22, groups, "y = Conv <group = 2> (x, w, b)", &[1, 2, 2], &[2.0, 4.0, 10.0, 13.0]);
}

#[test]
fn convolutions_of_integers_are_exact() {
    let x = "uint8[1,1,3] x = {200,2,3}, int8[1,1,2] w = {-1,1}, uint8 z = {2}, float s = {0.5}";
    check(10, x, "y = ConvInteger (x, w, z)", &[1, 1, 2], &[-198.0, 1.0]);
    let all = format!("{x}, int8 v = {{0}}, float t = {{2.0}}, int8 u = {{3}}");
    check(10, &all, "y = QLinearConv (x, s, z, w, s, v, t, u)", &[1, 1, 2], &[-22.0, 3.0]);
}

#[test]
fn transposed_convolutions_add_windows() {
    let x = "float[1,1,2] x = {1,2}, float[1,1,3] w = {1,10,100}";
    check(22, x, "y = ConvTranspose <strides = [2]> (x, w)", &[1, 1, 5], &[1.0, 10.0, 102.0, 20.0, 200.0]);
    check(22, x, "y = ConvTranspose <strides = [2], pads = [1,1]> (x, w)", &[1, 1, 3], &[10.0, 102.0, 20.0]);
    let padded = "y = ConvTranspose <strides = [2], output_shape = [4], auto_pad = \"SAME_UPPER\"> (x, w)";
    check(22, x, padded, &[1, 1, 4], &[1.0, 10.0, 102.0, 20.0]);
    let columns = "float[1,2,2] x = {1,2,3,4}, int64[2] i = {1,3}, int64[2] b = {1,2}";
    check(18, columns, "y = Col2Im (x, i, b)", &[1, 1, 1, 3], &[1.0, 5.0, 4.0]);
}

#[test]
fn deformed_windows_are_interpolated() {
    let x = "float[1,1,2,2] x = {1,2,3,4}, float[1,1,1,1] w = {2}, float[1,2,2,2] o = {0.5,0,0,0,0.5,0,0,5}";
    check(22, x, "y = DeformConv (x, w, o)", &[1, 1, 2, 2], &[5.0, 4.0, 6.0, 0.0]);
}

#[test]
fn pools_take_items_in_the_operand() {
    check(
        22,
        X,
        "y = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (x)",
        &[1, 1, 2, 2],
        &[5.0, 6.0, 8.0, 9.0],
    );
    // The only window is one that was added, since none fits.
    let larger = "y = AveragePool <kernel_shape = [4,4], strides = [3,3], ceil_mode = 1> (x)";
    check(22, X, larger, &[1, 1, 1, 1], &[5.0]);
    let gaps = "y = AveragePool <kernel_shape = [1], strides = [3], auto_pad = \"SAME_UPPER\"> (x)";
    check(22, "float[1,1,6] x = {1,2,3,4,5,6}", gaps, &[1, 1, 2], &[2.0, 5.0]);
    let indices = &results(22, X, "y, i = MaxPool <kernel_shape = [2,2], storage_order = 1> (x)")[1];
    assert_eq!(indices.to_scalars(), [4.0, 7.0, 5.0, 8.0]);
    let mean = "y = AveragePool <kernel_shape = [2,2], pads = [1,1,0,0], strides = [2,2]> (x)";
    check(22, X, mean, &[1, 1, 2, 2], &[1.0, 2.5, 5.5, 7.0]);
    let padded = "y = AveragePool <kernel_shape = [2,2], pads = [1,1,0,0], strides = [2,2], count_include_pad = 1> (x)";
    check(22, X, padded, &[1, 1, 2, 2], &[0.25, 1.25, 2.75, 7.0]);
    check(22, X, "y = LpPool <kernel_shape = [1,2], p = 1> (x)", &[1, 1, 3, 2], &[3.0, 5.0, 9.0, 11.0, 15.0, 17.0]);
    for (name, value) in [("GlobalMaxPool", 9.0), ("GlobalAveragePool", 5.0), ("GlobalLpPool", 285f64.sqrt())] {
        check(22, X, &format!("y = {name} (x)"), &[1, 1, 1, 1], &[value]);
    }
    let maxima = "float[1,1,1,2] x = {5,6}, int64[1,1,1,2] i = {1,2}";
    check(
        22,
        maxima,
        "y = MaxUnpool <kernel_shape = [1,2], strides = [1,2]> (x, i)",
        &[1, 1, 1, 4],
        &[0.0, 5.0, 6.0, 0.0],
    );
}

#[test]
fn resampling_has_places_and_weights() {
    let x = "float[1,4] x = {1,2,3,4}, float[2] up = {1,2}, float[2] down = {1,0.5}, int64[2] s = {1,3}";
    check(19, x, "y = Resize (x, , up)", &[1, 8], &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    check(19, x, "y = Resize <mode = \"linear\"> (x, , down)", &[1, 2], &[1.5, 3.5]);
    let aligned = "y = Resize <mode = \"linear\", coordinate_transformation_mode = \"align_corners\"> (x, , , s)";
    check(19, x, aligned, &[1, 3], &[1.0, 2.5, 4.0]);
    let smooth = "y = Resize <mode = \"linear\", antialias = 1> (x, , down)";
    check(19, x, smooth, &[1, 2], &[1.625, 3.375]);
    let cubic = "y = Resize <mode = \"cubic\", cubic_coeff_a = -0.5, exclude_outside = 1> (x, , down)";
    check(19, x, cubic, &[1, 2], &[24.0 / 17.0, 61.0 / 17.0]);
    let crop = "float[4] x = {1,2,3,4}, float[2] r = {0.5,1.5}, int64[1] s = {3}";
    let outside = "y = Resize <mode = \"linear\", coordinate_transformation_mode = \"tf_crop_and_resize\", \
                   extrapolation_value = 9.0> (x, r, , s)";
    check(19, crop, outside, &[3], &[2.5, 4.0, 9.0]);
    check(9, x, "y = Upsample <mode = \"linear\"> (x, up)", &[1, 8], &[1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.0]);
    let ratio = "y = Resize <axes = [1], keep_aspect_ratio_policy = \"not_larger\"> (x, , , t)";
    check(19, &format!("{x}, int64[1] t = {{2}}"), ratio, &[1, 2], &[1.0, 3.0]);
}

#[test]
fn samples_at_coordinates() {
    let x = "float[1,1,2,2] x = {1,2,3,4}, float[1,1,2,2] g = {0,0,1,1}";
    check(22, x, "y = GridSample (x, g)", &[1, 1, 1, 2], &[2.5, 1.0]);
    check(22, x, "y = GridSample <padding_mode = \"border\"> (x, g)", &[1, 1, 1, 2], &[2.5, 4.0]);
    check(22, x, "y = GridSample <mode = \"nearest\", align_corners = 1> (x, g)", &[1, 1, 1, 2], &[1.0, 4.0]);
    let affine = "float[1,2,3] t = {1,0,0,0,1,0}, int64[4] s = {1,1,1,2}";
    check(20, affine, "y = AffineGrid (t, s)", &[1, 1, 2, 2], &[-0.5, 0.0, 0.5, 0.0]);
    let regions = "float[1,1,2,2] x = {1,2,3,4}, float[1,4] r = {0,0,2,2}, int64[1] b = {0}";
    check(22, regions, "y = RoiAlign (x, r, b)", &[1, 1, 1, 1], &[2.5]);
    let boxes = "float[1,1,2,2] x = {1,2,3,4}, float[1,5] r = {0,0,0,1,0}";
    check(22, boxes, "y = MaxRoiPool <pooled_shape = [1,2]> (x, r)", &[1, 1, 1, 2], &[1.0, 2.0]);
    let middle = "int64[5] x = {1,2,3,4,5}, int64[1] a = {2}, int64[1] b = {8}";
    check(18, middle, "y = CenterCropPad (x, a)", &[2], &[2.0, 3.0]);
    check(18, middle, "y = CenterCropPad (x, b)", &[8], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0]);
}
