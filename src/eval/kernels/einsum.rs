//! Sums of products by an equation: each pair of operands becomes products of matrices.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::matrix;
use crate::eval::{Budget, EvalError};
use crate::extents::{Equation, EquationAxis, EquationSizes};
use crate::tensor::kernels::sum;
use crate::tensor::spread;

/// Below this number of products a matrix costs more to hand over than to multiply.
const FEW_PRODUCTS: usize = 64;

/// Numbers that can be added up and multiplied.
pub(crate) trait SumItem: Copy + Default + PartialEq {
    /// The memory of a number in units of the budget.
    const UNITS: usize;

    /// The product of two numbers.
    fn times(self, other: Self) -> Self;

    /// The sum of numbers.
    fn sum(items: impl Iterator<Item = Self>) -> Self;

    /// Adds the items of a product of matrices in row-major order to a list.
    ///
    /// # Errors
    ///
    /// The items do not fill the matrices.
    fn multiply(a: &[Self], b: &[Self], sizes: MatrixSizes, to: &mut Vec<Self>) -> Result<(), EvalError>;
}

/// The sizes of a product: its rows, the products that each item adds up, and its columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixSizes {
    rows: usize,
    inner: usize,
    columns: usize,
}

impl SumItem for f64 {
    const UNITS: usize = 1;

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn sum(items: impl Iterator<Item = Self>) -> Self {
        sum(items)
    }

    fn multiply(a: &[Self], b: &[Self], sizes: MatrixSizes, to: &mut Vec<Self>) -> Result<(), EvalError> {
        let MatrixSizes { rows, inner, columns } = sizes;
        if rows * inner * columns < FEW_PRODUCTS {
            item_by_item(a, b, sizes, to, |sum, product| sum + product);
            return Ok(());
        }
        matrix::product(a, (inner, 1), b, (columns, 1), [rows, inner, columns], to)
    }
}

/// Integers wrap around in their type, so their sums may do so in a wider one.
impl SumItem for i128 {
    const UNITS: usize = 2;

    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    fn sum(items: impl Iterator<Item = Self>) -> Self {
        items.fold(0, i128::wrapping_add)
    }

    fn multiply(a: &[Self], b: &[Self], sizes: MatrixSizes, to: &mut Vec<Self>) -> Result<(), EvalError> {
        item_by_item(a, b, sizes, to, i128::wrapping_add);
        Ok(())
    }
}

fn item_by_item<T: SumItem>(a: &[T], b: &[T], sizes: MatrixSizes, to: &mut Vec<T>, add: impl Fn(T, T) -> T) {
    let MatrixSizes { rows, inner, columns } = sizes;
    for row in 0..rows {
        for column in 0..columns {
            let product = |k: usize| a[row * inner + k].times(b[k * columns + column]);
            to.push((0..inner).map(product).fold(T::default(), &add));
        }
    }
}

/// The items of an operand with the distance between two of them along each axis; the items are repeated along others.
#[derive(Clone)]
struct Factor<'a, T: Clone> {
    items: Cow<'a, [T]>,
    steps: BTreeMap<EquationAxis, usize>,
}

impl<'a, T: SumItem> Factor<'a, T> {
    fn of_operand(items: &'a [T], shape: &[usize], axes: &[EquationAxis]) -> Self {
        let (mut steps, mut step) = (BTreeMap::new(), 1);
        for (axis, &extent) in axes.iter().zip(shape).rev() {
            if extent != 1 {
                *steps.entry(*axis).or_default() += step;
            }
            step *= extent;
        }
        Factor { items: Cow::Borrowed(items), steps }
    }

    fn dense(items: Vec<T>, axes: &[EquationAxis], sizes: &EquationSizes<usize>) -> Self {
        let extents: Vec<usize> = axes.iter().map(|axis| sizes[axis]).collect();
        let Factor { steps, .. } = Factor::<T>::of_operand(&[], &extents, axes);
        Factor { items: Cow::Owned(items), steps }
    }

    fn has(&self, axis: EquationAxis) -> bool {
        self.steps.contains_key(&axis)
    }

    fn axes(&self, wanted: impl Fn(EquationAxis) -> bool) -> Vec<EquationAxis> {
        self.steps.keys().copied().filter(|axis| wanted(*axis)).collect()
    }
}

/// The evaluation of an equation.
struct Summation<'e> {
    budget: &'e Budget,
    sizes: &'e EquationSizes<usize>,
}

impl Summation<'_> {
    fn count(&self, axes: &[EquationAxis]) -> usize {
        axes.iter().map(|axis| self.sizes[axis]).product()
    }

    /// Checks that the limits allow a list of numbers.
    fn room<T: SumItem>(&self, axes: &[EquationAxis]) -> Result<usize, EvalError> {
        let all = axes.iter().try_fold(T::UNITS, |all, axis| all.checked_mul(self.sizes[axis]));
        self.budget.memory(all.unwrap_or(usize::MAX), "the operands of a sum of products")?;
        Ok(self.count(axes))
    }

    /// The items of a factor in row-major order of axes.
    fn arranged<'f, T: SumItem>(
        &self,
        of: &'f Factor<'_, T>,
        order: &[EquationAxis],
    ) -> Result<Cow<'f, [T]>, EvalError> {
        let steps = |axis: &EquationAxis| (self.sizes[axis], of.steps.get(axis).copied().unwrap_or(0));
        let axes: Vec<(usize, usize)> = order.iter().map(steps).filter(|(extent, _)| *extent != 1).collect();
        let mut dense = 1;
        let is_dense = axes.iter().rev().all(|(extent, step)| {
            let fits = *step == dense;
            dense = extent.saturating_mul(dense);
            fits
        });
        if is_dense && dense == of.items.len() {
            return Ok(Cow::Borrowed(&of.items));
        }
        let mut items = Vec::with_capacity(self.room::<T>(order)?);
        let (last, outer) = axes.split_last().map_or(((1, 0), &axes[..]), |(last, outer)| (*last, outer));
        for place in spread(outer.iter().copied()) {
            items.extend((0..last.0).map(|i| of.items[place + i * last.1]));
        }
        Ok(Cow::Owned(items))
    }

    /// The sums over the axes that are not needed.
    fn summed<'f, T: SumItem>(
        &self,
        of: Factor<'f, T>,
        needed: impl Fn(EquationAxis) -> bool,
    ) -> Result<Factor<'f, T>, EvalError> {
        let (kept, dropped) = (of.axes(&needed), of.axes(|axis| !needed(axis)));
        if dropped.is_empty() {
            return Ok(of);
        }
        let items = self.arranged(&of, &[&kept[..], &dropped].concat())?;
        self.budget.work(items.len() as u64)?;
        self.room::<T>(&kept)?;
        let sums = items.chunks(self.count(&dropped).max(1)).map(|group| T::sum(group.iter().copied())).collect();
        Ok(Factor::dense(sums, &kept, self.sizes))
    }

    /// The product of two factors, summed over the axes that are not needed.
    fn product<'f, T: SumItem>(
        &self,
        a: Factor<'f, T>,
        b: Factor<'f, T>,
        needed: impl Fn(EquationAxis) -> bool,
    ) -> Result<Factor<'f, T>, EvalError> {
        let a = self.summed(a, |axis| needed(axis) || b.has(axis))?;
        let b = self.summed(b, |axis| needed(axis) || a.has(axis))?;
        let batch = a.axes(|axis| b.has(axis) && needed(axis));
        let inner = a.axes(|axis| b.has(axis) && !needed(axis));
        let (rows, columns) = (a.axes(|axis| !b.has(axis)), b.axes(|axis| !a.has(axis)));
        let left = self.arranged(&a, &[&batch[..], &rows, &inner].concat())?;
        let right = self.arranged(&b, &[&batch[..], &inner, &columns].concat())?;
        let axes = [&batch[..], &rows, &columns].concat();
        let count = self.room::<T>(&axes)?;
        let mut items = Vec::with_capacity(count);
        let sizes = MatrixSizes { rows: self.count(&rows), inner: self.count(&inner), columns: self.count(&columns) };
        self.budget.product(count, sizes.inner)?;
        if axes == batch && inner.is_empty() {
            items.extend(left.iter().zip(right.iter()).map(|(a, b)| a.times(*b)));
            return Ok(Factor::dense(items, &axes, self.sizes));
        }
        let (height, width) = (sizes.rows * sizes.inner, sizes.inner * sizes.columns);
        for (a, b) in left.chunks(height.max(1)).zip(right.chunks(width.max(1))) {
            T::multiply(a, b, sizes, &mut items)?;
        }
        Ok(Factor::dense(items, &axes, self.sizes))
    }
}

/// An operand of a sum of products.
#[derive(Debug)]
pub(crate) struct Summand<'a, T> {
    pub(crate) shape: &'a [usize],
    pub(crate) items: &'a [T],
}

/// The items of the result of an equation, and its shape; `sizes` are those of all axes of the operands. An axis of the
/// result that no operand has has one item.
///
/// # Errors
///
/// A limit is exceeded, or there are no operands.
pub(crate) fn sum_of_products<T: SumItem>(
    budget: &Budget,
    equation: &Equation,
    mut sizes: EquationSizes<usize>,
    operands: &[Summand<T>],
) -> Result<(Vec<usize>, Vec<T>), EvalError> {
    for axis in &equation.result {
        sizes.entry(*axis).or_insert(1);
    }
    let shape: Vec<usize> = equation.result.iter().map(|axis| sizes[axis]).collect();
    let count = budget.extents(&shape)?;
    if sizes.values().any(|extent| *extent == 0) {
        return Ok((shape, vec![T::default(); count]));
    }
    let summation = Summation { budget, sizes: &sizes };
    let (result, last) = (BTreeSet::from_iter(&equation.result), last_uses(equation));
    let factors = equation.operands.iter().zip(operands);
    let mut factors = factors.map(|(axes, operand)| Factor::of_operand(operand.items, operand.shape, axes));
    let mut sum = factors.next().ok_or_else(|| EvalError::argument("there are no operands"))?;
    for (i, next) in (1..).zip(factors) {
        sum = summation.product(sum, next, |axis| result.contains(&axis) || last[&axis] > i)?;
    }
    let sum = summation.summed(sum, |axis| result.contains(&axis))?;
    let items = summation.arranged(&sum, &equation.result)?.into_owned();
    Ok((shape, items))
}

/// The last operand that has an axis.
fn last_uses(equation: &Equation) -> BTreeMap<EquationAxis, usize> {
    let uses = equation.operands.iter().enumerate();
    uses.flat_map(|(i, axes)| axes.iter().map(move |axis| (*axis, i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Limits;
    use crate::extents::Formula;

    /// By the definition: for all indices of all axes, the product of the items is added.
    fn defined(equation: &Equation, operands: &[Summand<i128>], sizes: &EquationSizes<usize>) -> Vec<i128> {
        let step = |axes: &[EquationAxis], shape: &[usize], axis: &EquationAxis| -> usize {
            let stride = |at: usize| shape[at + 1..].iter().product::<usize>();
            let own = axes.iter().enumerate().filter(|(at, own)| *own == axis && shape[*at] > 1);
            own.map(|(at, _)| stride(at)).sum()
        };
        let summed: Vec<EquationAxis> = sizes.keys().filter(|axis| !equation.result.contains(axis)).copied().collect();
        let all = [&equation.result[..], &summed].concat();
        let factors: Vec<Vec<i128>> = (equation.operands.iter().zip(operands))
            .map(|(axes, operand)| {
                let steps = all.iter().map(|axis| (sizes[axis], step(axes, operand.shape, axis)));
                spread(steps).into_iter().map(|place| operand.items[place]).collect()
            })
            .collect();
        let products: Vec<i128> =
            (0..factors[0].len()).map(|at| factors.iter().map(|items| items[at]).product()).collect();
        let group: usize = summed.iter().map(|axis| sizes[axis]).product();
        products.chunks(group.max(1)).map(|group| group.iter().sum()).collect()
    }

    /// The sums of these items are exact, whatever their order.
    #[test]
    fn sums_are_those_of_the_definition() {
        let items: Vec<i128> = (0..9000).map(|i| (i * 7919) % 101 - 50).collect();
        let floats: Vec<f64> = items.iter().map(|item| *item as f64).collect();
        for (text, shapes) in [
            ("ij,jk->ik", &[&[2, 3][..], &[3, 4]][..]),
            ("bij,bkj->kbi", &[&[5, 4, 3], &[5, 2, 3]]),
            ("ij,kl->ljki", &[&[2, 3], &[3, 2]]),
            ("ii->i", &[&[3, 3]]),
            ("iij,j->", &[&[3, 3, 2], &[2]]),
            ("i,i,i,j->j", &[&[4], &[4], &[1], &[2]]),
            ("...i,i...->...", &[&[2, 1, 3], &[3, 4]]),
            ("abc,bd,ce,f->ade", &[&[2, 3, 4], &[3, 2], &[4, 5], &[3]]),
            ("ij,ij->ij", &[&[2, 3], &[1, 3]]),
            ("ij,jk->ki", &[&[30, 20], &[20, 9]]),
            ("ij->ji", &[&[2, 3]]),
            (",i", &[&[], &[3]]),
        ] {
            let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
            let equation = Formula::read(text, char::is_alphabetic).unwrap().of_ranks(&ranks).unwrap();
            let sizes = equation.sizes(&shapes.iter().map(|shape| Some(*shape)).collect::<Vec<_>>()).unwrap();
            let length = |shape: &[usize]| shape.iter().product::<usize>();
            let of_integers: Vec<Summand<i128>> =
                shapes.iter().map(|shape| Summand { shape, items: &items[..length(shape)] }).collect();
            let of_floats: Vec<Summand<f64>> =
                shapes.iter().map(|shape| Summand { shape, items: &floats[..length(shape)] }).collect();
            let wanted = defined(&equation, &of_integers, &sizes);
            let budget = Budget::new(Limits::default());
            let (shape, found) = sum_of_products(&budget, &equation, sizes.clone(), &of_integers).unwrap();
            assert_eq!((length(&shape), &found), (wanted.len(), &wanted), "{text}");
            let (_, found) = sum_of_products(&budget, &equation, sizes.clone(), &of_floats).unwrap();
            assert_eq!(found, wanted.iter().map(|item| *item as f64).collect::<Vec<_>>(), "{text}");
        }
    }
}
