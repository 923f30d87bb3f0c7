//! Calls of operators that arrange and select items, or make them.

use super::call::Call;
use super::draw::*;
use super::makers::Maker;

pub const MAKERS: &[Maker] = &[
    ("Concat", concat),
    ("Split", split),
    ("Slice", slice),
    ("Gather", gather),
    ("GatherElements", gather_elements),
    ("GatherND", gather_nd),
    ("Scatter ScatterElements", scatter_elements),
    ("ScatterND", scatter_nd),
    ("TensorScatter", tensor_scatter),
    ("Pad", pad),
    ("Tile", tile),
    ("Expand", expand),
    ("Reshape", reshape),
    ("Transpose", transpose),
    ("Squeeze Unsqueeze", squeeze),
    ("Flatten", flatten),
    ("Shape Size", extents),
    ("DepthToSpace SpaceToDepth", blocks),
    ("Trilu", triangle),
    ("EyeLike", diagonal),
    ("OneHot", one_hot),
    ("Range", range),
    ("ConstantOfShape", filled),
    ("Constant", constant),
    ("ReverseSequence", reverse),
    ("Compress", compress),
    ("NonZero", non_zero),
    ("Unique", unique),
    ("CenterCropPad", center),
];

/// The place of an axis that may be counted from the end.
fn at(axis: i64, rank: usize) -> usize {
    axis.rem_euclid(rank as i64) as usize
}

fn concat(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, mut shape) = (s.pick(ALL), s.extents(1, 4, 4));
    let axis = s.axis(shape.len());
    let mut call = Call::of(op);
    for _ in 0..s.size(1, 3) {
        let rank = shape.len();
        shape[at(axis, rank)] = s.size_or_none(20, 3);
        call = call.on(s.array(of, &shape));
    }
    Some(call.with("axis", axis))
}

fn split(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(1, 4, 6));
    let axis = s.axis(shape.len());
    let (extent, count) = (shape[at(axis, shape.len())], s.size(1, 3));
    let call = Call::of(op).on(s.array(of, &shape)).results(count);
    if s.flag() {
        let mut cuts: Vec<usize> = (1..count).map(|_| s.size(0, extent)).collect();
        cuts.extend([0, extent]);
        cuts.sort_unstable();
        let sizes: Vec<i64> = cuts.windows(2).map(|pair| (pair[1] - pair[0]) as i64).collect();
        return Some(call.knowing(list(&sizes)).with("axis", axis));
    }
    if extent < count || extent.div_ceil(count) * (count - 1) >= extent {
        return None;
    }
    let call = if at(axis, shape.len()) == 0 { call.maybe("axis", s.maybe(axis)) } else { call.with("axis", axis) };
    Some(call.with("num_outputs", count as i64))
}

fn slice(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(1, 4, 6));
    let mut axes = s.axes(shape.len());
    let kind = s.pick(&[I32, I64]);
    let (least, most) = limits(kind);
    let limit = |s: &mut Draw| {
        let near = i128::from(s.int(-8, 8));
        s.pick(&[near, near, near, most, least + 1, least])
    };
    let given = s.int(0, 9);
    if given < 2 {
        axes = (0..axes.len() as i64).collect();
    }
    let count = axes.len();
    let starts: Vec<i128> = (0..count).map(|_| limit(s)).collect();
    let ends: Vec<i128> = (0..count).map(|_| limit(s)).collect();
    let steps: Vec<i128> = (0..count).map(|_| s.pick(&[1, 1, 2, -1, -2, 3])).collect();
    let axes: Vec<i128> = axes.into_iter().map(i128::from).collect();
    let mut call = Call::of(op).on(s.array(of, &shape));
    for items in [starts, ends, axes, steps].iter().take(if given < 2 {
        2
    } else if given < 5 {
        3
    } else {
        4
    }) {
        call = call.knowing(integers(kind, &[count], items));
    }
    Some(call)
}

fn gather(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.some(1, 4, 4));
    let (axis, kind, known) = (s.axis(shape.len()), s.pick(&[I32, I64]), s.flag());
    let places = s.extents(0, 2, 3);
    let indices = s.indices(kind, &places, shape[at(axis, shape.len())], true);
    let call = Call::of(op).on(s.array(of, &shape)).knowing_if(known, indices);
    Some(if axis == 0 { call.maybe("axis", s.maybe(axis)) } else { call.with("axis", axis) })
}

fn gather_elements(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.some(1, 4, 4));
    let (axis, kind, known) = (s.axis(shape.len()), s.pick(&[I32, I64]), s.flag());
    let mut places: Vec<usize> = shape.iter().map(|extent| s.size(1, *extent)).collect();
    places[at(axis, shape.len())] = s.size_or_none(10, 5);
    let indices = s.indices(kind, &places, shape[at(axis, shape.len())], true);
    Some(Call::of(op).on(s.array(of, &shape)).knowing_if(known, indices).with("axis", axis))
}

/// Tuples of indices, each for as many axes from one on.
fn tuples(s: &mut Draw, places: &[usize], extents: &[usize]) -> Vec<i128> {
    let mut items = Vec::new();
    for _ in 0..volume(places) {
        items.extend(extents.iter().map(|extent| i128::from(s.int(-(*extent as i64), *extent as i64 - 1))));
    }
    items
}

fn gather_nd(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.some(1, 4, 4));
    let batch = s.size(0, shape.len() - 1);
    let deep = s.size(1, shape.len() - batch);
    let mut places = shape[..batch].to_vec();
    places.extend(s.extents(0, 2, 3));
    let items = tuples(s, &places, &shape[batch..batch + deep]);
    places.push(deep);
    let known = s.flag();
    let indices = integers(I64, &places, &items);
    Some(Call::of(op).on(s.array(of, &shape)).knowing_if(known, indices).with("batch_dims", batch as i64))
}

const UPDATED: &[nnef_flatten::tensor::DType] = &[F32, F32, F32, F64, F16, I32, I64];
const HOW: &[&str] = &["none", "add", "mul", "max", "min"];

fn scatter_elements(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(UPDATED), s.some(1, 3, 4));
    let (axis, known) = (s.axis(shape.len()), s.flag());
    let old = op == "Scatter";
    let how = if old { "none" } else { s.pick(HOW) };
    let along = at(axis, shape.len());
    let mut places: Vec<usize> = shape.iter().map(|extent| s.size(1, *extent)).collect();
    let indices = match how {
        // Each place at most once.
        "none" => {
            let (inner, extent) = (volume(&places[along + 1..]), shape[along]);
            let rows: Vec<Vec<usize>> = (0..volume(&places) / places[along]).map(|_| s.permutation(extent)).collect();
            let item =
                |flat: usize| rows[flat / (inner * places[along]) * inner + flat % inner][flat / inner % places[along]];
            let back = if !old && s.flag() { extent as i128 } else { 0 };
            let items: Vec<i128> = (0..volume(&places)).map(|flat| item(flat) as i128 - back).collect();
            integers(I64, &places, &items)
        }
        _ => {
            places[along] = s.size_or_none(10, 4);
            s.indices(I64, &places, shape[along], true)
        }
    };
    let call = Call::of(op).on(s.array(of, &shape)).knowing_if(known, indices).on(s.array(of, &places));
    let call = if axis == 0 { call.maybe("axis", s.maybe(axis)) } else { call.with("axis", axis) };
    if old {
        return Some(call.version(10));
    }
    Some(if how == "none" { call.maybe("reduction", s.maybe(how)) } else { call.with("reduction", how) }.version(18))
}

fn scatter_nd(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(UPDATED), s.some(1, 3, 4));
    let (deep, known, how) = (s.size(1, shape.len()), s.flag(), s.pick(HOW));
    let head = &shape[..deep];
    let mut many = s.size_or_none(10, 3);
    let order = s.permutation(volume(head));
    let flat: Vec<usize> = match how {
        "none" => order.into_iter().take(many).collect(),
        _ => (0..many).map(|_| s.size(0, volume(head) - 1)).collect(),
    };
    many = flat.len();
    let mut items = Vec::new();
    for place in flat {
        for axis in 0..deep {
            let index = place / volume(&head[axis + 1..]) % head[axis];
            items.push(index as i128 - if s.flag() { head[axis] as i128 } else { 0 });
        }
    }
    let updates = [&[many], &shape[deep..]].concat();
    let call = Call::of(op).on(s.array(of, &shape)).knowing_if(known, integers(I64, &[many, deep], &items));
    Some(call.on(s.array(of, &updates)).with("reduction", how).version(18))
}

fn tensor_scatter(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(&[F32, I64]), s.some(3, 4, 4));
    let axis = s.size(1, shape.len() - 1);
    let mut update = shape.clone();
    update[axis] = s.size(1, shape[axis]);
    let mode = s.pick(&["linear", "circular"]);
    let last = if mode == "circular" { shape[axis] - 1 } else { shape[axis] - update[axis] };
    let starts: Vec<i64> = (0..shape[0]).map(|_| s.size(0, last) as i64).collect();
    let given = mode == "circular" || s.flag();
    let call = Call::of(op).on(s.array(of, &shape)).on(s.array(of, &update)).maybe_on(given.then(|| list(&starts)));
    let axis = if s.flag() { axis as i64 - shape.len() as i64 } else { axis as i64 };
    let call = call.with("axis", axis).version(24);
    Some(if mode == "linear" { call.maybe("mode", s.maybe(mode)) } else { call.with("mode", mode) })
}

fn pad(s: &mut Draw, op: &'static str) -> Option<Call> {
    let mode = s.pick(&["constant", "reflect", "edge", "wrap"]);
    let shape = if mode == "constant" { s.extents(1, 4, 4) } else { s.some(1, 4, 4) };
    let of = s.pick(&[F32, F32, F32, F64, F16, I32, I64, U8, BOOL]);
    let x = s.array(of, &shape);
    let axes = s.axes(shape.len());
    let given = s.chance(30);
    let used: Vec<usize> = match given {
        true => axes.iter().map(|axis| at(*axis, shape.len())).collect(),
        false => (0..shape.len()).collect(),
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for axis in used {
        let extent = shape[axis] as i64;
        // What is cut off at the ends leaves something.
        let low = if s.chance(30) && extent > 3 { -1 } else { 0 };
        let high = match mode {
            "reflect" => extent - 1 + 2 * low,
            "wrap" => extent + 2 * low,
            _ => 3,
        };
        before.push(s.int(low, high.max(low)));
        after.push(s.int(low, high.max(low)));
    }
    let value = s.array(x.dtype(), &[]);
    let call = Call::of(op).on(x).knowing(list(&[before, after].concat()));
    let call = call.knowing(s.maybe(value).filter(|_| mode == "constant")).knowing(given.then(|| list(&axes)));
    Some(if mode == "constant" { call.maybe("mode", s.maybe(mode)) } else { call.with("mode", mode) })
}

fn tile(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let repeats: Vec<i64> = shape.iter().map(|_| s.size_or_none(10, 3) as i64).collect();
    Some(Call::of(op).on(s.array(of, &shape)).knowing(list(&repeats)))
}

fn expand(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(ALL);
    let whole = s.extents(0, 4, 4);
    let (from, to) = (s.broadcast(&whole), s.broadcast(&whole));
    let to: Vec<i64> = to.iter().map(|extent| *extent as i64).collect();
    Some(Call::of(op).on(s.array(of, &from)).knowing(list(&to)))
}

fn reshape(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let mut to: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
    let kind = s.int(0, 3);
    match (kind, to.len()) {
        (0, _) => to = vec![volume(&shape) as i64],
        (1, rank @ 2..) => {
            let last = to.split_off(rank - 2);
            to.push(last[0] * last[1]);
        }
        (2, _) => to.insert(0, 1),
        _ => {}
    }
    let call = Call::of(op).on(s.array(of, &shape));
    if !to.is_empty() && volume(&shape) > 0 && s.flag() {
        let free = s.size(0, to.len() - 1);
        to[free] = -1;
    } else if kind == 3 && s.flag() {
        to.iter_mut().for_each(|extent| *extent = if s.flag() { 0 } else { *extent });
    } else if to.contains(&0) {
        return Some(call.knowing(list(&to)).with("allowzero", true));
    }
    Some(call.knowing(list(&to)))
}

fn transpose(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let order: Vec<i64> = s.permutation(shape.len()).into_iter().map(|axis| axis as i64).collect();
    let order = (!order.is_empty() && s.chance(80)).then_some(order);
    Some(Call::of(op).on(s.array(of, &shape)).maybe("perm", order))
}

fn squeeze(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let x = s.array(of, &shape);
    let from_end = |s: &mut Draw, axis: usize, rank: usize| axis as i64 - if s.flag() { rank as i64 } else { 0 };
    if op == "Unsqueeze" {
        let more = s.size(1, 2);
        let rank = shape.len() + more;
        let axes: Vec<usize> = s.permutation(rank).into_iter().take(more).collect();
        let axes: Vec<i64> = axes.into_iter().map(|axis| from_end(s, axis, rank)).collect();
        return Some(Call::of(op).on(x).knowing(list(&axes)));
    }
    let ones: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] == 1).collect();
    if ones.is_empty() || s.chance(20) {
        return Some(Call::of(op).on(x));
    }
    let count = s.size(1, ones.len());
    let axes: Vec<i64> = ones.into_iter().take(count).map(|axis| from_end(s, axis, shape.len())).collect();
    Some(Call::of(op).on(x).knowing(list(&axes)))
}

fn flatten(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let rank = shape.len() as i64;
    let axis = s.int(-rank, rank);
    let call = Call::of(op).on(s.array(of, &shape));
    Some(if rank == 0 { call.maybe("axis", s.maybe(0)) } else { call.maybe("axis", s.maybe(axis)) })
}

fn extents(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 4, 4));
    let (start, end) = (s.int(-5, 5), s.int(-5, 5));
    let call = Call::of(op).on(s.array(of, &shape));
    Some(if op == "Size" { call } else { call.maybe("start", s.maybe(start)).maybe("end", s.maybe(end)) })
}

fn blocks(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, block, batch) = (s.pick(FLOATS), s.size(1, 3), s.size_or_none(10, 2));
    let (c, h, w) = (s.size(1, 3), s.size(1, 3), s.size(1, 3));
    if op == "SpaceToDepth" {
        return Some(Call::of(op).on(s.array(of, &[batch, c, h * block, w * block])).with("blocksize", block as i64));
    }
    let (x, mode) = (s.array(of, &[batch, c * block * block, h, w]), s.pick(&["DCR", "CRD"]));
    Some(Call::of(op).on(x).with("blocksize", block as i64).maybe("mode", s.maybe(mode)))
}

fn triangle(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, k, upper) = (s.pick(ALL), s.extents(2, 4, 4), s.int(-5, 5), s.flag());
    let call = Call::of(op).on(s.array(of, &shape)).knowing(s.maybe(scalar(I64, k as f64)));
    Some(call.maybe("upper", s.maybe(upper)))
}

fn diagonal(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, k, to) =
        (s.pick(&[F32, F64, F16, I32, I64]), s.extents(2, 2, 4), s.int(-4, 4), s.pick(&[1, 7, 11]));
    Some(Call::of(op).on(s.array(of, &shape)).maybe("k", s.maybe(k)).maybe("dtype", s.maybe(to)))
}

fn one_hot(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (depth, shape, of) = (s.size(1, 4), s.extents(0, 3, 3), s.pick(&[F32, I64]));
    // Those beyond the depth are nowhere hot.
    let indices = s.indices(I64, &shape, depth + 1, true);
    let (axis, known) = (s.axis(shape.len() + 1), s.flag());
    let count = if s.flag() { scalar(I64, depth as f64) } else { list(&[depth as i64]) };
    let values = s.array(of, &[2]);
    Some(Call::of(op).on(indices).knowing(count).knowing_if(known, values).maybe("axis", s.maybe(axis)))
}

fn range(s: &mut Draw, op: &'static str) -> Option<Call> {
    let of = s.pick(&[F32, F64, I16, I32, I64]);
    let step = if is_float(of) { s.pick(&[1.0, 2.0, -1.0, -3.0, 0.5]) } else { s.pick(&[1.0, 2.0, -1.0, -3.0]) };
    let (start, limit) = (s.int(-4, 4) as f64, s.int(-4, 6) as f64);
    Some([start, limit, step].into_iter().fold(Call::of(op), |call, item| call.knowing(scalar(of, item))))
}

fn filled(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.extents(0, 3, 4));
    let shape: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
    let value = s.array(of, &[1]);
    Some(Call::of(op).knowing(list(&shape)).maybe("value", s.maybe(value)))
}

fn constant(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(ALL), s.some(0, 3, 3));
    let (integer, float) = (s.int(-4, 4), s.number(2.0) as f32);
    let count = s.size(1, 4);
    Some(match s.int(0, 4) {
        0 => Call::of(op).with("value_int", integer),
        1 => Call::of(op).with("value_float", float),
        2 => Call::of(op).with("value_ints", vec![integer; count]),
        3 => Call::of(op).with("value_floats", vec![float; count]),
        _ => Call::of(op).with("value", s.array(of, &shape)),
    })
}

fn reverse(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, batch) = (s.pick(FLOATS), s.some(2, 4, 4), s.size(0, 1));
    let lengths: Vec<i64> = (0..shape[batch]).map(|_| s.size(1, shape[1 - batch]) as i64).collect();
    let call = Call::of(op).on(s.array(of, &shape)).on(list(&lengths)).with("batch_axis", batch as i64);
    Some(call.with("time_axis", 1 - batch as i64))
}

fn compress(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, known) = (s.pick(ALL), s.extents(1, 3, 4), s.flag());
    let axis = s.axis(shape.len());
    let axis = s.maybe(axis);
    let extent = axis.map_or(volume(&shape), |axis| shape[at(axis, shape.len())]);
    let count = s.size(0, extent);
    let chosen = s.array(BOOL, &[count]);
    Some(Call::of(op).on(s.array(of, &shape)).knowing_if(known, chosen).maybe("axis", axis))
}

fn non_zero(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(&[F32, I32, I64, BOOL, U8]), s.extents(0, 3, 4));
    Some(Call::of(op).on(s.array(of, &shape)))
}

fn unique(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape, sorted) = (s.pick(&[F32, F64, I64, I8]), s.some(1, 3, 4), s.flag());
    let (axis, results) = (s.axis(shape.len()), s.size(1, 4));
    let call = Call::of(op).on(s.array(of, &shape)).maybe("axis", s.maybe(axis)).maybe("sorted", s.maybe(sorted));
    Some(call.results(results))
}

fn center(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (of, shape) = (s.pick(&[F32, I64]), s.extents(1, 3, 4));
    let axes = s.axes(shape.len());
    let given = s.flag();
    let count = if given { axes.len() } else { shape.len() };
    let to: Vec<i64> = (0..count).map(|_| s.int(1, 6)).collect();
    Some(Call::of(op).on(s.array(of, &shape)).knowing(list(&to)).maybe("axes", given.then_some(axes)))
}
