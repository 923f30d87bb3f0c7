//! Reductions: each group of items along some axes becomes one item.

use std::borrow::Cow;

use crate::eval::EvalError;
use crate::eval::kernels::{MAX, MIN, Reduction, WholeNumbers, first_along, total};
use crate::onnx::run::kernels::elementwise::wide;
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, integers, one};
use crate::tensor::kernels::{Extreme, best, each_group, grouped, peak, soften, soften_logarithms, sum};
use crate::tensor::{DType, Data, Tensor};

/// The axes that a reduction is along, and whether they stay with an extent of 1; no axes if nothing is reduced.
struct ReducedAxes {
    axes: Vec<usize>,
    keeps: bool,
}

impl ReducedAxes {
    /// From an operand in later versions, from an attribute in earlier ones. `since` is the first version with the
    /// operand.
    fn new(call: &NodeCall, rank: usize, since: i64) -> Result<ReducedAxes, EvalError> {
        let given = match call.version >= since {
            true => call.optional_list(1)?,
            false => call.ints("axes")?,
        };
        let given = given.filter(|axes| !axes.is_empty());
        let nothing = call.version >= since && call.flag("noop_with_empty_axes", false)?;
        let axes = match given {
            Some(axes) => call.axes(&axes, rank)?,
            None if nothing => Vec::new(),
            None => (0..rank).collect(),
        };
        Ok(ReducedAxes { axes, keeps: call.flag("keepdims", true)? })
    }

    fn shape(&self, shape: &[usize]) -> Vec<usize> {
        let reduced = |axis: &usize| self.axes.contains(axis);
        let extent = |axis: usize| match reduced(&axis) {
            true => self.keeps.then_some(1),
            false => Some(shape[axis]),
        };
        (0..shape.len()).filter_map(extent).collect()
    }
}

/// A reduction; `since` is the first version whose axes are an operand.
pub(in crate::onnx) fn reduce(call: &NodeCall, since: i64, of: &Reduction) -> KernelResult {
    reduced(call, since, of, |_| None)
}

/// The greatest item, of no integers the least one of their type.
pub(in crate::onnx) fn max(call: &NodeCall) -> KernelResult {
    reduced(call, 18, &MAX, |(least, _)| Some(least))
}

/// The least item, of no integers the greatest one of their type.
pub(in crate::onnx) fn min(call: &NodeCall) -> KernelResult {
    reduced(call, 18, &MIN, |(_, greatest)| Some(greatest))
}

/// A reduction; of no integers it is a number of their range, or else not defined.
fn reduced(
    call: &NodeCall,
    since: i64,
    of: &Reduction,
    of_none: impl FnOnce((i128, i128)) -> Option<i128>,
) -> KernelResult {
    let x = call.tensor(0)?;
    let axes = ReducedAxes::new(call, x.rank(), since)?;
    call.budget.work(x.len() as u64)?;
    let shape = axes.shape(x.shape());
    call.room(&shape)?;
    let data = match x.dtype() {
        dtype if dtype.is_integer() || dtype == DType::Bool => {
            let items: Vec<i128> = wide(x).collect();
            let end = dtype.range().and_then(of_none);
            let reduce = |group: &[i128]| (of.of_integers)(&mut group.iter().copied()).or(end);
            let reduced: Option<Vec<i128>> =
                grouped::<_, _, Vec<_>>(&items, x.shape(), &axes.axes, reduce).into_iter().collect();
            let undefined = || EvalError::value(format!("`{}` of no integers is not defined", call.name()));
            Data::from_wide(dtype, reduced.ok_or_else(undefined)?.into_iter())
        }
        dtype => {
            let items: Cow<[f64]> = floats(x)?;
            let reduced: Vec<f64> = grouped(&items, x.shape(), &axes.axes, of.of_floats);
            Data::from_floats(dtype, reduced.into_iter())
        }
    };
    one(Tensor::with(&shape, data)?)
}

fn truncated(value: f64) -> Option<i128> {
    Some(value as i128)
}

fn real(items: WholeNumbers) -> Vec<f64> {
    items.map(|item| item as f64).collect()
}

pub(in crate::onnx) const PRODUCT: Reduction = Reduction {
    of_floats: |items| items.iter().product(),
    of_integers: |items| Some(items.fold(1, i128::wrapping_mul)),
};

pub(in crate::onnx) const L1: Reduction = Reduction {
    of_floats: |items| sum(items.iter().map(|item| item.abs())),
    of_integers: |items| Some(total(&mut items.map(i128::abs))),
};

fn squares(items: &[f64]) -> f64 {
    sum(items.iter().map(|item| item * item))
}

pub(in crate::onnx) const L2: Reduction = Reduction {
    of_floats: |items| squares(items).sqrt(),
    of_integers: |items| truncated(squares(&real(items)).sqrt()),
};

pub(in crate::onnx) const SUM_OF_SQUARES: Reduction =
    Reduction { of_floats: squares, of_integers: |items| Some(total(&mut items.map(|item| item.wrapping_mul(item)))) };

pub(in crate::onnx) const LOG_OF_SUM: Reduction = Reduction {
    of_floats: |items| sum(items.iter().copied()).ln(),
    of_integers: |items| truncated((total(items) as f64).ln()),
};

/// The logarithm of the sum of exponentials, which themselves may overflow.
fn log_of_exponentials(items: &[f64]) -> f64 {
    let peak = peak(items);
    if !peak.is_finite() {
        return if items.iter().any(|item| item.is_nan()) { f64::NAN } else { peak };
    }
    peak + sum(items.iter().map(|item| (item - peak).exp())).ln()
}

pub(in crate::onnx) const LOG_OF_EXPONENTIALS: Reduction =
    Reduction { of_floats: log_of_exponentials, of_integers: |items| truncated(log_of_exponentials(&real(items))) };

/// Softmax along axes, or another function of the items along an axis.
fn along(call: &NodeCall, f: impl Fn(&mut [f64])) -> KernelResult {
    let x = call.tensor(0)?;
    // Before version 13 all axes from one on are a single one.
    let early = call.version < 13;
    let axis = call.int_or("axis", if early { 1 } else { -1 })?;
    let axis = match x.rank() as i64 {
        rank if early && axis == rank => x.rank(),
        0 => 0,
        _ => call.axis(axis, x.rank())?,
    };
    let mut items = floats(x)?.into_owned();
    call.room(x.shape())?;
    let after = if early || x.rank() == 0 { x.rank() } else { axis + 1 };
    each_group(&mut items, x.shape(), &(axis..after).collect::<Vec<_>>(), f);
    one(call.rounded(x.dtype(), x.shape(), items)?)
}

/// Exponentials divided by their sum.
pub(in crate::onnx) fn softmax(call: &NodeCall) -> KernelResult {
    along(call, soften)
}

/// The logarithm of softmax.
pub(in crate::onnx) fn log_softmax(call: &NodeCall) -> KernelResult {
    along(call, soften_logarithms)
}

/// 1 for the first greatest item, 0 for the others.
pub(in crate::onnx) fn hardmax(call: &NodeCall) -> KernelResult {
    along(call, |line| {
        let best = best(line, |a, b| a > b);
        line.iter_mut().enumerate().for_each(|(i, item)| *item = if best == Some(i) { 1.0 } else { 0.0 });
    })
}

/// How the items up to each one of a line are combined.
struct Scanned {
    exclusive: bool,
    reversed: bool,
}

impl Scanned {
    fn run<T: Copy>(&self, line: &mut [T], start: T, f: impl Fn(T, T) -> T) {
        let mut all = start;
        for i in 0..line.len() {
            let at = if self.reversed { line.len() - 1 - i } else { i };
            let next = f(all, line[at]);
            line[at] = if self.exclusive { all } else { next };
            all = next;
        }
    }
}

/// Sums or products of the items up to each one.
pub(in crate::onnx) fn cumulative(
    call: &NodeCall,
    start: i128,
    of_floats: fn(f64, f64) -> f64,
    of_integers: fn(i128, i128) -> i128,
) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.axis(call.single(1)?, x.rank())?;
    let scanned = Scanned { exclusive: call.flag("exclusive", false)?, reversed: call.flag("reverse", false)? };
    call.room(x.shape())?;
    call.room(x.shape())?;
    if x.dtype().is_integer() {
        let mut items: Vec<i128> = wide(x).collect();
        each_group(&mut items, x.shape(), &[axis], |line| scanned.run(line, start, of_integers));
        return one(call.wrapped(x.dtype(), x.shape(), items)?);
    }
    let mut items = floats(x)?.into_owned();
    each_group(&mut items, x.shape(), &[axis], |line| scanned.run(line, start as f64, of_floats));
    one(call.rounded(x.dtype(), x.shape(), items)?)
}

/// The index of the best item along an axis, the first or the last one of equal ones.
pub(in crate::onnx) fn arg(call: &NodeCall, greatest: bool) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    let which = Extreme { greatest, last: call.flag("select_last_index", false)? };
    let axes = ReducedAxes { axes: vec![axis], keeps: call.flag("keepdims", true)? };
    if x.shape()[axis] == 0 {
        return Err(EvalError::value(format!("`{}` of no items is not defined", call.name())));
    }
    call.budget.work(x.len() as u64)?;
    let shape = axes.shape(x.shape());
    call.room(&shape)?;
    let items: Vec<i64> = match x.dtype().is_integer() {
        true => grouped(&wide(x).collect::<Vec<_>>(), x.shape(), &axes.axes, |group| which.index(group)),
        false => grouped(&floats(x)?, x.shape(), &axes.axes, |group| which.index(group)),
    };
    one(Tensor::integers(&shape, items)?)
}

/// The greatest or least items along an axis, with their indices.
pub(in crate::onnx) fn top(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.axis(call.int_or("axis", -1)?, x.rank())?;
    let wanted = match call.version {
        ..10 => call.int_or("k", 0)?,
        _ => call.single(1)?,
    };
    let count = x.shape()[axis];
    let wanted = usize::try_from(wanted).ok().filter(|&wanted| wanted <= count);
    let wanted = wanted.ok_or_else(|| call.misfit(format!("there are {count} items along the axis")))?;
    let greatest = call.flag("largest", true)?;
    let mut shape = x.shape().to_vec();
    shape[axis] = wanted;
    call.room(&shape)?;
    call.room(&shape)?;
    call.budget.product(x.len(), 64)?;
    let keys = SortKeys::new(x)?;
    let (places, indices) = first_along(x.shape(), axis, wanted, |a, b| {
        let ordering = keys.compare(a, b);
        if greatest { ordering.reverse() } else { ordering }
    });
    let values = Tensor::with(&shape, x.data().pick(places.into_iter()))?;
    Ok(vec![values.into(), Tensor::integers(&shape, indices)?.into()])
}

/// Items that can be ordered: NaN is the greatest.
pub(in crate::onnx::run) enum SortKeys<'t> {
    Floats(Cow<'t, [f64]>),
    Integers(Vec<i128>),
    Texts(&'t [std::sync::Arc<str>]),
}

impl<'t> SortKeys<'t> {
    pub(in crate::onnx) fn new(x: &'t Tensor) -> Result<Self, EvalError> {
        Ok(match x.data() {
            Data::Text(items) => SortKeys::Texts(items),
            _ if x.dtype().is_float() => SortKeys::Floats(floats(x)?),
            _ if x.dtype().is_integer() => SortKeys::Integers(wide(x).collect()),
            _ => SortKeys::Integers(integers(x)?.into_iter().map(i128::from).collect()),
        })
    }

    pub(in crate::onnx) fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        match self {
            SortKeys::Floats(items) => {
                let (a, b) = (items[a], items[b]);
                a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            }
            SortKeys::Integers(items) => items[a].cmp(&items[b]),
            SortKeys::Texts(items) => items[a].cmp(&items[b]),
        }
    }
}
