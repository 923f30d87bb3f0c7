//! Reductions: each group of elements is reduced to one element.

use super::{Number, Repeat};
use crate::dictionary::{Arith, Order};
use crate::extents::Align;
use crate::tensor::{Data, Dims, Tensor};

/// Reduces elements along axes, which are sorted and distinct. Each group is in row-major order.
pub(crate) fn grouped<T: Copy, R, C: FromIterator<R>>(
    items: &[T],
    shape: &[usize],
    axes: &[usize],
    f: impl Fn(&[T]) -> R,
) -> C {
    let among = among(axes, shape.len());
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|axis| among[*axis]);
    let group: usize = reduced.iter().map(|&axis| shape[axis]).product();
    let count: usize = kept.iter().map(|&axis| shape[axis]).product();
    if group == 0 {
        return (0..count).map(|_| f(&[])).collect();
    }
    let places = |axes: &[usize]| crate::tensor::arrange::places(shape, axes);
    let inner = places(&reduced);
    let contiguous = inner.iter().copied().eq(0..group);
    let mut held = Vec::with_capacity(if contiguous { 0 } else { group });
    let one = |start: usize| {
        if contiguous {
            return f(&items[start..start + group]);
        }
        held.clear();
        held.extend(inner.iter().map(|place| items[start + place]));
        f(&held)
    };
    places(&kept).into_iter().map(one).collect()
}

/// The sum, product, least or greatest item of each group of numbers, in their own type; none for logicals.
pub(crate) fn fold(x: &Tensor, axes: &[usize], op: Arith) -> Option<Data> {
    fn folded<T: Number>((items, shape): (&[T], &[usize]), axes: &[usize], op: Arith) -> Data {
        let start = match op {
            Arith::Mul => T::ONE,
            Arith::Max => T::LEAST,
            Arith::Min => T::GREATEST,
            _ => T::default(),
        };
        T::pack(grouped(items, shape, axes, |group| group.iter().fold(start, |all, &x| T::calculate(op, all, x))))
    }
    same_type!(x, x, [Float32, Float64, Int32, Int64], x, _same => folded(x, axes, op))
}

/// The index of the first greatest or least number in each group, or of the first NaN; none for logicals.
pub(crate) fn extreme(x: &Tensor, axes: &[usize], order: Order) -> Option<Data> {
    let place = |place: Option<usize>| place.unwrap_or(0) as i64;
    same_type!(x, x, [Float32, Float64, Int32, Int64], x, _same => {
        let (better, none) = (order.function(), |x: &_| PartialOrd::partial_cmp(x, x).is_none());
        Data::Int64(grouped(x.0, x.1, axes, |group| {
            place(best(group, |a, b| better(a, b) || none(&a) && !none(&b)))
        }))
    })
}

/// The sum of numbers. That of none is 0, whereas [`Iterator::sum`] gives -0; that of negative zeros keeps their sign.
pub(crate) fn sum(items: impl Iterator<Item = f64>) -> f64 {
    items.reduce(|total, item| total + item).unwrap_or(0.0)
}

/// The index of the first item that no other is better than; none if there are no items.
pub(crate) fn best<T: Copy>(items: &[T], better: impl Fn(T, T) -> bool) -> Option<usize> {
    (0..items.len()).reduce(|best, i| if better(items[i], items[best]) { i } else { best })
}

/// Whether each axis below a rank is among some axes.
pub(crate) fn among(axes: &[usize], rank: usize) -> Vec<bool> {
    let mut found = vec![false; rank];
    for axis in axes {
        found[*axis] = true;
    }
    found
}

/// Softmax along axes, or its logarithm.
pub(crate) fn softmax(items: &[f64], shape: &[usize], axes: &[usize], log: bool) -> Vec<f64> {
    let totals: Dims =
        shape.iter().zip(among(axes, shape.len())).map(|(&all, in_sum)| if in_sum { 1 } else { all }).collect();
    let to = Repeat { shape, align: Align::Last };
    let peaks: Vec<f64> = grouped(items, shape, axes, |group| group.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let shifted: Vec<f64> = to.zip((items, shape), (&peaks, &totals), |x, peak| x - peak);
    let sums: Vec<f64> = grouped(&shifted, shape, axes, |group| group.iter().map(|x| x.exp()).sum());
    to.zip((&shifted, shape), (&sums, &totals), |x: f64, sum: f64| if log { x - sum.ln() } else { x.exp() / sum })
}
