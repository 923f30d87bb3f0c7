//! Operations that move items: ranges, slices, gather and scatter.

use crate::eval::array::view;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::{Indices, Misplaced, Triangle, first_along, indices_of};
use crate::eval::suppression::Suppression;
use crate::graph::Value;
use crate::tensor::{DType, Tensor};

use super::{like, natural, number_or, unfit};

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
fn places(call: &Call, name: &str) -> Result<Tensor, EvalError> {
    // Scalars are truncated.
    let tensor = call.converted(&*call.tensor(name)?, DType::Int64)?;
    match tensor.items::<i64>() {
        Some(_) => Ok(tensor),
        None => Err(EvalError::argument(format!("`{name}` of `{}` must hold integers", call.name()))),
    }
}

fn indices_in(tensor: &Tensor) -> Indices<'_> {
    Indices { items: tensor.items().unwrap_or_default(), shape: tensor.shape() }
}

/// What indices select, or why they select nothing.
fn placed<T>(call: &Call, operands: &[&Tensor], found: Result<T, Misplaced>) -> Result<T, EvalError> {
    found.map_err(|misplaced| match misplaced {
        Misplaced::Shape => unfit(call, &operands.iter().map(|operand| operand.shape()).collect::<Vec<_>>()),
        Misplaced::Outside { index, extent } => {
            EvalError::value(format!("index {index} of `{}` is not within {extent}", call.name()))
        }
    })
}

pub(in crate::eval) fn gather_elements(call: &Call) -> KernelResult {
    let (input, at) = (call.tensor("input")?, places(call, "indices")?);
    let axis = call.axis("axis", input.rank())?;
    call.budget().room(at.shape())?;
    let places = indices_in(&at).elements(input.shape(), axis, at.shape());
    let places = placed(call, &[&input, &at], places)?;
    Ok(vec![Tensor::with(at.shape(), input.data().pick(places.into_iter()))?])
}

/// Slices of the input at the indices along the last axis of `indices`.
pub(in crate::eval) fn gather_nd(call: &Call) -> KernelResult {
    let (input, at, batch) = (call.tensor("input")?, places(call, "indices")?, natural(call, "batch_dims")?);
    let of = indices_in(&at);
    let shape = placed(call, &[&input, &at], of.slices_shape(input.shape(), batch))?;
    call.budget().room(&shape)?;
    let places = placed(call, &[&input, &at], of.slices(input.shape(), batch))?;
    Ok(vec![Tensor::with(&shape, input.data().pick(places.into_iter()))?])
}

/// Combines scattered items with the existing ones at places. Integers stay integers of 64 bits, whose highest bits are
/// lost.
fn scattered(call: &Call, input: &Tensor, updates: &Tensor, places: &[usize]) -> KernelResult {
    fn applied<T: Copy>(mut items: Vec<T>, new: &[T], places: &[usize], combine: fn(T, T) -> T) -> Vec<T> {
        places.iter().zip(new).for_each(|(&to, new)| items[to] = combine(items[to], *new));
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
        return Ok(vec![Tensor::integers(input.shape(), applied(items.to_vec(), new, places, combine))?]);
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
    let items = applied(input.to_scalars(), &updates.to_scalars(), places, combine);
    Ok(vec![like(crate::eval::array::array(input.shape(), items)?, dtype)?])
}

pub(in crate::eval) fn scatter_elements(call: &Call) -> KernelResult {
    let (input, at, updates) = (call.tensor("input")?, places(call, "indices")?, call.tensor("updates")?);
    let axis = call.axis("axis", input.rank())?;
    call.budget().room(updates.shape())?;
    let places = indices_in(&at).elements(input.shape(), axis, updates.shape());
    scattered(call, &input, &updates, &placed(call, &[&input, &at, &updates], places)?)
}

pub(in crate::eval) fn scatter_nd(call: &Call) -> KernelResult {
    let (input, at, updates) = (call.tensor("input")?, places(call, "indices")?, call.tensor("updates")?);
    let (of, operands) = (indices_in(&at), [&*input, &at, &*updates]);
    if placed(call, &operands, of.slices_shape(input.shape(), 0))? != updates.shape() {
        return Err(unfit(call, &operands.map(Tensor::shape)));
    }
    call.budget().room(updates.shape())?;
    scattered(call, &input, &updates, &placed(call, &operands, of.slices(input.shape(), 0))?)
}

pub(in crate::eval) fn one_hot(call: &Call) -> KernelResult {
    let (at, dim) = (places(call, "input")?, natural(call, "dim")?);
    let axis = call.axis("axis", at.rank() + 1)?;
    let (off, on) = (number_or(call, "value_off", 0.0)?, number_or(call, "value_on", 1.0)?);
    let (before, after) = at.shape().split_at(axis);
    let shape = [before, &[dim], after].concat();
    let mut output = vec![off; call.budget().room(&shape)?];
    // Along the new axis, each place has its index.
    let single = [before, &[1], after].concat();
    let places = Indices { shape: &single, ..indices_in(&at) }.elements(&shape, axis, &single);
    placed(call, &[&at], places)?.into_iter().for_each(|place| output[place] = on);
    Ok(vec![Tensor::scalars(&shape, output)?])
}

pub(in crate::eval) fn trilu(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let &[.., rows, columns] = input.shape() else { return Err(unfit(call, &[input.shape()])) };
    let triangle = Triangle { rows, columns, diagonal: call.int("k")?, upper: call.flag("upper")? };
    let kept: Vec<Option<usize>> = (0..input.len()).map(|at| triangle.has(at).then_some(at)).collect();
    Ok(vec![Tensor::with(input.shape(), input.data().pick_or(&kept, 0.0))?])
}

pub(in crate::eval) fn topk(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let (k, largest) = (natural(call, "k")?, call.flag("largest")?);
    let (numbers, whole) = (input.to_scalars(), input.items::<i64>());
    let axis = call.axis("axis", input.rank())?;
    if k > input.shape()[axis] {
        return Err(EvalError::shapes(format!(
            "there are no {k} items along axis {axis} of shape {:?}",
            input.shape()
        )));
    }
    let mut shape = input.shape().to_vec();
    shape[axis] = k;
    call.budget().room(&shape)?;
    let (places, indices) = first_along(input.shape(), axis, k, |a, b| {
        let ordering = whole.map_or_else(|| numbers[a].total_cmp(&numbers[b]), |whole| whole[a].cmp(&whole[b]));
        if largest { ordering.reverse() } else { ordering }
    });
    let values = Tensor::with(&shape, input.data().pick(places.into_iter()))?;
    Ok(vec![values, Tensor::integers(&shape, indices)?])
}

/// The indices of non-zero items, one in each column.
pub(in crate::eval) fn non_zero(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let found: Vec<usize> = (0..input.len()).filter(|at| input.data().float(*at) != 0.0).collect();
    Ok(vec![Tensor::integers(&[input.rank(), found.len()], indices_of(&found, input.shape()))?])
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
    let selected = of.selected(call.budget(), &boxes, &scores, [batch, classes, count])?;
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
