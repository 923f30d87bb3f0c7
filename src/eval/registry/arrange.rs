//! Operations that move items: ranges, slices, gather and scatter.

use ndarray::{ArrayD, Dimension, IxDyn, indices};

use crate::eval::array::{scalars, view};
use crate::eval::call::{Call, KernelResult};
use crate::eval::error::EvalError;
use crate::eval::suppression::Suppression;
use crate::graph::Value;
use crate::tensor::{DType, Tensor};

use super::{like, moved, natural, number_or, one, positions, unfit};

/// The maximum number of items of a range.
const MAX_RANGE: f64 = 1e9;

pub(in crate::eval) fn shape_of(call: &Call) -> KernelResult {
    let shape: Vec<i64> = call.tensor("input")?.shape().iter().map(|extent| *extent as i64).collect();
    Ok(vec![Tensor::integers(&[shape.len()], shape)?])
}

pub(in crate::eval) fn range(call: &Call) -> KernelResult {
    let [start, end, step] = ["start", "end", "step"].map(|name| call.tensor(name));
    let (start, end, step) = (start?, end?, step?);
    if [&start, &end, &step].iter().all(|tensor| tensor.dtype() != DType::Float64) {
        return whole_range(call);
    }
    let [first, last, by] = [call.number("start")?, call.number("end")?, call.number("step")?];
    let count = ((last - first) / by).ceil();
    if !(count.is_finite() && count < MAX_RANGE) {
        return Err(EvalError::value(format!("a range from {first} to {last} in steps of {by} is unbounded")));
    }
    let count = count.max(0.0) as usize;
    call.budget().room(&[count])?;
    Ok(vec![Tensor::scalars(&[count], (0..count).map(|i| first + by * i as f64).collect())?])
}

/// A range of integers.
fn whole_range(call: &Call) -> KernelResult {
    let [first, last, by] = [call.int("start")?, call.int("end")?, call.int("step")?];
    let (distance, step) = (i128::from(last) - i128::from(first), i128::from(by));
    // The quotient is rounded up.
    let count = distance
        .checked_div(step)
        .map(|count| count + i128::from(distance % step != 0 && (distance < 0) == (step < 0)));
    let count = count.filter(|count| *count < MAX_RANGE as i128).map(|count| usize::try_from(count).unwrap_or(0));
    let count = count
        .ok_or_else(|| EvalError::value(format!("a range from {first} to {last} in steps of {by} is unbounded")))?;
    call.budget().room(&[count])?;
    // All items lie between the first and the last number.
    Ok(vec![Tensor::integers(&[count], (0..count).map(|i| first.wrapping_add(by.wrapping_mul(i as i64))).collect())?])
}

/// Broadcasts the input to a shape, with the last axes aligned.
pub(in crate::eval) fn broadcast(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let shape = call.naturals("shape")?;
    let rank = shape.len().max(input.rank());
    let longer = |shape: &[usize]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
    let (own, wanted) = (longer(input.shape()), longer(&shape));
    let mut places = Vec::new();
    for (own, wanted) in own.iter().zip(&wanted) {
        match (*own, *wanted) {
            (1, wanted) => places.push(vec![Some(0); wanted]),
            (own, wanted) if own == wanted || wanted == 1 => places.push((0..own).map(Some).collect()),
            _ => return Err(unfit(call, &[input.shape(), &shape])),
        }
    }
    call.budget().room(&places.iter().map(Vec::len).collect::<Vec<_>>())?;
    Ok(vec![input.reshaped(&own)?.taken(&places, 0.0)])
}

/// Selects the items of the input at computed indices along an axis.
fn along(call: &Call, places: impl Fn(usize) -> Result<Vec<Option<usize>>, EvalError>) -> KernelResult {
    let input = call.tensor("input")?;
    let axis = call.axis("axis", input.rank())?;
    let mut all = input.places();
    all[axis] = places(input.shape()[axis])?;
    Ok(vec![input.taken(&all, 0.0)])
}

/// Every `stride`th item from index `modulo` on; in reverse order for a negative stride.
pub(in crate::eval) fn downsample(call: &Call) -> KernelResult {
    let (stride, modulo) = (call.int("stride")?, natural(call, "modulo")?);
    let step = usize::try_from(stride.unsigned_abs()).ok().filter(|step| *step > 0);
    let step = step.ok_or_else(|| EvalError::argument("a stride is 0"))?;
    along(call, |extent| {
        let places = modulo..extent.max(modulo);
        Ok(if stride > 0 {
            places.step_by(step).map(Some).collect()
        } else {
            places.rev().step_by(step).map(Some).collect()
        })
    })
}

pub(in crate::eval) fn dyn_slice(call: &Call) -> KernelResult {
    let (start, end) = (natural(call, "start")?, natural(call, "end")?);
    along(call, |extent| match start <= end && end <= extent {
        true => Ok((start..end).map(Some).collect()),
        false => Err(EvalError::shapes(format!("there is no range {start}..{end} of {extent} items"))),
    })
}

/// The indices in an operand.
fn places(call: &Call, name: &str) -> Result<ArrayD<i64>, EvalError> {
    // Scalars are truncated.
    let tensor = call.converted(&*call.tensor(name)?, DType::Int64)?;
    let array = view(&tensor).map(|view| view.to_owned());
    array.ok_or_else(|| EvalError::argument(format!("`{name}` of `{}` must hold integers", call.name())))
}

/// An index within an extent; a negative one counts from the end.
fn within(call: &Call, index: i64, extent: usize) -> Result<usize, EvalError> {
    let counted = if index < 0 { index.checked_add(extent as i64) } else { Some(index) };
    let found = counted.and_then(|index| usize::try_from(index).ok()).filter(|index| *index < extent);
    found.ok_or_else(|| EvalError::value(format!("index {index} of `{}` is not within {extent}", call.name())))
}

pub(in crate::eval) fn gather_elements(call: &Call) -> KernelResult {
    let (input, at) = (call.tensor("input")?, places(call, "indices")?);
    let items = positions(&input)?;
    let axis = call.axis("axis", items.ndim())?;
    if at.ndim() != items.ndim() {
        return Err(unfit(call, &[input.shape(), at.shape()]));
    }
    call.budget().room(at.shape())?;
    let mut output = ArrayD::zeros(at.raw_dim());
    for (place, index) in at.indexed_iter() {
        let mut from = place.clone();
        from[axis] = within(call, *index, items.shape()[axis])?;
        output[place] = *items.get(from).ok_or_else(|| unfit(call, &[input.shape(), at.shape()]))?;
    }
    Ok(vec![moved(&input, &output)?])
}

/// Slices of the input at the indices along the last axis of `indices`.
pub(in crate::eval) fn gather_nd(call: &Call) -> KernelResult {
    let (input, at) = (call.tensor("input")?, places(call, "indices")?);
    let (items, batch) = (positions(&input)?, natural(call, "batch_dims")?);
    let wrong = || unfit(call, &[input.shape(), at.shape()]);
    let depth = *at.shape().last().ok_or_else(wrong)?;
    let outer = at.shape()[..at.ndim() - 1].to_vec();
    let inner = items.shape().get(batch + depth..).ok_or_else(wrong)?.to_vec();
    if batch > outer.len() {
        return Err(wrong());
    }
    let shape = [outer.clone(), inner.clone()].concat();
    call.budget().room(&shape)?;
    let mut output = ArrayD::zeros(IxDyn(&shape));
    for place in indices(IxDyn(&outer)) {
        let mut from: Vec<usize> = place.slice()[..batch].to_vec();
        for i in 0..depth {
            let index = at[IxDyn(&[place.slice(), &[i]].concat())];
            from.push(within(call, index, items.shape()[batch + i])?);
        }
        for rest in indices(IxDyn(&inner)) {
            let item = items.get(IxDyn(&[&from[..], rest.slice()].concat())).ok_or_else(wrong)?;
            output[IxDyn(&[place.slice(), rest.slice()].concat())] = *item;
        }
    }
    Ok(vec![moved(&input, &output)?])
}

/// Combines scattered items with the existing ones: `pairs` has the positions in the input and in the updates. Integers
/// stay integers of 64 bits, whose highest bits are lost.
fn scattered(call: &Call, input: &Tensor, updates: &Tensor, pairs: &[(usize, usize)]) -> KernelResult {
    fn applied<T: Copy>(mut items: Vec<T>, new: &[T], pairs: &[(usize, usize)], combine: fn(T, T) -> T) -> Vec<T> {
        pairs.iter().for_each(|&(to, from)| items[to] = combine(items[to], new[from]));
        items
    }
    let unknown = |name: &str| EvalError::argument(format!("unknown reduction '{name}'"));
    if let (Some(items), Some(new)) = (input.items::<i64>(), updates.items::<i64>()) {
        let combine: fn(i64, i64) -> i64 = match call.string("reduction")? {
            "none" => |_, new| new,
            "add" => i64::wrapping_add,
            "mul" => i64::wrapping_mul,
            "min" => i64::min,
            "max" => i64::max,
            other => return Err(unknown(other)),
        };
        return Ok(vec![Tensor::integers(input.shape(), applied(items.to_vec(), new, pairs, combine))?]);
    }
    let combine: fn(f64, f64) -> f64 = match call.string("reduction")? {
        "none" => |_, new| new,
        "add" => |old, new| old + new,
        "mul" => |old, new| old * new,
        "min" => |old, new| if new < old { new } else { old },
        "max" => |old, new| if new > old { new } else { old },
        other => return Err(unknown(other)),
    };
    let dtype = if input.dtype() == updates.dtype() { input.dtype() } else { DType::Float64 };
    let items = applied(input.to_scalars(), &updates.to_scalars(), pairs, combine);
    Ok(vec![like(crate::eval::array::array(input.shape(), items)?, dtype)?])
}

pub(in crate::eval) fn scatter_elements(call: &Call) -> KernelResult {
    let (input, at, updates) = (call.tensor("input")?, places(call, "indices")?, call.tensor("updates")?);
    let (old, new) = (positions(&input)?, positions(&updates)?);
    let axis = call.axis("axis", old.ndim())?;
    let wrong = || unfit(call, &[input.shape(), at.shape(), updates.shape()]);
    if at.ndim() != old.ndim() {
        return Err(wrong());
    }
    let mut pairs = Vec::with_capacity(new.len());
    for (place, item) in new.indexed_iter() {
        let mut to = place.clone();
        to[axis] = within(call, *at.get(place).ok_or_else(wrong)?, input.shape()[axis])?;
        pairs.push((*old.get(to).ok_or_else(wrong)?, *item));
    }
    scattered(call, &input, &updates, &pairs)
}

pub(in crate::eval) fn scatter_nd(call: &Call) -> KernelResult {
    let (input, at, updates) = (call.tensor("input")?, places(call, "indices")?, call.tensor("updates")?);
    let (old, new) = (positions(&input)?, positions(&updates)?);
    let wrong = || unfit(call, &[input.shape(), at.shape(), updates.shape()]);
    let depth = *at.shape().last().filter(|depth| **depth <= input.rank()).ok_or_else(wrong)?;
    let inner = input.shape()[depth..].to_vec();
    let mut pairs = Vec::with_capacity(new.len());
    for place in indices(IxDyn(&at.shape()[..at.ndim() - 1])) {
        let mut to = Vec::new();
        for i in 0..depth {
            to.push(within(call, at[IxDyn(&[place.slice(), &[i]].concat())], input.shape()[i])?);
        }
        for rest in indices(IxDyn(&inner)) {
            let item = *new.get(IxDyn(&[place.slice(), rest.slice()].concat())).ok_or_else(wrong)?;
            pairs.push((old[IxDyn(&[&to[..], rest.slice()].concat())], item));
        }
    }
    scattered(call, &input, &updates, &pairs)
}

pub(in crate::eval) fn one_hot(call: &Call) -> KernelResult {
    let (at, dim) = (places(call, "input")?, natural(call, "dim")?);
    let axis = call.axis("axis", at.ndim() + 1)?;
    let (off, on) = (number_or(call, "value_off", 0.0)?, number_or(call, "value_on", 1.0)?);
    let mut shape = at.shape().to_vec();
    shape.insert(axis, dim);
    call.budget().room(&shape)?;
    let mut output = ArrayD::from_elem(IxDyn(&shape), off);
    for (place, index) in at.indexed_iter() {
        let mut to = place.slice().to_vec();
        to.insert(axis, within(call, *index, dim)?);
        output[IxDyn(&to)] = on;
    }
    one(output)
}

pub(in crate::eval) fn trilu(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let (k, upper) = (call.int("k")?, call.flag("upper")?);
    let items = positions(&input)?;
    let rank = items.ndim();
    if rank < 2 {
        return Err(unfit(call, &[input.shape()]));
    }
    let kept = items.indexed_iter().map(|(place, item)| {
        let above = place[rank - 1] as i64 - place[rank - 2] as i64;
        let kept = if upper { above >= k } else { above <= k };
        kept.then_some(*item)
    });
    let kept: Vec<Option<usize>> = kept.collect();
    Ok(vec![Tensor::with(input.shape(), input.data().pick_or(&kept, 0.0))?])
}

pub(in crate::eval) fn topk(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let (items, k, largest) = (positions(&input)?, natural(call, "k")?, call.flag("largest")?);
    let (numbers, whole) = (input.to_scalars(), input.items::<i64>());
    let axis = call.axis("axis", items.ndim())?;
    if k > items.shape()[axis] {
        return Err(EvalError::shapes(format!(
            "there are no {k} items along axis {axis} of shape {:?}",
            input.shape()
        )));
    }
    let mut shape = input.shape().to_vec();
    shape[axis] = k;
    let (mut values, mut at) = (ArrayD::zeros(IxDyn(&shape)), ArrayD::<i64>::zeros(IxDyn(&shape)));
    let lanes = items.lanes(ndarray::Axis(axis)).into_iter();
    let outputs = values.lanes_mut(ndarray::Axis(axis)).into_iter().zip(at.lanes_mut(ndarray::Axis(axis)));
    for (lane, (mut values, mut places)) in lanes.zip(outputs) {
        let mut order: Vec<usize> = (0..lane.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (lane[*a], lane[*b]);
            let ordering = match whole {
                Some(whole) => whole[a].cmp(&whole[b]),
                None => numbers[a].total_cmp(&numbers[b]),
            };
            if largest { ordering.reverse() } else { ordering }
        });
        for (i, from) in order.into_iter().take(k).enumerate() {
            values[i] = lane[from];
            places[i] = from as i64;
        }
    }
    Ok(vec![moved(&input, &values)?, crate::eval::array::pack(at)?])
}

/// The indices of non-zero items, one in each column.
pub(in crate::eval) fn non_zero(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let items = scalars(&input);
    let found: Vec<IxDyn> = items.indexed_iter().filter(|(_, item)| **item != 0.0).map(|(place, _)| place).collect();
    let rank = items.ndim();
    let columns = (0..rank).flat_map(|axis| found.iter().map(move |place| place[axis] as i64)).collect();
    Ok(vec![Tensor::integers(&[rank, found.len()], columns)?])
}

/// The number of an argument; none if it is `false`.
fn threshold(call: &Call, name: &str) -> Result<Option<f64>, EvalError> {
    if !is_given(call, name) {
        return Ok(None);
    }
    let tensor = call.numbers(name)?;
    match tensor.to_scalars()[..] {
        [number] => Ok(Some(number)),
        _ => Err(unfit(call, &[tensor.shape()])),
    }
}

/// The batch, class and number of each selected box; a maximum of 0 stands for all.
pub(in crate::eval) fn non_max_suppression(call: &Call) -> KernelResult {
    let (boxes, scores) = (call.numbers("boxes")?, call.numbers("scores")?);
    let (&[batch, count, 4], &[_, classes, _]) = (boxes.shape(), scores.shape()) else {
        return Err(unfit(call, &[boxes.shape(), scores.shape()]));
    };
    if scores.shape() != [batch, classes, count] {
        return Err(unfit(call, &[boxes.shape(), scores.shape()]));
    }
    let most = threshold(call, "max_output_boxes_per_class")?.unwrap_or(0.0);
    let form = threshold(call, "center_point_box")?.unwrap_or(0.0);
    if form != 0.0 && form != 1.0 {
        return Err(EvalError::argument("`center_point_box` has to be 0 or 1"));
    }
    let of = Suppression {
        // Numbers below 0 become 0.
        most: if most == 0.0 { usize::MAX } else { most as usize },
        limit: threshold(call, "iou_threshold")?.unwrap_or(0.0),
        least: threshold(call, "score_threshold")?,
        centred: form == 1.0,
    };
    let (boxes, scores) = (boxes.to_scalars(), scores.to_scalars());
    let selected = of.selected(call.budget(), (&boxes, &scores), [batch, classes, count])?;
    Ok(vec![Tensor::integers(&[selected.len() / 3, 3], selected)?])
}

/// Whether an argument is present; `false` means that it is absent.
pub(in crate::eval) fn is_given(call: &Call, name: &str) -> bool {
    call.value(name).is_some_and(|value| value != Value::Logical(false))
}

/// Whether the items of a tensor are logicals.
pub(in crate::eval) fn logical(tensor: &Tensor) -> bool {
    view::<bool>(tensor).is_some()
}
