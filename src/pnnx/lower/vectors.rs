//! Products of matrices and vectors.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, integers, product};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.matmul", "torch.bmm", "torch.mm"], By(|line| matmul(line, &["other", "mat2"]))),
    (&["torch.mv"], By(|line| matmul(line, &["vec"]))),
    (&["torch.dot", "torch.vdot"], By(|line| matmul(line, &["tensor", "other"]))),
    (&["torch.inner"], By(inner)),
    (&["torch.kron"], By(kronecker)),
    (&["torch.tensordot"], By(tensor_product)),
    (&["torch.linalg.multi_dot", "torch.chain_matmul"], By(chain)),
    (&["torch.outer", "torch.ger"], By(outer)),
    (&["torch.baddbmm"], By(|line| sum(line, ["batch1", "batch2"]))),
    (&["torch.addmv"], By(|line| sum(line, ["mat", "vec"]))),
    (&["torch.addr"], By(|line| sum(line, ["vec1", "vec2"]))),
];

impl Line<'_> {
    /// A product of matrices or vectors, over all pairs of their leading axes.
    pub(super) fn matrix_product(&mut self, a: TensorId, b: TensorId) -> Lowered<TensorId> {
        let (m, n) = (self.rank(a)?, self.rank(b)?);
        if m < 1 || n < 1 {
            return Err(Refusal::UNFIT);
        }
        let a = if m == 1 { self.with_axes(a, [0])? } else { a };
        let b = if n == 1 { self.with_axes(b, [1])? } else { b };
        let rank = m.max(n).max(2);
        let (a, b) = (self.with_rank(a, rank)?, self.with_rank(b, rank)?);
        let y = self.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?;
        let (row, column) = (rank.saturating_sub(2), rank.saturating_sub(1));
        let axes: Vec<i64> = [(m == 1).then_some(row), (n == 1).then_some(column)].into_iter().flatten().collect();
        self.without_axes(y, &axes)
    }
}

fn matmul(line: &mut Line, keys: &[&str]) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor("input")?, line.tensor(line.key_of(keys))?);
    line.matrix_product(a, b).map(|y| vec![y])
}

/// The products of all vectors along the last axes.
fn inner(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor("input")?, line.tensor("other")?);
    let (left, right) = (line.extents(a)?, line.extents(b)?);
    let ([outer @ .., length], [others @ .., width]) = (&left[..], &right[..]) else {
        return Ok(vec![line.formula_of("mul(@0,@1)", &[a, b])?]);
    };
    if length != width {
        return Err(Refusal::UNFIT);
    }
    let a = line.reshaped(a, &[product(outer)?, *length])?;
    let b = line.reshaped(b, &[product(others)?, *width])?;
    let [no, yes] = [false, true].map(Value::Logical);
    let y = line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b), no, yes])?;
    Ok(vec![line.reshaped(y, &[outer, others].concat())?])
}

/// A product of a list of matrices, of which the first and the last one may be vectors.
fn chain(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut factors = super::shaping::tensors(line)?.into_iter();
    let mut y = factors.next().ok_or(Refusal::UNFIT)?;
    for factor in factors {
        y = line.matrix_product(y, factor)?;
    }
    Ok(vec![y])
}

/// The products of each item with all of another tensor, side by side.
fn kronecker(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor("input")?, line.tensor("other")?);
    let rank = line.rank(a)?.max(line.rank(b)?);
    let (a, b) = (line.with_rank(a, rank)?, line.with_rank(b, rank)?);
    let (left, right) = (line.extents(a)?, line.extents(b)?);
    let apart: Vec<i64> = left.iter().flat_map(|extent| [*extent, 1]).collect();
    let inner: Vec<i64> = right.iter().flat_map(|extent| [1, *extent]).collect();
    let to = left.iter().zip(&right).map(|(a, b)| product(&[*a, *b])).collect::<Lowered<Vec<i64>>>()?;
    let (a, b) = (line.reshaped(a, &apart)?, line.reshaped(b, &inner)?);
    let y = line.formula_of("mul(@0,@1)", &[a, b])?;
    Ok(vec![line.reshaped(y, &to)?])
}

/// The sum of products over some axes of each of two tensors.
fn tensor_product(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor(line.key_of(&["a", "input"]))?, line.tensor(line.key_of(&["b", "other"]))?);
    let mut matrices = Vec::new();
    let mut shape = Vec::new();
    for (place, (x, key)) in [(a, "dims_self"), (b, "dims_other")].into_iter().enumerate() {
        let extents = line.extents(x)?;
        let rank = extents.len() as i64;
        let summed = line.axes(key, rank)?.unwrap_or_default();
        let others: Vec<i64> = (0..rank).filter(|axis| !summed.contains(axis)).collect();
        let pick =
            |axes: &[i64]| axes.iter().map(|axis| super::extent_of(&extents, *axis)).collect::<Lowered<Vec<i64>>>();
        let (own, common) = (pick(&others)?, pick(&summed)?);
        // Axes that are summed are the last ones of the first factor, and the first ones of the second.
        let (order, rows) = match place {
            0 => ([others, summed].concat(), [product(&own)?, product(&common)?]),
            _ => ([summed, others].concat(), [product(&common)?, product(&own)?]),
        };
        let turned = line.transposed(x, &order)?;
        matrices.push(line.reshaped(turned, &rows)?);
        shape.extend(own);
    }
    let [a, b] = matrices[..] else { return Err(Refusal::UNFIT) };
    let y = line.add("matmul", vec![Value::Tensor(a), Value::Tensor(b)])?;
    Ok(vec![line.reshaped(y, &shape)?])
}

/// The product of each item of a vector with each of another one.
fn outer_product(line: &mut Line, a: TensorId, b: TensorId) -> Lowered<TensorId> {
    let (a, b) = (line.with_axes(a, [1])?, line.with_axes(b, [0])?);
    line.add("mul", vec![Value::Tensor(a), Value::Tensor(b)])
}

fn outer(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (a, b) = (line.tensor("input")?, line.tensor(line.key_of(&["vec2", "other"]))?);
    outer_product(line, a, b).map(|y| vec![y])
}

/// `beta * input + alpha * product`.
fn sum(line: &mut Line, keys: [&str; 2]) -> Lowered<Vec<TensorId>> {
    let (mut x, a, b) = (line.tensor("input")?, line.tensor(keys[0])?, line.tensor(keys[1])?);
    let mut y = match keys[0] {
        "vec1" => outer_product(line, a, b)?,
        _ => line.matrix_product(a, b)?,
    };
    for (key, term) in [("alpha", &mut y), ("beta", &mut x)] {
        *term = line.times_setting(*term, key)?;
    }
    Ok(vec![line.formula_of("add(@0,@1)", &[x, y])?])
}

impl Line<'_> {
    /// A product along one axis with a matrix, whose rows are its items.
    pub(super) fn product_along(&mut self, x: TensorId, axis: i64, matrix: TensorId) -> Lowered<TensorId> {
        let rank = self.rank(x)?;
        let last = rank.saturating_sub(1);
        let mut order: Vec<i64> = (0..rank).collect();
        let swapped = usize::try_from(axis).ok().zip(usize::try_from(last).ok()).ok_or(Refusal::UNFIT)?;
        order.swap(swapped.0, swapped.1);
        let y = self.transposed(x, &order)?;
        let y = if rank == 1 { self.with_axes(y, [0])? } else { y };
        let matrix = self.with_rank(matrix, rank.max(2))?;
        let y = self.add("matmul", vec![Value::Tensor(y), Value::Tensor(matrix)])?;
        let y = if rank == 1 { self.add("squeeze", vec![Value::Tensor(y), integers([0])])? } else { y };
        self.transposed(y, &order)
    }
}
