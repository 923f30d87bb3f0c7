//! Windows over any axes: sums, means, maxima, and reading and writing at indices within windows.
//!
//! Operators of ONNX have windows over the axes behind the second one, at most three of them. Where NNEF
//! has others, the axes with windows are moved behind two axes that hold everything else.

use super::call::{Call, Made, Refused};
use super::convolution::{attributes, cuts, transposed};
use super::emit::{Attributes, Dims, Element, Value};
use super::padding::{Axis, Border, automatic_windows, least, pad, windows};
use crate::onnx::model::AttributeValue;

/// The most axes of windows that operators have.
const MOST_AXES: usize = 3;

/// An operand whose windows are over the axes behind the second one.
pub(super) struct Folded {
    pub(super) value: Value,
    /// Those axes.
    pub(super) axes: Vec<Axis>,
    /// The order in which the axes were brought, and the extents in that order; none where nothing was
    /// moved.
    moved: Option<(Vec<usize>, Dims)>,
}

/// Moves the axes with windows behind two others, if they are not there.
fn fold(call: &mut Call, value: &Value, axes: &[Axis]) -> Made<Folded> {
    let rank = call.rank(value)?;
    let in_place = rank >= 3 && rank - 2 <= MOST_AXES && axes[..2].iter().all(|axis| axis.is_trivial());
    if in_place {
        return Ok(Folded { value: value.clone(), axes: axes[2..].to_vec(), moved: None });
    }
    let mut inner: Vec<usize> = (0..rank).filter(|&axis| !axes[axis].is_trivial()).collect();
    if inner.len() > MOST_AXES {
        let message = format!("`{}` has windows over {} axes, ONNX over {MOST_AXES}", call.name(), inner.len());
        return Err(Refused::meaning(message));
    }
    if inner.is_empty() {
        inner.extend(rank.checked_sub(1));
    }
    let order: Vec<usize> = (0..rank).filter(|axis| !inner.contains(axis)).chain(inner.iter().copied()).collect();
    let made = call.out.transpose(value, &order);
    let dims = made.dims.clone().unwrap_or_default();
    let extents: Option<Vec<i64>> = dims[rank - inner.len()..].iter().copied().collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let outer: Option<i64> = dims[..rank - inner.len()].iter().copied().product();
    let shape: Vec<i64> = [outer.unwrap_or(-1), 1].into_iter().chain(extents).collect();
    let value = call.out.reshape(&made, &shape);
    let mut axes: Vec<Axis> = inner.iter().map(|&axis| axes[axis]).collect();
    if axes.is_empty() {
        // An operand without axes.
        let one = Axis { size: 1, stride: 1, dilation: 1, pads: Some((0, 0)), extent: Some(1) };
        let value = call.out.reshape(&value, &[1, 1, 1]);
        axes.push(one);
        return Ok(Folded { value, axes, moved: Some((order, dims)) });
    }
    Ok(Folded { value, axes, moved: Some((order, dims)) })
}

/// Moves the axes back; the last ones have these extents.
fn unfold(call: &mut Call, made: Value, moved: &Option<(Vec<usize>, Dims)>, inner: &[i64]) -> Made<Value> {
    let Some((order, dims)) = moved else { return Ok(made) };
    let outer = dims.len().saturating_sub(inner.len());
    let mut shape: Vec<i64> = dims[..outer].iter().map(|extent| extent.unwrap_or(-1)).collect();
    if shape.iter().filter(|extent| **extent < 0).count() > 1 {
        return Err(call.open_extents());
    }
    shape.extend(&inner[inner.len() - (dims.len() - outer)..]);
    let made = call.out.reshape(&made, &shape);
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    Ok(call.out.transpose(&made, &back))
}

/// The operand of a pooling operation with its windows.
fn read(call: &mut Call, name: &str, up: bool) -> Made<(Value, Vec<Axis>)> {
    let value = call.scalars(name)?;
    let size = call.ints("size")?;
    let dims = value.dims.clone().unwrap_or_else(|| vec![None; size.len()]);
    let value = Value { dims: Some(dims.clone()), ..value };
    let axes = windows(call, &size, &dims, up)?;
    Ok((value, axes))
}

/// How many windows there are along each axis.
fn counts(call: &Call, axes: &[Axis]) -> Made<Vec<i64>> {
    axes.iter().map(|axis| axis.count().ok_or_else(|| call.open_extents())).collect()
}

/// Pads an operand whose padding the operators do not have: with a border of items or numbers, or with
/// more than a window.
fn padded(call: &mut Call, of: &mut Folded, border: Border, always: bool) -> Made<bool> {
    let known: Option<Vec<(i64, i64)>> = of.axes.iter().map(|axis| axis.pads).collect();
    let within =
        |axis: &Axis| axis.pads.is_none_or(|(a, b)| (0..axis.size).contains(&a) && (0..axis.size).contains(&b));
    if !always && of.axes.iter().all(within) {
        return Ok(false);
    }
    let known = known.ok_or_else(|| call.open_extents())?;
    let pads: Vec<(i64, i64)> = [(0, 0); 2].into_iter().chain(known).collect();
    of.value = pad(call, &of.value, &pads, border)?;
    for axis in &mut of.axes {
        let (before, after) = axis.pads.unwrap_or_default();
        (axis.extent, axis.pads) = (axis.extent.map(|extent| extent + before + after), Some((0, 0)));
    }
    Ok(true)
}

/// The extents of the result behind the second axis, for moving axes back.
fn inner(call: &Call, of: &Folded) -> Made<Vec<i64>> {
    if of.moved.is_none() { Ok(Vec::new()) } else { counts(call, &of.axes) }
}

/// Axes with windows in groups of as many as operators have: sums, means and maxima are computed one
/// group after the other.
fn groups(axes: &[Axis]) -> Vec<Vec<Axis>> {
    let trivial = |axis: &Axis| Axis { size: 1, stride: 1, dilation: 1, pads: Some((0, 0)), ..*axis };
    let with: Vec<usize> = (0..axes.len()).filter(|&axis| !axes[axis].is_trivial()).collect();
    if with.len() <= MOST_AXES {
        return vec![axes.to_vec()];
    }
    let chunk = |chunk: &[usize]| {
        axes.iter().enumerate().map(|(i, axis)| if chunk.contains(&i) { *axis } else { trivial(axis) }).collect()
    };
    with.chunks(MOST_AXES).map(chunk).collect()
}

/// Computes windows group by group with a function.
fn by_groups(
    call: &mut Call,
    value: Value,
    axes: &[Axis],
    compute: impl Fn(&mut Call, &mut Folded) -> Made<Value>,
) -> Made<Value> {
    let mut made = value;
    for mut group in groups(axes) {
        for (axis, extent) in group.iter_mut().zip(made.dims.iter().flatten()) {
            axis.extent = *extent;
        }
        let extents: Dims =
            group.iter().map(|axis| if axis.is_trivial() { axis.extent } else { axis.count() }).collect();
        let mut folded = fold(call, &made, &group)?;
        let inner = inner(call, &folded)?;
        let result = compute(call, &mut folded)?;
        made = unfold(call, result, &folded.moved, &inner)?.with(extents);
    }
    Ok(made)
}

fn mean(call: &mut Call, of: &Folded, whole: bool) -> Value {
    let mut attributes: Attributes = attributes(&of.axes, true);
    if whole && of.axes.iter().any(|axis| axis.pads != Some((0, 0))) {
        attributes.push(("count_include_pad", AttributeValue::Int(1)));
    }
    call.node("AveragePool", &[&of.value], attributes)
}

/// Means over windows. Where the border is ignored, only items of the operand count.
fn means(call: &mut Call, of: &mut Folded, border: Border) -> Made<Value> {
    let has_pads = of.axes.iter().any(|axis| axis.pads != Some((0, 0)));
    let ignored = border == Border::Ignore && has_pads;
    let ones = of.value.known().filter(|_| ignored);
    let axes = of.axes.clone();
    if !padded(call, of, border, border.repeats())? {
        return Ok(mean(call, of, border != Border::Ignore));
    }
    let made = mean(call, of, true);
    if !ignored {
        return Ok(made);
    }
    // The part of each window that lies within the operand.
    let shape = ones.ok_or_else(|| call.open_extents())?;
    let one = call.out.constant("one", Element::Float, &vec![1; shape.len()], &[1.0]);
    let shape: Vec<i64> = [1, 1].into_iter().chain(shape[2..].iter().copied()).collect();
    let shape = call.out.list("shape", &shape);
    let value = call.node("Expand", &[&one, &shape], Vec::new());
    let extents = [Some(1), Some(1)].into_iter().chain(axes.iter().map(|axis| axis.extent));
    let mut within = Folded { value: value.with(extents), axes, moved: None };
    padded(call, &mut within, Border::Constant(0.0), true)?;
    let part = mean(call, &within, true);
    let least = call.out.number(Element::Float, 1.0 / within.axes.iter().map(|axis| axis.size as f64).product::<f64>());
    let part = call.node("Max", &[&part, &least], Vec::new());
    Ok(call.node("Div", &[&made, &part], Vec::new()))
}

fn boxed(call: &mut Call, normalize: bool) -> Made<Vec<Value>> {
    let (value, axes) = read(call, "input", false)?;
    let border = Border::read(call, 0.0)?;
    // A sum does not see whether items outside are ignored or 0.
    let border = if border == Border::Ignore && !normalize { Border::Constant(0.0) } else { border };
    let made = by_groups(call, value, &axes, |call, folded| means(call, folded, border))?;
    let volume: f64 = axes.iter().map(|axis| axis.size as f64).product();
    if normalize || volume == 1.0 {
        return Ok(vec![made]);
    }
    let volume = call.out.number(Element::Float, volume);
    Ok(vec![call.node("Mul", &[&made, &volume], Vec::new())])
}

/// `box`
pub(super) fn box_filter(call: &mut Call) -> Made<Vec<Value>> {
    let normalize = call.flag("normalize")?;
    boxed(call, normalize)
}

/// `avg_pool`
pub(super) fn avg_pool(call: &mut Call) -> Made<Vec<Value>> {
    boxed(call, true)
}

/// `area_downsample`
pub(super) fn area_downsample(call: &mut Call) -> Made<Vec<Value>> {
    let value = call.scalars("input")?;
    let factor = call.ints("factor")?;
    let dims = value.dims.clone().unwrap_or_else(|| vec![None; factor.len() + 2]);
    let axis =
        |(size, extent): (i64, Option<i64>)| Axis { size, stride: size, dilation: 1, pads: Some((0, 0)), extent };
    let sizes = [1, 1].into_iter().chain(factor);
    let axes: Vec<Axis> = sizes.zip(dims.iter().copied()).map(axis).collect();
    let value = value.with(dims);
    Ok(vec![by_groups(call, value, &axes, |call, folded| means(call, folded, Border::Constant(0.0)))?])
}

/// Means over windows of a size, with as much padding by zeros as they need.
pub(super) fn local_means(call: &mut Call, value: Value, size: &[i64]) -> Made<Value> {
    let dims = value.dims.clone().unwrap_or_else(|| vec![None; size.len()]);
    let axes = automatic_windows(size, &dims);
    by_groups(call, value.with(dims), &axes, |call, folded| means(call, folded, Border::Constant(0.0)))
}

/// Whether the border has to be added before maxima are computed: operators ignore it.
fn adds_border(axes: &[Axis], border: Border) -> bool {
    border != Border::Ignore && axes.iter().any(|axis| axis.pads != Some((0, 0)))
}

/// The number that a border of numbers adds where maxima are computed.
fn added(border: Border, element: Element) -> Border {
    if border == Border::Ignore { Border::Constant(least(element)) } else { border }
}

/// `max_pool`
pub(super) fn max_pool(call: &mut Call) -> Made<Vec<Value>> {
    let (value, axes) = read(call, "input", false)?;
    let border = Border::read(call, 0.0)?;
    let made = by_groups(call, value, &axes, |call, folded| {
        let always = adds_border(&folded.axes, border);
        padded(call, folded, added(border, Element::Float), always)?;
        let attributes = attributes(&folded.axes, true);
        Ok(call.node("MaxPool", &[&folded.value], attributes))
    })?;
    Ok(vec![made])
}

/// The strides of places in row-major order.
fn strides(extents: &[i64]) -> Vec<i64> {
    let mut found = vec![1; extents.len()];
    for axis in (0..extents.len().saturating_sub(1)).rev() {
        found[axis] = found[axis + 1] * extents[axis + 1];
    }
    found
}

/// Numbers for each axis, as a constant tensor that is repeated along the others.
fn along(call: &mut Call, axis: usize, axes: usize, items: impl Iterator<Item = i64>) -> Value {
    let items: Vec<f64> = items.map(|item| item as f64).collect();
    let mut dims = vec![1; axes + 2];
    dims[axis + 2] = items.len() as i64;
    call.out.constant("places", Element::Int, &dims, &items)
}

fn number(call: &mut Call, op: &str, value: &Value, with: i64) -> Value {
    if with == 1 && matches!(op, "Mul" | "Div") {
        return value.clone();
    }
    let with = call.out.number(Element::Int, with as f64);
    call.node(op, &[value, &with], Vec::new())
}

fn sum(call: &mut Call, total: Option<Value>, more: Value) -> Value {
    match total {
        None => more,
        Some(total) => call.node("Add", &[&total, &more], Vec::new()),
    }
}

/// Maxima and where they are: the place within the window, in row-major order.
fn greatest(call: &mut Call) -> Made<(Value, Value)> {
    let (value, axes) = read(call, "input", false)?;
    let border = Border::read(call, 0.0)?;
    let mut folded = fold(call, &value, &axes)?;
    let always = adds_border(&folded.axes, border);
    padded(call, &mut folded, added(border, Element::Float), always)?;
    let counts = counts(call, &folded.axes)?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let attributes = attributes(&folded.axes, true);
    let mut made = call.out.nodes("MaxPool", &[&folded.value], attributes, 2);
    let (flat, best) = (Value { element: Element::Int, ..made.remove(1) }, made.remove(0));
    // The operator gives places in the whole operand.
    let plane: i64 = extents.iter().product();
    let modulus = call.out.number(Element::Int, plane as f64);
    let place = call.node("Mod", &[&flat, &modulus], Vec::new());
    let sizes: Vec<i64> = folded.axes.iter().map(|axis| axis.size).collect();
    let (steps, windows) = (strides(&extents), strides(&sizes));
    let mut total = None;
    for (i, axis) in folded.axes.iter().enumerate() {
        let mut at = number(call, "Div", &place, steps[i]);
        if i > 0 {
            let modulus = call.out.number(Element::Int, extents[i] as f64);
            at = call.node("Mod", &[&at, &modulus], Vec::new());
        }
        let before = axis.pads.unwrap_or_default().0;
        let (stride, count) = (axis.stride, folded.axes.len());
        let first = along(call, i, count, (0..counts[i]).map(|at| at * stride - before));
        let within = call.node("Sub", &[&at, &first], Vec::new());
        let within = number(call, "Div", &within, axis.dilation);
        let within = number(call, "Mul", &within, windows[i]);
        total = Some(sum(call, total, within));
    }
    let index = total.ok_or_else(|| Refused::meaning("a window without axes"))?;
    Ok((unfold(call, best, &folded.moved, &counts)?, unfold(call, index, &folded.moved, &counts)?))
}

/// `max_pool_with_index`
pub(super) fn max_pool_with_index(call: &mut Call) -> Made<Vec<Value>> {
    let (best, index) = greatest(call)?;
    Ok(vec![best, index])
}

/// `argmax_pool`
pub(super) fn argmax_pool(call: &mut Call) -> Made<Vec<Value>> {
    Ok(vec![greatest(call)?.1])
}

/// The places in an operand, or in a result, that indices within windows mean.
fn places(call: &mut Call, index: &Value, axes: &[Axis], extents: &[i64], counts: &[i64]) -> Made<Value> {
    let sizes: Vec<i64> = axes.iter().map(|axis| axis.size).collect();
    let (steps, windows) = (strides(extents), strides(&sizes));
    let mut total = None;
    for (i, axis) in axes.iter().enumerate() {
        let mut within = number(call, "Div", index, windows[i]);
        if i > 0 {
            let modulus = call.out.number(Element::Int, axis.size as f64);
            within = call.node("Mod", &[&within, &modulus], Vec::new());
        }
        let within = number(call, "Mul", &within, axis.dilation * steps[i]);
        let first = along(call, i, axes.len(), (0..counts[i]).map(|at| at * axis.stride * steps[i]));
        let within = call.node("Add", &[&within, &first], Vec::new());
        total = Some(sum(call, total, within));
    }
    total.ok_or_else(|| Refused::meaning("a window without axes"))
}

/// The index of `sample` and `desample`, folded like the operand.
fn folded_index(call: &mut Call, folded: &Folded, counts: &[i64]) -> Made<Value> {
    let index = call.value("index")?;
    let Some((order, _)) = &folded.moved else { return Ok(index) };
    let moved = if order.is_empty() { index } else { call.out.transpose(&index, order) };
    let shape: Vec<i64> = [-1, 1].into_iter().chain(counts.iter().copied()).collect();
    Ok(call.out.reshape(&moved, &shape))
}

/// The first two extents of a folded operand, for a shape.
fn outer(folded: &Folded) -> [i64; 2] {
    match (&folded.moved, &folded.value.dims) {
        (None, _) => [0, 0],
        (Some(_), Some(dims)) => [dims[0].unwrap_or(-1), 1],
        (Some(_), None) => [-1, 1],
    }
}

/// `sample`
pub(super) fn sample(call: &mut Call) -> Made<Vec<Value>> {
    let (value, axes) = read(call, "input", false)?;
    let border = Border::read(call, 0.0)?;
    let mut folded = fold(call, &value, &axes)?;
    let counts = counts(call, &folded.axes)?;
    padded(call, &mut folded, border, true)?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let index = folded_index(call, &folded, &counts)?;
    let places = places(call, &index, &folded.axes.clone(), &extents, &counts)?;
    let outer = outer(&folded);
    let plane = call.out.reshape(&folded.value, &[outer[0], outer[1], extents.iter().product()]);
    let places = call.out.reshape(&places, &[outer[0], outer[1], counts.iter().product()]);
    let made = call.node("GatherElements", &[&plane, &places], vec![("axis", AttributeValue::Int(2))]);
    let shape: Vec<i64> = outer.into_iter().chain(counts.iter().copied()).collect();
    let made = call.out.reshape(&made, &shape);
    Ok(vec![unfold(call, made, &folded.moved, &counts)?])
}

/// The cuts of each axis of a transposed window, of axes in the order of the operand.
fn all_cuts(call: &Call, axes: &[Axis]) -> Made<Vec<(i64, i64)>> {
    let reference = call.ints("output_shape")?;
    let of = |(i, axis): (usize, &Axis)| cuts(call, *axis, reference.get(i).copied());
    axes.iter().enumerate().map(of).collect()
}

/// The windows with the cuts as padding: what is cut off from the whole result.
fn with_cuts(axes: &[Axis], cuts: &[(i64, i64)]) -> Vec<Axis> {
    axes.iter().zip(cuts).map(|(axis, cuts)| Axis { pads: Some(*cuts), ..*axis }).collect()
}

/// The extents of the result of a transposed window.
fn enlarged(call: &Call, axes: &[Axis]) -> Made<Vec<i64>> {
    let of = |axis: &Axis| {
        let (before, after) = axis.pads?;
        Some((axis.extent? - 1) * axis.stride + axis.covered() - before - after)
    };
    axes.iter().map(|axis| of(axis).ok_or_else(|| call.open_extents())).collect()
}

/// `desample`: items that are written to one place are added up.
pub(super) fn desample(call: &mut Call) -> Made<Vec<Value>> {
    let (value, axes) = read(call, "input", true)?;
    if Border::read(call, 0.0)?.repeats() {
        return Err(Refused::meaning("`desample` with a border that repeats items"));
    }
    let cuts = all_cuts(call, &axes)?;
    let folded = fold(call, &value, &with_cuts(&axes, &cuts))?;
    let extents: Option<Vec<i64>> = folded.axes.iter().map(|axis| axis.extent).collect();
    let extents = extents.ok_or_else(|| call.open_extents())?;
    let index = folded_index(call, &folded, &extents)?;
    let whole: Vec<i64> =
        folded.axes.iter().zip(&extents).map(|(axis, extent)| (extent - 1) * axis.stride + axis.covered()).collect();
    let places = places(call, &index, &folded.axes.clone(), &whole, &extents)?;
    let count: i64 = extents.iter().product();
    let dims = folded.value.dims.clone().unwrap_or_default();
    let outer = match &folded.moved {
        None => [dims[0], dims[1]],
        Some(_) => [dims[0], Some(1)],
    };
    let (Some(first), Some(second)) = (outer[0], outer[1]) else { return Err(call.open_extents()) };
    let items = call.out.reshape(&folded.value, &[first, second, count]);
    let places = call.out.reshape(&places, &[first, second, count]);
    let zero = call.out.constant("zero", Element::Float, &[1, 1, 1], &[0.0]);
    let shape = call.out.list("shape", &[first, second, whole.iter().product()]);
    let zeros = call.node("Expand", &[&zero, &shape], Vec::new());
    let reduction = ("reduction", super::emit::text("add"));
    let attributes = vec![("axis", AttributeValue::Int(2)), reduction];
    let made = call.node("ScatterElements", &[&zeros, &places, &items], attributes);
    let shape: Vec<i64> = [first, second].into_iter().chain(whole.iter().copied()).collect();
    let made = call.out.reshape(&made, &shape);
    let pads: Vec<(i64, i64)> = folded.axes.iter().map(|axis| axis.pads.unwrap_or_default()).collect();
    let pads: Vec<(i64, i64)> =
        [(0, 0); 2].into_iter().chain(pads.into_iter().map(|(before, after)| (-before, -after))).collect();
    let made = pad(call, &made, &pads, Border::Constant(0.0))?;
    let inner = enlarged(call, &folded.axes)?;
    Ok(vec![unfold(call, made, &folded.moved, &inner)?])
}

/// `debox`: a transposed convolution of each plane by itself, with a filter of ones.
pub(super) fn debox(call: &mut Call) -> Made<Vec<Value>> {
    let (value, axes) = read(call, "input", true)?;
    let (border, normalize) = (Border::read(call, 0.0)?, call.flag("normalize")?);
    let cuts = all_cuts(call, &axes)?;
    let axes = with_cuts(&axes, &cuts);
    let moved_always: Vec<Axis> = axes.clone();
    let mut made = value;
    for mut group in groups(&moved_always) {
        for (axis, extent) in group.iter_mut().zip(made.dims.iter().flatten()) {
            axis.extent = *extent;
        }
        let extents = enlarged(call, &group);
        let folded = fold_planes(call, &made, &group)?;
        let inner = enlarged(call, &folded.axes)?;
        let sizes: Vec<i64> = folded.axes.iter().map(|axis| axis.size).collect();
        let volume: i64 = sizes.iter().product();
        if volume > 1 << 20 {
            return Err(Refused::meaning(format!("`debox` has a window of {volume} items")));
        }
        let dims: Vec<i64> = [1, 1].into_iter().chain(sizes).collect();
        let item = if normalize { 1.0 / volume as f64 } else { 1.0 };
        let filter = call.out.constant("filter", Element::Float, &dims, &vec![item; volume as usize]);
        let cuts: Vec<(i64, i64)> = folded.axes.iter().map(|axis| axis.pads.unwrap_or_default()).collect();
        let result = transposed(call, (&folded.value, &filter, None), &folded.axes, (border, 1), &cuts)?;
        made = unfold(call, result, &folded.moved, &inner)?;
        if let Ok(extents) = extents {
            made = made.with(extents.into_iter().map(Some));
        }
    }
    Ok(vec![made])
}

/// The same as [`fold`], with one channel in any case.
fn fold_planes(call: &mut Call, value: &Value, axes: &[Axis]) -> Made<Folded> {
    let folded = fold(call, value, axes)?;
    let Some(dims) = folded.value.dims.clone().filter(|_| folded.moved.is_none()) else { return Ok(folded) };
    if dims[1] == Some(1) {
        return Ok(folded);
    }
    let inner: Option<Vec<i64>> = dims[2..].iter().copied().collect();
    let inner = inner.ok_or_else(|| call.open_extents())?;
    let outer: Option<i64> = dims[..2].iter().copied().product();
    let shape: Vec<i64> = [outer.unwrap_or(-1), 1].into_iter().chain(inner).collect();
    let value = call.out.reshape(&folded.value, &shape);
    Ok(Folded { value, moved: Some(((0..dims.len()).collect(), dims)), ..folded })
}
