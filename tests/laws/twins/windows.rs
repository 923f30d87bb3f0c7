//! Calls of operators with windows, places and regions.

use super::call::Call;
use super::draw::*;
use super::makers::Maker;

pub const MAKERS: &[Maker] = &[
    ("Conv", conv),
    ("ConvInteger", conv_integer),
    ("QLinearConv", quantized_conv),
    ("ConvTranspose", transposed),
    ("MaxPool AveragePool LpPool", pool),
    ("GlobalAveragePool GlobalMaxPool GlobalLpPool", global),
    ("LRN", local_response),
    ("MaxUnpool", unpool),
    ("MaxRoiPool", max_roi_pool),
    ("RoiAlign", roi_align),
    ("GridSample", grid_sample),
    ("AffineGrid", affine_grid),
    ("Col2Im", col2im),
    ("DeformConv", deform_conv),
    ("Resize", resize),
    ("Upsample", upsample),
    ("NonMaxSuppression", suppression),
];

/// A batch of images: batch, channels, space.
pub fn image(s: &mut Draw, most: usize) -> Vec<usize> {
    let mut shape = vec![s.size_or_none(5, 2), s.size(1, 3)];
    for _ in 0..s.pick(&[1, 2, 2, 2, 3]) {
        shape.push(s.size(1, most));
    }
    shape
}

/// The settings of a window along axes.
struct Window {
    size: Vec<i64>,
    strides: Option<Vec<i64>>,
    dilations: Option<Vec<i64>>,
    auto_pad: Option<&'static str>,
    pads: Option<Vec<i64>>,
}

impl Window {
    fn of(s: &mut Draw, rank: usize) -> Self {
        let size = (0..rank).map(|_| s.int(1, 3)).collect();
        let strides = s.flag().then(|| (0..rank).map(|_| s.int(1, 4)).collect());
        let dilations = s.chance(30).then(|| (0..rank).map(|_| s.int(1, 2)).collect());
        let kind = s.int(0, 3);
        let auto_pad = (kind == 0).then(|| s.pick(&["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]));
        let pads = (kind == 1).then(|| (0..2 * rank).map(|_| s.int(0, 2)).collect());
        Window { size, strides, dilations, auto_pad, pads }
    }

    fn dilation(&self, axis: usize) -> i64 {
        self.dilations.as_ref().map_or(1, |all| all[axis])
    }

    fn stride(&self, axis: usize) -> i64 {
        self.strides.as_ref().map_or(1, |all| all[axis])
    }

    fn span(&self, axis: usize) -> i64 {
        (self.size[axis] - 1) * self.dilation(axis) + 1
    }

    /// Whether there is a place for it on each axis.
    fn fits(&self, extents: &[usize]) -> bool {
        let rank = extents.len();
        let padded = |axis: usize| self.pads.as_ref().map_or(0, |all| all[axis] + all[axis + rank]);
        self.auto_pad.is_some_and(|auto| auto.starts_with("SAME"))
            || (0..rank).all(|axis| extents[axis] as i64 + padded(axis) >= self.span(axis))
    }

    fn on(&self, call: Call) -> Call {
        let call = call.maybe("strides", self.strides.clone()).maybe("dilations", self.dilations.clone());
        call.maybe("auto_pad", self.auto_pad).maybe("pads", self.pads.clone())
    }

    fn extents(&self) -> Vec<usize> {
        self.size.iter().map(|size| *size as usize).collect()
    }
}

/// The operands of a convolution: an image, a filter, the number of results of a group, and the window with `group`.
struct Correlation {
    image: Vec<usize>,
    filter: Vec<usize>,
    channels: usize,
    groups: usize,
    window: Window,
}

impl Correlation {
    fn of(s: &mut Draw) -> Option<Self> {
        let mut image = image(s, 6);
        let (groups, each, out) = (s.pick(&[1, 1, 2, 3]), s.size(1, 2), s.size(1, 2));
        image[1] = groups * each;
        let window = Window::of(s, image.len() - 2);
        let filter = [vec![groups * out, each], window.extents()].concat();
        let fits = window.fits(&image[2..]);
        fits.then_some(Correlation { image, filter, channels: groups * out, groups, window })
    }

    fn on(&self, s: &mut Draw, call: Call) -> Call {
        let call = self.window.on(call).maybe("kernel_shape", s.maybe(self.window.size.clone()));
        let groups = self.groups as i64;
        if groups == 1 { call.maybe("group", s.maybe(groups)) } else { call.with("group", groups) }
    }
}

fn conv(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, c) = (s.pick(WIDE), Correlation::of(s)?);
    let bias = s.array(of, &[c.channels]);
    let call = Call::of(op).on(s.array(of, &c.image)).on(s.array(of, &c.filter)).maybe_on(s.maybe(bias));
    Some(c.on(s, call))
}

fn conv_integer(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (one, two, c) = (s.pick(&[U8, I8]), s.pick(&[U8, I8]), Correlation::of(s)?);
    let zeros = [scalar(one, s.int(0, 5) as f64), scalar(two, s.int(0, 5) as f64)];
    let call = Call::of(op).on(s.array(one, &c.image)).on(s.array(two, &c.filter));
    let call = zeros.into_iter().fold(call, |call, zero| call.knowing(s.maybe(zero)));
    Some(c.on(s, call))
}

/// A scale and a zero point.
pub fn code(s: &mut Draw, call: Call, of: nnef_flatten::tensor::DType) -> Call {
    let (scale, zero) = (s.pick(&[0.25, 0.5, 1.0, 0.3]), s.int(0, 9) as f64);
    call.knowing(scalar(F32, scale)).knowing(scalar(of, zero))
}

fn quantized_conv(s: &mut Draw, op: &'static str) -> Option<Call> {
    let c = Correlation::of(s)?;
    let call = Call::of(op).on(s.array(U8, &c.image));
    let call = code(s, call, U8).on(s.array(U8, &c.filter));
    let call = code(s, call, U8);
    let call = code(s, call, U8);
    s.edge = false;
    let bias = s.array(I32, &[c.channels]);
    let call = call.knowing(s.maybe(bias));
    Some(c.on(s, call))
}

fn transposed(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(WIDE);
    let mut shape = image(s, 5);
    let (groups, each, out) = (s.pick(&[1, 1, 2, 3]), s.size(1, 2), s.size(1, 2));
    shape[1] = groups * each;
    let rank = shape.len() - 2;
    let window = Window::of(s, rank);
    let filter = [vec![groups * each, out], window.extents()].concat();
    let bias = s.array(of, &[groups * out]);
    let call = Call::of(op).on(s.array(of, &shape)).on(s.array(of, &filter)).maybe_on(s.maybe(bias));
    let more: Vec<i64> = (0..rank).map(|axis| s.int(0, window.stride(axis).max(window.dilation(axis)) - 1)).collect();
    let whole = |axis: usize| (shape[axis + 2] as i64 - 1) * window.stride(axis) + window.span(axis);
    let stated: Vec<i64> = (0..rank).map(|axis| whole(axis) + s.int(-1, 1)).collect();
    let states = s.chance(25) && window.pads.is_none() && stated.iter().all(|extent| *extent > 0);
    let padded = |axis: usize| window.pads.as_ref().map_or(0, |all| all[axis] + all[axis + rank]);
    if (0..rank).any(|axis| whole(axis) <= padded(axis)) {
        return None;
    }
    let call = window.on(call).maybe("kernel_shape", s.maybe(window.size.clone()));
    let call =
        call.maybe("output_padding", s.chance(30).then_some(more)).maybe("output_shape", states.then_some(stated));
    let groups = groups as i64;
    let call = if groups == 1 { call.maybe("group", s.maybe(groups)) } else { call.with("group", groups) };
    Some(call.version(s.pick(&[21, 11])))
}

fn pool(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = image(s, 6);
    let window = Window::of(s, shape.len() - 2);
    if !window.fits(&shape[2..]) {
        return None;
    }
    let (ceil, include, order, p) = (s.flag(), s.flag(), s.flag(), s.int(1, 3));
    let results = if op == "MaxPool" { s.pick(&[1, 1, 2]) } else { 1 };
    let of = if op == "MaxPool" { s.pick(&[F32, F32, F32, F64, I8, U8]) } else { s.pick(WIDE) };
    let call = window.on(Call::of(op).on(s.array(of, &shape))).with("kernel_shape", window.size.clone());
    let call = call.maybe("ceil_mode", s.maybe(ceil)).results(results);
    Some(match op {
        "AveragePool" => call.maybe("count_include_pad", s.maybe(include)).version(s.pick(&[21, 22])),
        "LpPool" => call.maybe("p", s.maybe(p)).version(18),
        _ if results == 2 => call.maybe("storage_order", s.maybe(order)).version(s.pick(&[21, 22])),
        _ => call.version(s.pick(&[21, 22])),
    })
}

fn global(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, p) = (s.pick(WIDE), image(s, 6), s.int(1, 3));
    let call = Call::of(op).on(s.array(of, &shape));
    Some(if op == "GlobalLpPool" { call.maybe("p", s.maybe(p)) } else { call })
}

fn local_response(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, size) = (s.pick(WIDE), image(s, 6), s.int(1, 5));
    let call = Call::of(op).on(s.array(of, &shape)).with("size", size).maybe("alpha", s.maybe(0.5f32));
    Some(call.maybe("beta", s.maybe(0.5f32)).maybe("bias", s.maybe(2.0f32)))
}

/// The extents of a plane of images: batch, channels, height, width.
fn plane(s: &mut Draw) -> [usize; 4] {
    [s.size(1, 2), s.size(1, 2), s.size(2, 5), s.size(2, 5)]
}

fn unpool(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape @ [n, c, h, w] = plane(s);
    let mut indices = Vec::new();
    for map in 0..n * c {
        let order = s.permutation(4 * h * w);
        indices.extend(order.into_iter().take(h * w).map(|at| (map * 4 * h * w + at) as i128));
    }
    let call = Call::of(op).on(s.array(F32, &shape)).on(integers(I64, &shape, &indices));
    Some(call.with("kernel_shape", vec![2, 2]).with("strides", vec![2, 2]))
}

fn max_roi_pool(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape @ [n, _, h, w] = plane(s);
    let mut rois = Vec::new();
    let count = s.size(1, 3);
    for _ in 0..count {
        let (image, x, y) = (s.size(0, n - 1), s.size(0, w - 1), s.size(0, h - 1));
        rois.extend([image, x, y, s.size(x, w - 1), s.size(y, h - 1)].map(|item| item as f64));
    }
    let scale = s.pick(&[1.0f32, 0.5]);
    let call = Call::of(op).on(s.array(F32, &shape)).on(floats(F32, &[count, 5], &rois));
    Some(call.with("pooled_shape", vec![s.int(1, 3), s.int(1, 3)]).maybe("spatial_scale", s.maybe(scale)))
}

fn roi_align(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape @ [n, _, h, w] = plane(s);
    let count = s.size_or_none(10, 3);
    let mut rois = Vec::new();
    for _ in 0..count {
        let (x, y) = (s.int(0, 2 * w as i64) as f64 / 4.0, s.int(0, 2 * h as i64) as f64 / 4.0);
        rois.extend([x, y, x + s.int(0, 12) as f64 / 4.0, y + s.int(0, 12) as f64 / 4.0]);
    }
    let (height, width, rate) = (s.int(1, 3), s.int(1, 3), s.int(0, 3));
    let (mode, scale) = (s.pick(&["avg", "max"]), s.pick(&[0.5f32, 1.0, 2.0]));
    let places = s.pick(&["half_pixel", "output_half_pixel"]);
    let call = Call::of(op).on(s.array(F32, &shape)).on(floats(F32, &[count, 4], &rois));
    let call = call.on(s.indices(I64, &[count], n, false)).maybe("output_height", s.maybe(height));
    let call = call.maybe("output_width", s.maybe(width)).maybe("sampling_ratio", s.maybe(rate));
    let call = call.maybe("mode", s.maybe(mode)).maybe("spatial_scale", s.maybe(scale));
    Some(call.maybe("coordinate_transformation_mode", s.maybe(places)))
}

fn grid_sample(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape @ [n, ..] = plane(s);
    let places = [n, s.size(1, 3), s.size(1, 3), 2];
    let grid: Vec<f64> = (0..volume(&places)).map(|_| s.int(-12, 12) as f64 / 8.0).collect();
    let (mode, border, corners) =
        (s.pick(&["linear", "nearest", "cubic"]), s.pick(&["zeros", "border", "reflection"]), s.flag());
    let call = Call::of(op).on(s.array(F32, &shape)).on(floats(F32, &places, &grid)).version(20);
    let call = if mode == "linear" { call.maybe("mode", s.maybe(mode)) } else { call.with("mode", mode) };
    Some(call.maybe("padding_mode", s.maybe(border)).maybe("align_corners", s.maybe(corners)))
}

fn affine_grid(s: &mut Draw, op: &'static str) -> Option<Call> {
    let [n, c, h, w] = plane(s).map(|extent| extent as i64);
    let (flat, corners) = (s.flag(), s.flag());
    let theta: &[usize] = if flat { &[n as usize, 2, 3] } else { &[n as usize, 3, 4] };
    let size = if flat { list(&[n, c, h, w]) } else { list(&[n, c, h, w, 2]) };
    Some(Call::of(op).on(s.array(F32, theta)).knowing(size).maybe("align_corners", s.maybe(corners)))
}

fn col2im(s: &mut Draw, op: &'static str) -> Option<Call> {
    let [n, c, h, w] = plane(s);
    let size = [s.size(1, 2), s.size(1, 2)];
    let mut places = [h, w];
    let (strides, dilations, pads) = (s.flag(), s.flag(), s.flag());
    let strides = strides.then(|| vec![s.int(1, 2), s.int(1, 2)]);
    let dilations = dilations.then(|| vec![s.int(1, 2), s.int(1, 2)]);
    let pads = pads.then(|| (0..4).map(|_| s.int(0, 1)).collect::<Vec<i64>>());
    for axis in 0..2 {
        let (stride, dilation) =
            (strides.as_ref().map_or(1, |all| all[axis]), dilations.as_ref().map_or(1, |all| all[axis]));
        let padded = pads.as_ref().map_or(0, |all| all[axis] + all[axis + 2]);
        let room = [h, w][axis] as i64 + padded - (size[axis] as i64 - 1) * dilation - 1;
        places[axis] = usize::try_from(room).ok()? / stride as usize + 1;
    }
    let call = Call::of(op).on(s.array(F32, &[n, c * size[0] * size[1], places[0] * places[1]]));
    let call = call.knowing(list(&[h as i64, w as i64])).knowing(list(&size.map(|extent| extent as i64)));
    Some(call.maybe("strides", strides).maybe("dilations", dilations).maybe("pads", pads))
}

fn deform_conv(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape @ [n, c, h, w] = plane(s);
    let (size, out) = ([s.size(1, 2), s.size(1, 2)], s.size(1, 2));
    let places = [n, 2 * size[0] * size[1], h - size[0] + 1, w - size[1] + 1];
    let (offset, bias) = (s.array(F32, &places), s.array(F32, &[out]));
    let call = Call::of(op).on(s.array(F32, &shape)).on(s.array(F32, &[out, c, size[0], size[1]])).on(offset);
    let weights = s.array(F32, &[n, size[0] * size[1], h - size[0] + 1, w - size[1] + 1]);
    let call = call.maybe_on(s.maybe(bias)).maybe_on(s.maybe(weights));
    Some(call.with("kernel_shape", size.map(|extent| extent as i64).to_vec()))
}

fn resize(s: &mut Draw, op: &'static str) -> Option<Call> {
    let mode = s.pick(&["nearest", "linear", "cubic"]);
    let shape = match mode {
        "cubic" => vec![1, 1, s.size(2, 5), s.size(2, 5)],
        _ => [vec![1, s.size(1, 2)], s.some(1, 2, 5)].concat(),
    };
    let of = s.pick(&[F32, F32, F32, F32, F64, U8]);
    let places = s.pick(&[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_crop_and_resize",
    ]);
    let crops = places == "tf_crop_and_resize";
    let spatial = shape.len() - 2;
    let region = crops.then(|| {
        let begins: Vec<f64> = (0..spatial).map(|_| s.pick(&[0.0, 0.25, -0.25])).collect();
        let ends: Vec<f64> = (0..spatial).map(|_| s.pick(&[1.0, 0.75, 1.25])).collect();
        floats(F32, &[2 * shape.len()], &[vec![0.0; 2], begins, vec![1.0; 2], ends].concat())
    });
    let call = Call::of(op).on(s.array(of, &shape)).knowing(region).version(19);
    let call = if mode == "nearest" { call.maybe("mode", s.maybe(mode)) } else { call.with("mode", mode) };
    let name = "coordinate_transformation_mode";
    let call = if places == "half_pixel" { call.maybe(name, s.maybe(places)) } else { call.with(name, places) };
    let (rounds, outside) = (s.pick(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]), s.flag());
    let call = match mode {
        "nearest" => call.maybe("nearest_mode", s.maybe(rounds)),
        "cubic" => call.maybe("cubic_coeff_a", s.maybe(-0.5f32)).maybe("exclude_outside", s.maybe(outside)),
        _ => call,
    };
    let smooth = !crops && mode != "nearest" && of == F32 && s.chance(30);
    let call =
        call.maybe("extrapolation_value", s.maybe(9.0f32).filter(|_| crops)).maybe("antialias", smooth.then_some(1));
    if s.flag() {
        let factors: Vec<f64> = (0..spatial).map(|_| s.pick(&[1.0, 2.0, 0.5, 1.5, 0.6, 2.5, 3.0])).collect();
        let fits = shape[2..].iter().zip(&factors).all(|(extent, factor)| *extent as f64 * factor >= 1.0);
        let factors = floats(F32, &[shape.len()], &[vec![1.0; 2], factors].concat());
        return fits.then(|| call.knowing(factors));
    }
    let sizes: Vec<i64> = shape[..2].iter().map(|extent| *extent as i64).collect();
    let sizes = [sizes, (0..spatial).map(|_| s.int(1, 7)).collect()].concat();
    Some(call.knowing(None).knowing(list(&sizes)))
}

fn upsample(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = [1, s.size(1, 2), s.size(1, 4), s.size(1, 4)];
    let factors = [1.0, 1.0, s.pick(&[1.0, 2.0, 3.0]), s.pick(&[1.0, 2.0, 3.0])];
    let mode = s.pick(&["nearest", "linear"]);
    let call = Call::of(op).on(s.array(F32, &shape)).knowing(floats(F32, &[4], &factors));
    Some(call.maybe("mode", s.maybe(mode)).version(9))
}

fn suppression(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (n, c, boxes) = (s.size(1, 2), s.size(1, 2), s.size(1, 4));
    let corners: Vec<f64> = (0..4 * n * boxes).map(|_| s.int(0, 7) as f64 / 4.0).collect();
    let scores: Vec<f64> = (0..n * c * boxes).map(|_| s.int(0, 7) as f64 / 8.0).collect();
    let (most, overlap, center) = (s.int(0, 3) as f64, s.int(0, 4) as f64 / 4.0, s.flag());
    let call = Call::of(op).on(floats(F32, &[n, boxes, 4], &corners)).on(floats(F32, &[n, c, boxes], &scores));
    let call = call.knowing(s.chance(90).then(|| scalar(I64, most))).knowing(s.maybe(scalar(F32, overlap)));
    Some(call.knowing(s.maybe(scalar(F32, 0.25))).maybe("center_point_box", s.maybe(center)))
}
