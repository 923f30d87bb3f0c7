//! Reductions: each group of elements is reduced to one element.

use super::Number;
use crate::dictionary::Arith;
use crate::tensor::{Data, Tensor};

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

/// The item of a group that is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Extreme {
    /// The greatest or the least number.
    pub(crate) greatest: bool,
    /// The last or the first one of equal ones.
    pub(crate) last: bool,
}

impl Extreme {
    /// The place of the item, or of the first NaN; none if there are no items.
    pub(crate) fn place<T: Copy + PartialOrd>(self, items: &[T]) -> Option<usize> {
        let none = |x: T| x.partial_cmp(&x).is_none();
        let better = |a: T, b: T| {
            let wins = if self.greatest { a > b } else { a < b };
            !none(b) && (wins || none(a) || self.last && a == b)
        };
        best(items, better)
    }

    /// The place as a number, 0 if there are no items.
    pub(crate) fn index<T: Copy + PartialOrd>(self, items: &[T]) -> i64 {
        self.place(items).unwrap_or(0) as i64
    }
}

/// The index of the first greatest or least number in each group, or of the first NaN; none for logicals.
pub(crate) fn extreme(x: &Tensor, axes: &[usize], greatest: bool) -> Option<Data> {
    let which = Extreme { greatest, last: false };
    same_type!(x, x, [Float32, Float64, Int32, Int64], x, _same => Data::Int64(grouped(x.0, x.1, axes, |group| which.index(group))))
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

/// Changes each group of items along axes, which are sorted and distinct. Each group is in row-major order.
pub(crate) fn each_group<T: Copy>(items: &mut [T], shape: &[usize], axes: &[usize], mut f: impl FnMut(&mut [T])) {
    let among = among(axes, shape.len());
    let (along, others): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|axis| among[*axis]);
    let places = |axes: &[usize]| crate::tensor::arrange::places(shape, axes);
    let inner = places(&along);
    if inner.iter().copied().eq(0..inner.len()) {
        return items.chunks_exact_mut(inner.len().max(1)).for_each(f);
    }
    let mut held = Vec::with_capacity(inner.len());
    for start in places(&others) {
        held.clear();
        held.extend(inner.iter().map(|place| items[start + place]));
        f(&mut held);
        inner.iter().zip(&held).for_each(|(place, item)| items[start + place] = *item);
    }
}

/// The greatest item that is not NaN.
pub(crate) fn peak(items: &[f64]) -> f64 {
    items.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Makes items exponentials divided by their sum.
pub(crate) fn soften(items: &mut [f64]) {
    let peak = peak(items);
    items.iter_mut().for_each(|item| *item = (*item - peak).exp());
    let sum: f64 = items.iter().sum();
    items.iter_mut().for_each(|item| *item /= sum);
}

/// Makes items the logarithms of what [`soften`] makes them.
pub(crate) fn soften_logarithms(items: &mut [f64]) {
    let peak = peak(items);
    let sum = items.iter().map(|item| (item - peak).exp()).sum::<f64>().ln();
    items.iter_mut().for_each(|item| *item = *item - peak - sum);
}

/// Softmax along axes, or its logarithm.
pub(crate) fn softmax(items: &[f64], shape: &[usize], axes: &[usize], log: bool) -> Vec<f64> {
    let mut items = items.to_vec();
    each_group(&mut items, shape, axes, if log { soften_logarithms } else { soften });
    items
}
