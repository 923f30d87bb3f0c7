//! Changes of shapes, which are left out where they change nothing.

use super::emit::{Emitter, integers};
use super::item::FlatTensor;
use super::refusal::{Lowered, NodeRefusal};
use crate::extents;
use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::tensor::DType;

/// A product of extents.
pub(super) fn product(factors: &[i64]) -> Lowered<i64> {
    factors.iter().try_fold(1i64, |all, factor| all.checked_mul(*factor)).ok_or(NodeRefusal::UNFIT)
}

/// An item for each axis of a tensor, or for some of them: as many as its rank, which is never an extent.
pub(super) fn for_axes<T: Clone>(rank: usize, item: T) -> Vec<T> {
    vec![item; rank]
}

/// An axis within a rank; a negative one counts from the end.
pub(super) fn axis_of(axis: i64, rank: usize) -> Lowered<usize> {
    extents::axis(axis, rank).ok_or_else(|| NodeRefusal::from(format!("there is no axis {axis} of {rank}")))
}

/// Axes within a rank, in their order.
pub(super) fn each_axis(axes: &[i64], rank: usize) -> Lowered<Vec<usize>> {
    axes.iter().map(|axis| axis_of(*axis, rank)).collect()
}

/// Axes within a rank, in ascending order.
pub(super) fn axes_of(axes: &[i64], rank: usize) -> Lowered<Vec<usize>> {
    let mut found = each_axis(axes, rank)?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Axes as numbers of attributes.
pub(super) fn numbers(axes: &[usize]) -> Vec<i64> {
    axes.iter().map(|axis| *axis as i64).collect()
}

/// Whether a type has fewer than 8 bits, or is one of the floats of 8 bits.
fn is_coarse(dtype: DType) -> bool {
    match dtype {
        DType::Narrow(format) => format.bits() <= 8,
        DType::Small(integer) => integer.bits() < 8,
        _ => false,
    }
}

impl Emitter<'_> {
    /// Removes axes of extent 1.
    pub(super) fn squeeze(&mut self, x: FlatTensor, axes: &[usize]) -> Lowered<FlatTensor> {
        self.without_axes(x, &numbers(axes))
    }

    /// A tensor with its axes in another order.
    pub(super) fn transpose(&mut self, x: FlatTensor, axes: &[usize]) -> Lowered<FlatTensor> {
        self.transposed(x, &numbers(axes))
    }

    /// Repeats a tensor along its axes.
    pub(super) fn tile(&mut self, x: FlatTensor, repeats: &[i64]) -> Lowered<FlatTensor> {
        if repeats.iter().all(|repeat| *repeat == 1) {
            return Ok(x);
        }
        self.on("tile", x, [integers(repeats.iter().copied())])
    }

    /// Converts to an element type. Conversions between the widths of a kind of numbers have no operation: NNEF has one
    /// type of integers and one of scalars. Types of so few bits that most numbers change are refused.
    pub(super) fn cast(&mut self, x: FlatTensor, to: DType) -> Lowered<FlatTensor> {
        let class = |dtype: DType| (dtype.is_float(), dtype.is_integer());
        if x.dtype != to && is_coarse(to) {
            return Err(NodeRefusal::from(format!("it converts to {}, which NNEF does not have", to.name())));
        }
        if class(x.dtype) == class(to) {
            let within = |of: DType| of.range().zip(to.range()).is_none_or(|(of, to)| to.0 <= of.0 && of.1 <= to.1);
            let converted = FlatTensor { dtype: to, ..x };
            return if within(x.dtype) { Ok(converted) } else { self.wrapped(converted) };
        }
        if !self.has_registries() {
            return self.add("cast", [Value::Tensor(x.id)], to);
        }
        let name = match to {
            DType::Bool => "bool",
            to if to.is_integer() => "i64",
            _ => "f32",
        };
        self.add("tract_core_cast", [Value::Tensor(x.id), super::emit::text(name)], to)
    }

    /// Integers modulo the range of their type, if it has fewer than 32 bits or no sign: operations of NNEF are on integers of one
    /// width, and those of ONNX keep the lowest bits. Wider ones are taken to stay in their range.
    pub(super) fn wrapped(&mut self, x: FlatTensor) -> Lowered<FlatTensor> {
        let (DType::Small(_) | DType::Uint32, Some((low, high))) = (x.dtype, x.dtype.range()) else { return Ok(x) };
        let count = high - low + 1;
        let from_low = if low == 0 { x } else { self.formula(&format!("sub(@0,{low})"), &[x])? };
        // Integers are divided towards zero, so that the remainder has the sign of the dividend.
        let rest = self.formula(&format!("sub(@0,mul(div(@0,{count}),{count}))"), &[from_low])?;
        let rest = self.formula(&format!("select(lt(@0,0),add(@0,{count}),@0)"), &[rest])?;
        if low == 0 { Ok(rest) } else { self.formula(&format!("add(@0,{low})"), &[rest]) }
    }
}
