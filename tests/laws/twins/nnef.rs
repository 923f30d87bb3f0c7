//! Calls of operations of NNEF.

use super::draw::*;
use nnef_flatten::tensor::{DType, Tensor};
use std::fmt::{self, Display};

/// An operation with its operands, and the number of its results, which may be a list.
pub struct Sentence {
    operands: Vec<(String, Tensor)>,
    text: String,
    results: usize,
    is_list: bool,
}

impl Sentence {
    /// The operation on its operands, which are named in order.
    fn of(operation: &'static str, operands: Vec<Tensor>) -> Self {
        let operands: Vec<_> = operands.into_iter().enumerate().map(|(at, x)| (format!("x{at}"), x)).collect();
        let names: Vec<&str> = operands.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!("{operation}({}", names.join(", "));
        Sentence { text, operands, results: 1, is_list: false }
    }

    /// The operation on a list of operands.
    fn of_list(operation: &'static str, operands: Vec<Tensor>) -> Self {
        let of = Sentence::of(operation, operands);
        let text = of.text.replacen('(', "([", 1) + "]";
        Sentence { text, ..of }
    }

    /// A text with its operands.
    fn spoken(operation: &'static str, text: &str, operands: Vec<Tensor>) -> Self {
        let text = text.strip_suffix(')').unwrap_or(text).to_owned();
        Sentence { text, ..Sentence::of(operation, operands) }
    }

    fn with(mut self, name: &str, value: impl Written) -> Self {
        let comma = if self.text.ends_with('(') { "" } else { ", " };
        self.text += &format!("{comma}{name} = {}", value.written());
        self
    }

    fn maybe(self, name: &str, value: Option<impl Written>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn results(self, results: usize) -> Self {
        Sentence { results, ..self }
    }

    fn list(self, results: usize) -> Self {
        Sentence { results, is_list: true, ..self }
    }

    /// A document with the operation.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.operands.iter().map(|(name, _)| name.as_str()).collect();
        let results: Vec<String> = (0..self.results).map(|at| format!("y{at}")).collect();
        let results = results.join(", ");
        let mut lines = String::new();
        for (name, tensor) in &self.operands {
            let of = match tensor.dtype() {
                DType::Bool => "logical",
                DType::Int64 => "integer",
                _ => "scalar",
            };
            lines += &format!("    {name} = external<{of}>(shape = {:?});\n", tensor.shape());
        }
        let inputs = if names.is_empty() { "unused".to_owned() } else { names.join(", ") };
        if names.is_empty() {
            lines += "    unused = external(shape = [1]);\n";
        }
        let left = if self.is_list { format!("[{results}]") } else { results.clone() };
        format!(
            "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\n\
             graph call({inputs}) -> ({results})\n{{\n{lines}    {left} = {});\n}}\n",
            self.text
        )
    }

    /// The values of all operands.
    pub fn tensors(&self) -> Vec<Tensor> {
        self.operands.iter().map(|(_, tensor)| tensor.clone()).collect()
    }

    /// The values of the inputs of the document.
    pub fn inputs(&self) -> Vec<(String, Tensor)> {
        match self.operands.is_empty() {
            true => vec![("unused".to_owned(), floats(F32, &[1], &[0.0]))],
            false => self.operands.clone(),
        }
    }
}

impl Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{})", self.text)?;
        self.operands.iter().try_for_each(|(name, x)| writeln!(f, "  {name} = {:?} {:?}", x.shape(), x.data()))
    }
}

/// What an attribute can be, as text.
trait Written {
    fn written(&self) -> String;
}

impl Written for usize {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for i64 {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for f64 {
    fn written(&self) -> String {
        format!("{self:?}")
    }
}

impl Written for bool {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for &str {
    fn written(&self) -> String {
        format!("'{self}'")
    }
}

impl Written for (i64, i64) {
    fn written(&self) -> String {
        format!("{self:?}")
    }
}

impl<T: Written> Written for Vec<T> {
    fn written(&self) -> String {
        format!("[{}]", self.iter().map(Written::written).collect::<Vec<_>>().join(", "))
    }
}

type Maker = fn(&mut Draw, &'static str) -> Option<Sentence>;

const MAKERS: &[(&str, Maker)] = &[
    (
        "copy neg rcp exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh abs sign floor ceil round sqr \
         sqrt rsqr rsqrt log2 relu sigmoid softplus elu gelu silu softabs leaky_relu selu",
        unary,
    ),
    ("add sub mul div pow min max lt le gt ge eq ne and or prelu", binary),
    ("not", negation),
    ("select clamp", ternary),
    ("cast", cast),
    ("constant", constant),
    ("add_n copy_n", many),
    ("conv deconv", convolution),
    ("separable_conv separable_deconv", separable),
    ("box avg_pool max_pool argmax_pool max_pool_with_index rms_pool", pool),
    ("debox", debox),
    ("sample desample", sample),
    ("multilinear_upsample nearest_upsample nearest_downsample area_downsample", resampled),
    (
        "sum_reduce mean_reduce max_reduce min_reduce argmax_reduce argmin_reduce any_reduce all_reduce softmax",
        reduction,
    ),
    ("moments l1_normalization l2_normalization", along_axes),
    (
        "local_response_normalization local_mean_normalization local_variance_normalization local_contrast_normalization",
        local,
    ),
    ("batch_normalization", batch_normalization),
    ("reshape", reshape),
    ("squeeze unsqueeze", squeeze),
    ("transpose", transpose),
    ("concat stack", joined),
    ("split unstack", parted),
    ("slice", slice),
    ("pad", pad),
    ("tile", tile),
    ("gather", gather),
    ("matmul", matmul),
    ("linear", linear),
    ("avg_roi_pool max_roi_pool roi_resample avg_roi_align max_roi_align", regions),
    ("min_max_linear_quantize zero_point_linear_quantize linear_quantize logarithmic_quantize", quantize),
];

/// All operations with their makers.
pub fn all() -> Vec<(&'static str, Maker)> {
    MAKERS.iter().flat_map(|(names, maker)| names.split_whitespace().map(|name| (name, *maker))).collect()
}

fn signed(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|extent| *extent as i64).collect()
}

fn unary(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(0, 4, 4);
    let call = Sentence::of(op, vec![s.within(F32, &shape, 4.0)]);
    let alpha = s.pick(&[0.3, 1.5]);
    Some(match op {
        "softabs" => call.with("epsilon", 0.1),
        "leaky_relu" => call.with("alpha", alpha),
        "selu" => call.maybe("alpha", s.maybe(alpha)).maybe("lambda", s.maybe(0.9)),
        "elu" => call.maybe("alpha", s.maybe(alpha)),
        _ => call,
    })
}

/// Extents that broadcast to one shape: their first axes are aligned.
fn together(s: &mut Draw, count: usize) -> Vec<Vec<usize>> {
    let shape = s.some(0, 4, 4);
    let part = |s: &mut Draw| {
        let rank = s.size(0, shape.len());
        shape[..rank].iter().map(|extent| if s.chance(25) { 1 } else { *extent }).collect()
    };
    (0..count).map(|_| part(s)).collect()
}

fn binary(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shapes = together(s, 2);
    let of = match op {
        "and" | "or" => BOOL,
        "add" | "sub" | "mul" | "min" | "max" | "lt" | "le" | "gt" | "ge" | "eq" | "ne" => {
            s.pick(&[F32, F32, F32, I64])
        }
        _ => F32,
    };
    s.edge &= of != I64;
    Some(Sentence::of(op, shapes.iter().map(|shape| s.array(of, shape)).collect()))
}

fn negation(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(0, 4, 4);
    Some(Sentence::of(op, vec![s.array(BOOL, &shape)]))
}

fn ternary(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shapes = together(s, 3);
    let first = if op == "select" { BOOL } else { F32 };
    let x = vec![s.array(first, &shapes[0]), s.array(F32, &shapes[1]), s.array(F32, &shapes[2])];
    Some(Sentence::of(op, x))
}

fn cast(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let (of, to) = (s.pick(&[F32, I64, BOOL]), s.pick(&["integer", "logical", "scalar"]));
    let shape = s.some(0, 4, 4);
    // Infinities and NaN are no integers.
    s.edge &= to != "integer";
    Some(Sentence::spoken(op, &format!("cast<{to}>(x0)"), vec![s.within(of, &shape, 4.0)]))
}

fn constant(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(0, 3, 4);
    s.edge = false;
    let count = if s.flag() { 1 } else { volume(&shape) };
    let values: Vec<f64> = (0..count).map(|_| s.number(2.0)).collect();
    Some(Sentence::of(op, Vec::new()).with("shape", signed(&shape)).with("value", values))
}

fn many(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let count = s.size(1, 4);
    let shapes = together(s, count);
    Some(match op {
        "add_n" => Sentence::of_list(op, shapes.iter().map(|shape| s.array(F32, shape)).collect()),
        _ => Sentence::of(op, vec![s.array(F32, &shapes[0])]).with("times", count).list(count),
    })
}

/// A window over axes, its settings and the number of its places.
struct Window {
    size: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    padding: Option<Vec<(i64, i64)>>,
    output: Vec<i64>,
}

impl Window {
    /// A window that has places on all axes.
    fn of(s: &mut Draw, extents: &[usize], transposed: bool) -> Option<Self> {
        let rank = extents.len();
        let all = |s: &mut Draw, most: i64| -> Vec<i64> { (0..rank).map(|_| s.int(1, most)).collect() };
        let (size, stride, dilation) = (all(s, 3), all(s, 4), all(s, 2));
        let low = if s.chance(15) { -1 } else { 0 };
        let padding = s.chance(70).then(|| (0..rank).map(|_| (s.int(low, 2), s.int(low, 2))).collect::<Vec<_>>());
        let places = |axis: usize| {
            let (extent, span) = (extents[axis] as i64, (size[axis] - 1) * dilation[axis] + 1);
            Some(match (&padding, transposed) {
                (Some(padding), true) => (extent - 1) * stride[axis] + span - padding[axis].0 - padding[axis].1,
                (None, true) => extent * stride[axis],
                (Some(padding), false) => {
                    let room = extent + padding[axis].0 + padding[axis].1 - span;
                    if room < 0 { 0 } else { room / stride[axis] + 1 }
                }
                (None, false) => (extent + stride[axis] - 1) / stride[axis],
            })
            .filter(|places| *places > 0)
        };
        let output: Option<Vec<i64>> = (0..rank).map(places).collect();
        Some(Window { output: output?, size, stride, dilation, padding })
    }

    fn on(&self, s: &mut Draw, call: Sentence) -> Sentence {
        let plain = |all: &[i64]| all.iter().all(|item| *item == 1);
        let call = match plain(&self.stride) && s.flag() {
            true => call,
            false => call.with("stride", self.stride.clone()),
        };
        let call = match plain(&self.dilation) && s.flag() {
            true => call,
            false => call.with("dilation", self.dilation.clone()),
        };
        call.with("padding", self.padding.clone().unwrap_or_default())
    }

    fn extents(&self) -> Vec<usize> {
        self.size.iter().map(|size| *size as usize).collect()
    }
}

const BORDERS: &[&str] = &["constant", "replicate", "reflect", "reflect-even", "ignore"];

fn convolution(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let transposed = op == "deconv";
    let (batch, groups, inner, outer) = (s.size(1, 2), s.pick(&[1, 1, 2, 3]), s.size(1, 3), s.size(1, 3));
    let space = s.some(0, 3, 6);
    let window = Window::of(s, &space, transposed)?;
    let size = window.extents();
    let filter = match transposed {
        true => [vec![groups * inner, outer], size].concat(),
        false => [vec![groups * outer, inner], size].concat(),
    };
    let x = s.array(F32, &[vec![batch, groups * inner], space].concat());
    let bias = s.pick(&[vec![], vec![1, groups * outer], vec![1, 1]]);
    let call = Sentence::of(op, vec![x, s.array(F32, &filter), s.array(F32, &bias)]);
    let stated = [vec![batch as i64, (groups * outer) as i64], window.output.clone()].concat();
    let call = window.on(s, call).with("groups", groups);
    let call = call.with("border", s.pick(if transposed { &["constant"] } else { BORDERS }));
    Some(if transposed && window.padding.is_none() && s.flag() { call.with("output_shape", stated) } else { call })
}

fn separable(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let (channels, out) = (s.size(1, 3), s.size(1, 3));
    let size = s.some(1, 2, 3);
    let space: Vec<usize> = size.iter().map(|_| s.size(3, 6)).collect();
    let ones = vec![1; size.len()];
    let first = if op == "separable_conv" { channels } else { out };
    let stride: Vec<i64> = size.iter().map(|_| s.int(1, 2)).collect();
    let shape = [vec![s.size(1, 2), first], space].concat();
    let x = s.array(F32, &shape);
    let plane = s.array(F32, &[vec![channels, 1], size].concat());
    let point = s.array(F32, &[vec![out, channels], ones].concat());
    Some(Sentence::of(op, vec![x, plane, point]).with("stride", stride))
}

fn pool(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let extents = s.some(1, 4, 5);
    let window = Window::of(s, &extents, false)?;
    let call = Sentence::of(op, vec![s.array(F32, &extents)]).with("size", window.size.clone());
    let call = window.on(s, call).with("border", s.pick(BORDERS));
    let normalize = s.flag();
    Some(match op {
        "box" => call.with("normalize", normalize),
        "max_pool_with_index" => call.results(2),
        _ => call,
    })
}

fn debox(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let extents = s.some(1, 3, 4);
    let window = Window::of(s, &extents, true)?;
    let (normalize, border) = (s.flag(), s.pick(BORDERS));
    let call = Sentence::of(op, vec![s.array(F32, &extents)]).with("size", window.size.clone());
    Some(window.on(s, call).with("normalize", normalize).with("border", border))
}

fn sample(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let extents = s.some(1, 3, 4);
    let window = Window::of(s, &extents, op == "desample")?;
    let items = window.extents().iter().product();
    let places: Vec<usize> = match op {
        "sample" => window.output.iter().map(|extent| *extent as usize).collect(),
        _ => extents.clone(),
    };
    let x = vec![s.array(F32, &extents), s.indices(I64, &places, items, false)];
    let call = Sentence::of(op, x).with("size", window.size.clone());
    Some(window.on(s, call).with("border", if op == "sample" { s.pick(BORDERS) } else { "constant" }))
}

fn resampled(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let factor: Vec<i64> = (0..s.size(1, 3)).map(|_| s.int(1, 3)).collect();
    let down = op.ends_with("downsample");
    let mut shape = vec![s.size(1, 2), s.size(1, 2)];
    for factor in &factor {
        shape.push(s.size(1, 4) * if down { *factor as usize } else { 1 });
    }
    let call = Sentence::of(op, vec![s.array(F32, &shape)]).with("factor", factor);
    let method = s.pick(&["symmetric", "asymmetric", "aligned"]);
    let border = s.pick(&["constant", "replicate", "reflect", "reflect-even"]);
    Some(if op == "multilinear_upsample" { call.with("method", method).with("border", border) } else { call })
}

/// One or more axes, in ascending order.
fn sorted(s: &mut Draw, rank: usize) -> Vec<i64> {
    let mut axes: Vec<i64> = s.axes(rank).iter().map(|axis| axis.rem_euclid(rank as i64)).collect();
    axes.sort_unstable();
    axes
}

fn reduction(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let of = match op {
        "any_reduce" | "all_reduce" => BOOL,
        "sum_reduce" | "max_reduce" | "min_reduce" | "argmax_reduce" | "argmin_reduce" => s.pick(&[F32, F32, F32, I64]),
        _ => F32,
    };
    s.edge &= of != I64;
    let axes = sorted(s, shape.len());
    let normalize = s.flag() && of == F32;
    let call = Sentence::of(op, vec![s.array(of, &shape)]).with("axes", axes);
    Some(if op == "sum_reduce" { call.with("normalize", normalize) } else { call })
}

fn along_axes(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let axes = sorted(s, shape.len());
    let call = Sentence::of(op, vec![s.array(F32, &shape)]).with("axes", axes);
    Some(if op == "moments" { call.results(2) } else { call.with("bias", 0.1).with("epsilon", 0.2) })
}

fn local(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 5);
    let mut size: Vec<i64> = shape.iter().map(|_| s.int(1, 3)).collect();
    if shape.len() > 2 && s.flag() {
        size = vec![1; shape.len()];
        size[1] = s.int(1, 5);
    }
    let call = Sentence::of(op, vec![s.array(F32, &shape)]).with("size", size);
    Some(match op {
        "local_response_normalization" => call.with("alpha", 0.5).with("beta", 0.75).with("bias", 1.5),
        "local_mean_normalization" => call,
        _ => call.with("bias", 0.5).with("epsilon", 0.1),
    })
}

fn batch_normalization(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(2, 4, 4);
    let each = &s.pick(&[vec![1, shape[1]], vec![1], vec![shape[0]]]);
    let x =
        vec![s.array(F32, &shape), s.array(F32, each), s.positive(F32, each), s.array(F32, each), s.array(F32, each)];
    Some(Sentence::of(op, x).with("epsilon", 0.01))
}

fn reshape(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let start = s.size(0, shape.len());
    let count = s.size(0, shape.len() - start);
    let middle = signed(&shape[start..start + count]);
    let to = match s.int(0, 4) {
        0 => middle,
        1 => vec![-1],
        2 => middle.into_iter().rev().collect(),
        3 => vec![0; count],
        _ => [vec![1], middle].concat(),
    };
    let call = Sentence::of(op, vec![s.array(F32, &shape)]).with("shape", to);
    Some(call.with("axis_start", start).with("axis_count", count))
}

fn squeeze(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let mut shape = s.some(1, 4, 4);
    let axes = sorted(s, shape.len());
    if op == "squeeze" {
        axes.iter().for_each(|axis| shape[*axis as usize] = 1);
    }
    Some(Sentence::of(op, vec![s.array(F32, &shape)]).with("axes", axes))
}

fn transpose(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let count = s.size(0, shape.len());
    let axes: Vec<i64> = s.permutation(count).into_iter().map(|axis| axis as i64).collect();
    Some(Sentence::of(op, vec![s.array(F32, &shape)]).with("axes", axes))
}

fn joined(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let of = s.pick(&[F32, F32, I64, BOOL]);
    let axis = s.size(0, shape.len() - usize::from(op == "concat"));
    let part = |s: &mut Draw| {
        let mut own = shape.clone();
        if op == "concat" {
            own[axis] = s.size(1, 3);
        }
        s.array(of, &own)
    };
    let parts = (0..s.size(1, 3)).map(|_| part(s)).collect();
    Some(Sentence::of_list(op, parts).with("axis", axis))
}

fn parted(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let mut shape = s.some(1, 4, 4);
    let axis = s.size(0, shape.len() - 1);
    if op == "unstack" {
        return Some(Sentence::of(op, vec![s.array(F32, &shape)]).with("axis", axis).list(shape[axis]));
    }
    let ratios: Vec<i64> = (0..s.size(1, 3)).map(|_| s.int(1, 3)).collect();
    shape[axis] = (ratios.iter().sum::<i64>() * s.int(1, 2)) as usize;
    let count = ratios.len();
    Some(Sentence::of(op, vec![s.array(F32, &shape)]).with("axis", axis).with("ratios", ratios).list(count))
}

fn slice(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 6);
    let axes = sorted(s, shape.len());
    let (mut begin, mut end, mut stride) = (Vec::new(), Vec::new(), Vec::new());
    for axis in &axes {
        let extent = shape[*axis as usize] as i64;
        let step = s.pick(&[1, 1, 2, 3, -1, -2i64]);
        let (first, last) = (s.int(0, extent - 1), s.int(0, extent - 1));
        let (first, last) =
            if step > 0 { (first.min(last), first.max(last) + 1) } else { (first.max(last), first.min(last) - 1) };
        // An end that is the start of the axis, backward, is left of all items; one that is 0 is the end of the axis.
        begin.push(if s.flag() && first > 0 { first - extent } else { first });
        end.push(match last {
            -1 => -1 - extent,
            last if step > 0 && last == extent => s.pick(&[extent, 0, extent + 7]),
            last => last,
        });
        stride.push(step);
    }
    let call = Sentence::of(op, vec![s.array(F32, &shape)]).with("axes", axes).with("begin", begin).with("end", end);
    Some(if stride.iter().all(|step| *step == 1) && s.flag() { call } else { call.with("stride", stride) })
}

fn pad(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let border = s.pick(&["constant", "replicate", "reflect", "reflect-even"]);
    let most = |extent: usize| match border {
        "reflect" => extent as i64 - 1,
        "reflect-even" => extent as i64,
        _ => 3,
    };
    let padding: Vec<(i64, i64)> = shape.iter().map(|e| (s.int(0, most(*e)), s.int(0, most(*e)))).collect();
    Some(
        Sentence::of(op, vec![s.array(F32, &shape)]).with("padding", padding).with("border", border).with("value", 1.5),
    )
}

fn tile(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let repeats: Vec<i64> = shape.iter().map(|_| s.int(1, 3)).collect();
    Some(Sentence::of(op, vec![s.array(F32, &shape)]).with("repeats", repeats))
}

fn gather(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    let axis = s.size(0, shape.len() - 1);
    let places = s.some(0, 2, 4);
    let x = vec![s.array(F32, &shape), s.indices(I64, &places, shape[axis], false)];
    Some(Sentence::of(op, x).with("axis", axis))
}

fn matmul(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let batch = s.some(0, 2, 4);
    let (m, k, n, turn_a, turn_b) = (s.size(1, 5), s.size(1, 5), s.size(1, 5), s.flag(), s.flag());
    let own = |s: &mut Draw| -> Vec<usize> { batch.iter().map(|e| if s.chance(30) { 1 } else { *e }).collect() };
    let a = [own(s), if turn_a { vec![k, m] } else { vec![m, k] }].concat();
    let b = [own(s), if turn_b { vec![n, k] } else { vec![k, n] }].concat();
    let call = Sentence::of(op, vec![s.array(F32, &a), s.array(F32, &b)]);
    Some(call.with("transposeA", turn_a).with("transposeB", turn_b))
}

fn linear(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let (m, k, n) = (s.size(1, 5), s.size(1, 5), s.size(1, 5));
    Some(Sentence::of(op, vec![s.array(F32, &[m, k]), s.array(F32, &[n, k]), s.array(F32, &[1, n])]))
}

/// Regions within images of one or two axes.
fn regions(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    s.edge = false;
    let space: Vec<usize> = (0..s.size(1, 2)).map(|_| s.size(3, 6)).collect();
    let (count, size) = (s.size(1, 3), space.iter().map(|_| s.int(1, 3)).collect::<Vec<_>>());
    let mut rois = Vec::new();
    for _ in 0..count {
        let low: Vec<f64> = space.iter().map(|extent| s.int(0, 4 * (*extent as i64 - 2)) as f64 / 4.0).collect();
        let high: Vec<f64> = space
            .iter()
            .zip(&low)
            .map(|(extent, low)| s.int((4.0 * low) as i64 + 4, 4 * *extent as i64) as f64 / 4.0)
            .collect();
        rois.extend(low);
        rois.extend(high);
    }
    let image = [vec![2, s.size(1, 2)], space.clone()].concat();
    let x = s.array(F32, &image);
    let batch = s.indices(I64, &[count, 1], 2, false);
    let call = Sentence::of(op, vec![x, floats(F32, &[count, 2 * space.len()], &rois), batch])
        .with("output_size", size.clone());
    let method = s.pick(&["symmetric", "asymmetric", "aligned"]);
    let rate: Vec<i64> = size.iter().map(|_| s.int(1, 2)).collect();
    Some(match op {
        "roi_resample" => call.with("method", method),
        "avg_roi_align" | "max_roi_align" => call.with("sampling_rate", rate).with("resize_method", method),
        _ => call,
    })
}

fn quantize(s: &mut Draw, op: &'static str) -> Option<Sentence> {
    let shape = s.some(1, 4, 4);
    s.edge = false;
    let x = if op == "logarithmic_quantize" { s.positive(F32, &shape) } else { s.within(F32, &shape, 3.0) };
    let (signed, symmetric) = (s.flag(), s.flag());
    let spoken = |text: &str| Sentence::spoken(op, text, vec![x.clone()]);
    Some(match op {
        "zero_point_linear_quantize" => spoken("zero_point_linear_quantize(x0, 3, 0.02")
            .with("bits", 8usize)
            .with("signed", signed)
            .with("symmetric", false),
        "logarithmic_quantize" => spoken("logarithmic_quantize(x0, 4.0").with("bits", 4usize),
        "linear_quantize" => spoken("linear_quantize(x0, -2.0, 2.0").with("bits", 8usize),
        _ => spoken("min_max_linear_quantize(x0, -2.0, 2.0")
            .with("bits", 8usize)
            .with("signed", signed)
            .with("symmetric", symmetric),
    })
}
