//! Shape rules for the operations of tract registries.

use smallvec::smallvec;

use super::outcome::{Inferred, RuleResult, UNKNOWN, known, refuse};
use super::shape::{Extent, Extents, Shape};
use super::shape_call::{Call, Dims, Role};
use crate::diagnostics::Code;
use crate::graph::dims::Dim;
use crate::graph::scan::{Collected, Scan};
use crate::graph::{Operand, Value};

/// The shape of the first operand.
pub(super) fn like_first(call: &Call) -> RuleResult {
    let number = || call.extents(0).map(Shape::new);
    let of_tensor = |tensor| call.graph.shape(tensor).cloned();
    Ok(Inferred::Same(call.first_tensor().map_or_else(number, of_tensor)))
}

/// A tensor whose shape is an attribute.
pub(super) fn stated(call: &Call) -> RuleResult {
    let Some(dims) = call.dims(Role::Shape) else { return UNKNOWN };
    known(dims.iter().map(|dim| Extent::from(dim.clone())).collect())
}

pub(super) fn vector(count: Option<usize>) -> RuleResult {
    known(smallvec![Extent::from(count.and_then(|count| i64::try_from(count).ok()))])
}

/// The numbers from `start` towards `end`, with a step.
pub(super) fn range(call: &Call) -> RuleResult {
    let [start, end, step] = ["start", "end", "step"].map(|name| call.number(name));
    let span = match step {
        Dim::Int(..=-1) => start.minus(end),
        _ => end.minus(start),
    };
    let Some(step) = step.known().and_then(i64::checked_abs).filter(|step| *step > 0) else {
        return known(smallvec![real_range(call)]);
    };
    let count = Extent::from(span.over_up(Dim::Int(step)));
    known(smallvec![if count == Extent::UNKNOWN { real_range(call) } else { count }])
}

/// The number of items of a range of scalars that are not integers.
fn real_range(call: &Call) -> Extent {
    let number = |name: &str| match call.named(name)?.value()? {
        Value::Scalar(value) => Some(*value),
        Value::Int(value) => Some(*value as f64),
        _ => None,
    };
    let count = || Some(((number("end")? - number("start")?) / number("step")?).ceil());
    Extent::from(count().filter(|count| (0.0..9e15).contains(count)).map(|count| count as i64))
}

/// Broadcasts the input to a shape, aligned at the last axis.
pub(super) fn broadcast_to(call: &Call) -> RuleResult {
    let Some(shape) = call.dims(Role::Shape) else { return UNKNOWN };
    if let Some(extent) = shape.iter().filter_map(Dim::known).find(|extent| *extent < 0) {
        return refuse(Code::BroadcastShapes, format!("`shape` has the extent {extent}, which is negative"));
    }
    let mut extents: Extents = shape.iter().map(|dim| Extent::from(dim.clone())).collect();
    let Some(input) = call.extents(0) else { return known(extents) };
    let Some(first) = extents.len().checked_sub(input.len()) else {
        let (given, rank) = (extents.len(), input.len());
        return refuse(Code::BroadcastShapes, format!("`shape` has {given} extents, the input has rank {rank}"));
    };
    for (extent, own) in extents[first..].iter_mut().zip(input) {
        let Some(both) = extent.broadcast(own) else {
            let shapes = format!("an input of shape {input:?} cannot be repeated to {:?}", Shape::new(&extents));
            return refuse(Code::BroadcastShapes, shapes);
        };
        *extent = both;
    }
    known(extents)
}

/// The shape of the input with another extent along `axis`.
pub(super) fn along(call: &Call, extent: impl Fn(&Call, Dim) -> Dim) -> RuleResult {
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    let Some(axis) = call.axis(extents.len(), Code::SliceRange)? else { return call.any_axes(extents.len()) };
    extents[axis] = Extent::from(extent(call, extents[axis].dim()));
    known(extents)
}

/// Every `stride`th item along an axis, from item `modulo` on.
pub(super) fn downsample(call: &Call) -> RuleResult {
    along(call, |call, extent| {
        let stride = call.number("stride").known().and_then(i64::checked_abs).filter(|stride| *stride > 0);
        stride.map_or(Dim::Unknown, |stride| extent.minus(call.number("modulo")).over_up(Dim::Int(stride)))
    })
}

pub(super) fn dyn_slice(call: &Call) -> RuleResult {
    along(call, |call, _| match call.number("len") {
        Dim::Unknown => call.number("end").minus(call.number("start")),
        len => len,
    })
}

/// Parts of the input at the positions in the last axis of the indices.
pub(super) fn gather_nd(call: &Call) -> RuleResult {
    let (Some(input), Some([outer @ .., depth])) = (call.extents(0), call.extents(1)) else { return UNKNOWN };
    let batch = call.number("batch_dims").known().and_then(|batch| usize::try_from(batch).ok());
    let depth = depth.known().and_then(|depth| usize::try_from(depth).ok());
    let Some(first) = batch.zip(depth).and_then(|(batch, depth)| batch.checked_add(depth)) else { return UNKNOWN };
    let Some(inner) = input.get(first..) else {
        return refuse(Code::GatherAxis, format!("the indices have {first} items, the input has shape {input:?}"));
    };
    known([outer, inner].concat().into())
}

pub(super) fn one_hot(call: &Call) -> RuleResult {
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    let Some(axis) = call.axis(extents.len() + 1, Code::AxisInsertion)? else {
        return call.any_axes(extents.len() + 1);
    };
    extents.insert(axis.min(extents.len()), Extent::from(call.number("dim")));
    known(extents)
}

/// Windows along an axis; a new axis after it has the items of each window.
pub(super) fn stft(call: &Call) -> RuleResult {
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    let Some(axis) = call.axis(extents.len(), Code::PoolingShapes)? else { return call.any_axes(extents.len() + 1) };
    let (frame, stride) = (call.number("frame"), call.number("stride"));
    let frames = extents[axis].dim().minus(frame.clone()).over(stride).plus(Dim::Int(1));
    extents[axis] = Extent::from(frames);
    extents.insert(axis + 1, Extent::from(frame));
    known(extents)
}

/// The specified sizes, or the extents multiplied by scales and rounded down.
pub(super) fn resize(call: &Call) -> RuleResult {
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let given = |name: &str| call.named(name).filter(|operand| operand.value() != Some(&Value::Logical(false)));
    if let Some(sizes) = given("sizes") {
        let dims = call.dims_of(sizes).filter(|dims| dims.len() == input.len());
        let dims = dims.unwrap_or_else(|| smallvec![Dim::Unknown; input.len()]);
        return known(dims.iter().map(|dim| Extent::from(dim.clone())).collect());
    }
    let scales = given("scales").and_then(|operand| scalars(call, operand));
    let scaled = |(i, extent): (usize, &Extent)| match scales.as_ref().and_then(|scales| scales.get(i).copied()) {
        None => Extent::UNKNOWN,
        Some(scale) if scale.fract() == 0.0 && (0.0..1e9).contains(&scale) => {
            Extent::from(extent.dim().times(Dim::Int(scale as i64)))
        }
        // The product is rounded down in single precision.
        Some(scale) => extent.map(|extent| Some((extent as f32 * scale as f32) as i64)),
    };
    known(input.iter().enumerate().map(scaled).collect())
}

/// The scalars of an argument.
fn scalars(call: &Call, operand: Operand) -> Option<Vec<f64>> {
    match operand {
        Operand::Value(Value::Scalars(items)) => Some(items.to_vec()),
        Operand::Value(Value::Integers(items)) => Some(items.iter().map(|item| *item as f64).collect()),
        Operand::Value(Value::Array(items)) => {
            let number = |item: &Value| match item {
                Value::Int(value) => Some(*value as f64),
                Value::Scalar(value) => Some(*value),
                _ => None,
            };
            items.iter().map(number).collect()
        }
        Operand::Tensor(tensor) => {
            let items = call.graph.values.get(&tensor)?;
            items.items.iter().map(|item| item.scalar()).collect()
        }
        _ => None,
    }
}

/// Samples at the positions of a grid.
pub(super) fn grid_sample(call: &Call) -> RuleResult {
    let (Some([batch, channels, ..]), Some([_, spatial @ .., _])) = (call.extents(0), call.extents(1)) else {
        return UNKNOWN;
    };
    known([&[batch.clone(), channels.clone()], spatial].concat().into())
}

/// The shape of the queries, with the last extent of the values.
pub(super) fn attention(call: &Call) -> RuleResult {
    let (Some(query), Some([.., width])) = (call.extents(0), call.extents(2)) else { return UNKNOWN };
    let mut extents: Extents = query.into();
    if let Some(last) = extents.last_mut() {
        *last = width.clone();
    }
    known(extents)
}

/// The concatenation of the previous state and the input.
pub(super) fn cache(call: &Call) -> RuleResult {
    along(call, |call, extent| {
        let axis = call.number("axis").known().and_then(|axis| usize::try_from(axis).ok());
        let shape = |name: &str| call.named(name).and_then(|operand| call.dims_of(operand));
        let at = |dims: Option<Dims>| Some(dims?.get(axis?)?.clone());
        let before = at(shape("past_sequence_shape")).unwrap_or(Dim::Unknown);
        before.plus(at(shape("input_sequence_shape")).unwrap_or(extent))
    })
}

/// Two results: one with the shape of the first operand, and a new state with the shape of the initial one.
pub(super) fn with_state(call: &Call) -> RuleResult {
    let state = call.shape_named("initial_state").map(Shape::new);
    Ok(Inferred::Each(vec![call.shape(0).cloned(), state]))
}

/// The positions of the nonzero items; a symbol stands for their number.
pub(super) fn non_zero(call: &Call) -> RuleResult {
    let rank = Extent::from(call.rank(0).map(|rank| rank as i64));
    let count = call.text("count_symbol").filter(|symbol| !symbol.is_empty());
    known(smallvec![rank, count.map_or(Extent::UNKNOWN, |symbol| Extent::from(Dim::symbol(symbol)))])
}

pub(super) fn multinomial(call: &Call) -> RuleResult {
    let Some([batch, ..]) = call.extents(0) else { return UNKNOWN };
    known(smallvec![batch.clone(), Extent::from(call.number("sample_size"))])
}

pub(super) fn classes(call: &Call) -> RuleResult {
    let Some([batch, ..]) = call.extents(0) else { return UNKNOWN };
    known(smallvec![batch.clone(), Extent::from(call.number("n_classes"))])
}

/// Removes a last axis of pairs, which become complex numbers (`joins`), or the inverse.
pub(super) fn inner(call: &Call, joins: bool) -> RuleResult {
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    if joins {
        extents.pop();
    } else {
        extents.push(Extent::new(2));
    }
    known(extents)
}

/// The outputs of a scan. The output of a recurrence has the shape of its initial value; the shapes of other
/// outputs are unknown, since they depend on the body.
pub(super) fn scan(call: &Call) -> RuleResult {
    let Ok(scan) = Scan::read(|_, name| call.named(name).map(Operand::to_value)) else { return UNKNOWN };
    let extents = |value: &Value| call.extents_of(Operand::from(value));
    let steps = scan.scanned.iter().find_map(|scanned| {
        let extent = extents(&scanned.tensor)?.get(scanned.axis)?;
        Some(extent.dim().over_up(Dim::Int(scanned.chunk.checked_abs()?)))
    });
    let steps = steps.unwrap_or(Dim::Unknown).minus(Dim::Int(scan.skip));
    let output = |output: &Collected| {
        let state = scan.states.iter().find(|state| state.result == output.result)?;
        let mut extents: Extents = extents(&state.initial)?.into();
        if !output.last {
            let extent = extents.get_mut(output.axis)?;
            *extent = Extent::from(extent.dim().times(steps.clone()));
        }
        Some(Shape::new(&extents))
    };
    Ok(Inferred::Each(scan.outputs.iter().map(output).collect()))
}
